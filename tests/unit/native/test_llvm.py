"""Code for processors of every kind, and plain words when LLVM refuses."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native import llvm
from kalaba.native.llvm import Host, compile_modules, host, load_objects
from unit.native.evaluation import by_casadi, natively, random_function, ulps_apart


@pytest.fixture
def unfused(monkeypatch):
    """A processor without fused multiply-add."""
    monkeypatch.setattr("kalaba.native.build.host", lambda: SimpleNamespace(fused=False))


@pytest.mark.parametrize("lanes", [1, 8])
def test_code_without_fused_operations_agrees_with_casadi(unfused, lanes):
    function, states, parameters = random_function(16, 900), np.linspace(-1, 1, 64).reshape(8, 8), np.ones(5)
    found = natively(function, states, parameters, lanes)
    np.testing.assert_allclose(found, by_casadi(function, states, parameters), rtol=0, atol=1e-10)


def test_sine_and_cosine_without_fused_operations_are_right_to_two_ulps(unfused):
    x, angles = ca.SX.sym("x"), np.random.default_rng(17).uniform(-1e6, 1e6, 1000)
    found = natively(ca.Function("f", [x], [ca.sin(x), ca.cos(x)]), angles[None], lanes=8)
    assert ulps_apart(found, np.array([np.sin(angles), np.cos(angles)])).max() <= 2


@pytest.mark.parametrize(
    ("triple", "features", "fused"),
    [
        ("x86_64-unknown-linux-gnu", "+avx,+fma,-fma4", True),
        ("x86_64-unknown-linux-gnu", "+avx,-fma,+fma4", False),
        ("x86_64-pc-windows-msvc", "", False),
        ("arm64-apple-darwin", "", True),
    ],
)
def test_fused_operations_are_used_where_the_processor_has_them(triple, features, fused):
    assert Host(triple, "cpu", features, "LLVM").fused is fused


def test_a_processor_whose_features_llvm_cannot_tell_is_used_by_name(monkeypatch):
    def refuse():
        raise RuntimeError("no features")

    monkeypatch.setattr(llvm._llvm(), "get_host_cpu_features", refuse)
    assert host.__wrapped__().features == ""


def test_code_that_llvm_refuses_is_an_error():
    with pytest.raises(NativeError, match="LLVM refuses"):
        compile_modules(["define nonsense"])


def test_a_platform_that_forbids_generated_code_is_an_error(monkeypatch):
    def refuse(module, target_machine):
        raise RuntimeError("not allowed")

    monkeypatch.setattr(llvm._llvm(), "create_mcjit_compiler", refuse)
    with pytest.raises(NativeError, match=r"cannot load machine code on .*not allowed"):
        load_objects(b"")


def test_a_function_that_is_missing_is_named():
    code = load_objects(compile_modules(["define void @present() {\nret void\n}"]))
    assert code.address("present")
    with pytest.raises(NativeError, match="no function absent"):
        code.address("absent")
