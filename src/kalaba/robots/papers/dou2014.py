"""Dou et al. (2014): the 6PUS-UPU robot with more motors than freedoms."""

from kalaba.robots.papers.paper import Citation, Item, Kind, Paper, Verdict

CITATION = Citation(
    key="dou2014",
    authors=("Dou, Yuchao", "Yao, Jiantao", "Gao, Sihui", "Han, Xing", "Liu, Xiaofei", "Zhao, Yongsheng"),
    title="Dynamic modeling and driving force coordinate distribution of the parallel robot with redundant actuation",
    original_title="冗余驱动并联机器人动力学建模与驱动力协调分配",
    journal="Transactions of the Chinese Society for Agricultural Machinery",
    original_journal="农业机械学报",
    year="2014",
    volume="45(1)",
    pages="293-300",
    doi="10.6041/j.issn.1000-1298.2014.01.045",
)

ITEMS: tuple[Item, ...] = (
    Item(
        key="system",
        kind=Kind.SYSTEM,
        where="whole paper",
        says="a parallel robot of six driven legs and a middle one: five freedoms, six motors",
        gives="pus-upu",
        verdict=Verdict.WORKS,
        command="kalaba run pus-upu",
    ),
)

PAPER = Paper(
    citation=CITATION,
    topic="a parallel robot of six driven legs and a middle one: five freedoms, six motors",
    machines=("pus-upu",),
    items=ITEMS,
    answer="A sixth motor halves the largest force; least squares and the least largest force are two rules.",
    words=("6PUS-UPU", "6PUS–UPU", "redundant actuation", "窦玉超", "Yanshan"),
)
