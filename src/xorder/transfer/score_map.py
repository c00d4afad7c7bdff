"""ScoreMap: a strictly increasing piecewise-linear map from raw to adjusted scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._table import FloatArray
from xorder.exceptions import InputError
from xorder.transfer.interpolation import in_parts, straight_lines
from xorder.transfer.knots import TOLERANCE, fewer_knots, largest_deviation
from xorder.transfer.sql import map_sql


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """Knots ``raw -> adjusted``, both strictly rising; straight lines between, slope 1 outside.

    Without knots it leaves scores as they are. Being increasing, it never changes the order within a group.

    >>> learnt = ScoreMap(raw=[0.5, 0.8], adjusted=[0.4, 0.7])
    >>> learnt.apply([0.5, 0.65, 0.8, 0.9])
    array([0.4 , 0.55, 0.7 , 0.8 ])
    """

    raw: FloatArray
    adjusted: FloatArray

    def __post_init__(self) -> None:
        for name in ("raw", "adjusted"):
            try:
                knots = np.array(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(f"the {name} knots of a score map must be numbers.") from error
            if knots.ndim != 1 or not np.isfinite(knots).all():
                raise InputError(f"the {name} knots of a score map must be a plain list of finite numbers.")
            if not (knots[1:] > knots[:-1]).all():
                raise InputError(f"the {name} knots of a score map must rise strictly.")
            knots.flags.writeable = False
            object.__setattr__(self, name, knots)
        if self.raw.size != self.adjusted.size:
            raise InputError(
                f"a score map needs one adjusted knot for each raw one; got {self.raw.size} raw and "
                f"{self.adjusted.size} adjusted."
            )

    @classmethod
    def identity(cls) -> ScoreMap:
        """Return the map that changes nothing."""
        return cls(np.empty(0), np.empty(0))

    def apply(self, scores: Any) -> FloatArray:
        """Map scores; exact at the knots, never decreasing anywhere."""
        return in_parts(self.as_function(), np.asarray(scores, dtype=np.float64))

    def as_function(self) -> Callable[[FloatArray], FloatArray]:
        """Return the map as a function of an array, worked out once for many calls; it needs nothing but NumPy."""
        return straight_lines(self.raw, self.adjusted)

    def compressed(self, tolerance: float = TOLERANCE) -> ScoreMap:
        """Return a map of fewer knots that moves no score by more than ``tolerance`` of the range of adjusted knots.

        Its knots are some of this map's. No two of this map's raw knots tie or swap under it, so that the order of
        the scores learnt from stays. How far it moves any score is told by :meth:`largest_deviation`. A map of
        a million knots loses nearly all of them; one of some thousand hardly any, unless the tolerance is coarser.

        >>> raw = np.linspace(0, 1, 100_001)
        >>> learnt = ScoreMap(raw, raw**2)
        >>> small = learnt.compressed(1e-6)
        >>> small, small.largest_deviation(learnt) <= 1e-6
        (ScoreMap(504 knots, raw 0 to 1), True)
        """
        if not (isinstance(tolerance, int | float | np.number) and 0 <= tolerance < 1):
            raise InputError(f"tolerance must be a share of the score range, from 0 up to below 1; got {tolerance!r}.")
        kept = fewer_knots(self.raw, self.adjusted, float(tolerance))
        return ScoreMap(self.raw[kept], self.adjusted[kept])

    def largest_deviation(self, other: ScoreMap) -> float:
        """Return how far the two maps are apart at most, over all scores."""
        return largest_deviation((self.raw, self.adjusted), (other.raw, other.adjusted))

    def to_sql(self, column: str, *, dialect: str = "duckdb") -> str:
        """Return the map as an SQL expression of a column; ``dialect`` is ``"duckdb"``, ``"spark"`` or ``"ansi"``.

        The name is quoted, numbers read back exactly, and NULL stays NULL. Maps of more than 2,000 knots are
        refused, as no engine takes so long a text well: compress them first. All groups at once:
        :func:`xorder.transfer.repair_sql`.

        >>> print(ScoreMap([0.5], [0.25]).to_sql("risk"))
        (0.25e0 + ("risk" - 0.5e0))
        """
        return map_sql(self.raw, self.adjusted, column, dialect)

    def to_dict(self) -> dict[str, list[float]]:
        """Return the knots as plain lists, ready for JSON; floats survive the round trip exactly."""
        return {"raw": self.raw.tolist(), "adjusted": self.adjusted.tolist()}

    @classmethod
    def from_dict(cls, record: Any) -> ScoreMap:
        """Build a map from what :meth:`to_dict` gave, checking it."""
        if not isinstance(record, dict) or not {"raw", "adjusted"} <= record.keys():
            raise InputError("a score map is a dict with the lists 'raw' and 'adjusted'.")
        for name in ("raw", "adjusted"):
            knots = record[name]
            if not isinstance(knots, list) or not all(
                isinstance(knot, int | float) and not isinstance(knot, bool) for knot in knots
            ):
                raise InputError(f"the {name} knots of a score map must be a list of numbers.")
        return cls(record["raw"], record["adjusted"])

    def __repr__(self) -> str:
        if not self.raw.size:
            return "ScoreMap(identity)"
        return f"ScoreMap({self.raw.size:,} knots, raw {self.raw[0]:g} to {self.raw[-1]:g})"
