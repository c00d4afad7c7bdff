"""Rows of results as curves: means over splits, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from experiments.registry import NO_METRIC
from experiments.store import Row

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Point:
    """A method at one parameter: figures of each split that worked, by the split's number; ``cut`` is the worst one."""

    parameter: float | None
    auc: dict[int, float]
    gap: dict[int, float]
    auc_train: dict[int, float]
    gap_train: dict[int, float]
    error: dict[int, float]
    cut: dict[int, float]

    @property
    def mean_auc(self) -> float:
        return mean(self.auc)

    @property
    def mean_gap(self) -> float:
        """Mean absolute test gap."""
        return mean(absolute(self.gap))

    @property
    def mean_gap_train(self) -> float:
        return mean(absolute(self.gap_train))


class Results:
    """Rows by data set, kind of splits, model, method and metric."""

    def __init__(self, rows: Iterable[Row]) -> None:
        every = list(rows)
        self.rows = [row for row in every if "error" not in row]
        self.failed = [row for row in every if "error" in row]
        self._points: defaultdict[tuple[Any, ...], defaultdict[Any, list[Row]]] = defaultdict(lambda: defaultdict(list))
        for row in self.rows:
            place = (row["data"], row["splits"], row["model"], row["method"], row["metric"])
            self._points[place][row["parameter"]].append(row)

    def listed(self, field: str, known: Sequence[str] = ()) -> list[str]:
        """Names in the results: those known in their order, then the user's own."""
        found = dict.fromkeys(row[field] for row in self.rows)
        return [*(name for name in known if name in found), *(name for name in found if name not in known)]

    def splits_of(self, data: str) -> str:
        """The paper's splits where there are any, else random ones."""
        return "stored" if any(row["data"] == data and row["splits"] == "stored" for row in self.rows) else "random"

    def has(self, data: str, splits: str, model: str, method: str, metric: str) -> bool:
        return (data, splits, model, method, _metric_of(method, metric)) in self._points

    def curve(self, data: str, splits: str, model: str, method: str, metric: str) -> list[Point]:
        """Points of a method in the order of its parameter; gaps are those of the metric."""
        found = self._points.get((data, splits, model, method, _metric_of(method, metric)), {})
        order = sorted(found, key=lambda parameter: -1.0 if parameter is None else parameter)
        return [_point(parameter, found[parameter], metric) for parameter in order]

    def unadjusted(self, data: str, splits: str, model: str, metric: str) -> Point:
        return self.curve(data, splits, model, "unadjusted", metric)[0]

    def fairest(self, data: str, splits: str, model: str, method: str, metric: str) -> Point | None:
        """Return the point of the smallest mean training gap: what a user who wants no gap would take."""
        points = self.curve(data, splits, model, method, metric)
        return min(points, key=lambda point: point.mean_gap_train) if points else None


def _metric_of(method: str, metric: str) -> str:
    return NO_METRIC if method == "unadjusted" else metric


def _point(parameter: float | None, rows: list[Row], metric: str) -> Point:
    def by_split(name: str) -> dict[int, float]:
        return {row["split"]: row[name] for row in rows if row.get(name) is not None}

    return Point(
        parameter,
        by_split("auc_test"),
        by_split(f"{metric}_test"),
        by_split("auc_train"),
        by_split(f"{metric}_train"),
        by_split(f"{metric}_error"),
        by_split("cut_test"),
    )


def absolute(values: dict[int, float]) -> dict[int, float]:
    return {split: abs(value) for split, value in values.items()}


def mean(values: dict[int, float]) -> float:
    return float(np.mean(list(values.values()))) if values else float("nan")


def difference(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    """One minus the other, split by split."""
    return {split: one[split] - other[split] for split in one if split in other}


def half_width(values: dict[int, float]) -> float:
    """Half of the 95 % interval of the mean over splits (Student's t)."""
    found = list(values.values())
    if len(found) < 2:
        return float("nan")
    return float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(found) - 1) * np.std(found, ddof=1) / np.sqrt(len(found)))


def noise_floor(point: Point) -> float:
    """Mean absolute gap that a score without any gap would show on test parts as small as these."""
    return mean(point.error) * float(np.sqrt(2 / np.pi))


def p_values(values: dict[int, float], test_per_train: float) -> tuple[float, float]:
    """P-value of the t-test that a mean is not 0; and with the variance that splits of shared rows really have.

    The second is the corrected resampled t-test of Nadeau and Bengio (2003).
    """
    found = np.array(list(values.values()))
    if found.size < 2 or np.ptp(found) == 0:
        # Nothing to test with: a gap that never varies is either none at all, or beyond doubt.
        return (0.0, 0.0) if found.size > 1 and found[0] != 0 else (1.0, 1.0)
    n, spread = found.size, float(np.std(found, ddof=1))
    plain = stats.ttest_1samp(found, 0.0).pvalue
    corrected = found.mean() / (spread * np.sqrt(1 / n + test_per_train))
    return float(plain), float(2 * stats.t.sf(abs(corrected), n - 1))
