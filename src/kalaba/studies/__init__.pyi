"""Studies: a machine run many times with other numbers, on all cores or a cluster, and what was found."""

from kalaba.studies.sampling import Grid as Grid
from kalaba.studies.sampling import Random as Random
from kalaba.studies.sampling import LatinHypercube as LatinHypercube
from kalaba.studies.sampling import Sobol as Sobol
from kalaba.studies.sampling import SobolIndices as SobolIndices
from kalaba.studies.sampling import Sampling as Sampling
from kalaba.studies.variables import Variable as Variable
from kalaba.studies.progress import StudyProgress as StudyProgress
from kalaba.studies.progress import Spread as Spread
from kalaba.studies.results import StudyResults as StudyResults
from kalaba.studies.search import Found as Found
