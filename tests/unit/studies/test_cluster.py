"""A real Dask cluster on this computer: a scheduler and two workers as processes, of which some are killed."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

import kalaba as kb
from unit.studies.oscillator import deadly, files, slow, study

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
pytest.importorskip("distributed")
PATH = os.pathsep.join(sys.path)
PATIENCE = 60.0  # s
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATH, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


def dask(*arguments):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "dask", *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Loopback:
    """A scheduler with workers that have one thread each."""

    def __init__(self, folder):
        self.folder = folder
        self.place = folder / "scheduler.json"
        self.workers = []
        self.processes = [
            dask(
                "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.place)
            )
        ]
        wait_for(lambda: self.place.exists() and self.place.stat().st_size)
        self.address = kb_address(self.place)

    def add_worker(self):
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(dask("worker", self.address, *options))
        self.processes.append(self.workers[-1])

    def kill_worker(self):
        self.workers.pop(0).kill()

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def kb_address(place):
    import json

    return json.loads(place.read_text())["address"]


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    loopback = Loopback(tmp_path_factory.mktemp("dask"))
    with ExitStack() as stack:
        stack.callback(loopback.close)
        loopback.add_worker()
        loopback.add_worker()
        yield loopback


@contextmanager
def quietly():
    """Dask warns of what it does on purpose here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run_on(cluster, folder, one, **more):
    with quietly():
        return one.run(folder, scheduler=cluster.address, **more)


@pytest.fixture
def whole(tmp_path):
    """What this process gives, in a study of its own folder."""
    return study(measure={"x": slow}).run(tmp_path / "whole", workers=1).folder.read()


def test_a_cluster_gives_what_this_process_gives_to_the_bit(cluster, tmp_path):
    local = study().run(tmp_path / "local", workers=1)
    # the folder is begun here, so that chunks are as long and files can be compared whole
    (tmp_path / "remote").mkdir()
    (tmp_path / "remote" / "study.json").write_bytes((local.path / "study.json").read_bytes())
    remote = run_on(cluster, tmp_path / "remote", study())
    assert remote.is_complete
    assert files(remote.path) == files(local.path)


def test_a_function_of_this_script_travels_and_a_client_is_taken_as_it_is(cluster, tmp_path):
    from distributed import Client

    def doubled(run):
        return 2.0 * float(run.time[-1])

    with quietly(), Client(cluster.address, set_as_default=False) as client:
        table = study(6, measure={"x": doubled}).run(tmp_path, scheduler=client).table
        assert client.status == "running"  # it is not ours to close
    assert (table["x"] == 6.0).all()


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_done_twice(cluster, tmp_path, whole):
    written = []

    def watch(progress):
        if progress.done and not written:
            cluster.kill_worker()
            cluster.add_worker()
        written.append(progress.done)

    results = run_on(cluster, tmp_path / "results", study(measure={"x": slow}), progress=watch)
    assert results.folder.read().equals(whole)
    assert written == sorted(set(written))
    assert written[-1] == 40


CLIENT = """
import sys, warnings
warnings.simplefilter("ignore")
from unit.studies.oscillator import study, slow
study(measure={"x": slow}).run(
    sys.argv[1], scheduler=sys.argv[2], progress=lambda p: print("done", p.done, flush=True)
)
"""


def test_a_client_that_is_killed_goes_on_when_it_is_started_again(cluster, tmp_path, whole):
    folder = tmp_path / "results"
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(folder), cluster.address],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with client:
        while "done 0" in (line := client.stdout.readline()):
            pass
        client.send_signal(signal.SIGKILL)
    assert line.startswith("done")
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    assert before
    assert len(kb.open_study(folder).table) < 40
    results = run_on(cluster, folder, study(measure={"x": slow}))
    assert results.folder.read().equals(whole)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert not list(folder.glob(".*"))


def test_samples_that_end_their_workers_are_named(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("kalaba.studies.running._seconds_per_sample", lambda _: 10.0)  # here it would end this process
    with pytest.raises(kb.KalabaError, match=r"worker processes died .* times?, with samples 0 to 0 in hand"):
        run_on(cluster, tmp_path, study(1, vary={"mass.mass": kb.choice([2.95])}, measure={"x": deadly}))


def test_a_scheduler_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("kalaba.studies.engines.CONNECTING", 0.2)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with quietly(), pytest.raises(kb.KalabaError, match="no Dask scheduler answers at") as refusal:
            study().run(tmp_path / "results", scheduler=address)
        assert "\n" not in str(refusal.value)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(kb.KalabaError, match=r"pip install 'kalaba\[cluster\]'"):
        study().run(tmp_path / "results", scheduler="tcp://127.0.0.1:1")
