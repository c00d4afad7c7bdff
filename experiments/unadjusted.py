"""Unadjusted test gaps of the base models on the paper's ten splits, beside the paper's figures.

    python -m experiments.unadjusted [DATASET ...]

Variants are run beside the models themselves, to test why a figure differs: the slip of the original code, without and
with its scaling of the test part by itself; the linear scorer for AUC trained briefly on inputs that were not scaled;
and RankBoost with the weights of the code behind the paper.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from xorder.datasets import Problem, load_adult, load_compas, load_framingham
from xorder.metrics import prf_difference, xauc_difference
from xorder.models import LinearScorer, PairwiseLinearScorer, RankBoost

LOADERS = {"compas": load_compas, "adult": load_adult, "framingham": load_framingham}


class Figures(NamedTuple):
    """Mean and deviation over splits of |dxAUC| and of |dPRF|."""

    xauc: float
    xauc_deviation: float
    prf: float
    prf_deviation: float

    def __str__(self) -> str:
        return f"{self.xauc:.3f} +- {self.xauc_deviation:.3f} / {self.prf:.3f} +- {self.prf_deviation:.3f}"


PAPER = {
    ("compas", "linear"): Figures(0.195, 0.024, 0.119, 0.015),
    ("compas", "linear for AUC"): Figures(0.220, 0.026, 0.138, 0.019),
    ("compas", "RankBoost"): Figures(0.206, 0.027, 0.134, 0.019),
    ("adult", "linear"): Figures(0.089, 0.011, 0.040, 0.009),
    ("adult", "linear for AUC"): Figures(0.086, 0.010, 0.034, 0.008),
    ("adult", "RankBoost"): Figures(0.055, 0.016, 0.020, 0.008),
    ("framingham", "linear"): Figures(0.270, 0.022, 0.124, 0.018),
    ("framingham", "linear for AUC"): Figures(0.213, 0.089, 0.117, 0.067),
    ("framingham", "RankBoost"): Figures(0.285, 0.075, 0.136, 0.038),
}


class BrieflyTrained:
    """A linear scorer by 1,000 Adam steps of 128 random pairs with a hinge, from 0."""

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> BrieflyTrained:
        import torch

        rng, rows = np.random.default_rng(self.random_state), torch.from_numpy(np.asarray(X, dtype=np.float32))
        positives, negatives = np.flatnonzero(y), np.flatnonzero(~np.asarray(y, dtype=bool))
        coefficients = torch.zeros(rows.shape[1], requires_grad=True)
        optimiser = torch.optim.Adam([coefficients], lr=0.001)
        for _ in range(1000):
            pair = rows[rng.choice(positives, 128)] - rows[rng.choice(negatives, 128)]
            loss = torch.clamp(1 - pair @ coefficients, min=0).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        self.coef_ = coefficients.detach().numpy()
        return self

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X @ self.coef_, dtype=float)


def slip(split: int) -> LinearScorer:
    """The paper's linear column comes from gradients that were never cleared."""
    return LinearScorer(learning_rate=0.1, max_epochs=99, accumulate_gradients=True)


# what is shown -> the paper's column it stands beside, the model for a split, and what inputs are scaled by
MODELS: dict[str, tuple[str, Callable[[int], Any], str]] = {
    "LinearScorer(accumulate_gradients=True)": ("linear", slip, "training part"),
    "the same, test part scaled by itself": ("linear", slip, "each part"),
    "LinearScorer()": ("linear", lambda split: LinearScorer(), "training part"),
    "PairwiseLinearScorer()": ("linear for AUC", lambda split: PairwiseLinearScorer(), "training part"),
    "brief training on unscaled inputs": ("linear for AUC", BrieflyTrained, "nothing"),
    "RankBoost()": ("RankBoost", lambda split: RankBoost(), "training part"),
    "RankBoost(stump_weight='ratio')": (
        "RankBoost",
        lambda split: RankBoost(stump_weight="ratio"),
        "training part",
    ),
}


def gaps(problem: Problem, model: Callable[[int], Any], *, scaled_by: str = "training part") -> Figures:
    """Mean and deviation of the absolute gaps on the test parts of the problem's splits."""
    X, gaps = problem.X.to_numpy(), []
    for number, (train, test) in enumerate(problem.splits):
        inputs, new = _scaled(X[train], X[test], scaled_by)
        score = model(number).fit(inputs, problem.y[train]).decision_function(new)
        rows = {"y_true": problem.y[test], "y_score": score, "sensitive_features": problem.sensitive_features[test]}
        gaps.append([abs(xauc_difference(**rows)), abs(prf_difference(**rows))])
    mean, deviation = np.mean(gaps, axis=0), np.std(gaps, axis=0)
    return Figures(mean[0], deviation[0], mean[1], deviation[1])


def _scaled(train: Any, test: Any, by: str) -> tuple[Any, Any]:
    if by == "nothing":
        return train, test
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), (StandardScaler().fit(test) if by == "each part" else scaler).transform(test)


def main(names: list[str]) -> None:
    print("| data | model | dxAUC / dPRF here | in the paper |\n|---|---|---|---|")
    unknown = set(names) - set(LOADERS)
    if unknown:
        sys.exit(f"no data set {', '.join(sorted(unknown))}; there are {', '.join(LOADERS)}")
    for name in names or LOADERS:
        problem = LOADERS[name](splits="stored")
        for shown, (column, model, scaled_by) in MODELS.items():
            found = gaps(problem, model, scaled_by=scaled_by)
            print(f"| {name} | `{shown}` | {found} | {PAPER[name, column]} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
