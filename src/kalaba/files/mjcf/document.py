"""An MJCF file as one tree: included files in their places, settings of the compiler, classes of defaults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from kalaba.errors import near
from kalaba.files.source import Source
from kalaba.files.xml_tree import DEEPEST, MOST_ELEMENTS, Element, parse

ROOT = "mujoco"
MAIN = "main"
ACTUATOR = "actuator"
EQUALITY = "equality"
TENDON = "tendon"
ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper"),
    *("cylinder", "muscle", "adhesion", "dcmotor", "plugin"),
)
EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexstrain")
# Kinds whose elements share one set of defaults, under whatever names they stand in a class.
_SHARED_DEFAULTS = dict.fromkeys(ACTUATORS, ACTUATOR)


@dataclass
class Expansion:
    """Puts included files in the place of their <include>; each file once, as MuJoCo has it."""

    main: Source
    count: int = 0
    included: set[Path] = field(default_factory=set)

    def tree(self) -> Element:
        """The whole file."""
        root = parse(self.main)
        return self._expanded(root, self.main, 0)

    def _expanded(self, element: Element, source: Source, depth: int) -> Element:
        self.count += 1
        if self.count > MOST_ELEMENTS or depth > DEEPEST:
            raise element.error(f"expected at most {MOST_ELEMENTS} elements, {DEEPEST} deep, with all that is included")
        children: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                children += self._included(child, source, depth)
            else:
                children.append(self._expanded(child, source, depth + 1))
        return replace(element, children=children)

    def _included(self, include: Element, source: Source, depth: int) -> Iterable[Element]:
        # Names are relative to the main file, as in MuJoCo; its folder stands among the roots of what it includes.
        name = include.required("file")
        inner = replace(source, roots=(self.main.folder, *self.main.roots)).including(name, include.where)
        if inner.path.resolve() in self.included:
            raise include.error(f"expected each file to be included once, got {name!r} again")
        self.included.add(inner.path.resolve())
        return self._expanded(parse(inner), inner, depth).children


@dataclass(frozen=True)
class Compiler:
    """Settings of <compiler> that shape the machine. Angles of a file are in degrees unless it says otherwise.

    Arguments:
        degree: rad per unit of angle in the file
        euler_sequence: axes of `euler=`, lower case turning with the body, upper case fixed
        has_automatic_limits: whether a `range=` alone limits
        least_mass: kg; lighter moving bodies have this
        least_inertia: kg·m²; principal moments below it have this
        total_mass: kg, to which all masses and inertias are scaled; None: they stay
        is_balanced: whether moments that break the triangle inequality are replaced by their mean
        inertia_from_shapes: "true", "false" or "auto": where there is no <inertial>
        inertia_groups: lowest and highest group of geoms that have mass
        mesh_folder: where meshes are, relative to the file
        strips_path: whether the folders in names of meshes are ignored
        aligns_free: whether frames of free bodies are moved to their centres of mass
    """

    degree: float = 0.017453292519943295
    euler_sequence: str = "xyz"
    has_automatic_limits: bool = True
    least_mass: float = 0.0
    least_inertia: float = 0.0
    total_mass: float | None = None
    is_balanced: bool = False
    inertia_from_shapes: str = "auto"
    inertia_groups: tuple[float, ...] = (0.0, 5.0)
    mesh_folder: str = ""
    strips_path: bool = False
    aligns_free: bool = False

    def updated(self, element: Element) -> Compiler:
        """With what one <compiler> says."""
        if element.get("coordinate", "local") != "local":
            raise element.error(
                'expected coordinate="local", got "global", which MuJoCo has given up. Save the file with MuJoCo 2.3.3'
            )
        is_radian = keyword(element, "angle", ("degree", "radian"), "degree" if self.degree != 1.0 else "radian")
        sequence = element.get("eulerseq", self.euler_sequence)
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            raise element.error(f"eulerseq: expected three of x, y, z, X, Y, Z, got {sequence!r}")
        total = element.number("settotalmass", -1.0 if self.total_mass is None else self.total_mass)
        return Compiler(
            degree=1.0 if is_radian == "radian" else Compiler.degree,
            euler_sequence=sequence,
            has_automatic_limits=flag(element, "autolimits", default=self.has_automatic_limits),
            least_mass=element.number("boundmass", self.least_mass),
            least_inertia=element.number("boundinertia", self.least_inertia),
            total_mass=total if total > 0 else None,
            is_balanced=flag(element, "balanceinertia", default=self.is_balanced),
            inertia_from_shapes=keyword(
                element, "inertiafromgeom", ("true", "false", "auto"), self.inertia_from_shapes
            ),
            inertia_groups=element.numbers("inertiagrouprange", 2, self.inertia_groups),
            mesh_folder=element.get("meshdir", element.get("assetdir", self.mesh_folder)),
            strips_path=flag(element, "strippath", default=self.strips_path),
            aligns_free=flag(element, "alignfree", default=self.aligns_free),
        )


def keyword(element: Element, key: str, known: tuple[str, ...], default: str) -> str:
    """An attribute that is one of a few words."""
    word = element.get(key, default)
    if word not in known:
        raise element.error(f"{key}: expected one of {', '.join(known)}, got {word!r}")
    return word


def flag(element: Element, key: str, *, default: bool) -> bool:
    """An attribute that is true or false."""
    return keyword(element, key, ("true", "false"), "true" if default else "false") == "true"


@dataclass
class Defaults:
    """Classes of defaults: class → kind of element → attributes. A class begins as a copy of the one around it."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {MAIN: {}})

    def read(self, element: Element) -> None:
        """Take in a <default> of the top level."""
        self._read(element, element.get("class", MAIN) or MAIN, None)

    def _read(self, element: Element, name: str, around: str | None) -> None:
        if name not in self.classes:
            copied = self.classes[MAIN if around is None else around]
            self.classes[name] = {kind: dict(attributes) for kind, attributes in copied.items()}
        for child in element:
            if child.tag != "default":
                kind = _SHARED_DEFAULTS.get(child.tag, child.tag)
                self.classes[name].setdefault(kind, {}).update(child.attributes)
        for child in element.all("default"):
            self._read(child, child.required("class"), name)

    def resolved(self, element: Element, around: str, kind: str = "") -> Element:
        """The element with the attributes that its class gives where it has none of its own.

        Arguments:
            element: as it stands in the file
            around: class that the bodies around it give (childclass), or ""
            kind: name under which its defaults stand; its tag if not given
        """
        name = element.get("class") or around or MAIN
        if name not in self.classes:
            raise element.error(f"no class of defaults {name!r}; {near(name, self.classes).rstrip('.')}")
        return replace(element, attributes={**self.classes[name].get(kind or element.tag, {}), **element.attributes})


@dataclass(frozen=True)
class Document:
    """A file, ready to be read section by section.

    Arguments:
        root: <mujoco>, with all included files
        source: the file
        compiler: settings
        defaults: classes of defaults
    """

    root: Element
    source: Source
    compiler: Compiler
    defaults: Defaults

    @staticmethod
    def of(source: Source) -> Document:
        """Read a file and those that it includes."""
        root = Expansion(source).tree()
        compiler, defaults = Compiler(), Defaults()
        for section in root.all("compiler"):
            compiler = compiler.updated(section)
        for section in root.all("default"):
            defaults.read(section)
        return Document(root, source, compiler, defaults)

    def section(self, name: str) -> list[Element]:
        """Elements of a section, which may stand in several pieces."""
        return [child for section in self.root.all(name) for child in section]

    def options(self, name: str) -> dict[str, str]:
        """Attributes of <option>, or of a part of it such as <flag>; later pieces count."""
        merged: dict[str, str] = {}
        for option in self.root.all("option"):
            for element in [option] if name == "option" else option.all(name):
                merged |= element.attributes
        return merged

    def is_on(self, name: str) -> bool:
        """Whether a flag of <option><flag> is on, as it is unless the file disables it."""
        return self.options("flag").get(name, "enable") != "disable"
