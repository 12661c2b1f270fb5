"""What is asked of a machine as a whole: mobility, cuts, equilibrium, linear model, frequencies."""

from kalaba.analyse.mobility import check as check
from kalaba.analyse.mobility import Mobility as Mobility
from kalaba.analyse.cuts import cuts as cuts
from kalaba.analyse.cuts import Cut as Cut
from kalaba.analyse.cuts import Cuts as Cuts
from kalaba.analyse.equilibrium import equilibrium as equilibrium
from kalaba.analyse.linearise import linearise as linearise
from kalaba.analyse.linearise import Linear as Linear
from kalaba.analyse.frequencies import frequencies as frequencies
from kalaba.analyse.frequencies import Frequencies as Frequencies
from kalaba.analyse.at_rest import NotInEquilibriumWarning as NotInEquilibriumWarning
