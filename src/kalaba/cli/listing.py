"""`kalaba list`: the catalogue."""

from __future__ import annotations

from kalaba.cli.choices import JsonFlag


def list_machines(*, as_json: JsonFlag = False) -> None:
    """List the machines that can be shown and run, one line each.

    Example: kalaba list
    """
    from rich.text import Text

    from kalaba.cli.terminal import console, print_json
    from kalaba.robots.catalogue import catalog

    found = catalog()
    if as_json:
        print_json(dict(found))
        return
    out, width = console(), max(len(name) for name, _ in found)
    for name, line in found:
        out.print(Text.assemble((f"{name:<{width}}", "bold"), f"  {line}"))
