"""What to expect on new people, from tables alone: their masses are dealt out to folds."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from xorder._table import FloatArray, IntArray, ScoreTable
from xorder._validation import Tables
from xorder.estimators.expected import ExpectedDisparity, target_of
from xorder.estimators.set_aside import set_aside
from xorder.estimators.settle import checked
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics.audit import audit_tables
from xorder.transfer import ScoreMap

# NumPy draws without replacement from fewer rows than this.
_MOST_DRAWN = 10**9


class Dealt(NamedTuple):
    """Masses of one table in each fold, a row for each score and a column for each fold."""

    positive: FloatArray
    negative: FloatArray


def expected_disparity_of_tables(
    adjuster: Any,
    tables: Tables,
    squares: Mapping[Hashable, ScoreTable] | None = None,
    *,
    cv: int = 5,
    random_state: Any = 0,
    confidence: float = 0.95,
) -> ExpectedDisparity:
    """Estimate AUC and gaps that a repair will have on new people, where only tables are at hand.

    As :func:`xorder.expected_disparity`, with the people at each score dealt to the folds at random. Where weights are
    no counts, ``squares`` are the tables of squared weights, and the mass at a score is dealt in as many parts as it
    has effective rows. ``adjuster`` is an :class:`xorder.XOrder`; it is not changed.
    """
    if not (isinstance(cv, int | np.integer) and cv >= 2):
        raise InputError(f"cv must be a whole number of folds from 2 up; got {cv!r}.")
    before = audit_tables(dict(tables), _values(squares), confidence=confidence)
    rng = np.random.default_rng(random_state)
    shares = {
        group: _deal(table, None if squares is None else squares[group], cv, rng) for group, table in tables.items()
    }
    aside = set_aside(adjuster, checked(tables))
    alone = dict.fromkeys((*aside.left, *aside.merged), ScoreMap.identity())
    maps = [alone | _learn_without(adjuster, tables, squares, shares, fold, alone) for fold in range(cv)]

    def adjusted(whole: Mapping[Hashable, ScoreTable]) -> dict[Hashable, ScoreTable]:
        return {
            group: _adjusted(table, shares[group], [learnt[group] for learnt in maps]) for group, table in whole.items()
        }

    with warnings.catch_warnings():
        # Of groups without a class, or with a single row of one, the audit before has told already.
        warnings.simplefilter("ignore", XorderWarning)
        after = audit_tables(
            adjusted(tables), _values(None if squares is None else adjusted(squares)), confidence=confidence
        )
    return ExpectedDisparity(adjuster.metric, before, after, cv, target_of(adjuster), aside)


def _values(squares: Mapping[Hashable, ScoreTable] | None) -> Sequence[ScoreTable] | None:
    return None if squares is None else list(squares.values())


def _deal(table: ScoreTable, squares: ScoreTable | None, folds: int, rng: np.random.Generator) -> Dealt:
    """Share of each score's mass that each fold gets, positives and negatives."""
    units = []
    for name in ("positive", "negative"):
        mass = getattr(table, name)
        if squares is not None:
            mass = np.divide(mass**2, getattr(squares, name), out=np.zeros_like(mass), where=mass > 0)
        # Whoever is there at all is at least one part.
        units.append(np.where(mass > 0, np.maximum(np.rint(mass), 1), 0).astype(np.int64))
    return Dealt(*(_shares(parts, folds, rng) for parts in units))


def _shares(units: IntArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """Deal the units at random into folds of equal size."""
    left, total = units.copy(), int(units.sum())
    dealt = np.zeros((units.size, folds))
    for fold in range(folds):
        wanted = total * (fold + 1) // folds - total * fold // folds
        if fold == folds - 1:
            drawn = left
        elif left.sum() < _MOST_DRAWN:
            drawn = rng.multivariate_hypergeometric(left, wanted, method="marginals")
        else:
            # So many rows that folds of nearly equal size will do.
            drawn = rng.binomial(left, 1 / (folds - fold))
        dealt[:, fold] = drawn
        left = left - drawn
    return np.asarray(dealt / np.maximum(units, 1)[:, np.newaxis])


def _learn_without(
    adjuster: Any,
    tables: Tables,
    squares: Mapping[Hashable, ScoreTable] | None,
    shares: dict[Hashable, Dealt],
    fold: int,
    aside: Collection[Hashable],
) -> dict[Hashable, ScoreMap]:
    """Return the maps learnt from all folds but one; groups set aside need not be in these."""
    rest = _without(tables, shares, fold)
    known = [group for group, table in rest.items() if len(table) or group not in aside]
    try:
        with warnings.catch_warnings():
            # What they say is said of the repair of all rows, too, where it matters.
            warnings.simplefilter("ignore", XorderWarning)
            spread = {}
            if squares is not None:
                others = _without(squares, shares, fold)
                spread = {"squares": {group: others[group] for group in known}}
            learnt: dict[Hashable, ScoreMap] = (
                clone(adjuster).fit_tables({group: rest[group] for group in known}, **spread).maps_
            )
            return learnt
    except InputError as error:
        folds = next(iter(shares.values())).positive.shape[1]
        raise InputError(
            f"the repair cannot be learnt without fold {fold} of {folds}: {error} "
            "Each group needs at least two rows of each class, in different folds."
        ) from error


def _without(
    tables: Mapping[Hashable, ScoreTable], shares: dict[Hashable, Dealt], fold: int
) -> dict[Hashable, ScoreTable]:
    return {
        group: ScoreTable._from_masses(
            table.score,
            table.positive * _others(shares[group].positive, fold),
            table.negative * _others(shares[group].negative, fold),
        )
        for group, table in tables.items()
    }


def _others(shares: FloatArray, fold: int) -> FloatArray:
    others = np.delete(shares, fold, axis=1).sum(axis=1)
    # What is dealt to the others alone is there in full, to the last digit.
    return np.asarray(np.where(shares[:, fold] == 0, (shares.sum(axis=1) > 0).astype(float), others))


def _adjusted(table: ScoreTable, shares: Dealt, maps: Sequence[Any]) -> ScoreTable:
    """Return the table with the mass of each fold at the score that its map gives."""
    return ScoreTable._from_masses(
        np.concatenate([learnt.apply(table.score) for learnt in maps]),
        (table.positive[:, np.newaxis] * shares.positive).T.ravel(),
        (table.negative[:, np.newaxis] * shares.negative).T.ravel(),
    )
