"""The equations themselves: derived three ways, printed, and as CasADi functions for work of one's own."""

import casadi as ca
import numpy as np

import kalaba as kb

# A cart with a pendulum.
pendulum = kb.System(
    "pendulum",
    parts=(
        kb.Body("cart", kb.Box((0.2, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X, q="x")),
        kb.Body("rod", kb.Rod(0.6, mass=0.5), parent="cart", joint=kb.Revolute(-kb.Y, q="theta")),
        kb.Actuator("drive", "x"),
    ),
    coordinates=("x", "theta"),
)

# The three methods give the same Equations, M v' + bias = B u + Qc with A v' = b, by ways that have little in common.
methods = (kb.NewtonEuler(), kb.Lagrange(), kb.Kane())
derived = {type(method).__name__: kb.derive(pendulum, method) for method in methods}
for name, equations in derived.items():
    print(f"{name:12} went through: {', '.join(equations.steps)}")

# Fields are CasADi expressions of named symbols; numbers that are not zero are symbols too.
newton = derived["NewtonEuler"]
print("\nsymbols:", newton.symbols.q, newton.symbols.v, newton.symbols.u, newton.symbols.p)
print("energy:", derived["Lagrange"].steps["kinetic energy"])
print(newton.latex("mass_matrix"))

# As a function of (q, v, t, u, p). The values of p are the plant's parameters.
plant = kb.build(pendulum)
rng = np.random.default_rng(7)
q, v, u, p = rng.normal(size=2), rng.normal(size=2), np.array([0.3]), plant.parameters
apart = 0.0
for field in ("mass_matrix", "bias", "gravity", "coriolis"):
    values = [np.array(equations.function(field)(q, v, 0.0, u, p)) for equations in derived.values()]
    apart = max(apart, *(np.abs(value - values[0]).max() for value in values))
print(f"the three differ by at most {apart:.1e}")

# "motion" is the constrained motion as one CasADi function, by the KKT system: for optimal control, or to linearise.
motion = newton.function("motion")
x = ca.MX.sym("x", 4)
rate = ca.vertcat(x[2:], motion(x[:2], x[2:], 0.0, 0.0, p)[0])
upright = np.array([0.0, np.pi / 2, 0.0, 0.0])
poles = np.linalg.eigvals(np.array(ca.Function("A", [x], [ca.jacobian(rate, x)])(upright)))
print("poles of the upright pendulum:", np.sort(poles.real).round(4))

# It needs independent rows. The four-bar's hinge in space has three rows too many; two in its plane will do.
flat = kb.Constraint("pin", {"x": "rocker.tip.x - 0.45", "z": "rocker.tip.z"})
closed = kb.build(kb.load("four-bar").remove("pin").add(flat))
state = closed.start
by_casadi = closed.equations.function("motion")(*state, 0.0, [0.5], closed.parameters)[0]
by_kernel = closed.motion(*state, actuation=[0.5]).acceleration
print("four-bar:", by_kernel.round(4), "rad/s^2")

# Derivatives of the motion on the constraints, for any rows: changes of state that keep the loop closed.
changes = closed.derivatives(*state)
print("derivatives by", changes.tangent.shape[1], "freedom:", changes.by_q.ravel().round(2))

cart, rod, length, g = 2.0, 0.5, 0.6, 9.81
moment = rod * length / 2  # of the rod about its hinge, by hand
squared = moment * g / (rod * length**2 / 3 - moment**2 / (cart + rod))
assert apart < 1e-13
assert np.isclose(poles.real.max(), np.sqrt(squared))
assert np.allclose(np.array(by_casadi).ravel(), by_kernel, rtol=1e-12)
assert changes.tangent.shape == (3, 1)
