"""One multiplier a group: against all shifts, all interleavings, grids, and counts pair by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.calibrations import logistic_calibration
from support import oracles
from support.effort import LONG, draws
from support.tables import noisy_table, random_table, tied_tables
from xorder import ScoreTable, frontier
from xorder.exceptions import InputError
from xorder.ordering import Multipliers, solve_multipliers
from xorder.ordering._hull import pool
from xorder.ordering._multipliers import ShiftedGroups

METRICS = ("xauc", "prf", "parity")
GOALS = ({"tradeoff": 0.0}, {"tradeoff": 0.3}, {"tradeoff": 2.0}, {"max_gap": 0.0}, {"max_gap": 0.1})


@dataclass(frozen=True)
class Given:
    """A curve that says the score itself is the log odds."""

    def log_odds(self, score):
        return np.asarray(score, dtype=float)


@dataclass(frozen=True, eq=False)
class Steps:
    """A curve that is constant on each block: its log odds, without any smoothing."""

    table: ScoreTable

    def log_odds(self, score):
        blocks = pool(self.table)
        with np.errstate(divide="ignore"):
            level = np.clip(np.log(blocks.positive / blocks.negative), -50, 50)
        return np.repeat(level, np.diff(blocks.start))[np.searchsorted(-self.table.score, -np.asarray(score))]


def value(goal, auc, worst):
    """What a placement is worth: the objective, or the AUC where the limit is kept, or else minus the excess."""
    if "tradeoff" in goal:
        return auc - goal["tradeoff"] * worst
    excess = worst - goal["max_gap"]
    return np.where(excess <= 1e-12, auc, -excess)


def measured(metric, tables, places):
    """AUC and gaps of groups at given places, from one comparison of all with all."""
    z, p, n = (np.concatenate(c) for c in (places, [t.positive for t in tables], [t.negative for t in tables]))
    group = np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    wins = (z[:, None] > z[None, :]) + 0.5 * (z[:, None] == z[None, :])
    member = (group[None, :] == np.arange(len(tables))[:, None]).astype(float)

    def chances(above, below):
        return (member * above) @ wins @ (member * below).T / np.outer(member @ above, member @ below)

    a = chances(p, n)
    share1, share0 = member @ p / p.sum(), member @ n / n.sum()
    if metric == "prf":
        gaps = np.subtract.outer(a @ share0, a @ share0)
    else:
        c = a if metric == "xauc" else chances(p + n, p + n)
        gaps = c - c.T
    return float(share1 @ a @ share0), gaps


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=draws(25))
@given(tables=st.lists(tied_tables(more=3), min_size=2, max_size=4), goal=st.sampled_from(GOALS), data=st.data())
def test_counts_pair_by_pair(
    metric: str, tables: list[ScoreTable], goal: dict[str, float], data: st.DataObject
) -> None:
    """Everything reported is what rows at the shifted places have, whatever was found."""
    reference = data.draw(st.integers(0, len(tables) - 1))
    curves = [logistic_calibration(table, unit=False) for table in tables]
    found = solve_multipliers(tables, curves, metric=metric, reference=reference, **goal)
    y, s, g, w = [], [], [], []
    for k, (table, curve) in enumerate(zip(tables, curves, strict=True)):
        for place, positive, negative in zip(
            curve.log_odds(table.score) + found.shift[k], table.positive, table.negative, strict=True
        ):
            for label, mass in ((1, positive), (0, negative)):
                y, s, g, w = [*y, label], [*s, place], [*g, k], [*w, mass]
    assert found.shift[reference] == 0
    assert found.auc == pytest.approx(oracles.auc(y, s, w), abs=1e-12)
    for a in range(len(tables)):
        for b in range(len(tables)):
            wanted = 0.0 if a == b else oracles.gap(metric, y, s, g, a, b, w)
            assert found.gaps[a, b] == pytest.approx(wanted, abs=1e-12)
    assert found.worst == np.abs(found.gaps).max()


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_two_groups_against_every_shift(metric: str) -> None:
    """All places between two flips are tried: the answer is the best of them."""
    rng = np.random.default_rng(METRICS.index(metric))
    for _ in range(draws(60)):
        tables = [random_table(rng, 9), random_table(rng, 9)]
        places = [np.sort(rng.normal(size=len(table)))[::-1] for table in tables]
        tables = [ScoreTable(z, t.positive, t.negative) for z, t in zip(places, tables, strict=True)]
        flips = np.sort(np.subtract.outer(places[0], places[1]).ravel())
        shifts = np.concatenate([[flips[0] - 1], (flips[1:] + flips[:-1]) / 2, [flips[-1] + 1, 0.0]])
        every = [measured(metric, tables, [places[0], places[1] + shift]) for shift in shifts]
        for goal in GOALS:
            best = max(value(goal, auc, np.abs(gaps).max()) for auc, gaps in every)
            found = solve_multipliers(tables, [Given(), Given()], metric=metric, **goal)
            assert value(goal, found.auc, found.worst) == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_two_groups_reach_the_best_corner_of_the_frontier(metric: str) -> None:
    """With curves that are constant on blocks, multipliers are the merges of the frontier, and the best is found."""
    rng = np.random.default_rng(7)
    for rows in (8, 30, 200, 1000):
        for _ in range(3):
            a, b = noisy_table(rng, rows), noisy_table(rng, rows, shift=-0.7)
            curve = frontier(a, b, metric=metric)
            for goal in GOALS:
                worth = value(goal, curve.auc, np.abs(curve.gap))
                found = solve_multipliers([a, b], [Steps(a), Steps(b)], metric=metric, **goal)
                assert value(goal, found.auc, found.worst) >= worth.max() - 1e-10


def three_groups(rng, rows=120):
    return [noisy_table(rng, rows, shift=shift) for shift in (0.0, -0.8, 0.6)]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_three_groups_against_a_grid(metric: str) -> None:
    """No point of a grid of shifts is better by more than a thousandth."""
    rng = np.random.default_rng(5)
    for _ in range(2):
        tables = three_groups(rng)
        curves = [logistic_calibration(table, unit=False) for table in tables]
        places = [curve.log_odds(table.score) for curve, table in zip(curves, tables, strict=True)]
        grid = np.linspace(-3, 3, 41 if LONG else 21)
        every = [measured(metric, tables, [places[0], places[1] + x, places[2] + y]) for x in grid for y in grid]
        auc, worst = np.array([(auc, np.abs(gaps).max()) for auc, gaps in every]).T
        for goal in GOALS:
            found = solve_multipliers(tables, curves, metric=metric, **goal)
            assert value(goal, found.auc, found.worst) >= np.max(value(goal, auc, worst)) - 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("metric", METRICS)
def test_a_limit_that_binds_is_met_from_inside_and_used_up(metric: str, groups: int) -> None:
    rng = np.random.default_rng(6)
    tables = [noisy_table(rng, 1500, shift=shift) for shift in np.linspace(0.0, -1.5, groups)]
    curves = [logistic_calibration(table, unit=False) for table in tables]
    for allowed in (0.04, 0.1):
        found = solve_multipliers(tables, curves, metric=metric, max_gap=allowed)
        assert allowed - 1e-3 < found.worst <= allowed + 1e-13


def people_of_one_group(rng: np.random.Generator, rows: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and scores of which no two are equal; the group's risks are lower the lower ``shift`` is."""
    risk = rng.normal(size=rows) + shift
    return rng.random(rows) < 1 / (1 + np.exp(-risk)), risk + rng.normal(0, 0.5, size=rows)


@pytest.mark.parametrize("goal", [{"max_gap": 0.0}, {"max_gap": 0.03}, {"tradeoff": 1.0}], ids=str)
@pytest.mark.parametrize("groups", [2, 5])
def test_long_lists_take_few_counts(groups: int, goal: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Five exact counts at most, a limit that binds met from inside, and gaps within a tenth of their noise."""
    rng = np.random.default_rng(8)
    tables = [
        ScoreTable.from_arrays(*people_of_one_group(rng, 8000, shift)) for shift in np.linspace(0.0, -1.2, groups)
    ]
    curves = [logistic_calibration(table, unit=False) for table in tables]
    counts: list[int] = []
    measure = ShiftedGroups.measure
    monkeypatch.setattr(ShiftedGroups, "measure", lambda self, shift: counts.append(1) or measure(self, shift))
    found = solve_multipliers(tables, curves, metric="prf", **goal)
    assert len(counts) <= 5
    # The standard error of a gap is about .01 here.
    allowed = goal.get("max_gap", 0.0)
    assert allowed - 1e-3 < found.worst < allowed + 1e-3
    if allowed > 0:
        assert found.worst <= allowed


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("levels", [8, 20])
def test_few_levels_are_searched_step_by_step(metric: str, levels: int) -> None:
    """Of random shifts around the answer none is better: groups of few levels jump from step to step."""
    rng = np.random.default_rng(levels)
    tables = []
    for shift in (0.0, -0.7, 0.5):
        label, score = people_of_one_group(rng, 2000, shift)
        tables.append(ScoreTable.from_arrays(label, np.clip((score + 4) * levels / 8, 0, levels - 1).round()))
    curves = [logistic_calibration(table, unit=False) for table in tables]
    found = solve_multipliers(tables, curves, metric=metric, max_gap=0.0)
    groups = ShiftedGroups(tables, curves, metric)
    near = found.shift + np.array([0.0, 1.0, 1.0]) * rng.normal(0, 0.3, (draws(4000), 3))
    worst = np.array([np.abs(groups.measure(shift)[1]).max() for shift in near])
    # The standard error of a gap is about .015.
    assert found.worst <= worst.min() + 1.5e-3


@pytest.mark.parametrize("groups", [2, 4])
def test_no_further_than_asked(groups: int) -> None:
    """A limit that does not bind changes nothing; calibrated groups then hardly move."""
    rng = np.random.default_rng(9)
    tables = [noisy_table(rng, 4000, shift=shift) for shift in np.linspace(0.0, -1.0, groups)]
    curves = [logistic_calibration(table, unit=False) for table in tables]
    free, loose = (solve_multipliers(tables, curves, **goal) for goal in ({"tradeoff": 0.0}, {"max_gap": 0.95}))
    assert loose.auc == pytest.approx(free.auc, abs=1e-5)
    assert np.abs(loose.shift).max() < 0.3


@pytest.mark.parametrize("metric", METRICS)
def test_equal_groups_stay(metric: str) -> None:
    table = noisy_table(np.random.default_rng(0), 300)
    found = solve_multipliers([table] * 3, [Given()] * 3, metric=metric, max_gap=0.0)
    assert found.worst == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(found.shift, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_same_answer_each_time_and_for_rows_twice(metric: str) -> None:
    rng = np.random.default_rng(11)
    rows = [(rng.random(80) < 0.4, rng.random(80), rng.integers(1, 4, 80)) for _ in range(3)]

    def solved(tables: list[ScoreTable]) -> Multipliers:
        curves = [logistic_calibration(table, unit=True) for table in tables]
        return solve_multipliers(tables, curves, metric=metric, reference=1, tradeoff=0.5)

    weighted = [ScoreTable.from_arrays(y, s, w) for y, s, w in rows]
    repeated = [ScoreTable.from_arrays(np.repeat(y, w), np.repeat(s, w)) for y, s, w in rows]
    one, again, other = solved(weighted), solved(weighted), solved(repeated)
    np.testing.assert_array_equal(one.shift, again.shift)
    np.testing.assert_allclose(one.shift, other.shift, atol=1e-10)
    np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-10)
    assert one.auc == pytest.approx(other.auc, abs=1e-10)


@pytest.mark.slow
def test_many_tiny_groups() -> None:
    tables = [ScoreTable.from_arrays([1, 0], [0.2 + 0.05 * g, 0.6 - 0.03 * g]) for g in range(12)]
    curves = [logistic_calibration(table, unit=True) for table in tables]
    for metric in METRICS:
        found = solve_multipliers(tables, curves, metric=metric, tradeoff=1.0)
        assert np.isfinite(found.shift).all()
        assert 0 <= found.auc <= 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tables": []}, "two groups or more"),
        ({"metric": "auc"}, "metric must be one of"),
        ({"reference": 3}, "reference must be"),
        ({"max_gap": 0.1}, "one of the two"),
        ({"tradeoff": -1.0}, "tradeoff must be"),
        ({"tradeoff": None}, "one of the two"),
    ],
)
def test_refuses(changes: dict[str, object], message: str) -> None:
    table = ScoreTable.from_arrays([1, 0], [0.5, 0.4])
    call = {"tables": [table, table], "curves": [Given(), Given()], "tradeoff": 1.0, **changes}
    with pytest.raises(InputError, match=message):
        solve_multipliers(call.pop("tables"), call.pop("curves"), **call)


def test_names_the_group_that_lacks_a_class() -> None:
    tables = [ScoreTable.from_arrays([1, 0], [0.5, 0.4]), ScoreTable.from_arrays([0, 0], [0.5, 0.4])]
    with pytest.raises(InputError, match="group number 1 has no positives"):
        solve_multipliers(tables, [Given(), Given()], tradeoff=1.0)
