"""The paper's protocol: what to run, and how far each method raises its parameter.

A weight is raised from 0 until the training gap, averaged over the splits, is below 0.0001 or has not fallen for
two steps. What comes next is a function of the rows of finished steps alone, so it does not matter in which order
cells end, on how many processes, or how often a run was stopped and started again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.cells import Cell
from experiments.registry import DATASETS, METHODS, MODELS, NO_METRIC
from experiments.store import Row, key_of

FAIR = 1e-4
PATIENCE = 2


@dataclass(frozen=True)
class Sweep:
    """One method for one metric on one base model's scores: its cells differ in parameter and split only."""

    data: str
    splits: str
    model: str
    method: str
    metric: str
    count: int

    def cells(self, parameter: float | None) -> list[Cell]:
        place = (self.data, self.splits, self.model, self.method, self.metric)
        return [Cell(*place, parameter, split) for split in range(self.count)]

    def next_cells(self, rows: Mapping[tuple[Any, ...], Row]) -> list[Cell]:
        """Cells still to run of the first step that is not finished; none when the sweep is over."""
        method, gaps = METHODS[self.method], []
        for parameter in method.parameters:
            cells = self.cells(parameter)
            missing = [cell for cell in cells if cell not in rows]
            if missing:
                return missing
            if method.until_fair:
                gaps.append(mean_gap([rows[cell] for cell in cells], self.metric))
                if is_over(gaps):
                    break
        return []

    def at_most_left(self, rows: Collection[tuple[Any, ...]]) -> int:
        """Cells still to run, if the parameter goes all the way."""
        return sum(cell not in rows for parameter in METHODS[self.method].parameters for cell in self.cells(parameter))


def mean_gap(rows: list[Row], metric: str) -> float | None:
    """Mean absolute training gap of the splits that worked; None if none did."""
    found = [abs(row[f"{metric}_train"]) for row in rows if row.get(f"{metric}_train") is not None]
    return fmean(found) if found else None


def is_over(gaps: list[float | None]) -> bool:
    """Whether to stop raising the parameter after these mean gaps; a fall by less than 0.0001 is none."""
    latest = gaps[-1]
    if latest is None or latest < FAIR:
        return True
    if len(gaps) <= PATIENCE:
        return False
    before = min(value for value in gaps[:-PATIENCE] if value is not None)
    return all(value is not None and value > before - FAIR for value in gaps[-PATIENCE:])


def sweeps(
    splits: str,
    count: int,
    *,
    data: Collection[str] = (),
    models: Collection[str] = (),
    methods: Collection[str] = (),
    metrics: Collection[str] = (),
) -> list[Sweep]:
    """All sweeps of what is named, or of everything where nothing is; slow methods last."""
    found = [
        Sweep(name, splits, model, method, metric, count)
        for name in data or DATASETS
        for model in models or MODELS
        for method in methods or METHODS
        for metric in _metrics(name, method)
        if _together(name, model, method)
        and (splits == "random" or DATASETS[name].stored)
        and (not metrics or metric in metrics or metric == NO_METRIC)
    ]
    return sorted(found, key=lambda sweep: METHODS[sweep.method].slow)


def _metrics(data: str, method: str) -> Iterator[str]:
    for metric in METHODS[method].metrics:
        if metric == NO_METRIC or metric in DATASETS[data].metrics:
            yield metric


def _together(data: str, model: str, method: str) -> bool:
    """Whether the data set wants this model and method, the model this method, and the method this model."""
    allowed = (
        (DATASETS[data].models, model),
        (DATASETS[data].methods, method),
        (MODELS[model].methods, method),
        (METHODS[method].models, model),
    )
    return all(names is None or name in names for names, name in allowed)


def finished(rows: list[Row], *, retry: bool = False) -> dict[tuple[Any, ...], Row]:
    """Rows by cell; with ``retry`` without those that failed."""
    return {Cell(*key_of(row)): row for row in rows if not (retry and "error" in row)}
