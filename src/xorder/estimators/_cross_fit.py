"""Scores adjusted by what was fitted to other folds, of tables and of rows: how a map that follows rows is tried."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xorder._groups import is_missing
from xorder._parameters import WeightKind
from xorder._table import MISSING, BoolArray, FloatArray, IntArray, ScoreTable, Tables
from xorder.estimators._fitted import RepairSettings
from xorder.estimators._learn import GroupPlan, find_repair
from xorder.exceptions import InputError, XorderWarning
from xorder.transfer import ScoreMap

if TYPE_CHECKING:
    from xorder.estimators._folds import Fold

# NumPy draws without replacement from fewer rows than this.
_MOST_DRAWN = 10**9


def cross_fitted(tables: Tables, settings: RepairSettings, plan: GroupPlan, folds: int, random_state: Any) -> Tables:
    """Adjust the rows of each fold by what is fitted to the others."""
    if tables.held is not None:
        raise InputError(
            f"method={settings.method!r} is tried in folds, to which clusters are not dealt yet; take method='smooth'."
        )
    if not (isinstance(folds, int | np.integer) and folds >= 2):
        raise InputError(f"cv must be a whole number of folds from 2 up; got {folds!r}.")
    if any((mass != np.rint(mass)).any() for table in tables.values() for mass in table.sums) or tables.weighted:
        raise InputError(
            f"method={settings.method!r} is tried in folds, to which rows with weights cannot be dealt from tables. "
            "Give the rows to xorder.expected_gap, or take method='smooth'."
        )
    rng = np.random.default_rng(random_state)
    dealt = {
        group: np.stack([_dealt(mass.astype(np.int64), folds, rng).T for mass in table.sums])
        for group, table in tables.items()
    }
    alone = dict.fromkeys(tables, ScoreMap.identity())
    maps = [alone | _learn_without(settings, tables, dealt, fold, plan) for fold in range(folds)]
    adjusted = {}
    for group, table in tables.items():
        score = np.concatenate([learnt[group].apply(table.score) for learnt in maps])
        adjusted[group] = ScoreTable.from_masses(score, *(masses.ravel() for masses in dealt[group]))
    return tables.replacing(adjusted)


def _dealt(rows: IntArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """Deal the rows at each score at random into folds of equal size."""
    left, total = rows.copy(), int(rows.sum())
    dealt = np.zeros((rows.size, folds))
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
    return dealt


def _learn_without(
    settings: RepairSettings, tables: Tables, dealt: Mapping[Hashable, FloatArray], fold: int, plan: GroupPlan
) -> dict[Hashable, ScoreMap]:
    """Return the maps fitted to all folds but one, with the same groups set aside as of all folds."""
    if len(plan.tables) < 2:
        return {}
    rest = {
        group: ScoreTable.from_masses(table.score, *(dealt[group].sum(axis=1) - dealt[group][:, fold]))
        for group, table in tables.items()
        if group not in plan.aside.left
    }
    for group in plan.aside.merged:
        rest[plan.reference] = rest[plan.reference] + rest.pop(group)
    try:
        every = GroupPlan(Tables(rest), plan.reference)
        return find_repair(every.tables, every, replace(settings, reference=plan.reference)).maps
    except InputError as error:
        folds = next(iter(dealt.values())).shape[1]
        raise InputError(
            f"the repair cannot be fitted without fold {fold} of {folds}: {error} "
            "Each group needs at least two rows of each class, in different folds."
        ) from error


def cross_adjusted(
    repair: Any,
    y_score: FloatArray,
    y_true: Any,
    groups: Any,
    sample_weight: Any,
    folds: Sequence[Fold],
    plan: GroupPlan | None,
    weights_are: WeightKind = "counts",
) -> FloatArray:
    """Adjust the scores of each fold by what is fitted to all others.

    ``plan`` is that of an XOrder for all rows: what it sets aside is set aside in each fold, and no more. Repairs of
    others' making have none, and know nothing of what weights are.
    """
    from sklearn.base import clone

    weight = None if sample_weight is None else np.asarray(sample_weight)
    adjusted = np.array(y_score, dtype=np.float64)
    stays, meaning = np.zeros(len(adjusted), dtype=bool), {}
    if plan is not None:
        if len(plan.tables) < 2:
            return adjusted
        repair = clone(repair).set_params(reference=plan.reference, small_groups="repair")
        meaning = {"weights_are": weights_are}
        stays, merged = (_are_of(aside, groups) for aside in plan.aside)
        if merged.any():
            groups = np.array(groups, dtype=object)
            groups[merged] = plan.reference
    for place, fold in enumerate(folds):
        rest = np.setdiff1d(np.flatnonzero(~stays), fold.test)
        held_out = fold.test[~stays[fold.test]]
        try:
            # What they say is said of the repair of all rows, too, where it matters.
            with warnings.catch_warnings(action="ignore", category=XorderWarning):
                own = {"sensitive_features": groups[rest], "sample_weight": None if weight is None else weight[rest]}
                learnt = clone(repair).fit(y_score[rest], y_true[rest], **own, **meaning)
                adjusted[held_out] = learnt.transform(y_score[held_out], sensitive_features=groups[held_out])
        except InputError as error:
            raise InputError(
                f"the repair cannot be fitted without fold {place} of {len(folds)} and applied to it: {error} "
                "Each group needs at least two rows of each class, in different folds."
            ) from error
    return adjusted


def _are_of(some: Collection[Hashable], groups: Any) -> BoolArray:
    """Whether each row belongs to one of some groups."""
    labels = np.asarray(groups).tolist()
    return np.fromiter(((MISSING if is_missing(label) else label) in some for label in labels), bool, len(labels))
