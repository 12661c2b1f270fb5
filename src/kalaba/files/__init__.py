"""Files: results, and what a machine is, on disk."""
