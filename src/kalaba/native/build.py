"""All stages, from a function to a kernel; what is in memory or on the disk already is not built again."""

import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

import casadi

from kalaba.interruption import heard
from kalaba.native import cache as disk
from kalaba.native.blocks import BlockProgram, Placed, driver_text, room
from kalaba.native.emitter import MAIN, PREPARE, VERSION, Entry, module_texts
from kalaba.native.forking import hold_while_forking
from kalaba.native.kernels import Built, Kernel, Layout
from kalaba.native.llvm import compile_modules, host, load_objects
from kalaba.native.operations import Lanes
from kalaba.native.passes import LONGEST_PIECE, Cut, contract, cut, hoist, share_reciprocals
from kalaba.native.program import PARAMETERS, Instruction, Program, read_program
from kalaba.native.recent import Recent
from kalaba.native.twins import with_twins

_kernels: MutableMapping[str, Kernel] = WeakValueDictionary()  # of this process, by digest, as long as they are in use
_recent: Recent[Kernel] = Recent(32)  # those of about three machines, which may be built again soon
_building = threading.RLock()
hold_while_forking(_building)
Partners = Mapping[str, Mapping[int, int]]  # by input: entries of parts that are alike, both ways; see `twins.py`
BESIDE = (
    "cli",
    "export",
    "files",
    "printing",
    "results",
    "robots",
)  # rooms that trace nothing, or nothing that is not in the key


def kernel(
    name: str,
    key: str,
    trace: Callable[[], casadi.Function],
    lanes: int = 1,
    *,
    seldom: bool = False,
    partners: Callable[[], Partners] = dict,
) -> Kernel:
    """Give the kernel of a function.

    `key` says everything that the function depends on; `trace` makes the function, and is called only if no kernel
    with this name, key and number of lanes is at hand, in this process or on disk; so are its `partners`. One that runs
    `seldom` is made in a hurry: it runs at half the speed.
    """
    digest = _digest(name, f"{key} seldom" if seldom else key, lanes)
    loaded = _kernels.get(digest)
    if loaded is None:
        with heard(), _building:
            loaded = _kernels.get(digest)
            if loaded is None:
                built = disk.read(digest)
                if built is None:
                    built = build(name, trace(), lanes, seldom=seldom, partners={} if seldom else partners())
                    disk.write(digest, built)
                loaded = load(built)
                _kernels[digest] = loaded
    return _recent.keep(digest, loaded)


def load(built: Built) -> Kernel:
    """Put a compiled kernel into memory."""
    code = load_objects(built.code)
    return Kernel(**asdict(built.layout), address=code.address(MAIN), prepare_address=code.address(PREPARE), code=code)


def _digest(name: str, key: str, lanes: int) -> str:
    """Hash everything that the machine code depends on."""
    this = host()
    parts = (name, key, _sources(), str(VERSION), this.llvm, this.triple, this.cpu, this.features, str(lanes))
    return sha256("\0".join(parts).encode()).hexdigest()


@cache
def _sources() -> str:
    """Tell versions of kalaba apart: by number, and while it is being changed by the state of its files.

    Without the files, a derivation corrected today would go on using yesterday's machine code. Rooms that trace
    nothing of their own are left out.
    """
    package = sys.modules[__name__.partition(".")[0]]
    root = Path(__file__).parents[1]
    sources = sorted(path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in BESIDE)
    states = [(path.relative_to(root), path.lstat()) for path in sources]
    files = "\n".join(f"{path} {status.st_size} {status.st_mtime_ns}" for path, status in states)
    return f"{package.__version__} {sha256(files.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A function ready to be written: what it does, what prepares its constants, and the room that both need."""

    program: Program
    main: Cut
    prepare: Cut
    n_constants: int
    operations: int

    @property
    def n_work(self) -> int:
        return max(self.main.n_work, self.prepare.n_work)


def build(
    name: str,
    function: casadi.Function | BlockProgram,
    lanes: int,
    longest_piece: int = LONGEST_PIECE,
    *,
    seldom: bool = False,
    partners: Partners | None = None,
) -> Built:
    """Read, hoist, contract, cut, write and compile a function."""
    if isinstance(function, BlockProgram):
        layout, texts = _blocks_texts(name, function, lanes, longest_piece)
    else:
        layout, texts = _function_texts(name, function, lanes, longest_piece, partners or {})
    return Built(layout, compile_modules(texts, seldom=seldom))


def _function_texts(
    name: str, function: casadi.Function, lanes: int, longest_piece: int, partners: Partners
) -> tuple[Layout, list[str]]:
    in_lanes, fused = Lanes(lanes), host().fused
    pieces = _pieces(function, longest_piece, partners)
    layout = Layout(
        name=name,
        lanes=lanes,
        inputs=pieces.program.inputs,
        outputs=pieces.program.outputs,
        n_parameters=pieces.program.n_parameters,
        n_constants=pieces.n_constants,
        n_work=pieces.n_work,
        instructions=pieces.operations,
    )
    entries = (Entry(MAIN, pieces.main, in_lanes), Entry(PREPARE, pieces.prepare, in_lanes))
    return layout, module_texts(entries, fused=fused)


def _pieces(function: casadi.Function, longest_piece: int, partners: Partners) -> _Pieces:
    program = read_program(function)
    hoisted = hoist(with_twins(share_reciprocals(program.listing), leaves(program, partners)))
    main, prepare = contract(hoisted.main), contract(hoisted.prepare)
    n = len(prepare.results)
    cuts = cut(main, n, longest_piece), cut(prepare, n, longest_piece)
    return _Pieces(program, *cuts, n, main.count_operations())


def leaves(program: Program, partners: Partners) -> dict[Instruction, Instruction]:
    """Partners among the leaves of a program."""
    leaves: dict[Instruction, Instruction] = {}
    first = 0
    for name, size in (*program.inputs, (PARAMETERS, program.n_parameters)):
        op, begin = ("parameter", 0) if name == PARAMETERS else ("input", first)
        for one, other in partners.get(name, {}).items():
            if max(one, other) < size:
                leaves[Instruction(op, number=begin + one)] = Instruction(op, number=begin + other)
        first += size
    return leaves


def _blocks_texts(name: str, program: BlockProgram, lanes: int, longest_piece: int) -> tuple[Layout, list[str]]:
    """Write every function of a program once, with loops that call them."""
    in_lanes, fused = Lanes(lanes), host().fused
    placed: list[Placed] = []
    entries: list[Entry] = []
    first = operations = 0
    for number, call in enumerate(program.calls):
        pieces = _pieces(call.function, longest_piece, {})
        placed.append(Placed(number, call, pieces.n_constants + pieces.n_work, first))
        in_group, (main, prepare) = Lanes(call.width * lanes), placed[-1].names
        entries.append(Entry(main, pieces.main, in_group, is_internal=True))
        entries.append(Entry(prepare, pieces.prepare, in_group, is_internal=True))
        first += placed[-1].n_store * len(call.x)
        operations += pieces.operations * len(call.x)
    layout = Layout(
        name=name,
        lanes=lanes,
        inputs=program.inputs,
        outputs=program.outputs,
        n_parameters=program.n_parameters,
        n_constants=first,
        n_work=room(program),
        instructions=operations,
    )
    drivers = driver_text(program, placed, in_lanes)
    return layout, module_texts(entries, fused=fused, drivers=drivers)
