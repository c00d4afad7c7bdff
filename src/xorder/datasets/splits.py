"""Training and test parts of a problem: drawn at random, or the ones the paper used."""

from __future__ import annotations

from typing import Literal

import numpy as np

from xorder.datasets.problem import Split
from xorder.datasets.stored import stored_splits
from xorder.exceptions import InputError

Splits = int | Literal["stored"] | None


def check_splits(splits: object, *, stored: bool = True) -> None:
    """Raise unless ``splits`` is None, a number of splits, or, where there are stored ones, ``"stored"``."""
    if splits == "stored" and not stored:
        raise InputError("no splits are stored for clinical data; ask for random ones, such as splits=10.")
    counted = isinstance(splits, int | np.integer) and not isinstance(splits, bool) and splits >= 1
    if splits is not None and splits != "stored" and not counted:
        raise InputError(
            f"splits must be None, 'stored' for the paper's ten, or a number of random ones to draw; got {splits!r}."
        )


def make_splits(splits: Splits, n_rows: int, *, name: str) -> tuple[Split, ...]:
    """Return the splits asked for: none, the paper's of the data set ``name``, or so many random ones."""
    check_splits(splits)
    if splits is None:
        return ()
    if splits == "stored":
        return stored_splits(name, n_rows)
    return random_splits(n_rows, splits)


def random_splits(n_rows: int, n_splits: int) -> tuple[Split, ...]:
    """Draw plain random splits with 30 % of the rows, rounded up, in the test part.

    Split ``i`` depends on ``i`` and ``n_rows`` only, so asking for more splits keeps the first ones, and it is the same
    on every machine.

    >>> random_splits(5, 1)
    (Split(train=array([0, 1, 4]), test=array([2, 3])),)
    """
    if n_rows < 2:
        raise InputError(f"a split needs at least 2 rows; got {n_rows}.")
    n_test = -(-3 * n_rows // 10)
    drawn = []
    for seed in range(n_splits):
        # NumPy promises the raw stream of a bit generator to stay as it is, but not its shuffles.
        order = np.argsort(np.random.PCG64(seed).random_raw(n_rows), kind="stable")
        drawn.append(Split(np.sort(order[n_test:]), np.sort(order[:n_test])))
    return tuple(drawn)
