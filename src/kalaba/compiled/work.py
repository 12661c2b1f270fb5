"""What a stepper works on: the equation ẏ = f(t, y, u) in machine code, a method's coefficients, one step's arrays."""

from kalaba.native.machine_code import Floats, call, compiled, floats


class Work:
    """The fields of a record (see `machine_code`); those commented with a shape are addresses of arrays.

    Arrays with slots hold the entry of slot i and lane l at i·lanes + l. y = [q, v] stands first in `inputs`, then t,
    then u; first in `rates` stands ẏ.
    """

    n_y: int
    n_v: int
    n_u: int
    lanes: int
    entries: int  # n_y · lanes (not `size`, which a NumPy record has of its own)

    motion: int  # the kernel of ẏ
    motion_store: int  # (constants + scratch)
    control: int  # the kernel of u; 0 = u is held
    control_store: int
    inputs: int  # (input slots): what every kernel reads
    rates: int  # (n_y + ...): what the motion kernel writes
    controls: int  # (n_u): what the control kernel writes

    velocity_first: int  # 1 = semi-implicit
    needs_end: int  # 1 = the dense output uses D and the rate at the end
    exponent: int  # of h in the error estimate
    n_stages: int
    nodes: int  # (s,)
    matrix: int  # (s, s)
    weights: int  # (s,)
    error_weights: int  # (s,): b - b̂
    dense: int  # (s + 2, 4)
    relative: float  # tolerances of an adaptive method
    absolute: float

    y: int  # (n_y): where a step starts
    trial: int  # (n_y): where it ends
    between: int  # (n_y): a state in between, or scratch
    stages: int  # (s + 2, n_y): rates; the last two are D = (trial - y)/h and the rate at the end
    active: int  # (lanes,) integers: lanes that count

    n_rows: int
    mask: int  # (n_rows): within the inputs
    n_choices: int  # of rows, so far

    structural: int  # 1 = a stepper for structures, in one lane; what follows is its own (see `structural.py`)
    beta: float
    gamma: float
    alpha_m: float
    alpha_f: float
    inertia: float
    collocation: float
    error_constant: float
    offset: float
    carries: int
    explicit: int
    index_3: int
    displace: int  # the kernel of q ⊕ N v
    displace_store: int
    tangent: int  # the kernel of M, C, K, A and the rows' values
    tangent_store: int
    tangents: int  # what it writes
    started: int  # 1 = an acceleration is carried
    unsolved: int  # 1 = Newton's method failed in this step
    step_before: float  # 0 = the acceleration before is not known
    step_meant: float  # h that the acceleration belongs to: it is the true one at t + offset·h
    tangent_step: float  # s of the factors; 0 = none yet
    tangent_choice: int  # n_choices of the factors
    acceleration: int  # (n_v): a
    acceleration_before: int  # (n_v): a one step earlier
    acceleration_next: int  # (n_v): a⁺
    true_acceleration: int  # (n_v): v̇ at the start of the step
    collocated: int  # (n_v): x
    held: int  # (n_u): what drove the last step
    excess: int  # (n_v): w - f
    multipliers: int  # (n_rows): λ - λ_f
    correction: int  # (n_v + n_rows)
    effective: int  # (n_v + n_rows)²: the factors
    pivots: int  # (n_v + n_rows) integers


@compiled
def load(work: Work, state: Floats, t: float) -> None:
    """Write a state and its time where the kernels read them."""
    inputs, size = floats(work.inputs), work.entries
    for i in range(size):
        inputs[i] = state[i]
    for lane in range(work.lanes):
        inputs[size + lane] = t


@compiled
def evaluate(work: Work, stage: int) -> None:
    """Fill `rates` from the inputs as they stand, after u if there is a control law; keep ẏ as a stage (-1 = none)."""
    if work.control != 0:
        call(work.control, work.inputs, work.controls, work.control_store)
        inputs, controls = floats(work.inputs), floats(work.controls)
        first = work.entries + work.lanes
        for i in range(work.n_u * work.lanes):
            inputs[first + i] = controls[i]
    call(work.motion, work.inputs, work.rates, work.motion_store)
    if stage >= 0:
        stages, rates, size = floats(work.stages), floats(work.rates), work.entries
        for n in range(size):
            stages[stage * size + n] = rates[n]
