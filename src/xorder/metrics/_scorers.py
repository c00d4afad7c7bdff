"""Scorers for model selection: ``scorer(estimator, X, y)`` is larger the narrower the gap between groups.

They go wherever scikit-learn takes ``scoring=``. The group of each row comes from a column of X, if the scorer is made
for one, or along with the call: with metadata routing enabled, ``cross_validate(..., params={"sensitive_features":
group})`` brings it, as these scorers request it. They hand it on to an estimator that needs it to score rows, such as a
:class:`xorder.FairRanker` without a column of its own; the scorers of scikit-learn cannot do that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from itertools import combinations
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from xorder._groups import group_labels, groups_in
from xorder._metric import METRICS, auc_estimate, check_metric
from xorder._response import gives_probabilities, response
from xorder._validation import check_tables
from xorder.exceptions import InputError
from xorder.metrics._placements import moments

Request = bool | str | None


@dataclass(frozen=True)
class GapScorer:
    """Minus the widest gap, or AUC less a price for it; made by :func:`make_gap_scorer`.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}
        The gap.
    sensitive_features : int, str or tuple, default=None
        Column of X, or columns, with the group; by default it is passed along.
    tradeoff : float, default=None
        Points of AUC that one point of the gap costs.
    requests : tuple, default=()
        Metadata requested, by name.
    """

    metric: str
    sensitive_features: Any = None
    tradeoff: float | None = None
    requests: tuple[tuple[str, Request], ...] = ()

    def __call__(
        self, estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """Score a fitted classifier on rows; ``nan`` if a group has no positives or no negatives among them."""
        groups = self._groups(X, sensitive_features)
        params = {} if sensitive_features is None else _accepted(estimator, sensitive_features)
        score = response(estimator, X, **params)
        tables = list(check_tables(_positive(estimator, y), score, groups, sample_weight).values())
        if len(tables) < 2:
            raise InputError("a gap needs two groups; all rows to be scored are of one.")
        found = moments(tables)
        gaps = np.array([METRICS[self.metric].estimate(found, a, b)[0] for a, b in combinations(range(len(tables)), 2)])
        # The largest of an array with nan is nan.
        widest = float(np.abs(gaps).max())
        return -widest if self.tradeoff is None else auc_estimate(found)[0] - self.tradeoff * widest

    def set_score_request(self, **requests: Request) -> GapScorer:
        """Return a scorer that requests other metadata.

        Parameters
        ----------
        **requests : bool, str or None
            For ``sensitive_features`` and ``sample_weight``: whether it is wanted, or by which name.

        Returns
        -------
        GapScorer
            The same scorer with these requests.
        """
        unknown = requests.keys() - {"sensitive_features", "sample_weight"}
        if unknown:
            raise InputError(
                f"a gap scorer knows sensitive_features and sample_weight; got {', '.join(sorted(unknown))}."
            )
        return replace(self, requests=tuple((dict(self.requests) | requests).items()))

    def get_metadata_routing(self) -> MetadataRequest:
        """Say what the scorer wants passed along: the group, unless it is found in a column.

        Returns
        -------
        MetadataRequest
            As scikit-learn's metadata routing reads it.
        """
        wanted: dict[str, Request] = {"sensitive_features": self.sensitive_features is None, "sample_weight": None}
        request = MetadataRequest(owner=self)
        for name, alias in (wanted | dict(self.requests)).items():
            request.score.add_request(param=name, alias=alias)
        return request

    def __repr__(self) -> str:
        given = {"sensitive_features": self.sensitive_features, "tradeoff": self.tradeoff}
        settings = [f", {name}={value!r}" for name, value in given.items() if value is not None]
        return f"make_gap_scorer({self.metric!r}{''.join(settings)})"

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        if sensitive_features is not None:
            return group_labels(sensitive_features)
        if self.sensitive_features is None:
            raise InputError(
                "a gap scorer needs the group of each row: make it for a column of X, with "
                f"make_gap_scorer({self.metric!r}, sensitive_features='race'), or enable scikit-learn's metadata "
                "routing and pass sensitive_features along."
            )
        return groups_in(X, self.sensitive_features)


def make_gap_scorer(
    metric: str = "xauc", *, sensitive_features: Any = None, tradeoff: float | None = None
) -> GapScorer:
    """Make a scorer of the widest gap between two groups, for ``scoring=``.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}, default="xauc"
        The gap.
    sensitive_features : int, str or list, default=None
        Column of X that holds the group, or a list of columns, as in :class:`xorder.FairRanker`; by default the group
        is passed along.
    tradeoff : float, default=None
        Points of AUC that one point of the gap costs. With it the score is AUC less that, for a search that needs one
        number; without it, minus the gap.

    Returns
    -------
    GapScorer
        A scorer for ``scoring=``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(1000)
    >>> X = np.column_stack([people.y_score, people.group == "B"])
    >>> scorer = make_gap_scorer("xauc", sensitive_features=1)
    >>> cross_val_score(LogisticRegression(), X, people.y_true, scoring=scorer).mean() < -0.1
    np.True_
    """
    check_metric(metric)
    if tradeoff is not None and not (np.isreal(tradeoff) and 0 <= tradeoff < np.inf):
        raise InputError(f"tradeoff must be a finite number from 0 up; got {tradeoff!r}.")
    columns = tuple(sensitive_features) if isinstance(sensitive_features, list) else sensitive_features
    return GapScorer(metric, columns, tradeoff)


neg_xauc_difference = make_gap_scorer("xauc")
neg_prf_difference = make_gap_scorer("prf")
neg_parity_difference = make_gap_scorer("parity")
auc_minus_xauc_difference = make_gap_scorer("xauc", tradeoff=1.0)
auc_minus_prf_difference = make_gap_scorer("prf", tradeoff=1.0)


def _accepted(estimator: Any, sensitive_features: Any) -> dict[str, Any]:
    """What to pass on to the method that scores rows: the group, if it takes it or has requested it."""
    method = "predict_proba" if gives_probabilities(estimator) else "decision_function"
    name = "sensitive_features"
    takes = name in signature(getattr(estimator, method, response)).parameters
    if not takes and get_config()["enable_metadata_routing"]:
        takes = name in get_routing_for_object(estimator).consumes(method, [name])
    return {name: sensitive_features} if takes else {}


def _positive(estimator: Any, y: Any) -> Any:
    """Whether each label is that of the positive class."""
    labels = np.asarray(y)
    return labels == estimator.classes_[1] if hasattr(estimator, "classes_") else labels
