"""Arms that hold one object: grasps, object space, sharing, carrying."""

from kalaba.cooperate.hold import hold as hold
from kalaba.cooperate.grasp import Grasp as Grasp
from kalaba.cooperate.object_space import object_space as object_space
from kalaba.cooperate.object_space import ObjectSpace as ObjectSpace
from kalaba.cooperate.carry import Carry as Carry
from kalaba.cooperate.object_form import object_form as object_form
from kalaba.cooperate.object_form import pieces_at as pieces_at
from kalaba.cooperate.object_form import ObjectForm as ObjectForm
from kalaba.cooperate.grasp_forces import grasp_forces as grasp_forces
from kalaba.cooperate.grasp_forces import GraspForces as GraspForces
from kalaba.cooperate.moves import MoveTo as MoveTo
