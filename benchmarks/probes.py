"""What a fresh process measures of itself: python -m benchmarks.probes NAME prints the figures as JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

IMPORTED = (
    "casadi",
    "llvmlite.binding",
    "kalaba.plant.plant",
    "kalaba.plant.start",
    "kalaba.plant.evaluate",
    "kalaba.run.simulate",
    "kalaba.compiled",
)


def package() -> dict[str, float]:
    """The time of `import kalaba`."""
    began = time.perf_counter()
    import_module("kalaba")
    return {"import": time.perf_counter() - began}


def building() -> dict[str, float]:
    """The time to build a machine and assemble its start, then to get the kernels that a run needs."""
    began = time.perf_counter()
    for name in ("kalaba", *IMPORTED):
        import_module(name)
    import kalaba as kb

    imported = time.perf_counter()
    plant = kb.build(kb.load("dual-mobile-arm"))
    plant.start  # noqa: B018  (found when first asked for)
    built = time.perf_counter()
    for name in ("motion", "project", "rows"):
        plant.standard(name)
    ready = time.perf_counter()
    return {"imports": imported - began, "build": built - imported, "ready": ready - imported}


def flexible() -> dict[str, float]:
    """The time to build the floating arm with 5 modes a link, with the kernels of a run and of structural steppers."""
    for name in ("kalaba", *IMPORTED):
        import_module(name)
    import kalaba as kb

    began = time.perf_counter()
    plant = kb.build(kb.load("floating-flexible-arm", modes=5))
    plant.start  # noqa: B018  (found when first asked for)
    for name in ("motion", "project", "rows"):
        plant.standard(name)
    ready = time.perf_counter()
    plant.standard("tangent")
    return {"ready": ready - began, "tangent": time.perf_counter() - ready}


def modes() -> dict[str, float]:
    """Operations, build time and time of an evaluation of the floating arm against its modes, until one takes long."""
    import kalaba as kb
    from benchmarks.flexible import BUDGET, MODES, arm_loop
    from benchmarks.timing import best_in_turns, repeated

    kb.build(kb.load("four-bar")).standard("motion")  # so that the first build below does not pay for imports
    figures: dict[str, float] = {}
    for count in MODES:
        began = time.perf_counter()
        plant = kb.build(kb.load("floating-flexible-arm", modes=count))
        plant.start  # noqa: B018
        plant.standard("motion")
        figures[f"{count} build"] = time.perf_counter() - began
        loop = arm_loop(plant)
        figures[f"{count} operations"] = loop.function.kernel.instructions
        figures[f"{count} evaluation"] = best_in_turns({"loop": repeated(loop, 1 / loop.evaluations)})["loop"]
        if figures[f"{count} build"] > BUDGET:
            break
    return figures


def carry(arms: int) -> dict[str, float]:
    """The time from `build` to the first motion of arms that carry one load; imports were paid by another machine."""
    import kalaba as kb

    other = kb.build(kb.load("four-bar"))
    other.motion(*other.start)
    system = kb.load("n-arm-carry", arms=arms)
    began = time.perf_counter()
    plant = kb.build(system)
    plant.motion(*plant.start)
    return {"ready": time.perf_counter() - began}


def carry_law() -> dict[str, float]:
    """The time to compile the law that carries, in a machine that is ready but for it."""
    import kalaba as kb
    from benchmarks.cooperation import LAW_ARMS
    from kalaba.plant.laws import law_function

    scenario = kb.scenario("n-arm-carry", arms=LAW_ARMS)
    plant = kb.build(scenario.system)
    start = plant.start
    plant.motion(*start)
    law = scenario.control.law(plant, start)
    began = time.perf_counter()
    law_function(plant, law)
    return {"law": time.perf_counter() - began}


def catalogue_machine(name: str) -> dict[str, float]:
    """Processor time from `build` to the first motion of a machine; imports were paid by another machine."""
    import kalaba as kb

    other = kb.build(kb.load("five-bar" if name == "four-bar" else "four-bar"))
    other.motion(*other.start)
    system = kb.load(name)
    began = time.process_time()
    plant = kb.build(system)
    plant.motion(*plant.start)
    return {"ready": time.process_time() - began}


def long_machine(name: str) -> dict[str, float]:
    """Processor time from `build` to the first motion of a long machine; imports were paid by another machine."""
    import kalaba as kb
    from benchmarks.chains import BUILDS

    other = kb.build(kb.load("four-bar"))
    other.motion(*other.start)
    make, count, _ = BUILDS[name]
    system = make(count)
    began = time.process_time()
    plant = kb.build(system)
    plant.motion(*plant.start)
    return {"ready": time.process_time() - began}


def first_run() -> dict[str, float]:
    """The time from nothing to a finished run of the catalogue's scenario."""
    began = time.perf_counter()
    import kalaba as kb

    scenario = kb.scenario("dual-mobile-arm")
    kb.simulate(scenario.system, scenario.duration, control=scenario.control or None)
    return {"run": time.perf_counter() - began}


def long_run() -> dict[str, float]:
    """A run of 1,000 s at 1 ms that saves every 10 ms, and the most memory that the process ever held."""
    import kalaba as kb

    scenario = kb.scenario("dual-mobile-arm", path=False)
    run = kb.simulate(scenario.system, 1000.0, control=scenario.control, save_every=0.01)
    return {"peak": peak_memory(), "time": run.effort.wall_time, "samples": len(run.time), "gap": run.worst.value}


def peak_memory() -> float:
    """Peak resident size, MB. On Linux getrusage would count the parent from before the program was loaded."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


PROBES: dict[str, Callable[[], dict[str, float]]] = {
    **{probe.__name__: probe for probe in (package, building, flexible, modes, first_run, long_run, carry_law)},
    **{f"carry_{arms}": partial(carry, arms) for arms in (2, 32)},
}
NAMED: dict[str, Callable[[str], dict[str, float]]] = {  # by what comes before the name of a machine
    "machine ": long_machine,  # of `benchmarks/chains.py`
    "catalogue_": catalogue_machine,
}

if __name__ == "__main__":
    asked = sys.argv[1]
    named = [partial(probe, asked.removeprefix(start)) for start, probe in NAMED.items() if asked.startswith(start)]
    print(json.dumps([*named, PROBES.get(asked)][0]()))
