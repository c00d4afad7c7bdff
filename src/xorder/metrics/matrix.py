"""A K x K matrix whose rows and columns are groups."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class GroupMatrix:
    """Values for ordered pairs of groups: ``matrix[g, h]`` by label, ``matrix.values`` as an array.

    >>> matrix = GroupMatrix(("a", "b"), np.array([[0.8, 0.9], [0.6, 0.7]]))
    >>> matrix["a", "b"]
    0.9
    """

    groups: tuple[Hashable, ...]
    values: FloatArray

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> float:
        try:
            row, column = (self.groups.index(group) for group in pair)
        except (ValueError, TypeError):
            known = ", ".join(map(repr, self.groups))
            raise KeyError(f"{pair!r}: name two of the groups {known}") from None
        return float(self.values[row, column])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __str__(self) -> str:
        names = [str(group) for group in self.groups]
        width = max([6, *map(len, names)])
        lines = [" " * width + "".join(f"  {name:>{width}}" for name in names)]
        for name, row in zip(names, self.values, strict=True):
            lines.append(f"{name:<{width}}" + "".join(f"  {value:>{width}.4f}" for value in row))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain lists, ready for JSON; ``nan`` becomes ``None``."""
        values = [[None if np.isnan(value) else float(value) for value in row] for row in self.values]
        return {"groups": list(self.groups), "values": values}
