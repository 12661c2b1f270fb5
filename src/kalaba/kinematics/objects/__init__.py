"""Coordinates of held objects: forward, inverse and along a path."""
