"""The one expression grammar: text to syntax tree to values."""
