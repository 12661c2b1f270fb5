"""The papers behind the catalogue: what each one has, what is true of it, and the command that shows it."""
