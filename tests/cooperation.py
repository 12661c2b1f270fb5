"""The eight machines of data/cooperation: arms that hold one object or several joined ones, and their states."""

import json
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import atan2, pi
from pathlib import Path

import numpy as np

import kalaba as kb
from kalaba.space.rotations import quaternion_of

DATA = Path(__file__).parent / "reference" / "data" / "cooperation"
NUMBERS = json.loads((DATA / "scenarios.json").read_text(encoding="utf-8"))
NAMES = tuple(NUMBERS)
JOINTS = {"R": kb.Revolute(kb.Z), "P": kb.Prismatic(kb.Z), "C": kb.Cylindrical(kb.Z)}
DISPLACEMENTS = {"R": ("angle",), "P": ("travel",), "H": ("angle",), "C": ("travel", "angle")}


@dataclass(frozen=True)
class Cooperation:
    """One machine with its reference: states and what was found there by other code."""

    name: str

    @property
    def numbers(self) -> dict:
        return NUMBERS[self.name]

    @cached_property
    def reference(self) -> dict[str, np.ndarray]:
        with np.load(DATA / f"{self.name}.npz") as file:
            return dict(file)

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(f"arm{i}" for i in range(1, 1 + len(self.numbers["bases"])))

    @property
    def grips(self) -> tuple[str, ...]:
        return tuple(f"grip{i}" for i in range(1, 1 + len(self.numbers["bases"])))

    @cached_property
    def system(self) -> kb.System:
        """Arms on their bases, body 1 free with its frame at its centre of mass, the other bodies on joints of it."""
        n = self.numbers
        arm = kb.load("puma560")
        parts = [arm.place(name, at=_base(np.array(base))) for name, base in zip(self.arms, n["bases"], strict=True)]
        parts.append(kb.Body("body1", kb.Solid(n["bodies"][0]["m"], inertia=n["bodies"][0]["I_body"])))
        for index, joint in n["joints"].items():
            parts += _jointed(f"body{int(index) + 1}", joint, n["bodies"][int(index)])
        for name, grip, body, at in zip(self.arms, self.grips, n["armbody"], n["A_T_C"], strict=True):
            seat = "body1" if body == 0 else f"body{body + 1}_centre"
            parts.append(kb.Connection(grip, f"{name}.tool", parent=seat, at=pose(np.array(at))))
        system = kb.System(self.name, tuple(parts))
        return replace(system, start=self.start(system, 0))

    def start(self, system: kb.System, index: int) -> kb.Start:
        q = dict(zip((c.name for c in system.machine.coordinates), self.q(index), strict=True))
        free = {key: value for key, value in q.items() if not key.startswith("body1.")}
        return kb.Start(guess={**free, "body1": pose(self.reference["A_C1"][index])})

    @property
    def travel(self) -> np.ndarray:
        """C with the reference's ṡ = C ṡ: a thread's rate there is its travel, here its angle."""
        rates = np.ones(6 + sum(len(DISPLACEMENTS[j["kind"]]) for j in self.numbers["joints"].values()))
        at = 6
        for joint in self.numbers["joints"].values():
            if joint["kind"] == "H":
                rates[at] = joint["pitch_h"] / (2 * pi)
            at += len(DISPLACEMENTS[joint["kind"]])
        return rates

    def q(self, index: int) -> np.ndarray:
        """The configuration of a state: arms, then body 1, then the joints."""
        found = self.reference
        A = found["A_C1"][index]
        joints = found["p"][index] / self.travel[6:]
        return np.concatenate([found["q"][index].ravel(), A[:3, 3], quaternion_of(A[:3, :3]), joints])

    def v(self, index: int) -> np.ndarray:
        """The velocity of a state; the angular velocity in body axes."""
        found, R = self.reference, self.reference["A_C1"][index][:3, :3]
        rates = found["sdot"][index] / self.travel
        return np.concatenate([found["qd"][index].ravel(), rates[:3], R.T @ rates[3:6], rates[6:]])

    def state(self, index: int) -> kb.State:
        return kb.State(self.q(index), self.v(index))


@cache
def cooperation(name: str) -> Cooperation:
    return Cooperation(name)


def pose(matrix: np.ndarray) -> kb.Pose:
    return kb.Pose(tuple(matrix[:3, 3]), quaternion=tuple(quaternion_of(matrix[:3, :3])))


def _base(matrix: np.ndarray) -> kb.Pose:
    """Every base stands upright, turned by quarters."""
    return kb.Pose(tuple(matrix[:3, 3]), rpy=(0, 0, round(atan2(matrix[1, 0], matrix[0, 0]) / (pi / 2)) * pi / 2))


def _jointed(name: str, numbers: dict, body: dict) -> list:
    """A body on body 1: seat A_f Tz(d0) Rz(th0), then the joint along z, then Tx(a) Rx(alpha) to its centre of mass."""
    c, s = np.cos(numbers["th0"]), np.sin(numbers["th0"])
    seat = np.array(numbers["A_f_C1"]) @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, numbers["d0"]], [0, 0, 0, 1]])
    c, s = np.cos(numbers["alpha"]), np.sin(numbers["alpha"])
    R, com = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), (numbers["a"], 0.0, 0.0)
    inertia = R @ np.array(body["I_body"]) @ R.T
    joint = JOINTS.get(numbers["kind"]) or kb.Screw(kb.Z, pitch=numbers["pitch_h"])
    return [
        kb.Body(name, kb.Solid(body["m"], com=com, inertia=inertia), parent="body1", at=pose(seat), joint=joint),
        kb.Frame(f"{name}_centre", parent=name, at=kb.Pose(com, rpy=(numbers["alpha"], 0, 0))),
    ]
