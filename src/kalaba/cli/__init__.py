"""Commands: `kalaba list`, `kalaba run` and the others, thin; the packages below do the work."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from kalaba.cli.application import invoke
        from kalaba.cli.terminal import open_streams

        open_streams()
        code = invoke(sys.argv[1:])
    except KeyboardInterrupt:  # while it was being imported, or a second one
        sys.stderr.write("interrupted\n")
        code = 130
    sys.exit(code)
