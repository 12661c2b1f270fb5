"""What is to be run on a machine: the section `run` of a file ↔ a Scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, Optional

from pydantic import AfterValidator, TypeAdapter

from kalaba.control.allocation import Allocation
from kalaba.control.cascade import Cascade
from kalaba.control.drive import Drive, Driven
from kalaba.control.goals import Follow, Goal, Posture
from kalaba.control.hybrid import PID, Hybrid
from kalaba.control.ideal import IdealServo
from kalaba.control.robust import Correction, Model
from kalaba.control.servo import Servo
from kalaba.control.transmission import Backlash, Friction
from kalaba.cooperate.carry import Carry, Moves
from kalaba.cooperate.moves import MoveTo
from kalaba.cooperate.pressing import Squeeze
from kalaba.errors import FileError, KalabaError
from kalaba.files.yaml.checking import validated
from kalaba.files.yaml.encoding import Data, Encoder
from kalaba.files.yaml.kinds import Entry, Kinds, chosen, either, key_of, kinds_of, listed, mapped, pairs, word
from kalaba.files.yaml.paths import BLENDS, TIMINGS, Blend, path_data, path_type
from kalaba.files.yaml.tree import Document
from kalaba.files.yaml.values import EVERY, ExpressionEntry, TextEntry, number_type
from kalaba.joints.joint import PACKAGE
from kalaba.model.parts import Sampled
from kalaba.model.system import System
from kalaba.paths.path import Path, Turn
from kalaba.paths.timing import Timing
from kalaba.plant import laws
from kalaba.plant.laws import Control, Controller
from kalaba.run.scenario import Scenario
from kalaba.steppers import Stepper, stepper

RUN = "run"
GOALS = {"follow": Follow, "posture": Posture}
LAWS: dict[str, type] = {word(kind): kind for kind in (Servo, IdealServo, Cascade, Carry, Hybrid, Driven)}
PLAIN = (Turn, MoveTo, PID, Drive, Friction, Backlash)
Joints = tuple[tuple[str, str | tuple[MoveTo, ...]], ...] | Mapping[str, Moves]  # of Carry


def steppers() -> dict[str, type]:
    """Steppers by their words, without the classes that others are made from."""
    return {name: kind for name, kind in kinds_of(Stepper).items() if kind.__module__ != stepper.__name__}


def control_laws() -> dict[str, type]:
    """Control laws by their words: the package's, and those from outside that inherit from Controller."""
    others = kinds_of(Controller).items()
    return {name: kind for name, kind in others if not kind.__module__.startswith(PACKAGE)} | LAWS


@dataclass(frozen=True)
class RunSchema:
    """Types of the entries of a run, for the kinds that are defined.

    Arguments:
        kinds: types by class
        entries: the section
    """

    kinds: Kinds
    entries: TypeAdapter[Any]


def run_schema(*, outside: bool = True) -> RunSchema:
    """The schema of the section with the kinds that are defined now, those from outside the package or without them."""
    known = (steppers(), kinds_of(Allocation), kinds_of(Correction), control_laws())
    return _run_schema(*(chosen(kinds, outside=outside) for kinds in known))


@lru_cache(maxsize=4)
def _run_schema(*known: tuple[tuple[str, type], ...]) -> RunSchema:
    chosen_steppers, rules, corrections, chosen_laws = (dict(kinds) for kinds in known)
    families = Kinds(
        {
            Stepper: ("stepper", chosen_steppers),
            Allocation: ("allocation", rules),
            Correction: ("correction", corrections),
            Goal: ("goal", dict(GOALS)),
            Timing: ("timing", dict(TIMINGS)),
            Blend: ("blend", dict(BLENDS)),
            Controller: ("law", chosen_laws),
        }
    )
    families.special |= _special(families)
    families.drop_unreadable()
    time = number_type(("s",), with_expressions=False)
    entries = {
        "duration": (time, None),
        "stepper": (families.hinted(Stepper, ()), None),
        "control": (families.special[Control], None),
        "save_every": (time, None),
        "description": (TextEntry, None),
        "published": (TextEntry, None),
    }
    model = families.entry("Run", entries, Entry, what="a run")
    model.source = Scenario
    families.finish()
    return RunSchema(families, TypeAdapter(model))


def _special(families: Kinds) -> dict[Any, Any]:
    """Types of fields that are no numbers, axes, texts or kinds."""
    path, names = path_type(families), listed(TextEntry)
    numbers: Any = Annotated[mapped(number_type(EVERY, with_expressions=False)), AfterValidator(pairs)]
    moves = listed(families.value(MoveTo))
    of_joint = either(lambda data: "list" if isinstance(data, list) else "one", list=moves, one=ExpressionEntry)

    def is_map(data: object) -> str:
        return "map" if isinstance(data, Mapping) else "one"

    law, force = families.hinted(Controller, ()), number_type(("N",), with_expressions=True)
    words = {key_of(name) for name in families.families[Controller][1]}

    def is_law(data: object) -> str:
        """A map with the word of a law as its only key, and not the text of an expression behind it."""
        one = next(iter(data.items())) if isinstance(data, Mapping) and len(data) == 1 else ("", "")
        return "law" if isinstance(data, str) or (key_of(one[0]) in words and not isinstance(one[1], str)) else "texts"

    return {
        Path: path,
        Path | str | float: either(is_map, map=path, one=ExpressionEntry),
        Turn | str: either(is_map, map=families.value(Turn), one=TextEntry),
        tuple[str, ...] | str: either(
            lambda data: "list" if isinstance(data, list) else "one", list=names, one=TextEntry
        ),
        Joints: Annotated[mapped(of_joint), AfterValidator(pairs)],
        Squeeze: Optional[either(is_map, map=Annotated[mapped(force), AfterValidator(pairs)], one=force)],  # noqa: UP045  (made here)
        Model: numbers,
        Model | Mapping[str, float]: numbers,
        Control: either(is_law, law=law, texts=mapped(ExpressionEntry)),
    }


def scenario(document: Document, system: System) -> Scenario | None:
    """What a file wants to be run; None if it does not say."""
    if RUN not in document.data:
        return None
    values = validated(document, run_schema().entries, document.data[RUN], (RUN,)).said()
    if "duration" not in values:
        values["duration"] = _own_duration(document, values.get("control"))
    try:
        return Scenario(system, **values)
    except KalabaError as error:
        raise document.error((RUN,), str(error).removeprefix(f"{system.name}: ")) from error


def _own_duration(document: Document, control: object) -> float:
    """How long a control law takes by itself."""
    duration = control.duration if isinstance(control, Controller) else None
    if duration is None:
        raise document.error((RUN,), "expected an entry duration, such as 5 s, got none.")
    return duration


def run_data(described: Scenario) -> Data:
    """The entries of the section."""
    encoder = Encoder(PLAIN)
    encoder.special.update({Path: partial(path_data, encoder=encoder)})
    path = f"{described.system.name}.run"
    data: Data = {"duration": encoder.value(described.duration, ("s",), path)}
    if described.stepper is not None:
        data["stepper"] = encoder.kind(described.stepper, f"{path}.stepper")
    if described.control is not None:
        data["control"] = _control_data(described.control, f"{path}.control", encoder)
    for name in ("save_every", "description", "published"):
        if (value := getattr(described, name)) != type(described).__dataclass_fields__[name].default:
            data[name] = encoder.value(value, ("s",), path)
    return data


def _control_data(control: Control, path: str, encoder: Encoder) -> Any:
    """Expressions by motor, or a law by its word."""
    if isinstance(control, laws.MotorTexts):
        control = control.texts
    if isinstance(control, Mapping):
        return {name: encoder.value(law, (), path) for name, law in control.items()}
    if isinstance(control, laws.SampledControl):
        control = control.function
    if isinstance(control, Sampled):
        return encoder.value(control, (), path)
    if type(control) not in control_laws().values():
        raise FileError(
            f"{path}: {type(control).__name__} cannot be written to a file; laws that can: {', '.join(LAWS)}."
        )
    return encoder.kind(control, path, short=False)
