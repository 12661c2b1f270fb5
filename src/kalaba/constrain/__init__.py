"""Constraints at work: the Udwadia-Kalaba equation, row choice, projection, assembly and mobility."""
