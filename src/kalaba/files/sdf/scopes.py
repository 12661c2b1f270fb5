"""Names and poses of an SDF file: every model is a scope; a pose is relative to any named frame of its scope.

Reference: SDFormat, specification 1.12, http://sdformat.org/tutorials?tut=pose_frame_semantics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kalaba.errors import FileError, near
from kalaba.files.source import Source
from kalaba.files.xml_tree import MOST_ELEMENTS, Element, parse
from kalaba.model.names import WORLD
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, rotation_of

MODEL = "__model__"
NAMED = ("link", "joint", "frame")
BETWEEN = "::"  # of the names of nested models
LARGEST = 1e100  # of numbers, so that products of three are numbers
HERE = NumericPose(np.zeros(3), np.eye(3))
Version = tuple[int, int]
RELATIVE_TO = (1, 7)  # version from which poses are relative to named frames


@dataclass
class Scope:
    """A model, or the world, with the names in it.

    Arguments:
        element: the <model> or <world>
        name: its full name, with those of the models that it is in; "" for the world
        version: of the file that it stands in
        source: that file
        placing: what places it: its own <pose>, or that of the <include>
        is_static: whether nothing in it moves
        above: the scope that it is in; None: it is the world
    """

    element: Element
    name: str
    version: Version
    source: Source
    placing: Element
    is_static: bool = False
    above: Scope | None = None
    elements: dict[str, Element] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)
    _poses: dict[str, NumericPose | None] = field(default_factory=dict)  # None while one is worked out

    def __post_init__(self) -> None:
        for element in self.element:
            if element.tag in NAMED:
                self._add(element)
            elif element.tag == "model":
                self._nest(element, element, self.source, self.version)
            elif element.tag == "include":
                self._include(element)

    def _add(self, element: Element) -> None:
        name = element.required("name")
        if name in self.elements or name in self.models:
            raise element.error("a second element of that name in its model. Rename one of them")
        self.elements[name] = element

    def _nest(self, element: Element, placing: Element, source: Source, version: Version) -> None:
        name = text_of(placing, "name") if placing.tag == "include" else ""
        name = name or element.required("name")
        if name in self.elements or name in self.models:
            self.source.notes.add("models of the same name have numbers here", name)
            name = next(f"{name}_{i}" for i in range(2, MOST_ELEMENTS) if f"{name}_{i}" not in self.models)
        is_static = self.is_static or is_true(element, "static") or is_true(placing, "static")
        full = f"{self.name}{BETWEEN}{name}" if self.name else name
        self.models[name] = Scope(element, full, version, source, placing, is_static, self)

    def _include(self, element: Element) -> None:
        uri = text_of(element, "uri")
        if not uri:
            raise element.error("expected a <uri> in it, got none")
        names = (uri, f"{uri}/model.sdf")  # a file, or a folder that holds a model
        name = next((name for name in names if self.source.look_for(name, element.where) is not None), None)
        if name is None:
            missing = "included models that are not in the folders that were given (roots=, --root), left out"
            self.source.notes.add(missing, uri)
            return
        source = self.source.including(name, element.where)
        root = parse(source)
        models = root.all("model")
        if root.tag != "sdf" or len(models) != 1:
            raise element.error(f"expected one <model> in {name}, got {len(models)}")
        self._nest(models[0], element, source, version_of(root))

    @property
    def pose(self) -> NumericPose:
        """Where its frame is in the world, as the file draws it."""
        if self.above is None:
            return HERE
        return self.above.pose.then(self.above.pose_of(self.name.rpartition(BETWEEN)[2], self.placing))

    def pose_of(self, name: str, asking: Element) -> NumericPose:
        """Where a named frame is in this scope's frame; `asking` names it, for messages."""
        if name in {"", MODEL} or (name == WORLD and self.above is None):
            return HERE
        if name == WORLD:
            return HERE.seen_from(self.pose)
        if name not in self._poses:
            self._poses[name] = None
            self._poses[name] = self._worked_out(name, asking)
        pose = self._poses[name]
        if pose is None:
            raise asking.error(f"poses are relative to each other in a ring, through {name!r}")
        return pose

    def _worked_out(self, name: str, asking: Element) -> NumericPose:
        model, between, inner = name.partition(BETWEEN)
        if between and model in self.models:
            return self.pose_of(model, asking).then(self.models[model].pose_of(inner, asking))
        if name in self.models:
            return self._placed(self.models[name])
        if name not in self.elements:
            raise asking.error(f"no frame {name!r}; {near(name, [*self.elements, *self.models])}")
        element = self.elements[name]
        default = {"joint": text_of(element, "child"), "frame": element.get("attached_to")}.get(element.tag, "")
        return self.pose_in(element, default)

    def _placed(self, model: Scope) -> NumericPose:
        """Where a nested model is: its <pose> is that of its placement frame."""
        raw = self.pose_in(model.placing, "")
        frame = text_of(model.placing, "placement_frame") or model.element.get("placement_frame")
        if not frame:
            return raw
        at = model.pose_of(frame, model.placing)
        return raw.then(HERE.seen_from(at))

    def pose_in(self, element: Element, default: str) -> NumericPose:
        """The <pose> of an element in this scope's frame; it is relative to `default` if it does not say."""
        place = element.first("pose")
        relative = default
        if place is not None:
            key = "relative_to" if self.version >= RELATIVE_TO or "relative_to" in place.attributes else "frame"
            relative = place.get(key) or default
        return self.pose_of(relative, element).then(raw_pose(element))

    def body_of(self, name: str, asking: Element) -> str:
        """The full name of the link that a named frame is attached to; the world's name for the world."""
        seen = set()
        scope = self
        while True:
            if (id(scope), name) in seen:
                raise asking.error(f"frames are attached to each other in a ring, through {name!r}")
            seen.add((id(scope), name))
            if name == WORLD:
                return WORLD
            model, between, inner = name.partition(BETWEEN)
            if between and model in scope.models:
                scope, name = scope.models[model], inner
            elif name in scope.models or name in {"", MODEL}:
                scope = scope.models.get(name, scope)
                if scope.above is None:
                    return WORLD
                name = scope.canonical(asking)
            elif name not in scope.elements:
                raise asking.error(f"no link or frame {name!r}; {near(name, [*scope.elements, *scope.models])}")
            elif scope.elements[name].tag == "link":
                return scope.full(name)
            else:
                element = scope.elements[name]
                name = text_of(element, "child") if element.tag == "joint" else element.get("attached_to")

    def canonical(self, asking: Element) -> str:
        """The link that stands for a model: the one that it names, or its first."""
        named = self.element.get("canonical_link")
        links = [name for name, element in self.elements.items() if element.tag == "link"]
        if named or links:
            return named or links[0]
        if not self.models:
            raise asking.error(f"the model {self.name!r} has no link")
        return f"{next(iter(self.models))}{BETWEEN}{MODEL}"

    def full(self, name: str) -> str:
        """The name of an element of this scope among all of the file."""
        return f"{self.name}{BETWEEN}{name}" if self.name else name

    def all(self) -> list[Scope]:
        """This scope and those in it, outermost first."""
        return [self, *(inner for model in self.models.values() for inner in model.all())]


def raw_pose(element: Element) -> NumericPose:
    """The numbers of an element's <pose>; none: the identity."""
    place = element.first("pose")
    if place is None or not place.text:
        return HERE
    if place.get("rotation_format") == "quat_xyzw":
        x, y, z, qx, qy, qz, qw = numbers_in(place, 7)
        length = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        if not length > 0:
            raise place.error("pose: expected a quaternion, got zeros")
        return NumericPose(np.array([x, y, z]), rotation_of(np.array([qw, qx, qy, qz]) / length))
    x, y, z, *rpy = numbers_in(place, 6)
    if place.get("degrees") in {"true", "1"}:
        rpy = [math.radians(angle) for angle in rpy]
    if not any(rpy):
        return NumericPose(np.array([x, y, z]), np.eye(3))
    position, quaternion = from_pose(Pose((x, y, z), rpy=tuple(rpy)), float)
    return NumericPose(position, rotation_of(quaternion))


def text_of(element: Element, tag: str, default: str = "") -> str:
    """The text in the first child of a name."""
    child = element.first(tag)
    return default if child is None else child.text or child.get("link")


def is_true(element: Element, tag: str) -> bool:
    """Whether a child says true."""
    return text_of(element, tag).lower() in {"1", "true"}


def number_of(element: Element, tag: str, default: float) -> float:
    """The number in the first child of a name; infinite ones are numbers here."""
    child = element.first(tag)
    if child is None or not child.text:
        return default
    if child.text.lower().lstrip("+-") in {"inf", "infinity"}:
        return -math.inf if child.text.startswith("-") else math.inf
    return numbers_in(child, 1)[0]


def numbers_in(element: Element, count: int) -> tuple[float, ...]:
    """The numbers in an element's text, of a size that can be calculated with."""
    numbers = element.read_numbers(element.text, count, element.tag)
    if any(abs(number) > LARGEST for number in numbers):
        raise element.error(f"{element.tag}: expected numbers up to {LARGEST:g}, got {element.text[:60]!r}")
    return numbers


def version_of(root: Element) -> Version:
    """Version of a file as two numbers: 1.10 is after 1.9."""
    text = root.get("version", "1.6")
    numbers = text.split(".")
    if not (0 < len(numbers) <= 3 and all(part.isdecimal() and len(part) < 4 for part in numbers)):
        raise root.error(f"version: expected one such as 1.6, got {text[:20]!r}")
    return int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0


def open_file(source: Source) -> Scope:
    """The world of a file; of a file that has models alone, one around them."""
    root = parse(source)
    if root.tag != "sdf":
        raise root.error("expected an <sdf>. Is it an SDF?")
    worlds = root.all("world")
    if len(worlds) > 1:
        raise root.error(f"expected one <world>, got {len(worlds)}. Split the file")
    element = worlds[0] if worlds else root
    scope = Scope(element, "", version_of(root), source, element)
    if not scope.models:
        raise FileError(f"{root.where}: expected a <model> in it, got none.")
    return scope
