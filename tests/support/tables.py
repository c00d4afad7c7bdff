"""Score tables for tests: from a string of labels, drawn by hypothesis, or random; each drawn one has both classes."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import strategies as st

from support.drawn import drawn_by
from xorder import ScoreTable


def table(labels: str) -> ScoreTable:
    """Untied rows of equal weight from their labels, highest-ranked first."""
    y = np.array([int(label) for label in labels])
    return ScoreTable.from_arrays(y, np.arange(y.size, 0, -1.0))


def draw_tied_table(r: Random, most: int = 3, more: int = 5) -> ScoreTable:
    """Draw up to ``most`` rows of a class at a score, and up to ``more`` scores beside two that bring both classes."""
    entries = [(1, 0), (0, 1)]
    for _ in range(r.randint(0, more)):
        positive = r.randint(0, most)
        entries.append((positive, r.randint(0 if positive else 1, most)))
    r.shuffle(entries)
    positive, negative = np.array(entries).T
    return ScoreTable(np.arange(len(entries), 0, -1.0), positive, negative)


def tied_tables(*, most: int = 3, more: int = 5) -> st.SearchStrategy[ScoreTable]:
    """Return :func:`draw_tied_table` for hypothesis."""
    return drawn_by(lambda r: draw_tied_table(r, most, more))


def random_table(rng: np.random.Generator, rows: int, *, distinct: int = 7) -> ScoreTable:
    """Draw up to ``rows`` rows with scores among few values; plain, with whole weights, or with any weights."""
    while True:
        size = int(rng.integers(2, rows + 1))
        score = rng.integers(0, distinct, size).astype(float)
        weight = [None, rng.integers(1, 4, size), rng.random(size) + 0.1][rng.integers(3)]
        table = ScoreTable.from_arrays(rng.random(size) < rng.choice([0.3, 0.5, 0.7]), score, weight)
        if table.n1 > 0 and table.n0 > 0:
            return table


def noisy_table(rng: np.random.Generator, rows: int, *, shift: float = 0.0) -> ScoreTable:
    """Draw rows whose score tells something of the label, as scores of a model do."""
    while True:
        risk = rng.normal(shift, 1.5, rows)
        score = risk + rng.normal(size=rows) * rng.choice([0.1, 1.0])
        if rng.random() < 0.3:
            score = score.round(1)
        table = ScoreTable.from_arrays(rng.random(rows) < 1 / (1 + np.exp(-risk)), score)
        if table.n1 > 0 and table.n0 > 0:
            return table
