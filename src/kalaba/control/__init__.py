"""Control: what the actuators do so that a machine does what is asked of it."""
