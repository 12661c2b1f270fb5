"""A section given by its stiffness is the section of the geometry it was taken from."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.model.serial import from_json, to_json
from states import random_state

LENGTH, HEIGHT, WIDTH, DENSITY, YOUNG, POISSON = 1.4, 0.03, 0.02, 2700.0, 70e9, 0.3
ROUNDING = 1e-13


def equivalent() -> kb.Stiffness:
    """The stiffness of the rectangle, by hand."""
    y, z = WIDTH * HEIGHT**3 / 12, HEIGHT * WIDTH**3 / 12
    torsion = HEIGHT**3 * WIDTH**3 / (3.58 * (HEIGHT**2 + WIDTH**2))
    shear = YOUNG / (2 * (1 + POISSON))
    return kb.Stiffness(DENSITY * HEIGHT * WIDTH, YOUNG * y, YOUNG * z, shear * torsion, DENSITY * (y + z))


def arm(section: object, *material: float, **options: object) -> kb.System:
    """A free satellite with a beam that bends both ways and twists, and a load on its tip."""
    given = {"shapes": kb.Polynomial(2), "bending": (kb.Y, kb.Z), "torsion": 2, "damping": 0.02, **options}
    return kb.System(
        "arm",
        gravity=(0, 0, 0),
        parts=(
            kb.Body("sat", kb.Box((1, 0.8, 0.6), mass=50)),
            kb.Body(
                "boom", kb.Beam(LENGTH, section, *material, **given), parent="sat", at=(0.5, 0, 0), joint=kb.Weld()
            ),
            kb.Body("load", kb.Box((0.1, 0.2, 0.3), mass=2), parent="boom.tip", joint=kb.Revolute(kb.Y)),
        ),
    )


@pytest.fixture(scope="module")
def pair() -> tuple[kb.Plant, kb.Plant]:
    systems = arm(kb.Rectangle(HEIGHT, WIDTH), DENSITY, YOUNG), arm(equivalent())
    return tuple(kb.build(system, backend=kb.Interpreted()) for system in systems)


@pytest.mark.parametrize("seed", range(3))
def test_mass_and_bias_are_those_of_the_geometry(pair, seed):
    geometric, direct = pair
    state = random_state(geometric.machine, np.random.default_rng(seed))
    M = geometric.mass_matrix(state.q)
    bias = geometric.bias(state.q, state.v)
    assert np.abs(direct.mass_matrix(state.q) - M).max() < ROUNDING * np.abs(M).max()
    assert np.abs(direct.bias(state.q, state.v) - bias).max() < ROUNDING * np.abs(bias).max()


def test_frequencies_are_those_of_the_geometry(pair):
    expected, found = (kb.frequencies(plant).hertz for plant in pair)
    assert found[7:] == pytest.approx(expected[7:], rel=1e-10)  # six of the satellite and the load's hinge are rigid
    assert expected[7] > 1.0


def test_two_numbers_are_enough_for_a_plane():
    """The first frequency of a cantilever, 1.8751² √(EI/ρA)/L²; nothing is said of density or Young's modulus."""
    beam = kb.Beam(5.0, kb.Stiffness(6.95, 35937.5), shapes=kb.ClampedFree(1))
    found = kb.frequencies(kb.System("boom", (kb.Body("boom", beam, joint=kb.Weld()),), gravity=(0, 0, 0)))
    assert found.hertz == pytest.approx([1.8751040687119611**2 * np.sqrt(35937.5 / 6.95) / 25 / (2 * np.pi)], rel=1e-9)


def test_its_numbers_are_parameters_by_path(pair):
    _, direct = pair
    names = {parameter.name: parameter.unit for parameter in direct.machine.parameters}
    units = {"line_density": "kg/m", "bending_y": "N*m^2", "bending_z": "N*m^2", "torsion": "N*m^2", "polar": "kg*m"}
    assert {f"boom.section.{name}": unit for name, unit in units.items()}.items() <= names.items()
    q, zero = np.copy(direct.start.q), np.zeros(len(direct.velocities))
    q[direct.coordinates.index("boom.mode1")] = 0.01
    first = direct.velocities.index("boom.mode1")
    stiff = direct.with_parameters({"boom.section.bending_y": 2 * equivalent().bending_y})
    assert stiff.bias(q, zero)[first] == pytest.approx(2 * direct.bias(q, zero)[first], rel=1e-12)


def test_it_may_be_an_expression():
    beam = kb.Beam(2.0, kb.Stiffness("mass_of_it/2", "1e3*(1 + soft)"), shapes=kb.ClampedFree(1))
    system = kb.System(
        "one",
        gravity=(0, 0, 0),
        parts=(
            kb.Parameter("mass_of_it", 3.0, "kg", "mass"),
            kb.Parameter("soft", 0.5, "1", "softness"),
            kb.Body("boom", beam, joint=kb.Weld()),
        ),
    )
    plain = kb.Beam(2.0, kb.Stiffness(1.5, 1.5e3), shapes=kb.ClampedFree(1))
    other = kb.System("other", (kb.Body("boom", plain, joint=kb.Weld()),), gravity=(0, 0, 0))
    assert kb.frequencies(system).hertz == pytest.approx(kb.frequencies(other).hertz, rel=1e-12)


def test_a_file_holds_it():
    system = arm(equivalent())
    assert from_json(to_json(system)) == system
