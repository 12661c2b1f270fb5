"""Plots of runs: one function per figure, which gives a matplotlib Figure; `save` writes it."""

from kalaba.view.figures.histories import overview as overview
from kalaba.view.figures.histories import coordinates as coordinates
from kalaba.view.figures.histories import speeds as speeds
from kalaba.view.figures.histories import outputs as outputs
from kalaba.view.figures.tracks import paths as paths
from kalaba.view.figures.histories import motors as motors
from kalaba.view.figures.histories import forces as forces
from kalaba.view.figures.histories import residuals as residuals
from kalaba.view.figures.histories import energy as energy
from kalaba.view.figures.histories import momentum as momentum
from kalaba.view.figures.beams import modes as modes
from kalaba.view.figures.sources import papers as papers
from kalaba.view.figures.comparing import compare as compare
from kalaba.view.figures.comparing import tracking_error as tracking_error
from kalaba.view.figures.kinds import draw as draw
from kalaba.view.figures.kinds import known as known
from kalaba.view.figures.kinds import register as register
from kalaba.view.figures.kinds import FigureKind as FigureKind
from kalaba.view.figures.kinds import Request as Request
from kalaba.view.sheet import Curve as Curve
from kalaba.view.sheet import Panel as Panel
from kalaba.view.sheet import sheet as sheet
from kalaba.view.sheet import save as save
