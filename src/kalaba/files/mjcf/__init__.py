"""MJCF, the format of MuJoCo: `.xml` files whose outermost element is <mujoco>."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kalaba.errors import FileError, ModelError
from kalaba.files.mjcf.bodies import Tree
from kalaba.files.mjcf.couplings import add_couplings
from kalaba.files.mjcf.document import ROOT, Document
from kalaba.files.mjcf.keyframes import take_start
from kalaba.files.mjcf.left_out import note_left_out
from kalaba.files.mjcf.machine import Assembly, gravity
from kalaba.files.mjcf.timed import with_timed_springs
from kalaba.files.mjcf.visuals import add_visuals
from kalaba.files.mjcf.writing import write
from kalaba.files.names import identifier
from kalaba.files.source import Source
from kalaba.files.xml_tree import parse
from kalaba.model.formats import Described, Format, format_of, suffixes
from kalaba.model.parts import Start
from kalaba.model.system import System

# What other files of the same suffix hold, by their outermost element.
OTHERS = {"robot": ".urdf", "sdf": ".sdf"}


def read(path: Path, roots: tuple[Path, ...] = ()) -> Described:
    """The machine that an MJCF file describes; a file of another kind with this suffix goes to its reader."""
    source = Source(path, roots)
    root = parse(source)
    suffix = OTHERS.get(root.tag, "")
    if suffix in suffixes() and suffix:
        other = format_of(path.with_suffix(suffix))
        if other.read is not None:
            return other.read(path, roots)
    if root.tag != ROOT:
        raise root.error(
            f"expected MJCF, whose outermost element is <{ROOT}>, got <{root.tag}>. Is it a part of a file?"
        )
    document = Document.of(source)
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused by the parts
            system = _system(document)
    except ModelError as error:
        raise FileError(f"{path.name}: {error}") from error
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise FileError(f"{path.name}: a number in it is too large or too small to compute with ({error}).") from error
    return Described(system, notes=source.notes.lines)


def _system(document: Document) -> System:
    assembly = Assembly(document, Tree.of(document))
    assembly.add_bodies()
    add_couplings(assembly)
    add_visuals(assembly)
    take_start(assembly)
    note_left_out(assembly)
    name = identifier(document.root.get("model") or document.source.path.stem)
    start = Start(guess=assembly.guess)
    system = System(name, assembly.parts, assembly.coordinates, gravity(document), start)
    return with_timed_springs(system, assembly) if assembly.timed else system


FORMAT = Format("MJCF", (".xml",), read, write)
