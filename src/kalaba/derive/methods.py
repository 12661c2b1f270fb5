"""The derivations by name: the list that files, documents and the command line share."""

from __future__ import annotations

from kalaba.derive.dynamics import Method
from kalaba.derive.kane import Kane
from kalaba.derive.lagrange import Lagrange
from kalaba.derive.newton_euler import NewtonEuler

METHODS: dict[str, Method] = {"lagrange": Lagrange(), "kane": Kane(), "newton-euler": NewtonEuler()}
