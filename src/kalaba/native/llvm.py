"""Last stage: LLVM says what this processor offers, compiles a module and loads the result.

The code needs no optimiser, only a code generator: equal values are merged and dead ones removed before, sums are
contracted, and straight lines have no loops to improve. On 2,700 operations (AVX-512, one shared core) LLVM's -O2
passes took 0.06 s beside 0.16 s for the code generator and changed the running time by less than its noise. Three
quarters of the generator's time is register allocation; the fast allocators make code that is a quarter slower.
Code that runs seldom is made in a hurry: in a third of the time, to run at half the speed, with the same results.
"""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kalaba.errors import NativeError
from kalaba.native.elementary import addresses
from kalaba.native.forking import renew_when_forked

_OPTIMISATION, _HURRY = 3, 0
_LOOP_LEVEL, _INLINED = 3, 25  # of the optimiser: its passes, and how large functions may be that it inlines
_LENGTH_SIZE = 8  # bytes


@dataclass(frozen=True, slots=True)
class Host:
    """The processor that the code is made for."""

    triple: str
    cpu: str
    features: str
    llvm: str  # version

    @property
    def fused(self) -> bool:
        """Whether the processor multiplies and adds in one operation."""
        intel = self.triple.startswith(("x86_64", "i686", "i386", "amd64"))
        return not intel or "+fma" in self.features.split(",")


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """Machine code in memory; it stays there as long as this value."""

    engine: Any

    def address(self, name: str) -> int:
        """Give the address of a function."""
        address = int(self.engine.get_function_address(name))
        if not address:
            raise NativeError(f"the machine code has no function {name}; remove the cached kernels and build again")
        return address


@cache
def host() -> Host:
    """Ask LLVM what it runs on."""
    llvm = _llvm()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell on some platforms; the processor's name then has to do
        features = ""
    version = f"llvmlite {_llvmlite_version()} LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, version)


def compile_modules(texts: Sequence[str], *, seldom: bool = False) -> bytes:
    """Compile modules in LLVM's language, one by one; code that runs seldom in a hurry.

    Gives their object files, each after its length.
    """
    llvm = _llvm()
    packed = []
    try:
        target = _target_machine(_HURRY if seldom else _OPTIMISATION)
        for text in texts:
            with llvm.parse_assembly(text, llvm.create_context()) as module:
                module.verify()
                code: bytes = target.emit_object(module)
            packed += [len(code).to_bytes(_LENGTH_SIZE, "little"), code]
    except RuntimeError as error:
        raise NativeError(f"LLVM refuses the code written for it: {error}; use backend=Interpreted()") from error
    return b"".join(packed)


def compile_loop(text: str) -> bytes:
    """Compile a module of loops, which the optimiser is worth its time for; its object file, after its length."""
    llvm, target = _llvm(), _target_machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=_LOOP_LEVEL)
    tuning.loop_vectorization, tuning.loop_unrolling, tuning.inlining_threshold = True, False, _INLINED
    try:
        with llvm.parse_assembly(text, llvm.create_context()) as module:
            module.triple, module.data_layout = host().triple, str(target.target_data)
            module.verify()
            passes = llvm.create_pass_builder(target, tuning)
            passes.getModulePassManager().run(module, passes)
            code: bytes = target.emit_object(module)
    except RuntimeError as error:
        raise NativeError(f"LLVM refuses the loop written for it: {error}") from error
    return len(code).to_bytes(_LENGTH_SIZE, "little") + code


def load_objects(packed: bytes) -> LoadedCode:
    """Put object files that `compile_modules` gave into memory, ready to be called."""
    llvm = _llvm()
    try:
        # In LLVM's own context, which stays: one of its own may be collected before the engine, which needs it to go.
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        first = 0
        while first < len(packed):
            start = first + _LENGTH_SIZE
            first = start + int.from_bytes(packed[first:start], "little")
            engine.add_object_file(llvm.ObjectFileRef.from_data(packed[start:first]))
        engine.finalize_object()
    except RuntimeError as error:
        raise NativeError(
            f"LLVM cannot load machine code on {platform.platform()}: {error}; use backend=Interpreted()"
        ) from error
    return LoadedCode(engine)


def _target_machine(level: int = _OPTIMISATION) -> Any:
    llvm, this = _llvm(), host()
    target = llvm.Target.from_triple(this.triple)
    return target.create_target_machine(this.cpu, this.features, opt=level, jit=True)


@cache
def _llvm() -> Any:
    """Import LLVM, which takes a while, and make it ready for this processor."""
    import llvmlite.binding as llvm

    renew_when_forked(llvm.ffi.lib._lock, "_lock")  # noqa: SLF001  (what is thrown away in a child needs it)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in addresses().items():
        llvm.add_symbol(name, address)
    return llvm


def _llvmlite_version() -> str:
    import llvmlite

    return str(llvmlite.__version__)
