"""Simulation: a Plant, a stepper and what drives it give a Run."""
