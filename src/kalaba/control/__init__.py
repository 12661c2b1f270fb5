"""Control: what the actuators do so that a machine does what is asked of it."""

from kalaba.control import path

__all__ = ["path"]
