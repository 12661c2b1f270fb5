"""Machine code from CasADi functions, without a compiler; knows functions and arrays, and no robots.

    CasADi function ──read──▶ Program ──hoist──▶ prepare, main ──contract, cut──▶ pieces ──emit──▶ LLVM ──▶ Kernel

`kernel` is the way in. A kernel's arrays have shape (slots, lanes); see `Kernel`.
"""

from kalaba.native.arrays import aligned_zeros
from kalaba.native.compiled import Kernel, Layout
from kalaba.native.provide import kernel

__all__ = ["Kernel", "Layout", "aligned_zeros", "kernel"]
