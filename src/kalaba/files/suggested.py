"""Loops that a machine may have, as a file of loops to save beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.files.yaml.layout import laid_out
from kalaba.files.yaml.writing import to_data
from kalaba.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kalaba.analyse.suggest_loops import Suggestion
    from kalaba.model.system import System


def loops_yaml(system: System, suggestions: Sequence[Suggestion]) -> str:
    """Candidates as kalaba YAML, the best first; comments say what each leaves. Those that do not fit are comments."""
    if not suggestions:
        return (
            f"# {system.name}: no frames of two bodies coincide where it is drawn. Give both bodies that a pin joins a "
            "frame there,\n# in a URDF an empty link on a fixed joint; or write the loop as a connection into a file "
            "for --loops.\n"
        )
    whole = to_data(system.add(*(suggestion.connection for suggestion in suggestions)))
    fitting = [s.connection.name for s in suggestions if s.fits]
    others = [s.connection.name for s in suggestions if not s.fits]
    data = {"kalaba": whole["kalaba"], "connections": {name: whole["connections"][name] for name in fitting}}
    lines = [*map(_comment, suggestions), laid_out(data if fitting else {"kalaba": whole["kalaba"]}).rstrip("\n")]
    if others:
        lines.append("# left out, since nothing would move with them and those above; are they met by chance?")
        listed = laid_out({"connections": {name: whole["connections"][name] for name in others}})
        lines += [f"# {line}" for line in listed.splitlines()[1:]]
    return "\n".join([*lines, ""])


def _comment(suggestion: Suggestion) -> str:
    """What a loop leaves, alone and with those before it."""
    alone, together = suggestion.freedoms, suggestion.freedoms_together
    with_others = f", {together} with those before it" if together != alone else ""
    return (
        f"# {suggestion.connection.name}: {counted(alone, 'freedom')} with it alone{with_others}, "
        f"through {counted(suggestion.joints, 'joint')}, smallest singular value "
        f"{suggestion.smallest_singular_value:.3g}, drawn {suggestion.gap:.1g} m apart"
    )
