"""Every kind of joint is asked for every facet, and the facets agree with each other: see joint_laws."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import joint_laws
from kalaba.errors import ModelError
from kalaba.joints import Distance, Joint, Revolute, Screw, kinds
from kalaba.joints.joint import PACKAGE
from kalaba.model.parts import Body, Connection
from kalaba.model.serial import from_json, to_json
from kalaba.model.solids import Box
from kalaba.model.system import System
from kalaba.space.number import scalar

KINDS = [kind for kind in kinds().values() if kind.__module__.startswith(PACKAGE)]
IN_TREE = [kind for kind in KINDS if kind.in_tree]
BOX = Box((0.1, 0.2, 0.3), 1.0)


def identify(value: object) -> str:
    return getattr(value, "__name__", str(value))


def test_all_kinds_are_known():
    assert len(KINDS) == 12


@pytest.mark.parametrize("law", joint_laws.OF_ALL, ids=identify)
@pytest.mark.parametrize("kind", KINDS, ids=identify)
def test_facets_of_every_kind(kind, law):
    law(joint_laws.example(kind, np.random.default_rng(0)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("law", joint_laws.OF_ALL_AT_RANDOM, ids=identify)
@pytest.mark.parametrize("kind", KINDS, ids=identify)
def test_facets_of_every_kind_at_random(kind, law, seed):
    rng = np.random.default_rng(seed)
    law(joint_laws.example(kind, rng), rng)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("law", joint_laws.OF_TREES, ids=identify)
@pytest.mark.parametrize("kind", IN_TREE, ids=identify)
def test_facets_of_kinds_that_move_a_body(kind, law, seed):
    rng = np.random.default_rng(seed)
    law(joint_laws.example(kind, rng), rng)


@pytest.mark.parametrize("kind", KINDS, ids=identify)
def test_every_kind_is_written_and_read(kind):
    joint = joint_laws.example(kind, np.random.default_rng(1))
    parts = [Body("b", BOX, joint=joint)] if joint.in_tree else [Body("b", BOX)]
    parts += [] if joint.is_free else [Connection("cut", "b", joint=joint)]
    system = System("one", tuple(parts))
    assert from_json(to_json(system)) == system


@pytest.mark.parametrize("kind", [Screw, Distance])
def test_only_the_number_that_cannot_be_zero_is_refused(kind):
    @dataclass(frozen=True, slots=True)
    class Loose(kind):
        play: float = scalar("m", "play of its parts", 0.0)

    assert Loose(**({"length": 0.3} if kind is Distance else {})).play == 0.0
    with pytest.raises(ModelError, match=r"Loose\.(pitch: expected metres per turn|length: expected more than zero)"):
        Loose(**{"length" if kind is Distance else "pitch": 0.0})


def test_only_quaternions_and_free_bodies_close_nothing_and_hinges_have_limits():
    assert {kind.__name__ for kind in KINDS if joint_laws.example(kind, np.random.default_rng(0)).is_free} == {"Free"}
    assert Revolute(limits=(-1, 2)).limits == (-1.0, 2.0)


@pytest.mark.parametrize("law", joint_laws.OF_TREES, ids=identify)
def test_a_wrong_joint_breaks_a_law(law):  # noqa: C901  (one branch per law)
    """Every law of moving joints can fail: each of these hinges is wrong in one facet, which that law sees."""

    @dataclass(frozen=True, slots=True)
    class Wrong(Revolute):
        def motion(self, q, u):
            right = Revolute.motion(self, q, u)
            if law is joint_laws.twist_is_the_rate_of_the_pose:
                return type(right)(right.rotation, right.position, 1.1 * right.motion, right.drift)
            if law is joint_laws.formulas_of_its_own_are_those_of_differentiation:
                return type(right)(right.rotation, right.position, right.motion, right.drift + 0.1)
            return right

        def velocity(self, world):
            omega, v = Revolute.velocity(self, world)
            return (omega, v + 0.1) if law is joint_laws.kanes_velocity_accelerates_as_the_motion_does else (omega, v)

        def row_values(self, gap):
            right = Revolute.row_values(self, gap)
            wrong = law is joint_laws.rows_let_pass_exactly_its_motion
            return [*right[:4], right[3]] if wrong else right

        def coordinates_at(self, position, rotation):
            right = Revolute.coordinates_at(self, position, rotation)[0]
            return (right + 0.1 * (law is joint_laws.coordinates_lead_back_to_the_pose),)

        @property
        def hinge_axis(self):
            wrong = law is joint_laws.axes_are_those_of_its_motion
            return -self.axis if wrong else self.axis

        def displacements_in(self, gap):
            right = Revolute.displacements_in(self, gap)[0]
            return [right + 0.1 * (law is joint_laws.displacements_are_read_off_the_cut)]

        @property
        def turned_over(self):
            return self if law is joint_laws.turned_round_it_is_its_inverse else None

    if law is joint_laws.angles_come_round_as_it_says:
        Wrong.comes_round = False
    with pytest.raises(AssertionError):
        law(Wrong(), np.random.default_rng(3))


def test_a_kind_that_does_not_say_where_its_child_is_is_refused():
    with pytest.raises(ModelError, match=r"Nowhere: .*Write pose"):

        @dataclass(frozen=True, slots=True)
        class Nowhere(Joint):
            pass


def test_the_name_of_a_kind_of_the_package_is_taken():
    with pytest.raises(ModelError, match="a second kind of joint of that name"):

        @dataclass(frozen=True, slots=True)
        class Screw(Revolute):
            pass


def test_what_a_kind_leaves_out_is_asked_for_by_name():
    @dataclass(frozen=True, slots=True)
    class Bare(Joint):
        row_labels = (("x", "m"),)

        def pose(self, q):
            return ca.SX.eye(3), ca.SX.zeros(3)

    with pytest.raises(NotImplementedError, match=r"Bare: .*row_values"):
        Bare().row_values(None)
    with pytest.raises(NotImplementedError, match=r"Bare: .*coordinates_at"):
        Bare().coordinates_at(np.zeros(3), np.eye(3))
