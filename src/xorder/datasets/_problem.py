"""A problem: inputs, labels and groups, with what a user should know about where they come from.

Its training and test parts are drawn at random, or the ones the paper used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder.exceptions import InputError

IntArray = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers of a training part and of a test part.

    Parameters
    ----------
    train : ndarray of int
        Rows to train on.
    test : ndarray of int
        Rows to test on.
    """

    train: IntArray
    test: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A ranking problem made from real data.

    ``y`` and ``sensitive_features`` cannot be written to; ``X`` can, as any frame.

    Parameters
    ----------
    name : str
        Short name.
    X : pandas.DataFrame of shape (n_samples, n_inputs)
        One named column of floats per input.
    y : ndarray of shape (n_samples,)
        1 for the rows that should rank high.
    sensitive_features : ndarray of shape (n_samples,)
        Group of each row, as readable text.
    description : str
        What the rows, the label and the groups are, in a few sentences.
    source : str
        Where the raw data come from.
    licence : str
        Terms under which they may be used.
    warnings : tuple of str, default=()
        What to know before drawing conclusions from it.
    splits : tuple of Split, default=()
        Training and test parts, if any were asked for.
    """

    name: str
    X: Any
    y: NDArray[np.int8]
    sensitive_features: NDArray[np.object_]
    description: str
    source: str
    licence: str
    warnings: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()

    def __post_init__(self) -> None:
        for name in ("y", "sensitive_features"):
            # A view, so that the array of whoever made the problem stays as it is.
            fixed = getattr(self, name).view()
            fixed.setflags(write=False)
            object.__setattr__(self, name, fixed)

    def __repr__(self) -> str:
        groups, counts = np.unique(self.sensitive_features.astype(str), return_counts=True)
        listed = ", ".join(f"{count:,} {group}" for group, count in zip(groups, counts, strict=True))
        rows, inputs = self.X.shape
        return f"<{self.name}: {rows:,} rows x {inputs} inputs; {self.y.sum():,} positive; {listed}>"


_SEED = 12345


class StoredSplits(NamedTuple):
    """Which shuffles of how many rows were kept, and a hash of the row numbers in the published files.

    The authors shuffled until ten splits met their condition: the training and test gaps of two models must be alike,
    and of the same sign where all exceed 0.01. For COMPAS and Adult the first ten shuffles met it; for the others it
    took 16 and 22.
    """

    rows: int
    shuffles: Sequence[int]
    sha256: str


def stored_splits(stored: StoredSplits, n_rows: int) -> tuple[Split, ...]:
    """Return the paper's splits of an open set, with the rows of each part in the order of the published files."""
    if n_rows != stored.rows:
        raise InputError(
            f"the paper's splits are for {stored.rows:,} rows; this table has {n_rows:,}. "
            "Ask for random ones, such as splits=10."
        )
    # NumPy keeps the stream of its legacy generator, shuffles included, as it was.
    generator = np.random.RandomState(_SEED)
    shuffles = [generator.permutation(n_rows).astype(np.intp) for _ in range(stored.shuffles[-1] + 1)]
    n_test = _test_rows(n_rows)
    splits = tuple(Split(shuffles[number][n_test:], shuffles[number][:n_test]) for number in stored.shuffles)
    published = b"".join(part.astype("<i4").tobytes() for split in splits for part in split)
    if hashlib.sha256(published).hexdigest() != stored.sha256:
        raise InputError(
            f"NumPy {np.__version__} shuffles in another way than the versions before it, so that the paper's splits "
            "cannot be drawn. Use an older one, or ask for random splits, such as splits=10."
        )
    return splits


Splits = int | Literal["stored"] | None


def check_splits(splits: object, *, stored: bool) -> None:
    """Raise unless ``splits`` is None, a number of splits, or, where there are stored ones, ``"stored"``."""
    if splits == "stored" and not stored:
        raise InputError("no splits are stored for clinical data; ask for random ones, such as splits=10.")
    counted = isinstance(splits, int | np.integer) and not isinstance(splits, bool) and splits >= 1
    if splits is not None and splits != "stored" and not counted:
        raise InputError(
            f"splits must be None, 'stored' for the paper's ten, or a number of random ones to draw; got {splits!r}."
        )


def make_splits(splits: Splits, n_rows: int, stored: StoredSplits | None = None) -> tuple[Split, ...]:
    """Return the splits asked for: none, the paper's where they are stored, or so many random ones."""
    check_splits(splits, stored=stored is not None)
    if splits is None:
        return ()
    if stored is not None and splits == "stored":
        return stored_splits(stored, n_rows)
    return random_splits(n_rows, int(splits))


def random_splits(n_rows: int, n_splits: int) -> tuple[Split, ...]:
    """Draw plain random splits with 30 % of the rows, rounded up, in the test part.

    Split ``i`` depends on ``i`` and ``n_rows`` only, so asking for more splits keeps the first ones, and it is the same
    on every machine.

    >>> random_splits(5, 1)
    (Split(train=array([0, 1, 4]), test=array([2, 3])),)
    """
    if n_rows < 2:
        raise InputError(f"a split needs at least 2 rows; got {n_rows}.")
    n_test = _test_rows(n_rows)
    # NumPy promises the raw stream of a bit generator to stay as it is, but not its shuffles.
    orders = (np.argsort(np.random.PCG64(seed).random_raw(n_rows), kind="stable") for seed in range(n_splits))
    return tuple(Split(np.sort(order[n_test:]), np.sort(order[:n_test])) for order in orders)


def _test_rows(n_rows: int) -> int:
    """Three in ten, rounded up."""
    return -(-3 * n_rows // 10)
