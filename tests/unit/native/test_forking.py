"""A process can be forked while another of its threads builds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kalaba

SCRIPT = """
import faulthandler, os, sys, threading, time
import kalaba as kb

def chain(stiffness):
    links = (kb.Body(f"b{k}", kb.Rod(0.1, mass=0.1), parent=f"b{k-1}.tip" if k else "world", joint=kb.Revolute(kb.Y))
             for k in range(4))
    return kb.System("chain", (*links, kb.Spring("spring", "b0.angle", stiffness=f"{stiffness} + 1")))

def motion(stiffness):
    return kb.build(chain(stiffness)).motion([0.1] * 4, [0.0] * 4).acceleration[0]

expected = motion(7)
threading.Thread(target=lambda: [motion(100 + k) for k in range(40)], daemon=True).start()
for pause in (0.05, 0.1, 0.15, 0.2):
    time.sleep(pause)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        os._exit(0 if motion(7) == expected and motion(8) < expected else 3)
    status = os.waitpid(child, 0)[1]
    if status:
        sys.exit(f"the child ended with {status}")
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_child_forked_beside_a_build_builds_too(tmp_path):
    environment = {**os.environ, "KALABA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(kalaba.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
