"""Dong, Yu, Zhao and Chen (2022): two mobile arms that carry one load."""

from kalaba.robots.papers.paper import Citation, Item, Kind, Paper, Verdict

CITATION = Citation(
    key="dong2022",
    authors=("Dong, Fangfang", "Yu, Bin", "Zhao, Xiaomin", "Chen, Shan"),
    title="Dynamic modeling of spatial cooperation between dual-arm mobile manipulators",
    original_title="双移动机械臂空间协作动力学建模研究",
    journal="Applied Mathematics and Mechanics",
    original_journal="应用数学和力学",
    year="2022",
    volume="43(8)",
    pages="846-856",
    doi="10.21656/1000-0887.420223",
)

ITEMS: tuple[Item, ...] = (
    Item(
        key="system",
        kind=Kind.SYSTEM,
        where="whole paper",
        says="two mobile arms carry one load that is cut at its middle",
        gives="dual-mobile-arm",
        verdict=Verdict.WORKS,
        command="kalaba run dual-mobile-arm",
    ),
)

PAPER = Paper(
    citation=CITATION,
    topic="two mobile arms carry one load that is cut at its middle",
    machines=("dual-mobile-arm",),
    items=ITEMS,
    answer="The method gives the motion to rounding once its misprints are mended.",
    words=("dual arm", "mobile manipulator", "董方方"),
)
