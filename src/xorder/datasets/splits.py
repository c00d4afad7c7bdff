"""Training and test parts of a problem: drawn at random, or the ones the paper used."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Literal

import numpy as np

from xorder.datasets.origin import DataHome, data_folders
from xorder.datasets.problem import IntArray, Split
from xorder.exceptions import InputError

Splits = int | Literal["stored"] | None


def check_splits(splits: object) -> None:
    """Raise unless ``splits`` is None, ``"stored"`` or a number of splits."""
    counted = isinstance(splits, int | np.integer) and not isinstance(splits, bool) and splits >= 1
    if splits is not None and splits != "stored" and not counted:
        raise InputError(
            f"splits must be None, 'stored' for the paper's ten, or a number of random ones to draw; got {splits!r}."
        )


def make_splits(splits: Splits, n_rows: int, *, name: str, data_home: DataHome = None) -> tuple[Split, ...]:
    """Return the splits asked for: none, those stored for the data set ``name``, or so many random ones."""
    check_splits(splits)
    if splits is None:
        return ()
    if splits == "stored":
        return stored_splits(name, n_rows, data_home=data_home)
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


def stored_splits(name: str, n_rows: int, *, data_home: DataHome = None) -> tuple[Split, ...]:
    """Read ``splits/<name>.npz``: arrays ``train_0, test_0, train_1, ...`` of row numbers, each pair of all rows."""
    places = [folder / "splits" / f"{name}.npz" for folder in data_folders(data_home)]
    path = next(filter(Path.is_file, places), None)
    if path is None:
        raise InputError(
            f"the stored splits of {name} are not here: put {name}.npz, with row numbers train_0, test_0, train_1, "
            f"... at {' or '.join(map(str, places))}, or ask for random ones with splits=10."
        )
    try:
        # np.load by itself leaves a damaged file open, and takes other kinds of file.
        with path.open("rb") as handle, zipfile.ZipFile(handle), np.load(handle, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"cannot read {path} as arrays of row numbers ({error}); get it again.") from error
    count = sum(key.startswith("train_") for key in arrays)
    expected = {f"{part}_{i}" for i in range(count) for part in ("train", "test")}
    if not count or set(arrays) != expected:
        raise InputError(
            f"{path} must hold train_0, test_0, train_1, ... in pairs; it holds {', '.join(sorted(arrays))}."
        )
    return tuple(
        _checked(arrays[f"train_{i}"], arrays[f"test_{i}"], n_rows, f"{path}, split {i}") for i in range(count)
    )


def _checked(train: IntArray, test: IntArray, n_rows: int, where: str) -> Split:
    whole = train.ndim == test.ndim == 1 and train.dtype.kind in "iu" and test.dtype.kind in "iu"
    if not whole or not np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n_rows)):
        raise InputError(
            f"{where}: the training and the test part together must hold each row number from 0 to {n_rows - 1:,} once."
        )
    return Split(train.astype(np.intp), test.astype(np.intp))
