"""Control laws in files: servo, carry and the others with their goals and paths, allocation rules and drives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, Optional

from pydantic import AfterValidator

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
from kalaba.errors import FileError
from kalaba.files.yaml.encoding import Encoder
from kalaba.files.yaml.kinds import Kinds, chosen, either, kinds_of, listed, mapped, pairs, word
from kalaba.files.yaml.paths import BLENDS, TIMINGS, Blend, path_data, path_type
from kalaba.files.yaml.running import RunSchema, run_entries, steppers
from kalaba.files.yaml.values import EVERY, ExpressionEntry, TextEntry, number_type
from kalaba.joints.joint import PACKAGE
from kalaba.model.acting import Sampled
from kalaba.paths.path import Path, Turn
from kalaba.paths.timing import Timing
from kalaba.plant import laws
from kalaba.plant.laws import Control, Controller
from kalaba.steppers import Stepper

GOALS = {"follow": Follow, "posture": Posture}
LAWS: dict[str, type] = {word(kind): kind for kind in (Servo, IdealServo, Cascade, Carry, Hybrid, Driven)}
PLAIN = (Turn, MoveTo, PID, Drive, Friction, Backlash)
Joints = tuple[tuple[str, str | tuple[MoveTo, ...]], ...] | Mapping[str, Moves]  # of Carry


def control_laws() -> dict[str, type]:
    """Control laws by their words: the package's, and those from outside that inherit from Controller."""
    others = kinds_of(Controller).items()
    return {name: kind for name, kind in others if not kind.__module__.startswith(PACKAGE)} | LAWS


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
    return run_entries(families, families.special[Control])


def _special(families: Kinds) -> dict[Any, Any]:
    """Types of fields that are no numbers, axes, texts or kinds."""
    path, names = path_type(families), listed(TextEntry)
    numbers: Any = Annotated[mapped(number_type(EVERY, with_expressions=False)), AfterValidator(pairs)]
    moves = listed(families.value(MoveTo))
    of_joint = either(lambda data: "list" if isinstance(data, list) else "one", list=moves, one=ExpressionEntry)

    def is_map(data: object) -> str:
        return "map" if isinstance(data, Mapping) else "one"

    law, force = families.hinted(Controller, ()), number_type(("N",), with_expressions=True)

    def is_law(data: object) -> str:
        """A word, or a map with one key that has entries behind it: expressions are texts."""
        entries = list(data.values()) if isinstance(data, Mapping) else []
        has_entries = len(entries) == 1 and isinstance(entries[0], Mapping | list)
        return "law" if has_entries or isinstance(data, str) else "texts"

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


def control_data(control: Control, path: str) -> Any:
    """The entry of a control: expressions by motor, or a law by its word."""
    encoder = Encoder(PLAIN)
    encoder.special.update({Path: partial(path_data, encoder=encoder)})
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
