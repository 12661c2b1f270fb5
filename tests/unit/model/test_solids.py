"""Mass properties against integrals over the shape, taken by sampling it."""

import numpy as np
import pytest

from kalaba.errors import ModelError
from kalaba.model.parts import Body
from kalaba.model.solids import Box, Cylinder, Rod, Solid, judge
from kalaba.space.pose import Axis, X, Y, Z


def matrix(inertia) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def moments(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass, and inertia about it."""
    com = weights @ points / weights.sum()
    r = points - com
    squares = np.einsum("ij,ij->i", r, r)
    return com, np.einsum("i,ijk->jk", weights, squares[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :])


def gauss(lower: float, upper: float, count: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights, exact for polynomials of degree seven: these moments are of degree two."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (upper + lower) / 2 + (upper - lower) / 2 * x, (upper - lower) / 2 * w


@pytest.mark.parametrize("axis", [X, -Y, Z, Axis(1, -2, 0.5)])
def test_a_rod_is_the_integral_along_its_line(axis):
    s, w = gauss(0, 0.7)
    com, inertia = moments(np.outer(s, axis.components), w * 2.0 / 0.7)
    found = Rod(0.7, mass=2.0, axis=axis).mass_properties(float)
    assert found.com == pytest.approx(com)
    assert matrix(found.inertia) == pytest.approx(inertia, abs=1e-15)
    assert found.tip == pytest.approx(0.7 * np.array(axis.components))


def test_a_box_is_the_integral_over_its_volume():
    size, mass = (0.2, 0.3, 0.5), 4.0
    axes = [gauss(-edge / 2, edge / 2) for edge in size]
    points = np.array(np.meshgrid(*(x for x, _ in axes), indexing="ij")).reshape(3, -1).T
    weights = np.einsum("i,j,k->ijk", *(w for _, w in axes)).ravel() * mass / np.prod(size)
    com, inertia = moments(points, weights)
    found = Box(size, mass).mass_properties(float)
    assert found.com == pytest.approx(com, abs=1e-15)
    assert matrix(found.inertia) == pytest.approx(inertia, abs=1e-15)
    assert found.tip is None


@pytest.mark.parametrize("axis", [Z, X, -Y, Axis(0.3, 0.4, -1)])
def test_a_cylinder_is_the_integral_over_its_volume(axis):
    radius, length, mass = 0.15, 0.6, 3.0
    first, second = (np.array(a.components) for a in axis.across())
    along = np.array(axis.components)
    r, wr = gauss(0, radius)
    h, wh = gauss(-length / 2, length / 2)
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    points, weights = [], []
    for i, radial in enumerate(r):
        for j, height in enumerate(h):
            for angle in angles:
                points.append(radial * (np.cos(angle) * first + np.sin(angle) * second) + height * along)
                weights.append(wr[i] * radial * wh[j])
    com, inertia = moments(np.array(points), np.array(weights) * mass / np.sum(weights))
    found = Cylinder(radius, length, mass, axis).mass_properties(float)
    assert found.com == pytest.approx(com, abs=1e-15)
    assert matrix(found.inertia) == pytest.approx(inertia, abs=1e-14)


def test_a_length_moves_com_inertia_and_tip_together():
    short, long = (Rod(length, mass=2.0).mass_properties(float) for length in (0.5, 1.0))
    assert np.array(long.com) == pytest.approx(2 * np.array(short.com))
    assert np.array(long.tip) == pytest.approx(2 * np.array(short.tip))
    assert np.array(long.inertia) == pytest.approx(4 * np.array(short.inertia))


def test_inertia_is_given_by_three_six_or_nine_numbers():
    full = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    assert Solid(1.0, inertia=full) == Solid(1.0, inertia=(2, 3, 4, 0.1, 0.2, 0.3))
    assert Solid(1.0, inertia=(2, 3, 4)) == Solid(1.0, inertia=(2, 3, 4, 0, 0, 0))
    with pytest.raises(ModelError, match=r"Solid.inertia .*expected 6 numbers"):
        Solid(1.0, inertia=(1, 2))


@pytest.mark.parametrize("inertia", [(1, 1, 2.1), (-0.1, 1, 1), (1, 1, 1, 2, 0, 0), (0, 0, 1)])
def test_an_inertia_that_breaks_the_triangle_inequality_is_refused(inertia):
    with pytest.raises(ModelError, match=r"a\.inertia: expected principal moments .*triangle.* Check units"):
        Body("a", Solid(1.0, inertia=inertia))


@pytest.mark.parametrize("inertia", [(1, 1, 2), (0, 1, 1), (0, 0, 0), (1e-9, 1e-9, 2e-9)])
def test_thin_and_flat_bodies_may_stand_on_the_edge_of_the_inequality(inertia):
    Body("a", Solid(1.0, inertia=inertia))


@pytest.mark.parametrize("seed", range(5))
def test_any_cloud_of_points_makes_an_inertia_that_is_accepted(seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 5)
    _, inertia = moments(rng.normal(size=(count, 3)), rng.random(count))
    judge("a", Solid(1.0, inertia=inertia), float)


@pytest.mark.parametrize("mass", [-1.0, -1e-12])
def test_a_negative_mass_is_refused(mass):
    with pytest.raises(ModelError, match=r"a\.mass: expected a mass of zero or more, got -.* Check its sign"):
        Body("a", Rod(0.3, mass=mass))
