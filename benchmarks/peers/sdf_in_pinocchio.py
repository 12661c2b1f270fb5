"""An SDF file as a model of Pinocchio, joint by joint, from the XML alone: a second reader to hold ours to.

It reads one model, alone or in a world, without nesting, in which poses are relative to the model (links) or to the
child (joints). What is kept of the model's own pose is how it is turned: the rest is the start of a free base.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from kalaba.files.names import identifier
from kalaba.space.rotations import rotation_of

WORLD = "world"


def placement(element: ET.Element) -> pin.SE3:
    """The <pose> of an element."""
    x, y, z, *rpy = map(float, (element.findtext("pose") or "0 0 0 0 0 0").split())
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array([x, y, z]))


def inertia(link: ET.Element) -> pin.Inertia:
    """The inertia of a link about its own origin."""
    inertial = link.find("inertial")
    entries = {k: float(inertial.findtext(f"inertia/i{k}") or 0.0) for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
    matrix = np.array([[entries["".join(sorted((a, b)))] for b in "xyz"] for a in "xyz"])
    at_com = pin.Inertia(float(inertial.findtext("mass")), np.zeros(3), matrix)
    return placement(inertial).act(at_com)


def models(path: Path) -> list[ET.Element]:
    """The models of a file that move, in a world or alone."""
    root = ET.parse(path).getroot()
    found = [*root.findall("model"), *root.findall("world/model")]
    return [model for model in found if (model.findtext("static") or "").strip() not in {"1", "true"}]


def gravity(path: Path) -> np.ndarray:
    """The gravity of the world of a file, m/s²: 9.8 where a world does not say, as in the specification of SDF."""
    world = ET.parse(path).getroot().find("world")
    if world is None:
        return np.array([0.0, 0.0, -9.81])
    return np.array([*map(float, (world.findtext("gravity") or "0 0 -9.8").split())])


def _ends(joint: ET.Element) -> tuple[str, str]:
    return joint.findtext("parent"), joint.findtext("child")


@dataclass
class Twin:
    """Pinocchio's model beside a plant: which of its joints is which displacement."""

    plant: object
    path: Path

    def __post_init__(self) -> None:
        (self.file,) = models(self.path)
        self.links = {link.get("name"): link for link in self.file.findall("link") if link.get("name") != WORLD}
        model = placement(self.file)
        self.at = {name: model * placement(link) for name, link in self.links.items()} | {WORLD: pin.SE3.Identity()}
        self.model, self.joints = pin.Model(), []  # joints: (index, names of displacements or a body's name)
        self.bodies = {body.name: body for body in self.plant.machine.bodies}
        self.frames = {WORLD: (0, pin.SE3.Identity())}  # link → joint that moves it, and where its frame is drawn
        for name in self.links:
            body = self.bodies.get(identifier(name))
            if body is not None and body.joint.has_position:
                index = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
                self.joints.append((index, body.name))
                self._carry(name, index, self.at[name])
        cut = {connection.name for connection in self.plant.machine.connections}
        waiting = [j for j in self.file.findall("joint") if j.get("type") != "gearbox"]
        waiting = [joint for joint in waiting if identifier(joint.get("name")) not in cut]
        while waiting:  # depth first: Pinocchio's mass matrix counts on the joints of a subtree being in a row
            joint = next(j for link in reversed(self.frames) for j in waiting if link in _ends(j))
            waiting.remove(joint)
            self._hang(joint)

    def _carry(self, link: str, index: int, drawn: pin.SE3) -> None:
        self.frames[link] = (index, drawn)
        self.model.appendBodyToJoint(index, inertia(self.links[link]), drawn.actInv(self.at[link]))

    def _hang(self, joint: ET.Element) -> None:
        ends = _ends(joint)
        is_reversed = ends[1] in self.frames
        here, there = ends[::-1] if is_reversed else ends
        index, above = self.frames[here]
        pose = self.at[ends[1]] * placement(joint)
        drawn = pin.SE3(self.at[there].rotation, pose.translation)
        place = above.actInv(drawn)
        axes = [self._axis(joint, tag, pose) for tag in ("axis", "axis2") if joint.find(tag) is not None]
        axes = [drawn.rotation.T @ (-axis if is_reversed else axis) for axis in (axes[::-1] if is_reversed else axes)]
        kinds = self._models(joint, axes)
        names = self._names(joint, there, len(axes))
        for count, kind in enumerate(kinds):
            index = self.model.addJoint(index, kind, place, f"{joint.get('name')} {count}")
            self.joints.append((index, names[count]))
            place = pin.SE3.Identity()
        self._carry(there, index, drawn if kinds else above)

    def _axis(self, joint: ET.Element, tag: str, pose: pin.SE3) -> np.ndarray:
        axis = joint.find(tag)
        components = np.array([*map(float, axis.findtext("xyz").split())])
        in_model = axis.findtext("use_parent_model_frame") in {"1", "true"}
        return (placement(self.file).rotation if in_model else pose.rotation) @ components / np.linalg.norm(components)

    def _models(self, joint: ET.Element, axes: list[np.ndarray]) -> list:
        match joint.get("type"):
            case "fixed":
                return []
            case "ball":
                return [pin.JointModelSpherical()]
            case "prismatic":
                return [pin.JointModelPrismaticUnaligned(*axes)]
            case "screw":
                pitch = float(joint.findtext("screw_thread_pitch")) / (2 * np.pi)
                return [pin.JointModelHelicalUnaligned(axes[0], pitch)]
        return [pin.JointModelRevoluteUnaligned(axis) for axis in axes]

    def _names(self, joint: ET.Element, there: str, count: int) -> list[str]:
        """Displacements here of a joint of the file; the name of the body for a ball."""
        short = identifier(joint.get("name"))
        for name in (short, identifier(there)):
            body = self.bodies.get(name)
            if body is not None and not body.joint.is_rigid:
                break
        else:
            return []
        if body.joint.has_quaternion:
            return [body.name]
        if count == 2 and len(body.displacements) == 1:
            return [f"{short}.angle", f"{short}_end.angle"]
        return [displacement.name for displacement in body.displacements]

    def state(self, q: np.ndarray, v: np.ndarray):
        """q of Pinocchio, and G and drift: v_p = G v, a_p = G a + drift."""
        model, machine = self.model, self.plant.machine
        index_of, speed_of = ([c.name for c in some] for some in (machine.coordinates, machine.velocities))
        q_p, G, drift = np.zeros(model.nq), np.zeros((model.nv, len(v))), np.zeros(model.nv)
        for joint, name in self.joints:
            iq, iv = model.idx_qs[joint], model.idx_vs[joint]
            if name not in self.bodies:
                q_p[iq], G[iv, speed_of.index(name)] = q[index_of.index(name)], 1.0
                continue
            body = self.bodies[name]
            i, k, ahead = body.q_index, body.v_index, 3 if body.joint.has_position else 0
            quaternion = q[i + ahead : i + ahead + 4]
            q_p[iq : iq + ahead + 4] = [*q[i : i + ahead], *quaternion[1:], quaternion[0]]
            G[iv + ahead : iv + ahead + 3, k + ahead : k + ahead + 3] = np.eye(3)
            if ahead:
                R = rotation_of(quaternion)
                G[iv : iv + 3, k : k + 3] = R.T
                drift[iv : iv + 3] = -np.cross(v[k + 3 : k + 6], R.T @ v[k : k + 3])
        return q_p, G, drift

    def differences(self, states: int, rng: np.random.Generator) -> tuple[float, float]:
        """Largest differences of M and of the bias at random states, each of the largest entry of Pinocchio's."""
        plant, model, data = self.plant, self.model, self.model.createData()
        model.gravity.linear = gravity(self.path)
        worst = np.zeros(2)
        for _ in range(states if model.nv else 0):
            q, v = rng.uniform(-1, 1, len(plant.coordinates)), rng.uniform(-1, 1, len(plant.velocities))
            for first, _ in plant.machine.quaternions:
                q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
            q_p, G, drift = self.state(q, v)
            M = pin.crba(model, data, q_p)
            M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
            bias = G.T @ pin.rnea(model, data, q_p, G @ v, drift)
            pairs = ((plant.mass_matrix(q), M), (plant.bias(q, v), bias))
            worst = np.maximum(worst, [np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in pairs])
        return tuple(worst)
