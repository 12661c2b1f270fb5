"""The floating arm with flexible links in Exudyn: FFRF reduced-order bodies with the same clamped-free modes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import exudyn
import numpy as np
from exudyn import itemInterface as items  # noqa: N813  (Exudyn's name)
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
from exudyn.rigidBodyUtilities import RigidBodyInertia, RotationMatrixZ
from scipy.optimize import brentq
from scipy.sparse import csr_matrix, diags

from benchmarks.machine import Array
from kalaba.robots import floating_flexible_arm as arm

POINTS = 30  # Gauss points along a link, where its mass sits
OFFSET = 0.1  # m: mass off the plane, so that no inertia is zero, and the nodes that tell how the tip has turned
PLANAR = [1, 1, 1, 1, 1, 0]  # a revolute joint about z
SPECTRAL_RADIUS = 0.8
SETTINGS = f"ObjectFFRFreducedOrder, implicit generalised-α (spectral radius {SPECTRAL_RADIUS}), modified Newton"


@dataclass(frozen=True)
class Exudyn:
    """A system ready to run, and the sensors of the tips."""

    container: Any
    system: Any
    sensors: tuple[Any, ...]
    functions: tuple[Any, ...]  # of the torques; Exudyn does not keep them alive

    def run(self, duration: float, step: float, save_every: float) -> Array:
        """Tip deflections of both links, one row per sample."""
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = save_every
        settings.displayStatistics = False
        self.system.SolveDynamic(settings)
        return np.column_stack([self.system.GetSensorStoredData(sensor)[:, 1:].sum(axis=1) for sensor in self.sensors])


def exudyn_arm(modes: int, place: tuple[float, float]) -> Exudyn:
    """The arm of case a on its carrier, whose centre of mass starts at a place."""
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    points = _joints(place)
    carrier = _rigid(system, arm.CARRIER_MASS, arm.CARRIER_INERTIA, (*place, 0.0), arm.ANGLES[0])
    load_place = points[2] + arm.LOAD_REACH * _along(arm.ANGLES[3])
    load = _rigid(system, arm.LOAD_MASS, arm.LOAD_INERTIA, load_place, arm.ANGLES[3])
    links = [_link(system, modes, point, angle) for point, angle in zip(points, arm.ANGLES[1:3], strict=False)]
    befores = (_on(system, carrier, arm.CARRIER_REACH), links[0]["tip"], links[1]["tip"])
    afters = (links[0]["root"], links[1]["root"], _on(system, load, -arm.LOAD_REACH))
    functions = []
    for before, after, torque in zip(befores, afters, arm.TORQUES, strict=True):
        system.AddObject(items.GenericJoint(markerNumbers=[before, after], constrainedAxes=PLANAR))
        functions += [_torque(system, before, -torque), _torque(system, after, torque)]
    sensors = tuple(
        system.AddSensor(
            items.SensorNode(
                nodeNumber=link["modes"], storeInternal=True, outputVariableType=exudyn.OutputVariableType.Coordinates
            )
        )
        for link in links
    )
    system.Assemble()
    return Exudyn(container, system, sensors, tuple(functions))


def _along(angle: float) -> Array:
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def _joints(place: tuple[float, float]) -> list[Array]:
    """Where the three joints start."""
    reaches = (arm.CARRIER_REACH, arm.LENGTH, arm.LENGTH)
    steps = [reach * _along(angle) for reach, angle in zip(reaches, arm.ANGLES, strict=False)]
    return list(np.array([*place, 0.0]) + np.cumsum(steps, axis=0))


def _rigid(system: Any, mass: float, inertia: float, place: Any, angle: float) -> Any:
    solid = RigidBodyInertia(mass=mass, inertiaTensor=inertia * np.eye(3))
    return system.CreateRigidBody(
        inertia=solid, referencePosition=list(place), referenceRotationMatrix=RotationMatrixZ(angle)
    )


def _on(system: Any, body: Any, reach: float) -> Any:
    return system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[reach, 0, 0]))


def _torque(system: Any, marker: Any, torque: float) -> Any:
    """A torque about z that goes as sin(pi t), as a symbolic function: no Python is called in the loop."""

    def load(mbs: Any, t: Any, value: Any) -> Any:  # noqa: ARG001
        return exudyn.symbolic.sin(np.pi * t) * value

    function = CreateSymbolicUserFunction(system, load, "loadVectorUserFunction", itemTypeName="LoadTorqueVector")
    system.AddLoad(items.Torque(markerNumber=marker, loadVector=[0, 0, torque], loadVectorUserFunction=function))
    return function


def _link(system: Any, modes: int, place: Array, angle: float) -> dict[str, Any]:
    """A flexible link: its mass at Gauss points, its tip known by four nodes without mass."""
    abscissae, weights = np.polynomial.legendre.leggauss(POINTS)
    along, shares = (abscissae + 1) * arm.LENGTH / 2, weights / 2
    tip = [(arm.LENGTH, y, z) for y, z in ((OFFSET, 0), (-OFFSET, 0), (0, OFFSET), (0, -OFFSET))]
    nodes = np.array([(x, 0, z) for x in along for z in (OFFSET, -OFFSET)] + tip)
    mass = arm.DENSITY * arm.SIDE**2 * arm.LENGTH
    masses = np.concatenate([np.repeat(mass * shares / 2, 2), np.zeros(len(tip))])
    shapes = [_shape(k) for k in range(modes)]
    basis = np.zeros((len(nodes), 3, modes))
    for k, shape in enumerate(shapes):
        deflection, slope, _ = shape(nodes[:, 0])
        basis[:, 0, k], basis[:, 1, k] = -nodes[:, 1] * slope, deflection
    mesh = FEMinterface()
    mesh.nodes = {"Position": nodes}
    mesh.modeBasis = {"matrix": basis.reshape(-1, modes), "type": "NormalModes"}
    mesh.massMatrix = diags(np.repeat(masses, 3)).tocsr()
    mesh.stiffnessMatrix = csr_matrix((nodes.size, nodes.size))
    body = ObjectFFRFreducedOrderInterface(mesh)
    bending = np.array([shape(along)[2] for shape in shapes])
    body.stiffnessMatrixReduced = (bending * (arm.YOUNG * arm.SIDE**4 / 12 * arm.LENGTH * shares)) @ bending.T
    made = body.AddObjectFFRFreducedOrder(system, positionRef=place, rotationMatrixRef=RotationMatrixZ(angle))
    numbers = list(range(len(nodes) - len(tip), len(nodes)))
    marker = items.MarkerSuperElementRigid(
        bodyNumber=made["oFFRFreducedOrder"], meshNodeNumbers=numbers, weightingFactors=[1 / len(tip)] * len(tip)
    )
    root = items.MarkerNodeRigid(nodeNumber=made["nRigidBody"])
    return {"root": system.AddMarker(root), "tip": system.AddMarker(marker), "modes": made["nGenericODE2"]}


def _shape(k: int) -> Callable[[Array], tuple[Array, Array, Array]]:
    """A clamped-free mode scaled to 1 at the tip: deflection, slope and curvature at points along the link."""
    guess = (k + 0.5) * np.pi
    root = brentq(lambda x: np.cos(x) + 1 / np.cosh(x), guess - 0.5, guess + 0.5, xtol=1e-14)
    number, ratio = root / arm.LENGTH, (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))

    def values(x: Array) -> tuple[Array, Array, Array]:
        s, c, sh, ch = np.sin(number * x), np.cos(number * x), np.sinh(number * x), np.cosh(number * x)
        slope, curvature = sh + s - ratio * (ch - c), ch + c - ratio * (sh + s)
        return ch - c - ratio * (sh - s), number * slope, number**2 * curvature

    tip = values(np.array(arm.LENGTH))[0]
    return lambda x: tuple(value / tip for value in values(x))  # type: ignore[return-value]
