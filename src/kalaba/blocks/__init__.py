"""Machines whose limbs are alike, such as many arms on one load: derived and compiled once, solved limb by limb.

    Machine ──partition──▶ hub, kinds of limbs ──Blocks──▶ BlockProgram ──native──▶ Kernel

The kernels have the inputs and outputs of those that `constrain/functions.py` gives for other machines.
"""
