"""A Run, what can be read from it, and its files."""
