"""A valid call of everything that is public: {name: a function that gives what is called and its arguments}.

Names are those that people write. What is left out stands in `LEFT_OUT`, with the reason.
"""
# ruff: noqa: E501, PLW0108  (the tables read along their rows; a lambda gives an argument its name)
# fmt: off

from collections.abc import Callable
from functools import cache, cached_property
from math import pi
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import kalaba as kb
from kalaba.export.tex import Words
from kalaba.plant.lanes import Traced
from kalaba.plant.laws import trace_map
from kalaba.space.rotations import quaternion_of

Call = Callable[[], tuple[Callable[..., object], dict[str, Any]]]


class Things:
    """Machines, runs and files that the calls share; none of them can be changed."""

    folder = cached_property(lambda self: Path(mkdtemp(prefix="fuzz")))
    system = cached_property(lambda self: kb.load("four-bar").add(kb.Output("height", "crank.tip.z", "m")))
    plant = cached_property(lambda self: kb.build(self.system))
    plain = cached_property(lambda self: kb.build(self.system, backend=kb.Interpreted()))
    equations = cached_property(lambda self: kb.derive(self.system))
    arm = cached_property(lambda self: kb.build(kb.load("puma560")))
    scenario = cached_property(lambda self: kb.scenario("four-bar"))
    cell = cached_property(lambda self: kb.build(kb.load("two-arm-carry")))
    space = cached_property(lambda self: kb.object_space(self.cell))
    form = cached_property(lambda self: kb.cooperate.object_form(self.space))
    platform = cached_property(lambda self: kb.control.platform_space(kb.load("five-bar"), "left.rod.tip"))
    spare = cached_property(lambda self: kb.build(self.system.add(kb.Actuator("other", "rocker.angle", limit=5.0))))
    goals = cached_property(lambda self: (kb.follow("crank.angle", "1 + 0.1*t^2"),))
    servo = cached_property(lambda self: kb.servo(self.plant, self.goals))
    path = cached_property(lambda self: kb.path.line((0, 0, 0), (0.1, 0, 0), duration=1.0))
    map = cached_property(lambda self: kb.kinematics.singularity_map(kb.load("five-bar"), "left.rod.tip", self.across, [0.0, 0.001], [0.0, 0.001]))

    @cached_property
    def run(self) -> kb.Run:
        return kb.simulate(self.plant, 0.05, control={"motor": "1"}, stepper=kb.RungeKutta4(1e-2))

    @cached_property
    def runs(self) -> kb.results.Runs:
        return kb.simulate_batch(self.plant, 0.02, parameters={"crank.mass": [1.0, 1.1]}, stepper=kb.RungeKutta4(1e-2))

    @cached_property
    def carried(self) -> kb.Run:
        return kb.simulate(self.cell, 0.02, control=kb.Carry(), stepper=kb.RungeKutta4(1e-2))

    @cached_property
    def led(self) -> kb.Run:
        led = kb.build(self.system.add(kb.Constraint("led", "crank.angle - 1 - t^2/10")), backend=kb.Interpreted())
        return kb.simulate(led, 0.02, stepper=kb.RungeKutta4(1e-2))

    @cached_property
    def bending(self) -> kb.Run:
        beam = kb.Body("beam", kb.Beam(1.0, BEAM, density=2700, young=70e9), joint=kb.Weld())
        return kb.simulate(kb.build(kb.System("s", (beam,)), backend=kb.Interpreted()), 0.02, stepper=kb.RungeKutta4(1e-2))

    @cached_property
    def floating(self) -> kb.Plant:
        base = kb.Body("base", kb.Box((1, 1, 1), 1.0))
        return kb.build(kb.System("s", (base, kb.Body("arm", ROD, parent="base", joint=kb.Revolute()))))

    @cached_property
    def reached(self) -> kb.Pose:
        place = self.platform.plant.pose("left.rod.tip", self.platform.plant.start.q)
        return kb.Pose(place.position, quaternion=quaternion_of(place.rotation))

    def across(self, x: float, y: float) -> kb.Pose:
        place = self.reached.position
        return kb.Pose((place[0] + x, place[1] + y, place[2]), quaternion=self.reached.quaternion)

    @cached_property
    def saved(self) -> Path:
        return self.run.save(self.folder / "saved.nc")

    @cached_property
    def measured(self) -> Path:
        place = self.folder / "measured.csv"
        place.write_text("time [s],crank.angle [rad]\n0,1\n0.05,1.01\n", encoding="utf-8")
        return place

    @cached_property
    def figure(self) -> object:
        return kb.plot.coordinates(self.run)

    @property
    def q(self) -> np.ndarray:
        return self.plant.start.q.copy()

    @property
    def v(self) -> np.ndarray:
        return self.plant.start.v.copy()

    @property
    def state(self) -> kb.State:
        return kb.State(self.q, self.v)

    @property
    def bent(self) -> np.ndarray:
        return self.arm.start.q.copy()

    def tool(self) -> kb.plant.NumericPose:
        return self.arm.pose("tool", self.bent)

    @cached_property
    def studied(self) -> kb.studies.StudyResults:
        return kb.Study(T.system, {"crank.mass": kb.choice([0.2, 0.3])}, {"x": "final(t)"}, duration=0.02).run(self.folder / "study", workers=1)

    @cached_property
    def swept(self) -> Path:
        place = self.folder / "study.yaml"
        place.write_text("kalaba-study: 1\nmachine: four-bar\nvary: {crank.mass: {choice: [0.2]}}\nmeasure: {x: final(t)}\n", encoding="utf-8")
        return place

    def place(self, name: str) -> Path:
        return self.folder / name


THINGS = Things()
T = THINGS
ROD = kb.Rod(0.3, mass=1.0)
BEAM = kb.Rectangle(0.01, 0.02)


@cache
def five_points() -> np.ndarray:
    return np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0.2, 0.1, 0.1], [0.3, 0, 0]], dtype=float)


DESCRIBING: dict[str, Call] = {
    "System": lambda: (kb.System, {"name": "s", "parts": (kb.Parameter("reach", 0.3), kb.Body("a", kb.Rod("reach", 1.0), joint=kb.Revolute())), "coordinates": (), "gravity": (0, 0, -9.81), "start": kb.Start(), "parameters": {"reach": 0.4}, "cuts": {}}),
    "System.place": lambda: (T.system.place, {"name": "left", "parent": "world", "at": (0, 0, 1), "parameters": {"crank.length": 0.2}, "start": kb.Start()}),
    "System.add": lambda: (lambda part: T.system.add(part), {"part": kb.Frame("f", "crank")}),
    "System.remove": lambda: (lambda name: T.system.remove(name), {"name": "height"}),
    "System.with_parameters": lambda: (T.system.with_parameters, {"values": {"crank.length": 0.21}}),
    "System.save": lambda: (T.system.save, {"path": T.place("machine.yaml")}),
    "Body": lambda: (in_system(kb.Body), {"name": "a", "solid": ROD, "parent": "world", "at": (0, 0, 1), "joint": kb.Revolute()}),
    "Connection": lambda: (in_four_bar(kb.Connection), {"name": "c", "child": "crank.tip", "parent": "rocker", "at": (0, 0, 0), "joint": kb.Spherical()}),
    "Frame": lambda: (in_four_bar(kb.Frame), {"name": "f", "parent": "crank", "at": kb.Pose((0, 0, 0.1), rpy=(0, 0.1, 0))}),
    "Constraint": lambda: (in_four_bar(kb.Constraint), {"name": "c", "zero": {"row": "crank.angle - t"}, "work": {"crank.angle": "1"}}),
    "Actuator": lambda: (in_four_bar(kb.Actuator), {"name": "m", "displacement": "rocker.angle", "limit": 3.0}),
    "Thruster": lambda: (in_four_bar(kb.Thruster), {"name": "m", "frame": "crank.tip", "axis": kb.Z, "limit": 3.0}),
    "Rotor": lambda: (in_four_bar(kb.Rotor), {"name": "r", "displacement": "rocker.angle", "inertia": 0.1}),
    "Visual": lambda: (in_four_bar(kb.Visual), {"name": "look", "parent": "crank", "shape": kb.SphereShape(0.1), "at": (0, 0, 0), "colour": (1, 0, 0)}),
    "BoxShape": lambda: (kb.BoxShape, {"size": (0.1, 0.1, 0.1)}),
    "CylinderShape": lambda: (kb.CylinderShape, {"radius": 0.1, "length": 0.2}),
    "SphereShape": lambda: (kb.SphereShape, {"radius": 0.1}),
    "MeshShape": lambda: (kb.MeshShape, {"file": "a.stl", "scale": (1, 1, 1)}),
    "Spring": lambda: (in_four_bar(kb.Spring), {"name": "s", "displacement": "rocker.angle", "stiffness": 1.0, "damping": 0.1, "rest": 0.2, "friction": 0.1, "creep": 0.01}),
    "Force": lambda: (in_four_bar(kb.Force), {"name": "f", "parent": "crank.tip", "force": ("sin(t)", 0, 0), "torque": (0, 0, 1)}),
    "Output": lambda: (in_four_bar(kb.Output), {"name": "o", "value": "crank.angle", "unit": "rad"}),
    "Parameter": lambda: (in_four_bar(kb.Parameter), {"name": "p", "value": 1.0, "unit": "m", "description": "a", "is_structure": False}),
    "Start": lambda: (started, {"hold": {"crank.angle": 1.0}, "guess": {"rocker.angle": 2.0}, "speed": {"crank.angle": 0.1}}),
    "Start.over": lambda: (kb.Start().over, {"other": kb.Start(hold={"crank.angle": 1.0})}),
    "Start.prefixed": lambda: (kb.Start(hold={"crank.angle": 1.0}).prefixed, {"prefix": "left"}),
    "Pose": lambda: (kb.Pose, {"position": (0, 0, 1), "rpy": (0, 0, 1)}),
    "Pose by a quaternion": lambda: (kb.Pose, {"position": (0, 0, 1), "quaternion": (1, 0, 0, 0)}),
    "AsFound": lambda: (kb.AsFound, {}),
    "Axis": lambda: (kb.Axis, {"x": 1.0, "y": 2.0, "z": 3.0}),
    "Axis.across": lambda: (kb.Z.across, {}),
    "Solid": lambda: (in_body(kb.Solid), {"mass": 1.0, "com": (0, 0, 0.1), "inertia": (1, 1, 1), "tip": (0, 0, 0.2), "as_given": False}),
    "Rod": lambda: (in_body(kb.Rod), {"length": 0.3, "mass": 1.0, "axis": kb.X}),
    "Box": lambda: (in_body(kb.Box), {"size": (0.1, 0.2, 0.3), "mass": 1.0}),
    "Cylinder": lambda: (in_body(kb.Cylinder), {"radius": 0.1, "length": 0.2, "mass": 1.0, "axis": kb.Z}),
    "Beam": lambda: (in_body(kb.Beam), {"length": 1.0, "section": BEAM, "density": 2700.0, "young": 7e10, "shapes": kb.ClampedFree(2), "foreshortening": False, "bending": (kb.Y,), "torsion": 1, "poisson": 0.3, "damping": 0.01, "tip_mass": 0.1}),
    "Rectangle": lambda: (in_beam(kb.Rectangle), {"height": 0.01, "width": 0.02}),
    "Circle": lambda: (in_beam(kb.Circle), {"radius": 0.01}),
    "Tube": lambda: (in_beam(kb.Tube), {"outer": 0.02, "inner": 0.01}),
    "SectionNumbers": lambda: (in_beam(kb.SectionNumbers), {"section_area": 1e-4, "moment_y": 1e-8, "moment_z": 1e-8, "torsion": 1e-8}),
    "Stiffness": lambda: (in_beam(kb.Stiffness), {"line_density": 1.0, "bending_y": 10.0, "bending_z": 10.0, "torsion": 1.0, "polar": 1e-4}),
    **{name: lambda kind=getattr(kb, name): (shaped(kind), {"count": 2}) for name in ("ClampedFree", "ClampedClamped", "Pinned", "Polynomial", "StaticTip")},
    "Tabulated": lambda: (shaped(kb.Tabulated), {"points": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "values": ((0.0, 0.04, 0.16, 0.36, 0.64, 1.0),)}),
    "Weld": lambda: (kb.Weld, {}),
    "Revolute": lambda: (on_joint(kb.Revolute), {"axis": kb.Z, "q": "theta", "limits": (-1, 1)}),
    "Prismatic": lambda: (on_joint(kb.Prismatic), {"axis": kb.Z, "q": "2*theta", "limits": (-1, 1)}),
    "Screw": lambda: (on_joint(kb.Screw), {"axis": kb.Z, "pitch": 0.01, "q": "theta", "by": "angle"}),
    "Cylindrical": lambda: (on_joint(kb.Cylindrical), {"axis": kb.Z, "q": ("theta", "2*theta")}),
    "Universal": lambda: (on_joint(kb.Universal), {"axis1": kb.X, "axis2": kb.Y, "q": ("theta", "2*theta")}),
    "Spherical": lambda: (kb.Spherical, {}),
    "Planar": lambda: (on_joint(kb.Planar), {"normal": kb.Z, "q": ("theta", "theta", "theta")}),
    "Free": lambda: (kb.Free, {}),
    "PointOnLine": lambda: (closing(kb.PointOnLine), {"axis": kb.X}),
    "Distance": lambda: (closing(kb.Distance), {"length": 0.3}),
    "joints.Backwards": lambda: (kb.joints.Backwards, {"joint": kb.Universal()}),
}


def in_system(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.System("s", (kind(**given),))


def in_four_bar(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: T.system.add(kind(**given))


def in_body(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.System("s", (kb.Body("a", kind(**given), joint=kb.Revolute()),))


def in_beam(kind: Callable[..., Any]) -> Callable[..., object]:
    beam = {"density": 2700.0, "young": 7e10, "bending": (kb.Y, kb.Z), "torsion": 1}
    return in_body(lambda **given: kb.Beam(1.0, section := kind(**given), **({} if kind is kb.Stiffness and section else beam)))


def shaped(kind: Callable[..., Any]) -> Callable[..., object]:
    return in_body(lambda **given: kb.Beam(1.0, BEAM, 2700.0, 7e10, shapes=kind(**given)))


def on_joint(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.System("s", (kb.Body("a", ROD, joint=kind(**given)),), coordinates=("theta",))


def closing(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: T.system.add(kb.Connection("c", "crank.tip", "rocker", joint=kind(**given)))


def started(**given: Any) -> object:
    return kb.build(kb.System("s", T.system.parts, start=kb.Start(**given)), backend=kb.Interpreted()).start


BUILDING: dict[str, Call] = {
    "catalog": lambda: (kb.catalog, {}),
    "load": lambda: (kb.load, {"name": "four-bar", "parameters": {"crank.length": 0.2}, "roots": ()}),
    "scenario": lambda: (kb.scenario, {"name": "four-bar", "parameters": {"crank.length": 0.2}, "roots": ()}),
    "Scenario": lambda: (kb.Scenario, {"system": T.system, "duration": 0.05, "stepper": kb.RungeKutta4(0.01), "control": {"motor": "1"}, "description": "", "published": "", "save_every": 0.01}),
    "Scenario.run": lambda: (kb.Scenario(T.system, 0.05).run, {"start": T.state, "stop": "crank.angle > 5", "progress": lambda _: None, "check": True}),
    "Scenario.save": lambda: (T.scenario.save, {"path": T.place("scenario.yaml")}),
    "hold": lambda: (kb.hold, {"objects": kb.Body("load", kb.Box((0.1, 0.1, 0.1), 1.0)), "arms": (kb.load("puma560").place("left"),), "grasps": (kb.Grasp("left", "load"),), "name": "cell", "start": kb.Start(guess={"load": (0.4, 0, 0.4)}), "check": False}),
    "Grasp": lambda: (kb.Grasp, {"arm": "left", "body": "load", "at": (0, 0, 0.1), "tool": "tool", "joint": kb.Weld()}),
    "derive": lambda: (kb.derive, {"system": T.system, "method": kb.Kane()}),
    "Equations.jacobian": lambda: (T.equations.jacobian, {"frame": "crank.tip"}),
    "Equations.latex": lambda: (T.equations.latex, {"name": "mass_matrix", "notation": None}),
    "Equations.operations": lambda: (T.equations.operations, {"name": "mass_matrix"}),
    "Equations.function": lambda: (T.equations.function, {"name": "mass_matrix"}),
    **{name: lambda kind=getattr(kb, name): (kind, {}) for name in ("NewtonEuler", "Lagrange", "Kane", "Interpreted", "MaskedLDL", "UdwadiaKalaba", "KKT", "NullSpace", "MinMax", "Projection", "NoStabilisation")},
    "Native": lambda: (kb.Native, {"threads": 1}),
    "build": lambda: (kb.build, {"system": T.system, "method": kb.Kane(), "backend": kb.Interpreted(), "solver": kb.KKT()}),
    "check": lambda: (kb.check, {"system": T.plain}),
    "cuts": lambda: (kb.cuts, {"system": T.system, "connections": ("pin",)}),
    "suggest_loops": lambda: (kb.suggest_loops, {"system": T.system}),
    "export_c": lambda: (kb.export_c, {"machine": T.system, "path": T.place("code.c"), "function": "motion", "allocation": None, "encoders": ()}),
    "export_tex": lambda: (kb.export_tex, {"system": T.system, "path": T.place("machine.tex"), "words": Words("title"), "method": kb.Lagrange()}),
    "export_sympy": lambda: (kb.export_sympy, {"system": T.system, "path": T.place("machine.py"), "words": Words("title"), "method": kb.Lagrange()}),
}


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape)


PLANT: dict[str, Call] = {
    "Plant": lambda: (kb.Plant, {"system": T.system, "method": kb.Kane(), "backend": kb.Interpreted(), "solver": kb.KKT()}),
    "Plant.motors": lambda: (T.plant.motors, {"names": ("motor",), "what": "test"}),
    "Plant.standard": lambda: (T.plant.standard, {"name": "motion"}),
    "Plant.interpreted": lambda: (T.plant.interpreted, {"name": "motion"}),
    "Plant.once": lambda: (T.plant.once, {"key": "fuzz", "make": dict}),
    "Plant.lanes": lambda: (T.plant.lanes, {"name": "motion", "lanes": 4}),
    "Plant.traced_lanes": lambda: (T.plant.traced_lanes, {"function": Traced("actuation", trace_map), "lanes": 4}),
    "Plant.pack": lambda: (T.plant.pack, {"q": T.q, "v": T.v, "t": 0.1, "rows": "all"}),
    "Plant.inputs": lambda: (T.plant.inputs, {"q": T.q, "v": T.v, "t": 0.1, "rows": "start"}),
    "Plant.evaluate": lambda: (T.plant.evaluate, {"name": "motion", "inputs": T.plant.inputs(T.q, T.v, rows="start")}),
    "Plant.mass_matrix": lambda: (T.plant.mass_matrix, {"q": T.q, "parameters": {"crank.mass": 0.4}}),
    "Plant.bias": lambda: (T.plant.bias, {"q": T.q, "v": T.v, "parameters": {"crank.mass": 0.4}}),
    "Plant.required_force": lambda: (T.plant.required_force, {"q": T.q, "v": T.v, "acceleration": zeros(3), "parameters": {"crank.mass": 0.4}}),
    "Plant.constraint": lambda: (T.plant.constraint, {"q": T.q, "v": T.v, "t": 0.1, "parameters": {"crank.mass": 0.4}}),
    "Plant.residual": lambda: (T.plant.residual, {"q": T.q, "t": 0.1, "parameters": {"crank.mass": 0.4}}),
    "Plant.velocity_residual": lambda: (T.plant.velocity_residual, {"q": T.q, "v": T.v, "t": 0.1, "parameters": {"crank.mass": 0.4}}),
    "Plant.problem": lambda: (T.plant.problem, {"inputs": T.plant.inputs(T.q, T.v)}),
    "Plant.motion": lambda: (T.plant.motion, {"q": T.q, "v": T.v, "force": zeros(3), "t": 0.1, "actuation": zeros(1), "wrenches": {"crank": zeros(6)}, "parameters": {"crank.mass": 0.4}}),
    "Plant.motion, few": lambda: (T.plant.motion, {"q": T.q, "v": T.v}),
    "Plant.motion, batch": lambda: (T.plant.motion, {"q": np.tile(T.q, (3, 1)), "v": np.tile(T.v, (3, 1)), "force": zeros(3), "t": zeros(3), "actuation": zeros(3, 1), "wrenches": {"crank": zeros(6)}, "parameters": {"crank.mass": np.ones(3)}}),
    "Plant.jacobian, batch": lambda: (T.plant.jacobian, {"frame": "crank.tip", "q": np.tile(T.q, (3, 1)), "parameters": {"crank.mass": np.ones(3)}}),
    "Plant.derivatives, batch": lambda: (T.plant.derivatives, {"q": np.tile(T.q, (2, 1)), "v": T.v, "force": zeros(3), "t": zeros(2), "parameters": {"crank.mass": np.ones(2)}}),
    "Plant.motion, interpreted": lambda: (T.plain.motion, {"q": T.q, "v": T.v, "force": zeros(3), "t": 0.1, "actuation": zeros(1), "wrenches": {"crank": zeros(6)}}),
    "Plant.packed": lambda: (T.plant.packed, {"q": T.q, "v": T.v, "force": zeros(3), "t": 0.1, "actuation": zeros(1), "wrenches": {"crank": zeros(6)}}),
    "Plant.pose": lambda: (T.plant.pose, {"frame": "crank.tip", "q": T.q, "parameters": {"crank.mass": 0.4}}),
    "Plant.jacobian": lambda: (T.plant.jacobian, {"frame": "crank.tip", "q": T.q, "parameters": {"crank.mass": 0.4}}),
    "Plant.velocity": lambda: (T.plant.velocity, {"frame": "crank.tip", "q": T.q, "v": T.v, "parameters": {"crank.mass": 0.4}}),
    "Plant.watch": lambda: (T.plant.watch, {"names": ("crank.angle",), "inputs": T.plant.inputs(T.q, T.v)}),
    "Plant.actuation_map": lambda: (T.plant.actuation_map, {"q": T.q, "parameters": {"crank.mass": 0.4}}),
    "Plant.energy": lambda: (T.plant.energy, {"q": T.q, "v": T.v, "parameters": {"crank.mass": 0.4}}),
    "Plant.momentum": lambda: (T.plant.momentum, {"q": T.q, "v": T.v, "parameters": {"crank.mass": 0.4}}),
    "Plant.centre_of_mass": lambda: (T.plant.centre_of_mass, {"q": T.q}),
    "Plant.generalised_jacobian": lambda: (T.floating.generalised_jacobian, {"frame": "arm.tip", "q": T.floating.start.q.copy(), "base": "base"}),
    "Plant.reaction_null": lambda: (T.floating.reaction_null, {"q": T.floating.start.q.copy(), "base": "base", "attitude_only": False}),
    "Plant.output": lambda: (T.plant.output, {"name": "height", "q": T.q, "v": T.v, "t": 0.1, "parameters": {"crank.mass": 0.4}}),
    "Plant.reaction": lambda: (T.plant.reaction, {"connection": "pin", "q": T.q, "v": T.v, "force": zeros(3), "t": 0.1, "actuation": zeros(1), "wrenches": {"crank": zeros(6)}, "parameters": {"crank.mass": 0.4}}),
    "Plant.derivatives": lambda: (T.plant.derivatives, {"q": T.q, "v": T.v, "force": zeros(3), "t": 0.1, "parameters": {"crank.mass": 0.4}}),
    "Plant.project": lambda: (T.plant.project, {"state": T.state, "t": 0.1}),
    "Plant.project, batch": lambda: (T.plant.project, {"state": (np.tile(T.q, (2, 1)), np.tile(T.v, (2, 1))), "t": zeros(2)}),
    "Plant.step": lambda: (T.plant.step, {"state": T.state, "actuation": zeros(1), "dt": 0.001, "t": 0.1}),
    "Plant.with_parameters": lambda: (T.plant.with_parameters, {"values": {"crank.length": 0.2}}),
    "State": lambda: (lambda q, v: T.plant.step(kb.State(q, v)), {"q": T.q, "v": T.v}),
}

ANALYSING: dict[str, Call] = {
    "inverse_kinematics": lambda: (kb.inverse_kinematics, {"arm": T.arm, "frame": "tool", "pose": T.tool(), "guess": T.bent + 0.1, "count": 1, "singular": 1e-6}),
    "branches": lambda: (kb.branches, {"arm": T.arm, "frame": "tool", "pose": T.tool()}),
    "kinematics.continue_angles": lambda: (kb.kinematics.continue_angles, {"arm": T.arm, "q": T.bent, "near": T.bent}),
    "kinematics.rates": lambda: (kb.kinematics.rates, {"arm": T.arm, "frame": "tool", "q": T.bent, "twist": zeros(6), "singular": 1e-6, "length": 0.3}),
    "kinematics.accelerations": lambda: (kb.kinematics.accelerations, {"arm": T.arm, "frame": "tool", "q": T.bent, "v": zeros(6), "twist_rate": zeros(6), "singular": 1e-6}),
    "assembly_modes": lambda: (kb.assembly_modes, {"system": T.plain, "hold": {"crank.angle": 1.0}, "tries": 5, "frame": "coupler"}),
    "singularity": lambda: (kb.singularity, {"system": T.plant, "frame": "coupler", "states": T.q, "position_only": False}),
    "kinematics.motors_at": lambda: (kb.kinematics.motors_at, {"system": T.platform.plant, "frame": "left.rod.tip", "pose": T.reached, "guess": T.platform.plant.start.q.copy()}),
    "kinematics.motor_jacobian": lambda: (kb.kinematics.motor_jacobian, {"system": T.plant, "frame": "coupler", "q": T.q}),
    "kinematics.singularity_map": lambda: (kb.kinematics.singularity_map, {"system": T.platform.plant, "frame": "left.rod.tip", "pose": T.across, "first": [0.0, 0.001], "second": [0.0]}),
    "equilibrium": lambda: (kb.equilibrium, {"system": T.plain, "hold": {"crank.angle": 1.0}, "actuation": {"motor": 1.0}}),
    "linearise": lambda: (kb.linearise, {"system": T.plain, "at": T.state, "inputs": "actuators", "outputs": ("height",), "actuation": [1.0]}),
    "frequencies": lambda: (kb.frequencies, {"system": T.plain, "at": T.state, "actuation": [1.0]}),
}

RUNNING: dict[str, Call] = {
    "simulate": lambda: (kb.simulate, {"system": T.plant, "duration": 0.05, "start": T.state, "stepper": kb.RungeKutta4(0.01), "control": {"motor": "1"}, "stabilisation": kb.Projection(), "save_every": 0.01, "stop": "crank.angle > 9", "progress": lambda _: None, "check": True, "max_steps": 1000, "max_time": 5.0}),
    "simulate, system": lambda: (lambda **given: kb.simulate(T.system, 0.02, **given), {"start": (T.q, T.v), "stepper": kb.DormandPrince(), "control": None, "stop": None}),
    "simulate, in Python": lambda: (lambda **given: kb.simulate(T.plain, 0.02, **given), {"start": T.state, "stepper": kb.RungeKutta4(0.01), "control": {"motor": "sin(t)"}, "max_steps": 1000}),
    "simulate_batch": lambda: (kb.simulate_batch, {"system": T.plant, "duration": 0.03, "start": T.state, "parameters": {"crank.mass": [1.0, 1.1, 1.2]}, "control": {"motor": "1"}, "stepper": kb.RungeKutta4(0.01), "save_every": 0.01, "stop": "crank.angle > 9", "threads": 2}),
    "simulate_batch, alone": lambda: (lambda **given: kb.simulate_batch(T.system, 0.02, **given), {"start": (np.tile(T.q, (2, 1)), np.tile(T.v, (2, 1))), "stepper": kb.DormandPrince(), "control": kb.Sampled(lambda t, q, v: [0.0], 100.0), "threads": 1}),
    "results.Runs.numbers": lambda: (T.runs.numbers, {"run": 1}),
    "Auto": lambda: (running(kb.Auto), {"rtol": 1e-6, "atol": 1e-9, "first_step": 1e-3, "max_step": 0.1}),
    "RungeKutta4": lambda: (running(kb.RungeKutta4), {"step": 0.01}),
    "DormandPrince": lambda: (running(kb.DormandPrince), {"rtol": 1e-6, "atol": 1e-9, "first_step": 1e-3, "max_step": 0.1}),
    "Kvaerno": lambda: (kb.Kvaerno, {"rtol": 1e-6, "atol": 1e-9, "first_step": 1e-3, "max_step": 0.1}),
    "SemiImplicitEuler": lambda: (running(kb.SemiImplicitEuler), {"step": 0.01}),
    "Radau": lambda: (kb.Radau, {"rtol": 1e-6, "atol": 1e-9}),
    "WilsonTheta": lambda: (running(kb.WilsonTheta), {"step": 0.01, "theta": 1.4}),
    "Newmark": lambda: (running(kb.Newmark), {"step": 0.01, "beta": 0.25, "gamma": 0.5}),
    "HHT": lambda: (running(kb.HHT), {"step": 0.01, "alpha": 0.1}),
    "GeneralisedAlpha": lambda: (running(kb.GeneralisedAlpha), {"step": 0.01, "spectral_radius": 0.8, "rtol": 1e-6, "atol": 1e-8, "max_step": 0.1, "formulation": "acceleration"}),
    "CentralDifference": lambda: (kb.CentralDifference, {"step": 0.001}),
    "Baumgarte": lambda: (lambda **given: kb.simulate(T.plant, 0.02, stepper=kb.RungeKutta4(0.01), stabilisation=kb.Baumgarte(**given)), {"frequency": 50.0, "damping": 1.0}),
    "Sampled": lambda: (lambda **given: kb.simulate(T.plant, 0.02, control=kb.Sampled(**given), stepper=kb.RungeKutta4(0.01), max_steps=500), {"function": lambda t, q, v: [0.0], "rate": 100.0}),
    "Sampled with a state": lambda: (lambda **given: kb.simulate(T.plant, 0.02, control=kb.Sampled(**given), stepper=kb.RungeKutta4(0.01), max_steps=500), {"function": lambda t, q, v, state: ([0.0], state), "rate": 100.0, "state": 1}),
    "Run.save": lambda: (T.run.save, {"path": T.place("run.nc")}),
    "open_run": lambda: (kb.open_run, {"path": T.saved}),
    "steppers.FixedStepper": lambda: (kb.steppers.FixedStepper, {"step": 0.01}),
    "steppers.FixedStepper.with_step": lambda: (kb.RungeKutta4(0.01).with_step, {"step": 0.02}),
    "steppers.StructuralStepper": lambda: (kb.steppers.StructuralStepper, {"step": 0.01}),
    "steppers.ButcherTableau": lambda: (kb.steppers.ButcherTableau, {"nodes": (0.0, 0.5), "matrix": ((), (0.5,)), "weights": (0.0, 1.0), "order": 2}),
    "steppers.Scheme": lambda: (kb.steppers.Scheme, {"beta": 0.25, "gamma": 0.5, "alpha_m": 0.0, "alpha_f": 0.0, "collocation": 1.0}),
    "steppers.Pace": lambda: (kb.steppers.Pace, {"step": 0.01, "rtol": 1e-6, "atol": 1e-8, "max_step": 0.1}),
}


def studying(**given: Any) -> object:
    """A study as far as it goes without running it: its samples are drawn and its machine is looked at."""
    study = kb.Study(**given)
    return study.values(0) if study.scenario and study.count < 1e5 else None


def anew(**given: Any) -> object:
    """A study run in a folder of its own, in this process: nonsense would fill folders and start processes."""
    return T.studied.study.run(mkdtemp(dir=T.folder), workers=1, **given)


def searched(**given: Any) -> object:
    return T.studied.study.search(workers=1, **given)


STUDYING: dict[str, Call] = {
    "Study": lambda: (studying, {"machine": T.system, "vary": {"crank.mass": kb.uniform(0.2, 0.3)}, "measure": {"x": "peak(motor)"}, "samples": 4, "sampling": kb.studies.Sobol(), "seed": 1, "duration": 0.02, "stepper": kb.RungeKutta4(0.01), "control": {"motor": "1"}, "stabilisation": kb.Projection(), "save_every": 0.01, "stop": "crank.angle > 5", "options": {}, "max_steps": 100}),
    "Study.case": lambda: (T.studied.study.case, {"sample": 1}),
    "Study.values": lambda: (T.studied.study.values, {"sample": 1}),
    "Study.judged": lambda: (T.studied.study.judged, {"values": {"crank.mass": 0.2}}),
    "Study.simulated": lambda: (T.studied.study.simulated, {"values": {"crank.mass": 0.2}}),
    "Study.run": lambda: (anew, {"shard": (1, 2), "progress": lambda _: None}),
    "Study.search": lambda: (searched, {"measure": "x", "smallest": True, "evaluations": 5}),
    "uniform": lambda: (kb.uniform, {"low": 3.0, "high": 5.0}),
    "log_uniform": lambda: (kb.log_uniform, {"low": 3.0, "high": 5.0}),
    "normal": lambda: (kb.normal, {"mean": 3.0, "deviation": 0.5}),
    "choice": lambda: (kb.choice, {"values": (1.0, 2.0)}),
    "spaced": lambda: (kb.spaced, {"low": 3.0, "high": 5.0, "count": 3}),
    "load_study": lambda: (kb.load_study, {"path": T.swept}),
    "open_study": lambda: (kb.open_study, {"path": T.studied.path}),
    "studies.StudyResults.worst": lambda: (T.studied.worst, {"count": 1, "measure": "x", "smallest": False}),
    "studies.StudyResults.case": lambda: (T.studied.case, {"sample": 1}),
    **{f"studies.{name}": lambda kind=getattr(kb.studies, name): (kind, {}) for name in ("Grid", "Random", "LatinHypercube", "Sobol")},
    "studies.SobolIndices": lambda: (kb.studies.SobolIndices, {"base": 4}),
    "plot.study": lambda: (kb.plot.study, {"results": T.studied}),
}


def running(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.simulate(T.plant, 0.05, stepper=kind(**given), max_steps=2000, check=False)


LOOKING: dict[str, Call] = {
    "film": lambda: (kb.film, {"run": T.run, "path": T.place("film.gif"), "speed": 1.0, "size": (32, 24), "progress": lambda *_: None}),
    "still": lambda: (kb.still, {"plant": T.plant, "path": T.place("still.png"), "q": T.q, "size": (32, 24)}),
    "report": lambda: (kb.report, {"run": T.saved, "path": T.place("report.html"), "progress": lambda *_: None}),
    **{f"plot.{name}": lambda name=name: (getattr(kb.plot, name), {"run": T.run}) for name in ("overview", "coordinates", "speeds", "outputs", "motors", "forces", "residuals", "energy", "momentum")},
    "plot.grasps": lambda: (kb.plot.grasps, {"run": T.carried}),
    "plot.modes": lambda: (kb.plot.modes, {"run": T.bending}),
    "plot.paths": lambda: (kb.plot.paths, {"run": T.run, "frames": ("crank.tip",)}),
    "plot.papers": lambda: (kb.plot.papers, {"run": T.carried, "progress": lambda *_: None}),
    "plot.compare": lambda: (kb.plot.compare, {"runs": {"one": T.run, "two": T.run}}),
    "plot.tracking_error": lambda: (kb.plot.tracking_error, {"runs": {"one": T.run}, "goals": T.goals}),
    "plot.singularity_maps": lambda: (kb.plot.singularity_maps, {"maps": {"one": T.map}, "first": "x", "second": "y", "measure": "parallel"}),
    "plot.over": lambda: (kb.plot.over, {"run": T.run, "measured": T.measured, "names": {"crank.angle": "crank.angle"}}),
    "plot.matched": lambda: (kb.plot.matched, {"run": T.run, "measured": T.measured, "names": {"crank.angle": "crank.angle"}}),
    "plot.read_measured": lambda: (kb.plot.read_measured, {"path": T.measured, "scale": {"crank.angle": 1.0}, "time_scale": 1.0, "time_shift": 0.0}),
    "plot.draw": lambda: (kb.plot.draw, {"runs": T.run, "figure": "coordinates", "frames": ()}),
    "plot.known": lambda: (kb.plot.known, {}),
    "plot.register": lambda: (kb.plot.register, {"kind": kb.plot.known()[0]}),
    "plot.FigureKind": lambda: (kb.plot.FigureKind, {"name": "mine", "summary": "", "draw": lambda _: None, "takes_several": False, "takes_frames": False}),
    "plot.Request": lambda: (kb.plot.Request, {"runs": {"one": T.run}, "frames": ()}),
    "plot.Curve": lambda: (lambda **given: kb.plot.sheet("h", [kb.plot.Panel("t", "y", (kb.plot.Curve(**given),))]), {"name": "c", "x": zeros(3), "y": zeros(3), "is_published": False, "style": None}),
    "plot.Panel": lambda: (lambda **given: kb.plot.sheet("h", [kb.plot.Panel(**given)]), {"title": "t", "label": "y", "curves": (kb.plot.Curve("c", zeros(3), zeros(3)),), "x_label": "x"}),
    "plot.sheet": lambda: (kb.plot.sheet, {"heading": "h", "shown": [kb.plot.Panel("t", "y", (kb.plot.Curve("c", zeros(3), zeros(3)),))], "footnotes": ("n",), "columns": 1}),
    "plot.save": lambda: (kb.plot.save, {"figure": T.figure, "path": T.place("figure.svg")}),
}

PATHS: dict[str, Call] = {
    "path.circle": lambda: (kb.path.circle, {"diameter": 0.2, "speed": 0.1, "accel": 1.0, "centre": (0, 0, 0), "normal": kb.Z, "phase": 0.1, "turns": 1}),
    "path.line": lambda: (kb.path.line, {"start": (0, 0, 0), "end": (1, 0, 0), "duration": 1.0}),
    "path.line, speed": lambda: (kb.path.line, {"start": (0, 0, 0), "end": (1, 0, 0), "speed": 1.0}),
    "path.line, timing": lambda: (kb.path.line, {"start": (0, 0, 0), "end": (1, 0, 0), "timing": kb.path.MinimumJerk(1.0)}),
    "path.polyline": lambda: (kb.path.polyline, {"points": five_points(), "speed": 0.1, "blend": 0.01}),
    "path.spline": lambda: (kb.path.spline, {"points": five_points(), "duration": 1.0, "degree": 3, "closed": False}),
    "path.expression": lambda: (kb.path.expression, {"x": "0.1*t", "y": 0.0, "z": "sin(t)", "duration": 1.0}),
    "path.keep": lambda: (kb.path.keep, {}),
    "path.turn": lambda: (kb.path.turn, {"axis": kb.Z, "angle": pi}),
    "path.Turn": lambda: (kb.path.Turn, {"axis": kb.Z, "angle": pi}),
    "path.Turn.at": lambda: (kb.path.turn(kb.Z, 1.0).at, {"t": 0.5, "path": T.path}),
    "path.Path": lambda: (kb.path.Path, {"curve": T.path.curve, "profile": T.path.profile, "is_relative": False}),
    "path.Path.relative": lambda: (T.path.relative, {}),
    "path.Path.at": lambda: (T.path.at, {"t": [0.0, 0.5], "origin": (0, 0, 0)}),
    "path.Path.progress": lambda: (T.path.progress, {"t": [0.0, 0.5]}),
    "path.Path.text": lambda: (T.path.text, {"origin": (0.0, "x0", 0.0)}),
    "path.Circular": lambda: (lambda **given: kb.path.polyline(five_points(), speed=0.1, blend=kb.path.Circular(**given)), {"distance": 0.01}),
    "path.Quintic": lambda: (lambda **given: kb.path.polyline(five_points(), speed=0.1, blend=kb.path.Quintic(**given)), {"distance": 0.01}),
    "path.Constant": lambda: (timed(kb.path.Constant), {"speed": 0.1}),
    "path.MeanSpeed": lambda: (timed(kb.path.MeanSpeed), {"speed": 0.1, "accel": 1.0}),
    "path.MinimumJerk": lambda: (timed(kb.path.MinimumJerk), {"duration": 1.0}),
    "path.Trapezoid": lambda: (timed(kb.path.Trapezoid), {"speed": 0.1, "accel": 1.0}),
}


def timed(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.path.line((0, 0, 0), (1, 0, 0), timing=kind(**given))


CONTROLLING: dict[str, Call] = {
    "follow": lambda: (goal, {"target": "crank.tip", "path": kb.path.line((0, 0, 0), (0.01, 0, 0), duration=1.0).relative(), "orientation": "free"}),
    "posture": lambda: (kb.posture, {}),
    "servo": lambda: (kb.servo, {"system": T.plant, "goals": T.goals, "actuators": "all", "allocation": kb.LeastSquares(), "frequency": 20.0, "damping": 1.0, "run_in": 0.1, "rate": 1000.0, "model": {"coupler.mass": 0.5}, "correction": kb.Robust(1.0, 0.1), "start": T.state}),
    "control.Servo": lambda: (kb.control.Servo, {"goals": T.goals, "actuators": "all", "allocation": kb.LeastSquares(), "frequency": 20.0, "damping": 1.0, "run_in": None, "rate": 1000.0, "model": (), "correction": None, "origin": None}),
    "control.Servo.bind": lambda: (T.servo.bind, {"plant": T.plant}),
    "control.Servo.start": lambda: (T.servo.start, {"plant": T.plant}),
    "control.Servo.law": lambda: (T.servo.law, {"plant": T.plant, "start": T.servo.start(T.plant)}),
    "control.Servo.refusal": lambda: (T.servo.refusal, {"plant": T.plant}),
    "control.Servo.with_allocation": lambda: (T.servo.with_allocation, {"plant": T.plant, "allocation": kb.MinMax()}),
    "control.Servo.states_at": lambda: (T.servo.states_at, {"plant": T.plant, "times": [0.0, 0.1]}),
    "IdealServo": lambda: (lambda **given: kb.IdealServo(**given).law(T.plant, T.state), {"goals": T.goals, "stacked": False, "frequency": 20.0, "damping": 1.0, "motors_only": False}),
    "IdealServo.start": lambda: (kb.IdealServo(T.goals).start, {"plant": T.plant}),
    "control.Cascade": lambda: (lambda **given: kb.control.Cascade(**given).law(T.plant, T.state), {"levels": (T.goals,), "frequency": 20.0, "damping": 1.0}),
    "control.goal_errors": lambda: (kb.control.goal_errors, {"run": T.run, "goals": T.goals, "start": T.state}),
    "inverse_dynamics": lambda: (kb.inverse_dynamics, {"system": T.plant, "goals": T.goals, "allocation": kb.LeastSquares(), "actuators": "all", "times": [0.0, 0.1], "model": {}, "start": T.state}),
    "trade_off": lambda: (kb.trade_off, {"system": T.spare, "goals": T.goals, "actuators": "all", "times": [0.0, 0.1], "points": 2}),
    "control.platform_space": lambda: (kb.control.platform_space, {"system": T.platform.plant, "frame": "left.rod.tip", "loads": ()}),
    "control.PlatformSpace.model": lambda: (T.platform.model, {"state": T.platform.plant.start, "t": 0.0}),
    "control.PlatformSpace.required": lambda: (T.platform.required, {"state": T.platform.plant.start, "acceleration": zeros(2), "t": 0.0}),
    "control.PlatformSpace.share": lambda: (T.platform.share, {"state": T.platform.plant.start, "acceleration": zeros(2), "allocation": kb.LeastSquares(), "with_loads": False, "t": 0.0}),
    "control.PlatformSpace.acceleration": lambda: (T.platform.acceleration, {"state": T.platform.plant.start, "actuation": zeros(2), "t": 0.0}),
    "control.PlatformSpace.partial_velocities": lambda: (T.platform.partial_velocities, {"q": T.platform.plant.start.q.copy()}),
    "control.driven_constraints": lambda: (kb.control.driven_constraints, {"plant": T.plant}),
    "control.motors_for_rows": lambda: (kb.control.motors_for_rows, {"run": T.led, "constraints": None, "allocation": kb.LeastSquares(), "samples": 2}),
    "plan_motion": lambda: (kb.plan_motion, {"system": T.plain, "start": {"crank.angle": 1.0}, "end": {"crank.angle": 1.1}, "minimise": "effort", "duration": 0.5, "weights": (1.0,), "knots": 5}),
    "Robust": lambda: (kb.Robust, {"bound": 1.0, "width": 0.1}),
    "Adaptive": lambda: (kb.Adaptive, {"gain": 1.0}),
    "Drive": lambda: (driven(kb.Drive), {"rate": 1000.0, "lag": 0.001, "position_noise": 1e-6, "speed_noise": 1e-6, "seed": 1, "friction": kb.Friction(0.1), "backlash": None}),
    "Drive.around": lambda: (kb.Drive().around, {"control": {"motor": "1"}}),
    "Friction": lambda: (driven(lambda **given: kb.Drive(friction=kb.Friction(**given))), {"coulomb": 0.1, "viscous": 0.1, "creep": 0.01}),
    "Backlash": lambda: (driven(lambda **given: kb.Drive(backlash=kb.Backlash(**given))), {"gap": 0.01, "rotor": 0.01}),
    "Hybrid": lambda: (kb.Hybrid, {"goals": T.goals, "position": kb.control.PID(100.0), "force": kb.control.PID(1.0), "forced": (), "allocation": kb.LeastSquares(), "drive": kb.Drive(), "model": {}}),
    "control.PID": lambda: (kb.control.PID, {"proportional": 1.0, "integral": 0.1, "derivative": 0.1}),
    "LeastSquares": lambda: (allocated(kb.LeastSquares), {"weights": (1.0,), "preload": (0.0,)}),
    "Bounded": lambda: (allocated(kb.Bounded), {"lower": (-100.0,), "upper": (100.0,), "weights": (1.0,)}),
    "LeastSquares.allocate": lambda: (kb.LeastSquares().allocate, {"force_map": np.ones((1, 2)), "force": np.ones(1), "limits": [9.0, 9.0], "rows": ("a",)}),
    "MinMax.allocate": lambda: (kb.MinMax().allocate, {"force_map": np.ones((1, 2)), "force": np.ones(1), "limits": [9.0, 9.0], "rows": ("a",)}),
    "Bounded.allocate": lambda: (kb.Bounded().allocate, {"force_map": np.ones((1, 2)), "force": np.ones(1), "limits": [9.0, 9.0], "rows": ("a",)}),
    "control.Law": lambda: (kb.control.Law, {"text": "", "motors": lambda e: [], "is_feedback": False}),
}


def goal(**given: Any) -> object:
    return kb.IdealServo((kb.follow(**given),)).law(T.plant, T.state)


def driven(make: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.simulate(T.plant, 0.01, control=make(**given).around({"motor": "1"}), stepper=kb.RungeKutta4(0.005), max_steps=500, check=False)


def allocated(kind: Callable[..., Any]) -> Callable[..., object]:
    return lambda **given: kb.inverse_dynamics(T.plant, T.goals, kind(**given), times=[0.0])


def carrying(**given: Any) -> object:
    return kb.Carry(**given).law(T.cell, T.cell.start)


def load_pose() -> kb.plant.NumericPose:
    return T.cell.pose("load", T.cell.start.q)


def of_space(name: str, **given: Any) -> Call:
    return lambda: (getattr(T.space, name), {"state": T.cell.start, **{key: make() for key, make in given.items()}})


COOPERATING: dict[str, Call] = {
    "object_space": lambda: (kb.object_space, {"system": T.cell, "extra": None}),
    "ObjectSpace.model": of_space("model", t=lambda: 0.0),
    "ObjectSpace.inertia": of_space("inertia"),
    "ObjectSpace.bias": of_space("bias", t=lambda: 0.0),
    "ObjectSpace.force_map": of_space("force_map"),
    "ObjectSpace.velocity_map": of_space("velocity_map"),
    "ObjectSpace.convective": of_space("convective"),
    "ObjectSpace.speeds": of_space("speeds"),
    "ObjectSpace.rates": of_space("rates", speeds=lambda: zeros(6)),
    "ObjectSpace.accelerations": of_space("accelerations", acceleration=lambda: zeros(6)),
    "ObjectSpace.object_acceleration": of_space("object_acceleration", acceleration=lambda: zeros(18)),
    "ObjectSpace.read": lambda: (T.space.read, {"q": T.cell.start.q.copy(), "near": T.cell.start}),
    "ObjectSpace.reach": lambda: (T.space.reach, {"pose": load_pose(), "joints": {}, "near": T.cell.start, "singular": 1e-6}),
    "ObjectSpace.branches": lambda: (T.space.branches, {"pose": load_pose(), "joints": {}, "near": T.cell.start}),
    "ObjectSpace.acceleration": of_space("acceleration", torques=lambda: zeros(12), t=lambda: 0.0),
    "ObjectSpace.torques": of_space("torques", acceleration=lambda: zeros(6), share=kb.LeastSquares, motors=lambda: None, given=lambda: None, t=lambda: 0.0),
    "ObjectSpace.internal": of_space("internal", motors=lambda: None),
    "ObjectSpace.squeeze": of_space("squeeze", first=lambda: "grip_arm1", second=lambda: "grip_arm2", newtons=lambda: 10.0),
    "ObjectSpace.grasp_wrenches": of_space("grasp_wrenches", torques=lambda: zeros(12), t=lambda: 0.0),
    "ObjectSpace.checked_torques": lambda: (T.space.checked_torques, {"torques": zeros(12)}),
    "cooperate.object_form": lambda: (kb.cooperate.object_form, {"space": T.space}),
    "cooperate.pieces_at": lambda: (kb.cooperate.pieces_at, {"space": T.space, "state": T.cell.start, "t": 0.0}),
    "cooperate.ObjectForm.operation_counts": lambda: (T.form.operation_counts, {}),
    "cooperate.grasp_forces": lambda: (kb.cooperate.grasp_forces, {"run": T.carried}),
    "Carry": lambda: (carrying, {"path": kb.path.line((0, 0, 0), (0, 0, 0.1), duration=1.0).relative(), "turn": kb.path.turn(kb.Z, 0.1), "joints": {}, "frequency": 20.0, "damping": 1.0, "share": kb.LeastSquares(), "squeeze": 10.0}),
    "Carry.law": lambda: (kb.Carry().law, {"plant": T.cell, "start": T.cell.start}),
    "MoveTo": lambda: (kb.MoveTo, {"value": 0.1, "duration": 1.0}),
}

CALLS: dict[str, Call] = {**DESCRIBING, **BUILDING, **PLANT, **ANALYSING, **RUNNING, **STUDYING, **LOOKING, **PATHS, **CONTROLLING, **COOPERATING}


METHODS_OF = {"System": kb.System, "Study": kb.Study, "studies.StudyResults": kb.studies.StudyResults, "Plant": kb.Plant, "Run": kb.Run, "Equations": kb.Equations, "ObjectSpace": kb.cooperate.ObjectSpace, "path.Path": kb.path.Path, "control.Servo": kb.control.Servo, "control.PlatformSpace": kb.control.PlatformSpace, "Start": kb.Start, "Scenario": kb.Scenario, "results.Runs": kb.results.Runs}

_REASONS = {
    "a class of results, which kalaba makes and people read": "studies.StudyResults studies.StudyProgress studies.Spread studies.Found Equations Run analyse.Mobility analyse.Cut analyse.Cuts analyse.Linear analyse.Frequencies control.Efforts control.TradeOff control.PlatformSpace control.Plan cooperate.ObjectSpace cooperate.ObjectForm cooperate.GraspForces kinematics.Reach kinematics.AssemblyMode kinematics.MotorPlaces kinematics.Singularity kinematics.SingularityMap plant.NamedState plant.Energy plant.NumericPose plant.Motion plant.Reaction plant.Derivatives results.Status results.Ending results.Effort results.Worst results.MethodChange results.Accuracy results.Verdict results.StateError results.Judgement results.Shortfall run.Progress plot.Match plot.Measured path.PathMotion path.TurnMotion view.Studio results.Runs",
    "an error or a warning": "KalabaError analyse.NotInEquilibriumWarning plant.RebuildWarning run.AccuracyWarning run.SingularWarning run.DeformationWarning run.HoldWarning run.StiffWarning run.ShortfallWarning",
    "a protocol or a base class that people extend": "studies.Sampling studies.Variable control.Controller control.Allocation path.Timing steppers.Stepper steppers.AdaptiveStepper joints.Joint joints.Gap joints.Glyph joints.InWorld joints.JointMotion joints.Marker joints.Shape",
    "takes or gives symbols of CasADi, inside a derivation": "Plant.unbound_lanes path.Path.expressions path.Path.progress_expression joints.off_labels joints.tilt_labels joints.direction joints.kinds control.Servo.described Plant.function",
    "opens a page, until it is closed": "studio view.Studio",
    "angles of a platform in space, which this machine has not": "control.PlatformSpace.angles",
}
LEFT_OUT = {name: reason for reason, names in _REASONS.items() for name in names.split()}
