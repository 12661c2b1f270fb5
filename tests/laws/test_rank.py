"""The rank of rows is decided once: whoever is asked at a state, all give the same number.

Rows that depend on each other but for a factor ε are independent down to some ε and dependent below it; where that is,
is one decision (`ROW_INDEPENDENT`). Everything that builds on it must agree, on either side of it and close to it.
"""

import numpy as np
import pytest

import kalaba as kb
from kalaba.analyse.at_rest import Rest
from kalaba.constrain import rows
from kalaba.constrain.solvers import KKT, MaskedLDL, NullSpace, UdwadiaKalaba
from kalaba.control.course import course, tangent
from kalaba.plant.choice import free_directions, rows_at
from kalaba.run.task import stable_step
from kalaba.tolerances import ROW_INDEPENDENT, ROW_NOTHING

FACTORS = (1e-6, 1e-7, 3e-8, 1e-8, 1e-10, 1e-12)
STEPPER = kb.RungeKutta4(step=1e-4)
PUSH = 1e-2  # N, N m
BLOCK = kb.Solid(2.0, inertia=(0.02, 0.02, 0.02), tip=(0.5, 0, 0))
EPS = kb.Parameter("eps", 1e-6, "1", "how far the last row is from those before it")


def planar() -> kb.System:
    """A body in a plane: its x, and its x with a little of its y."""
    near = kb.Constraint("c", {"x": "p.x", "near": "p.x + eps*p.y"})
    return kb.System("planar", (EPS, kb.Body("p", BLOCK, joint=kb.Planar(kb.Z)), near))


def mixed() -> kb.System:
    """Rows in metres and radians, of lengths 1 to 1e5 in the mass metric; the last nearly the sum of the others."""
    near = kb.Constraint("c", {"x": "p.x", "turn": "1e4*p.angle", "near": "1e5*(p.x + eps*p.y) + 1e4*p.angle"})
    return kb.System("mixed", (EPS, kb.Body("p", BLOCK, joint=kb.Planar(kb.Z)), near))


def spatial() -> kb.System:
    """A body in space on a pin: a row nearly repeats one of the pin's, with a little of how its tip sinks."""
    pin = kb.Connection("pin", "p", joint=kb.Spherical())
    near = kb.Constraint("c", {"near": "p.z + eps*p.tip.z"})
    return kb.System("spatial", (EPS, kb.Body("p", BLOCK, joint=kb.Free()), pin, near), gravity=(0, 0, 0))


def loop() -> kb.System:
    """A four-bar with a row of its pin said again, with a little of the crank's angle."""
    near = kb.Constraint("again", {"x": "2*(rocker.tip.x - 0.45) + eps*(crank.angle - 1)"})
    return kb.load("four-bar").add(EPS, near)


MACHINES = {make.__name__: make for make in (planar, mixed, spatial, loop)}
DEPENDENT = {"planar": 1, "mixed": 2, "spatial": 3, "loop": 2}  # rank without the row that nearly depends
CARRIES = {"spatial": (2, "c.near"), "loop": (0, "again.x")}  # component of the pin that the row nearly repeats


@pytest.fixture(scope="module", params=MACHINES)
def machine(request: pytest.FixtureRequest) -> kb.Plant:
    return kb.build(MACHINES[request.param]())


@pytest.fixture(params=FACTORS)
def plant(request: pytest.FixtureRequest, machine: kb.Plant) -> kb.Plant:
    return machine.with_parameters({"eps": request.param})


def rank_of(plant: kb.Plant) -> int:
    return rows_at(plant, plant.inputs(*plant.start)).rank


def test_the_threshold_is_where_it_says(plant: kb.Plant):
    dependent = DEPENDENT["loop" if plant.system.name == "four-bar" else plant.system.name]
    factor = next(p.value for p in plant.machine.parameters if p.name == "eps")
    if factor >= 10 * ROW_INDEPENDENT:
        assert rank_of(plant) == dependent + 1
    if factor <= ROW_INDEPENDENT / 10:
        assert rank_of(plant) == dependent


def test_all_that_look_at_a_state_see_the_same_freedoms(plant: kb.Plant):
    q, v = plant.start
    freedoms = len(v) - rank_of(plant)
    mobility = kb.check(plant)
    assert (mobility.rank, mobility.freedoms) == (len(v) - freedoms, freedoms)
    assert len(mobility.dependencies) == len(plant.constraints) - mobility.rank
    assert plant.choice.rank == mobility.rank
    assert free_directions(plant, q).shape[1] == freedoms
    assert plant.derivatives(q, v).tangent.shape[1] == freedoms
    assert tangent(plant, q)[0].shape[1] == freedoms
    if plant.system.name != "spatial":  # nothing holds the posture of a quaternion
        assert len(course(plant, (kb.posture(),)).independent) == freedoms


@pytest.mark.filterwarnings("ignore::kalaba.analyse.at_rest.NotInEquilibriumWarning")
def test_rest_and_small_motions_have_the_same_freedoms(plant: kb.Plant):
    q, v = plant.start
    freedoms = len(v) - rank_of(plant)
    assert Rest(plant).at(q).tangent.shape[1] == freedoms
    assert len(kb.linearise(plant).states) == 2 * freedoms
    assert len(kb.frequencies(plant)) == freedoms
    assert (stable_step(plant, plant.start) == np.inf) == (freedoms == 0 or kb.frequencies(plant).hertz.max() == 0)


@pytest.mark.filterwarnings("ignore::kalaba.run.checks.SingularWarning")  # that is what these machines are
def test_a_run_chooses_as_many_rows(plant: kb.Plant):
    run = kb.simulate(plant, duration=2e-4, stepper=STEPPER)
    assert {rank for _, rank in run.effort.choices} == {rank_of(plant)}


def test_compiled_leaves_choose_the_rows_that_numpy_chooses(plant: kb.Plant):
    at = rows_at(plant, plant.inputs(*plant.start))
    m, n = at.matrix.shape
    mass, copy, mask = at.sizes.of_metric(at.metric).ravel(), at.sizes.of_rows(at.matrix).ravel(), np.zeros(m)
    assert rows.factorise(mass, n)
    weights = np.zeros(m)
    rows.scale_rows(mass, copy, weights, np.full(m, ROW_NOTHING), m, n)
    while (row := rows.farthest_row(copy, weights, mask, m, n)) >= 0:
        rows.take_row(copy, mask, m, n, row)
    np.testing.assert_array_equal(mask, at.mask)


@pytest.mark.parametrize("name", CARRIES)
@pytest.mark.parametrize("factor", FACTORS)
def test_a_reaction_is_unique_just_where_its_rows_are_independent(name: str, factor: float):
    plant = kb.build(MACHINES[name]()).with_parameters({"eps": factor})
    component, row = CARRIES[name]
    is_unique = bool(plant.reaction("pin", *plant.start).is_unique[component])
    assert is_unique == (rank_of(plant) == DEPENDENT[name] + 1)
    assert is_unique == (row in kb.check(plant).unique_reactions)


def test_every_solver_moves_along_the_same_freedoms(plant: kb.Plant):
    """A push along all velocities: in a freedom that one solver sees and another does not, they would part.

    It is gentle: rows that count as dependent, and are not quite, contradict each other when they are pulled hard.
    """
    inputs = plant.inputs(*plant.start)
    inputs[plant.layout.f] = PUSH
    problem = plant.problem(inputs)
    moved = [solver.solve(problem).acceleration for solver in (MaskedLDL(), UdwadiaKalaba(), KKT(), NullSpace())]
    scale = np.abs(np.linalg.solve(problem.mass, problem.force)).max()
    for acceleration in (*moved, plant.motion(*plant.start, force=np.full(len(plant.velocities), PUSH)).acceleration):
        # rows at 1e-7 of each other cost half the digits of G, and more: still far less than a freedom
        np.testing.assert_allclose(acceleration, moved[1], atol=0.05 * scale)
