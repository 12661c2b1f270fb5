"""Studies in files that people write: which machine, what varies, what is measured, how it is run.

    kalaba-study: 1
    machine: dual-mobile-arm
    options: {path: false}
    vary:
      left.link2.mass: {uniform: {low: 3 kg, high: 5 kg}}
    measure:
      peak: peak(abs(left.theta1))
    samples: 100000

A machine that is a file is looked for beside the file of the study. Kinds of variables and of samplings are classes, as
kinds of joints are in files of machines; one that is defined outside the package can be written too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator, TypeAdapter

from kalaba.boundary import as_path, check_arguments
from kalaba.constrain.stabilisation import Baumgarte, NoStabilisation, Projection, Stabilisation
from kalaba.errors import FileError, KalabaError
from kalaba.files.named import is_file
from kalaba.files.source import Source
from kalaba.files.yaml.checking import validated
from kalaba.files.yaml.kinds import Entry, Kinds, chosen, kinds_of, mapped
from kalaba.files.yaml.running import steppers
from kalaba.files.yaml.tree import Document, parse, shown
from kalaba.files.yaml.values import ExpressionEntry, TextEntry, WholeEntry, number_type, refuse
from kalaba.steppers import Stepper
from kalaba.studies.sampling import Sampling
from kalaba.studies.study import Study
from kalaba.studies.variables import Variable

HEAD, VERSION = "kalaba-study", 1
STABILISATIONS: dict[str, type] = {"projection": Projection, "baumgarte": Baumgarte, "none": NoStabilisation}


def load_study(path: str | Path) -> Study:
    """Read a study from a YAML file, as `kalaba sweep` runs it.

    Arguments:
        path: the file, which begins with `kalaba-study: 1`

    Raises:
        FileError: no such file, or not such a one; the message says line and place in it, and what was expected
    """
    check_arguments(load_study, locals(), FileError)
    place = as_path(path, "load_study")
    document = parse(Source(place))
    data = document.data
    if not isinstance(data, Mapping):
        raise document.error((), f"expected a map that begins with {HEAD}: {VERSION}, got {shown(data)}.")
    if data.get(HEAD) != VERSION or isinstance(data[HEAD], bool):
        got = shown(data[HEAD]) if HEAD in data else "none"
        raise document.error((HEAD,), f"expected {HEAD}: {VERSION}, the version of the format, got {got}.")
    known = (chosen(kinds_of(base), outside=True) for base in (Variable, Sampling))
    entries = {key: value for key, value in data.items() if key != HEAD}
    said = validated(document, _schema(chosen(steppers(), outside=True), *known), entries, ()).said()
    _check_needed(document, said)
    if is_file(said["machine"]):
        said["machine"] = str(place.parent / said["machine"])
    try:
        study = Study(**said)
        _ = study.scenario  # what the machine does not know is told with the name of this file
    except KalabaError as error:
        raise document.error(_place(said, str(error)), str(error)) from error
    return study


def _place(said: Mapping[str, Any], message: str) -> tuple[str, ...]:
    """The entry that a refusal of the study speaks of."""
    head = message.partition(":")[0].removeprefix("Study.").split(".")
    if head[0] not in said:
        return ("machine",)
    return tuple(head[:2]) if isinstance(said[head[0]], Mapping) else (head[0],)


def _check_needed(document: Document, said: Mapping[str, Any]) -> None:
    for name, example in (("machine", "four-bar"), ("vary", "{...}"), ("measure", "{...}")):
        if name not in said:
            raise document.error((), f"expected an entry {name}: {example}, got none.")


def _option(written: object) -> object:
    if not isinstance(written, bool | int | float | str):
        refuse(f"expected true, false, a number or a word, got {shown(written)}.")
    return written


@lru_cache(maxsize=4)
def _schema(*known: tuple[tuple[str, type], ...]) -> TypeAdapter[Any]:
    steppers_known, variables, samplings = known
    families = Kinds(
        {
            Stepper: ("stepper", dict(steppers_known)),
            Variable: ("way to vary", dict(variables)),
            Sampling: ("sampling", dict(samplings)),
            Stabilisation: ("stabilisation", STABILISATIONS),
        }
    )
    families.drop_unreadable()
    time = number_type(("s",), with_expressions=False)
    option = Annotated[object, PlainValidator(_option)]
    entries: dict[str, Any] = {
        "machine": (TextEntry, None),
        "vary": (mapped(families.hinted(Variable, ())), None),
        "measure": (mapped(TextEntry), None),
        "samples": (WholeEntry, None),
        "sampling": (families.hinted(Sampling, ()), None),
        "seed": (WholeEntry, None),
        "duration": (time, None),
        "stepper": (families.hinted(Stepper, ()), None),
        "control": (mapped(ExpressionEntry), None),
        "stabilisation": (families.hinted(Stabilisation, ()), None),
        "save_every": (time, None),
        "stop": (TextEntry, None),
        "options": (mapped(option), None),
        "max_steps": (WholeEntry, None),
    }
    model = families.entry("StudyFile", entries, Entry, what="a study")
    families.finish()
    return TypeAdapter(model)
