"""Folders of results: they go on where they were, refuse other studies, and lose nothing when a disk is full."""

import json
import os
import subprocess
import sys

import pytest

import kalaba as kb
from kalaba.results import places
from kalaba.studies import folder as folders
from unit.studies.oscillator import files, study

ONLY_POSIX = pytest.mark.skipif(os.name != "posix", reason="limits of processes are those of POSIX")
TESTS = os.pathsep.join(sys.path)


def stopped_after(chunks, folder, **more):
    """Run a study that stops after so many chunks."""
    seen = []

    def watch(progress):
        seen.append(progress)
        if len(seen) > chunks:
            raise kb.KalabaError("stop here")

    with pytest.raises(kb.KalabaError, match="stop here"):
        study(**more).run(folder, workers=1, progress=watch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All files of a study that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    study().run(folder, workers=1)
    return files(folder)


def test_a_study_goes_on_where_it_was_and_does_nothing_twice(tmp_path, whole, monkeypatch):
    stopped_after(2, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}
    assert 0 < len(before) < len(whole)
    study().run(tmp_path, workers=1)
    assert files(tmp_path) == whole
    assert {path: path.stat().st_mtime_ns for path in before} == before
    monkeypatch.setattr("kalaba.studies.engines.evaluate", None)  # nothing is left to be evaluated
    assert study().run(tmp_path, workers=1).is_complete


def test_shards_together_are_the_whole_study(tmp_path, whole):
    for shard in ((2, 3), (3, 3), (1, 3)):
        results = study().run(tmp_path, workers=1, shard=shard)
    assert results.is_complete
    assert files(tmp_path) == whole
    with pytest.raises(kb.KalabaError, match="shard"):
        study().run(tmp_path, workers=1, shard=(4, 3))


@pytest.mark.parametrize(
    ("more", "entry"),
    [
        ({"seed": 8}, "seed"),
        ({"vary": {"mass.mass": kb.uniform(1, 4)}}, "vary"),
        ({"measure": {"speed": "final(t)"}}, "measure"),
        ({"measure": {"speed": len}}, "measure"),
        ({"duration": 2.0}, "duration"),
        ({"samples": 41}, "samples"),
        ({"stepper": kb.RungeKutta4(0.02)}, "stepper"),
        ({"control": {"motor": "1"}}, "control"),
        ({"sampling": kb.studies.Sobol()}, "sampling"),
    ],
)
def test_the_folder_of_another_study_is_refused_by_what_differs(tmp_path, more, entry):
    stopped_after(1, tmp_path)
    before = files(tmp_path)
    with pytest.raises(kb.KalabaError, match=f"holds another study, which differs in {entry}") as refusal:
        study(**more).run(tmp_path, workers=1)
    assert str(tmp_path) in str(refusal.value)
    assert files(tmp_path) == before


def test_results_of_another_version_are_not_mixed_with_ours(tmp_path, monkeypatch):
    stopped_after(1, tmp_path)
    monkeypatch.setattr(folders, "version", lambda _: "9.9.9")
    with pytest.raises(kb.KalabaError, match=r"begun with kalaba .*, this is 9\.9\.9"):
        study().run(tmp_path, workers=1)


def test_a_damaged_chunk_is_done_again(tmp_path, whole):
    study().run(tmp_path, workers=1)
    first, second, *_ = sorted(tmp_path.glob("*.parquet"))
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    second.write_bytes(b"")
    assert len(kb.open_study(tmp_path).table) < 40
    assert study().run(tmp_path, workers=1).is_complete
    assert files(tmp_path) == whole


def test_a_chunk_of_another_study_is_refused(tmp_path):
    stopped_after(1, tmp_path / "a")
    stopped_after(1, tmp_path / "b", seed=8)
    (tmp_path / "b" / "chunk-000000.parquet").replace(tmp_path / "a" / "chunk-000000.parquet")
    with pytest.raises(kb.KalabaError, match="a chunk of another study"):
        study().run(tmp_path / "a", workers=1)


def test_the_first_of_several_jobs_writes_the_manifest_for_all(tmp_path):
    one = study().resolved
    first, second = folders.begun(one, tmp_path, 7), folders.begun(one, tmp_path, 9)
    assert (first.size, second.size) == (7, 7)
    with pytest.raises(kb.KalabaError, match="another study"):
        folders.begun(study(seed=8).resolved, tmp_path, 9)
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]


def test_what_holds_no_results_is_refused(tmp_path):
    with pytest.raises(kb.KalabaError, match="no results of a study there"):
        kb.open_study(tmp_path)
    with pytest.raises(kb.KalabaError, match="no results of a study there"):
        kb.open_study(tmp_path / "gone")
    manifest = tmp_path / "study.json"
    for text in ("{", "[]", '{"kalaba_study": 1}'):
        manifest.write_text(text)
        with pytest.raises(kb.KalabaError, match="expected a manifest written by kalaba"):
            kb.open_study(tmp_path)
        with pytest.raises(kb.KalabaError, match="expected a manifest written by kalaba"):
            study().run(tmp_path, workers=1)
    manifest.unlink()
    stopped_after(1, tmp_path)
    facts = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(facts | {"kalaba_study": 99}))
    with pytest.raises(kb.KalabaError, match="in format 99; this kalaba reads format 1"):
        kb.open_study(tmp_path)
    facts["study"]["seed"] = 5
    manifest.write_text(json.dumps(facts))
    with pytest.raises(kb.KalabaError, match="the manifest has changed"):
        kb.open_study(tmp_path)


def test_results_without_a_chunk_say_so(tmp_path):
    folders.begun(study().resolved, tmp_path, 7)
    with pytest.raises(kb.KalabaError, match="no results yet"):
        _ = kb.open_study(tmp_path).table


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr("kalaba.studies.running._begun", None)  # what would run the first samples
    (tmp_path / "file").write_text("")
    with pytest.raises(kb.KalabaError, match="cannot be written"):
        study().run(tmp_path / "file", workers=1)
    with pytest.raises(kb.KalabaError, match="cannot be written"):
        study().run("/proc/study", workers=1)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    with pytest.raises(kb.KalabaError, match=r"cannot be written, .*Permission denied"):
        study().run(tmp_path / "read-only", workers=1)


FULL = """
import resource, signal, sys
import kalaba as kb
from unit.studies.oscillator import study
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
chunks = []
def watch(progress):
    chunks.append(progress)
    if len(chunks) == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    study().run(sys.argv[1], workers=1, progress=watch)
except kb.KalabaError as error:
    print("refused:", error)
"""


@ONLY_POSIX
def test_a_full_disk_is_an_error_that_leaves_finished_chunks_intact(tmp_path, whole):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": TESTS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(f"refused: {tmp_path}/chunk-"), done.stderr
    assert "Is the disk full?" in done.stdout
    left = files(tmp_path)
    assert len(left) == 2
    assert all(whole[name] == content for name, content in left.items())
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".parquet"}
    study().run(tmp_path, workers=1)
    assert files(tmp_path) == whole


def test_a_text_is_created_once_and_leaves_nothing_beside_it(tmp_path):
    place = tmp_path / "a.json"
    assert places.create_text(place, "first")
    assert not places.create_text(place, "second")
    assert place.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
