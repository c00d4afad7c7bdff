"""A problem: inputs, labels and groups, with what a user should know about where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers of a training part and of a test part."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A ranking problem made from real data.

    Attributes
    ----------
    name : short name
    X : pandas DataFrame, one named column of floats per input
    y : 1 for the rows that should rank high
    sensitive_features : the group of each row, as readable text
    description : what the rows, the label and the groups are, in a few sentences
    source : where the raw data come from
    licence : under what terms
    warnings : what to know before drawing conclusions from it
    splits : training and test parts, if any were asked for

    ``y`` and ``sensitive_features`` cannot be written to; ``X`` can, as any frame.
    """

    name: str
    X: Any
    y: NDArray[np.int8]
    sensitive_features: NDArray[np.object_]
    description: str
    source: str
    licence: str
    warnings: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()

    def __post_init__(self) -> None:
        for name in ("y", "sensitive_features"):
            # A view, so that the array of whoever made the problem stays as it is.
            fixed = getattr(self, name).view()
            fixed.setflags(write=False)
            object.__setattr__(self, name, fixed)

    def __repr__(self) -> str:
        groups, counts = np.unique(self.sensitive_features.astype(str), return_counts=True)
        listed = ", ".join(f"{count:,} {group}" for group, count in zip(groups, counts, strict=True))
        rows, inputs = self.X.shape
        return f"<{self.name}: {rows:,} rows x {inputs} inputs; {self.y.sum():,} positive; {listed}>"
