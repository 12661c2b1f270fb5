"""What everything is written in: numbers with units, axes, poses, rotations, and the configuration manifold."""
