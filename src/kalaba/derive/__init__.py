"""Model → equations: kinematics, three derivations of the dynamics, and constraint rows, as CasADi expressions."""
