"""Repairs that the study compares: the default among them, the former one, and what all have in common."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest

from experiments.candidates import SMOOTH, WAYS, Pair, applied, evidence, repaired, roles, tables_of_rows
from xorder import ScoreTable, XOrder
from xorder.ordering import as_scored

# These leave what gap the match or the corridor leaves.
NOT_CLOSED = {"quantiles, no shift", "corridor"}


def drawn(lower: float = 0.35, rows: int = 600, seed: int = 5) -> dict[Hashable, ScoreTable]:
    """Two groups, the second of which is read lower than it should be."""
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.4
    risk = rng.normal(-0.5, 1.4, rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(-risk))).astype(int)
    score = 1 / (1 + np.exp(lower * second - risk - 0.7 * rng.normal(size=rows)))
    return tables_of_rows(score, y, np.where(second, "B", "A"))


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_constant_is_the_default(careful: bool, seed: int) -> None:
    tables = drawn(seed=seed)
    expected = XOrder(do_no_harm=careful).fit_tables(tables).maps_
    found = repaired(WAYS["constant"], careful=careful)(tables)
    at = np.linspace(0, 1, 101)
    for group, score_map in expected.items():
        np.testing.assert_allclose(found[group].apply(at), score_map.apply(at), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logistic", [0.094859253, 0.307588627, 0.616216317, 0.924847675]),
        ("logistic, care", [0.090477687, 0.297080056, 0.604865048, 0.922420713]),
    ],
)
def test_the_logistic_fit_is_the_former_default(name: str, expected: list[float]) -> None:
    """Figures of ``XOrder`` before it multiplied the odds that scores state."""
    found = SMOOTH[name](drawn())["B"].apply(np.array([0.05, 0.2, 0.5, 0.9]))
    np.testing.assert_allclose(found, expected, atol=2e-4)


@pytest.mark.parametrize("name", WAYS)
def test_closes_the_gap_of_its_own_sample(name: str) -> None:
    tables = drawn()
    maps = SMOOTH[name](tables)
    assert not maps["A"].raw.size
    moved = tables["B"].at(maps["B"].apply(tables["B"].score))
    _, before = as_scored(tables["A"], tables["B"], "xauc")
    _, after = as_scored(tables["A"], moved, "xauc")
    assert abs(after) < (abs(before) / 2 if name in NOT_CLOSED else 0.002)
    adjusted = maps["B"].apply(np.linspace(0, 1, 201))
    assert (np.diff(adjusted) >= 0).all()
    assert 0 <= adjusted[0] <= adjusted[-1] <= 1


@pytest.mark.parametrize("name", WAYS)
def test_care_goes_part_of_the_way(name: str) -> None:
    tables = drawn()
    assert 0.5 < evidence(tables) < 1
    whole, part = (SMOOTH[each](tables)["B"] for each in (name, f"{name}, care"))
    raw = tables["B"].score
    assert 0 < np.abs(part.apply(raw) - raw).mean() < np.abs(whole.apply(raw) - raw).mean()


@pytest.mark.parametrize("name", WAYS)
def test_care_leaves_chance_alone(name: str) -> None:
    tables = drawn(lower=0.0, seed=0)
    assert evidence(tables) == 0
    assert not any(score_map.raw.size for score_map in SMOOTH[f"{name}, care"](tables).values())


def test_evidence_is_the_share_that_the_default_keeps() -> None:
    tables = drawn()
    assert XOrder().fit_tables(tables).kept_share_ == {"B": pytest.approx(evidence(tables))}


@pytest.mark.parametrize("name", SMOOTH)
def test_small_groups_are_left_alone(name: str) -> None:
    tables = drawn()
    tables["B"] = ScoreTable.from_arrays([1] * 9 + [0] * 30, np.linspace(0.05, 0.4, 39))
    assert not any(score_map.raw.size for score_map in SMOOTH[name](tables).values())


def test_the_losing_group_is_moved() -> None:
    tables = drawn()
    assert roles(tables) == ("A", "B")
    assert roles({"A": tables["B"], "B": tables["A"]}) == ("B", "A")


def test_matched_quantiles_make_sensitivities_equal() -> None:
    """At the median of either group's positives half of both groups' positives are selected."""
    tables = drawn(rows=6000)
    maps = SMOOTH["quantiles, no shift"](tables)
    halves = []
    for group, table in tables.items():
        score = np.repeat(maps[group].apply(table.score), table.positive.astype(int))
        halves.append(float(np.median(score)))
    assert halves[0] == pytest.approx(halves[1], abs=0.01)


def test_scores_of_any_range() -> None:
    """Without bounds of their own scores stay between the lowest and the highest seen."""
    tables = {group: table.at(100 * table.score - 30) for group, table in drawn().items()}
    low, high = Pair(tables["A"], tables["B"]).bounds
    for name in ("constant", "quantiles", "corridor", "spread", "bends", "half way"):
        adjusted = SMOOTH[name](tables)["B"].apply(tables["B"].score)
        assert low <= adjusted.min() <= adjusted.max() <= high


def test_rows_get_the_map_of_their_group() -> None:
    tables = drawn()
    maps = SMOOTH["constant"](tables)
    score, groups = np.array([0.2, 0.2]), np.array(["A", "B"])
    adjusted = applied(maps, score, groups)
    assert adjusted[0] == 0.2 < adjusted[1]
    assert score[1] == 0.2
