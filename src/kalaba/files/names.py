"""Names of other programs as names here: letters, digits and underscores, none twice, none a word of the grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kalaba.files.source import Notes
from kalaba.model.names import WORLD
from kalaba.model.text.grammar import RESERVED


@dataclass
class Names:
    """Gives each name of a file its name here, the same for the same name; what had to be changed is noted.

    Arguments:
        notes: where changed names are noted
        kind: what is named, for the note: "link"
        taken: names that are in use already; kinds that share a set have no name in common
        after: what is put behind a name that is taken, such as _site or .motor; a number if not given
    """

    notes: Notes
    kind: str
    taken: set[str] = field(default_factory=set)
    after: str = ""
    known: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, original: str) -> str:
        """The name here of a name there."""
        if original not in self.known:
            name = self._free(identifier(original))
            self.taken.add(name)
            self.known[original] = name
            if name != original:
                self.notes.add(
                    f"renamed, since names have letters, digits and underscores and are unique ({self.kind})",
                    f"{original} → {name}",
                )
        return self.known[original]

    def fresh(self, wanted: str) -> str:
        """A name that is not in use, for what has none in the file."""
        name = self._free(identifier(wanted))
        self.taken.add(name)
        return name

    def _free(self, name: str) -> str:
        if self.after and name in self.taken:
            name = f"{name}{self.after}"
        if name not in self.taken:
            return name
        return next(other for i in range(2, len(self.taken) + 3) if (other := f"{name}_{i}") not in self.taken)


def identifier(original: str) -> str:
    """The nearest name that kalaba's grammar reads."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", original.strip()) or "_"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if name in {WORLD, *RESERVED} else name
