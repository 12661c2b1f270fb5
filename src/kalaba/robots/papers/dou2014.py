"""Dou et al. (2014): the 6PUS-UPU robot with more motors than freedoms."""

from kalaba.robots.papers.dou2014_model import MODEL
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

SIX = "kalaba run pus-upu"
HYBRID_SIX = "kalaba run pus-upu --set control=hybrid"
FITTED = f"{HYBRID_SIX} --set noise=9e-6 --set backlash=2e-5 --set friction=1"
PAPER_FIGURES = "kalaba run pus-upu -o run.nc ; kalaba plot run.nc --figure papers -o papers.png"

ALLOCATION = (
    Item(
        key="eq-44-48",
        kind=Kind.METHOD,
        where="section 3.1, (44)-(48)",
        says="weighted least squares of the forces by multipliers",
        gives="`kb.LeastSquares(weights)` gives the same to 1e-9",
        verdict=Verdict.WORKS,
        command="kalaba run pus-upu --allocation least-squares",
    ),
    Item(
        key="eq-49",
        kind=Kind.EQUATION,
        where="(49)",
        says="W = 1: least squares of six forces and the middle leg's load together",
        gives="`share(with_loads=True)` adds N² and (N·m)²: other forces with N·mm; by default the load is out",
        verdict=Verdict.CORRECTED,
        command="kalaba run pus-upu --allocation least-squares",
    ),
    Item(
        key="table-numbers",
        kind=Kind.TABLE,
        where="section 3.2",
        says="five masses; a circle in the plane XY, its acceleration and mean speed",
        published="32.65, 6.4, 5.8, 4.18, 6.15 kg; 200 mm, 250 mm/s², 125 mm/s",
        gives="the same numbers",
        verdict=Verdict.WORKS,
        command="kalaba show pus-upu",
    ),
    Item(
        key="geometry",
        kind=Kind.TABLE,
        where="nowhere",
        says="no length, radius, angle or inertia behind figures 3 and 4 is printed",
        gives="round lengths that meet both computed peaks within 2 %",
        verdict=Verdict.NOT_REPRODUCIBLE,
        why="other lengths meet them as well, so that the curves themselves cannot be compared",
        command="kalaba show pus-upu",
    ),
    Item(
        key="figure-3",
        kind=Kind.FIGURE,
        where="figure 3, section 3.2",
        says="forces of five motors round the circle, computed",
        published="largest 660 N",
        gives="largest 670.9 N",
        verdict=Verdict.WORKS,
        command=PAPER_FIGURES,
    ),
    Item(
        key="figure-4",
        kind=Kind.FIGURE,
        where="figure 4, section 3.2",
        says="forces of six motors by least squares, computed",
        published="largest 350 N",
        gives="largest 343.2 N",
        verdict=Verdict.WORKS,
        command=PAPER_FIGURES,
    ),
    Item(
        key="claim-balanced",
        kind=Kind.CLAIM,
        where="section 3.2",
        says="with five motors the load is very uneven, with six it is even",
        gives="largest force of the most over that of the least loaded motor: 2.44 with five, 1.02 with six",
        verdict=Verdict.WORKS,
        command=SIX,
    ),
    Item(
        key="claim-min-max",
        kind=Kind.CLAIM,
        where="abstract, section 3.1, conclusion 1",
        says="least squares makes the largest force of any motor as small as it can be",
        gives="343.2 N by least squares, 330.8 N by `kb.MinMax()`",
        verdict=Verdict.REFUTED,
        why="they are two rules; there are states at which six motors by least squares peak above five",
        command="kalaba run pus-upu --allocation min-max",
    ),
)

EXPERIMENT = (
    Item(
        key="figure-5",
        kind=Kind.FIGURE,
        where="figure 5",
        says="a photograph of the robot",
        gives="a picture of ours in which each of 15 bodies is seen",
        verdict=Verdict.WORKS,
        command="kalaba report pus-upu -o report.html",
    ),
    Item(
        key="figure-6",
        kind=Kind.METHOD,
        where="figure 6, section 4",
        says="motors 1 to 5 hold planned positions, the sixth a planned force by its own loop",
        gives="`control=hybrid`: the sixth motor's force is within 5 N of its plan all the way",
        verdict=Verdict.WORKS,
        command=HYBRID_SIX,
    ),
    Item(
        key="figure-7",
        kind=Kind.FIGURE,
        where="figure 7",
        says="forces of five motors, measured",
        published="largest about 700 N",
        gives="largest 697.7 N in the simulated experiment with fitted noise, play and friction; 666.8 N without",
        verdict=Verdict.WORKS,
        command=PAPER_FIGURES,
    ),
    Item(
        key="figure-8",
        kind=Kind.FIGURE,
        where="figure 8",
        says="forces of six motors, measured",
        published="largest about 380 N",
        gives="largest 383.7 N in the simulated experiment with fitted noise, play and friction; 356.6 N without",
        verdict=Verdict.WORKS,
        command=PAPER_FIGURES,
    ),
    Item(
        key="claim-errors",
        kind=Kind.CLAIM,
        where="section 4",
        says="play, model errors and electrical noise are what measured forces differ by from computed ones",
        published="700 and 380 N measured, 660 and 350 N computed",
        gives="697.7 and 383.7 N with noise of 9 µm, play of 20 µm, friction of 1 N; friction alone cannot",
        verdict=Verdict.WORKS,
        command=FITTED,
    ),
    Item(
        key="claim-halved",
        kind=Kind.CLAIM,
        where="section 4",
        says="the sixth motor lowers the largest force",
        published="from about 700 to 380 N, by 46 %",
        gives="from 666.8 to 356.6 N, by 47 %",
        verdict=Verdict.WORKS,
        command=HYBRID_SIX,
    ),
    Item(
        key="conclusion-1",
        kind=Kind.CONCLUSION,
        where="conclusion 1",
        says="Kane's model with least squares distributes the forces",
        gives="the same forces as the cut tree to 1e-10; they do not have the least peak (claim-min-max)",
        verdict=Verdict.WORKS,
        command=SIX,
    ),
    Item(
        key="conclusion-2",
        kind=Kind.CONCLUSION,
        where="conclusion 2",
        says="position control of five motors and force control of the sixth is an effective strategy",
        gives="the platform is never further from its plan than 2.7 mm with five motors and 1.0 mm with six",
        verdict=Verdict.WORKS,
        command=HYBRID_SIX,
    ),
)

ITEMS: tuple[Item, ...] = (*MODEL, *ALLOCATION, *EXPERIMENT)

PAPER = Paper(
    citation=CITATION,
    topic="a parallel robot of six driven legs and a middle one: five freedoms, six motors",
    machines=("pus-upu",),
    items=ITEMS,
    answer="A sixth motor halves the largest force; least squares and the least largest force are two rules.",
    words=("6PUS-UPU", "6PUS–UPU", "redundant actuation", "窦玉超", "Yanshan"),
)
