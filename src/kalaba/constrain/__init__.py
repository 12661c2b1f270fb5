"""Constraints at work: packed input, rank of rows, elimination, solvers, and the functions that get compiled."""
