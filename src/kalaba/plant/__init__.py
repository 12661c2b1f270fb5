"""All that is asked of a machine at one state."""
