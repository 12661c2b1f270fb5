"""Flexible links: the beam, its cross-section and its shape functions."""
