"""Han et al. (2020): a planar parallel robot with three legs and two freedoms."""

from kalaba.robots.papers.paper import Citation, Item, Kind, Paper, Verdict

CITATION = Citation(
    key="han2020",
    authors=("Han, Jiang", "Wang, Peng", "Dong, Fangfang", "Xia, Lian", "Chen, Shan", "Lu, Lei"),
    title="Modeling and control of planar redundant parallel robots based on the Udwadia-Kalaba method",
    original_title="基于Udwadia-Kalaba方法的平面冗余并联机器人建模与轨迹跟踪控制",
    journal="Applied Mathematics and Mechanics",
    original_journal="应用数学和力学",
    year="2020",
    volume="41(11)",
    pages="1183-1196",
    doi="10.21656/1000-0887.400363",
)

ITEMS: tuple[Item, ...] = (
    Item(
        key="system",
        kind=Kind.SYSTEM,
        where="whole paper",
        says="a planar robot of three legs and two freedoms follows a path",
        gives="planar-parallel",
        verdict=Verdict.WORKS,
        command="kalaba run planar-parallel",
    ),
)

PAPER = Paper(
    citation=CITATION,
    topic="a planar robot of three legs and two freedoms follows a path",
    machines=("planar-parallel",),
    items=ITEMS,
    answer="The model is right; the printed control law tears the legs apart, the stacked one does not.",
    words=("planar redundant", "Udwadia-Kalaba"),
)
