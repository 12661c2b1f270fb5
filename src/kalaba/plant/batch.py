"""One rule of shapes for all that is asked of a machine: an argument is that of one state, or one per state.

Where some argument has a leading axis more than one state needs, the question is a batch: arguments without it hold for
all states, and every result has the leading axis. Native code takes as many states at a time as there are lanes; a
question that no kernel answers alone, and any on another backend, is asked state by state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import shown
from kalaba.errors import ModelError, near
from kalaba.hints import is_real_array
from kalaba.plant.arguments import WRENCH, as_real, configuration_of, made_unit, pushed_frames
from kalaba.plant.lanes import Output, Parameters, Traced, part_of, run_lanes
from kalaba.plant.readings import JACOBIAN, by_columns, frame_function, moved
from kalaba.plant.state import State
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant

Answer = TypeVar("Answer", bound="tuple[Any, ...]")


NO_TIME = 0.0  # where a question has none
NO_TIMES = np.zeros(1)


class Asked(NamedTuple):
    """What a question about a machine is asked at, each for one state or one per state."""

    q: State | ArrayLike
    v: ArrayLike | None = None
    t: ArrayLike = NO_TIME
    force: ArrayLike | None = None
    actuation: ArrayLike | None = None
    wrenches: Mapping[str, ArrayLike] | None = None
    parameters: Mapping[str, ArrayLike] | None = None

    @property
    def is_batch(self) -> bool:
        """Whether it is to be answered in lanes: some argument is one per state, or parameters are given."""
        if self.parameters is not None or _axes(self.t) > 0 or _axes(configuration_of(self.q)) > 1:
            return True
        return any(_axes(value) > 1 for value in (self.v, self.force, self.actuation) if value is not None) or any(
            _axes(wrench) > 1 for _, wrench in pushed_frames(self.wrenches)
        )


def _axes(value: ArrayLike) -> int:
    """How many axes numbers have; 0 for what is none, which is refused elsewhere."""
    return value.ndim if isinstance(value, np.ndarray) else np.ndim(value) if is_real_array(value) else 0


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Checked states with all that acts on them, and the parameters that differ from state to state."""

    plant: Plant
    fields: dict[str, Array]  # by the names of `constrain/layout.py`: (count, width), or (width,) for all; q the former
    parameters: Parameters | None
    is_one: bool  # nothing has a leading axis: the question is about one state, with parameters of its own

    @property
    def count(self) -> int:
        """How many states there are."""
        return len(self.fields["q"])

    def values(self, function: str | Traced, outputs: Sequence[Output]) -> list[Array]:
        """Outputs of a function, each (count, width), in lanes or by the evaluator that answers for one state."""
        if self.plant.is_native:
            every_row = np.ones(len(self.plant.constraints))
            fields = {"mask": every_row, **self.fields}
            return run_lanes(self.plant, function, fields, outputs, self.parameters)
        evaluator = _evaluator(self.plant, function)
        parts = [part_of(evaluator.outputs, output) for output in outputs]
        results = [np.empty((self.count, part.stop - part.start)) for part in parts]
        for index in range(self.count):
            plant, inputs = self.row(index)
            values = _evaluator(plant, function)(inputs)
            for result, part in zip(results, parts, strict=True):
                result[index] = values[part]
        return results

    def row(self, index: int) -> tuple[Plant, Array]:
        """The machine of one state, with its parameters, and that state packed."""
        row = {name: values[index] if values.ndim == 2 else values for name, values in self.fields.items()}
        plant = self.plant if self.parameters is None else with_row(self.plant, self.parameters, index)
        at_rest = np.zeros(len(self.plant.velocities))
        return plant, plant.packed(
            row["q"], row.get("v", at_rest), row.get("f"), float(row.get("t", NO_TIMES)[0]), row.get("u")
        )

    def each(self, ask: Callable[[Plant, Array], Answer]) -> Answer:
        """Answers to a question that is asked state by state, stacked."""
        if not self.count:
            raise ModelError(f"{self.plant.system.name}: expected at least one state, got a batch of none.")
        answers = [ask(*self.row(index)) for index in range(self.count)]
        return answers[0] if self.is_one else _stacked(self.plant, answers)

    def shaped(self, answer: Answer) -> Answer:
        """An answer with a leading axis; without it where the question is about one state."""
        return type(answer)(*(part[0] for part in answer)) if self.is_one else answer


def _stacked(plant: Plant, answers: Sequence[Answer]) -> Answer:
    """Answers of several states, one above the other in each field."""
    columns = list(zip(*answers, strict=True))
    for column in columns:
        shapes = sorted({np.shape(entry) for entry in column})
        if len(shapes) > 1:
            raise ModelError(
                f"{plant.system.name}: expected states with the same number of freedoms in a batch, got results of "
                f"shapes {' and '.join(map(str, shapes[:2]))}. Ask for each alone."
            )
    return type(answers[0])(*(np.array(column) for column in columns))


def answers(plant: Plant, function: str | Traced, outputs: Sequence[Output], asked: Asked) -> list[Array]:
    """Outputs of a function at one state, (width,), or at a batch of them, (count, width)."""
    if not asked.is_batch:
        evaluator = _evaluator(plant, function)
        values, places = evaluator(packed(plant, asked)), evaluator.outputs
        return [values[part_of(places, output)] for output in outputs]
    batch = batch_of(plant, asked)
    results = batch.values(function, outputs)
    return [result[0] for result in results] if batch.is_one else results


def ask_each(plant: Plant, ask: Callable[[Plant, Array], Answer], asked: Asked) -> Answer:
    """A question that no kernel answers alone, at one packed state or at one after the other."""
    return batch_of(plant, asked).each(ask) if asked.is_batch else ask(plant, packed(plant, asked))


def packed(plant: Plant, asked: Asked) -> Array:
    """Pack one state and all that acts on it."""
    return plant.packed(asked.q, asked.v, asked.force, asked.t, asked.actuation, asked.wrenches)  # type: ignore[arg-type]


def with_row(plant: Plant, parameters: Parameters, index: int) -> Plant:
    """The machine with the parameters of one state of a batch; those asked for last are kept."""
    names = [parameter.name for parameter in plant.machine.free_parameters]
    own = {names[i]: float(value) for i, value in zip(parameters.indices, parameters.values[index], strict=True)}
    return plant.once(("parameters", *own.items()), lambda: plant.with_parameters(own))


def batch_of(plant: Plant, asked: Asked) -> Batch:
    """Check what a batch is asked at, and give it its shape."""
    n_q, n, n_u = len(plant.coordinates), len(plant.velocities), len(plant.actuators)
    given = {"q": _row("q", configuration_of(asked.q), n_q)}
    if asked.v is not None:
        given["v"] = _row("v", asked.v, n)
    if asked.t is not NO_TIME:
        given["t"] = _number("t", asked.t)
    if asked.force is not None:
        given["f"] = _row("force", asked.force, n)
    if asked.actuation is not None:
        given["u"] = _row("actuation", asked.actuation, n_u)
    pushes = {frame: _row(f"wrench on {frame}", wrench, 6) for frame, wrench in pushed_frames(asked.wrenches)}
    indices = _indices(plant, asked.parameters)
    numbers = [_number(name, value) for name, value in (asked.parameters or {}).items()]
    everything = [*given.values(), *pushes.values(), *numbers]
    count = next((len(argument.values) for argument in everything if argument.values.ndim > 1), None)
    fields = {field: argument.checked(count) for field, argument in given.items()}
    q = np.broadcast_to(fields["q"], (1 if count is None else count, n_q))
    fields["q"] = made_unit(np.ascontiguousarray(q), plant.machine)
    parameters = _parameters(plant, indices, [number.checked(count) for number in numbers], len(q))
    batch = Batch(plant, fields, parameters, count is None)
    for frame, push in pushes.items():
        wrench = np.broadcast_to(push.checked(count), (len(q), len(WRENCH)))
        (entries,) = batch.values(frame_function(plant, frame), (("entry0", JACOBIAN),))
        force = moved(by_columns(entries, 6, n).swapaxes(1, 2), wrench)
        fields["f"] = force + fields["f"] if "f" in fields else force
    return batch


class _Argument(NamedTuple):
    """One argument: (width,) for all states or (count, width)."""

    what: str
    values: Array
    width: int
    is_number: bool = False  # one state has a number of it: what people give is (), or (count,)

    def checked(self, count: int | None) -> Array:
        """Refuse arrays that are neither for all states nor one per state, and those with NaN."""
        if self.values.shape not in {(self.width,), (count, self.width)}:
            got = self.values.shape[:1] if self.is_number else self.values.shape
            one = "a number" if self.is_number else f"shape ({self.width},)"
            many = f"({count},)" if self.is_number else f"({count}, {self.width})"
            raise ModelError(
                f"{self.what}: expected {one}, got shape {got}."
                if count is None
                else f"{self.what}: expected a batch of shape {many}, got {got}. For all states alike: {one}."
            )
        if not np.isfinite(self.values.sum()):
            raise ModelError(f"{self.what}: expected finite numbers in the batch, got NaN or infinity.")
        return np.ascontiguousarray(self.values)


def _row(what: str, values: ArrayLike, width: int) -> _Argument:
    return _Argument(what, as_real(values, width, what), width)


def _number(what: str, value: ArrayLike) -> _Argument:
    """A number, or one per state; a column of them too."""
    array = as_real(value, 1, what)
    if array.ndim > 1 and array.shape[1:] != (1,):
        raise ModelError(f"{what}: expected a number, or one per state, got shape {array.shape}.")
    return _Argument(what, array.reshape((-1, 1) if array.ndim else (1,)), 1, is_number=True)


def _indices(plant: Plant, values: Mapping[str, ArrayLike] | None) -> tuple[int, ...]:
    """Where named parameters stand among those that are symbols in the equations."""
    if values is None:
        return ()
    name = plant.system.name
    if not isinstance(values, Mapping):
        raise ModelError(f"{name}: parameters: expected {{name: one number, or one per state}}, got {shown(values)}.")
    known = {parameter.name: parameter.is_structure for parameter in plant.machine.parameters}
    for key in values:
        if key not in known:
            words = near(key, known) if isinstance(key, str) else "names are texts"
            raise ModelError(f"{name}: no parameter {shown(key)}; {words}")
        if known[key]:
            raise ModelError(
                f"{name}: {key} shapes the equations, which its value is written into. "
                "Give it by plant.with_parameters, which derives them again."
            )
    free = [parameter.name for parameter in plant.machine.free_parameters]
    return tuple(free.index(key) for key in values)


def _parameters(plant: Plant, indices: tuple[int, ...], columns: Sequence[Array], count: int) -> Parameters | None:
    """The values of the parameters that are given, one per state; the machine must take the least and the largest."""
    if not indices or not count:
        return None
    values = np.hstack([np.broadcast_to(column, (count, 1)) for column in columns])
    names = [plant.machine.free_parameters[i].name for i in indices]
    for extremes in {tuple(values.min(axis=0)), tuple(values.max(axis=0))}:
        own = dict(zip(names, map(float, extremes), strict=True))
        plant.once(("machine", *own.items()), partial(_machine_with, plant, own))
    return Parameters(indices, values)


def _machine_with(plant: Plant, values: dict[str, float]) -> Machine:
    """The machine with other numbers, which are checked as it is laid out."""
    return plant.system.with_parameters(values).machine


def _evaluator(plant: Plant, function: str | Traced) -> Evaluator:
    """What answers at one state."""
    return plant.standard(function) if isinstance(function, str) else plant.function(*function)
