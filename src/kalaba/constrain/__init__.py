"""Constraints at work: the packed input, the rank of rows, elimination, solvers, and the functions that get compiled."""
