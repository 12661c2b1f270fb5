"""Beams as values: what they weigh, what their coordinates are called, and what is refused."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError

SQUARE = kb.Rectangle(0.05, 0.05)
X = np.linspace(0, 1, 12)


def beam(**options: object) -> kb.Beam:
    given = {"length": 5.0, "section": SQUARE, "density": 2780.0, "young": 69e9, **options}
    return kb.Beam(**given)


def test_a_straight_beam_weighs_as_a_rod():
    properties = beam().mass_properties(float)
    assert properties.mass == pytest.approx(34.75)
    assert properties.com == (2.5, 0.0, 0.0)
    assert properties.tip == (5.0, 0.0, 0.0)
    assert properties.inertia[1:3] == pytest.approx([34.75 * 25 / 12] * 2)
    assert properties.inertia[0] == pytest.approx(34.75 * (0.05**2 + 0.05**2) / 12)


def test_a_tip_mass_moves_the_centre():
    properties = beam(tip_mass=34.75).mass_properties(float)
    assert properties.mass == pytest.approx(69.5)
    assert properties.com[0] == pytest.approx(3.75)
    assert properties.inertia[1] == pytest.approx(34.75 * 25 / 3 + 34.75 * 25 - 69.5 * 3.75**2)


def test_modes_are_named_plane_by_plane_and_torsion_last():
    solid = beam(shapes=kb.ClampedFree(2), bending=(kb.Z, kb.Y), torsion=1)
    assert (solid.planes, solid.bending_modes, solid.modes) == ((2, 1), 4, 5)
    assert solid.mode_units == ("m", "m", "m", "m", "rad")
    system = kb.System("one", (kb.Body("boom", solid, joint=kb.Revolute(kb.Z)),))
    names = [(c.name, c.unit) for c in system.machine.coordinates]
    assert names == [("boom.angle", "rad"), *((f"boom.mode{k}", "m") for k in range(1, 5)), ("boom.mode5", "rad")]
    readings = [name for name, _, _ in solid.readings("boom")]
    assert readings == [
        *("boom.tip_deflection", "boom.tip_slope", "boom.tip_deflection2", "boom.tip_slope2"),
        "boom.tip_twist",
    ]


def test_every_number_is_a_parameter_and_can_be_changed():
    system = kb.System("one", (kb.Body("boom", beam(), joint=kb.Weld()),), gravity=(0, 0, 0))
    names = {p.name for p in system.machine.parameters}
    assert {"boom.length", "boom.section.height", "boom.density", "boom.young", "boom.damping"} <= names
    plant = kb.build(system, backend=kb.Interpreted())
    stiff = plant.with_parameters({"boom.young": 138e9})
    assert stiff.bias([0.1], [0.0]) == pytest.approx(2 * plant.bias([0.1], [0.0]))


def test_an_axis_alone_is_one_plane():
    assert beam(bending=kb.Z).planes == (2,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0.0}, r"^Beam\.length: expected more than zero, got 0\.0\.$"),
        ({"length": -1.0}, r"^Beam\.length: expected more than zero"),
        ({"length": float("nan")}, r"^Beam\.length: expected a finite number"),
        ({"length": None}, r"^Beam\.length: expected a finite number"),
        ({"young": 0.0}, r"^Beam\.young: expected more than zero"),
        ({"density": 0.0}, r"^Beam\.density: expected more than zero"),
        ({"section": kb.Circle(0.0)}, r"^Beam\.section area: expected more than zero"),
        ({"section": kb.Tube(0.02, 0.03)}, r"^Beam\.section area: expected more than zero"),
        (
            {"section": kb.SectionNumbers(1e-3, 1e-6), "bending": (kb.Y, kb.Z)},
            r"^Beam\.section second moment for bending along z: expected more than zero",
        ),
        ({"section": kb.SectionNumbers(1e-3, 1e-6), "torsion": 1}, r"^Beam\.section torsion constant: expected more"),
        ({"section": "square"}, r"^Beam\.section: expected a section such as"),
        ({"shapes": "free"}, r"^Beam\.shapes: expected shapes such as"),
        ({"bending": (kb.X,)}, r"^Beam\.bending: expected kb\.Y, kb\.Z or both"),
        ({"bending": (kb.Y, kb.Y)}, r"^Beam\.bending"),
        ({"bending": ()}, r"^Beam\.bending"),
        ({"torsion": -1}, r"^Beam\.torsion: expected a whole number from 0 to 20"),
        ({"torsion": 1.5}, r"^Beam\.torsion"),
        ({"damping": -0.1}, r"^Beam\.damping: expected zero or more"),
        ({"tip_mass": -0.1}, r"^Beam\.tip_mass: expected zero or more"),
        (
            {"shapes": kb.Tabulated(X, [X**2, X**2 * (1 + 1e-9 * X)])},
            r"^shapes: 2 of them cannot be told apart \(condition .*\)\. Take fewer\.$",
        ),
    ],
)
def test_a_beam_that_cannot_be_is_refused_on_one_line(options, message):
    with pytest.raises(ModelError, match=message) as caught:
        beam(**options)
    assert "\n" not in str(caught.value)


def by_stiffness(line: float, along: float, polar: float = 0.0, **options: object) -> kb.Beam:
    return kb.Beam(5.0, kb.Stiffness(line, along, polar=polar), **options)


def test_a_beam_given_by_its_stiffness_weighs_as_its_geometry():
    moments = 2 * 0.05**4 / 12
    given = by_stiffness(6.95, 35937.5, polar=2780 * moments, tip_mass=2.0).mass_properties(float)
    expected = beam(tip_mass=2.0).mass_properties(float)
    assert given.mass == pytest.approx(expected.mass)
    assert given.com == pytest.approx(expected.com)
    assert given.inertia == pytest.approx(expected.inertia)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda: by_stiffness(6.95, 4e4, density=2780.0),
            r"^Beam\.density: expected none beside a kb\.Stiffness, got 2780",
        ),
        (
            lambda: by_stiffness(6.95, 4e4, young=69e9),
            r"^Beam\.young: expected none beside a kb\.Stiffness.*Leave it out",
        ),
        (lambda: kb.Beam(5.0, SQUARE, young=69e9), r"^Beam\.density: expected more than zero, got 0\.0\. Give it, or"),
        (lambda: kb.Beam(5.0, SQUARE, 2780.0), r"^Beam\.young: expected more than zero, got 0\.0\. Give it, or"),
        (lambda: by_stiffness(0.0, 4e4), r"^Beam\.section\.line_density: expected more than zero"),
        (lambda: by_stiffness(6.95, -1.0), r"^Beam\.section\.bending_y: expected more than zero"),
        (lambda: by_stiffness(6.95, 4e4, bending=(kb.Y, kb.Z)), r"^Beam\.section\.bending_z: expected more than zero"),
        (lambda: by_stiffness(6.95, 4e4, polar=1e-3, torsion=1), r"^Beam\.section\.torsion: expected more than zero"),
        (lambda: by_stiffness(6.95, float("nan")), r"^Beam\.section\.bending_y: expected a finite number"),
    ],
)
def test_a_material_and_a_stiffness_exclude_each_other(made, message):
    with pytest.raises(ModelError, match=message) as caught:
        made()
    assert "\n" not in str(caught.value)


def test_torsion_needs_a_stiffness_and_an_inertia():
    with pytest.raises(ModelError, match=r"^Beam\.section\.torsion: expected more than zero, got 0\.0\.$"):
        kb.Beam(5.0, kb.Stiffness(6.95, 4e4, polar=1e-3), torsion=1)
    with pytest.raises(ModelError, match=r"^Beam\.section\.polar: expected .* Torsion needs an inertia to turn\.$"):
        kb.Beam(5.0, kb.Stiffness(6.95, 4e4, torsion=1e3), torsion=1)


def test_numbers_that_come_later_are_judged_too():
    body = kb.Body("boom", beam(length="reach"), joint=kb.Weld())
    with pytest.raises(ModelError, match=r"^boom\.length: expected more than zero, got -1\.0"):
        _ = kb.System("one", (kb.Parameter("reach", -1.0, "m", "reach"), body)).machine
    with pytest.raises(ModelError, match=r"^beam\.length: expected more than zero"):
        _ = kb.load("spinning-beam", {"beam.length": 0.0}).machine
