"""What a study found: its table, distributions, sensitivities and worst cases, and any sample as a Run again."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import as_path, check_arguments, check_whole
from kalaba.errors import FileError, ModelError, near
from kalaba.studies.folder import StudyFolder, opened
from kalaba.studies.sampling import MOST_SAMPLES
from kalaba.studies.sensitivities import sensitivities
from kalaba.studies.written import from_data

if TYPE_CHECKING:
    import pandas as pd

    from kalaba.results.run import Run
    from kalaba.studies.study import Study


@dataclass(frozen=True)
class StudyResults:
    """Results of a study in a folder, all of them or what there is so far.

    Arguments:
        folder: where they are
        run_by: the Study that was run just now; None: the folder was opened
    """

    folder: StudyFolder
    run_by: Study | None = field(default=None, repr=False)

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @property
    def name(self) -> str:
        """Name of the machine."""
        return str(self.folder.manifest.get("name", ""))

    @property
    def count(self) -> int:
        """Samples of the whole study."""
        return self.folder.samples

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the numbers that were varied."""
        return tuple(self.folder.manifest["study"]["vary"])

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self.folder.manifest["study"]["measure"])

    @cached_property
    def study(self) -> Study:
        """The study; of one from a folder without measures that are functions."""
        return self.run_by or from_data(self.folder.manifest["study"], str(self.path))

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per sample that is done: what was varied, measures, status, end (s) and error; nan where it failed."""
        frame: pd.DataFrame = self.folder.read().to_pandas().set_index("sample")
        return frame

    @property
    def is_complete(self) -> bool:
        """Whether all samples are done."""
        return len(self.table) == self.count

    @property
    def failed(self) -> pd.DataFrame:
        """The samples that failed, with their numbers, status and error."""
        return self.table[self.table["error"] != ""]

    @property
    def summary(self) -> pd.DataFrame:
        """Each measure: how many samples have it, mean, deviation, smallest, quartiles and largest."""
        return self.table[list(self.measures)].describe().T

    @cached_property
    def sensitivities(self) -> pd.DataFrame:
        """How much each number matters to each measure.

        `first` and `total` are Sobol's indices, of samples drawn by SobolIndices; of others `rank_correlation`.
        """
        return sensitivities(self.study, self.table, self.measures)

    def worst(self, count: int = 10, measure: str | None = None, *, smallest: bool = False) -> pd.DataFrame:
        """The samples with the largest values of a measure, the largest first.

        Arguments:
            count: how many
            measure: its name; None: the first
            smallest: whether the smallest are meant
        """
        check_arguments(StudyResults.worst, locals())
        check_whole(count, "worst: count", 1, MOST_SAMPLES)
        name = self.measures[0] if measure is None else measure
        if name not in self.measures:
            raise ModelError(f"worst: no measure {name!r}; {near(name, self.measures)}")
        finite = self.table[np.isfinite(self.table[name])]
        return finite.sort_values(name, ascending=smallest, kind="stable").head(count)

    def case(self, sample: int) -> Run:
        """Run one sample again, to look at it: the same numbers, to the bit, with all that a Run says of itself.

        Arguments:
            sample: its number, from 0
        """
        check_arguments(StudyResults.case, locals())
        check_whole(sample, "case: sample", 0, self.count - 1)
        if sample in self.table.index:
            row = self.table.loc[sample]
            return self.study.judged({name: float(row[name]) for name in self.variables})
        return self.study.case(sample)


def open_study(path: str | Path) -> StudyResults:
    """Open the results of a study, all of them or what there is so far.

    Arguments:
        path: the folder that `study.run` or `kalaba sweep` wrote

    Raises:
        FileError: no such folder, or none with results of a study
    """
    check_arguments(open_study, locals(), FileError)
    return StudyResults(opened(as_path(path, "open_study")))
