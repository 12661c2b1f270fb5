"""Joints: one file per kind, with everything that is special about it. A new kind is a file and its lines here.

`Joint` says what a kind is made of; the other names are what its formulas are written with.
"""

from kalaba.joints.backwards import Backwards
from kalaba.joints.cylindrical import Cylindrical
from kalaba.joints.distance import Distance
from kalaba.joints.formulas import Gap, InWorld, JointMotion, Labels, Velocity, off_labels, tilt_labels
from kalaba.joints.free import Free
from kalaba.joints.joint import Joint, direction, kinds
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.joints.planar import Planar
from kalaba.joints.point_on_line import PointOnLine
from kalaba.joints.prismatic import Prismatic
from kalaba.joints.revolute import Revolute
from kalaba.joints.screw import Screw
from kalaba.joints.spherical import Spherical
from kalaba.joints.universal import Universal
from kalaba.joints.weld import Weld

__all__ = [
    "Backwards",
    "Cylindrical",
    "Distance",
    "Free",
    "Gap",
    "Glyph",
    "InWorld",
    "Joint",
    "JointMotion",
    "Labels",
    "Marker",
    "Planar",
    "PointOnLine",
    "Prismatic",
    "Revolute",
    "Screw",
    "Shape",
    "Spherical",
    "Universal",
    "Velocity",
    "Weld",
    "direction",
    "kinds",
    "off_labels",
    "tilt_labels",
]
