"""A problem: inputs, labels and groups, with what a user should know about where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers of a training part and of a test part.

    Parameters
    ----------
    train : ndarray of int
        Rows to train on.
    test : ndarray of int
        Rows to test on.
    """

    train: IntArray
    test: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A ranking problem made from real data.

    ``y`` and ``sensitive_features`` cannot be written to; ``X`` can, as any frame.

    Parameters
    ----------
    name : str
        Short name.
    X : pandas.DataFrame of shape (n_samples, n_inputs)
        One named column of floats per input.
    y : ndarray of shape (n_samples,)
        1 for the rows that should rank high.
    sensitive_features : ndarray of shape (n_samples,)
        Group of each row, as readable text.
    description : str
        What the rows, the label and the groups are, in a few sentences.
    source : str
        Where the raw data come from.
    licence : str
        Terms under which they may be used.
    warnings : tuple of str, default=()
        What to know before drawing conclusions from it.
    splits : tuple of Split, default=()
        Training and test parts, if any were asked for.
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
