"""Machine code from CasADi functions, without a compiler; knows functions and arrays, and no robots.

    CasADi function ──read──▶ Program ──hoist──▶ prepare, main ──contract, cut──▶ pieces ──emit──▶ LLVM ──▶ Kernel

`kernel` is the way in. A kernel's arrays have shape (slots, lanes); see `Kernel`. The files, stage by stage:

    program      read a CasADi function into a listing of instructions
    passes       shared divisors, hoisting, contracting, cutting: what is done to a listing
    operations   values on lanes and operations in LLVM's language
    elementary   functions of the C library, sine and cosine
    emitter      pieces of code as a module in LLVM's language
    blocks       programs of several functions that are called for many blocks of data
    llvm         modules → machine code for this processor
    kernels      what comes out: a kernel and the layout of its arrays
    build        all stages in a row; kernels from memory, from the disk, or newly built
    cache        the kernels on the disk

and what calls kernels:

    backend       `Native` and `Interpreted`: how the functions of a machine are evaluated
    batch         one kernel on many states, without Python in between
    watched       one kernel with a check of what comes out, for callers in Python
    machine_code  loops that call kernels by address: functions of Python, the records they share, and their entries
    translation   the statements of such a function as a function of LLVM's language
    translated_expressions, kinds   its expressions; what its annotations mean
    notices       who is told that something is being compiled
"""

from kalaba.native.build import kernel
from kalaba.native.kernels import Kernel, Layout, aligned_zeros

__all__ = ["Kernel", "Layout", "aligned_zeros", "kernel"]
