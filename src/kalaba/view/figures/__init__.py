"""Plots of runs: one function per figure, which gives a matplotlib Figure; `save` writes it.

`kb.plot.overview(run)`, `kb.plot.compare({"one": run, "other": run2})`, `kb.plot.save(figure, "run.png")`.
`kb.plot.draw(run, "energy")` draws by name, figures of one's own too.
"""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
