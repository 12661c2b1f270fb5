"""How much memory a piece of a test takes at once."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

FILES = 60e6  # bytes: what readers of files may take, caches of thousands of files included; they take some 10 MB


@contextmanager
def below(most: float) -> Iterator[None]:
    """Fail if Python and NumPy have allocated more than so many bytes at once, beyond what there was."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most, f"{peak / 1e6:.0f} MB"
