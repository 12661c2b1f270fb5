"""The configuration manifold obeys its laws, and its numbers and its CasADi expressions are the same functions."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from kalaba.space import configuration, symbolic_configuration
from kalaba.space.rotations import conjugate, multiply, rotation_of, turn

ROUNDING = 1e-14  # a few operations on numbers of size one
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Mixed:
    """Scalars and quaternions in turn, with other places in q than in v."""

    scalar_pairs: tuple[tuple[int, int], ...] = ((0, 0), (5, 4), (6, 5))
    quaternions: tuple[tuple[int, int], ...] = ((1, 1), (7, 6))
    size_q: int = 11
    size_v: int = 9


MANIFOLD = Mixed()


def random_q(rng: np.random.Generator) -> np.ndarray:
    return configuration.unit(MANIFOLD, rng.normal(size=MANIFOLD.size_q))


def random_turn(rng: np.random.Generator) -> np.ndarray:
    e = rng.normal(size=4)
    return e / np.linalg.norm(e)


@pytest.fixture(params=range(5))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def test_unit_touches_quaternions_alone_and_does_so_once(rng):
    q = rng.normal(size=MANIFOLD.size_q)
    found = configuration.unit(MANIFOLD, q)
    for first, _ in MANIFOLD.quaternions:
        part = slice(first, first + 4)
        assert np.linalg.norm(found[part]) == pytest.approx(1.0, abs=ROUNDING)
        assert_allclose(np.cross(found[part][1:], q[part][1:]), 0, atol=ROUNDING)  # the same direction
    scalars = [i for i, _ in MANIFOLD.scalar_pairs]
    assert_allclose(found[scalars], q[scalars], rtol=0, atol=0)
    assert_allclose(configuration.unit(MANIFOLD, found), found, rtol=0, atol=ROUNDING)


def test_q_dot_is_the_rate_of_retract(rng):
    q, v, h = random_q(rng), rng.normal(size=MANIFOLD.size_v), 1e-6
    there, back = (configuration.retract(MANIFOLD, q, s * h * v) for s in (1, -1))
    # central difference: error h² |v|³ / 24 and rounding 1e-16 / h
    assert_allclose((there - back) / (2 * h), configuration.q_dot(MANIFOLD, q, v), rtol=0, atol=1e-9)


def test_q_dot_keeps_quaternions_unit(rng):
    q, v = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    rate = configuration.q_dot(MANIFOLD, q, v)
    for first, _ in MANIFOLD.quaternions:
        assert q[first : first + 4] @ rate[first : first + 4] == pytest.approx(0.0, abs=ROUNDING)


def test_the_velocity_of_a_quaternion_is_in_the_axes_of_the_child(rng):
    """R(e ⊗ exp(Δ/2)) = R(e) exp([Δ×])."""
    q, step = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    moved = configuration.retract(MANIFOLD, q, step)
    for i, j in MANIFOLD.quaternions:
        expected = rotation_of(q[i : i + 4]) @ Rotation.from_rotvec(step[j : j + 3]).as_matrix()
        assert_allclose(rotation_of(moved[i : i + 4]), expected, rtol=0, atol=ROUNDING)


def test_difference_undoes_retract_to_second_order(rng):
    q, direction = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    missed = []
    for h in (1e-1, 1e-2):
        moved = configuration.retract(MANIFOLD, q, h * direction)
        found = configuration.difference(MANIFOLD, moved, q, MANIFOLD.size_v)
        missed.append(np.linalg.norm(found - h * direction))
    assert missed[0] / missed[1] == pytest.approx(1e3, rel=0.2)  # an error of third order


def test_retract_undoes_difference_to_second_order(rng):
    q, direction = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    missed = []
    for h in (1e-1, 1e-2):
        other = configuration.retract(MANIFOLD, q, h * direction)
        step = configuration.difference(MANIFOLD, other, q, MANIFOLD.size_v)
        missed.append(np.linalg.norm(configuration.retract(MANIFOLD, q, step) - other))
    assert missed[0] / missed[1] == pytest.approx(1e3, rel=0.2)


def test_the_difference_does_not_see_the_sign_of_a_quaternion(rng):
    q, other = random_q(rng), random_q(rng)
    expected = configuration.difference(MANIFOLD, other, q, MANIFOLD.size_v)
    for first, _ in MANIFOLD.quaternions:
        other[first : first + 4] *= -1
        assert_allclose(configuration.difference(MANIFOLD, other, q, MANIFOLD.size_v), expected, rtol=0, atol=ROUNDING)


def test_displaced_is_retract_to_first_order(rng):
    """Of a rotation vector δ, unit(e + ½ E δ) turns by 2 atan(δ/2): the errors are of third order."""
    q, direction = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    missed = [
        np.linalg.norm(
            configuration.displaced(MANIFOLD, q, h * direction) - configuration.retract(MANIFOLD, q, h * direction)
        )
        for h in (1e-1, 1e-2)
    ]
    assert missed[0] / missed[1] == pytest.approx(1e3, rel=0.2)


def test_steps_along_one_direction_add_up(rng):
    q, step = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    twice = configuration.retract(MANIFOLD, configuration.retract(MANIFOLD, q, 0.3 * step), 0.7 * step)
    assert_allclose(twice, configuration.retract(MANIFOLD, q, step), rtol=0, atol=ROUNDING)
    assert_allclose(configuration.retract(MANIFOLD, q, 0 * step), q, rtol=0, atol=ROUNDING)


def test_unit_quaternions_are_a_group(rng):
    a, b, c = (random_turn(rng) for _ in range(3))
    assert np.linalg.norm(multiply(a, b)) == pytest.approx(1.0, abs=ROUNDING)
    assert_allclose(multiply(multiply(a, b), c), multiply(a, multiply(b, c)), rtol=0, atol=ROUNDING)
    assert_allclose(multiply(a, IDENTITY), a, rtol=0, atol=0)
    assert_allclose(multiply(IDENTITY, a), a, rtol=0, atol=0)
    assert_allclose(multiply(a, conjugate(a)), IDENTITY, rtol=0, atol=ROUNDING)
    assert_allclose(conjugate(multiply(a, b)), multiply(conjugate(b), conjugate(a)), rtol=0, atol=ROUNDING)


def test_rotations_multiply_as_their_quaternions_do(rng):
    a, b = random_turn(rng), random_turn(rng)
    assert_allclose(rotation_of(multiply(a, b)), rotation_of(a) @ rotation_of(b), rtol=0, atol=ROUNDING)


def test_the_exponential_is_a_one_parameter_group(rng):
    axis = rng.normal(size=3)
    assert_allclose(multiply(turn(0.4 * axis), turn(0.6 * axis)), turn(axis), rtol=0, atol=ROUNDING)
    assert_allclose(conjugate(turn(axis)), turn(-axis), rtol=0, atol=0)
    e = random_turn(rng)  # Ad: e exp(Δ) e⁻¹ = exp(R(e) Δ)
    moved = multiply(multiply(e, turn(axis)), conjugate(e))
    assert_allclose(moved, turn(rotation_of(e) @ axis), rtol=0, atol=ROUNDING)


def twins() -> ca.Function:
    """N(q) v, unit and retract as one CasADi function."""
    q, v = ca.SX.sym("q", MANIFOLD.size_q), ca.SX.sym("v", MANIFOLD.size_v)
    N = symbolic_configuration.rate_map(MANIFOLD, q, MANIFOLD.size_v)
    unit = symbolic_configuration.unit(MANIFOLD.quaternions, q)
    moved = symbolic_configuration.retract(MANIFOLD.quaternions, q, v, N)
    return ca.Function("twins", [q, v], [ca.mtimes(N, v), unit, moved])


def test_expressions_and_numbers_are_the_same_functions(rng):
    q, v = rng.normal(size=MANIFOLD.size_q), rng.normal(size=MANIFOLD.size_v)
    rate, unit, _ = (np.array(found)[:, 0] for found in twins()(q, v))
    assert_allclose(rate, configuration.q_dot(MANIFOLD, q, v), rtol=0, atol=ROUNDING)
    assert_allclose(unit, configuration.unit(MANIFOLD, q), rtol=0, atol=ROUNDING)


def test_the_expression_of_retract_is_right_to_the_sixth_order(rng):
    """Three terms of a series: halving the step divides the error by 2⁷."""
    q, direction = random_q(rng), rng.normal(size=MANIFOLD.size_v)
    direction /= np.linalg.norm(direction)
    missed = []
    for h in (1.0, 0.5):
        found = np.array(twins()(q, h * direction)[2])[:, 0]
        missed.append(np.linalg.norm(found - configuration.retract(MANIFOLD, q, h * direction)))
    assert missed[0] / missed[1] == pytest.approx(2**7, rel=0.2)
