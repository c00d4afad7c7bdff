"""The methods compared: from a training part to adjusted scores of that part and of the test part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from xorder import XOrder
from xorder.baselines import PostLogit
from xorder.metrics import prf_difference, xauc_difference

# Half the default: on split 0 of each open set that costs at most .001 of training AUC, and it takes half the time.
CONSTRAINED_STEPS = 500

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference}


class BaseScores(NamedTuple):
    """Scores of one base model on both parts, and the seconds it took to fit it and to score."""

    train: Any
    test: Any
    seconds: float


class FoldScores(NamedTuple):
    """Scores of the training rows by models that have not seen them, and of the test rows by each of these models."""

    train: Any
    test: Any
    seconds: float


@dataclass(frozen=True)
class Task:
    """What a method gets: a training part with outcomes, a test part without, and the base model's scores of both."""

    metric: str
    parameter: float | None
    seed: int
    X: Any
    y: Any
    groups: Any
    X_new: Any
    groups_new: Any
    base_scores: Callable[[], BaseScores]
    fold_scores: Callable[[], FoldScores]

    @cached_property
    def score(self) -> Any:
        """Score of each training row by the base model, which was trained on it."""
        return self.base_scores().train

    @cached_property
    def score_new(self) -> Any:
        """Score of each test row by the base model."""
        return self.base_scores().test

    def gap(self, score: Any) -> float:
        """Absolute gap of scores of the training rows."""
        return abs(GAP_OF[self.metric](self.y, score, sensitive_features=self.groups))


def adjusted(task: Task, repair: Any) -> tuple[Any, Any]:
    """Learn an adjustment on the base model's own training scores, and apply it to both parts."""
    repair.fit(task.score, task.y, sensitive_features=task.groups)
    return (
        repair.transform(task.score, sensitive_features=task.groups),
        repair.transform(task.score_new, sensitive_features=task.groups_new),
    )


def unadjusted(task: Task) -> tuple[Any, Any]:
    """The base model's scores as they are."""
    return task.score, task.score_new


def post_logit(task: Task) -> tuple[Any, Any]:
    """Kallus and Zhou's logistic function of one group's scores, of the smallest training gap."""
    return adjusted(task, PostLogit(metric=task.metric))


def xorder_dp(task: Task) -> tuple[Any, Any]:
    """The paper's dynamic programme; the parameter is the tradeoff."""
    return adjusted(task, XOrder(metric=task.metric, tradeoff=task.parameter, method="dp"))


def xorder_frontier(task: Task) -> tuple[Any, Any]:
    """The same objective by the solver that proves how far from optimal it is; the parameter is the tradeoff."""
    return adjusted(task, XOrder(metric=task.metric, tradeoff=task.parameter, method="frontier"))


def fair_ranker(task: Task) -> tuple[Any, Any]:
    """What ``FairRanker`` does; the parameter is the part of the gap that may stay, 0 by default.

    The models of the folds are fitted once and serve every parameter and metric; a test compares the outcome with
    ``FairRanker`` itself. What stands for the training scores are the out-of-fold scores it learns on.
    """
    folds = task.fold_scores()
    repair = XOrder(
        metric=task.metric,
        max_gap=float(task.parameter or 0.0) * task.gap(folds.train),
    )
    repair.fit(folds.train, task.y, sensitive_features=task.groups)
    new = [repair.transform(score, sensitive_features=task.groups_new) for score in folds.test]
    return repair.transform(folds.train, sensitive_features=task.groups), np.mean(new, axis=0)


def corr_reg(task: Task) -> tuple[Any, Any]:
    """Cross-entropy plus the parameter times the correlation of pairwise margins with the group (Beutel et al.)."""
    from xorder.baselines import CorrelationRegularized

    return _trained(task, CorrelationRegularized(weight=task.parameter, metric=task.metric))


def constrained(task: Task) -> tuple[Any, Any]:
    """AUC under a limit on the gap; the parameter is the limit as a part of the base model's gap."""
    from xorder.baselines import ConstrainedRanker

    limit = float(task.parameter or 0.0) * task.gap(task.score)
    ranker = ConstrainedRanker(metric=task.metric, epsilon=limit, max_steps=CONSTRAINED_STEPS, random_state=task.seed)
    return _trained(task, ranker)


def _trained(task: Task, model: Any) -> tuple[Any, Any]:
    """Train on scaled inputs with groups; groups are not needed to score."""
    scaler = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    X = scaler.fit_transform(task.X)
    model.fit(X, task.y, sensitive_features=task.groups)
    return model.decision_function(X), model.decision_function(scaler.transform(task.X_new))
