"""Kinematics: arms (tree), closed chains (closed), and arms with the objects that they hold (objects)."""
