"""What an experiment is made of: data sets, base models and methods, each a name and a few plain values.

To add one of your own, put it into ``DATASETS``, ``MODELS`` or ``METHODS``: docs/extending-experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments import methods
from experiments.unadjusted import BrieflyTrained, slip
from xorder.datasets import Problem, load_adult, load_compas, load_eicu, load_framingham, load_german, load_mimic3
from xorder.exceptions import InputError
from xorder.models import LinearScorer, PairwiseLinearScorer, RankBoost

METRICS = ("xauc", "prf")

# What a method without a metric to care for, such as none at all, has in the place of one.
NO_METRIC = "none"

# Tradeoffs: points of AUC worth giving for one point of gap.
TRADEOFFS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
# Parts of the gap that may stay.
LIMITS = (0.6, 0.3, 0.05)
SHARES = (1.0, 0.5, 0.0)


@dataclass(frozen=True)
class Data:
    """A data set: ``load(splits)`` gives a Problem; ``splits`` is ``"stored"`` or a number of random ones.

    ``models``, ``metrics`` and ``methods`` restrict what it is used for; ``stored`` says if there are stored splits.
    """

    load: Callable[[Any], Problem]
    stored: bool = True
    models: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = METRICS
    methods: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Model:
    """A base model: ``make(seed)`` gives an estimator; ``methods`` restricts what is done with its scores."""

    make: Callable[[int], Any]
    methods: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Method:
    """A method: ``run(task)`` gives adjusted scores of the training and of the test rows.

    ``parameters`` are tried from first to last; with ``until_fair`` only for as long as the paper's protocol says.
    ``models`` are the base models it goes with. ``slow`` methods come last in a run.
    """

    run: Callable[[methods.Task], tuple[Any, Any]]
    parameters: tuple[float | None, ...] = (None,)
    until_fair: bool = False
    models: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = METRICS
    uses_folds: bool = False
    slow: bool = False


def filled(model: Any) -> Any:
    """Return the model on inputs in which what was not measured is filled with the training part's means."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), model)


def scaled(model: Any) -> Any:
    """Return the model on inputs filled and scaled by the training part."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), model)


def fewer(name: str, rows: int) -> Callable[[Any], Problem]:
    """Return a loader of a data set whose training parts keep so many rows, drawn with the split's number as seed."""

    def load(splits: Any) -> Problem:
        problem = DATASETS[name].load(splits)
        kept = [
            split._replace(train=np.random.default_rng(number).choice(split.train, rows, replace=False))
            for number, split in enumerate(problem.splits)
        ]
        return replace(problem, splits=tuple(kept))

    return load


# With fewer training rows the paper shows the linear scorer for AUC and the xAUC gap.
_FEWER = {"models": ("linear-auc",), "metrics": ("xauc",)}

DATASETS: dict[str, Data] = {
    "german": Data(lambda splits: load_german(splits=splits)),
    "framingham": Data(lambda splits: load_framingham(splits=splits)),
    "compas": Data(lambda splits: load_compas(splits=splits)),
    "adult": Data(lambda splits: load_adult(splits=splits)),
    **{f"compas-{rows}": Data(fewer("compas", rows), **_FEWER) for rows in (2000, 1000)},
    **{f"adult-{rows}": Data(fewer("adult", rows), **_FEWER) for rows in (10000, 5000)},
}

MODELS: dict[str, Model] = {
    "linear": Model(lambda seed: scaled(LinearScorer())),
    "linear-auc": Model(lambda seed: scaled(PairwiseLinearScorer())),
    "rankboost": Model(lambda seed: scaled(RankBoost())),
    # It takes missing values as they are, but not, in some versions, inputs that were never measured.
    "boosting": Model(lambda seed: filled(HistGradientBoostingClassifier(random_state=seed))),
    # Trained as the code behind the paper does it (docs/design/base-models.md), to stand beside its table.
    "linear-published": Model(lambda seed: scaled(slip(seed)), methods=("unadjusted",)),
    "linear-auc-published": Model(lambda seed: BrieflyTrained(seed), methods=("unadjusted",)),
    "rankboost-published": Model(lambda seed: scaled(RankBoost(stump_weight="ratio")), methods=("unadjusted",)),
}

BASE_MODELS = tuple(name for name, model in MODELS.items() if model.methods is None)

METHODS: dict[str, Method] = {
    "unadjusted": Method(methods.unadjusted, metrics=(NO_METRIC,)),
    "post-logit": Method(methods.post_logit),
    "xorder-dp": Method(methods.xorder_dp, TRADEOFFS, until_fair=True),
    "xorder-frontier": Method(methods.xorder_frontier, TRADEOFFS, until_fair=True),
    "fair-ranker": Method(methods.fair_ranker, SHARES, uses_folds=True),
    "corr-reg": Method(methods.corr_reg, WEIGHTS, until_fair=True, models=("linear",), slow=True),
    "constrained": Method(methods.constrained, LIMITS, models=("linear-auc",), slow=True),
}


def add_cohort(path: str) -> list[str]:
    """Add the clinical problems of a cohort file that ``xorder data build-mimic3`` or ``build-eicu`` wrote."""
    problems: dict[str, Callable[[Any], Problem]] = {
        "mimic3-mortality": lambda splits: load_mimic3(path, task="mortality", splits=splits),
        "mimic3-long-stay": lambda splits: load_mimic3(path, task="long_stay", splits=splits),
        "eicu-long-stay": lambda splits: load_eicu(path, task="long_stay", splits=splits),
    }
    added, reason = [], ""
    for name, load in problems.items():
        try:
            load(None)
        except InputError as error:
            reason = reason or str(error)
            continue
        DATASETS[name] = Data(load, stored=False, models=BASE_MODELS)
        added.append(name)
    if not added:
        raise InputError(f"{path} is no cohort of MIMIC-III or eICU ({reason})")
    return added
