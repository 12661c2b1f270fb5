"""A controller in Python: called at its own rate inside a run, or in a loop of one's own; and a stop event.

The machine is the catalogue's four-bar. A PI law brings its crank to 6 rad/s with 200 samples a second.
"""

import numpy as np

import kalaba as kb

plant = kb.build(kb.load("four-bar"))
crank = plant.velocities.index("crank.angle")
rate, wanted, limit = 200.0, 6.0, 2.0


def controller(_t: float, _q: np.ndarray, v: np.ndarray, integral: float) -> tuple[dict[str, float], float]:
    """Give the motor's torque and the new integral; the integral waits while the motor is at its limit."""
    error = wanted - v[crank]
    torque = 1.0 * error + 5.0 * integral
    if abs(torque) < limit:
        integral += error / rate
    return {"motor": torque}, integral


# `state` is the controller's memory, here the integral at the start. The torque is held between samples, and a motor
# gives no more than its limit. Between two samples no Python runs.
fixed = kb.RungeKutta4(1e-3)  # as the loop of one's own below; the default would take other steps
run = kb.simulate(plant, 4.0, control=kb.Sampled(controller, rate, state=0.0), stepper=fixed)
late = run.time > 2.0
speed = run["rate(crank.angle)"][late]
print(f"speed after 2 s: {speed.min():.2f} to {speed.max():.2f} rad/s, {speed.mean():.2f} on average")

# A loop of one's own: plant.step takes one Runge-Kutta step and projects. It clips nothing; that is yours here.
state, integral, step = plant.start, 0.0, 1e-3
for k in range(1000):
    if k % 5 == 0:  # 200 samples a second, at 1000 steps
        given, integral = controller(k * step, *state, integral)
        torque = np.clip(given["motor"], -limit, limit)
    state = plant.step(state, [torque], step, t=k * step)
at_one_second = int(np.argmin(np.abs(run.time - 1.0)))
apart = np.abs(state.q - run.q[at_one_second]).max()
gap = np.abs(plant.residual(state.q)).max()
print(f"own loop and run differ by {apart:.1e} rad after 1 s; the machine's loop is closed to {gap:.1e}")

# A run can end at an event: when the condition becomes true, found within the step to rounding.
turn = kb.simulate(plant, 4.0, control=kb.Sampled(controller, rate, state=0.0), stop="crank.angle > 1 + 2*pi")
print(f"{turn.status.ending.value}: the first turn took {turn.status.time:.6f} s")

# And the next can go on from there, as another machine: the pin breaks.
broken = kb.simulate(plant.system.remove("pin"), 0.5, start=turn.end)
away = np.hypot(broken["rocker.tip.x"][-1] - 0.45, broken["rocker.tip.z"][-1])
print(f"half a second without the pin: the tip is {away:.2f} m away from it")

# A run that breaks off is an error that carries the part done; check=False returns it instead. This law has no value
# after one second.
rod = kb.Body("rod", kb.Rod(0.6, mass=1.0), joint=kb.Revolute(-kb.Y))
lone = kb.System("lone", (rod, kb.Actuator("motor", "rod.angle")))
part = kb.simulate(lone, 2.0, control={"motor": "sqrt(1 - t)"}, check=False)
print(part.status.message)

assert np.abs(run.actuation).max() <= limit
assert abs(speed.mean() - wanted) < 0.1
assert apart < 1e-9
assert abs(turn["crank.angle"][-1] - 1 - 2 * np.pi) < 1e-9
assert gap < 1e-13
assert away > 0.1
assert part.status.failed
assert abs(part.status.time - 1.0) < 1e-2
