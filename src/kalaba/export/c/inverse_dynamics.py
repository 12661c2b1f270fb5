"""The export of inverse dynamics: the motors' efforts for wanted accelerations of a machine's freedoms.

A tree takes the generalised force τ = M v̇ + h − applied, and where its motors can supply all of it u with B u = τ. A
closed machine is told the accelerations a of as many independent velocities as it has freedoms, E v̇ = a; of the
motors is asked S u = a − E v̇₀ with S = E Y, as servo control asks it (`control/servo_expressions.py`). Among the u that
do, the allocation chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.constrain.rows import null_directions
from kalaba.control import servo_expressions
from kalaba.control.allocation import Allocation, LeastSquares, rule_for_units
from kalaba.control.course import tangent
from kalaba.control.goals import Aim, Rows
from kalaba.errors import ControlError
from kalaba.export.c.cases import SEED, near_start
from kalaba.export.c.contents import Entry, Export, Trial, cost_lines, listed, machine_tables, parameters, sizes
from kalaba.export.c.routine import routine
from kalaba.model.units import actuator_units
from kalaba.space.arrays import Array
from kalaba.tolerances import MOTOR_VELOCITY, PUSHED
from kalaba.units import acceleration_unit, counted, force_unit

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

WANTED = 1.0  # m/s^2, rad/s^2: size of the accelerations in the cases


def inverse_export(plant: Plant, prefix: str, allocation: Allocation | None) -> Export:
    """Efforts from t, q, v and wanted accelerations."""
    how, free = LeastSquares() if allocation is None else allocation, _independent(plant)
    if len(plant.actuators) > len(free) > 0:
        how = rule_for_units(how, plant.actuators, actuator_units(plant.machine), plant.limits)
    driven = _is_driven(plant, free, how)
    solve = routine(f"{prefix}_solve", _function(plant, free, how if driven else None))
    outputs = [*(["force"] if not plant.constraints else []), *(["efforts"] if driven else [])]
    arrays = [name for name in solve.arguments if name != "t" and name not in outputs]
    arguments = ", ".join([f"const double {name}[]" for name in arrays] + [f"double {name}[]" for name in outputs])
    tables, machine = machine_tables(plant), plant.machine
    units = [acceleration_unit(machine.velocities[i].unit) for i in free]
    forces = [force_unit(c.unit) for c in machine.velocities]
    return Export(
        prefix=prefix,
        title=f"{plant.system.name}: inverse dynamics.",
        notes=_notes(plant, prefix, [*arrays, *outputs], how if driven else None),
        tables=(
            tables["q"],
            tables["v"],
            listed("wanted, the accelerations", tuple(plant.velocities[i] for i in free), units),
            *([listed("force, the generalised force", plant.velocities, forces)] if "force" in outputs else []),
            *([tables["motors"]] if driven else []),
            tables["p"],
            tables["fixed"],
        ),
        macros=sizes(
            plant, prefix, WANTED=(len(free), "numbers in wanted"), MOTORS=(len(plant.actuators), "numbers in efforts")
        ),
        numbers=parameters(plant, prefix),
        types=(),
        routines=(solve,),
        inner=(),
        entries=(Entry(f"void {prefix}_efforts(\n    double t, {arguments})", _WHAT, (solve.call(t="&t"),)),),
        cost=cost_lines(solve.cost),
        trial=_trial(plant, prefix, free, how if driven else None, arrays, outputs),
    )


_WHAT = "Gives what it takes to have the wanted accelerations at a state. The arrays must not overlap."


def _independent(plant: Plant) -> list[int]:
    """As many velocities as there are freedoms, in their order: those of motors first, then the most independent."""
    if not plant.constraints:
        return list(range(len(plant.velocities)))
    if plant.is_singular:
        raise ControlError(f"{plant.system.name}: inverse dynamics needs a mass matrix of full rank. Give bodies mass.")
    basis, inverse = tangent(plant, plant.start.q)
    rows = basis / np.linalg.norm(inverse, axis=1)[:, None]
    names = {displacement.canonical for displacement in plant.machine.motor_displacements.values()}
    favour = np.array([1.0 if name in names else MOTOR_VELOCITY for name in plant.velocities])
    if not basis.shape[1]:
        raise ControlError(f"{plant.system.name}: its rows leave no freedom, so that nothing can be wanted of it.")
    chosen: list[int] = []
    while len(chosen) < basis.shape[1]:
        lengths = np.linalg.norm(rows, axis=1)
        best = int(np.argmax(lengths * favour))
        direction = rows[best] / lengths[best]
        rows = rows - np.outer(rows @ direction, direction)
        chosen.append(best)
    return sorted(chosen)


def _is_driven(plant: Plant, free: list[int], how: Allocation) -> bool:
    """Whether the motors reach all freedoms; a tree does without them, a closed machine is refused."""
    name, k = plant.system.name, len(plant.actuators)
    basis = tangent(plant, plant.start.q)[0] if plant.constraints else np.eye(len(free))
    pushed = basis.T @ plant.actuation_map(plant.start.q)
    sizes = np.linalg.svd(pushed, compute_uv=False) if k else np.zeros(0)
    rank = int(np.sum(sizes > PUSHED * sizes.max(initial=0.0)))
    if rank == len(free):
        if k - rank > how.closed_form_spare:
            raise ControlError(
                f"{name}: {how.name} with {k - rank} spare motors needs a solver at every sample and has no "
                "C export. Use LeastSquares."
            )
        how.check(plant.limits)
        return True
    if plant.constraints:
        raise ControlError(
            f"{name}: its motors move {rank} of {counted(len(free), 'freedom')}, so that not all accelerations "
            "can be had. Add motors, or export the motion."
        )
    return False


def _function(plant: Plant, free: list[int], how: Allocation | None) -> ca.Function:
    equations, s = plant.equations, plant.equations.symbols
    wanted, motors = ca.SX.sym("wanted", len(free)), list(range(len(plant.actuators)))
    outputs: dict[str, ca.SX] = {}
    if not plant.constraints:
        S = equations.actuation_map
        r = ca.mtimes(equations.mass_matrix, wanted) + equations.bias - equations.applied_force
        outputs["force"] = r
    else:
        E, none = ca.SX.eye(s.v.shape[0])[free, :], ca.SX.zeros(len(free))
        rows = Rows(tuple(plant.velocities[i] for i in free), E, none, Aim(none, ca.mtimes(E, s.v), wanted))
        mask = ca.SX(ca.DM((plant.choice.mask > 0).astype(float)))
        S, r = servo_expressions.demand(equations, mask, rows, (1.0, 1.0), motors)
    if how is not None:
        outputs["efforts"] = how.expression(S, r, plant.limits)
    idle = ca.substitute(list(outputs.values()), [s.u], [ca.SX.zeros(s.u.shape[0])])
    results = [ca.densify(value) for value in ca.cse(idle)]
    return ca.Function("inverse", [s.t, s.q, s.v, wanted, s.p], results, ["t", "q", "v", "wanted", "p"], list(outputs))


def _notes(plant: Plant, prefix: str, arrays: list[str], how: Allocation | None) -> tuple[str, ...]:
    said = ", ".join(["t", *(f"{prefix}_parameters" if name == "p" else name for name in arrays)])
    call = f"    {prefix}_efforts({said});"
    notes = [call]
    if plant.constraints:
        notes.append(
            "wanted are the accelerations of independent velocities, as many as the machine has freedoms; the others "
            "follow from the constraints A v' = b. The efforts u give them on the closed machine: S u = wanted - E a, "
            "with a the accelerations while the motors are idle and S what one unit of each effort adds to them."
        )
        mask = plant.choice.mask > 0
        dropped = ", ".join(name for name, keep in zip(plant.constraints, mask, strict=True) if not keep)
        notes += [f"Rows that depend on the others, chosen at the start and left out: {dropped}."] if dropped else []
    else:
        notes.append("force = M v' + h(q, v) - applied, the generalised force that the wanted accelerations take.")
    if how is not None:
        notes.append(f"efforts: B u = force, or S u, shared by {how!r}. They are not cut off at the motors' limits.")
    notes.append("Assumed: q and v obey the constraints, and quaternions in q have length 1.")
    if plant.machine.sampled_inputs:
        notes.append(f"Taken as zero: {', '.join(plant.machine.sampled_inputs)}.")
    return tuple(notes)


def _trial(
    plant: Plant, prefix: str, free: list[int], how: Allocation | None, inputs: list[str], outputs: list[str]
) -> Trial:
    rng = np.random.default_rng(SEED)
    cases = list(_feasible(plant, rng, free, how))
    states, wanted, answers = [at for at, _, _ in cases], np.array([a for _, a, _ in cases]), [r for _, _, r in cases]
    stored = {"t": [[t] for _, t in states], "q": [s.q for s, _ in states], "v": [s.v for s, _ in states]}
    words = {"p": f"{prefix}_parameters"}
    said = ["given_t[k][0]", *(words.get(name, f"given_{name}[k]") for name in inputs), *outputs]
    expected = {name: np.array([answer[name] for answer in answers]) for name in outputs}
    return Trial(
        inputs=(*((name, np.array(values)) for name, values in stored.items()), ("wanted", wanted)),
        declarations=tuple(f"static double {name}[{array.shape[1]}];" for name, array in expected.items()),
        before=(),
        call=(f"{prefix}_efforts({', '.join(said)});",),
        expected=tuple(expected.items()),
        note="Random states near the start, on the constraints; expected efforts by projection on the free motions.",
    )


def _feasible(
    plant: Plant, rng: np.random.Generator, free: list[int], how: Allocation | None
) -> Iterator[tuple[tuple[State, float], Array, dict[str, Array]]]:
    """Random states and accelerations with what they take, but for those that the bounds of an allocation forbid."""
    count, refusal = 0, None
    for at in near_start(plant, rng):
        wanted = rng.normal(size=len(free), scale=WANTED)
        try:
            answer = _by_null_space(plant, at, wanted, free, how)
        except ControlError as error:
            refusal = error
            continue
        count += 1
        yield at, wanted, answer
    if not count and refusal is not None:
        raise refusal


def _by_null_space(
    plant: Plant, at: tuple[State, float], wanted: Array, free: list[int], how: Allocation | None
) -> dict[str, Array]:
    """Another way to the same efforts: Nᵀ B u = Nᵀ (M v̇ + h − applied) with A N = 0, and v̇ from the rows and E."""
    state, t = at
    problem = plant.problem(plant.inputs(*state, t))
    E, A = np.eye(len(plant.velocities))[free], problem.matrix[plant.choice.mask > 0]
    acceleration = np.linalg.solve(np.vstack([A, E]), np.concatenate([problem.rhs[plant.choice.mask > 0], wanted]))
    force = problem.mass @ acceleration - problem.force
    if how is None:
        return {"force": force}
    sizes = plant.scales.sizes.some(plant.choice.mask > 0)
    N = sizes.velocities[:, np.newaxis] * null_directions(sizes.of_rows(A))
    limits = plant.limits
    efforts = how.allocate(N.T @ plant.actuation_map(state.q), N.T @ force, limits)
    return {"force": force, "efforts": efforts}
