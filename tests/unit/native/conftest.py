"""Native tests build in a cache of their own."""

import pytest


@pytest.fixture(autouse=True)
def cache_directory(tmp_path, monkeypatch):
    """An empty cache, and no kernel in memory."""
    home = tmp_path / "cache"
    monkeypatch.setenv("KALABA_CACHE_DIR", str(home))
    monkeypatch.setattr("kalaba.native.build._kernels", {})
    return home
