"""`kalaba view` and `kalaba run --view`."""

import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.view.studio import Studio, serving


@pytest.fixture
def opened(monkeypatch):
    """Pages that commands open; each is looked at for a moment, then closed."""
    pages = []

    def serve(page):
        assert page.wait(120)
        pages.append((page.subject, page.run))
        page.close()

    monkeypatch.setattr(Studio, "serve", serve)
    monkeypatch.setattr(serving, "has_screen", lambda: False)
    return pages


def test_view_opens_a_machine_in_its_scenario_and_prints_where(opened, capsys):
    assert invoke(["view", "four-bar", "--port", "0", "--set", "crank.length=0.11", "--duration", "0.2"]) == 0
    subject, run = opened[0]
    assert subject.name == "four-bar"
    assert run.time[-1] == pytest.approx(0.2)
    assert run["crank.length"][0] == 0.11
    said = capsys.readouterr().out
    assert "studio: http://127.0.0.1:" in said
    assert "viser" not in said


def test_view_opens_a_saved_run(opened, tmp_path):
    path = tmp_path / "run.nc"
    saved = kb.simulate(kb.load("four-bar"), 0.05)
    saved.save(path)
    assert invoke(["view", str(path), "--port", "0"]) == 0
    assert (opened[0][1].q == saved.q).all()


def test_run_goes_on_to_the_page(opened, tmp_path):
    arguments = ["run", "four-bar", "--duration", "0.1", "-o", str(tmp_path / "run.nc"), "--view", "--quiet"]
    assert invoke(arguments) == 0
    subject, run = opened[0]
    assert subject.recorded is run
    assert subject.control is not None  # so that it can be simulated again


def test_another_host_is_warned_of_on_stderr(opened, capsys):
    assert invoke(["view", "four-bar", "--host", "0.0.0.0", "--port", "0", "--duration", "0.1"]) == 0
    assert "warning: 0.0.0.0 lets everyone" in capsys.readouterr().err


def test_a_missing_viser_is_said_before_anything_is_built(monkeypatch, capsys):
    monkeypatch.setattr(serving, "find_spec", lambda _: None)
    for arguments in (["view", "four-bar"], ["run", "four-bar", "--view"]):
        assert invoke(arguments) == 2
        said = capsys.readouterr().err
        assert "pip install 'kalaba[view]'" in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.nc", "run.txt", "no-such-machine"])
def test_view_says_in_one_line_what_it_cannot_open(tmp_path, capsys, name):
    assert invoke(["view", name if "." not in name else str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1


def test_a_truncated_file_and_one_of_a_newer_version_are_refused_in_one_line(tmp_path, capsys):
    import h5py

    path = tmp_path / "run.nc"
    kb.simulate(kb.load("four-bar"), 0.05).save(path)
    whole = path.read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    with h5py.File(path, "r+") as file:
        file.attrs["kalaba_format"] = 999
    for name, word in (("cut.nc", "whole file"), ("run.nc", "pip install --upgrade kalaba")):
        assert invoke(["view", str(tmp_path / name)]) == 2
        said = capsys.readouterr().err
        assert name in said
        assert word in said
        assert said.count("\n") == 1


def test_a_film_is_written_instead_of_a_page(tmp_path, capsys):
    target = tmp_path / "run.gif"
    assert invoke(["view", "four-bar", "--duration", "0.3", "-o", str(target)]) == 0
    assert target.stat().st_size > 1000
    assert str(target) in capsys.readouterr().out.replace("\n", "")
