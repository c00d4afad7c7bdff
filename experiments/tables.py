"""The tables of docs/reproduction.md, from result files only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from experiments import paper
from experiments.more_tables import MORE_TABLES
from experiments.paper import name_of
from experiments.store import Row
from experiments.summary import Point, Results, absolute, difference, mean, p_values
from experiments.wording import markdown, number, signed, spread

DATA = ("compas", "adult", "framingham", "german")
CLINICAL = ("mimic3-mortality", "mimic3-long-stay", "eicu-long-stay")
# These have a table of their own.
FEWER = ("compas-2000", "compas-1000", "adult-10000", "adult-5000")
MODELS = ("linear", "linear-auc", "rankboost", "boosting")
METHODS = ("unadjusted", "post-logit", "corr-reg", "constrained", "xorder-dp", "xorder-frontier", "fair-ranker")
UNADJUSTED = (*(model + end for model in MODELS[:3] for end in ("", "-published")), "boosting")

# 30 rows to test on for 70 to train on.
_TEST_PER_TRAIN = 3 / 7


def unadjusted(results: Results) -> str:
    """Unadjusted test gaps with the paper's t-test, beside the paper's figures."""
    lines = []
    for data, model in product(_data(results), results.listed("model", UNADJUSTED)):
        splits = results.splits_of(data)
        if not results.has(data, splits, model, "unadjusted", "xauc"):
            continue
        points = [results.unadjusted(data, splits, model, metric) for metric in ("xauc", "prf")]
        column = paper.UNADJUSTED.get((data, model.removesuffix("-published")))
        beside = ("", "")
        if column is not None:
            beside = (spread(column.xauc, column.xauc_deviation), spread(column.prf, column.prf_deviation))
        tested = map(_spread_and_test, points)
        lines.append([name_of(data), name_of(model), number(points[0].mean_auc), *tested, *beside])
    return markdown(["data", "base model", "AUC", "ΔxAUC", "ΔPRF", "ΔxAUC, paper", "ΔPRF, paper"], lines)


def _spread_and_test(point: Point) -> str:
    gaps = list(absolute(point.gap).values())
    plain, corrected = p_values(point.gap, _TEST_PER_TRAIN)
    marks = ("" if plain < paper.LEVEL else "*") + ("" if corrected < paper.LEVEL else "†")
    return spread(float(np.mean(gaps)), float(np.std(gaps))) + (f" {marks}" if marks else "")


def fairest(results: Results, metric: str) -> str:
    """Test AUC / absolute gap of each method where its mean training gap is smallest."""
    methods, lines = results.listed("method", METHODS), []
    for data, model in product(_data(results), _models(results)):
        points = [results.fairest(data, results.splits_of(data), model, method, metric) for method in methods]
        cells = [f"{number(point.mean_auc)} / {number(point.mean_gap)}" if point else "" for point in points]
        if any(cells):
            lines.append([name_of(data), name_of(model), *cells])
    return markdown(["data", "base model", *map(name_of, methods)], lines)


def cuts(results: Results) -> str:
    """Worst cut on the test part of each method where its mean training gap in xAUC is smallest."""
    methods, lines = results.listed("method", METHODS), []
    for data, model in product(_data(results), _models(results)):
        points = [results.fairest(data, results.splits_of(data), model, method, "xauc") for method in methods]
        if any(points):
            lines.append(
                [name_of(data), name_of(model), *(number(mean(point.cut)) if point else "" for point in points)]
            )
    return markdown(["data", "base model", *map(name_of, methods)], lines)


def against(results: Results, metric: str) -> str:
    """Paired differences to xOrder (dp) at those points: AUC, and absolute gap, rival minus xOrder."""
    rivals = [method for method in results.listed("method", METHODS) if method not in ("unadjusted", "xorder-dp")]
    lines = []
    for data, model in product(_data(results), _models(results)):
        splits = results.splits_of(data)
        base = results.fairest(data, splits, model, "xorder-dp", metric)
        if base is None:
            continue
        cells = []
        for method in rivals:
            point = results.fairest(data, splits, model, method, metric)
            if point is None:
                cells += ["", ""]
                continue
            cells.append(signed(difference(point.auc, base.auc)))
            cells.append(signed(difference(absolute(point.gap), absolute(base.gap))))
        lines.append([name_of(data), name_of(model), *cells])
    head = [f"{name_of(method)}: {what}" for method in rivals for what in ("AUC", "gap")]
    return markdown(["data", "base model", *head], lines)


def _data(results: Results) -> list[str]:
    return [name for name in results.listed("data", (*DATA, *CLINICAL)) if name not in FEWER]


def _models(results: Results) -> list[str]:
    return [name for name in results.listed("model", MODELS) if not name.endswith("-published")]


def cells_run(results: Results) -> str:
    """How many cells there are, how many failed, and why."""
    lines = []
    for splits in ("stored", "random"):
        worked = [row for row in results.rows if row["splits"] == splits]
        failed = [row for row in results.failed if row["splits"] == splits]
        why = "; ".join(sorted({f"{row['data']}, {row['model']}, {row['method']}: {row['error']}" for row in failed}))
        if worked or failed:
            lines.append([splits, f"{len(worked):,}", f"{len(failed):,}", why or "-"])
    return markdown(["splits", "cells that worked", "cells that failed", "why"], lines)


TABLES: dict[str, Callable[[Results], str]] = {
    "unadjusted": unadjusted,
    "fairest-xauc": lambda results: fairest(results, "xauc"),
    "fairest-prf": lambda results: fairest(results, "prf"),
    "cuts": cuts,
    "against-xauc": lambda results: against(results, "xauc"),
    "against-prf": lambda results: against(results, "prf"),
    **MORE_TABLES,
    "cells": cells_run,
}


def every_table(rows: Iterable[Row]) -> dict[str, str]:
    results = Results(rows)
    return {name: table(results) for name, table in TABLES.items()}


_PLACE = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, rows: Iterable[Row]) -> str:
    """Return the page with each table between its two comments made anew."""
    made = every_table(rows)
    return _PLACE.sub(lambda found: f"{found[1]}{made[found[2]]}\n{found[3]}", page)
