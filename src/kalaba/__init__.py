"""kalaba: robots that hold on to things. Describe, derive, build, simulate.

    System ──derive──▶ Equations ──build──▶ Plant ──simulate──▶ Run

Names are listed below in that order. Modules are imported when a name is first used.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import Any as _Any

__version__ = "0.1.0"

_HOME = {
    # describing
    "System": "kalaba.model.system",
    "Body": "kalaba.model.parts",
    "Connection": "kalaba.model.parts",
    "Frame": "kalaba.model.parts",
    "Constraint": "kalaba.model.parts",
    "Actuator": "kalaba.model.parts",
    "Thruster": "kalaba.model.parts",
    "Spring": "kalaba.model.parts",
    "Force": "kalaba.model.parts",
    "Output": "kalaba.model.parts",
    "Parameter": "kalaba.model.parts",
    "Start": "kalaba.model.parts",
    "Pose": "kalaba.space.pose",
    "AsFound": "kalaba.space.pose",
    "X": "kalaba.space.pose",
    "Y": "kalaba.space.pose",
    "Z": "kalaba.space.pose",
    "Axis": "kalaba.space.pose",
    "Solid": "kalaba.model.solids",
    "Rod": "kalaba.model.solids",
    "Box": "kalaba.model.solids",
    "Cylinder": "kalaba.model.solids",
    "Beam": "kalaba.model.beams.beam",
    "Rectangle": "kalaba.model.beams.section",
    "Circle": "kalaba.model.beams.section",
    "Tube": "kalaba.model.beams.section",
    "SectionNumbers": "kalaba.model.beams.section",
    "Stiffness": "kalaba.model.beams.section",
    "ClampedFree": "kalaba.model.beams.shapes",
    "ClampedClamped": "kalaba.model.beams.shapes",
    "Pinned": "kalaba.model.beams.shapes",
    "Polynomial": "kalaba.model.beams.shapes",
    "StaticTip": "kalaba.model.beams.shapes",
    "Tabulated": "kalaba.model.beams.shapes",
    "Weld": "kalaba.joints.kinds",
    "Revolute": "kalaba.joints.kinds",
    "Prismatic": "kalaba.joints.kinds",
    "Screw": "kalaba.joints.kinds",
    "Cylindrical": "kalaba.joints.kinds",
    "Universal": "kalaba.joints.kinds",
    "Spherical": "kalaba.joints.kinds",
    "Planar": "kalaba.joints.kinds",
    "Free": "kalaba.joints.kinds",
    "PointOnLine": "kalaba.joints.kinds",
    "Distance": "kalaba.joints.kinds",
    # the catalogue
    "catalog": "kalaba.robots.catalogue",
    "load": "kalaba.robots.catalogue",
    "scenario": "kalaba.robots.catalogue",
    "Scenario": "kalaba.run.scenario",
    # arms that hold objects
    "hold": "kalaba.cooperate.hold",
    "Grasp": "kalaba.cooperate.grasp",
    # deriving
    "derive": "kalaba.derive.equations",
    "Equations": "kalaba.derive.equations",
    "NewtonEuler": "kalaba.derive.newton_euler",
    "Lagrange": "kalaba.derive.lagrange",
    "Kane": "kalaba.derive.kane",
    # building
    "build": "kalaba.plant.plant",
    "Plant": "kalaba.plant.plant",
    "State": "kalaba.plant.state",
    "Motion": "kalaba.constrain.solvers",
    "Native": "kalaba.native.backend",
    "Interpreted": "kalaba.native.backend",
    "MaskedLDL": "kalaba.constrain.solvers",
    "UdwadiaKalaba": "kalaba.constrain.solvers",
    "KKT": "kalaba.constrain.solvers",
    "NullSpace": "kalaba.constrain.solvers",
    "check": "kalaba.analyse.mobility",
    "Mobility": "kalaba.analyse.mobility",
    # kinematics
    "inverse_kinematics": "kalaba.kinematics.tree",
    "Reach": "kalaba.kinematics.tree",
    "branches": "kalaba.kinematics.tree",
    "continue_angles": "kalaba.kinematics.tree",
    "rates": "kalaba.kinematics.tree",
    "accelerations": "kalaba.kinematics.tree",
    "assembly_modes": "kalaba.kinematics.closed",
    "AssemblyMode": "kalaba.kinematics.closed",
    "motors_at": "kalaba.kinematics.closed",
    "MotorPlaces": "kalaba.kinematics.closed",
    "motor_jacobian": "kalaba.kinematics.closed",
    "singularity": "kalaba.kinematics.closed",
    "Singularity": "kalaba.kinematics.closed",
    # analysing at rest
    "equilibrium": "kalaba.analyse.equilibrium",
    "linearise": "kalaba.analyse.linearise",
    "Linear": "kalaba.analyse.linearise",
    "frequencies": "kalaba.analyse.frequencies",
    "Frequencies": "kalaba.analyse.frequencies",
    "NotInEquilibriumWarning": "kalaba.analyse.at_rest",
    # simulating
    "simulate": "kalaba.run.simulate",
    "RungeKutta4": "kalaba.steppers",
    "DormandPrince": "kalaba.steppers",
    "SemiImplicitEuler": "kalaba.steppers",
    "Radau": "kalaba.steppers",
    "WilsonTheta": "kalaba.steppers",
    "Newmark": "kalaba.steppers",
    "HHT": "kalaba.steppers",
    "GeneralisedAlpha": "kalaba.steppers",
    "CentralDifference": "kalaba.steppers",
    "Projection": "kalaba.constrain.stabilisation",
    "Baumgarte": "kalaba.constrain.stabilisation",
    "NoStabilisation": "kalaba.constrain.stabilisation",
    "Sampled": "kalaba.model.parts",
    "Run": "kalaba.results.run",
    "open_run": "kalaba.results.saving",
    "export_c": "kalaba.export.c",
    # looking
    "plot": "kalaba.view",
    "studio": "kalaba.view.studio.serving",
    "Studio": "kalaba.view.studio.session",
    "film": "kalaba.view.film",
    "still": "kalaba.view.still",
    "report": "kalaba.view.report",
    # cooperation and control
    "object_space": "kalaba.cooperate.object_space",
    "ObjectSpace": "kalaba.cooperate.object_space",
    "path": "kalaba.paths",
    "follow": "kalaba.control.goals",
    "posture": "kalaba.control.goals",
    "servo": "kalaba.control.servo",
    "Servo": "kalaba.control.servo",
    "IdealServo": "kalaba.control.ideal",
    "goal_errors": "kalaba.control.missed",
    "inverse_dynamics": "kalaba.control.inverse_dynamics",
    "Efforts": "kalaba.control.inverse_dynamics",
    "trade_off": "kalaba.control.tradeoff",
    "TradeOff": "kalaba.control.tradeoff",
    "plan_motion": "kalaba.control.plan.plan",
    "Plan": "kalaba.control.plan.plan",
    "Robust": "kalaba.control.robust",
    "Adaptive": "kalaba.control.robust",
    "Drive": "kalaba.control.drive",
    "Friction": "kalaba.control.transmission",
    "Backlash": "kalaba.control.transmission",
    "Hybrid": "kalaba.control.hybrid",
    "PID": "kalaba.control.hybrid",
    "Carry": "kalaba.cooperate.carry",
    "MoveTo": "kalaba.cooperate.moves",
    "LeastSquares": "kalaba.control.allocation",
    "MinMax": "kalaba.control.allocation",
    "Bounded": "kalaba.control.allocation",
    "KalabaError": "kalaba.errors",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> _Any:  # noqa: ANN401
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'kalaba' has no attribute {name!r}")
    home = _import_module(_HOME[name])
    value = home if name == "path" else getattr(home, name)
    globals()[name] = value
    return value


class _Package(_ModuleType):
    """Keeps a public function, such as `derive`, when the module of the same name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, but no submodule over a public name."""
        if not (name in _HOME and isinstance(value, _ModuleType)):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
