"""Results on disk: a manifest that says which study they are of, and one Parquet file per chunk.

    results/study.json          the study as data, its digest, kalaba's version, how samples are cut into chunks
    results/chunk-000000.parquet, …

The manifest is written once, before the first chunk, by whoever is first. A chunk's file is sealed, written beside its
place and moved there when it is whole: what is there is done. So jobs that share a folder need not know of each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalaba.errors import FileError
from kalaba.model.fingerprint import fingerprint
from kalaba.results.places import create_text, first_line, replacing
from kalaba.results.saving import PARQUET_KEY, SEAL_KEY, write_sealed_parquet
from kalaba.results.seal import OPEN, check_seal
from kalaba.studies.written import Data, as_data, differences, digest

if TYPE_CHECKING:
    import pyarrow as pa

    from kalaba.studies.study import Study

MANIFEST = "study.json"
FORMAT = 1
NEEDED = ("kalaba_study", "kalaba_version", "digest", "samples", "chunk", "study")


@dataclass(frozen=True)
class StudyFolder:
    """A folder that holds results of a study.

    Arguments:
        path: the folder
        manifest: what it says of the study
    """

    path: Path
    manifest: Data

    @property
    def samples(self) -> int:
        """How many samples the study has."""
        return int(self.manifest["samples"])

    @property
    def size(self) -> int:
        """Samples of a chunk; the last may have fewer."""
        return int(self.manifest["chunk"])

    @property
    def chunks(self) -> int:
        """How many chunks the study has."""
        return -(-self.samples // self.size)

    def part(self, number: int) -> slice:
        """The samples of a chunk."""
        return slice(number * self.size, min((number + 1) * self.size, self.samples))

    def place(self, number: int) -> Path:
        """The file of a chunk."""
        return self.path / f"chunk-{number:06d}.parquet"

    def done(self) -> tuple[int, ...]:
        """Chunks that are there and whole; one whose file is damaged is not done."""
        return tuple(number for number in range(self.chunks) if self._is_whole(number))

    def _is_whole(self, number: int) -> bool:
        from pyarrow import ArrowException, parquet

        place = self.place(number)
        if not place.is_file():
            return False
        try:
            if not check_seal(place):
                return False
            held = parquet.read_metadata(place)
        except (FileError, OSError, ArrowException):
            return False
        facts = json.loads((held.metadata or {}).get(PARQUET_KEY, b"{}"))
        if facts.get("digest") != self.manifest["digest"]:
            raise FileError(f"{place}: a chunk of another study. Remove it, or give another folder.")
        part = self.part(number)
        return bool(held.num_rows == part.stop - part.start)

    def write(self, number: int, table: pa.Table) -> None:
        """Write the results of a chunk, whole or not at all."""
        facts = json.dumps({"digest": self.manifest["digest"], "chunk": number})
        place = self.place(number)
        with replacing(place) as beside:
            write_sealed_parquet(table.replace_schema_metadata({PARQUET_KEY: facts, SEAL_KEY: OPEN}), beside)

    def read(self) -> pa.Table:
        """The samples of all chunks that are done, in order."""
        import pyarrow as pa
        from pyarrow import parquet

        done = self.done()
        if not done:
            raise FileError(f"{self.path}: no results yet. Run the study: study.run({str(self.path)!r}).")
        return pa.concat_tables([parquet.read_table(self.place(number)) for number in done])


def opened(path: Path) -> StudyFolder:
    """A folder that holds results already."""
    place = path / MANIFEST
    try:
        manifest = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(f"{path}: no results of a study there. kb.Study(...).run({str(path)!r}) writes some.") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{place}: expected a manifest written by kalaba ({first_line(error)}).") from error
    if not isinstance(manifest, dict) or any(name not in manifest for name in NEEDED):
        raise FileError(f"{place}: expected a manifest written by kalaba, got another file.")
    if manifest["kalaba_study"] != FORMAT:
        raise FileError(
            f"{place}: written by kalaba {manifest['kalaba_version']} in format {manifest['kalaba_study']}; this "
            f"kalaba reads format {FORMAT}. Try: pip install --upgrade kalaba"
        )
    if digest(manifest["study"]) != manifest["digest"]:
        raise FileError(f"{place}: the manifest has changed since kalaba wrote it. Give another folder.")
    return StudyFolder(path, manifest)


def made_ready(path: Path) -> None:
    """Make a folder that can be written, before anything is done that takes time."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{MANIFEST}.probe"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written, {first_line(error)}. Give another folder.") from error


def same_study(study: Study, folder: StudyFolder) -> None:
    """Refuse a folder that holds results of another study, or of another kalaba."""
    theirs, ours = folder.manifest, as_data(study)
    if theirs["digest"] != digest(ours):
        entries = ", ".join(differences(ours, theirs["study"]))
        raise FileError(f"{folder.path}: holds another study, which differs in {entries}. Give another folder.")
    if theirs["kalaba_version"] != version("kalaba"):
        raise FileError(
            f"{folder.path}: begun with kalaba {theirs['kalaba_version']}, this is {version('kalaba')}, whose numbers "
            "may differ. Go on with that one, or give another folder."
        )


def begun(study: Study, path: Path, size: int) -> StudyFolder:
    """Write the manifest; where another job has been first, take its own."""
    data = as_data(study)
    manifest: dict[str, Any] = {
        "kalaba_study": FORMAT,
        "kalaba_version": version("kalaba"),
        "name": study.scenario.system.name,
        "fingerprint": fingerprint(study.scenario.system.machine),
        "digest": digest(data),
        "samples": study.count,
        "chunk": size,
        "chunks": -(-study.count // size),
        "study": data,
    }
    if create_text(path / MANIFEST, json.dumps(manifest, indent=1, allow_nan=False) + "\n"):
        return StudyFolder(path, manifest)
    folder = opened(path)
    same_study(study, folder)
    return folder
