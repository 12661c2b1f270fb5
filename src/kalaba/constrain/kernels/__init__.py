"""The functions that are compiled: motion, projection, observation; for the whole machine, and limb by limb."""
