"""Minibatches of pairs: a few positives and negatives of each group, and all pairs among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._optional import import_optional

torch = import_optional("torch", extra="train", purpose="ConstrainedRanker")

# A cell is the group (0 or 1) of the positive and that of the negative.
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Inputs of some positives and of some negatives of each of two groups; every positive meets every negative.

    Attributes
    ----------
    positives, negatives : for the first and the second group, a tensor of rows
    """

    positives: tuple[Any, Any]
    negatives: tuple[Any, Any]

    def margins(self, scorer: Any) -> dict[tuple[int, int], Any]:
        """Score of each positive less that of each negative, by the groups of the two."""
        parts = [*self.positives, *self.negatives]
        scores = scorer(torch.cat(parts)).reshape(-1).split([len(part) for part in parts])
        return {(g, h): scores[g][:, None] - scores[2 + h][None, :] for g, h in CELLS}


def pair_batches(
    X: Any, positive: Any, in_first: Any, *, size: int, random_state: int, sample_weight: Any = None
) -> Iterator[PairBatch]:
    """Draw batches without end: ``size`` positives and as many negatives of each group, with chances by weight.

    ``X`` is an array or tensor of rows, ``positive`` and ``in_first`` are boolean arrays. The same ``random_state``
    gives the same batches.
    """
    rng = np.random.default_rng(random_state)
    rows = torch.as_tensor(X)
    weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    sides = [np.asarray(in_first, dtype=bool), ~np.asarray(in_first, dtype=bool)]
    pools = [np.flatnonzero(side & label) for label in (positive, ~np.asarray(positive, dtype=bool)) for side in sides]
    chances = [np.cumsum(weight[pool]) / weight[pool].sum() for pool in pools]
    while True:
        drawn = [
            rows[torch.from_numpy(pool[np.minimum(np.searchsorted(chance, rng.random(size)), pool.size - 1)])]
            for pool, chance in zip(pools, chances, strict=True)
        ]
        yield PairBatch((drawn[0], drawn[1]), (drawn[2], drawn[3]))
