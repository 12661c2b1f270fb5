"""Measure every problem and write docs/validation.md: python -m benchmarks.validation [names].

With names, such as `"A01 Simple pendulum"`, only those are measured, and the page is printed, not written.
"""

import sys
from pathlib import Path

import kalaba as kb
from benchmarks.validation import PROBLEMS
from benchmarks.validation.page import page

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"


def main(names: list[str]) -> None:
    """Measure one problem after the other and say so."""
    chosen = [problem for problem in PROBLEMS if problem.name in names or not names]
    measured = {}
    for problem in chosen:
        try:
            measured[problem.name] = problem.measure()
        except kb.KalabaError as error:  # a run that broke off leaves dots on the page
            print(f"{problem.name}: {error}", file=sys.stderr)
        else:
            print(f"{problem.name}: {measured[problem.name].seconds:.3g} s", file=sys.stderr)
    if names:
        print(page(chosen, measured))
    else:
        PAGE.write_text(page(PROBLEMS, measured), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
