"""The formulas of a published derivation, 6PUS-UPU by Kane's method, written out by hand and mended as the errata say.

Beside them the same machine in kalaba, cut at the balls and at the fork, at the same states, which are those of the
independent reference (`tests/reference/data/pus-upu`).
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import kalaba as kb
from kalaba.robots import pus_upu
from kalaba.space.configuration import displaced
from kalaba.space.rotations import quaternion_of

DATA = Path(__file__).parent / "reference" / "data" / "pus-upu"
STATES = dict(np.load(DATA / "states.npz"))
CIRCLE = dict(np.load(DATA / "circle_run.npz"))
PLANT = kb.build(kb.load("pus-upu"))
GRAVITY = np.array([0.0, 0.0, pus_upu.GRAVITY])
LEGS = range(1, 7)
CENTRE = pus_upu.LINK / 2  # m, of the middle leg's halves, from their universal joint


@dataclass(frozen=True)
class Geometry:
    """Lengths (m) and half angles (degrees) that the paper does not print; the catalogue's by default."""

    base_radius: float = pus_upu.BASE_RADIUS
    platform_radius: float = pus_upu.PLATFORM_RADIUS
    rod: float = pus_upu.ROD_LENGTH
    base_spread: float = pus_upu.BASE_SPREAD
    platform_spread: float = pus_upu.PLATFORM_SPREAD
    hub: float = pus_upu.HUB


FITTED = Geometry()


@dataclass(frozen=True)
class Platform:
    """Pose, twist and its rate, frame 0."""

    p: np.ndarray
    R: np.ndarray
    v: np.ndarray
    w: np.ndarray
    a: np.ndarray
    e: np.ndarray

    def carried(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(9), (19): velocity and acceleration of a point of the platform at r from its centre."""
        return self.v + np.cross(self.w, r), self.a + np.cross(self.e, r) + np.cross(self.w, np.cross(self.w, r))


def partial_of(r: np.ndarray) -> np.ndarray:
    """v* = [1, −r×] of a point of the platform, (3, 6)."""
    return np.hstack([np.eye(3), -np.cross(r, np.eye(3), axisb=0, axisc=0)])


def crossed(n: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.cross(n, columns, axisb=0, axisc=0)


@dataclass(frozen=True)
class Body:
    """What Kane's equations need of a body: mass, inertia in frame 0, motion of its centre, partial velocities."""

    mass: float
    inertia: np.ndarray
    a: np.ndarray
    w: np.ndarray
    e: np.ndarray
    v_star: np.ndarray
    w_star: np.ndarray

    def inertia_force(self) -> np.ndarray:
        """A body's part of (39)."""
        turning = self.inertia @ self.e + np.cross(self.w, self.inertia @ self.w)
        return -self.v_star.T @ (self.mass * self.a) - self.w_star.T @ turning

    def weight(self) -> np.ndarray:
        """A body's part of (41)."""
        return self.v_star.T @ (self.mass * GRAVITY)


def thin(mass: float, length: float, n: np.ndarray) -> np.ndarray:
    return mass * length**2 / 12 * (np.eye(3) - np.outer(n, n))


class Leg:
    """(4)-(12), (19)-(22), (30)-(32) of a driven leg."""

    def __init__(self, at: Platform, number: int, sizes: Geometry) -> None:
        spreads = (sizes.base_spread, sizes.platform_spread)
        (ca, sa), (cb, sb) = (pus_upu._directions(spread)[number - 1] for spread in spreads)
        l = self.l = sizes.rod  # noqa: E741  (of the formula)
        r = self.r = at.R @ (sizes.platform_radius * np.array([cb, sb, 0.0]))
        self.B = at.p + r
        ax, ay = sizes.base_radius * ca, sizes.base_radius * sa
        self.z = self.B[2] - np.sqrt(l**2 - (self.B[0] - ax) ** 2 - (self.B[1] - ay) ** 2)  # (5)
        self.L = self.B - (ax, ay, self.z)  # (4)
        n = self.n = self.L / l
        self.v_b, self.a_b = at.carried(r)
        v_b_star = partial_of(r)
        self.J_A = n @ v_b_star / n[2]  # (6)
        self.v_A_star = np.vstack([np.zeros((2, 6)), self.J_A])  # (30)
        self.v_A = self.v_A_star @ np.concatenate([at.v, at.w])  # (7)
        self.w = np.cross(n, self.v_b - self.v_A) / l  # (11)
        self.v = self.v_A + np.cross(self.w, n * l / 2)  # (12)
        self.a_A = np.array([0, 0, (n @ self.a_b + l * self.w @ self.w) / n[2]])
        self.e = np.cross(n, self.a_b - self.a_A) / l  # (21)
        half = n * l / 2
        self.a = self.a_A + np.cross(self.e, half) + np.cross(self.w, np.cross(self.w, half))  # (22)
        self.w_star = crossed(n, v_b_star - self.v_A_star) / l  # (31)
        self.v_star = self.v_A_star - crossed(half, self.w_star)  # (32)

    def bodies(self) -> tuple[Body, Body]:
        none = np.zeros(3)
        slider = Body(pus_upu.SLIDER, np.zeros((3, 3)), self.a_A, none, none, self.v_A_star, np.zeros((3, 6)))
        inertia = thin(pus_upu.ROD, self.l, self.n)
        return slider, Body(pus_upu.ROD, inertia, self.a, self.w, self.e, self.v_star, self.w_star)


class Middle:
    """(13)-(18), (23)-(27), (33)-(36) of the middle leg, and the load along which it takes the yaw."""

    def __init__(self, at: Platform, sizes: Geometry) -> None:
        r = at.R @ np.array([0, 0, sizes.hub])
        self.v_pu, self.a_pu = at.carried(r)
        star = partial_of(r)
        L = at.p + r
        l = self.l = float(np.linalg.norm(L))  # noqa: E741  (of the formula)
        s = self.s = L / l
        self.rate = s @ self.v_pu
        w = self.w = np.cross(s, self.v_pu) / l  # (15)
        self.v_mu = np.cross(w, s) * CENTRE  # (16)
        self.v_md = self.rate * s + np.cross(w, s) * (l - CENTRE)  # (17)
        self.e = (np.cross(s, self.a_pu) - 2 * w * self.rate) / l  # (25)
        turned = np.cross(self.e, s) + np.cross(w, np.cross(w, s))
        self.a_mu = turned * CENTRE  # (26)
        second = s @ self.a_pu + l * w @ w
        self.a_md = turned * (l - CENTRE) + second * s + 2 * np.cross(w, self.rate * s)  # (27)
        self.w_star = crossed(s, star) / l  # (33)
        self.v_mu_star = -crossed(s * CENTRE, self.w_star)  # (34)
        self.along = s @ star  # (36)
        self.v_md_star = np.outer(s, self.along) - crossed(s * (l - CENTRE), self.w_star)  # (35), mended
        u1, u4 = np.array([1.0, 0, 0]), at.R[:, 0]
        u2 = np.cross(s, u1) / np.linalg.norm(np.cross(s, u1))
        s_star = -crossed(s, self.w_star)
        u2_star = (np.eye(3) - np.outer(u2, u2)) @ (-crossed(u1, s_star)) / np.linalg.norm(np.cross(s, u1))
        self.column = u4 @ u2_star + np.cross(u4, u2) @ np.hstack([np.zeros((3, 3)), np.eye(3)])  # of G

    def bodies(self) -> tuple[Body, Body]:
        up, down = (thin(mass, pus_upu.LINK, self.s) for mass in (pus_upu.UPPER, pus_upu.LOWER))
        return (
            Body(pus_upu.UPPER, up, self.a_mu, self.w, self.e, self.v_mu_star, self.w_star),
            Body(pus_upu.LOWER, down, self.a_md, self.w, self.e, self.v_md_star, self.w_star),
        )


class ByHand:
    """(37)-(43) at a state."""

    def __init__(self, at: Platform, sizes: Geometry = FITTED) -> None:
        self.at, self.legs, self.middle = at, [Leg(at, i, sizes) for i in LEGS], Middle(at, sizes)
        radius, thick = sizes.platform_radius + 0.05, 0.04
        across = pus_upu.PLATFORM * (3 * radius**2 + thick**2) / 12
        own = at.R @ np.diag([across, across, pus_upu.PLATFORM * radius**2 / 2]) @ at.R.T
        whole, turning = (
            np.hstack([np.eye(3), np.zeros((3, 3))]),
            np.hstack([np.zeros((3, 3)), np.eye(3)]),
        )  # (28), (29)
        platform = Body(pus_upu.PLATFORM, own, at.a, at.w, at.e, whole, turning)
        self.bodies = [platform, *self.middle.bodies(), *(body for leg in self.legs for body in leg.bodies())]
        self.G = np.column_stack([*(leg.J_A for leg in self.legs), self.middle.column])  # (43)
        self.rhs = -sum(body.weight() + body.inertia_force() for body in self.bodies)  # (42)

    def rhs_with_printed_weights(self) -> np.ndarray:
        """(38), (41) as printed: the weight of a rod along v_A*."""
        rods = pus_upu.ROD * GRAVITY
        return self.rhs + sum((leg.v_star - leg.v_A_star).T @ rods for leg in self.legs)


def given(k: int) -> Platform:
    return Platform(*(STATES[name][k] for name in ("p", "R", "v", "w", "a", "e")))


class CutTree:
    """q, v, v̇ of the whole machine while the platform has a twist and its rate; v = T V without the row of the yaw."""

    def __init__(self, k: int) -> None:
        at = given(k)
        quaternion = tuple(quaternion_of(at.R).tolist())
        self.q = kb.kinematics.motors_at(PLANT, "platform", kb.Pose(tuple(at.p), quaternion=quaternion)).q
        twist, rate = np.concatenate([at.v, at.w]), np.concatenate([at.a, at.e])
        A, _ = PLANT.constraint(self.q, np.zeros(27))
        kept = np.array([row != "fork.cross" for row in PLANT.constraints])
        square = np.vstack([A[kept], PLANT.jacobian("platform", self.q)])
        self.T = np.linalg.solve(square, np.vstack([np.zeros((21, 6)), np.eye(6)]))
        self.v = self.T @ twist
        _, b = PLANT.constraint(self.q, self.v)
        self.v_dot = np.linalg.solve(square, np.concatenate([b[kept], rate]))
        self.G = self.T.T @ np.column_stack([PLANT.actuation_map(self.q), A[~kept].T])
        self.rhs = self.T.T @ (PLANT.mass_matrix(self.q) @ self.v_dot + PLANT.bias(self.q, self.v))

    def velocity(self, frame: str) -> np.ndarray:
        return PLANT.velocity(frame, self.q, self.v)

    def partial(self, frame: str) -> np.ndarray:
        return PLANT.jacobian(frame, self.q) @ self.T

    def acceleration(self, frame: str) -> np.ndarray:
        h = 1e-5
        J, ahead, behind = (PLANT.jacobian(frame, displaced(PLANT.machine, self.q, s * self.v)) for s in (0.0, h, -h))
        return J @ self.v_dot + (ahead - behind) @ self.v / (2 * h)


@cache
def pair(k: int) -> tuple[ByHand, CutTree]:
    return ByHand(given(k)), CutTree(k)


def centre(values: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Of the middle between two points of a body: velocities, partial velocities and accelerations are linear."""
    return (values[0] + values[1])[:3] / 2


def across(n: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Without the turn about n, of which the paper's formulas do not speak."""
    return w - np.tensordot(n, n @ w, axes=0)
