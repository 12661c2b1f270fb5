"""Kinematics: of arms, of closed chains, and of arms with the objects that they hold."""

from kalaba.kinematics.tree import inverse_kinematics as inverse_kinematics
from kalaba.kinematics.tree import Reach as Reach
from kalaba.kinematics.tree import branches as branches
from kalaba.kinematics.tree import continue_angles as continue_angles
from kalaba.kinematics.tree import rates as rates
from kalaba.kinematics.tree import accelerations as accelerations
from kalaba.kinematics.closed import assembly_modes as assembly_modes
from kalaba.kinematics.closed import AssemblyMode as AssemblyMode
from kalaba.kinematics.closed import motors_at as motors_at
from kalaba.kinematics.closed import MotorPlaces as MotorPlaces
from kalaba.kinematics.closed import motor_jacobian as motor_jacobian
from kalaba.kinematics.closed import singularity as singularity
from kalaba.kinematics.closed import Singularity as Singularity
from kalaba.kinematics.closed import singularity_map as singularity_map
from kalaba.kinematics.closed import SingularityMap as SingularityMap
