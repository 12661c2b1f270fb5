"""Control: goals, the motors that meet them, and real drives."""
