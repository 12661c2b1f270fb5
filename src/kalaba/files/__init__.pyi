"""Models in and out: one module per kind of file, and the door through which machines are named."""

from kalaba.model.formats import Described as Described
from kalaba.model.formats import Format as Format
from kalaba.model.formats import register as register
