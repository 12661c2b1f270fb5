"""Benchmarks: what kalaba promises in speed, measured beside Pinocchio and MuJoCo. Run `make bench`."""
