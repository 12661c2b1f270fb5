"""What a person waits for without asking: pages in a notebook, and a run after a slider of the studio has moved."""

from dataclasses import replace

import kalaba as kb
from benchmarks.bars import AtMost, Report
from benchmarks.timing import elapsed
from kalaba.robots.catalogue import ENTRIES
from kalaba.view.studio.subject import subject_by_name

PAGE = 2.0  # s, of the slowest machine
SLIDER = 0.2  # s
DURATION, ROUNDS = 4.0, 5  # s of the run
MACHINES = ("four-bar", "dual-mobile-arm")


def measure_pages() -> Report:
    """Show every system of the catalogue and its equations as notebooks do; the slowest counts."""
    times = {}
    for name in ENTRIES:
        system = kb.load(name)
        shown = system, kb.derive(system)
        times[name] = elapsed(lambda shown=shown: [*(each._repr_html_() for each in shown), shown[1]._repr_latex_()])
    slowest = max(times, key=lambda name: times[name])
    what = f"a system and its equations in a notebook, the slowest: {slowest}"
    return Report((AtMost(what, times[slowest], PAGE, "s"),))


def measure_sliders() -> Report:
    """Simulate again with another number."""
    bars = []
    for name in MACHINES:
        subject = replace(subject_by_name(name), duration=DURATION)
        subject.first_run()  # builds
        parameter = subject.parameters[0]
        values = [{parameter.name: parameter.value * (1.01 + 0.01 * k)} for k in range(ROUNDS)]
        best = min(elapsed(lambda subject=subject, each=each: subject.run_with(each)) for each in values)
        bars.append(AtMost(f"{name}: {DURATION:g} s simulated again after a slider has moved", best, SLIDER, "s"))
    return Report(tuple(bars))
