"""Everything the compiled loop works on, in one record: a chunk of a run leaves all it knows behind."""

from kalaba.compiled.work import Work
from kalaba.native.machine_code import record_type

RUNNING, DONE, STOPPED, NAN, UNDERFLOW, RESIDUAL, INCONSISTENT, SINGULAR, UNSOLVED = range(9)  # as in Status


class Memory(Work):
    """The fields of the record; those commented with a shape are addresses of arrays (see `Work`)."""

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
    error: float  # of its last step
    n_steps: int
    n_rejected: int
    next_sample: int

    projecting: int
    settle: int  # the kernel project or normalise; 0 = none
    settle_store: int
    settled: int  # (n_y + 2 n_rows): y corrected, residuals, their speeds
    rows: int  # the kernel rows
    rows_store: int
    listed: int  # (n_v n_v + n_rows n_v): M and A, column by column
    references: int  # (n_rows): pivots at the last choice
    mass: int  # (n_v, n_v): scratch of one lane
    row_copy: int  # (n_rows, n_v): scratch of one lane
    row_weights: int  # (n_rows,): scratch of one lane
    row_sizes: int  # (n_rows): largest entry of each row of A met at any choice
    row_least: int  # (n_rows,): scratch of one lane
    raw: int  # (n_y): a state before it is projected
    chosen: int  # (n_rows,): scratch of one lane
    n_limbs: int  # of a machine whose kernels work limb by limb, else 0
    seats: int  # for rows that limbs hand up
    limb_row_ends: int  # (n_limbs + 1,) integers; the first row of the first limb is 0
    limb_rows: int  # integers: rows of one limb after the other
    limb_column_ends: int  # likewise for the velocities of each limb
    limb_columns: int
    choices: int  # (kept_choices, 3): time, lane, rank
    kept_choices: int

    event: int  # the kernel event; 0 = none
    event_store: int
    values: int  # (lanes,): what it writes
    before: int  # (lanes,): its value one step earlier
    stop: int  # (lanes,): when the event came; inf = not in this step

    status: int  # (lanes,) integers
    row: int  # (lanes,) integers: the row a failure speaks of, else -1
    rank: int  # (lanes,) integers: at the last choice; -1 = not yet chosen
    flag: int  # (lanes,) integers: scratch, the lanes a part of the loop concerns
    reached: int  # (lanes,): time of the last good state
    found: int  # (lanes,): residual of the kept rows that the last projection found
    worst: int  # (lanes,): largest gap met, its row (integers) and its time
    worst_row: int
    worst_time: int
    jolt: int  # (lanes,): largest change of speed by a projection, of the largest speed, and its time
    jolt_time: int

    samples: int  # (lanes,) integers: how many are recorded
    sample_time: int  # (samples, lanes)
    sample_y: int  # (samples, n_y)
    sample_acceleration: int  # (samples, n_v)
    sample_force: int  # (samples, n_v): Qc
    sample_actuation: int  # (samples, n_u)
    sample_gap: int  # (samples, lanes): the largest, and its row (integers)
    sample_gap_row: int


MEMORY = record_type(Memory)
