"""What every test relies on: no window is opened, and random examples are the same on every machine."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# A deadline would measure the machine, not the code; a build or a first compilation is slow for good reason.
settings.register_profile("kalaba", deadline=None, derandomize=True, max_examples=50, print_blob=True)
settings.load_profile("kalaba")
