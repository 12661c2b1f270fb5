"""Inverse kinematics of arms: which joints put a frame at a pose, and which rates move it as asked.

inverse_kinematics     one solution near a guess, or several, of any tree
branches               all solutions of an arm of six hinges with a spherical wrist
rates, accelerations   v = J⁺ V and v̇ = J⁺ (V̇ − J̇ v)
continue_angles        the same solution, whole turns nearer to another one
"""

from kalaba.kinematics.tree.chain import continue_angles
from kalaba.kinematics.tree.closed_form import branches
from kalaba.kinematics.tree.differential import accelerations, rates
from kalaba.kinematics.tree.search import Reach, inverse_kinematics

__all__ = ["Reach", "accelerations", "branches", "continue_angles", "inverse_kinematics", "rates"]
