"""Kinematics of machines with loops: where motors put them, where motors must be, and how near they are to singular.

assembly_modes    all configurations for given displacements (forward kinematics)
motors_at         the motors' displacements that put a frame at a pose (inverse kinematics)
motor_jacobian    a frame's twist → rates of the motors
singularity       how near configurations are to a place where motors lose the frame, or the frame the motors
singularity_map   the same over a grid of poses
"""

from kalaba.kinematics.closed.modes import AssemblyMode, assembly_modes
from kalaba.kinematics.closed.motors import MotorPlaces, motor_jacobian, motors_at
from kalaba.kinematics.closed.region import SingularityMap, singularity_map
from kalaba.kinematics.closed.singular import Singularity, singularity

__all__ = [
    "AssemblyMode",
    "MotorPlaces",
    "Singularity",
    "SingularityMap",
    "assembly_modes",
    "motor_jacobian",
    "motors_at",
    "singularity",
    "singularity_map",
]
