"""All that is asked of a machine at one state."""

from kalaba.plant.plant import build as build
from kalaba.plant.plant import Plant as Plant
from kalaba.plant.state import State as State
from kalaba.plant.state import NamedState as NamedState
from kalaba.plant.state import Energy as Energy
from kalaba.space.numeric_pose import NumericPose as NumericPose
from kalaba.constrain.solvers import Motion as Motion
from kalaba.plant.reaction import Reaction as Reaction
from kalaba.plant.derivatives import Derivatives as Derivatives
from kalaba.plant.plant import RebuildWarning as RebuildWarning
