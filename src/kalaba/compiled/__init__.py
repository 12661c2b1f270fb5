"""The compiled loop that joins steppers, projection and the choice of rows.

How a run is made (`Layout` is that of `constrain/layout.py`, `Code` that of `native/batch.py`)::

    layout = Layout(n_q, n_v, n_u, n_rows)
    kernels = Kernels(layout, motion=Code(address, store, owner), rows=..., project=..., control=..., event=...)
    run = Integration(kernels, RungeKutta4(1e-3), Schedule(end=5.0, save_every=0.01), start=y)
    while run.running:
        run.advance(steps=10_000)          # a progress bar; how a run is cut changes no bit
    trajectory = run.trajectory(lane=0)    # samples, status, statistics

With a controller sampled in Python, the step lands on each sample::

    for k in range(n):
        run.actuation[:] = controller(run.time, run.y)
        run.advance(until=(k + 1) * period)
    run.advance()                          # records the sample at the end

What happens at every step, in this order (`step` in `engine.py`):

1. Motion at the state on hand, after the control law: the first stage, and all a sample needs.
2. A kept pivot below ROW_PIVOT_FALLEN of its value at the last choice, or a row left out open by more than ROW_OPEN:
   rows are chosen again there (always before the first step), and the state is projected with them. A row left out
   that stays open, or moves, is inconsistent (`choice.py`).
3. A sample that is due is recorded (`samples.py`).
4. The stages, with the rows frozen (`explicit.py`, `implicit.py`, or `structural.py` for methods with a scheme); an
   adaptive step is repeated until its error, before projection, is small enough (`pace.py`).
5. Projection at the new time, with rows chosen again where one of those in use was lost within the step
   (`settle_step` in `choice.py`); it is repeated as `settle` in `projection.py` says. Without projection,
   normalisation, if any.
6. Samples and the event within the step, on its dense output, projected unless what that changes is noise.
7. What a method keeps for its next step, and the new state.

Where the motion is stiff the loop pauses (`memory.paused`), Python changes the method (`methods.py`), and it goes on.

`single_step.py` takes single steps from any state, for loops written in Python; `direct_step.py` puts the checks and
copies around such a step into the same call.

All parts work on one record of numbers and addresses (`memory.py`), which `workspace.py` makes.

A lane that fails or stops keeps its last good state and the others go on. Failures are results: see `Status`.
"""

from kalaba.compiled.integration import Integration
from kalaba.compiled.kernels import Kernels
from kalaba.compiled.methods import TangentKernels
from kalaba.compiled.schedule import Schedule
from kalaba.compiled.trajectory import Change, Opening, RankAtTime, Status, Trajectory

__all__ = [
    "Change",
    "Integration",
    "Kernels",
    "Opening",
    "RankAtTime",
    "Schedule",
    "Status",
    "TangentKernels",
    "Trajectory",
]
