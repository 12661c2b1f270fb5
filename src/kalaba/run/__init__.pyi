"""Simulation: a Plant, a stepper and what drives it give a Run."""

from kalaba.run.simulate import simulate as simulate
from kalaba.run.scenario import Scenario as Scenario
from kalaba.run.progress import Progress as Progress
from kalaba.run.checks import AccuracyWarning as AccuracyWarning
from kalaba.run.checks import SingularWarning as SingularWarning
from kalaba.run.checks import DeformationWarning as DeformationWarning
from kalaba.run.lost_hold import HoldWarning as HoldWarning
from kalaba.run.python_loop import StiffWarning as StiffWarning
from kalaba.run.shortfall import ShortfallWarning as ShortfallWarning
