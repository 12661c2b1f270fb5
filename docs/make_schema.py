"""Write the JSON schema of kalaba's files and the page with all their keys: python docs/make_schema.py."""  # noqa: INP001

import json
from pathlib import Path

from kalaba.files.yaml.json_schema import KEYS, json_schema

HERE = Path(__file__).parent
SCHEMA = HERE / "kalaba-1.schema.json"
KEYS_PAGE = HERE / "reference-files.md"
HEAD = """# Keys of files

Every key of [kalaba YAML](how-to-files.md), written by `docs/make_schema.py` from the classes that the files describe.
Editors that know JSON schemas take [kalaba-1.schema.json](kalaba-1.schema.json).

A value of a kind is its word (`weld`), its word with the first of its keys (`{revolute: -y}`), or its word with keys by
name. Keys with a star must be there.
"""
GROUPS = {
    "Solids of bodies": ("Body", ("Solid", "Rod", "Box", "Cylinder", "Beam")),
    "Joints": ("AnyJointEntry", ()),
    "Sections of beams": ("AnySectionEntry", ()),
    "Shapes of beams": ("AnySetOfShapesEntry", ()),
    "Shapes for pictures": ("AnyShapeEntry", ()),
    "Steppers": ("AnyStepperEntry", ()),
    "Control laws": ("AnyLawEntry", ()),
    "Goals": ("AnyGoalEntry", ()),
    "Paths": ("Path", ()),
    "Timings of paths": ("AnyTimingEntry", ()),
    "Corners of polylines": ("AnyBlendEntry", ()),
    "Allocation rules": ("AnyAllocationEntry", ()),
    "Corrections": ("AnyCorrectionEntry", ()),
}
PARTS = {
    "parameters": "Parameter",
    "place": "Placement",
    "bodies": "Body",
    "frames": "Frame",
    "connections": "Connection",
    "constraints": "Constraint",
    "actuators": "Actuator",
    "thrusters": "Thruster",
    "springs": "Spring",
    "rotors": "Rotor",
    "forces": "Force",
    "outputs": "Output",
    "visuals": "Visual",
}
MORE = ("Pose", "Start", "Run", "Traced", "Turn", "MoveTo", "PID", "Drive", "Friction", "Backlash")


def schema_text() -> str:
    """The schema as a file."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def keys_page() -> str:
    """The page with every key."""
    definitions = json_schema()["$defs"]
    lines = [HEAD, "## A machine", "", "| key | meaning |", "|---|---|"]
    lines += [
        f"| `{key}` | {_cell(words)} |" for key, words in {"kalaba": "1, the version of the format", **KEYS}.items()
    ]
    for section, name in PARTS.items():
        lines += ["", f"## Entries of `{section}`", "", *_keys(_object(definitions[name]), definitions)]
    for title, (name, chosen) in GROUPS.items():
        properties = _object(definitions[name]).get("properties", {})
        kinds = {word: entry["$ref"].rpartition("/")[2] for word, entry in properties.items() if "$ref" in entry}
        lines += ["", f"## {title}", ""]
        for word, kind in kinds.items():
            if not chosen or kind in chosen:
                inner = _object(definitions[kind])
                lines += [f"### `{word}`", "", inner.get("description", ""), "", *_keys(inner, definitions), ""]
    for name in MORE:
        inner = _object(definitions[name])
        lines += ["", f"## {name}", "", inner.get("description", ""), "", *_keys(inner, definitions)]
    text = "\n".join(lines) + "\n"
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip() + "\n"


def _object(definition: dict) -> dict:
    """The form with all keys of a definition that has short forms."""
    forms = definition.get("anyOf", [definition])
    return next((form for form in forms if form.get("type") == "object"), {})


def _keys(definition: dict, definitions: dict) -> list[str]:
    """A table of keys; one that must be there has a star."""
    needed = definition.get("required", [])
    rows = []
    for key, entry in definition.get("properties", {}).items():
        kind = definitions.get(entry.get("$ref", "").rpartition("/")[2], {})
        words = entry.get("description") or _object(kind).get("description", "")
        rows.append(f"| `{key}`{'*' if key in needed else ''} | {_cell(words)} |")
    return ["| key | meaning |", "|---|---|", *rows] if rows else ["No keys."]


def _cell(text: str) -> str:
    return (
        text.replace("|", "\\|").replace("{", "`{").replace("}", "}`") if "`" not in text else text.replace("|", "\\|")
    )


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    KEYS_PAGE.write_text(keys_page(), encoding="utf-8")
