"""The catalogue: machines ready to load, one small module each."""
