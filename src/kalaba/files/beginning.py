"""Files to start from: a four-bar with a word on every entry, as YAML and as Python. `kalaba new` writes them."""

from __future__ import annotations

from pathlib import Path

from kalaba.errors import FileError

YAML = """\
# A machine in kalaba's own format. Check it with `kalaba check {file}`, run it with `kalaba run {file}`.
kalaba: 1                                       # version of the format
name: {name}

# Numbers that others may use by name. `--set ground=0.5` changes one.
parameters:
  ground: {{value: 0.45 m, description: distance between the ground pivots}}

# Bodies: a solid, the frame it sits on, and the joint by which it moves there. A rod ends in the frame NAME.tip.
# Solids: solid rod box cylinder beam. Joints: weld revolute prismatic screw cylindrical universal spherical planar
# free.
bodies:
  crank:   {{rod: {{length: 0.15 m, mass: 0.3 kg}}, parent: world,       joint: {{revolute: -y}}}}
  coupler: {{rod: {{length: 0.40 m, mass: 0.8 kg}}, parent: crank.tip,   joint: {{revolute: -y}}}}
  rocker:  {{rod: {{length: 0.30 m, mass: 0.6 kg}}, parent: coupler.tip, joint: {{revolute: -y}}}}

# Connections close loops: the child frame stays on the parent, at this place, free to move as the joint allows.
connections:
  pin: {{child: rocker.tip, parent: world, at: [ground, 0, 0], joint: {{revolute: -y}}}}

# Motors, springs and dampers act along displacements: crank.angle, slider.travel, or an expression of them.
actuators:
  motor: {{displacement: crank.angle, limit: 2 N*m}}
springs:
  bearing: {{displacement: crank.angle, damping: 1e-3 N*m*s/rad}}

# What a run records beside the coordinates: any expression.
outputs:
  reach: {{value: "distance(crank, rocker.tip)", unit: m}}

# Where it starts: `hold` exactly, `guess` near; the loop is closed from there.
start:
  hold:  {{crank.angle: 1 rad}}
  guess: {{coupler.angle: -30 deg, rocker.angle: -115 deg}}

# What `kalaba run` runs. A law is an expression of the state and of time, t.
run:
  duration: 5 s
  control: {{motor: 0.2*(10 - rate(crank.angle))}}
  description: The motor keeps the crank at 10 rad/s.
"""

PYTHON = '''\
"""A machine in Python. Check it with `kalaba check {file}`, run it with `kalaba run {file}`."""

import kalaba as kb

hinge = kb.Revolute(-kb.Y)  # a positive angle lifts the link

robot = kb.System(
    "{name}",
    parts=(
        # Numbers that others may use by name.
        kb.Parameter("ground", 0.45, "m", "distance between the ground pivots"),
        # Bodies: a solid, the frame it sits on, and the joint by which it moves there. A rod ends in NAME.tip.
        kb.Body("crank", kb.Rod(0.15, mass=0.3), parent="world", joint=hinge),
        kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=hinge),
        kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=hinge),
        # The connection closes the loop.
        kb.Connection("pin", "rocker.tip", parent="world", at=("ground", 0, 0), joint=hinge),
        kb.Actuator("motor", "crank.angle", limit=2.0),
        kb.Spring("bearing", "crank.angle", damping=1e-3),
        kb.Output("reach", "distance(crank, rocker.tip)", "m"),
    ),
    # Held exactly, and guessed: the loop is closed from there.
    start=kb.Start(hold={{"crank.angle": 1.0}}, guess={{"coupler.angle": -0.5, "rocker.angle": -2.0}}),
)

scenario = kb.Scenario(
    robot,
    duration=5.0,
    control={{"motor": "0.2*(10 - rate(crank.angle))"}},
    description="The motor keeps the crank at 10 rad/s.",
)
'''
TEXTS = {".yaml": YAML, ".yml": YAML, ".py": PYTHON}


def begin(path: str | Path) -> Path:
    """Write a commented four-bar to start from; a file that exists is left alone.

    Arguments:
        path: where; it ends in .yaml, .yml or .py

    Returns:
        the path
    """
    place = Path(path)
    if place.suffix.lower() not in TEXTS:
        raise FileError(f"{place}: expected a name that ends in {', '.join(TEXTS)}, got {place.suffix or 'none'!r}.")
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in place.stem) or "machine"
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(TEXTS[place.suffix.lower()].format(name=name, file=place.name))
    except FileExistsError:
        raise FileError(f"{place}: there is such a file already. Give another name.") from None
    except OSError as error:
        raise FileError(f"{place}: cannot be written, {str(error.strerror).lower()}.") from error
    return place
