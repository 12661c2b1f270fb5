"""A beam that bends past a fifth of its length is told of once, after the run."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.run.checks import DeformationWarning, large_deformation


def cantilever(**options: object) -> kb.System:
    beam = kb.Beam(2.0, kb.Circle(0.01), density=2700.0, young=70e9, **options)
    return kb.System("cantilever", (kb.Body("boom", beam, joint=kb.Weld()),), gravity=(0, 0, 0))


def bent(system: kb.System, *modes: float) -> kb.Run:
    return kb.simulate(system, 0.01, start=(list(modes), [0.0] * len(modes)), save_every=0.001)


def test_a_large_deflection_warns_on_one_line():
    with pytest.warns(DeformationWarning) as caught:
        bent(cantilever(), 0.5)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("cantilever: boom bends by 0.25 of its length, past 0.2 from t = 0 s on; linear modes no")
    assert "\n" not in text
    assert caught[0].filename == __file__


def test_the_line_that_is_warned_of_is_that_of_the_call():
    with pytest.warns(DeformationWarning) as caught:
        kb.simulate(cantilever(), 0.01, start=([0.5], [0.0]), save_every=0.001)
    assert [warning.filename for warning in caught] == [__file__]
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[caught[0].lineno - 1]
    assert line.strip().startswith("kb.simulate(")


def test_small_deflections_and_rigid_machines_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert large_deformation(bent(cantilever(), 0.39)) is None
        assert large_deformation(kb.simulate(kb.load("four-bar"), 0.01)) is None


def test_both_planes_count_together():
    system = cantilever(bending=(kb.Y, kb.Z))
    with pytest.warns(DeformationWarning, match=r"by 0\.212 of its length"):
        bent(system, 0.3, 0.3)


def test_points_between_the_ends_count():
    with pytest.warns(DeformationWarning, match="bends by"):
        bent(cantilever(shapes=kb.ClampedClamped(1)), 0.5)


def test_twist_does_not_count():
    system = cantilever(torsion=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bent(system, 0.0, 1.0)


def test_a_run_that_is_not_finite_is_large():
    run = bent(cantilever(), 0.1)
    lost = replace(run, q=np.full_like(run.q, np.nan))
    assert large_deformation(lost).startswith("cantilever: boom bends by inf of its length")
