"""All rows of a file as arrays, through the reader that complains row by row, for tests that look at single rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xorder import ScoreMap
from xorder.engines import GroupMaps
from xorder.engines._cells import ColumnNames, ReadingOptions
from xorder.engines._sources import FileReading

HALF = ScoreMap([0.0, 1024.0], [0.0, 512.0])
"""Halves scores from 0 to 1024, without rounding."""


@dataclass(frozen=True)
class Rows:
    """Scores, groups as they are written and, where asked for, labels and weights: one entry per row, in order."""

    y_score: np.ndarray
    groups: list[str]
    y_true: list[int] | None
    sample_weight: np.ndarray | None


def read_rows(
    path: str | Path, *, positive: Any = None, missing_group: str = "error", encoding: str = "utf-8", **names: str
) -> Rows:
    options = ReadingOptions(ColumnNames(**names), positive, missing_group, encoding=encoding)
    reading = FileReading(path, options)
    score, groups, labels, weight = (np.concatenate(parts) for parts in zip(*reading.batches(), strict=True))
    classes = dict(reading.coding().label_values)
    texts, values = list(reading.groups.codes), list(reading.labels.codes)
    return Rows(
        y_score=score,
        groups=[texts[code] for code in groups],
        y_true=[classes[values[code]] for code in labels] if "label" in names else None,
        sample_weight=weight if "weight" in names else None,
    )


def halving(*groups: str, **choices: str) -> GroupMaps:
    """Maps that halve the scores of these groups."""
    return GroupMaps(dict.fromkeys(groups or ("a", "b", "c"), HALF), **choices)
