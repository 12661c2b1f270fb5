"""Mass and inertia of triangle meshes by MuJoCo's rules: exact, of the convex hull, its older rule, or of the surface.

Files: binary STL, OBJ and MuJoCo's own MSH; or vertices and faces in the file itself. With face centres c, normals n
and areas A, each face makes a pyramid with a point p inside, of volume V = ⅓ A n·(c − p)::

    volume = Σ V        centre = Σ V (¾ c + ¼ p) / volume        ∫ x_i x_j = Σ V/20 Σ_ab (1 + δ_ab) x_ai x_bj

with x_a the corners of the face: the centre with p the mean of the surface, then volume and moments with p the centre.
The older rule takes |V|, which is right for meshes that are seen whole from p.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kalaba.errors import FileError
from kalaba.files.mjcf.document import Document, keyword
from kalaba.files.mjcf.placing import unit
from kalaba.files.mjcf.shapes import Lump, Shape
from kalaba.files.source import MOST_BYTES
from kalaba.files.xml_tree import Element
from kalaba.space.arrays import Array
from kalaba.space.rotations import rotation_of
from kalaba.tolerances import FLAT_MESH

RULES = ("legacy", "exact", "convex", "shell")
STL_HEAD = 84  # bytes before the triangles: a comment of 80 and their number
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MSH_HEAD = 16  # bytes: four integers, the numbers of vertices, normals, texture coordinates and faces


@dataclass
class Meshes:
    """The meshes of a file by name, read when their inertia is needed."""

    document: Document

    def __post_init__(self) -> None:
        resolved = [self.document.defaults.resolved(m, "") for m in self.document.section("asset") if m.tag == "mesh"]
        self.elements = {m.get("name") or Path(m.get("file")).stem: m for m in resolved}
        self.known: dict[tuple[str, bool], Lump] = {}

    def lump(self, shape: Shape) -> Lump:
        """Mass and inertia of a mesh on its body."""
        name = shape.element.required("mesh")
        if name not in self.elements:
            raise shape.element.error(f"no mesh {name!r} among the assets")
        key = (name, shape.is_shell)
        if key not in self.known:
            self.known[key] = _unit_density(self.elements[name], self._triangles(self.elements[name]), shape)
        solid = self.known[key]
        return solid.scaled(shape.mass(solid.mass) / solid.mass).moved(shape.pose)

    def _triangles(self, element: Element) -> tuple[Array, Array]:
        """Vertices (n, 3) and faces (m, 3), scaled and in the frame of the geom."""
        scale = np.array(element.numbers("scale", 3, (1.0, 1.0, 1.0)))
        vertices, faces = self._raw(element)
        turned = rotation_of(unit(element, np.array(element.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0))), "refquat"))
        moved = (vertices - np.array(element.numbers("refpos", 3, (0.0, 0.0, 0.0)))) @ turned
        if np.prod(scale) < 0:
            faces = faces[:, [0, 2, 1]]
        return moved * scale, faces

    def _raw(self, element: Element) -> tuple[Array, Array]:
        if "vertex" in element.attributes:
            numbers = element.read_numbers(element.get("vertex"), None, "vertex")
            if len(numbers) % 3 or len(numbers) < 12:
                raise element.error(f"vertex: expected at least four points of three numbers, got {len(numbers)}")
            vertices = np.array(numbers).reshape(-1, 3)
            if "face" not in element.attributes:
                return vertices, hull(element, vertices)
            written = element.read_numbers(element.get("face"), None, "face")
            return vertices, _faces(element, np.array(written), len(vertices))
        if "file" not in element.attributes:
            raise element.error("expected a mesh with file= or vertex=; builtin meshes have no inertia here")
        return self._from_file(element, element.required("file"))

    def path(self, name: str) -> str:
        """Where the file of a mesh is, relative to the main file."""
        compiler = self.document.compiler
        short = re.split(r"[\\/]", name)[-1] if compiler.strips_path else name
        return f"{compiler.mesh_folder.rstrip('/')}/{short}" if compiler.mesh_folder else short

    def _from_file(self, element: Element, name: str) -> tuple[Array, Array]:
        path = self.document.source.find(self.path(name), element.where)
        readers = {".stl": _stl, ".obj": _obj, ".msh": _msh}
        if path.suffix.lower() not in readers:
            raise element.error(f"expected a mesh that ends in {', '.join(readers)}, got {name!r}")
        if path.stat().st_size > MOST_BYTES:
            raise element.error(f"{name}: expected a mesh of at most {MOST_BYTES / 1e6:.0f} MB")
        try:
            vertices, faces = readers[path.suffix.lower()](path.read_bytes())
        except (ValueError, IndexError, OSError) as error:
            raise element.error(f"{name}: cannot be read as a {path.suffix} mesh ({error})") from error
        return vertices, _faces(element, faces, len(vertices)) if faces.size else hull(element, vertices)


def _faces(element: Element, numbers: Array, count: int) -> Array:
    if numbers.size % 3 or not numbers.size or numbers.min() < 0 or numbers.max() >= count:
        raise element.error(f"expected faces of three numbers below {count}, the number of vertices")
    return numbers.astype(int).reshape(-1, 3)


def _stl(content: bytes) -> tuple[Array, Array]:
    count = int.from_bytes(content[80:STL_HEAD], "little")
    if len(content) < STL_HEAD + count * STL_TRIANGLE.itemsize:
        raise ValueError("expected binary STL")
    corners = np.frombuffer(content, STL_TRIANGLE, count, STL_HEAD)["corners"].astype(float).reshape(-1, 3)
    return corners, np.asarray(np.arange(3.0 * count)).reshape(-1, 3)


def _msh(content: bytes) -> tuple[Array, Array]:
    vertices, normals, texture, faces = np.frombuffer(content, "<i4", 4)
    start = MSH_HEAD + 4 * int(3 * vertices + 3 * normals + 2 * texture)
    if min(vertices, normals, texture, faces) < 0 or len(content) < start + 12 * int(faces):
        raise ValueError("expected counts that fit the file")
    points = np.frombuffer(content, "<f4", 3 * int(vertices), MSH_HEAD).astype(float).reshape(-1, 3)
    return points, np.frombuffer(content, "<i4", 3 * int(faces), start)


def _obj(content: bytes) -> tuple[Array, Array]:
    """Vertices and faces; faces of more than three corners are cut into a fan."""
    vertices, faces = [], []
    for line in content.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            vertices.append([float(np.float32(number)) for number in rest[:3]])
        elif word == "f":
            corners = [int(corner.split("/")[0]) for corner in rest]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            faces += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    points = np.array(vertices, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError("expected vertices of three numbers")
    return points, np.array(faces, dtype=int)


def hull(element: Element, vertices: Array) -> Array:
    """Faces of the convex hull, turned outwards."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and rarely needed

    try:
        built = ConvexHull(vertices)
    except QhullError as error:
        raise element.error("expected vertices that span a solid, got a flat mesh") from error
    faces = built.simplices.copy()
    normals = _normals(vertices, faces)[0]
    inwards = (normals * built.equations[:, :3]).sum(1) < 0
    faces[inwards] = faces[inwards][:, [0, 2, 1]]
    return np.asarray(faces)


def _normals(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Unit normals and areas of faces; those of no area have the normal 0."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    crossed = np.cross(b - a, c - a)
    lengths = np.linalg.norm(crossed, axis=1)
    return crossed / np.where(lengths > 0, lengths, 1.0)[:, None], lengths / 2


def _unit_density(element: Element, triangles: tuple[Array, Array], shape: Shape) -> Lump:
    """Mass properties at density 1."""
    vertices, faces = triangles
    rule = keyword(element, "inertia", RULES, "legacy")
    if shape.is_shell or rule == "shell":
        return _surface(element, vertices, faces)
    if rule == "convex":
        faces = hull(element, vertices)
    normals, areas = _normals(vertices, faces)
    centres = vertices[faces].mean(1)
    if not areas.sum() > 0:
        raise element.error("expected a mesh with an area, got none")
    middle = (areas[:, None] * centres).sum(0) / areas.sum()
    absolute = np.abs if rule == "legacy" else np.asarray
    volumes = absolute(areas * (normals * (centres - middle)).sum(1) / 3)
    volume = float(volumes.sum())
    if not volume > FLAT_MESH:
        raise element.error(f'expected a mesh with a volume, got {volume:g} m³. Use inertia="shell", or turn its faces')
    centre = (volumes[:, None] * (0.75 * centres + 0.25 * middle)).sum(0) / volume
    corners = vertices[faces] - centre
    volumes = absolute(areas * (normals * (centres - centre)).sum(1) / 3)  # seen from the centre: what MuJoCo weighs
    return Lump(float(volumes.sum()), centre, _from_products(_products(corners, volumes / 20)))


def _surface(element: Element, vertices: Array, faces: Array) -> Lump:
    """A thin shell: mass in proportion to area, ∫ x_i x_j = A/12 Σ_ab (1 + δ_ab) x_ai x_bj."""
    _, areas = _normals(vertices, faces)
    area = float(areas.sum())
    if not area > 0:
        raise element.error("expected a mesh with an area, got none")
    centre = (areas[:, None] * vertices[faces].mean(1)).sum(0) / area
    return Lump(area, centre, _from_products(_products(vertices[faces] - centre, areas / 12)))


def _products(corners: Array, weights: Array) -> Array:
    """Σ_faces w (Σ_a x_a x_aᵀ + s sᵀ), s = Σ_a x_a: the sum over a, b with 1 + δ_ab."""
    sums = corners.sum(1)
    total = np.einsum("f,fai,faj->ij", weights, corners, corners) + np.einsum("f,fi,fj->ij", weights, sums, sums)
    return np.asarray(total)


def _from_products(products: Array) -> Array:
    return np.asarray(np.trace(products) * np.eye(3) - products)


def refuse_fitted(shape: Shape) -> None:
    """A primitive that is fitted to a mesh has sizes that only MuJoCo knows."""
    if "mesh" in shape.element.attributes:
        raise FileError(
            f"{shape.element.where}: a {shape.kind} fitted to a mesh is not read. Give its size=, or an <inertial> of "
            "its body."
        )
