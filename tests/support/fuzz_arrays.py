"""Cases of the fuzzer that call Python: what is handed over, and what has to come of it.

A case is a function of a random source and a folder. It returns if what came is right, raises :class:`RefusedError` if
xorder refused in its own way, and anything else if something is wrong.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import xorder
from support import drawn_columns as columns
from support import exact, oracles
from support.drawn import LARGEST, extreme
from support.drawn_columns import Column
from support.drawn_maps import draw_knots, draw_map
from support.drawn_rows import draw_rows
from support.tables import draw_tied_table
from xorder.exceptions import XorderError
from xorder.metrics import parity_difference, prf_by_group, prf_difference, xauc_difference, xauc_matrix

CLOSE = 1e-9


class RefusedError(Exception):
    """Xorder refused what it was given, with an error of its own and a sentence."""


class WrongError(AssertionError):
    """What came is not what had to come."""


def tried(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function of xorder; an error of its own means that it refused."""
    try:
        return function(*arguments, **options)
    except XorderError as error:
        if not str(error).strip():
            raise WrongError("the error says nothing") from error
        raise RefusedError(str(error)) from None


def check(held: Any, *said: Any) -> None:
    """Complain unless something holds."""
    if not held:
        raise WrongError(" ".join(map(str, said)))


def rises(values: np.ndarray) -> bool:
    """Whether no value is below the one before; their differences may be beyond all numbers."""
    return bool((values[1:] >= values[:-1]).all())


def near(got: Any, want: Fraction | float | None, what: str, tolerance: float = CLOSE) -> None:
    """Complain unless a number is the exact one, up to rounding; None stands for one that cannot be known."""
    if want is None:
        check(math.isnan(got), what, "is", got, "and cannot be known")
    else:
        check(abs(float(got) - float(want)) <= tolerance, what, "is", repr(got), "and not", float(want))


def must_have_meaning(*given: Column) -> None:
    """Complain of columns that were taken and mean nothing."""
    for column in given:
        if column.means is None:
            raise WrongError(f"nonsense was taken: {column.values!r}")


class Handed:
    """Rows as columns of any types; now and then one of them is damaged."""

    def __init__(self, r: Random, size: int, *, wild: bool, damage: float = 0.2, grouped: bool = True) -> None:
        y = [r.randint(0, 1) for _ in range(size)]
        s = columns.draw_numbers(r, size, wild=wild)
        g = columns.draw_groups(r, size) if grouped else ["a"] * size
        damaged = r.choice((0, 1, 2, 3) if grouped else (0, 1, 3)) if r.random() < damage else None
        self.y = columns.wrong_labels(r, y) if damaged == 0 else columns.labels(r, y)
        self.s = columns.wrong_numbers(r, s) if damaged == 1 else columns.numbers(r, s)
        self.g = columns.wrong_groups(r, g) if damaged == 2 else columns.groups(r, g) if grouped else Column(g, g)
        self.w = Column(None, [1.0] * size)
        if damaged == 3 or r.random() < 0.4:
            w = columns.draw_weights(r, size, wild=wild)
            self.w = columns.wrong_weights(r, w) if damaged == 3 else columns.numbers(r, w)

    @property
    def values(self) -> tuple[Any, Any]:
        return self.y.values, self.s.values

    @property
    def options(self) -> dict[str, Any]:
        return {"sensitive_features": self.g.values, "sample_weight": self.w.values}

    @property
    def chances(self) -> exact.Chances:
        """All chances; complains if there was something that has no meaning."""
        must_have_meaning(self.y, self.s, self.g, self.w)
        return exact.Chances(self.y.means, self.s.means, self.g.means, self.w.means)


def table(r: Random, place: Path) -> None:
    """Rows of one group as a table of masses."""
    wild = r.random() < 0.5
    given = Handed(r, r.randint(2, 8), wild=wild, grouped=False)
    squares = r.random() < 0.2
    made = tried(xorder.ScoreTable.from_arrays, *given.values, given.w.values, squares=squares)
    must_have_meaning(given.y, given.s, given.w)
    want = exact.masses(given.y.means, given.s.means, given.w.means)
    check([score for score, _, _ in want] == made.score.tolist(), "scores", made.score.tolist())
    for number, (_, positive, negative) in enumerate(want):
        for got, mass in ((made.positive[number], positive), (made.negative[number], negative)):
            check(abs(Fraction(float(got)) - mass) <= mass * Fraction(1, 10**12), "a mass is", got, "not", float(mass))


def metric(r: Random, place: Path) -> None:
    """One metric of arrays, by its function."""
    given = Handed(r, r.randint(2, 8), wild=r.random() < 0.5)
    function = r.choice((xauc_matrix, prf_by_group, xauc_difference, prf_difference, parity_difference))
    found = tried(function, *given.values, **given.options)
    chances = given.chances
    names = sorted(set(given.g.means), key=lambda name: (str(type(name)), name))
    if function is xauc_matrix:
        for above in names:
            for below in names:
                near(found[above, below], chances.xauc(above, below), f"xauc {above!r} {below!r}")
    elif function is prf_by_group:
        for name in names:
            near(found[name], chances.prf(name), f"prf {name!r}")
    else:
        gaps = [chances.gap(function.__name__.partition("_")[0], a, b) for a, b in combinations(names, 2)]
        near(abs(found), None if None in gaps else max(map(abs, gaps)), "widest gap")


def audit(r: Random, place: Path) -> None:
    """A whole audit."""
    wild = r.random() < 0.4
    given = Handed(r, r.randint(4, 10), wild=wild, damage=0.1)
    options: dict[str, Any] = given.options
    if r.random() < 0.3:
        options["weights_are"] = r.choice(("counts", "sampling"))
    if r.random() < 0.2:
        options["confidence"] = r.choice((0.5, 0.9, 0.999))
    if r.random() < 0.2:
        options["cuts"] = r.choice(((0.5,), (1, 3), (xorder.Threshold(0.5),), ()))
    if r.random() < 0.1:
        options["tolerance"] = r.choice((0, 0.05, 1.0))
    if r.random() < 0.1:
        options["clusters"] = [r.randint(0, 3) for _ in given.s.means or range(4)]
    found = tried(xorder.audit, *given.values, **options)
    chances = given.chances
    near(found.auc, chances.auc(), "AUC")
    for above in found.groups:
        near(found.prf[above], chances.prf(above), f"prf {above!r}")
        for below in found.groups:
            near(found.xauc[above, below], chances.xauc(above, below), f"xauc {above!r} {below!r}")
    for gap in found.gaps:
        near(gap.value, chances.gap(gap.metric, *gap.pair), f"{gap.metric} gap of {gap.pair}")
        low, high = gap.interval
        check(math.isnan(low) or -1 - CLOSE <= low <= gap.value + CLOSE, "interval", gap)
        check(math.isnan(high) or gap.value - CLOSE <= high <= 1 + CLOSE, "interval", gap)
        check(math.isnan(gap.pvalue) or 0 <= gap.pvalue <= 1, "p value", gap)
    json.dumps(tried(found.to_dict), allow_nan=False)
    check(str(found), "the audit prints nothing")


def errors(r: Random, place: Path) -> None:
    """Standard errors of an audit against a count row by row."""
    drawn = draw_rows(r, max_rows=14)
    sampling = drawn.w is not None and r.random() < 0.5
    found = tried(
        xorder.audit, drawn.y, drawn.s, **drawn.options, weights_are="sampling" if sampling else "counts", cuts=()
    )
    gap = r.choice(found.gaps)
    want = oracles.slow_stderr(drawn, gap.metric, *gap.pair, sampling=sampling)
    near(gap.stderr, None if math.isnan(want) else want, f"error of {gap}", 1e-7)


SOLVERS = ("frontier", "frontier", "dp", "greedy", "insertion")


def _wild_table(r: Random) -> xorder.ScoreTable:
    size = r.randint(2, 3)
    mass = [[abs(extreme(r)) for _ in range(size)] for _ in range(2)]
    return tried(xorder.ScoreTable, np.arange(size, 0, -1.0), *mass)


def order(r: Random, place: Path) -> None:
    """The interleaving of two tables, against all that there are."""
    wild = r.random() < 0.15
    a, b = (_wild_table(r) if wild else draw_tied_table(r, more=3) for _ in range(2))
    options = {"metric": r.choice(("xauc", "prf", "parity")), "tradeoff": r.choice((0.0, 0.25, 1.0, 1.0, 5.0, 1e6))}
    solver = r.choice(SOLVERS)
    found = tried(xorder.order, a, b, solver=solver, **options)
    name, tradeoff = options["metric"], options["tradeoff"]
    if wild:
        all_of = exact.reachable(name, *((each.positive.tolist(), each.negative.tolist()) for each in (a, b)))
        auc, gap = (np.array([float(pair[which]) for pair in all_of]) for which in (0, 1))
    else:
        gap, auc = oracles.reachable(name, a, b)
    tolerance = CLOSE * max(1.0, tradeoff)
    best = float((auc - tradeoff * np.abs(gap)).max())
    here = np.flatnonzero((abs(auc - found.auc) < CLOSE) & (abs(gap - found.gap) < CLOSE))
    check(here.size, "no interleaving has AUC", found.auc, "and gap", found.gap)
    check(found.objective <= best + tolerance, "objective", found.objective, "above the best", best)
    if not math.isnan(found.bound):
        check(found.bound >= best - tolerance, "bound", found.bound, "below the best", best)
    if tradeoff == 0 and solver in ("frontier", "dp"):
        check(found.objective >= best - tolerance, "not the best where the gap does not count")
    if not wild and r.random() < 0.2:
        curve = tried(xorder.frontier, a, b, metric=name)
        hull = oracles.upper_hull(gap, auc)
        for corner_gap, corner_auc in zip(curve.gap, curve.auc, strict=True):
            on_hull = np.interp(corner_gap, hull[::-1, 0], hull[::-1, 1])
            check(abs(on_hull - corner_auc) < 1e-8, "corner", corner_gap, corner_auc, "hull", on_hull)


def _points(r: Random, score_map: xorder.ScoreMap) -> list[float]:
    """Some scores at, next to, between and beyond the knots; rising."""
    some = [r.choice(score_map.raw.tolist()) for _ in range(3)]
    some += [math.nextafter(some[0], LARGEST), math.nextafter(some[1], -LARGEST), some[0] / 2 + some[2] / 2]
    some += [r.choice((some[0] - 1.0, some[1] + 1e3, 0.0, -0.0, extreme(r))) for _ in range(2)]
    return sorted(point for point in some if math.isfinite(point))


def score_map(r: Random, place: Path) -> None:
    """A map of scores: its values, order, fewer knots, and the way to a file and back."""
    if r.random() < 0.2:
        size = r.randint(2, 5)
        rising = [float(knot) for knot in range(size)]
        given = [columns.numbers(r, rising), columns.wrong_numbers(r, rising)]
        r.shuffle(given)
        tried(xorder.ScoreMap, *(column.values for column in given))
        must_have_meaning(*given)
    if r.random() < 0.1:
        size = r.randint(1, 4)
        drawn = tried(xorder.ScoreMap, draw_knots(r, size, [extreme]), draw_knots(r, size, [extreme]))
    else:
        drawn = draw_map(r)
    points = _points(r, drawn)
    if r.random() < 0.1:
        tried(drawn.apply, columns.wrong_numbers(r, points).values)
        return
    got = tried(drawn.apply, points)
    _check_values(drawn, points, got)
    again = xorder.ScoreMap.from_dict(json.loads(json.dumps(drawn.to_dict(), allow_nan=False)))
    check((again.raw.tobytes(), again.adjusted.tobytes()) == (drawn.raw.tobytes(), drawn.adjusted.tobytes()), "json")
    if r.random() < 0.2:
        share = r.choice((0.0, 1e-9, 1e-3, 0.1))
        small = tried(drawn.compressed, share)
        height = float(drawn.adjusted[-1] / 2 - drawn.adjusted[0] / 2)
        for knot in drawn.raw.tolist():
            apart = abs(exact.mapped(drawn.raw.tolist(), drawn.adjusted.tolist(), knot) - _exact(small, knot))
            rounding = Fraction(1, 10**14) * Fraction(max(abs(drawn.adjusted[0]), abs(drawn.adjusted[-1])))
            check(
                apart <= Fraction(share) * Fraction(height) * 2 + rounding + Fraction(1e-322), "moved by", float(apart)
            )


def _exact(score_map: xorder.ScoreMap, x: float) -> Fraction:
    return exact.mapped(score_map.raw.tolist(), score_map.adjusted.tolist(), x)


def _check_values(score_map: xorder.ScoreMap, points: list[float], got: np.ndarray) -> None:
    check(np.isfinite(got).all(), "not finite:", got.tolist(), "of", points)
    check(rises(got), "falls:", got.tolist(), "of", points)
    raw, adjusted = score_map.raw.tolist(), score_map.adjusted.tolist()
    for x, value in dict(zip(points, got.tolist(), strict=True)).items():
        if x in raw:
            check(value == adjusted[raw.index(x)], "a knot moves:", x, value)
            continue
        want = min(max(exact.mapped(raw, adjusted, x), -Fraction(LARGEST)), Fraction(LARGEST))
        # Beyond the knots, a sum of three numbers may lose what the largest of them does not show.
        size = max(map(abs, adjusted)) if raw[0] <= x <= raw[-1] else max(map(abs, (*adjusted, *raw, x)))
        if abs(Fraction(value) - want) > Fraction(size * 1e-15) + Fraction(1e-322):
            raise WrongError(f"map of {x!r} is {value!r} and not {float(want)!r}")


@cache
def _sqlite() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.create_function("LEAST", 2, min, deterministic=True)
    return connection


def _sqlite_reads(text: str) -> bool:
    """Whether SQLite reads the numbers of a text as they are: it may be a last bit off, most often below 1e-290."""
    numbers = re.findall(r"-?[\d.]+e[-+]?\d+", text)
    read = _sqlite().execute(f"SELECT {', '.join(numbers or ['0e0'])}").fetchone()
    return [float(number) for number in numbers] == list(read)[: len(numbers)]


@cache
def _duckdb() -> Any:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE points (number INTEGER, s DOUBLE)")
    return connection


def sql(r: Random, place: Path) -> None:
    """A map as SQL text, run by SQLite or DuckDB, against the map."""
    drawn = draw_map(r)
    points = _points(r, drawn)
    want = tried(drawn.apply, points)
    dialect = "duckdb" if r.random() < 0.1 else "ansi"
    text = tried(drawn.to_sql, "s", dialect=dialect)
    if dialect == "duckdb" or not _sqlite_reads(text):
        connection = _duckdb()
        connection.execute("DELETE FROM points")
        connection.executemany("INSERT INTO points VALUES (?, ?)", list(enumerate(points)))
        rows = connection.execute(f"SELECT {text} FROM points ORDER BY number").fetchall()
    else:
        text = text.replace("DOUBLE PRECISION", "REAL")
        values = ", ".join(f"({number}, ?)" for number in range(len(points)))
        query = f"WITH p(number, s) AS (VALUES {values}) SELECT {text} FROM p ORDER BY number"
        rows = _sqlite().execute(query, points).fetchall()
    got = np.array([value for (value,) in rows], dtype=float)
    last_bit = 4e-16 * float(np.abs(drawn.adjusted).max())
    apart = np.abs(got / 2 - want / 2) > 5e-16 * np.abs(want) + last_bit
    check(not apart.any(), dialect, "gives", got.tolist(), "for", want.tolist())
    check(rises(got), dialect, "falls:", got.tolist())


def fit(r: Random, place: Path) -> None:
    """A repair: its scores are finite and within bounds, order is kept in each group, and a file brings it back."""
    wild = r.random() < 0.2
    size = r.randint(6, 24)
    names = "abc"[: r.choice((2, 2, 3))]
    y = np.array([r.randint(0, 1) for _ in range(size)])
    s = np.array(columns.draw_numbers(r, size, wild=wild))
    g = np.array([r.choice(names) for _ in range(size)])
    options: dict[str, Any] = {"small_groups": "repair", "method": r.choice(("smooth", "frontier", "frontier", "dp"))}
    if r.random() < 0.3:
        options["small_groups"] = r.choice(("leave", "merge", "error"))
    if r.random() < 0.4:
        options["do_no_harm"] = r.random() < 0.5
    if r.random() < 0.3:
        options["metric"] = r.choice(("xauc", "prf", "parity"))
    if r.random() < 0.2:
        options["tradeoff"] = r.choice((0.0, 0.5, 1.0, 10.0))
    elif r.random() < 0.3:
        options["max_gap"] = r.choice((0.0, 0.05, 1.0))
    if r.random() < 0.1:
        options["max_cut_gap"] = r.choice((0.1, 0.5, 1.0))
    if r.random() < 0.2:
        options["bounds"] = r.choice(((0.0, 1.0), (-1e3, 1e3), (0, 100)))
    if r.random() < 0.2:
        options["reference"] = r.choice("abz")
    w = columns.draw_weights(r, size, wild=False) if r.random() < 0.3 else None
    repair = tried(xorder.XOrder(**options).fit, s, y, sensitive_features=g, sample_weight=w)
    after = tried(repair.transform, s, sensitive_features=g)
    check(np.isfinite(after).all(), "not finite", after.tolist())
    for name in set(g.tolist()):
        mine = g == name
        rank = np.argsort(s[mine], kind="stable")
        check(rises(after[mine][rank]), "the order changes in group", name)
    if "bounds" in options and repair.moved_:
        low, high = options["bounds"]
        inside = np.isin(g, repair.moved_) & (s >= low) & (s <= high)
        check(((after[inside] >= low) & (after[inside] <= high)).all(), "beyond bounds")
    path = place / "map.json"
    tried(repair.save, path, overwrite=True)
    again = tried(xorder.load, path)
    check(again.transform(s, sensitive_features=g).tobytes() == after.tobytes(), "another map comes back")
    json.dumps(repair.to_dict(), allow_nan=False)
    check(repair.describe() == again.describe(), "a saved map says something else")


@cache
def _plain() -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, xorder.ScoreTable], xorder.XOrder]:
    """Rows, tables and a repair that nothing is wrong with."""
    rng = np.random.default_rng(0)
    y, s, g = rng.integers(0, 2, 24), rng.random(24).round(2), np.array(list("ab") * 12)
    tables = {name: xorder.ScoreTable.from_arrays(y[g == name], s[g == name]) for name in "ab"}
    repair = xorder.XOrder(small_groups="repair", method="frontier").fit(s, y, sensitive_features=g)
    return y, s, g, tables, repair


def _doors(place: Path) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function, with arguments that are right."""
    y, s, g, tables, repair = _plain()
    rows = {"y_true": y, "y_score": s, "sensitive_features": g}
    fitted = rows | {"sample_weight": None, "weights_are": "counts", "clusters": None}
    many = {"cuts": (0.5,), "confidence": 0.9, "missing_group": "error"}
    settings = {name: value for name, value in repair.get_params().items() if name != "small_groups"}

    def fit_with(**options: Any) -> Any:
        return xorder.XOrder(**settings | options).fit(s, y, sensitive_features=g)

    import pandas

    frame = pandas.DataFrame({"s": s, "y": y, "g": g})
    named = {"score": "s", "label": "y", "group": "g"}
    said = _audit_of_plain().to_dict()
    about = {"title": "a", "repair": None, "source": None, "tolerance": None}
    planned = {"gap": 0.2, "prevalence": 0.3, "auc": 0.7, "group_shares": {"a": 1, "b": 2}, "design_effect": 1.5}
    score_map = repair.maps_["a"]
    path = str(place / "door.json")
    return [
        (xorder.audit, fitted | many | {"tolerance": None}),
        (xorder.metrics.audit_tables, {"tables": tables, "cuts": (0.5,), "confidence": 0.9, "tolerance": 0.1}),
        (xorder.compare, fitted | many | {"other_score": s + y}),
        (xorder.order, {"a": tables["a"], "b": tables["b"], "metric": "xauc", "tradeoff": 1.0, "solver": "dp"}),
        (xorder.order, {"a": tables["a"], "b": tables["b"], "max_cut_gap": 0.9}),
        (xorder.frontier, {"a": tables["a"], "b": tables["b"], "metric": "prf", "pins": ()}),
        (xorder.ScoreTable, {"score": [2.0, 1.0], "positive": [1, 0], "negative": [0, 1]}),
        (xorder.ScoreTable.from_arrays, {"y_true": y, "y_score": s, "sample_weight": None}),
        (xorder.ScoreMap, {"raw": [0.0, 1.0], "adjusted": [0.0, 2.0]}),
        (xorder.ScoreMap.from_dict, {"record": {"raw": [0.0], "adjusted": [1.0]}}),
        (score_map.apply, {"scores": s}),
        (score_map.compressed, {"tolerance": 0.1}),
        (score_map.to_sql, {"column": "s", "dialect": "ansi"}),
        (xorder.Threshold, {"score": 0.5}),
        (fit_with, settings),
        (xorder.XOrder().fit, fitted),
        (xorder.XOrder(small_groups="repair").fit_tables, {"tables": tables}),
        (repair.transform, {"y_score": s, "sensitive_features": g}),
        (repair.explain, {"y_score": 0.5, "sensitive_feature": "a"}),
        (repair.save, {"path": path, "overwrite": True}),
        (xorder.load, {"path": path}),
        (xauc_matrix, rows | {"sample_weight": None}),
        (prf_by_group, rows | {"sample_weight": None}),
        (parity_difference, rows | {"sample_weight": None}),
        (_audit_of_plain().gap, {"metric": "xauc", "pair": ("a", "b")}),
        (_audit_of_plain().cut_gap, {"at": 0.5, "pair": ("a", "b"), "of": "sensitivity"}),
        (_audit_of_plain().against, {"tolerance": 0.1, "metric": "xauc", "tolerance_cut": None}),
        (_audit_of_plain().table, {"what": "groups", "reference": None, "thresholds": None, "suppress": None}),
        (_audit_of_plain().table, {"what": "net_benefit", "thresholds": [0.2], "repair": repair}),
        (
            _audit_of_plain().describe,
            {"metric": "xauc", "pair": None, "reference": None, "width": 80, "everything": False},
        ),
        (xorder.plan, {"audit": None, "pair": None} | planned),
        (xorder.plan, {"audit": _audit_of_plain(), "limit": 0.2, "repair": False, "power": 0.8, "metric": "prf"}),
        (xorder.audit_frame, {"frame": frame} | named | many | {"weight": None, "memory": "1GB", "positive": None}),
        (repair.transform_frame, {"frame": frame, "score": "s", "group": "g", "into": "new"}),
        (xorder.transfer.repair_sql, {"maps": repair.maps_, "score": "s", "group": "g", "unknown": "null"}),
        (xorder.expected_gap, {"repair": xorder.XOrder(small_groups="repair")} | fitted | {"cv": 2, "random_state": 0}),
        (xorder.metrics.ll144, {"y_score": s, "sensitive_features": g, "suppress": None}),
        (xorder.metrics.compare_audits, {"first": said, "second": said, "confidence": 0.9}),
        (xorder.metrics.compare_map, {"tables": tables, "adjusted": tables, "confidence": 0.9}),
        (xorder.datasets.simulate_population, {"n_samples": 9, "share_b": 0.5, "noise_b": 0.5, "random_state": 0}),
        (xorder.statements, {"audit": _audit_of_plain(), "suppress": None, "names": None} | about),
        (xorder.report_tables, {"tables": tables, "metric": "xauc", "high_is": "help", "names": None} | about),
    ]


@cache
def _audit_of_plain() -> xorder.Audit:
    y, s, g, _, _ = _plain()
    return xorder.audit(y, s, sensitive_features=g)


@cache
def _listed_doors(place: Path) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    return _doors(place)


def door(r: Random, place: Path) -> None:
    """Any public function with something odd in the place of one or two arguments."""
    function, right = r.choice(_listed_doors(place))
    odd = {
        name: r.choice(columns.ODD_VALUES) for name in r.sample(sorted(right), r.choice((1, 1, 1, min(2, len(right)))))
    }
    found = tried(function, **right | odd)
    check(str(found) and repr(found), "what came prints nothing")
    if hasattr(found, "to_dict") and hasattr(type(found), "__module__") and type(found).__module__.startswith("xorder"):
        json.dumps(tried(found.to_dict), allow_nan=False)


ARRAYS = {
    "table": table,
    "metric": metric,
    "audit": audit,
    "errors": errors,
    "order": order,
    "map": score_map,
    "sql": sql,
    "fit": fit,
    "door": door,
}

__all__ = ["ARRAYS", "RefusedError", "WrongError", "check", "near", "rises", "tried"]
