"""A Run, what can be read from it, and its files."""

from kalaba.results.run import Run as Run
from kalaba.results.run import Status as Status
from kalaba.results.run import Ending as Ending
from kalaba.results.run import Effort as Effort
from kalaba.results.run import Worst as Worst
from kalaba.results.run import MethodChange as MethodChange
from kalaba.results.accuracy import Accuracy as Accuracy
from kalaba.results.accuracy import Verdict as Verdict
from kalaba.results.accuracy import StateError as StateError
from kalaba.results.accuracy import Judgement as Judgement
from kalaba.results.run import Shortfall as Shortfall
from kalaba.results.saving import open_run as open_run
from kalaba.results.runs import Runs as Runs
