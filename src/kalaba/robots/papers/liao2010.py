"""Liao, Li and Tang (2010): a flexible arm on a carrier that floats freely."""

from kalaba.robots.papers.paper import Citation, Item, Kind, Paper, Verdict

CITATION = Citation(
    key="liao2010",
    authors=("Liao, Yihuan", "Li, Daokui", "Tang, Guojin"),
    title="Dynamic modeling and simulation of a free-floating flexible manipulator system",
    original_title="自由漂浮柔性机械臂系统的动力学建模与仿真",
    journal="Journal of National University of Defense Technology",
    original_journal="国防科技大学学报",
    year="2010",
    volume="32(5)",
    pages="29-33",
)

ITEMS: tuple[Item, ...] = (
    Item(
        key="system",
        kind=Kind.SYSTEM,
        where="whole paper",
        says="a flexible arm with a load on a carrier that floats freely",
        gives="floating-flexible-arm",
        verdict=Verdict.WORKS,
        command="kalaba run floating-flexible-arm",
    ),
)

PAPER = Paper(
    citation=CITATION,
    topic="a flexible arm with a load on a carrier that floats freely",
    machines=("floating-flexible-arm",),
    items=ITEMS,
    answer="The motion is right once momentum is kept; momentum is a first integral and no constraint.",
    words=("free-floating", "flexible manipulator", "廖一寰", "NUDT"),
)
