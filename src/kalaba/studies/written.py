"""A study as plain data, for the manifest of its results: what tells it apart from others, and what makes it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from kalaba.constrain.stabilisation import Baumgarte, NoStabilisation, Projection
from kalaba.errors import ModelError
from kalaba.model.formats import control_as_text, control_from_text
from kalaba.model.serial import from_plain, to_plain
from kalaba.plant.laws import Control, controller
from kalaba.run.again import from_words
from kalaba.run.scenario import Scenario
from kalaba.steppers import KINDS
from kalaba.studies.measures import FunctionMeasure
from kalaba.studies.sampling import SAMPLINGS
from kalaba.studies.study import Study
from kalaba.studies.variables import VARIABLES

Data = dict[str, Any]
STABILISATIONS = (Projection, Baumgarte, NoStabilisation)
FUNCTION = "function"
CLASSES: Mapping[str, type] = {kind.__name__: kind for kind in (*VARIABLES, *SAMPLINGS)}


def as_data(study: Study) -> Data:
    """All that samples depend on, as JSON holds it: numbers keep all their digits."""
    scenario = study.scenario
    data = {
        "machine": to_plain(scenario.system),
        "duration": scenario.duration,
        "save_every": scenario.save_every,
        "stepper": repr(scenario.stepper),
        "stabilisation": repr(study.stabilisation),
        "control": _control(study),
        "stop": study.stop,
        "max_steps": study.max_steps,
        "vary": {name: _kind(variable) for name, variable in study.vary.items()},
        "sampling": _kind(study.drawn_by),
        "samples": study.count,
        "seed": study.seed,
        "measure": {
            name: {FUNCTION: measure.words} if isinstance(measure, FunctionMeasure) else measure.words
            for name, measure in study.measures.items()
        },
    }
    plain: Data = json.loads(json.dumps(data))  # tuples become lists, as when it is read again
    return plain


def digest(data: Data) -> str:
    """A few letters that tell one study apart from others."""
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


def differences(data: Data, other: Data) -> list[str]:
    """Entries in which two studies differ."""
    return [name for name in dict.fromkeys((*data, *other)) if data.get(name) != other.get(name)]


def from_data(data: Data, where: str) -> Study:
    """The study that data describe, without measures that are functions.

    Arguments:
        data: as `as_data` gave them
        where: what they were read from, for messages
    """
    system = from_plain(data["machine"])
    steppers = from_words(data["stepper"], KINDS)
    scenario = Scenario(system, data["duration"], steppers, _made_control(data, system), save_every=data["save_every"])
    written = {name: text for name, text in data["measure"].items() if isinstance(text, str)}
    study = Study(
        scenario,
        {name: _made(entry) for name, entry in data["vary"].items()},
        written or {"end_time": "final(t)"},
        samples=data["samples"],
        sampling=_made(data["sampling"]),
        seed=data["seed"],
        stabilisation=from_words(data["stabilisation"], STABILISATIONS) or Projection(),
        stop=data["stop"],
        max_steps=data["max_steps"],
    )
    lost = [name for name in differences(as_data(study), data) if name != "measure"]
    if lost:
        raise ModelError(
            f"{where}: no file holds all of the study ({', '.join(lost)}). Use the case(...) of the Study that was run."
        )
    return study


def _kind(value: object) -> Data:
    if type(value) not in CLASSES.values():
        return {"kind": repr(value)}
    return {"kind": type(value).__name__, **asdict(value)}  # type: ignore[call-overload]


def _made(entry: Data) -> Any:  # noqa: ANN401  (a variable or a sampling)
    kind = CLASSES.get(entry["kind"])
    if kind is None:
        raise ModelError(f"no file holds {entry['kind']}. Use the case(...) of the Study that was run.")
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in entry.items() if name != "kind"})


def _control(study: Study) -> Data | None:
    control, system = study.scenario.control, study.scenario.system
    if control is None:
        return None
    if isinstance(control, Mapping):
        return {"expressions": {name: str(text) for name, text in control.items()}}
    law = control_as_text(system, controller(control, system.name))
    return {"law": law} if law else {FUNCTION: FunctionMeasure(control).words}  # type: ignore[arg-type]


def _made_control(data: Data, system: Any) -> Control | None:  # noqa: ANN401  (a System)
    control = data["control"]
    if control is None or FUNCTION in control:
        return None
    return control["expressions"] if "expressions" in control else control_from_text(control["law"], system)
