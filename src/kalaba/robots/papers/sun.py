"""Sun, Jin, He and Ding: a general model of several arms that hold one object."""

from kalaba.robots.papers.paper import Citation, Item, Kind, Paper, Verdict

CITATION = Citation(
    key="sun",
    authors=("Sun, Zengqi", "Jin, Yichuang", "He, Bin", "Ding, Mei"),
    title="A general method for modeling multi-manipulators",
    original_title="多机械手系统建模的一般方法",
)

ITEMS: tuple[Item, ...] = (
    Item(
        key="system",
        kind=Kind.SYSTEM,
        where="whole paper",
        says="several arms that carry, cut, insert and screw, in coordinates of the object",
        gives="seven machines of the catalogue, two-arm-carry to n-arm-carry",
        verdict=Verdict.WORKS,
        command="kalaba run two-arm-carry",
    ),
)

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
    answer="The equation in object coordinates gives the same motion as the constrained arms.",
    words=("multi-manipulator", "孙增圻", "Tsinghua"),
)
