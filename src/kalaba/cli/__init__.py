"""Commands: `kalaba list`, `kalaba run` and the others, thin; the packages below do the work."""

from __future__ import annotations

import gc
import sys

COLLECT_AFTER = 20_000  # new objects, for Python's 700: modules make many that stay, looked at again each time


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    try:
        from kalaba.cli.application import invoke
        from kalaba.cli.terminal import open_streams

        open_streams()
        code = invoke(sys.argv[1:])
    except KeyboardInterrupt:  # while it was being imported, or a second one
        sys.stderr.write("interrupted\n")
        code = 130
    sys.exit(code)
