"""The page docs/validation.md from problems and what was measured."""

from collections.abc import Iterable, Mapping, Sequence

import kalaba as kb
from benchmarks.bars import seconds
from benchmarks.validation.problem import Figure, Kind, Measured, Problem

DEFAULT = kb.Auto()  # what `kb.simulate` takes if nobody says otherwise
INTRODUCTION = f"""# Validation

Machines that others have computed before, each simulated by `kb.simulate(system, duration)` and nothing else. Nobody
chose a stepper for them: the default is `kb.{DEFAULT!r}`.

The page is written by `python -m benchmarks.validation`, and the tests hold every figure to what its last column
allows. A figure that is missed is printed bold, and dots stand where a run broke off.

Figures are of four kinds:

- *published*: a number printed by others, with all digits they give;
- *closed form*: an exact solution in known functions;
- *by hand*: equations of the machine written by hand in as many coordinates as it has freedoms, without kalaba, and
  integrated by scipy at a tolerance of 10⁻¹¹;
- *bound*: an error that the problem's authors allow.

Times are those of the run on one core of the computer that wrote this page; building and compiling, some seconds for a
machine that is new, are not counted.
"""
PENDING = "…"  # in the place of what is measured, where nothing was


def page(problems: Sequence[Problem], measured: Mapping[str, Measured]) -> str:
    """The whole page; problems that were not measured have dots for numbers."""
    lines = [INTRODUCTION, *_summary(problems, measured)]
    for problem in problems:
        lines += ["", *_section(problem, measured.get(problem.name))]
    return "\n".join(lines).rstrip() + "\n"


def _summary(problems: Sequence[Problem], measured: Mapping[str, Measured]) -> list[str]:
    rows = []
    for problem in problems:
        result, figures = measured.get(problem.name), problem.figures()
        met = PENDING if result is None else f"{sum(_verdicts(figures, result))} of {len(figures)}"
        kinds = ", ".join(kind.value for kind in Kind if any(figure.kind is kind for figure in figures))
        rows.append((f"[{problem.name}](#{_anchor(problem.name)})", kinds, met, _time(result)))
    return _table(("problem", "compared with", "figures met", "time"), rows)


def _section(problem: Problem, result: Measured | None) -> list[str]:
    figures = problem.figures()
    values = [None] * len(figures) if result is None else result.values
    rows = [_row(figure, value) for figure, value in zip(figures, values, strict=True)]
    table = _table(("figure", "kalaba", "reference", "difference", "kind", "allowed"), rows)
    reasons = dict.fromkeys(figure.reason for figure in figures if figure.reason)
    return [
        f"## {problem.name}",
        "",
        problem.text,
        "",
        *table,
        "",
        *(f"- {source[0].upper()}{source[1:]}." for source in problem.sources),
        *(f"- Allowed: {reason}." for reason in reasons),
        f"- Time: {_time(result)}.",
    ]


def _row(figure: Figure, value: float | None) -> tuple[str, ...]:
    name, unit, kind = f"{figure.name}, {figure.unit}", figure.unit, figure.kind
    if kind is Kind.BOUND:
        ours = PENDING if value is None else f"{value:.1e}"
        verdict = PENDING if value is None else "within" if figure.is_met_by(value) else "**beyond**"
        return name, ours, f"at most {figure.value:g}", verdict, kind.value, f"{figure.value:g} {unit}"
    ours = PENDING if value is None else f"{value:.1e}" if figure.value == 0 else f"{value:.9g}"
    apart = PENDING if value is None else f"{figure.error_of(value):.1e}"
    if value is not None and not figure.is_met_by(value):
        apart = f"**{apart}**"
    return name, ours, f"{figure.value:.9g}", apart, kind.value, f"{figure.tolerance:.1e} {unit}"


def _verdicts(figures: Sequence[Figure], result: Measured) -> list[bool]:
    return [figure.is_met_by(value) for figure, value in zip(figures, result.values, strict=True)]


def _time(result: Measured | None) -> str:
    if result is None:
        return PENDING
    took = seconds(result.seconds)
    return f"{took} for {result.simulated:g} s" if result.simulated else took


def _anchor(name: str) -> str:
    return "".join(letter for letter in name.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in (headings, *rows)]
    return [lines[0], "|---" * len(headings) + "|", *lines[1:]]
