"""Which trees of a machine count as limbs that are alike."""

import kalaba as kb
from kalaba.model.topology.partition import partition
from limbs import arm, star


def found(system):
    return partition(kb.build(system, backend=kb.Interpreted()).machine, 2)


def test_arms_of_one_kind_on_a_load_are_limbs_and_the_load_is_the_hub():
    parted = found(star(arm(3), kb.Spherical(), 4))
    assert [len(kind.shares) for kind in parted.kinds] == [4]
    assert parted.hub.v == (0, 1, 2, 3, 4, 5)
    assert parted.hub.rows == ()
    rows = [row for share in parted.kinds[0].shares for row in share.rows]
    assert rows == list(range(12))


def test_two_sorts_of_arms_are_two_kinds_and_a_lone_one_joins_the_hub():
    two = star(arm(3), kb.Spherical(), 2)
    renamed = [arm(4).place(f"far{k}", at=(k, 0, 1)) for k in range(3)]
    grips = [kb.Connection(f"far_grip{k}", f"far{k}.link3.tip", "load", at=kb.AsFound()) for k in range(3)]
    lone = (arm(2).place("lone"), kb.Connection("lone_grip", "lone.link1.tip", "load", at=kb.AsFound()))
    parted = found(two.add(*renamed, *grips, *lone))
    assert sorted(len(kind.shares) for kind in parted.kinds) == [2, 3]
    assert len(parted.hub.v) == 8
    assert len(parted.hub.machine.bodies) == 3


def test_arms_that_hold_each_other_are_no_limbs():
    pair = kb.System(
        "pair",
        parts=(
            arm(3).place("a"),
            arm(3).place("b"),
            kb.Connection("grip", "a.link2.tip", "b.link2.tip", at=kb.AsFound()),
        ),
    )
    assert found(pair) is None


def test_a_spring_between_two_arms_makes_them_one_group():
    system = star(arm(3), kb.Spherical(), 3)
    parted = found(system.add(kb.Spring("band", "distance(arm0.link2.tip, arm1.link2.tip)", stiffness=10.0)))
    assert parted is None  # one pair and one single arm: nothing is alike


def test_a_number_is_structure_only_where_it_is_so_in_every_limb():
    parted = found(star(arm(2), kb.Spherical(), 3))  # the first arm stands at y = 0, unturned
    free = {p.name for p in parted.kinds[0].pattern.machine.free_parameters}
    assert {"arm0.at.y", "arm0.at.yaw"} <= free
    assert "arm0.at.roll" not in free


def test_rolling_and_working_constraints_leave_a_machine_whole():
    system = star(arm(3), kb.Spherical(), 3)
    assert found(system.add(kb.Constraint("slow", "rate(load.x) - 0.1"))) is None


def test_a_thruster_takes_the_frame_that_it_pushes_into_its_limb():
    jet = (kb.Frame("nozzle", "link1", at=(0.1, 0, 0)), kb.Thruster("jet", "nozzle", axis=kb.Z))
    parted = found(star(arm(2).add(*jet), kb.Spherical(), 3))
    for k, share in enumerate(parted.kinds[0].shares):
        assert share.machine.frames[f"arm{k}.nozzle"].parent == f"arm{k}.link1"
