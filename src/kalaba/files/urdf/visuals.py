"""What the links of a URDF look like: <visual> elements as Visual parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from kalaba.files.pictured import colour_of, mesh_file, visual_name
from kalaba.files.source import Source
from kalaba.files.urdf.elements import origin
from kalaba.files.xml_tree import Element
from kalaba.model.appearance import BoxShape, CylinderShape, MeshShape, Shape, SphereShape, Visual


@dataclass
class Materials:
    """Colours by name, and where files are found.

    Arguments:
        root: the <robot>, whose materials all links may name
        source: the file
    """

    root: Element
    source: Source
    colours: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for element in self.root.all("material"):
            self._learn(element)
        for link in self.root.all("link"):
            for visual in link.all("visual"):
                for element in visual.all("material"):
                    self._learn(element)

    def _learn(self, element: Element) -> None:
        colour = element.first("color")
        if colour is not None and element.get("name"):
            self.colours.setdefault(element.get("name"), _rgb(colour))

    def colour(self, visual: Element) -> tuple[float, ...] | None:
        """The colour of a visual; None: none is given."""
        material = visual.first("material")
        if material is None:
            return None
        colour = material.first("color")
        if colour is not None:
            return _rgb(colour)
        if material.first("texture") is not None:
            self.source.notes.add("textures, left out", material.get("name"))
        return self.colours.get(material.get("name"))


def _rgb(colour: Element) -> tuple[float, ...]:
    numbers = colour.read_numbers(colour.get("rgba") or "1 1 1 1", None, "rgba")
    if len(numbers) not in {3, 4}:
        raise colour.error(f"rgba: expected four numbers, got {colour.get('rgba')!r}")
    return colour_of(numbers)


def visuals_of(link: Element, frame: str, materials: Materials, *, with_meshes: bool = True) -> list[Visual]:
    """The shapes of a link, on its frame here; mesh files that are not there are noted."""
    made = []
    for number, element in enumerate(link.all("visual"), start=1):
        shape = _shape(element, materials.source, with_meshes=with_meshes)
        if shape is not None:
            colour = materials.colour(element)
            made.append(Visual(visual_name(frame, number), frame, shape, origin(element), colour))
    return made


def _shape(visual: Element, source: Source, *, with_meshes: bool) -> Shape | None:
    geometry = visual.first("geometry")
    if geometry is None:
        return None
    for element in geometry:
        match element.tag:
            case "box":
                return BoxShape(element.read_numbers(element.required("size"), 3, "size"))
            case "cylinder":
                return CylinderShape(_length(element, "radius"), _length(element, "length"))
            case "sphere":
                return SphereShape(_length(element, "radius"))
            case "mesh":
                return _mesh(element, source) if with_meshes else None
        source.notes.add("shapes of other kinds, left out", f"<{element.tag}>")
    return None


def _length(element: Element, key: str) -> float:
    length = element.number(key)
    if length < 0:
        raise element.error(f"{key}: expected a length, got {length:g}")
    return length


def _mesh(element: Element, source: Source) -> MeshShape | None:
    name = element.required("filename")
    scale = element.read_numbers(element.get("scale") or "1 1 1", None, "scale")
    if len(scale) not in {1, 3}:
        source.notes.add("scales of meshes that are not three numbers, taken as 1", name)
        scale = (1.0, 1.0, 1.0)
    path = mesh_file(source, name, element.where)
    return None if path is None else MeshShape(str(path), scale if len(scale) == 3 else scale * 3)
