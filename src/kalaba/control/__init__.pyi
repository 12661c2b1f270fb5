"""Control: goals, the motors that meet them, and real drives."""

from kalaba.plant.laws import Controller as Controller
from kalaba.plant.laws import Law as Law
from kalaba.control.goals import follow as follow
from kalaba.control.goals import posture as posture
from kalaba.control.servo import servo as servo
from kalaba.control.servo import Servo as Servo
from kalaba.control.ideal import IdealServo as IdealServo
from kalaba.control.cascade import Cascade as Cascade
from kalaba.control.tracking_errors import goal_errors as goal_errors
from kalaba.control.inverse_dynamics import inverse_dynamics as inverse_dynamics
from kalaba.control.inverse_dynamics import Efforts as Efforts
from kalaba.control.inverse_dynamics import trade_off as trade_off
from kalaba.control.inverse_dynamics import TradeOff as TradeOff
from kalaba.control.plan.plan import plan_motion as plan_motion
from kalaba.control.plan.plan import Plan as Plan
from kalaba.control.robust import Robust as Robust
from kalaba.control.robust import Adaptive as Adaptive
from kalaba.control.drive import Drive as Drive
from kalaba.control.transmission import Friction as Friction
from kalaba.control.transmission import Backlash as Backlash
from kalaba.control.hybrid import Hybrid as Hybrid
from kalaba.control.hybrid import PID as PID
from kalaba.control.allocation import Allocation as Allocation
from kalaba.control.allocation import LeastSquares as LeastSquares
from kalaba.control.allocation import MinMax as MinMax
from kalaba.control.allocation import Bounded as Bounded
