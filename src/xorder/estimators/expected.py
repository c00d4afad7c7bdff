"""What to expect on new people: a repair tried on rows that it was not learnt from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.base import clone

from xorder._adjuster import check_adjuster
from xorder._group_columns import group_labels
from xorder._table import BoolArray, FloatArray
from xorder._validation import check_scores, check_tables, check_weights, name_missing
from xorder.estimators.expected_words import caution_text, expected_text
from xorder.estimators.folds import Fold, make_folds
from xorder.estimators.set_aside import NOBODY, SetAside, set_aside, sets_aside
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import Audit, Gap, audit
from xorder.metrics.audit import WeightKind
from xorder.metrics.gaps import json_label

NOTABLE_GAP = 0.05
"""A gap that a user wants to be able to exclude, where no target above 0 says which."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedDisparity:
    """How a repair does on people it was not learnt from; made by :func:`expected_disparity`.

    ``before`` audits the scores as they are, ``after`` those of each fold adjusted by a repair learnt from the other
    folds. ``metric`` is the gap the repair is about, ``target`` the gap it aims at or, where that is 0, one worth
    excluding; ``folds`` counts the folds. ``aside`` names the groups that the repair of all rows leaves alone, and
    those it counts with the reference: the audits hold them, but what is said of the repair is about the others.
    """

    metric: str
    before: Audit
    after: Audit
    folds: int
    target: float
    aside: SetAside = NOBODY

    def gap(self, pair: tuple[Hashable, Hashable] | None = None) -> Gap:
        """Return the gap after repair for a pair of groups, with its interval; without a pair, the widest repaired."""
        if pair is not None:
            return self.after.gap(self.metric, pair)
        return max(self._repaired(), key=lambda gap: abs(gap.value) if math.isfinite(gap.value) else -1.0)

    @property
    def likely_gap(self) -> float:
        r"""Mean size of the widest pair's gap among all people, given what the rows tell of it.

        With the gap normal around its value v with standard error s, it is the mean of \|gap\|. It is never 0: a
        repair that closes the gap of a sample leaves that of the population open by about one standard error.
        """
        gap = self.gap()
        return _folded_mean(gap.value, gap.stderr)

    @property
    def smallest_visible(self) -> float:
        """Size from which on a gap could be told from 0 with these rows, in the pair for which that is largest.

        ``nan`` if the rows cannot tell for some pair, such as one with a single positive.
        """
        return _z(self.after.confidence) * self._most_uncertain().stderr

    @property
    def caution(self) -> str | None:
        """One sentence if the rows are too few to tell the target from 0 in some pair of groups; else None."""
        if self.smallest_visible <= self.target:
            return None
        return caution_text(self._most_uncertain(), self.after, self.smallest_visible, self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON; ``nan`` becomes ``None``."""
        numbers = {"likely_gap": self.likely_gap, "smallest_visible": self.smallest_visible, "target": self.target}
        return {
            "metric": self.metric,
            "folds": self.folds,
            **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
            "caution": self.caution,
            "left": [json_label(group) for group in self.aside.left],
            "merged": [json_label(group) for group in self.aside.merged],
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }

    def __str__(self) -> str:
        return expected_text(self)

    def __repr__(self) -> str:
        return f"<ExpectedDisparity in {self.metric}: {self.gap().value:+.4f} after repair, AUC {self.after.auc:.4f}>"

    def _most_uncertain(self) -> Gap:
        return max(self._repaired(), key=lambda gap: gap.stderr if math.isfinite(gap.stderr) else math.inf)

    def _repaired(self) -> list[Gap]:
        aside = {*self.aside.left, *self.aside.merged}
        return [gap for gap in self.after.gaps if gap.metric == self.metric and aside.isdisjoint(gap.pair)]


def expected_disparity(
    adjuster: Any,
    y_score: Any,
    y_true: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    cv: Any = 5,
    random_state: Any = 0,
    confidence: float = 0.95,
    weights_are: WeightKind | None = None,
) -> ExpectedDisparity:
    """Estimate AUC and gaps that a repair will have on new people.

    The rows are cut into folds. Those of each fold are adjusted by a clone of ``adjuster`` learnt from the other folds,
    and all adjusted scores are audited together. Its interval is one for the gap among all people of the kind the rows
    were drawn from; in a new sample of people chance adds to it.

    Parameters
    ----------
    adjuster : XOrder, PostLogit, or whatever has their ``fit`` and ``transform``; it is not changed
    y_score : scores of people their model was *not* trained on, such as out-of-fold scores
    y_true : labels, 1 for the positive class, 0 for the other
    sensitive_features : group of each row, or a table of several attributes
    sample_weight : weight of each row
    cv : number of folds, dealt out by label and group; a splitter; or pairs of row numbers
    random_state : how the folds are drawn, if ``cv`` is a number
    confidence : of the intervals
    weights_are : as in :func:`xorder.audit`; by default ``"counts"`` if all weights are whole, else ``"sampling"``

    Examples
    --------
    >>> from xorder import XOrder
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(4000)
    >>> found = expected_disparity(XOrder(), people.y_score, people.y_true, sensitive_features=people.group)
    >>> round(found.before.gap("xauc").value, 3), abs(found.gap().value) < 0.01, round(found.likely_gap, 3)
    (0.254, True, 0.013)
    """
    check_adjuster(adjuster)
    score, label = check_scores(y_score), np.asarray(y_true)
    groups = group_labels(sensitive_features)
    # The audit of the scores as they are checks all columns before anything is cut.
    kind = weights_are or _kind_of(sample_weight)
    named = name_missing(groups)
    settings: dict[str, Any] = {
        "sensitive_features": named,
        "sample_weight": sample_weight,
        "confidence": confidence,
        "weights_are": kind,
    }
    before = audit(label, score, **settings)
    folds = make_folds(cv, score.reshape(-1, 1), label, groups, random_state=random_state)
    aside = set_aside(adjuster, check_tables(label, score, named, sample_weight)) if sets_aside(adjuster) else NOBODY
    adjusted = cross_adjusted(adjuster, score, label, groups, sample_weight, folds, aside)
    with warnings.catch_warnings():
        # Of groups without a class, or with a single row of one, the audit before has told already.
        warnings.simplefilter("ignore", XorderWarning)
        after = audit(label, adjusted, **settings)
    metric = getattr(adjuster, "metric", "xauc")
    return ExpectedDisparity(metric, before, after, len(folds), target_of(adjuster), aside)


def cross_adjusted(
    adjuster: Any,
    y_score: FloatArray,
    y_true: Any,
    groups: Any,
    sample_weight: Any,
    folds: Sequence[Fold],
    aside: SetAside = NOBODY,
) -> FloatArray:
    """Adjust the scores of each fold by what is learnt from all others.

    Rows of a group that the repair of all rows sets aside keep their scores where the other folds hold none of it, as
    they do in that repair: left alone, or counted with the reference, whose scores stay.
    """
    weight = None if sample_weight is None else np.asarray(sample_weight)
    adjusted = np.array(y_score, dtype=np.float64)
    rows_of = _rows_of(aside, groups)
    for number, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(len(y_score)), fold.test)
        unseen = [group for group, there in rows_of.items() if not there[rest].any()]
        known = fold.test[~np.any([rows_of[group][fold.test] for group in unseen], axis=0)] if unseen else fold.test
        try:
            with warnings.catch_warnings():
                # What they say is said of the repair of all rows, too, where it matters.
                warnings.simplefilter("ignore", XorderWarning)
                learnt = clone(adjuster).fit(
                    y_score[rest],
                    y_true[rest],
                    sensitive_features=groups[rest],
                    sample_weight=None if weight is None else weight[rest],
                )
                adjusted[known] = learnt.transform(y_score[known], sensitive_features=groups[known])
        except InputError as error:
            raise InputError(
                f"the repair cannot be learnt without fold {number} of {len(folds)} and applied to it: {error} "
                "Each group needs at least two rows of each class, in different folds."
            ) from error
    return adjusted


def _rows_of(aside: SetAside, groups: Any) -> dict[Hashable, BoolArray]:
    """Rows of each group that is set aside."""
    if not (aside.left or aside.merged):
        return {}
    labels = name_missing(groups).tolist()
    return {
        group: np.fromiter((label == group for label in labels), dtype=bool, count=len(labels))
        for group in (*aside.left, *aside.merged)
    }


def _kind_of(sample_weight: Any) -> WeightKind:
    if sample_weight is None:
        return "counts"
    weight = check_weights(sample_weight)
    return "counts" if np.array_equal(weight, np.floor(weight)) else "sampling"


def target_of(adjuster: Any) -> float:
    """Return the gap that a repair aims at or, where that is 0, one worth excluding."""
    wanted = getattr(adjuster, "max_disparity", None)
    return float(wanted) if wanted else NOTABLE_GAP


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _folded_mean(value: float, stderr: float) -> float:
    """Mean of the absolute value of a normal variable."""
    if not stderr > 0:
        return abs(value) if stderr == 0 else math.nan
    ratio = value / stderr
    return stderr * math.sqrt(2 / math.pi) * math.exp(-(ratio**2) / 2) + value * math.erf(ratio / math.sqrt(2))
