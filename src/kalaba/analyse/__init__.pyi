"""What is asked of a machine as a whole: mobility, equilibrium, linear model, frequencies."""

from kalaba.analyse.mobility import check as check
from kalaba.analyse.mobility import Mobility as Mobility
from kalaba.analyse.equilibrium import equilibrium as equilibrium
from kalaba.analyse.linearise import linearise as linearise
from kalaba.analyse.linearise import Linear as Linear
from kalaba.analyse.frequencies import frequencies as frequencies
from kalaba.analyse.frequencies import Frequencies as Frequencies
from kalaba.analyse.at_rest import NotInEquilibriumWarning as NotInEquilibriumWarning
