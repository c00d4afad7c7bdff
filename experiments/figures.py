"""The figures of docs/reproduction.md, from result files only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.more_tables import measured
from experiments.panels import CHANCE, MARKER, legend_below, look_of, save, tradeoff_panel
from experiments.paper import name_of
from experiments.store import Row
from experiments.summary import Results, noise_floor

DATA = ("compas", "adult", "framingham", "german")
MODELS = ("linear", "linear-auc", "rankboost", "boosting")
METHODS = ("corr-reg", "constrained", "fair-ranker", "xorder-dp", "xorder-frontier", "post-logit", "unadjusted")
FEWER = ("compas", "compas-2000", "compas-1000", "adult", "adult-10000", "adult-5000")
# Training rows where none are left out.
ALL_ROWS = {"compas": 4316, "adult": 21113}

_MODEL_IN_WORDS = {
    "linear": "linear scorer by gradient descent",
    "linear-auc": "linear scorer for AUC",
    "rankboost": "RankBoost",
    "boosting": "gradient boosting",
}
_NOTE = (
    "Mean over ten 70/30 splits. Bars: 95 % intervals of the mean (for the AUC: of its difference to unadjusted).\n"
    "Along a line the weight on fairness rises from right to left. Better is up and to the left."
)


def draw_all(rows: Iterable[Row], folder: Path) -> list[Path]:
    """Draw every figure for which there are results."""
    import matplotlib

    matplotlib.use("agg")
    results, drawn = Results(rows), []
    for model, metric in product(MODELS, ("xauc", "prf")):
        figure = tradeoffs(results, model, metric)
        if figure is not None:
            drawn.append((figure, f"tradeoff-{model}-{metric}.png"))
    for draw, name in ((fewer, "fewer-samples"), (distributions, "distributions"), (train_and_test, "train-and-test")):
        drawn.append((draw(results), f"{name}.png"))
    paths = []
    for figure, name in drawn:
        save(figure, folder / name)
        paths.append(folder / name)
    return paths


def tradeoffs(results: Results, model: str, metric: str, splits: str = "stored") -> Any:
    """One base model and metric: a panel for each data set."""
    from matplotlib import pyplot

    data = [name for name in DATA if results.has(name, splits, model, "unadjusted", metric)]
    if not data:
        return None
    figure, axes = pyplot.subplots(2, 2, figsize=(9.2, 7.6), layout="constrained")
    for ax, name in zip(axes.flat, data, strict=False):
        tradeoff_panel(ax, results, name, model, metric, METHODS, splits)
        ax.set_title(name_of(name), fontsize=11, loc="left")
        _label_tradeoff(ax, metric)
    figure.suptitle(f"AUC against the {name_of(metric)} gap on test rows: {_MODEL_IN_WORDS.get(model, model)}")
    legend_below(figure, list(axes.flat), _NOTE)
    return figure


def _label_tradeoff(ax: Any, metric: str) -> None:
    ax.set_xlabel(f"absolute {name_of(metric)} gap of test rows (0 is fair)", fontsize=9)
    ax.set_ylabel("AUC of test rows (higher ranks better)", fontsize=9)
    ax.tick_params(labelsize=8)


def fewer(results: Results) -> Any:
    """The same with fewer training rows."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(10.5, 7.2), layout="constrained")
    for ax, name in zip(axes.flat, FEWER, strict=True):
        if results.has(name, "stored", "linear-auc", "unadjusted", "xauc"):
            tradeoff_panel(ax, results, name, "linear-auc", "xauc", METHODS)
        data, _, rows = name.partition("-")
        rows = f"{int(rows or ALL_ROWS[data]):,}"
        ax.set_title(f"{name_of(data)}, {rows} training rows", fontsize=10, loc="left")
        _label_tradeoff(ax, "xauc")
    figure.suptitle("Fewer training rows: AUC against the xAUC gap on test rows, linear scorer for AUC")
    legend_below(figure, list(axes.flat), _NOTE)
    return figure


def distributions(results: Results) -> Any:
    """Histograms of training and test scores, split 0."""
    from matplotlib import pyplot

    found = measured("distributions.json")
    figure, axes = pyplot.subplots(2, 3, figsize=(10.5, 6.2), layout="constrained", sharex=True)
    for ax, (place, scores) in zip(axes.flat, found.items(), strict=True):
        data, model = place.split()
        edges = np.array(scores["edges"])
        ax.stairs(scores["train"], edges, fill=True, color="#56b4e9", alpha=0.55, label="training rows")
        ax.stairs(scores["test"], edges, color="black", linewidth=1.3, label="test rows")
        distance = float(np.mean(scores["distance"]))
        positives = float(np.mean(scores["distance_of_positives"]))
        distances = f"distance {distance:.3f}, among positives {positives:.3f}"
        ax.set_title(f"{name_of(data)}, {name_of(model)}\n{distances}", fontsize=10, loc="left")
        ax.set_xlabel("base model's score (0 to 1)", fontsize=9)
        ax.set_ylabel("density", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Scores of training and test rows, before any adjustment")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=2,
        frameon=False,
        title="Split 0. Distance: largest difference of the two distribution functions (0 to 1), mean of ten splits.",
        title_fontsize=8,
    )
    return figure


def train_and_test(results: Results) -> Any:
    """What becomes of a gap: training rows against test rows, for each post-processing method."""
    from matplotlib import pyplot

    places: Sequence[tuple[str, str]] = [
        (data, model) for data in ("compas", "adult") for model in ("linear", "rankboost", "boosting")
    ]
    figure, axes = pyplot.subplots(2, 3, figsize=(10.5, 7.0), layout="constrained")
    for ax, (data, model) in zip(axes.flat, places, strict=True):
        high = 0.0
        for method in ("fair-ranker", "xorder-dp", "xorder-frontier", "post-logit", "unadjusted"):
            points = results.curve(data, "stored", model, method, "xauc")
            if not points:
                continue
            look = look_of(method)
            x, y = [point.mean_gap_train for point in points], [point.mean_gap for point in points]
            ax.plot(
                x,
                y,
                color=look.colour,
                marker=look.marker,
                linestyle=look.line,
                markersize=MARKER,
                markeredgecolor="white",
                markeredgewidth=0.6,
                label=name_of(method),
                zorder=5 if look.line == "none" else 4,
            )
            high = max(high, *x, *y)
        if high:
            floor = noise_floor(results.unadjusted(data, "stored", model, "xauc"))
            ax.axhline(floor, color=CHANCE, linestyle=(0, (1, 2)), linewidth=1.2, zorder=0)
            ax.plot([0, high], [0, high], color="0.8", linewidth=1, zorder=0)
            settings = {"rotation": 45, "transform_rotates_text": True, "rotation_mode": "anchor", "va": "top"}
            ax.text(0.62 * high, 0.6 * high, "test = training", fontsize=8, color="0.4", **settings)
            ax.locator_params(nbins=6)
        ax.set_title(f"{name_of(data)}, {name_of(model)}", fontsize=10, loc="left")
        ax.set_xlabel("absolute xAUC gap of training rows", fontsize=9)
        ax.set_ylabel("absolute xAUC gap of test rows", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.grid(color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Does a gap closed on training rows stay closed on test rows?")
    note = (
        "Mean over ten splits; lower is better.\n"
        "FairRanker learns on scores of rows that the model had not seen, and these are what its training gap is of."
    )
    legend_below(figure, list(axes.flat), note)
    return figure
