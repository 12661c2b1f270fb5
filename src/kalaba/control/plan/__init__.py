"""Motions that are best: between two configurations at rest, with the least effort or in the least time."""
