"""Study: one machine run many times with other numbers, and what is kept of each run.

    Study ─run→ a folder of results ─open_study→ StudyResults

A sample depends on the study and its number alone: never on who evaluates it, beside which others, or when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalaba.boundary import check_arguments, check_fields, check_whole, shown
from kalaba.constrain.stabilisation import Projection, Stabilisation
from kalaba.errors import ModelError, near
from kalaba.model.formats import scenario_of_name
from kalaba.model.options import Choice as OptionChoice
from kalaba.model.system import System
from kalaba.model.text.grammar import is_name
from kalaba.plant.laws import Control
from kalaba.plant.plant import Plant, build
from kalaba.run.scenario import Scenario
from kalaba.run.simulate import Limits, run_only, simulate
from kalaba.space.arrays import Array
from kalaba.steppers import Stepper
from kalaba.studies.measures import Measure, measure_of
from kalaba.studies.sampling import Sampling, check_size, drawn, usual_sampling
from kalaba.studies.variables import Variable

if TYPE_CHECKING:
    from distributed import Client

    from kalaba.results.run import Run
    from kalaba.studies.progress import StudyProgress
    from kalaba.studies.results import StudyResults
    from kalaba.studies.search import Found

TAKEN = frozenset({"sample", "status", "end", "error"})  # columns of every table of results
MOST_SEED = 2**63 - 1
MOST_STEPS = 100_000_000
MOST_WORKERS = 4096


@dataclass(frozen=True)
class Study:
    """A machine run many times with other numbers, and the measures that are kept of each run.

    Arguments:
        machine: a name of kb.catalog(), a path, a System, or a Scenario; what is run on it is as `kb.scenario` says
        vary: {parameter: kb.uniform(3, 5)}: the numbers that differ between samples, by path
        measure: what is kept of a run, by name: text such as "peak(abs(cut.x))" with peak, rms, mean, final, at or
            first, or a function of a Run that gives a number and that pickle can copy
        samples: how many; None: as many as the grid has, or 1000
        sampling: how they are drawn: Random(), LatinHypercube(), Sobol(), Grid() or SobolIndices(1024); None: a grid
            where all variables have values only and no number of samples is given, else Random()
        seed: of the random numbers; the same seed gives the same samples
        duration: time to simulate, s; None: the scenario's own
        stepper: how time is stepped; None: as the scenario says, else Auto()
        control: {motor: expression} or a controller; None: as the scenario says
        stabilisation: how rows are kept closed
        save_every: time between samples of a run, s, over which measures are taken; None: the scenario's own
        stop: a condition that ends a run when it becomes true
        options: options of a machine of the catalogue or of a file, by name, such as {"path": False}
        max_steps: steps after which a run has failed if it has not come to its end
    """

    machine: str | Path | System | Scenario
    vary: Mapping[str, Variable]
    measure: Mapping[str, str | Callable[[Run], float]]
    samples: int | None = None
    sampling: Sampling | None = None
    seed: int = 0
    duration: float | None = None
    stepper: Stepper | None = None
    control: Control | None = None
    stabilisation: Stabilisation = Projection()
    save_every: float | None = None
    stop: str | None = None
    options: Mapping[str, OptionChoice] = field(default_factory=dict)
    max_steps: int = MOST_STEPS

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("vary", "measure", "options"):
            object.__setattr__(self, name, dict(getattr(self, name)))
        if not self.vary or not self.measure:
            raise ModelError("Study: expected numbers to vary and measures, got none. Give vary={...}, measure={...}.")
        for name in self.measure:
            if not is_name(name) or name in TAKEN or name in self.vary:
                raise ModelError(
                    f"Study.measure: {shown(name)} cannot be the name of a measure. Give a word that is neither a "
                    f"parameter nor one of {', '.join(sorted(TAKEN))}."
                )
        check_whole(self.seed, "Study.seed", 0, MOST_SEED)
        check_whole(self.max_steps, "Study.max_steps", 1, MOST_STEPS)
        _ = self.measures
        check_size(self.count, len(self.vary))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as its fields, without what follows from them."""
        return Study, tuple(getattr(self, entry.name) for entry in fields(self))

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """The measures, read."""
        return {name: measure_of(written, name) for name, written in self.measure.items()}

    @property
    def drawn_by(self) -> Sampling:
        """How samples are drawn."""
        return self.sampling or usual_sampling(tuple(self.vary.values()), self.samples)

    @cached_property
    def count(self) -> int:
        """How many samples there are."""
        return self.drawn_by.count(tuple(self.vary.values()), self.samples)

    @cached_property
    def design(self) -> Array:
        """The numbers of all samples, (samples, varied numbers)."""
        return drawn(self.drawn_by, tuple(self.vary.values()), self.count, self.seed)

    @cached_property
    def scenario(self) -> Scenario:
        """What every sample runs, before its numbers are put in."""
        machine = self.machine
        if isinstance(machine, Scenario):
            usual = machine
        elif isinstance(machine, System):
            if self.duration is None:
                raise ModelError(f"{machine.name}: expected Study.duration beside a System, which has none of its own.")
            usual = Scenario(machine, self.duration)
        else:
            usual = scenario_of_name(machine, self.options)
        names = [parameter.name for parameter in usual.system.machine.parameters]
        for name in self.vary:
            if name not in names:
                raise ModelError(f"Study.vary: {usual.system.name} has no parameter {name!r}; {near(name, names)}")
        chosen = {name: getattr(self, name) for name in ("duration", "stepper", "control", "save_every")}
        return replace(usual, **{name: value for name, value in chosen.items() if value is not None})

    @property
    def resolved(self) -> Study:
        """The same study with its machine as a value, as worker processes get it."""
        return replace(self, machine=self.scenario, options={})

    @cached_property
    def plant(self) -> Plant:
        """The machine that all samples share, built."""
        return build(self.scenario.system)

    def case(self, sample: int) -> Run:
        """Run one sample again, to look at it: the same numbers, to the bit, with all that a Run says of itself.

        Arguments:
            sample: its number, from 0
        """
        check_whole(sample, "Study.case: sample", 0, self.count - 1)
        return self.judged(self.values(sample))

    def judged(self, values: Mapping[str, float]) -> Run:
        """The run of some numbers, with its judgement; one that breaks off is returned too."""
        return simulate(
            self.plant.with_parameters(values),
            self.scenario.duration,
            stepper=self.scenario.stepper,
            control=self.scenario.control,
            stabilisation=self.stabilisation,
            save_every=self.scenario.save_every,
            stop=self.stop,
            check=False,
            max_steps=self.max_steps,
        )

    def simulated(self, values: Mapping[str, float]) -> Run:
        """The same run without its judgement, which takes longer than the run."""
        limits = Limits(self.stabilisation, self.stop, None, self.max_steps, inf)
        return run_only(self.plant.with_parameters(values), self.scenario, limits)

    def values(self, sample: int) -> dict[str, float]:
        """The numbers of a sample, by parameter.

        Arguments:
            sample: its number, from 0
        """
        check_whole(sample, "Study.values: sample", 0, self.count - 1)
        return dict(zip(self.vary, self.design[sample].tolist(), strict=True))

    def run(
        self,
        folder: str | Path,
        *,
        workers: int | None = None,
        scheduler: str | Client | None = None,
        shard: tuple[int, int] | None = None,
        progress: Callable[[StudyProgress], None] | None = None,
    ) -> StudyResults:
        """Evaluate the samples that a folder does not hold yet; interrupted, run it again and it goes on.

        Processes on this computer import the calling script: keep what it does under `if __name__ == "__main__":`.

        Arguments:
            folder: where results are written, made if it is not there; another study's folder is refused
            workers: processes on this computer; None: one per core; 1: none beside this one
            scheduler: address of a Dask scheduler such as "tcp://127.0.0.1:8786", or a distributed.Client
            shard: (k, n), k from 1: every n-th chunk only, for n jobs that share the folder
            progress: a function that gets a StudyProgress after each chunk

        Raises:
            FileError: the folder cannot be written, or holds another study; chunks that are done stay
            Interrupted: Ctrl-C; chunks that are done stay
        """
        check_arguments(Study.run, locals())
        from kalaba.studies.engines import cores
        from kalaba.studies.running import Engines, run_study

        if workers is not None:
            check_whole(workers, "Study.run: workers", 1, MOST_WORKERS)
        engines = Engines(workers or cores(), scheduler)
        return run_study(self, Path(folder), engines, shard or (1, 1), progress)

    def search(
        self,
        measure: str,
        *,
        smallest: bool = False,
        evaluations: int = 500,
        workers: int | None = None,
    ) -> Found:
        """Look for the numbers with the largest value of a measure, by differential evolution within what is varied.

        Endless distributions are searched without their outermost thousandth. The study's seed decides what is tried.

        Arguments:
            measure: its name
            smallest: whether the smallest value is looked for
            evaluations: runs to try, at the most
            workers: processes on this computer; None: one per core; 1: none beside this one
        """
        check_arguments(Study.search, locals())
        from kalaba.studies.engines import cores
        from kalaba.studies.search import search

        if measure not in self.measure:
            raise ModelError(f"Study.search: no measure {measure!r}; {near(measure, self.measure)}")
        check_whole(evaluations, "Study.search: evaluations", 1, MOST_STEPS)
        if workers is not None:
            check_whole(workers, "Study.search: workers", 1, MOST_WORKERS)
        return search(self, measure, smallest=smallest, evaluations=evaluations, workers=workers or cores())
