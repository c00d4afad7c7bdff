"""Minibatches of pairs: a few positives and negatives of each group, and all pairs among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._parameters import check_whole
from xorder._table import BoolArray
from xorder._validation import check_weights
from xorder.exceptions import InputError

torch = import_optional("torch", extra="train", purpose="Training a fair ranker")

# A cell is the group (0 or 1) of the positive and that of the negative.
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))

# The four kinds of rows that the cells are made of, in the order in which they are counted and drawn.
KINDS = tuple(f"{label} of the {side} group" for label in ("positives", "negatives") for side in ("first", "second"))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Inputs of some positives and of some negatives of each of two groups; every positive meets every negative.

    Parameters
    ----------
    positives : tuple of two torch.Tensor
        Inputs of positives of the first and of the second group.
    negatives : tuple of two torch.Tensor
        Inputs of negatives of the first and of the second group.
    """

    positives: tuple[Any, Any]
    negatives: tuple[Any, Any]

    def margins(self, scorer: Any) -> dict[tuple[int, int], Any]:
        """Return the score of each positive less that of each negative, by the groups of the two.

        Parameters
        ----------
        scorer : callable
            Function, such as a ``torch.nn.Module``, that gives one score per row.

        Returns
        -------
        dict of (int, int) to torch.Tensor
            Matrix of margins for each group, 0 or 1, of the positive and of the negative.
        """
        parts = [*self.positives, *self.negatives]
        scores = scorer(torch.cat(parts)).reshape(-1).split([len(part) for part in parts])
        return {(g, h): scores[g][:, None] - scores[2 + h][None, :] for g, h in CELLS}


def pair_batches(
    X: Any, positive: Any, in_first: Any, *, size: int, random_state: int, sample_weight: Any = None
) -> Iterator[PairBatch]:
    """Draw batches without end: ``size`` positives and as many negatives of each group, with chances by weight.

    Parameters
    ----------
    X : array-like or torch.Tensor of shape (n_samples, n_inputs)
        Inputs.
    positive : array-like of shape (n_samples,)
        Labels, boolean or 0 and 1.
    in_first : array-like of shape (n_samples,)
        Membership in the first of two groups, boolean or 0 and 1.
    size : int
        Positives, and negatives, of each group in a batch.
    random_state : int
        Seed; the same one gives the same batches.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows, which their chances follow.

    Returns
    -------
    iterator of PairBatch
        Batches, without end.

    Raises
    ------
    InputError
        If a class has no rows of weight above 0 in a group.
    """
    rows = torch.as_tensor(X)
    labels, sides = _mask(positive, "positive", len(rows)), _mask(in_first, "in_first", len(rows))
    weight = np.ones(len(rows)) if sample_weight is None else check_weights(sample_weight, len(rows))
    pools = [np.flatnonzero(label & side & (weight > 0)) for label in (labels, ~labels) for side in (sides, ~sides)]
    check_none_empty([pool.size for pool in pools])
    rng = np.random.default_rng(check_whole("random_state", random_state, at_least=0))
    return _draw(rows, pools, weight, check_whole("size", size), rng)


def check_none_empty(masses: Sequence[float]) -> None:
    """Raise if there is nothing of one of the four kinds of rows, naming it."""
    empty = [kind for kind, mass in zip(KINDS, masses, strict=True) if not mass > 0]
    if empty:
        raise InputError(
            f"there are no {' and no '.join(empty)}; pairs need positives and negatives of both groups, of weight "
            "above 0."
        )


def _draw(rows: Any, pools: list[Any], weight: Any, size: int, rng: np.random.Generator) -> Iterator[PairBatch]:
    chances = [np.cumsum(weight[pool]) / weight[pool].sum() for pool in pools]
    while True:
        drawn = [
            rows[torch.from_numpy(pool[np.minimum(np.searchsorted(chance, rng.random(size)), pool.size - 1)])]
            for pool, chance in zip(pools, chances, strict=True)
        ]
        yield PairBatch((drawn[0], drawn[1]), (drawn[2], drawn[3]))


def _mask(values: Any, name: str, rows: int) -> BoolArray:
    column = np.asarray(values)
    if column.shape != (rows,):
        raise InputError(f"{name} must have one value per row, {rows:,} in all; got shape {column.shape}.")
    mask = column == 1
    if not (mask | (column == 0)).all():
        raise InputError(f"{name} must hold only 0 and 1, or booleans; got other values.")
    return np.asarray(mask, dtype=bool)
