"""Writing an export to disk: the text of a .c and a .h file, and of a test program beside them."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from kalaba.boundary import check_arguments, shown
from kalaba.control.allocation import Allocation
from kalaba.errors import CommandError, near
from kalaba.export.c.inverse_dynamics import inverse_export
from kalaba.export.c.motion import motion_export
from kalaba.export.c.routine import number
from kalaba.export.c.servo import servo_export
from kalaba.plant.plant import Plant, build
from kalaba.results.places import check_place, write_text
from kalaba.run.scenario import Scenario
from kalaba.tolerances import C_CASE_SMALL

if TYPE_CHECKING:
    from kalaba.export.c.contents import Export, Numbers
    from kalaba.model.system import System

FUNCTIONS = ("motion", "inverse-dynamics", "servo")
WIDTH = 110  # letters of a line of a comment


def export_c(
    machine: Scenario | System | Plant,
    path: str | Path,
    function: str = "motion",
    allocation: Allocation | None = None,
    encoders: tuple[str, ...] = (),
) -> tuple[Path, ...]:
    """Write a machine's motion, inverse dynamics or controller as C99; gives the files written.

    A header and a test program are written beside the source. The code needs math.h alone, no heap, and takes the same
    time at every call.

    Arguments:
        machine: a System, a Plant, or for a servo a Scenario whose control is a law
        path: the file to write, ending in .c
        function: "motion", "inverse-dynamics" or "servo"
        allocation: how efforts are shared among the motors, in place of that of the control
        encoders: expressions of the machine that a servo reads beside the displacements of all motors (m, rad)

    Returns: the paths of the source, the header and the test program.
    """
    check_arguments(export_c, locals())
    place = check_place(path, (".c",))
    for target in beside(place):
        check_place(target, (".c", ".h"))
    if function not in FUNCTIONS:
        raise CommandError(f"export: no function {shown(function)}; {near(function, FUNCTIONS)}")
    system, scenario = (machine.system, machine) if isinstance(machine, Scenario) else (machine, None)
    plant = build(system)
    prefix = identifier(place.stem)
    return write_export(_made(plant, prefix, function, scenario, allocation, encoders), place)


def beside(place: Path) -> tuple[Path, Path]:
    """The header and the test program of a source."""
    return place.with_suffix(".h"), place.with_name(f"{place.stem}_test.c")


def write_export(export: Export, place: Path) -> tuple[Path, ...]:
    """Write an export's source, its header and its test program."""
    for target in beside(place):
        check_place(target, (".c", ".h"))
    targets = place, *beside(place)
    contents = source(export, place.stem), header(export), program(export, place.stem)
    for target, content in zip(targets, contents, strict=True):
        write_text(target, content)
    return targets


def identifier(stem: str) -> str:
    """The stem of a file as the beginning of C names."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"c_{name}"


def _made(
    plant: Plant,
    prefix: str,
    function: str,
    scenario: Scenario | None,
    allocation: Allocation | None,
    encoders: tuple[str, ...],
) -> Export:
    """The export of a function; motors and allocations are looked at before anything is derived."""
    if function == "servo":
        return servo_export(plant, prefix, scenario, allocation, encoders)
    if encoders:
        raise CommandError(f"export: encoders are read by a servo, not by {function}. Leave them out.")
    if function == "inverse-dynamics":
        return inverse_export(plant, prefix, allocation)
    if allocation is not None:
        raise CommandError("export: the motion has no allocation. Leave it out, or export servo or inverse-dynamics.")
    return motion_export(plant, prefix)


def comment(lines: list[str]) -> str:
    """A comment of several lines; nothing in it can end it early."""
    safe = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in safe), " */"])


def remark(text: str) -> str:
    """A comment at the end of a line."""
    return f"/* {text.replace('*/', '* /').replace('/*', '/ *')} */"


def header(export: Export) -> str:
    """The .h file: all that a caller needs to know."""
    guard = f"{export.prefix.upper()}_H"
    lines = [export.title, f"Written by kalaba {version('kalaba')}. SI units; angles in radians. C99, no heap.", ""]
    for note in export.notes:
        lines += [*(note.splitlines() if note.startswith(" ") else wrap(note, WIDTH)), ""]
    for table in (table for table in export.tables if table.lines):
        lines += [f"{table.heading}:", *(f"  {line}" for line in table.lines), ""]
    lines += ["What a call costs:", *_indented(export.cost)]
    macros = [f"#define {name} {value} {remark(text)}" for name, value, text in export.macros]
    arrays = [f"{remark(n.text)}\nextern const double {n.name}[{n.size}];" for n in export.numbers]
    entries = [f"{comment(wrap(entry.text, WIDTH))}\n{entry.prototype};" for entry in export.entries]
    parts = [
        comment(lines),
        f"#ifndef {guard}\n#define {guard}",
        "\n".join(macros),
        *("\n".join(export.types).split("\n\n") if export.types else ()),
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *arrays,
        *entries,
        "#ifdef __cplusplus\n}\n#endif",
        f"#endif {remark(guard)}",
    ]
    return "\n\n".join(parts) + "\n"


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [part for line in lines for part in wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ")]


def source(export: Export, stem: str) -> str:
    """The .c file."""
    top = [export.title, f"Written by kalaba {version('kalaba')}; {stem}.h says what it does and how to call it.", ""]
    top += ["What a call costs:", *_indented(export.cost)]
    entries = [
        "\n".join([entry.prototype, "{", *(f"    {line}".rstrip() for line in entry.body), "}"])
        for entry in export.entries
    ]
    parts = [
        comment(top),
        f'#include "{stem}.h"\n\n#include <math.h>',
        *(_array(numbers) for numbers in export.numbers),
        *(routine.text.rstrip() for routine in export.routines),
        *export.inner,
        *entries,
    ]
    return "\n\n".join(parts) + "\n"


def _array(numbers: Numbers) -> str:
    pairs = zip(numbers.values, numbers.remarks, strict=True)
    lines = [f"    {number(value)}, {remark(f'[{i}] {text}')}" for i, (value, text) in enumerate(pairs)]
    return "\n".join([f"const double {numbers.name}[{numbers.size}] = {{", *lines, "};"])


_PROGRAM = """\
{top}

#define _POSIX_C_SOURCE 199309L

#include "{header}"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CASES {cases}
#define CALLS 20000
#define TOLERANCE {tolerance}

{arrays}

{declarations}

static double times[CALLS]; /* microseconds */

static void prepare(int k)
{{
    (void)k;
{before}
}}

static void call(int k)
{{
    (void)k;
{call}
}}

/* Largest difference over the largest number expected, in this case or a thousandth of that of all cases. */
static double gap(int k, int size, const double *found, const double *expected, double least)
{{
    double worst = 0.0, scale = {small!r} * least;
    for (int i = 0; i < size; i++) {{
        const double e = expected[k * size + i], d = fabs(found[i] - e);
        if (!isfinite(d)) return INFINITY;
        if (d > worst) worst = d;
        if (fabs(e) > scale) scale = fabs(e);
    }}
    return worst / scale;
}}

static int by_size(const void *x, const void *y)
{{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}}

static void timed(clockid_t clock, const char *what)
{{
    for (int i = 0; i < CALLS; i++) {{
        struct timespec began, ended;
        prepare(i % CASES);
        clock_gettime(clock, &began);
        call(i % CASES);
        clock_gettime(clock, &ended);
        times[i] = 1e6 * (double)(ended.tv_sec - began.tv_sec) + 1e-3 * (double)(ended.tv_nsec - began.tv_nsec);
    }}
    qsort(times, CALLS, sizeof times[0], by_size);
    printf("%s of a call: median %.3g us, p99.9 %.3g us\\n", what, times[CALLS / 2], times[CALLS - CALLS / 1000]);
}}

int main(void)
{{
    double worst = 0.0;
    for (int k = 0; k < CASES; k++) {{
        prepare(k);
        call(k);
{checks}
    }}
    printf("worst error: %.3g, at most %.3g\\n", worst, TOLERANCE);
    timed(CLOCK_MONOTONIC, "time");
    timed(CLOCK_THREAD_CPUTIME_ID, "time of the processor");
    return worst <= TOLERANCE ? 0 : 1;
}}
"""


def program(export: Export, stem: str) -> str:
    """The test program: stored cases, the worst error, and the time of a call; it returns 0 if all cases agree."""
    trial = export.trial
    cases = len(trial.expected[0][1])
    stored = [(f"given_{name}", array) for name, array in trial.inputs if array.shape[1]]
    wanted = [(name, array) for name, array in trial.expected if array.shape[1]]
    stored += [(f"expected_{name}", array) for name, array in wanted]
    arrays = "\n\n".join(_cases(name, array.tolist(), array.shape[1]) for name, array in stored)
    checks = []
    for name, array in wanted:
        least = float(abs(array).max()) or 1.0
        gap = f"gap(k, {array.shape[1]}, {name}, &expected_{name}[0][0], {number(least)})"
        checks.append(f"        {{ const double found = {gap}; if (found > worst) worst = found; }}")
    build = f"cc -std=c99 -O2 {stem}.c {stem}_test.c -lm -o {stem}_test"
    top = [f"Test of {stem}.c: {cases} cases with the results that kalaba's own code has for them.", trial.note]
    return _PROGRAM.format(
        top=comment([*top, "", f"Build: {build}"]),
        header=f"{stem}.h",
        cases=cases,
        small=C_CASE_SMALL,
        tolerance=f"{trial.tolerance:.3g}",
        arrays=arrays,
        declarations="\n".join(trial.declarations),
        before="\n".join(f"    {line}" for line in trial.before),
        call="\n".join(f"    {line}" for line in trial.call),
        checks="\n".join(checks),
    )


def _cases(name: str, rows: list[list[float]], size: int) -> str:
    lines = [f"    {{{', '.join(number(value) for value in row)}}}," for row in rows]
    return "\n".join([f"static const double {name}[CASES][{size}] = {{", *lines, "};"])
