"""What an MJCF file says and a System does not hold: each thing once, with the names where it stands."""

from __future__ import annotations

from kalaba.files.mjcf.document import EQUALITY
from kalaba.files.mjcf.machine import Assembly
from kalaba.files.xml_tree import Element

# Sections of a file → what is said of them.
SECTIONS = {
    "contact": "pairs of contact and exclusions are left out",
    "deformable": "deformable bodies are left out",
    "sensor": "sensors are left out",
    "extension": "plugins are left out",
    "custom": "numbers, texts and tuples of the user (custom) are left out",
}
MOVED_NOTHING = ("visual", "statistic", "size")
KNOWN = {
    *("compiler", "option", "default", "asset", "worldbody", "tendon", "equality", "actuator", "keyframe"),
    *SECTIONS,
    *MOVED_NOTHING,
}
FLUID = ("density", "viscosity")


def note_left_out(assembly: Assembly) -> None:
    """Note contacts, sections and options that a System does not hold."""
    document, notes = assembly.document, assembly.notes
    for section in document.root:
        if section.tag not in KNOWN:
            notes.add("sections that MJCF does not have are ignored", f"<{section.tag}>")
        for child in section if section.tag in SECTIONS else ():
            notes.add(SECTIONS[section.tag], child.get("name") or child.tag)
    for link in assembly.tree.links[1:]:
        if any(_touches(shape.element) for shape in link.shapes):
            notes.add("shapes do not collide", link.name)
    options = document.options("option")
    for key in FLUID:
        if options.get(key, "0").strip() not in {"", "0", "0.0"}:
            notes.add("forces of the air or water around it (density, viscosity, wind) are left out", key)
    if not document.is_on(EQUALITY) and document.section(EQUALITY):
        notes.add("equalities are left out, as the file disables them")


def _touches(element: Element) -> bool:
    return bool(element.number("contype", 1.0) or element.number("conaffinity", 1.0))
