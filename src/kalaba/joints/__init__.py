"""Joints: one file per kind, with everything that is special about it."""
