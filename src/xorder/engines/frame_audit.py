"""An audit of rows where they are, in memory, in files or on a cluster."""

from __future__ import annotations

import warnings
from typing import Any

from xorder._progress import Progress
from xorder.engines.frame_tables import BINS, FrameTables, tables_of_frame
from xorder.exceptions import XorderWarning
from xorder.metrics.audit import NOT_WHOLE, Audit, WeightKind, audit_tables, check_confidence, check_weights_are


def audit_frame(
    frame: Any,
    *,
    score: str,
    label: str,
    group: str,
    weight: str | None = None,
    confidence: float = 0.95,
    weights_are: WeightKind = "counts",
    positive: Any = None,
    missing_group: str = "error",
    tolerance: float = 1e-6,
    bins: int = BINS,
    progress: Progress | None = None,
    memory: str = "2GB",
) -> Audit:
    """Audit how a score ranks the members of different groups, in the engine that holds the rows.

    Parameters
    ----------
    frame : a frame of pandas, polars (eager or lazy), pyarrow or PySpark, a relation of DuckDB, or the path or glob of
        parquet or csv files. Nothing but sums over its rows is collected.
    score, label, group, weight : names of the columns
    confidence, weights_are : as in :func:`xorder.audit`
    positive : the value of the label that counts as 1, all others being 0; by default labels are 0 and 1
    missing_group : ``"error"`` refuses rows without a group; ``"group"`` takes them as one, named ``"missing"``
    tolerance : how far binning may move AUC and gaps where there are more distinct scores than ``bins``, about 1.5
        million; what it can have moved is in ``deviation``
    progress : called with what is being done and, if that is known, the share that is done
    memory : how much DuckDB may use for files

    Examples
    --------
    >>> import polars
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> frame = polars.LazyFrame({"risk": people.y_score, "died": people.y_true, "sex": people.group})
    >>> found = audit_frame(frame, score="risk", label="died", group="sex")
    >>> round(found.gap("xauc").value, 3), found.deviation.largest
    (0.231, 0.0)
    """
    check_confidence(confidence)
    check_weights_are(weights_are)
    found = tables_of_frame(
        frame,
        score=score,
        label=label,
        group=group,
        weight=weight,
        positive=positive,
        missing_group=missing_group,
        squares=weights_are == "sampling",
        tolerance=tolerance,
        bins=bins,
        progress=progress,
        memory=memory,
    )
    for note in notes_of(found, weight, weights_are):
        warnings.warn(note, XorderWarning, stacklevel=2)
    return audit_tables(found.tables, found.squares, confidence=confidence, deviation=found.deviation)


def notes_of(found: FrameTables, weight: str | None, weights_are: WeightKind) -> list[str]:
    """What a user should hear of tables before they are audited."""
    notes = [] if found.note is None else [found.note]
    if weight is not None and weights_are == "counts" and not found.whole_weights:
        notes.append(NOT_WHOLE.format(f"column {weight!r}") + ".")
    return notes
