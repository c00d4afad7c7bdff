"""ScoreTable: what the whole library works on instead of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._threads import in_threads
from xorder.exceptions import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Mass of positives and negatives at each distinct score of one group, highest score first.

    Ties and sample weights are settled here, once: rows with the same score become one entry, and a row of
    weight 2 adds as much as two rows. Entries without mass are left out. The arrays are read-only.

    >>> table = ScoreTable.from_arrays([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> table.score, table.positive, table.negative
    (array([0.9, 0.4, 0.1]), array([1., 1., 0.]), array([0., 1., 1.]))
    """

    score: FloatArray
    positive: FloatArray
    negative: FloatArray

    def __post_init__(self) -> None:
        for name in ("score", "positive", "negative"):
            column = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if column.ndim != 1 or column.size != np.size(self.score):
                raise InputError("the columns of a ScoreTable must be one-dimensional and of one length.")
            if column.flags.writeable:
                # Somebody else may still write to it.
                column = column.copy()
                column.flags.writeable = False
            object.__setattr__(self, name, column)
        if self.score.size and not (np.isfinite(self.score[0]) and np.isfinite(self.score[-1])):
            raise InputError("the scores of a ScoreTable must be finite.")
        if not bool(np.all(self.score[1:] < self.score[:-1])):
            raise InputError("the scores of a ScoreTable must fall strictly, highest first.")
        for mass in (self.positive, self.negative):
            if mass.size and not 0 <= mass.min() <= mass.max() < np.inf:
                raise InputError("the masses of a ScoreTable must be finite and not negative.")
        if bool(np.any((self.positive == 0) & (self.negative == 0))):
            raise InputError("each score of a ScoreTable must have some mass.")

    @classmethod
    def from_arrays(cls, y_true: Any, y_score: Any, sample_weight: Any = None) -> ScoreTable:
        """Build the table of one group from its rows, in one sort.

        ``y_true`` holds 0 and 1 (or booleans), ``y_score`` finite numbers; rows of weight 0 add nothing.
        """
        label, score = np.asarray(y_true), np.asarray(y_score)
        if label.shape != score.shape or label.ndim != 1:
            raise InputError(f"y_true and y_score must be two columns of one length; got {label.shape}, {score.shape}.")
        positive = label == 1
        if label.dtype != bool and not (positive | (label == 0)).all():
            raise InputError("y_true must hold only 0 and 1. Encode the positive class as 1 and the other as 0.")
        if score.dtype not in (np.float32, np.float64):
            if score.dtype.kind not in "biufO":
                raise InputError(f"y_score must hold numbers; got values of type {score.dtype}.")
            score = score.astype(np.float64)
        if sample_weight is None:
            return cls._from_classes(score[positive], score[~positive])
        weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != score.shape:
            raise InputError(f"sample_weight must have one value a row; got {weight.shape} for {score.shape}.")
        return cls._from_masses(
            score.astype(np.float64), np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)
        )

    @classmethod
    def _from_classes(cls, positives: NDArray[Any], negatives: NDArray[Any]) -> ScoreTable:
        """Build the table from the scores of the positives and of the negatives, two arrays that it may overwrite.

        Each is sorted by itself, as values sort faster than indices do, and the two sorted runs are merged.
        """
        keys = [np.negative(scores, out=scores) for scores in (positives, negatives)]
        in_threads(positives.size + negatives.size, np.ndarray.sort, keys)
        merged = np.concatenate(keys)
        merged.sort(kind="stable")
        first = np.empty(merged.size, dtype=bool)
        first[:1] = True
        np.not_equal(merged[1:], merged[:-1], out=first[1:])
        if first.all():
            distinct, positive, negative = merged, np.zeros(merged.size), np.ones(merged.size)
            place = np.searchsorted(distinct, keys[0])
            positive[place], negative[place] = 1.0, 0.0
        else:
            distinct = merged[first]
            total = np.diff(np.append(np.flatnonzero(first), merged.size)).astype(np.float64)
            positive = np.bincount(np.searchsorted(distinct, keys[0]), minlength=distinct.size).astype(np.float64)
            negative = total - positive
        # 0 - x rather than -x: a score of 0 stays 0, not -0.
        return cls._owning(np.subtract(0.0, distinct, out=distinct), positive, negative)

    @classmethod
    def _from_masses(cls, score: FloatArray, positive: FloatArray, negative: FloatArray) -> ScoreTable:
        """Add up the masses of equal scores and leave out what has none."""
        kept = np.flatnonzero(positive + negative)
        order = kept[np.argsort(-score[kept], kind="stable")]
        score = score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1])[: score.size])
        if not starts.size:
            return cls(score, positive[:0], negative[:0])
        return cls._owning(
            score[starts] + 0.0,
            np.add.reduceat(positive[order], starts),
            np.add.reduceat(negative[order], starts),
        )

    @classmethod
    def _owning(cls, *columns: NDArray[Any]) -> ScoreTable:
        """Build a table of fresh arrays that nobody else holds, so that none needs to be copied."""
        for column in columns:
            column.flags.writeable = False
        return cls(*columns)

    def __add__(self, other: object) -> ScoreTable:
        """Return the table of both tables' rows together."""
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return self._from_masses(
            np.concatenate([self.score, other.score]),
            np.concatenate([self.positive, other.positive]),
            np.concatenate([self.negative, other.negative]),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return (
            np.array_equal(self.score, other.score)
            and np.array_equal(self.positive, other.positive)
            and np.array_equal(self.negative, other.negative)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return int(self.score.size)

    def __reduce__(self) -> tuple[type[ScoreTable], tuple[FloatArray, FloatArray, FloatArray]]:
        return ScoreTable, (self.score, self.positive, self.negative)

    def __repr__(self) -> str:
        return f"ScoreTable({len(self):,} scores, positives {self.n1:,.12g}, negatives {self.n0:,.12g})"

    @property
    def mass(self) -> FloatArray:
        """Mass of both classes at each score."""
        return self.positive + self.negative

    @property
    def n1(self) -> float:
        """Mass of all positives."""
        return float(self.positive.sum())

    @property
    def n0(self) -> float:
        """Mass of all negatives."""
        return float(self.negative.sum())

    @property
    def concordant(self) -> FloatArray:
        """Pair mass (positive above negative, ties one half) that the positives at each score bring in."""
        below = self.n0 - np.cumsum(self.negative)
        return self.positive * (below + 0.5 * self.negative)
