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
    """Candidates as kalaba YAML, the best first; comments say what each leaves."""
    if not suggestions:
        return f"# {system.name}: no frames of two bodies coincide where it is drawn; name one with a fixed link.\n"
    whole = to_data(system.add(*(suggestion.connection for suggestion in suggestions)))
    names = [suggestion.connection.name for suggestion in suggestions]
    connections = {name: whole["connections"][name] for name in names}
    comments = [
        f"# {s.connection.name}: {counted(s.freedoms, 'freedom')} with it alone, smallest singular value "
        f"{s.smallest_singular_value:.3g}, drawn {s.gap:.1g} m apart"
        for s in suggestions
    ]
    return "\n".join([*comments, laid_out({"kalaba": whole["kalaba"], "connections": connections})])
