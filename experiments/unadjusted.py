"""Unadjusted test disparities of the base models on the paper's ten splits, beside the paper's figures.

    python -m experiments.unadjusted [DATASET ...]

Two variants are run beside the models themselves, to test why a figure differs: the linear scorer for AUC trained
briefly on inputs that were not scaled, and RankBoost with the weights of the code behind the paper.
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


# what is shown -> the paper's column it stands beside, the model for a split, and whether its inputs are scaled
MODELS: dict[str, tuple[str, Callable[[int], Any], bool]] = {
    # The paper's linear column comes from gradients that were never cleared.
    "LinearScorer(accumulate_gradients=True)": (
        "linear",
        lambda split: LinearScorer(learning_rate=0.1, max_epochs=99, accumulate_gradients=True),
        True,
    ),
    "LinearScorer()": ("linear", lambda split: LinearScorer(), True),
    "PairwiseLinearScorer()": ("linear for AUC", lambda split: PairwiseLinearScorer(), True),
    "brief training on unscaled inputs": ("linear for AUC", BrieflyTrained, False),
    "RankBoost()": ("RankBoost", lambda split: RankBoost(), True),
    "RankBoost(stump_weight='ratio')": ("RankBoost", lambda split: RankBoost(stump_weight="ratio"), True),
}


def disparities(problem: Problem, model: Callable[[int], Any], *, scaled: bool = True) -> Figures:
    """Mean and deviation of the absolute disparities on the test parts of the problem's splits."""
    X, gaps = problem.X.to_numpy(), []
    for number, (train, test) in enumerate(problem.splits):
        scaler = StandardScaler().fit(X[train]) if scaled else None
        inputs, new = (scaler.transform(X[part]) if scaler else X[part] for part in (train, test))
        score = model(number).fit(inputs, problem.y[train]).decision_function(new)
        rows = {"y_true": problem.y[test], "y_score": score, "sensitive_features": problem.sensitive_features[test]}
        gaps.append([abs(xauc_difference(**rows)), abs(prf_difference(**rows))])
    mean, deviation = np.mean(gaps, axis=0), np.std(gaps, axis=0)
    return Figures(mean[0], deviation[0], mean[1], deviation[1])


def main(names: list[str]) -> None:
    print("| data | model | dxAUC / dPRF here | in the paper |\n|---|---|---|---|")
    for name in names or LOADERS:
        problem = LOADERS[name](splits="stored")
        for shown, (column, model, scaled) in MODELS.items():
            found = disparities(problem, model, scaled=scaled)
            print(f"| {name} | `{shown}` | {found} | {PAPER[name, column]} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
