"""Seeds of what is drawn at random: 1, or FUZZ_SEED of the environment."""

import os
import warnings

import numpy as np
import pytest


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("FUZZ_SEED", "1"))


@pytest.fixture(autouse=True)
def _warned_of_nothing_but_lost_parts():
    """Nonsense may be worth a warning; imaginary parts that get lost are a mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
