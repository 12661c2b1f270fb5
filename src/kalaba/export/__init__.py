"""Equations in other languages: C, LaTeX documents, SymPy modules."""
