"""Samples under names, with units: what a file of a run holds, as arrays alone; xarray is slow to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

DataSet: TypeAlias = "xr.Dataset | Labelled"  # what the formats write


class Variable(NamedTuple):
    """Numbers or texts along named dimensions, and what is said of them: unit and long name."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    attrs: Mapping[str, str]


@dataclass(frozen=True)
class Labelled:
    """Variables by name, under the names that an xarray Dataset has for its parts."""

    variables: Mapping[Any, Variable]  # by name, coordinates first
    coords: tuple[str, ...]  # those of the variables that say what stands along a dimension
    attrs: Mapping[str, Any]  # provenance

    @property
    def sizes(self) -> dict[Any, int]:
        """Length of every dimension, in the order in which variables name them."""
        return {
            name: length
            for variable in self.variables.values()
            for name, length in zip(variable.dims, variable.values.shape, strict=True)
        }

    def to_xarray(self) -> xr.Dataset:
        """The same as a Dataset of xarray."""
        import xarray as xr

        data = {name: tuple(variable) for name, variable in self.variables.items() if name not in self.coords}
        coordinates = {name: tuple(self.variables[name]) for name in self.coords}
        return xr.Dataset(data, coords=coordinates, attrs=dict(self.attrs))
