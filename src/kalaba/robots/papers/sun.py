"""Sun, Jin, He and Ding: a general model of several arms that hold one object."""

from kalaba.robots.papers.paper import Citation, Item, Paper
from kalaba.robots.papers.sun_model import MODEL
from kalaba.robots.papers.sun_tasks import TASKS

CITATION = Citation(
    key="sun",
    authors=("Sun, Zengqi", "Jin, Yichuang", "He, Bin", "Ding, Mei"),
    title="A general method for modeling multi-manipulators",
    original_title="多机械手系统建模的一般方法",
)

ITEMS: tuple[Item, ...] = (*TASKS, *MODEL)

PAPER = Paper(
    citation=CITATION,
    topic="several arms that carry, cut, insert and screw, in coordinates of the object",
    machines=(
        "two-arm-carry",
        "two-arm-scissors",
        "two-arm-peg",
        "two-arm-keyed-peg",
        "two-arm-screw",
        "three-arm-screw",
        "n-arm-carry",
    ),
    items=ITEMS,
    answer="The equation in object coordinates gives the same motion as the constrained arms, for any arms and tasks.",
    words=("multi-manipulator", "孙增圻", "Tsinghua"),
)
