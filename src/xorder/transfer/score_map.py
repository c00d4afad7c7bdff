"""ScoreMap: a strictly increasing piecewise-linear map from raw to adjusted scores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._table import FloatArray
from xorder.exceptions import InputError

# Scores adjusted at a time where there are many, and knots from which on it matters.
_PART = 131_072


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
        x = np.asarray(scores, dtype=np.float64)
        if not self.raw.size:
            return x.copy()
        if x.ndim != 1 or min(x.size, self.raw.size) < _PART:
            return self._values(x)
        adjusted = np.empty(x.size)

        def adjust(start: int) -> None:
            # A sorted part walks through the knots once, instead of all over the memory for each score.
            part = x[start : start + _PART]
            order = np.argsort(part)
            adjusted[start : start + _PART][order] = self._values(part[order])

        with ThreadPoolExecutor() as threads:
            list(threads.map(adjust, range(0, x.size, _PART)))
        return adjusted

    def _values(self, x: FloatArray) -> FloatArray:
        inside = np.clip(x, self.raw[0], self.raw[-1])
        # Outside the knots, slope 1.
        shift = x - inside
        if self.raw.size == 1:
            return np.asarray(self.adjusted[0] + shift)
        left = np.minimum(np.searchsorted(self.raw, inside, side="right"), self.raw.size - 1) - 1
        low, high = self.adjusted[left], self.adjusted[left + 1]
        raw_scale, scale = _safe_scale(self.raw), _safe_scale(self.adjusted)
        start = self.raw[left] * raw_scale
        share = (inside * raw_scale - start) / (self.raw[left + 1] * raw_scale - start)
        value = (low * scale + share * (high * scale - low * scale)) / scale
        # Rounding may carry a value past the next knot, which would put it above its betters.
        value = np.where(share == 1.0, high, np.minimum(value, high))
        return np.asarray(value + shift)

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


def _safe_scale(knots: FloatArray) -> float:
    """One half where two knots may be further apart than the largest number, else one."""
    with np.errstate(over="ignore"):
        return 1.0 if np.isfinite(knots[-1] - knots[0]) else 0.5
