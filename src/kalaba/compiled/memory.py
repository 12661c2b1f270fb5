"""Everything the compiled loop works on, in one record, and the two functions that every part of it calls.

A chunk of a run leaves all it knows behind in the record, so that how a run is cut changes no bit of it.
"""

from kalaba.compiled.trajectory import Status
from kalaba.native.machine_code import Floats, call, compiled, floats, record_type

# As plain integers, which compiled code compares.
RUNNING, DONE, STOPPED = int(Status.RUNNING), int(Status.DONE), int(Status.STOPPED)
NAN, UNDERFLOW, RESIDUAL = int(Status.NAN), int(Status.UNDERFLOW), int(Status.RESIDUAL)
INCONSISTENT, SINGULAR, UNSOLVED = int(Status.INCONSISTENT), int(Status.SINGULAR), int(Status.UNSOLVED)


class Memory:
    """The fields of the record (see `machine_code`); those commented with a shape are addresses of arrays.

    Arrays of shape (n) hold n slots for every lane, the entry of slot i and lane l at i·lanes + l; those of shape (n,)
    hold n numbers for all lanes. The packed input of `constrain/layout.py` stands in `inputs`: y = [work, q, v] first,
    then t, then u. Where parts of what kernels read and write begin is found once, from `Layout`, in `workspace.py`.
    """

    # The machine: sizes, and what every kernel reads and writes.
    n_y: int
    n_work: int  # slots of y before q
    n_v: int
    n_u: int
    lanes: int
    entries: int  # n_y · lanes (not `size`, which a NumPy record has of its own)

    motion: int  # the kernel of ẏ
    motion_store: int  # (constants + scratch)
    control: int  # the kernel of u; 0 = u is held
    control_store: int
    inputs: int  # (input slots): what every kernel reads
    u: int  # (n_u), within the inputs
    rates: int  # (n_y + ...): what the motion kernel writes: ẏ and, behind it,
    v_rates: int  # (n_v): v̇, the end of ẏ
    forces: int  # (n_v): Qc
    row_pivots: int  # (n_rows): of G
    gaps: int  # (n_rows): |φ|
    controls: int  # (n_u): what the control kernel writes

    # The method: coefficients of its tableau (see `steppers/tableau.py`) and the arrays of one step.
    velocity_first: int  # 1 = semi-implicit
    needs_end: int  # 1 = the dense output uses D and the rate at the end
    exponent: int  # of h in the error estimate
    n_stages: int
    nodes: int  # (s,)
    matrix: int  # (s, s)
    weights: int  # (s,)
    error_weights: int  # (s,): b - b̂
    dense: int  # (s + 2, 4)
    last_difference: int  # (s,): a of the last stage less that of the stage before
    relative: float  # tolerance of an adaptive method
    floors: int  # (slots of y,): the error of each that is allowed whatever its extent
    extents: int  # (n_y): how far each coordinate has come from its origin, the largest of each velocity
    origins: int  # (n_y): q where the run began, 0 for velocities
    sizes: int  # (slots of y,): the machine's own, of each coordinate and velocity

    y: int  # (n_y): where a step starts
    trial: int  # (n_y): where it ends
    between: int  # (n_y): a state in between, or scratch
    stages: int  # (s + 2, n_y): rates; the last two are D = (trial - y)/h and the rate at the end
    active: int  # (lanes,) integers: lanes that count

    # Constraint rows that are kept in this step.
    n_rows: int
    mask: int  # (n_rows): within the inputs
    n_choices: int  # of rows, so far

    # A method with a scheme or implicit stages, in one lane (see `structural.py`, `implicit.py`); else the fields to
    # `exchanges` are not used.
    stage_gamma: float  # γ of implicit stages
    stage_base: int  # (n_y): where the implicit Euler step that a stage is begins
    n_iterations: int  # of Newton's method in implicit stages, so far
    n_tangents: int  # taken for them
    n_factors: int  # of the matrix of corrections
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
    tangents: int  # what it writes: the next seven, by columns
    tangent_mass: int  # (n_v²)
    tangent_damping: int  # (n_v²)
    tangent_stiffness: int  # (n_v²)
    tangent_rows: int  # (n_rows n_v)
    tangent_values: int  # (n_rows)
    tangent_row_damping: int  # (n_rows n_v)
    tangent_row_stiffness: int  # (n_rows n_v)
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
    exchanges: int  # (n_v + n_rows) integers: rows exchanged for the pivots of the factors

    # The run: its times and how far it has come.
    start: float
    end: float
    step: float  # of a fixed-step method; 0 = adaptive
    max_step: float  # of an adaptive method
    slack: float  # times nearer than this are the same
    save_every: float
    n_samples: int  # at multiples of save_every and at the end

    time: float  # of the state y
    ahead: float  # where the step under way ends
    origin: float  # of the grid of fixed steps
    since_origin: int  # fixed steps from there
    taken: float  # length of the step under way
    next_step: float  # an adaptive method's suggestion; 0 = none yet
    rejected: int  # how often it has tried this step in vain
    passing: float  # length of a step that was halved since it ended beside a singular position; 0 = it was not
    error: float  # of its last step
    n_steps: int
    n_rejected: int
    gauges: int  # 1 = the last two stages are at the same time, and stiffness is asked for
    n_stiff: int  # steps, with few exceptions in a row, that stability may have limited
    n_mild: int  # steps in a row that it has not
    stiffest: float  # fastest rate of a stiff motion met so far, 1/s
    paused: int  # 1 = the loop waits: it is stiff
    next_sample: int

    # Projection, and the choice of rows.
    projecting: int  # 1 = the kernel settle projects, 0 = it normalises quaternions at most
    settle: int  # the kernel project or normalise; 0 = none
    settle_store: int
    settled: int  # (n_y + 2 n_rows): y corrected and, behind it,
    residuals: int  # (n_rows): φ before the correction
    residual_rates: int  # (n_rows): φ̇ before it
    rows: int  # the kernel rows
    rows_store: int
    listed: int  # what the kernel rows writes: the next two, by columns
    listed_mass: int  # (n_v²)
    listed_rows: int  # (n_rows n_v): A
    references: int  # (n_rows): pivots at the last choice
    first_pivots: int  # (n_rows): pivots where an adaptive step starts
    largest_pivots: int  # (n_rows): the largest of these that each row had while it was kept
    mass: int  # (n_v, n_v): scratch of one lane
    row_copy: int  # (n_rows, n_v): scratch of one lane
    row_weights: int  # (n_rows,): scratch of one lane
    row_sizes: int  # (n_rows): largest entry of each row of A met at any choice, in the machine's sizes
    row_least: int  # (n_rows,): scratch of one lane
    raw: int  # (n_y): a state before it is projected
    chosen: int  # (n_rows,): scratch of one lane
    n_limbs: int  # of a machine whose kernels work limb by limb, else 0
    hub_rows: int  # rows that the hub has free for those that limbs hand up
    limb_row_ends: int  # (n_limbs + 1,) integers; the first row of the first limb is 0
    limb_rows: int  # integers: rows of one limb after the other
    limb_column_ends: int  # likewise for the velocities of each limb
    limb_columns: int
    choices: int  # (kept_choices, 3): time, lane, rank
    kept_choices: int

    # The machine's sizes (see `plant/scales.py`): what gaps, rows and speeds are compared by.
    gap_units: int  # (rows,): of gaps
    row_units: int  # (rows,): of what rows say
    q_units: int  # (n_q,): of coordinates
    v_units: int  # (n_v,): of velocities, times s
    per_v_unit: int  # (n_v,): 1 / v_units
    row_nothing: int  # (rows,): rows of A without a larger entry, in these sizes, are rounding
    own_rate: float  # 1/s: speeds are at least of this size

    # The event that stops a lane.
    event: int  # the kernel event; 0 = none
    event_store: int
    values: int  # (lanes,): what it writes
    before: int  # (lanes,): its value one step earlier
    stop: int  # (lanes,): when the event came; inf = not in this step

    # How each lane stands.
    status: int  # (lanes,) integers, of `Status`
    row: int  # (lanes,) integers: the row a failure speaks of, else -1
    rank: int  # (lanes,) integers: at the last choice; -1 = not yet chosen
    flag: int  # (lanes,) integers: scratch, the lanes a part of the loop concerns
    reached: int  # (lanes,): time of the last good state
    residual: int  # (lanes,): of the kept rows, in units of gaps, before the last correction by projection
    worst: int  # (lanes,): largest gap met, in units of gaps, its row (integers) and its time
    worst_row: int
    worst_time: int
    speed_change: int  # (lanes,): how much of the speed the last projection changed
    jolt: int  # (lanes,): largest change of speed by a projection, of the largest speed, and its time
    jolt_time: int

    # What each lane has recorded.
    samples: int  # (lanes,) integers: how many are recorded
    sample_time: int  # (samples, lanes)
    sample_y: int  # (samples, n_y)
    sample_acceleration: int  # (samples, n_v)
    sample_force: int  # (samples, n_v): Qc
    sample_actuation: int  # (samples, n_u)
    sample_gap: int  # (samples, lanes): the largest, and its row (integers)
    sample_gap_row: int


MEMORY = record_type(Memory)


@compiled
def load(memory: Memory, state: Floats, t: float) -> None:
    """Write a state and its time where the kernels read them."""
    inputs, size = floats(memory.inputs), memory.entries
    for i in range(size):
        inputs[i] = state[i]
    for lane in range(memory.lanes):
        inputs[size + lane] = t


@compiled
def evaluate(memory: Memory, stage: int) -> None:
    """Fill `rates` from the inputs as they stand, after u if there is a control law; keep ẏ as a stage (-1 = none)."""
    if memory.control != 0:
        call(memory.control, memory.inputs, memory.controls, memory.control_store)
        u, controls = floats(memory.u), floats(memory.controls)
        for i in range(memory.n_u * memory.lanes):
            u[i] = controls[i]
    call(memory.motion, memory.inputs, memory.rates, memory.motion_store)
    if stage >= 0:
        stages, rates, size = floats(memory.stages), floats(memory.rates), memory.entries
        for n in range(size):
            stages[stage * size + n] = rates[n]
