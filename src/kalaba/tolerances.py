"""Every threshold that decides something: its unit, what it is measured against, and why it has its value.

A threshold stands here if another value could change an answer: a rank, an acceptance, a warning, a refusal. Counts of
tries, sizes of steps and pictures, and coefficients of methods stay where they are used. The comment above each says
its unit, what it is measured against ("of ..." = relative to it, without a unit), and the reason for its size. No
length, mass or energy stands alone: "of the machine's sizes" (`plant/scales.py`) is of its own length for what is in
metres, of its reach for gaps and places, whose rounding grows with it, and of 1 rad for angles; of speeds it is the
same times the rate that goes with its time. So a machine of a micrometre and one of ten kilometres are judged alike.
Sections follow the rooms of CONTRIBUTING.md; a threshold of several rooms stands in the section of the first of them.
"""

# --- Numbers and poses: space, joints, model, derive.

# Any unit, above zero: numbers of a model and of a path are at most so large, for products of six of them are finite
# then; those that must be above zero are at least so large, for their quotients are. Nothing of a machine comes near.
LARGEST_NUMBER = 1e50
SMALLEST_NUMBER = 1e-50  # see LARGEST_NUMBER
# Of the square of a quaternion's length: nearer to 1 it is left as it is, unit to rounding.
QUATERNION_UNIT = 1e-12
# Of the square of a quaternion's length: nearer to 1 it is made unit, farther off it is a mistake. One percent of the
# length: sensors, filters and numbers of few digits miss less, quaternions with a wrong entry as a rule more.
QUATERNION_NEARLY_UNIT = 0.02
# Cosine between the two axes of a cross: axes normalised from plain numbers miss a right angle by some 1e-16.
RIGHT_ANGLE = 1e-12
# Of length 1: a direction or quaternion whose length is this near to 1 is left as the user wrote it.
UNIT_LENGTH = 1e-12
# Of length 1: quaternions whose entries are expressions of parameters do not turn but stretch if they are farther off.
# Wider than UNIT_LENGTH: such entries are computed, and nothing normalises them.
TURNING_LENGTH = 1e-9
# Of the angle, at least 1 rad: nearer to a whole number of quarter turns an angle is one, with exact sine and cosine.
QUARTER_TURN = 1e-15
# rad, half of the angle of a rotation: below it axis times angle is twice the vector part, its factor being 0/0.
NO_TURN = 1e-12
# Of the largest principal moment: by how much inertia from rounded numbers may break the triangle inequality.
TRIANGLE = 1e-9
# Condition of the mass matrix of a beam's shapes: beyond it some of them are the same shape to rounding.
SHAPES_ALIKE = 1e13
# Of the largest value of a tabulated shape: its value at the root may miss zero by it, its slope by a thousand times.
SHAPE_ROOT = 1e-6
# Of the root: a smaller step of Newton's method on a beam's frequency equation is rounding.
FREQUENCY_ROOT = 1e-15
# Of the largest entry: integrals of orthogonal shapes below it are zero, and stay out of the equations.
SHAPES_ORTHOGONAL = 1e-13
# Of coefficients of size 1: how far q= expressions of declared coordinates may miss a linear form, and what of their
# coefficients is zero. They are written with few digits; rounding is some 1e-16.
COUPLING_LINEAR = 1e-12

# --- Printing.

# Of an entry's size or of 1 where it is smaller: by how much an entry in its short form may differ from the
# expression at a sample state. Both are sums of the same products in another order, which differ by some 1e-15 each.
PRINT_AGREES = 1e-12
# Of a parameter's value: a relation of a notation (one parameter as an expression of others) is used while it gives
# the value of the machine. Written numbers agree to all their digits or not at all; this is rounding with a margin.
RELATION_HOLDS = 1e-12

# --- Rows, their rank, closing and projection: constrain, compiled, plant.

# Of a row of length 1 (in the mass metric): its least distance from the span of the rows taken before it. On the
# manifold dependent rows lie at rounding, 1e-15 to 1e-13; a row nearer than √1e-15 = 3e-8 could not be told from one
# whose dependence is of second order.
ROW_INDEPENDENT = 1e-7
# Of the machine's sizes: a row of A without a larger entry is rounding, a loop that says nothing new.
ROW_NOTHING = 1e-12
# Of the longest row in the mass metric: shorter rows are vanishing and are not stretched to length 1.
ROW_VANISHED = 1e-6
# Of the longest row in the mass metric: shorter ones come later, so that a row that is vanishing makes way in time.
ROW_STRONG = 0.1
# Of the longest row: where rows are measured for their condition, shorter ones are not stretched to length 1, so that a
# row that is vanishing shows.
ROW_STRETCHED = 0.1
# Of the distance of the farthest row: of rows nearly as far, the one declared first is taken, so that rounding does not
# turn the choice.
ROW_PREFERRED = 0.9
# Of its length: a row at velocity level where rows are chosen. Above ROW_VANISHED, below ROW_STRONG: a row at position
# level that says the same comes first.
VELOCITY_ROW_LENGTH = 1e-2
# Of a diagonal entry of M: a pivot of its factor below this is rounding, and M not positive definite.
MASS_PIVOT = 1e-14
# Of a row of length 1: if a limb's own joints meet less of it, the row is handed up to the hub.
LIMB_MEETS = 0.02
# Of the largest inertia, or of 1 once each velocity is scaled to inertia 1: less is none, and M is singular.
NO_INERTIA = 1e-13
# Of a pivot of G = A M⁻¹ Aᵀ at the last choice: one that falls below this asks for a new choice, while the rows are
# still as good as √0.1 of what they were. Measured against the last choice, not against the row's own length: the row
# itself can vanish.
ROW_PIVOT_FALLEN = 0.1
# Of the same: at the end of a step or within it a row whose pivot is smaller has become a thousand times
# shorter, and a projection onto it that changes the speed divides errors of the step by that length.
ROW_PIVOT_GONE = 1e-6
# Of a pivot of G where an adaptive step starts: with less at its end, a step ends beside a singular position, nearer to
# it than a quarter of its length. Pivots go with the square of the distance: (1/5)².
PIVOT_BESIDE = 0.04
# Of the largest that a pivot of G has been in a run: with less, a singular position is near (its root is a tenth), and
# in the error estimate of an adaptive step rounding may be more than the rest.
PIVOT_FADED = 0.01
# Of the machine's sizes: a row left out that is open by more was not dependent; a hundred times the residual of a
# projected state.
ROW_OPEN = 1e-11
# Of the machine's sizes: a row with more slack at acceleration level is looked at closely.
ROW_SLACK = 1e-9
# Of gap × acceleration, all measured by the machine's sizes: slack that a state off the manifold by this gap explains.
# The rows of the catalogue's machines need up to 2; a row with more slack is looked at closely, which costs time only.
MEASURED_SLACK = 30.0
# Of the largest gap, by the machine's sizes: off the manifold rows must be farther apart than this to count as
# independent. Those that depend on it look apart by some multiple of the gap.
OPEN_ROWS_APART = 30.0
# Of the largest term in the rows: slack above this means that rows contradict each other.
ROW_CONTRADICTION = 1e-7
# Of the largest entry of the map from multipliers to wrenches, at least 1: a component of a wrench that multipliers
# without effect change by more is not unique. Above what rounding makes of dependent rows.
REACTION_UNIQUE = 1e-8
# Of the longest row, or of the largest singular value: motions that push a floating base less leave it still.
BASE_STILL = 1e-10
# Of the machine's sizes: residuals of an assembly below this are rounding.
ASSEMBLY_CLOSED = 1e-13
# Of the machine's sizes: below this residual nothing is left to gain in an assembly; a few units in the last place of
# 1.
ASSEMBLY_EXACT = 1e-15
# Of the machine's sizes: a change of configuration that rounding makes; a start that moves less was closed as guessed.
ASSEMBLY_UNMOVED = 1e-12
# Of the machine's sizes: a configuration that moves more to close again after a whole turn of an angle is another one.
ASSEMBLY_UNTURNED = 1e-6
# Of the machine's sizes: after a shorter step the nearest closed configuration is found.
ASSEMBLY_ARRIVED = 1e-14
# Of the largest singular value of rows of length 1: less is dropped from a Newton step. No rank is decided by it: off
# the manifold rows that depend look independent, and a step must not follow their difference.
ASSEMBLY_RANK = 1e-9
# Of the residual, or of the gap of a pose: a Newton step that leaves more than this of it is slow.
STEP_SLOW = 0.999
# Of the largest inertia: below this a direction counts as massless, and the metric of an assembly is filled up.
ASSEMBLY_MASSLESS = 1e-9
# Of the machine's sizes: a guess of a displacement or a frame that is missed by less is met.
GUESS_MET = 1e-13
# Of the machine's sizes: a start that closes this well and is refused is a false root.
FALSE_ROOT_CLOSED = 1e-9
# Of the speeds, at least the machine's own rate: rates of rows and speeds of a start that are missed by more cannot be
# met.
START_SPEED_MET = 1e-9
# Of the machine's sizes: below this nothing is left to gain in the speeds of a start.
START_SPEED_EXACT = 1e-14
# Of the speed, at least the machine's own rate: rows that move faster than this after an impact are driven.
IMPACT_SLIP = 1e-9
# Of the kinetic energy: the square of a change of speed that is rounding.
IMPACT_ROUNDING = 1e-20
# Of the largest singular value of [M; A]: smaller ones belong to directions that have neither inertia nor a row.
# Measured against rounding, for the words of an error.
NOT_UNIQUE = 1e-10
# Of a direction of length 1: velocities with a smaller part in it are not named in an error.
NOT_UNIQUE_SHOWN = 1e-6
# Of the machine's sizes: a correction this small leaves the state at rounding, and so the speeds, which are corrected
# with A before it.
PROJECTED = 1e-12
# Newton steps of one projection: it needs two or three; one that needs more has lost its way.
MOST_PROJECTIONS = 12
# Of the machine's sizes: a residual above this, where projecting no longer helps, is a failure. Far above what rounding
# leaves of configurations of size 1e3, far below what a drawing shows.
PROJECTION_LOST = 1e-9
# Of the largest share of a row in a weak direction: more is as large, but for rounding.
EQUAL_SHARE = 1.0 - 1e-6
# Of the speed: a projection that changes more may have met a singular position (see ROW_PIVOT_GONE), or rows that came
# into force with a jolt.
PROJECTION_SPEED_CHANGE = 1e-4
# Of the machine's sizes: changes of smaller speeds are measured against this, so that rounding at rest is no jolt.
SLOWEST = 1e-3
# Of the largest entry that a row ever had: smaller, it has lost its direction to rounding, and a step without it errs
# less.
ROW_FADED = 3e-6
# Of the largest speed, at least the machine's own rate: a row left out that moves faster contradicts the others. Ten
# times ROW_INDEPENDENT, down to which rows count as dependent.
ROW_SPEED_CLOSED = 1e-6
# Of the machine's sizes: a residual that the plain projection of one state does not try to lessen. Below PROJECTED: it
# is the reference for compiled code, and not in a hurry.
REFERENCE_PROJECTED = 1e-14
# Of the machine's sizes: a residual above this is a failure of the plain projection. Wider than PROJECTION_LOST:
# searches project states that lie far off, and it ends after a dozen corrections.
REFERENCE_LOST = 1e-6

# --- Time: steppers, compiled, run.

# Of a step or of save_every: a time this near a multiple of it is that multiple.
ON_GRID = 1e-9
# Of the time, s below 1 s: times that differ by less are the same.
SAME_TIME = 1e-12
# Of the time, or of the slack of times near 0: a step that has to be shorter goes nowhere. Sixteen units of rounding.
SHORTEST_STEP = 2.0**-48
# Beyond it a number is as good as infinite: its square is.
INFINITE = 1e300
# Of a condition on the coefficients of a tableau: they are of order 10 and rounded once.
ORDER_CONDITION = 1e-13
# Of the largest acceleration, or of a change of speed within the step: where Newton's method ends.
NEWTON_CLOSE = 1e-11
# Of the same as NEWTON_CLOSE: where it ends at the latest when corrections no longer shrink.
NEWTON_STALLED = 1e-7
# Of the correction before: one that shrinks by less asks for a fresh tangent. One digit per
# correction is what an old one is used for.
NEWTON_SLOW = 0.1
# Of the largest coordinate in the machine's sizes, at least 1: NEWTON_CLOSE for the motion within the step.
NEWTON_STILL = 1e-12
# Of the largest coordinate in the machine's sizes, at least 1: rows at position level are not known better.
NEWTON_CLOSED_ROWS = 1e-15
# Of the error that a step may have: where Newton's method ends in a stage of an implicit step.
STAGE_CLOSE = 0.01
# Of the correction before: one that shrinks by less asks for a fresh tangent in an implicit stage.
STAGE_SLOW = 0.3
# Step times the fastest rate of the motion: explicit steps that stay above it may be limited by stability. The regions
# of stability of pairs of order 5 reach from 1 (undamped) to 3.3 (overdamped).
STIFF_STEP = 0.9
# Steps of the present length: if fewer lie ahead, a stiff run ends sooner without the cost of another method.
STIFF_PAYS = 2e4
# Of the way per operation of the method in use: another one has to come so much farther to take over.
METHOD_PAYS = 1.2
# Of how far a coordinate moves, or of its largest velocity: a run whose states are off by more is warned of. It is just
# below the 1 % that nobody would call right: a sharp run beside it says so to three digits.
STATE_WRONG = 9.8e-3
# Of the tolerance of a run: a smaller error is the tolerance's own; a larger one has grown since.
ERROR_GROWN = 100.0
# Of the same, found by a coarse run beside it, at few samples: more asks for a sharp one.
STATE_DOUBTED = 2e-3
# Of how far the coordinate that moves most does, in the machine's scales: one that moves less is measured against it.
MOVES_LITTLE = 1e-4
# Of the machine's size, and in the whole run: less is no motion. A hundred times what steps may be off by.
MOVES_NOT = 1e-7
# Of the largest potential energy: if less was exchanged, it is rounding.
EXCHANGED_NOTHING = 1e-12
# Of the energy exchanged: energy gained less work done; a run that is off by more is warned of.
ENERGY_LOST = 1e-2
# Of a motor's bound: an effort beyond it by less is rounding.
WITHIN_BOUNDS = 1e-9
# Of the largest speed: a projection that changes more does not correct a stepper's error; warned of.
JOLT = 1e-3
# Of the speed: a larger jolt in a projection is reported. Less is the error of a stepper of order 4 or more.
JOLT_FELT = 1e-5
# Of the speed: the same for steppers of lower order, whose error is larger.
JOLT_FELT_COARSE = 1e-3
# Smallest singular value of what motors do to the freedoms, each motor in parts of its largest effect in the run: below
# it efforts are a thousand times what they need be, and motors lose hold of the machine. Between samples a change of
# sign tells; this is for machines with more motors than freedoms, and for those that only come near.
HOLD_LOST = 1e-3
# Of the median of the efforts: where none is larger, no position was passed at which motors lose hold, since efforts
# rise there without bound; it saves the look at each sample.
EFFORTS_RISE = 5.0
# Of a beam's length: a deflection past it leaves the range where linear modes hold; warned of.
LARGE_DEFLECTION = 0.2

# --- Rest and small motion: analyse.

# Of the machine's sizes: rows that move faster by themselves, or a state that does, leave no rest.
REST_STILL = 1e-9
# Of the machine's sizes: a displacement whose elastic force counts as one at work, so that a machine without load has a
# scale.
REST_STRAIN = 1e-3
# Of the forces at work: less is rounding, and the machine in equilibrium.
REST_BALANCED = 1e-9
# Of the forces at work: less is rounding for a search, which goes on below REST_BALANCED while it gains.
EQUILIBRIUM_NOISE = 1e-13
# Of the machine's sizes: an equilibrium that is not stable is meant if it is this near.
UNSTABLE_NEAR = 0.1
# Of the machine's sizes: a step this short changes nothing.
EQUILIBRIUM_ARRIVED = 1e-13
# Of the stiffest direction: less is no stiffness.
EQUILIBRIUM_SOFT = 1e-11
# Of the forces at work: what may point where nothing resists.
EQUILIBRIUM_LOST = 1e-9
# Of |K| |r|: where K r is less, nothing resists the force r that is left; for the words of an error.
EQUILIBRIUM_RESISTS = 1e-9
# Of the stiffness that meets in a mode without taking account of signs: less is none, and the mode rigid.
MODE_RIGID = 1e-10
# Of 1, a direction's largest part or the energy of a mode: smaller parts are not named in a message.
PART_SHOWN = 0.05
# Of the largest ω²: less is rounding.
MODE_TINY = 1e-15
# Of the largest stiffness: a stiffness less symmetric than this has no potential.
STIFFNESS_SYMMETRIC = 1e-7
# Of the fastest pole: slower ones are at zero, to rounding.
POLE_AT_ZERO = 1e-12
# Of the size of S, the velocity that a displacement brings with it: a smaller part across the displacements that are
# reached already is rounding.
CARRIED_AWAY = 1e-10
# Coefficient of a dependence between rows: a smaller one is rounding.
DEPENDENCE_SHOWN = 1e-9
# Of the largest entry of A: a dependence between rows that fails by more off the manifold is no identity.
DEPENDENCE_BROKEN = 1e-6

# --- Kinematics.

# Of the machine's sizes: gaps below this are rounding.
POSE_MET = 1e-12
# Of the machine's sizes: a gap this small that a step does not lessen is rounding.
GAP_ROUNDING = 1e-14
# Of the machine's sizes: at a smaller gap nothing is left to gain.
GAP_EXACT = 1e-16
# rad, half of the angle of a rotation: below it the factor of the inverse of its Jacobian is 1/12, which it misses by
# a part of 1e-9 that is lost beside the other terms; the formula would lose as many digits to a difference.
SMALL_TURN = 1e-4
# Of the machine's sizes: a displacement this little beyond its limit is at it.
BEYOND_LIMIT = 1e-9
# Of the machine's sizes: a displacement this near to its limit is held back by it.
AT_LIMIT = 1e-6
# Of the machine's sizes: configurations, places and attitudes nearer to each other are one.
SAME_SOLUTION = 1e-6
# Of the largest gain: directions that move a frame less are free.
FREE_DIRECTION = 1e-8
# Of the largest σ²: damping below this would let rounding steer.
FLAT_DIRECTION = 1e-20
# Of the trace of AᵀA: the same where it is factored. Larger, so that Cholesky's method does not fail of rounding.
FIRM_FACTOR = 1e-12
# Last entry of the residual r of the dual problem of a step, which is −|r|²: so little says that nothing is within the
# bounds. |r| = 1e-6, larger than BOUNDS_INFEASIBLE: without room a step stays free, which costs no more than a trial.
NO_ROOM = 1e-12
# Per entry of Rᵀ R: how far the columns of a matrix may be from orthonormal for a rotation.
ROTATION_MATRIX = 1e-9
# Turns: an angle this little beyond its limit is at it.
TURN_ROUNDING = 1e-14
# Smallest singular value of J, lengths in the machine's own: below it rates would be a million times the twist.
SINGULAR_ARM = 1e-6
# Of the required twist: a larger part that is missed is not rounding.
TWIST_MISSED = 1e-9
# Of the size of the arm; of a sine, of 1: axes that pass each other nearer meet.
AXES_MEET = 1e-9
# Sine of the angle between neighbouring axes: below it they count as parallel.
AXES_PARALLEL = 1e-6
# Sine of the angle between two lines: nearer to parallel they have no common point to rounding.
AXES_CROSS = 1e-12
# Of the size of the arm; of a sine, of 1: below this the degenerate equations give seeds too.
DEGENERATE_SHOULDER = 1e-4
# Of the size of the arm: a seed that misses by more is none.
SEED_MISS = 0.05
# Of the size of the arm, at a double root: a point is reached; Newton's method on the whole arm follows.
POINT_REACHED = 1e-11
# Sine of the angle between two axes that count as one: what the rounding of an angle leaves.
WRIST_ALIGNED = 1e-7
# Of the largest coefficient of a series: smaller leading ones are rounding.
LEADING_TERM = 1e-14
# Of the terms that make a series up: less is rounding.
VANISHED_SERIES = 1e-13
# Distance from the unit circle: a root this far from it still counts as a seed of a real zero.
OFF_CIRCLE = 0.05
# Of the largest singular value of rows, twists or rates: smaller ones are rounding.
DEPENDENT_FREEDOM = 1e-9
# Of the machine's sizes: velocities that move it less leave a frame where it is.
FRAME_MOVES = 1e-6
# Of the machine's sizes: arms that differ by more do not hold the same objects.
ARMS_AGREE = 1e-9

# --- Paths.

# Of the size of all points of a path: nearer neighbours are one point.
REPEATED_POINT = 1e-12
# Of lengths, accelerations and directions that are given at their bound: room for rounding.
PATH_ROUNDING = 1e-12
# Of the size of its ends: what is left of a leg between two blends is rounding if shorter.
LEG_LENGTH = 1e-13
# rad: a corner that turns less is none.
STRAIGHT_CORNER = 1e-12
# rad, from half a turn: legs at a corner that turns more lie on each other.
TURNED_BACK = 1e-6
# Of |dx/ds| = 1: how far it may be from 1 in a fit by arc length.
UNIT_SPEED = 1e-13
# Of half the interval of a fit: a smaller step of Newton's method on its parameter is rounding.
ARC_PARAMETER = 1e-15
# Of the length of a piece: how far the sum of its halves may be from it.
ARC_QUADRATURE = 4e-15
# Of a polynomial: where a fit this short fails the curve has a cusp.
SHORTEST_FIT = 2.0**-30
# Of the length of a written curve: the tolerance of its quadrature.
WRITTEN_LENGTH = 1e-12

# --- Control.

# Of the longest row of W: shorter rows are rounding, whatever their units.
FORCE_ROW_VANISHED = 1e-13
# Of the largest singular value of W with rows of length 1: smaller ones are rounding, and torques along them move
# nothing.
DEPENDENT_FORCES = 1e-10
# Of the largest entry of a required force (where motors share it, with rows of length 1): torques that miss less reach
# it, but for rounding.
FORCE_REACHED = 1e-9
# Of the largest missing part of a force: smaller ones are not named in an error.
MISSING_SHOWN = 1e-3
# Length of the residual of the dual problem, which is zero but for rounding if no τ is within the bounds. Smaller than
# the 1e-6 of NO_ROOM: efforts are refused by it.
BOUNDS_INFEASIBLE = 1e-9
# Of the cost of a least-squares problem: where scipy ends the search for the nearest efforts within bounds, for the
# words of an error.
NEAREST_EFFORTS = 1e-14
# Of the largest effort, and of rows of length 1: qrqp's answer is dropped if it misses more.
PROGRAMME_HELD = 1e-10
# Of a drive's rate: rates that differ by less are one.
SAME_RATE = 1e-9
# Of the machine's sizes: a goal that is missed by less is met.
GOAL_MET = 1e-9
# Of the largest speed: residual of the speeds of structure and goals that is rounding.
SPEED_MET = 1e-14
# Of a goal row of length 1: its least part that the other goals and the structure leave over.
INDEPENDENT_GOAL = 1e-6
# Of the machine's sizes: a start farther off is not on the course.
OFF_COURSE = 1e-6
# Of the configuration: tolerance of configurations that follow from rolling.
ROLLED = 1e-10
# Of the machine's sizes: a goal that rolling misses by more cannot be met so.
SLIPPED = 1e-6
# Of rows in units in which the first guess is of size 1: what ipopt is to reach.
COLLOCATION = 1e-9
# Of the least peak: room for its own rounding.
PEAK_ROUNDING = 1e-10
# Of the larger peak: peaks that differ by less leave nothing to trade.
PEAKS_ALIKE = 1e-9
# Of the speed at which friction is fully there: below it friction is linear in the speed.
CREEPING = 1e-6
# Of the largest singular value of S with rows of length 1: motors do not push along smaller ones.
PUSHED = 1e-8
# Of the largest entry of a null direction: a smaller one has no effect on its motor.
NULL_ENTRY = 1e-12

# --- Cooperation.

# Of the largest singular value: closer than assembly can place an arm at a singular grasp.
SINGULAR_GRASP = 1e-6
# Of the machine's sizes: a gap that a singular grasp leaves, where assembly creeps.
CREEPING_GRASP = 1e-5
# Of the least singular value: rates that lead are swapped only for a larger gain.
SWAP_GAIN = 1e-9
# Of the machine's reach: grasps nearer than assembly can tell apart have no line between them.
GRASPS_APART = 1e-9
# Of the largest singular value of an arm's A_f: with a smaller one half of T's digits are lost.
ARM_SINGULAR = 1e-8
# Measure of an arm, rates of the object per rate of its joints: below it joints are a million times as fast.
ARM_FOLLOWS = 1e-6
# Speeds of a platform per velocity of its legs: below it legs are a million times as fast as the platform.
LEG_FOLLOWS = 1e-6

# --- Export.

# Of the largest number expected in a case: by how much exported C may differ from kalaba's own code. Both do the
# same sums and products but for their order and rounding; where rounding is seen to do more, that counts instead.
C_AGREES = 1e-12
# Of the largest number expected in all cases: a case of smaller numbers is measured against this part of them, so
# that one which happens to expect almost nothing does not have to agree to more digits than rounding leaves.
C_CASE_SMALL = 1e-3
# Of the machine's sizes: a state whose rows are open by more is no case for a test. Projection ends some 100 times
# closer.
C_CASE_CLOSED = 1e-11
# Of the largest singular value of rows and encoders, each of length one: motions with a smaller one are not seen by
# any encoder. Far above rounding, far below any motion that an encoder is meant to read.
ENCODER_UNSEEN = 1e-9
# Of the machine's sizes: an exported controller refuses a state whose rows were open by more before the last step of
# Newton's method, which squares what is left: 1e-9 becomes rounding.
SERVO_LARGEST_GAP = 1e-9
# Of the machine's sizes: an exported controller refuses a state whose last step of Newton's method was longer; after a
# shorter one the error left, some square of it, is within rounding.
SERVO_LARGEST_STEP = 1e-6
# Of the independence of a motor's own velocity: another one is chosen for it only if it is ten times as independent.
MOTOR_VELOCITY = 0.1

# --- What people see: view, cli.

# By the machine's length and mass and the run's time: a line that spans less does not move. Less than a plot resolves.
DRAWN_RESTING = 1e-9
# Of the largest line of its kind: a smaller one is rounding beside it. Room above what rounding leaves.
DRAWN_ROUNDING = 1e-9
# Of a panel's height: lines or paths that stay this close cannot be told apart. A panel has some 300 pixels.
DRAWN_SAME = 1e-3
# SI units: sizes below it count as zero on a logarithmic axis. Below the rounding of any number near one.
DRAWN_FLOOR = 1e-18
# SI units, and of the values where they are larger than one: curves that span less are drawn as level.
LEVEL_SPAN = 1e-9
# m, rad: distances from a goal below it are rounding, and not drawn. Some ten units in the last place of one metre.
GOAL_ROUNDING = 1e-15
# Of the longest extent of all paths: an axis along which they extend less is not shown. Less than a pixel.
PATH_FLAT = 1e-4
# Of the largest amplitude: a spectrum ends where all lines stay below it. Four decades hold what can be heard.
SPECTRUM_SHOWN = 1e-4
# Of the longest step: samples whose distances differ more are not even, and have no spectrum.
SAMPLES_EVEN = 1e-6
# Of the machine's sizes: a coordinate in a report that is smaller is printed as zero. What a projected start leaves.
PRINTED_ZERO = 1e-12
# Of the largest number of its unit in a table: a smaller one is printed as zero. Some thousand roundings of it.
PRINTED_ROUNDING = 1e-12
# Of a joint's range: a joint of a run that is this far beyond its limits has left them. Above what a stepper's error
# does to a joint that is held at its limit.
OVERRUN = 1e-6
# As DRAWN_RESTING: a group of lines that stays within it is not offered in the studio. Lower, since it can be zoomed.
STUDIO_RESTING = 1e-12
# Of the machine's sizes and rate: a run whose first sample is this close to the machine's start began there.
SAME_START = 1e-9
# Of the machine's sizes: a frame that is dragged has arrived when it is this close. Below what a screen shows.
DRAG_NEAR = 1e-9
# Of the distance left: a step of dragging that gains less leads nowhere.
DRAG_GAIN = 1e-7
# Of the largest singular value: directions in which a dragged frame cannot go. Above rounding.
DRAG_OUT_OF_REACH = 1e-5
# Of the longest extent: a machine that is thinner is looked at across its plane.
PICTURE_FLAT = 0.2
# Of the next larger extent: the same for the studio's first view, which shows solids with their thickness.
STUDIO_FLAT = 0.3
# Of the machine's size: places closer than this are one. Far less than a pixel.
PLACES_SAME = 1e-6
# Of how far it stands from the origin, or of the largest body: what extends less has no extent to be drawn by.
NO_EXTENT = 1e-12
# Of the square of the longest edge of the cuboid that has a body's inertia: with a smaller one it is drawn as a point.
CUBOID_THIN = 1e-12
# Of a bar's radius: a shorter bar has no direction.
BAR_POINT = 1e-9
# Of 1/depth: of surfaces that coincide to this, the one that came first is seen.
SURFACES_COINCIDE = 1e-6
# Pixels²: a triangle with less area, seen from its front, is an edge or looks away.
TRIANGLE_EDGE = 1e-12

# --- Files.

# rad: angles that are computed from rotations of a file, nearer to a whole quarter turn, are one. Some ten roundings.
COMPUTED_TURN = 2e-15
# Length, whatever its unit: no direction can be told from a shorter vector of a file.
SHORTEST_DIRECTION = 1e-15
# m³: a mesh of a smaller volume has no inside. MuJoCo's own bound.
FLAT_MESH = 1e-15
# kg and kg·m²: what moving bodies that have less are given in an MJCF file; MuJoCo refuses less than 1e-15.
LEAST_INERTIA = 1e-14
# m and rad together, at displacements of half a unit: hinges and slides that miss a joint by more make another.
JOINTS_ALIKE = 1e-12
# m or rad, and of a factor: a displacement that is this near to a linear function of others is one. Above rounding.
LINEAR_FOLLOWING = 1e-9
# Of the machine's size: frames of a tree that are this near to each other where it is drawn may be a loop. Files have
# some six digits.
LOOP_DRAWN_CLOSED = 1e-5
# Of the machine's size: frames that are nearer than this are drawn in the same place but for the digits of their file,
# and are loops before those that are further apart.
LOOP_DRAWN_SAME = 1e-6
# Of one: directions of a file whose cosine is this near to 1 are the same; some six digits.
LOOP_AXES_SAME = 1e-9
