"""Folds: rows dealt out so that each fold has its share of every group's positives and negatives."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from xorder._groups import is_missing
from xorder._parameters import check_seed
from xorder._table import BoolArray
from xorder._validation import check_clusters
from xorder.exceptions import InputError

IntArray = NDArray[np.intp]


class Fold(NamedTuple):
    """Row numbers to learn from, and row numbers held out."""

    train: IntArray
    test: IntArray


def make_folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    groups: Any,
    *,
    random_state: Any = 0,
    split_params: Mapping[str, Any] | None = None,
    clusters: Any = None,
) -> list[Fold]:
    """Return folds that hold out each row exactly once.

    ``cv`` is a number of folds, dealt out by class and group; a scikit-learn splitter, which gets ``X``, ``y`` and
    ``split_params``; or an iterable of pairs of row numbers. Rows of one cluster stay together.
    """
    rows = len(y)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        _, label = np.unique(y, return_inverse=True)
        # What is missing is equal to nothing, so all of it becomes None.
        plain = [None if is_missing(group) else group for group in np.asarray(groups).tolist()]
        strata = list(zip(plain, label.tolist(), strict=True))
        if clusters is None:
            return dealt_folds(strata, rows, int(cv), random_state)
        return _dealt_together(strata, check_clusters(clusters, rows), int(cv), random_state)
    if hasattr(cv, "split") and not isinstance(cv, str):
        _check_told_who_belongs_together(cv, split_params or {})
        pairs = cv.split(X, y, **(split_params or {}))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = cv
    else:
        raise InputError(f"cv must be a number of folds, a splitter, or pairs of row numbers; got {cv!r}.")
    try:
        folds = [Fold(_rows(train, rows), _rows(test, rows)) for train, test in pairs]
    except (TypeError, IndexError) as error:
        raise InputError(f"cv must give pairs of row numbers, to learn from and to hold out ({error}).") from error
    _check_partition(folds, rows)
    if clusters is not None:
        _check_together(folds, check_clusters(clusters, rows))
    return folds


def _dealt_together(
    strata: Sequence[Hashable], cluster: NDArray[np.int64], n_folds: int, random_state: Any
) -> list[Fold]:
    """Deal whole clusters to folds, by the stratum of the first row of each."""
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    if first.size < n_folds:
        raise InputError(f"cv must be at most the number of clusters, {first.size:,}; got {n_folds}.")
    of_clusters = dealt_folds([strata[row] for row in first.tolist()], first.size, n_folds, random_state)
    held = [np.isin(number, fold.test) for fold in of_clusters]
    return [Fold(np.flatnonzero(~own), np.flatnonzero(own)) for own in held]


def _check_together(folds: list[Fold], cluster: NDArray[np.int64]) -> None:
    for number, fold in enumerate(folds):
        shared = np.intersect1d(cluster[fold.train], cluster[fold.test])
        if shared.size:
            row = int(np.flatnonzero(cluster == shared[0])[0])
            raise InputError(
                f"cv must keep the rows of a cluster together; fold {number} learns from the cluster of row {row} and "
                "holds it out. Give a number of folds, or splits of GroupKFold."
            )


def dealt_folds(strata: Iterable[Hashable], rows: int, n_folds: int, random_state: Any = 0) -> list[Fold]:
    """Deal rows to folds like cards, stratum by stratum, in random order within a stratum.

    Folds differ by at most one row in all, and by at most one row of each stratum. A stratum of fewer rows than folds
    goes to as many folds as it has rows: with two rows, what is left without any one fold still has one of them.

    >>> [fold.test.tolist() for fold in dealt_folds("aaaabb", 6, 2)]
    [[2, 3, 5], [0, 1, 4]]
    """
    if not 2 <= n_folds <= rows:
        raise InputError(f"cv must be from 2 up to the number of rows, {rows:,}; got {n_folds}.")
    codes: dict[Hashable, int] = {}
    code = np.fromiter((codes.setdefault(stratum, len(codes)) for stratum in strata), dtype=np.intp, count=rows)
    shuffled = check_random_state(check_seed(random_state)).permutation(rows)
    order = shuffled[np.argsort(code[shuffled], kind="stable")]
    fold_of = np.empty(rows, dtype=np.intp)
    fold_of[order] = np.arange(rows) % n_folds
    return [Fold(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(n_folds)]


def check_both_classes_to_learn_from(folds: list[Fold], positive: BoolArray) -> None:
    """Raise if some fold leaves a single class to fit a model to."""
    for number, fold in enumerate(folds):
        n1 = int(positive[fold.train].sum())
        if not 0 < n1 < fold.train.size:
            raise InputError(
                f"each fold must leave rows of both classes to learn from; fold {number} leaves {n1} positives among "
                f"{fold.train.size:,} rows. Give at least two rows of each class, or other folds."
            )


def _check_told_who_belongs_together(cv: Any, split_params: Mapping[str, Any]) -> None:
    """Raise for a splitter that keeps rows together, such as GroupKFold, if nobody says which."""
    wanted = cv.get_metadata_routing().split.requests if hasattr(cv, "get_metadata_routing") else {}
    if wanted.get("groups") is True and split_params.get("groups") is None:
        name = type(cv).__name__
        raise InputError(
            f"{name} must be told which rows belong together, e.g. whose they are. Give its splits as "
            f"cv=list({name}().split(X, y, person)); or enable metadata routing, with "
            "sklearn.set_config(enable_metadata_routing=True), and pass groups=person to fit of the FairRanker."
        )


def _rows(numbers: Any, rows: int) -> IntArray:
    found = np.asarray(numbers)
    if found.dtype == bool:
        found = np.flatnonzero(found)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TypeError(f"got {found.dtype} of shape {found.shape}")
    return np.asarray(np.arange(rows)[found])


def _check_partition(folds: list[Fold], rows: int) -> None:
    held_out = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=rows) if folds else np.zeros(rows)
    wrong = np.flatnonzero(held_out != 1)
    if len(folds) < 2 or wrong.size:
        found = f"row {wrong[0]} is held out {int(held_out[wrong[0]])} times" if wrong.size else "there is one fold"
        raise InputError(f"cv must be two or more folds that hold out each row exactly once; here {found}.")
    for number, fold in enumerate(folds):
        shared = np.intersect1d(fold.train, fold.test)
        if shared.size:
            raise InputError(
                f"cv must not learn from rows it holds out; fold {number} does, e.g. from row {shared[0]}."
            )
