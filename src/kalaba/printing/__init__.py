"""Equations in print: short expressions as a person would write them, or named common parts where they are long."""
