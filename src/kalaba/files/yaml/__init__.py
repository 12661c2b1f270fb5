"""kalaba YAML 1: machines, and what is to be run on them, in files that people write. JSON has the same schema.

    text ─tree→ Document ─schema→ checked entries ─reading→ System, Scenario ─writing→ data ─layout→ text

What a kind of joint, solid, stepper or control law is called in a file, and which entries it has, follows from its
class (`kinds`): a kind that is defined outside the package can be read and written too.
"""

from kalaba.files.yaml.reading import read
from kalaba.files.yaml.writing import write
from kalaba.model.formats import Format

__all__ = ["FORMAT"]

FORMAT = Format("kalaba YAML", (".yaml", ".yml", ".json"), read, write)
