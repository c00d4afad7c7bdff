"""More tables: the two solvers compared, running time, fewer samples, score distributions, plain random splits."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments import paper
from experiments.paper import name_of
from experiments.summary import Point, Results, absolute, difference, mean, noise_floor
from experiments.wording import markdown, number, signed, spread

MEASURED = Path(__file__).parent / "results"

_DATA = ("compas", "adult", "framingham", "german")
_MODELS = ("linear", "linear-auc", "rankboost", "boosting")
_FEWER = ("compas", "compas-2000", "compas-1000", "adult", "adult-10000", "adult-5000")
_FEWER_METHODS = ("unadjusted", "post-logit", "constrained", "xorder-dp", "xorder-frontier", "fair-ranker")


def measured(name: str) -> dict[str, Any]:
    """Read what ``timing`` or ``distributions`` found."""
    path = MEASURED / name
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def solvers(results: Results) -> str:
    """frontier against dp: objective on the training part at equal tradeoffs; AUC and gap where each is fairest."""
    lines = []
    for data, model, metric in product(_DATA, _MODELS, ("xauc", "prf")):
        place = (data, "stored", model)
        dp = results.fairest(*place, "xorder-dp", metric)
        frontier = results.fairest(*place, "xorder-frontier", metric)
        if dp is None or frontier is None:
            continue
        gains = objective_gains(*(results.curve(*place, f"xorder-{solver}", metric) for solver in ("dp", "frontier")))
        cells = [
            *(number(value, 4) for value in (min(gains), float(np.mean(gains)), max(gains))),
            signed(difference(frontier.auc_train, dp.auc_train), 4),
            signed(difference(frontier.auc, dp.auc), 4),
            signed(difference(absolute(frontier.gap), absolute(dp.gap)), 4),
        ]
        lines.append([*map(name_of, (data, model, metric)), *cells])
    head = ["data", "base model", "metric", "objective: least gain", "mean gain", "largest gain"]
    return markdown([*head, "fairest: training AUC", "test AUC", "test gap"], lines)


def objective_gains(dp: list[Point], frontier: list[Point]) -> list[float]:
    """AUC minus tradeoff times gap on the training part, frontier less dp, of each common tradeoff and split."""

    def objectives(points: list[Point]) -> dict[tuple[float, int], float]:
        return {
            (float(point.parameter or 0.0), split): auc - float(point.parameter or 0.0) * abs(point.gap_train[split])
            for point in points
            for split, auc in point.auc_train.items()
        }

    one, other = objectives(dp), objectives(frontier)
    return [other[place] - one[place] for place in one if place in other]


def timing(results: Results) -> str:
    """Seconds of the solvers beside the paper's."""
    lines = []
    for data, splits in measured("timing.json").items():
        rows = " x ".join(f"{count:,}" for count in splits[0]["rows"])
        cells = [_seconds([split[name] for split in splits]) for name in ("dp", "frontier", "curve")]
        lines.append([name_of(data), rows, *cells, str(paper.SECONDS.get(data, ""))])
    head = ["data", "distinct training scores", "dp, one tradeoff", "frontier, one tradeoff", "frontier, whole curve"]
    return markdown([*head, "paper"], lines)


def _seconds(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def fewer(results: Results) -> str:
    """Test AUC / xAUC gap of each method where it is fairest in training, with fewer and fewer training rows."""
    lines = []
    for data in _FEWER:
        points = {method: results.fairest(data, "stored", "linear-auc", method, "xauc") for method in _FEWER_METHODS}
        if points["unadjusted"] is None:
            continue
        cells = [f"{number(point.mean_auc)} / {number(point.mean_gap)}" if point else "" for point in points.values()]
        name, _, rows = data.partition("-")
        chance = number(noise_floor(points["unadjusted"]))
        lines.append([name_of(name), f"{int(rows):,}" if rows else "all", *cells, chance])
    return markdown(["data", "training rows", *map(name_of, _FEWER_METHODS), "chance"], lines)


def distributions(results: Results) -> str:
    """Distance of training and test score distributions, and what becomes of a training gap on the test part."""
    lines = []
    for place, found in measured("distributions.json").items():
        data, model = place.split()
        cells = []
        for method in ("unadjusted", "post-logit", "xorder-dp", "xorder-frontier", "fair-ranker"):
            point = results.fairest(data, "stored", model, method, "xauc")
            cells.append(f"{number(point.mean_gap_train)} → {number(point.mean_gap)}" if point else "")
        distances = [spread(float(np.mean(found[name])), float(np.std(found[name]))) for name in _DISTANCES]
        lines.append([name_of(data), name_of(model), *distances, *cells])
    head = ["data", "base model", "distance, all rows", "distance, positives", "unadjusted", "post-logit"]
    return markdown([*head, "xOrder, dp", "xOrder, frontier", "FairRanker"], lines)


_DISTANCES = ("distance", "distance_of_positives")


def random(results: Results) -> str:
    """Stored against plain random splits: test gaps, and how far training and test gaps are apart."""
    lines = []
    for data, model in product(_DATA, _MODELS):
        cells: list[str] = []
        for splits in ("stored", "random"):
            if not results.has(data, splits, model, "unadjusted", "xauc"):
                break
            before = results.unadjusted(data, splits, model, "xauc")
            after = results.fairest(data, splits, model, "xorder-dp", "xauc")
            apart = mean(absolute(difference(before.gap, before.gap_train)))
            cells += [number(before.mean_gap), number(apart), number(after.mean_gap) if after else ""]
        if len(cells) == 6:
            lines.append([name_of(data), name_of(model), *cells])
    what = ("unadjusted", "training to test", "xOrder, dp")
    head = [f"{splits}: {name}" for splits in ("stored", "random") for name in what]
    return markdown(["data", "base model", *head], lines)


MORE_TABLES: dict[str, Callable[[Results], str]] = {
    "solvers": solvers,
    "timing": timing,
    "fewer": fewer,
    "distributions": distributions,
    "random": random,
}
