"""Rotations and 3-vectors as small CasADi matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.space.pose import X, Y, Z
from kalaba.tolerances import QUARTER_TURN

if TYPE_CHECKING:
    from kalaba.space.pose import Axis

QUARTER = math.pi / 2


def column(entries: Any) -> ca.SX:
    """Three numbers as a column."""
    return ca.vertcat(*(ca.SX(entry) for entry in entries))


def vector(axis: Axis) -> ca.SX:
    """A direction as a column."""
    return ca.SX(ca.DM(axis.components))


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """Give the vector product a × b."""
    return ca.cross(a, b)


def skew(a: ca.SX) -> ca.SX:
    """The matrix of a ×."""
    return ca.skew(a)


def vee(S: ca.SX) -> ca.SX:  # the matrix of the formula
    """The vector whose skew matrix is the antisymmetric part of S: ½ vee(S − Sᵀ)."""
    return ca.vertcat(S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]) / 2


def spin(R: ca.SX, R_dot: ca.SX) -> ca.SX:  # the rotation of the formula
    """Angular velocity of a rotation and its rate, in the axes that R leads to: ω = ½ Σ r_k × ṙ_k over columns r_k."""
    return sum((cross(R[:, k], R_dot[:, k]) for k in range(3)), ca.SX.zeros(3)) / 2


def sine_cosine(angle: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine, exact for constants of whole quarter turns."""
    angle = ca.SX(angle)
    if angle.is_constant():
        value = float(angle)
        turns = round(value / QUARTER)
        if abs(value - turns * QUARTER) <= QUARTER_TURN * max(1.0, abs(value)):
            return ca.SX((0, 1, 0, -1)[turns % 4]), ca.SX((1, 0, -1, 0)[turns % 4])
    return ca.sin(angle), ca.cos(angle)


def about(axis: Axis, angle: Any) -> ca.SX:
    """Rotation about a unit axis: R = c 1 + (1 − c) a aᵀ + s [a×], written out for coordinate axes."""
    s, c = sine_cosine(angle)
    a = vector(axis)
    if axis.letter:
        i = "xyz".index(axis.letter)
        j, k = (i + 1) % 3, (i + 2) % 3
        s = s * a[i]
        R = ca.SX.eye(3)
        R[j, j], R[k, k], R[j, k], R[k, j] = c, c, -s, s
        return ca.densify(R)
    return ca.densify(c * ca.SX.eye(3) + (1 - c) * ca.mtimes(a, a.T) + s * skew(a))


def from_rpy(roll: Any, pitch: Any, yaw: Any) -> ca.SX:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return ca.mtimes(about(Z, yaw), ca.mtimes(about(Y, pitch), about(X, roll)))


def from_quaternion(quaternion: Any) -> ca.SX:
    """Rotation of a unit quaternion (w, x, y, z), polynomial in its entries."""
    w, x, y, z = quaternion
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def solve(matrix: ca.SX, rhs: ca.SX) -> ca.SX:
    """X with A X = B, free of the units of rows and columns.

    CasADi's QR of expressions is Gram and Schmidt's, which loses the square of the condition: metres beside radians
    are 10¹² at a micrometre. So rows are divided by their lengths first, then columns by theirs.
    """
    rows = ca.vertcat(*(ca.norm_2(matrix[i, :]) for i in range(matrix.shape[0])))
    even = matrix / ca.repmat(rows, 1, matrix.shape[1])
    columns = ca.vertcat(*(ca.norm_2(even[:, j]) for j in range(even.shape[1])))
    scaled = ca.solve(even / ca.repmat(columns.T, even.shape[0], 1), rhs / ca.repmat(rows, 1, rhs.shape[1]))
    return scaled / ca.repmat(columns, 1, rhs.shape[1])
