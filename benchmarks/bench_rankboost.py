"""How long does RankBoost take, against scikit-learn's AdaBoost with as many stumps?

Wanted at the size of the Adult training split, 21,113 x 98 inputs, mostly 0 or 1: at most 1.5 times.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import AdaBoostClassifier

from measure import best_seconds, report
from xorder.models import RankBoost

ROWS, NUMBERS, FLAGS = 21_113, 6, 92


def main() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(ROWS, NUMBERS)).round(2)
    flags = rng.random((ROWS, FLAGS)) < rng.uniform(0.01, 0.5, FLAGS)
    X = np.column_stack([numbers, flags]).astype(float)
    risk = X @ rng.normal(size=NUMBERS + FLAGS) * 0.5
    y = rng.random(ROWS) < 1 / (1 + np.exp(1.2 - (risk - risk.mean())))
    seconds = best_seconds(
        {
            "AdaBoost": lambda: AdaBoostClassifier(n_estimators=50).fit(X, y),
            "RankBoost": lambda: RankBoost(n_estimators=50).fit(X, y),
        },
        rounds=2,
    )
    ratio = seconds["RankBoost"] / seconds["AdaBoost"]
    report({"seconds": seconds, "RankBoost / AdaBoost (wanted <= 1.5)": ratio})


if __name__ == "__main__":
    main()
