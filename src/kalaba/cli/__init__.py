"""Commands: `kalaba list`, `kalaba run` and the others, thin; the packages below do the work."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from kalaba.cli.application import invoke

    sys.exit(invoke(sys.argv[1:]))
