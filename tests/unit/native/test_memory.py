"""What is no longer used is released: laws, expressions and machines, in a process of its own."""

import gc
import subprocess
import sys
import weakref

import casadi as ca
import pytest

from kalaba import native
from kalaba.native import build
from kalaba.native.recent import Recent

MOST = 20.0  # kB that each may leave behind; machine code alone takes more, and 70 to 230 kB stayed before
SCRIPT = """
import gc
from pathlib import Path
import scipy.linalg  # which some of what follows loads when it first needs it
import kalaba as kb

def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

plant = kb.build(kb.load("four-bar"))

def law(k):
    kb.simulate(plant, 0.01, control={"motor": f"{0.1 + k * 1e-3}*(10 - rate(crank.angle))"})

def expression(k):
    kb.simulate(plant, 0.01)[f"crank.angle*{k}"]

def machine(k):
    parts = [kb.Body(f"b{n}", kb.Rod(0.1, mass=0.1), parent=f"b{n - 1}.tip" if n else "world", joint=kb.Revolute(kb.Y))
             for n in range(4)]
    system = kb.System("chain", (*parts, kb.Spring("spring", "b0.angle", stiffness=f"{k} + 1")))
    kb.build(system).motion([0.1] * 4, [0] * 4)

for k in range(80):  # until what is kept for a while is full
    KIND(k)
before = resident()
for k in range(80, 140):
    KIND(k)
print((resident() - before) / 60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory in use of Linux")
@pytest.mark.parametrize("kind", ["law", "expression", "machine"])
def test_what_was_used_leaves_little_behind(kind):
    script = SCRIPT.replace("KIND", kind)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr  # code that is still in use must not go
    assert float(done.stdout) < MOST


def small(name):
    x = ca.SX.sym("x")
    return native.kernel("k", name, lambda: ca.Function("small", [x, ca.SX.sym("p")], [x + 1], ["x", "p"], ["y"]))


def test_a_kernel_that_nobody_holds_goes_and_one_that_is_held_stays(monkeypatch):
    monkeypatch.setattr(build, "_kernels", weakref.WeakValueDictionary())
    monkeypatch.setattr(build, "_recent", Recent(2))
    held, dropped = small("held"), weakref.ref(small("dropped"))
    for k in range(2):
        small(f"other {k}")
    gc.collect()
    assert dropped() is None
    assert small("held") is held
    assert held([1.0], held.store([0.0]))[0] == 2.0


def test_kernels_in_a_ring_of_references_are_collected_in_any_order(monkeypatch):
    monkeypatch.setattr(build, "_kernels", weakref.WeakValueDictionary())
    monkeypatch.setattr(build, "_recent", Recent(1))
    for k in range(30):
        ring = [small(f"ring {k}")]
        ring.append(ring)
    del ring
    small("last")
    gc.collect()
    assert len(build._kernels) == 1


def test_what_was_used_last_is_kept():
    made = []
    recent = Recent(2)

    def ask(key):
        return recent.get(key, lambda: made.append(key) or key)

    assert [ask(key) for key in "abacab"] == list("abacab")
    assert made == ["a", "b", "c", "b"]  # a stayed, since it was used before c came
