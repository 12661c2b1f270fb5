"""What people write: type checkers read all of it, and a test runs it as far as the Systems are made."""

from collections.abc import Mapping
from math import cos, pi, radians, sin

import numpy as np
from numpy.typing import NDArray

import kalaba as kb

Array = NDArray[np.float64]

# A four-bar linkage.
hinge = kb.Revolute(-kb.Y)
four_bar = kb.System(
    "four-bar",
    parts=(
        kb.Body("crank", kb.Rod(0.15, mass=0.3), parent="world", joint=hinge),
        kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=hinge),
        kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=hinge),
        kb.Connection("pin", "rocker.tip", parent="world", at=(0.45, 0, 0), joint=hinge),
        kb.Actuator("motor", "crank.angle", limit=2),
    ),
    start=kb.Start(hold={"crank.angle": 1}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0}),
)


# Two mobile arms: declared coordinates, expressions, Systems placed in a System.
def link(length: float, mass: float, inertia: float) -> kb.Solid:
    return kb.Solid(mass, com=(length / 2, 0, 0), inertia=(inertia,) * 3, tip=(length, 0, 0))


turret = kb.Solid(2.0, com=[0, 0, 0.25], inertia=np.diag([0.0625] * 3), tip=np.array([0, 0, 0.5]))
half = kb.System(
    "half",
    coordinates=["x", "y", "delta", "theta1", "theta2"],
    parts=[
        kb.Body("platform", kb.Solid(50), joint=kb.Planar(kb.Z, q=("x", "y", 0))),
        kb.Body("turret", turret, parent="platform", joint=kb.Revolute((0, 0, 1), q="delta")),
        kb.Body("link1", link(0.7, 3.0, 0.490), parent="turret.tip", joint=kb.Revolute(-kb.Y, q="theta1")),
        kb.Body("link2", link(0.8, 4.0, 0.855), parent="link1.tip", joint=kb.Revolute(-kb.Y, q="theta2 - theta1")),
    ],
)
pose = {"theta1": pi / 2, "theta2": -pi / 3}
dual = kb.System(
    "dual",
    gravity=(0, 0, -9.8),
    parts=(
        half.place("left", start=kb.Start(guess=pose)),
        half.place("right", at=[0.1, 0, 0], start=kb.Start(guess={**pose, "x": 1.6, "delta": -pi})),
        kb.Connection("cut", "left.link2.tip", parent="right.link2.tip", joint=kb.Spherical()),
        kb.Constraint("yaw", "left.delta - right.delta - pi"),
    ),
)
path = kb.Constraint("path", {"rail1": "left.x", "rail2": "right.x - 1.6"})
driven = dual.add(path).remove("yaw").with_parameters({"left.link1.mass": 3})


# A parallel robot: lists of positions, universal joints, a frame that starts at a Pose.
def ring(radius: float, spread: float) -> list[tuple[float, float, float]]:
    angles = (120 + spread, 240 - spread, 240 + spread, -spread, spread, 120 - spread)
    return [(radius * cos(radians(a)), radius * sin(radians(a)), 0) for a in angles]


leg = kb.System(
    "leg",
    parts=(
        kb.Body("slider", kb.Solid(6.4), joint=kb.Prismatic(kb.Z, limits=[0, 1])),
        kb.Body("rod", kb.Rod(0.70, mass=5.8, axis=kb.Z), parent="slider", joint=kb.Universal(kb.X, kb.Y)),
        kb.Actuator("motor", "slider.travel", limit=1000.0),
    ),
)
platform = kb.System(
    "platform",
    gravity=(0, 0, 9.81),
    parts=(
        *(leg.place(f"leg{i}", at=at) for i, at in enumerate(ring(0.40, 30), 1)),
        kb.Body("platform", kb.Cylinder(radius=0.25, length=0.04, mass=32.65)),
        kb.Frame("hub", parent="platform", at=(0, 0, -0.06)),
        *(
            kb.Connection(f"ball{i}", f"leg{i}.rod.tip", parent="platform", at=at, joint=kb.Spherical())
            for i, at in enumerate(ring(0.20, 45), 1)
        ),
    ),
    start=kb.Start(hold={"platform": kb.Pose((0, 0, 0.6667444279529082))}),
)


# Numbers that are expressions, a beam, springs, forces of every kind, a constraint as a function.
def wind(t: float, q: Array, v: Array) -> list[float]:
    return [0.1 * sin(t), 0.0, -0.01 * float(v[0])]


bent = kb.System(
    "bent",
    parts=(
        kb.Parameter("reach", 0.5, "m"),
        kb.Body("arm", kb.Rod("reach", mass=1), joint=kb.Revolute(kb.Y)),
        kb.Body(
            "beam",
            kb.Beam(1, kb.Rectangle(0.02, 0.02), 2700, 70e9, shapes=kb.ClampedFree(2), bending=(kb.Y, kb.Z)),
            parent="arm.tip",
            at=kb.Pose(("reach/10", 0, 0), rpy=[0, 0, pi / 2]),
            joint=kb.Weld(),
        ),
        kb.Spring("return", "arm.angle", stiffness=10, damping="reach/2"),
        kb.Thruster("jet", "arm.tip", axis=(0, 0, 1), limit=5),
        kb.Force("wind", "arm.tip", force=kb.Sampled(wind, rate=100)),
        kb.Force("weight", "arm.tip", force=lambda m: (0.0, 0.0, -2 * m["reach"])),
        kb.Constraint("shut", lambda m: {"low": m["arm.angle"] - 0.1}),
        kb.Output("height", "arm.tip.z", "m"),
    ),
    start=kb.Start(speed={"arm.angle": 0}),
)


def hold_still(t: float, q: Array, v: Array, total: float) -> tuple[Mapping[str, float], float]:
    total += float(q[0]) * t
    return {"motor": -total}, total


def use() -> kb.Run:
    """Derive, build, ask, simulate, control: read by type checkers only."""
    plant = kb.build(four_bar, backend=kb.Native(threads=2), solver=kb.MaskedLDL())
    q, v = plant.start
    motion = plant.motion(q, v, actuation=[0.5], wrenches={"rocker": (0, 0, 1, 0, 0, 0)})
    widest: float = abs(plant.residual(q)).max() + motion.acceleration[0] + plant.energy(q, v).total
    many = np.array([q, q])
    masses: dict[str, Array] = {"coupler.mass": np.array([0.8, 0.9])}
    widest += plant.energy(many, v, parameters=masses).total.max() + plant.jacobian("rocker", many)[1, 0, 0]
    widest += plant.reaction("pin", q, v, t=[0, 0.1], parameters={"coupler.mass": 0.9}).force[1, 2]
    state = plant.step(kb.State(q, v), [widest], dt=1e-3)
    at_rest = kb.equilibrium(four_bar, actuation={"motor": 1.0})
    model = kb.linearise(plant, at_rest, outputs=["crank.angle"], actuation=[1.0])
    kb.singularity(four_bar, "rocker.tip", [plant.start, state])
    kb.singularity(four_bar, "rocker.tip", np.array([q, q]))
    kb.assembly_modes(four_bar, hold={"crank.angle": 1}, tries=50)
    mobility: int = kb.check(four_bar).freedoms + len(model.states)
    equations = kb.derive(four_bar, kb.Lagrange())
    equations.function("mass_matrix")
    text: str = equations.latex("bias")

    line = kb.path.line((0, 0, 0), [0.1, 0, 0], duration=mobility + len(text))
    turned = kb.follow("platform", line, kb.path.turn(kb.Z, 0.1))
    share = kb.LeastSquares(weights=[1, 1, 2, 2, 3, 3])
    servo = kb.servo(platform, [turned, kb.posture()], allocation=share, frequency=30, model={"platform.mass": 30})
    kb.simulate(platform, 1, control=servo, stepper=kb.DormandPrince(rtol=1e-9), stabilisation=kb.Projection())
    kb.simulate(platform, 1, control=kb.IdealServo(turned))
    kb.simulate(four_bar, control=kb.Sampled(hold_still, rate=500, state=0.0), duration=0.1, save_every=0.05)
    again = kb.simulate(four_bar, 1, start=(q, v), control={"motor": 0.5}, stop="crank.angle > 2")
    return kb.simulate(four_bar, 5, start=again.end, control={"motor": "0.2*(10 - rate(crank.angle))"})


def look(run: kb.Run) -> float:
    """Read a run: read by type checkers only."""
    figure = kb.plot.overview(run)
    kb.plot.save(figure, "run.png")
    run.save("run.nc")
    gap = 0.0 if run.worst is None else run.worst.value
    return gap + float(run["rate(crank.angle)"][-1]) + float(run.energy_balance.max()) + float(run.end.q[0])
