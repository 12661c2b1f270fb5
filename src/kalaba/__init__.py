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
    "Pose": "kalaba.model.pose",
    "AsFound": "kalaba.model.pose",
    "X": "kalaba.model.pose",
    "Y": "kalaba.model.pose",
    "Z": "kalaba.model.pose",
    "Axis": "kalaba.model.pose",
    "Solid": "kalaba.model.solid",
    "Rod": "kalaba.model.solid",
    "Box": "kalaba.model.solid",
    "Cylinder": "kalaba.model.solid",
    "Beam": "kalaba.model.beam",
    "Rectangle": "kalaba.model.section",
    "Circle": "kalaba.model.section",
    "Tube": "kalaba.model.section",
    "SectionNumbers": "kalaba.model.section",
    "Stiffness": "kalaba.model.section",
    "ClampedFree": "kalaba.model.shapes",
    "ClampedClamped": "kalaba.model.shapes",
    "Pinned": "kalaba.model.shapes",
    "Polynomial": "kalaba.model.shapes",
    "StaticTip": "kalaba.model.shapes",
    "Tabulated": "kalaba.model.shapes",
    "Weld": "kalaba.model.joint",
    "Revolute": "kalaba.model.joint",
    "Prismatic": "kalaba.model.joint",
    "Screw": "kalaba.model.joint",
    "Cylindrical": "kalaba.model.joint",
    "Universal": "kalaba.model.joint",
    "Spherical": "kalaba.model.joint",
    "Planar": "kalaba.model.joint",
    "Free": "kalaba.model.joint",
    "PointOnLine": "kalaba.model.joint",
    "Distance": "kalaba.model.joint",
    # the catalogue
    "catalog": "kalaba.robots.catalogue",
    "load": "kalaba.robots.catalogue",
    "scenario": "kalaba.robots.catalogue",
    "Scenario": "kalaba.scenarios",
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
    "build": "kalaba.plant",
    "Plant": "kalaba.plant",
    "State": "kalaba.state",
    "Motion": "kalaba.constrain.solvers",
    "Native": "kalaba.backend",
    "Interpreted": "kalaba.backend",
    "MaskedLDL": "kalaba.constrain.solvers",
    "UdwadiaKalaba": "kalaba.constrain.solvers",
    "KKT": "kalaba.constrain.solvers",
    "NullSpace": "kalaba.constrain.solvers",
    "check": "kalaba.mobility",
    "Mobility": "kalaba.mobility",
    # kinematics
    "inverse_kinematics": "kalaba.inverse",
    "Reach": "kalaba.inverse",
    "branches": "kalaba.inverse",
    "continue_angles": "kalaba.inverse",
    "rates": "kalaba.inverse",
    "accelerations": "kalaba.inverse",
    "assembly_modes": "kalaba.parallel",
    "AssemblyMode": "kalaba.parallel",
    "motors_at": "kalaba.parallel",
    "MotorPlaces": "kalaba.parallel",
    "motor_jacobian": "kalaba.parallel",
    "singularity": "kalaba.parallel",
    "Singularity": "kalaba.parallel",
    # analysing at rest
    "equilibrium": "kalaba.equilibrium",
    "linearise": "kalaba.linearise",
    "Linear": "kalaba.linearise",
    "frequencies": "kalaba.frequencies",
    "Frequencies": "kalaba.frequencies",
    "NotInEquilibriumWarning": "kalaba.balance",
    # simulating
    "simulate": "kalaba.simulate",
    "RungeKutta4": "kalaba.integrate",
    "DormandPrince": "kalaba.integrate",
    "SemiImplicitEuler": "kalaba.integrate",
    "Radau": "kalaba.integrate",
    "WilsonTheta": "kalaba.integrate",
    "Newmark": "kalaba.integrate",
    "HHT": "kalaba.integrate",
    "GeneralisedAlpha": "kalaba.integrate",
    "CentralDifference": "kalaba.integrate",
    "Projection": "kalaba.constrain.stabilisation",
    "Baumgarte": "kalaba.constrain.stabilisation",
    "NoStabilisation": "kalaba.constrain.stabilisation",
    "Sampled": "kalaba.model.parts",
    "Run": "kalaba.run",
    "open_run": "kalaba.files.results",
    "export_c": "kalaba.files.c_code",
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
    "path": "kalaba.control",
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
    "plan_motion": "kalaba.control.optimise.plan",
    "Plan": "kalaba.control.optimise.plan",
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
        message = f"module 'kalaba' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(_import_module(_HOME[name]), name)
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
