"""Draw the picture of docs/design/frontier.md: the curve, its corners, the dynamic programme's points, the bound."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot

from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.plotting import TradeoffDisplay

TRADEOFFS = (0.0, 0.03, 0.06, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)


def main() -> None:
    """Write frontier.png beside this file."""
    people = simulate_population(300, random_state=3)
    repair = XOrder(max_gap=0.0).fit(people.y_score, people.y_true, sensitive_features=people.group)
    display = TradeoffDisplay.from_estimator(repair, dp_tradeoffs=TRADEOFFS).plot()
    ax = display.ax_
    ax.plot(display.gap, display.auc, ".", color="#0072b2", markersize=5, label="corners")
    rising = np.argsort(display.gap)
    bound = float(np.interp(0.0, display.gap[rising], display.auc[rising]))
    ax.axhline(bound, color="0.4", linewidth=0.8, linestyle="--", zorder=0)
    ax.annotate("bound at no gap", (ax.get_xlim()[1], bound), ha="right", va="bottom", color="0.3", fontsize=9)
    ax.legend(frameon=False, loc="lower right")
    display.figure_.savefig(Path(__file__).with_name("frontier.png"), dpi=110)
    pyplot.close(display.figure_)


if __name__ == "__main__":
    main()
