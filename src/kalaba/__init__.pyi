"""kalaba: robots that hold on to things. Describe, derive, build, simulate.

    System ──derive──▶ Equations ──build──▶ Plant ──simulate──▶ Run

This is the list of what `import kalaba as kb` shows, in that order. Classes of results and rarely used words are one
room down: `kb.analyse`, `kb.kinematics`, `kb.control`, ...
"""

# describing
from kalaba.model.system import System as System
from kalaba.model.parts import Body as Body
from kalaba.model.parts import Connection as Connection
from kalaba.model.parts import Frame as Frame
from kalaba.model.parts import Constraint as Constraint
from kalaba.model.acting import Actuator as Actuator
from kalaba.model.acting import Thruster as Thruster
from kalaba.model.acting import Rotor as Rotor
from kalaba.model.appearance import Visual as Visual
from kalaba.model.appearance import BoxShape as BoxShape
from kalaba.model.appearance import CylinderShape as CylinderShape
from kalaba.model.appearance import SphereShape as SphereShape
from kalaba.model.appearance import MeshShape as MeshShape
from kalaba.model.acting import Spring as Spring
from kalaba.model.acting import Force as Force
from kalaba.model.parts import Output as Output
from kalaba.model.parts import Parameter as Parameter
from kalaba.model.parts import Start as Start
from kalaba.space.pose import Pose as Pose
from kalaba.space.pose import AsFound as AsFound
from kalaba.space.pose import X as X
from kalaba.space.pose import Y as Y
from kalaba.space.pose import Z as Z
from kalaba.space.pose import Axis as Axis
from kalaba.model.solids import Solid as Solid
from kalaba.model.solids import Rod as Rod
from kalaba.model.solids import Box as Box
from kalaba.model.solids import Cylinder as Cylinder
from kalaba.model.beams.beam import Beam as Beam
from kalaba.model.beams.section import Rectangle as Rectangle
from kalaba.model.beams.section import Circle as Circle
from kalaba.model.beams.section import Tube as Tube
from kalaba.model.beams.section import SectionNumbers as SectionNumbers
from kalaba.model.beams.section import Stiffness as Stiffness
from kalaba.model.beams.shapes import ClampedFree as ClampedFree
from kalaba.model.beams.shapes import ClampedClamped as ClampedClamped
from kalaba.model.beams.shapes import Pinned as Pinned
from kalaba.model.beams.shapes import Polynomial as Polynomial
from kalaba.model.beams.shapes import StaticTip as StaticTip
from kalaba.model.beams.shapes import Tabulated as Tabulated
from kalaba.joints import Weld as Weld
from kalaba.joints import Revolute as Revolute
from kalaba.joints import Prismatic as Prismatic
from kalaba.joints import Screw as Screw
from kalaba.joints import Cylindrical as Cylindrical
from kalaba.joints import Universal as Universal
from kalaba.joints import Spherical as Spherical
from kalaba.joints import Planar as Planar
from kalaba.joints import Free as Free
from kalaba.joints import PointOnLine as PointOnLine
from kalaba.joints import Distance as Distance

# the catalogue and files
from kalaba.robots.catalogue import catalog as catalog
from kalaba.files.named import load as load
from kalaba.files.named import scenario as scenario
from kalaba.run.scenario import Scenario as Scenario

# arms that hold objects
from kalaba.cooperate.hold import hold as hold
from kalaba.cooperate.grasp import Grasp as Grasp

# deriving
from kalaba.derive.equations import derive as derive
from kalaba.derive.equations import Equations as Equations
from kalaba.derive.newton_euler import NewtonEuler as NewtonEuler
from kalaba.derive.lagrange import Lagrange as Lagrange
from kalaba.derive.kane import Kane as Kane

# building
from kalaba.plant.plant import build as build
from kalaba.plant.plant import Plant as Plant
from kalaba.plant.state import State as State
from kalaba.native.backend import Native as Native
from kalaba.native.backend import Interpreted as Interpreted
from kalaba.constrain.solvers import MaskedLDL as MaskedLDL
from kalaba.constrain.solvers import UdwadiaKalaba as UdwadiaKalaba
from kalaba.constrain.solvers import KKT as KKT
from kalaba.constrain.solvers import NullSpace as NullSpace
from kalaba.analyse.mobility import check as check
from kalaba.analyse.cuts import cuts as cuts
from kalaba.analyse.suggest_loops import suggest_loops as suggest_loops

# kinematics
from kalaba.kinematics.tree import inverse_kinematics as inverse_kinematics
from kalaba.kinematics.tree import branches as branches
from kalaba.kinematics.closed import assembly_modes as assembly_modes
from kalaba.kinematics.closed import singularity as singularity

# analysing at rest
from kalaba.analyse.equilibrium import equilibrium as equilibrium
from kalaba.analyse.linearise import linearise as linearise
from kalaba.analyse.frequencies import frequencies as frequencies

# simulating
from kalaba.run.simulate import simulate as simulate
from kalaba.run.batch import simulate_batch as simulate_batch
from kalaba.steppers import Auto as Auto
from kalaba.steppers import RungeKutta4 as RungeKutta4
from kalaba.steppers import DormandPrince as DormandPrince
from kalaba.steppers import Kvaerno as Kvaerno
from kalaba.steppers import SemiImplicitEuler as SemiImplicitEuler
from kalaba.steppers import Radau as Radau
from kalaba.steppers import WilsonTheta as WilsonTheta
from kalaba.steppers import Newmark as Newmark
from kalaba.steppers import HHT as HHT
from kalaba.steppers import GeneralisedAlpha as GeneralisedAlpha
from kalaba.steppers import CentralDifference as CentralDifference
from kalaba.constrain.stabilisation import Projection as Projection
from kalaba.constrain.stabilisation import Baumgarte as Baumgarte
from kalaba.constrain.stabilisation import NoStabilisation as NoStabilisation
from kalaba.model.acting import Sampled as Sampled
from kalaba.results.run import Run as Run
from kalaba.results.saving import open_run as open_run
from kalaba.export.c import export_c as export_c
from kalaba.export.tex import export_tex as export_tex
from kalaba.export.sympy_module import export_sympy as export_sympy

# studying
from kalaba.studies.study import Study as Study
from kalaba.studies.variables import uniform as uniform
from kalaba.studies.variables import log_uniform as log_uniform
from kalaba.studies.variables import normal as normal
from kalaba.studies.variables import choice as choice
from kalaba.studies.variables import spaced as spaced
from kalaba.files.yaml.study import load_study as load_study
from kalaba.studies.results import open_study as open_study

# looking
from kalaba.view import figures as _figures
from kalaba.view.studio.serving import studio as studio
from kalaba.view.film import film as film
from kalaba.view.still import still as still
from kalaba.view.report import report as report

# cooperation and control
from kalaba.cooperate.object_space import object_space as object_space
from kalaba import paths as _paths
from kalaba.control.goals import follow as follow
from kalaba.control.goals import posture as posture
from kalaba.control.servo import servo as servo
from kalaba.control.ideal import IdealServo as IdealServo
from kalaba.control.inverse_dynamics import inverse_dynamics as inverse_dynamics
from kalaba.control.inverse_dynamics import trade_off as trade_off
from kalaba.control.plan.plan import plan_motion as plan_motion
from kalaba.control.robust import Robust as Robust
from kalaba.control.robust import Adaptive as Adaptive
from kalaba.control.drive import Drive as Drive
from kalaba.control.transmission import Friction as Friction
from kalaba.control.transmission import Backlash as Backlash
from kalaba.control.hybrid import Hybrid as Hybrid
from kalaba.cooperate.carry import Carry as Carry
from kalaba.cooperate.moves import MoveTo as MoveTo
from kalaba.control.allocation import LeastSquares as LeastSquares
from kalaba.control.allocation import MinMax as MinMax
from kalaba.control.allocation import Bounded as Bounded
from kalaba.errors import KalabaError as KalabaError

# rooms
from kalaba import analyse as analyse
from kalaba import control as control
from kalaba import cooperate as cooperate
from kalaba import joints as joints
from kalaba import kinematics as kinematics
from kalaba import plant as plant
from kalaba import results as results
from kalaba import run as run
from kalaba import steppers as steppers
from kalaba import studies as studies
from kalaba import view as view

path = _paths
plot = _figures

__version__: str
