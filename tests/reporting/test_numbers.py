"""The numbers of a report are those of the library: audits, orderings and repairs, for any number of groups."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import xorder
from support import backends
from support.drawn_rows import Rows, rows
from support.effort import draws
from support.scored_people import people
from xorder import ScoreTable
from xorder._validation import check_tables
from xorder.estimators import expected_gap_tables
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics._cuts import CUTS
from xorder.reporting import _numbers, report, report_tables
from xorder.reporting._numbers import find, group_moves, moves_of, report_numbers, standing


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take fewer steps along the way, where it is not about them."""
    monkeypatch.setattr(_numbers, "PARTS", (0.5, 1.0))


TWO = people(400, {"A": 0.0, "B": 0.8})


@pytest.fixture(scope="module")
def of_two() -> dict[str, Any]:
    return report(**TWO).to_dict()


@pytest.mark.slow
def test_the_audit_is_the_librarys(of_two: dict[str, Any]) -> None:
    audit = xorder.audit(**TWO)
    assert of_two["audit"] == audit.to_dict()
    gap = audit.gap("xauc")
    assert of_two["finding"]["value"] == gap.value
    assert of_two["finding"]["interval"] == list(gap.interval)
    assert of_two["finding"]["pair"] == [0, 1]
    assert of_two["finding"]["chances"] == [audit.xauc["A", "B"], audit.xauc["B", "A"]]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_stops_are_parts_of_the_repair_that_fit_would_make(metric: str) -> None:
    numbers = report(**TWO, metric=metric).to_dict()
    first, *stops = numbers["path"]["stops"]
    score, group, audit = TWO["y_score"], TWO["sensitive_features"], xorder.audit(**TWO)
    assert (first["auc"], first["gap"]) == (audit.auc, audit.gap(metric, ("A", "B")).value)
    assert [stop["part"] for stop in stops] == [0.25, 0.5, 0.75, 1]
    repair = xorder.XOrder(metric=metric).fit(score, TWO["y_true"], sensitive_features=group)
    (moved,) = repair.moved_
    assert [numbers["groups"][number] for number in numbers["path"]["moved"]] == [moved]
    whole = repair.transform(score, sensitive_features=group)
    # Multiplied odds: the middle of what the map does to them is the multiplier.
    odds = score / (1 - score)
    times = np.median((whole / (1 - whole) / odds)[group == moved])
    for stop in stops:
        adjusted = np.where(group == moved, odds * times ** stop["part"] / (1 + odds * times ** stop["part"]), score)
        exact = stop["part"] == 1
        found = xorder.audit(**TWO | {"y_score": whole if exact else adjusted})
        gap, near = found.gap(metric, ("A", "B")), 1e-12 if exact else 2e-3
        assert stop["auc"] == pytest.approx(found.auc, abs=near)
        assert stop["auc_interval"] == pytest.approx(found.auc_interval, abs=near)
        assert stop["gap"] == pytest.approx(gap.value, abs=near)
        assert stop["gap_interval"] == pytest.approx(gap.interval, abs=near)
        for cut in stop["cuts"]:
            other = found.cut_gap(cut["percent"] / 100, ("A", "B"))
            assert cut["value"] == pytest.approx(other.value, abs=1e-12 if exact else 0.02)
        if exact:
            assert stop["below_best"] == pytest.approx(repair.optimality_gap_, abs=1e-9)
    gaps = [stop["gap"] for stop in (first, *stops)]
    assert all(after < before for before, after in pairwise(gaps))


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("A", "B"), ("B", "A")])
def test_changes_are_paired(pair: tuple[str, str]) -> None:
    drawn = people(400, dict(zip(pair, (0.0, 0.8), strict=True)))
    last = report(**drawn).to_dict()["path"]["stops"][-1]
    repair = xorder.XOrder().fit(drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"])
    adjusted = repair.transform(drawn["y_score"], sensitive_features=drawn["sensitive_features"])
    found = xorder.compare(drawn["y_true"], drawn["y_score"], adjusted, sensitive_features=drawn["sensitive_features"])
    gap = next(each for each in found.differences if each.what == "xauc")
    sign = 1 if gap.pair == pair else -1
    assert last["auc_change"]["value"] == pytest.approx(found.auc.value, abs=1e-12)
    assert last["auc_change"]["interval"] == pytest.approx(found.auc.interval, abs=1e-6)
    assert last["gap_change"]["value"] == pytest.approx(sign * gap.value, abs=1e-12)
    assert last["gap_change"]["interval"] == pytest.approx(sorted(sign * end for end in gap.interval), abs=1e-6)
    assert last["gap_change"]["value"] < 0


@pytest.mark.slow
def test_a_gap_that_may_be_chance_is_closed_in_full_to_show_what_that_would_do() -> None:
    drawn = people(700, {"A": 0.0, "B": 0.0}, seed=1)
    with pytest.warns(XorderWarning, match="may be chance"):
        careful = xorder.XOrder().fit(drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"])
    numbers = report(**drawn).to_dict()
    assert careful.moved_ == ()
    assert not numbers["path"]["careful"]
    full = xorder.XOrder(do_no_harm=False).fit(
        drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"]
    )
    assert numbers["path"]["stops"][-1]["auc"] == pytest.approx(full.auc_, abs=1e-12)


@pytest.mark.slow
def test_what_the_whole_repair_does_is_what_a_fitted_repair_does(of_two: dict[str, Any]) -> None:
    repair = xorder.XOrder()
    repair.fit(TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"])
    adjusted = repair.transform(TWO["y_score"], sensitive_features=TWO["sensitive_features"])
    audit = xorder.audit(**TWO | {"y_score": adjusted})
    last = of_two["path"]["stops"][-1]
    assert last["auc"] == pytest.approx(audit.auc, abs=1e-12)
    assert np.allclose(last["xauc"], audit.xauc.values)
    assert of_two["after"]["audit"]["auc"] == pytest.approx(audit.auc, abs=1e-12)
    _moves_and_top_are_those_of(of_two, TWO, adjusted)


def _moves_and_top_are_those_of(numbers: dict[str, Any], drawn: dict[str, Any], adjusted: np.ndarray) -> None:
    """Rank the rows themselves, and compare."""
    from scipy.stats import rankdata

    size = len(adjusted)
    change = (rankdata(adjusted) - rankdata(drawn["y_score"])) / size
    for g, group in enumerate(numbers["groups"]):
        mine = drawn["sensitive_features"] == group
        for who, chosen in (("positive", mine & (drawn["y_true"] == 1)), ("negative", mine & (drawn["y_true"] == 0))):
            found = numbers["moves"][g][who]
            assert found["mean"] == pytest.approx(change[chosen].mean(), abs=1e-9)
            assert found["up"] == pytest.approx((change[chosen] > 0.01 - 1e-6).mean(), abs=1e-9)
        for entry in numbers["top"]:
            cut = entry["percent"] / 100 * size
            first = np.argsort(-adjusted, kind="stable")[: round(cut)]
            assert cut == round(cut)
            share = mine[first].mean()
            assert entry["after"][g]["share"] == pytest.approx(share, abs=1e-9)
            if share:
                precision = drawn["y_true"][first][mine[first]].mean()
                assert entry["after"][g]["precision"] == pytest.approx(precision, abs=1e-9)


@pytest.mark.slow
def test_what_to_expect_on_others_is_the_librarys(of_two: dict[str, Any]) -> None:
    tables = check_tables(TWO["y_true"], TWO["y_score"], TWO["sensitive_features"], None)
    found = expected_gap_tables(xorder.XOrder(), tables)
    last, gap = of_two["path"]["stops"][-1], found.after.gap("xauc", ("A", "B"))
    assert (last["auc"], last["gap"]) == (found.after.auc, gap.value)
    assert last["gap_interval"] == list(gap.interval)


@pytest.mark.usefixtures("few_steps")
def test_a_fitted_map_on_other_people() -> None:
    other = people(300, {"A": 0.0, "B": 0.8}, seed=5)
    repair = xorder.XOrder(metric="prf", do_no_harm=False)
    repair.fit(TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"])
    numbers = report(**other, repair=repair).to_dict()
    adjusted = repair.transform(other["y_score"], sensitive_features=other["sensitive_features"])
    assert numbers["metric"] == "prf"
    assert numbers["after"]["kind"] == "map"
    assert not numbers["after"]["learnt_here"]
    assert numbers["path"]["stops"][-1]["kind"] == "map"
    after = xorder.audit(**other | {"y_score": adjusted}).to_dict()
    assert numbers["after"]["audit"]["auc"] == pytest.approx(after["auc"], abs=1e-12)
    for found, expected in zip(numbers["after"]["audit"]["gaps"], after["gaps"], strict=True):
        assert found["value"] == pytest.approx(expected["value"], abs=1e-12)
    _moves_and_top_are_those_of(numbers, other, adjusted)
    assert report(**TWO, repair=repair).to_dict()["after"]["learnt_here"]


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_a_map_is_matched_by_how_its_groups_are_written_or_refused() -> None:
    numbered = TWO | {"sensitive_features": np.where(TWO["sensitive_features"] == "A", 1, 2)}
    written = TWO | {"sensitive_features": numbered["sensitive_features"].astype(str)}
    repair = xorder.XOrder().fit(
        numbered["y_score"], numbered["y_true"], sensitive_features=numbered["sensitive_features"]
    )
    found, expected = (report(**columns, repair=repair).to_dict() for columns in (written, numbered))
    assert found["path"]["stops"][-1] == expected["path"]["stops"][-1]
    with pytest.raises(InputError, match=r"group 'A' was not seen in fit \(\d+ rows\); the known groups are 1, 2"):
        report(**TWO, repair=repair)
    with pytest.raises(InputError, match="fitted XOrder"):
        report(**TWO, repair=xorder.XOrder())


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_three_groups_and_one_of_one_class() -> None:
    drawn = people(600, {"A": 0.0, "B": 1.5, "C": 0.3, "none": 0.0}, seed=3)
    drawn["y_true"][drawn["sensitive_features"] == "none"] = 0
    numbers = report_tables(check_tables(*drawn.values())).to_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        audit = xorder.audit(**drawn)
    assert numbers["audit"] == audit.to_dict()
    assert numbers["finding"]["pair"] == [0, 1]
    assert 3 in numbers["path"]["left"]
    stop = numbers["path"]["stops"][-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        adjusted = xorder.XOrder(small_groups="leave").fit_transform(
            drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"]
        )
        then = xorder.audit(**drawn | {"y_score": adjusted})
    assert stop["auc"] == pytest.approx(then.auc, abs=1e-12)
    assert stop["worst"] == pytest.approx(abs(then.gap("xauc").value), abs=1e-12)
    assert [stop["auc_change"]["value"], *stop["auc_change"]["interval"]] == pytest.approx(
        [then.auc - audit.auc] * 3, abs=0.05
    )
    assert stop["xauc"][3] == [None] * 4
    assert stop["prf"][3] is None


def test_nothing_to_compare_is_said_and_not_computed() -> None:
    drawn = people(60, {"A": 0.0, "B": 0.0})
    drawn["y_true"][drawn["sensitive_features"] == "B"] = 0
    numbers = report(**drawn).to_dict()
    assert numbers["finding"]["verdict"] == "unknown"
    assert numbers["finding"]["pair"] is None
    assert "two groups" in numbers["path"]["why_not"]
    assert (numbers["after"], numbers["moves"], numbers["path"]["moved"]) == (None, None, None)


def test_the_widest_gap_beyond_doubt_is_spoken_of_not_the_widest_of_noise() -> None:
    drawn = people(4000, {"A": 0.0, "B": 0.5}, seed=1)
    few = people(12, {"few": 0.8}, seed=2)
    both = {name: np.concatenate([drawn[name], few[name]]) for name in drawn}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        audit = xorder.audit(**both)
    assert "few" in audit.gap("xauc").pair
    finding = find(audit, "xauc")
    assert audit.too_few == ("few",)
    assert [audit.groups[number] for number in finding["pair"]] == ["A", "B"]
    assert (finding["verdict"], finding["clear_pairs"], finding["pairs"]) == ("clear", 1, 3)


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_a_handful_of_people_is_no_finding_however_small_p() -> None:
    drawn = people(4000, {"A": 0.0, "B": 0.0}, seed=1)
    few = people(12, {"few": 0.8}, seed=7)
    both = {name: np.concatenate([drawn[name], few[name]]) for name in drawn}
    audit = xorder.audit(**both)
    assert audit.gap("xauc").pvalue < 0.05
    numbers = report_tables(check_tables(*both.values())).to_dict()
    assert numbers["finding"]["verdict"] == "chance"
    assert numbers["finding"]["pair"] in ([0, 1], [1, 0])
    assert [group["too_few"] for group in numbers["data"]["groups"]] == [False, False, True]
    only = report_tables(
        check_tables(*({name: both[name][both["sensitive_features"] != "B"] for name in both}.values()))
    )
    assert only.to_dict()["finding"]["verdict"] == "unsure"


def test_noise_is_no_finding() -> None:
    verdicts = [find(xorder.audit(**people(400, {"A": 0, "B": 0}, seed=s)), "xauc")["verdict"] for s in range(40)]
    assert verdicts.count("chance") >= 36


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
@settings(max_examples=draws(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=rows(max_rows=14))
def test_any_rows_give_numbers_that_json_can_hold(drawn: Rows) -> None:
    tables = check_tables(drawn.y, drawn.s, drawn.g, drawn.w)
    # A group whose rows have no weight has no people, and is refused before.
    if len(tables) < 2 or not all(map(len, tables.values())):
        return
    numbers, drawn_curves = report_numbers(tables, metric="prf", confidence=0.9)
    json.dumps(numbers, allow_nan=False)
    assert len(drawn_curves.roc) == len(numbers["path"]["stops"])


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_weights_of_a_design_widen_the_intervals_as_in_the_audit() -> None:
    weight = np.random.default_rng(0).lognormal(size=400)
    numbers = report(**TWO, sample_weight=weight, weights_are="sampling").to_dict()
    audit = xorder.audit(**TWO, sample_weight=weight, weights_are="sampling")
    assert numbers["finding"]["stderr"] == pytest.approx(audit.gap("xauc").stderr)
    assert numbers["finding"]["value"] == pytest.approx(audit.gap("xauc").value)


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_weights_that_are_not_whole_are_told_as_in_the_audit() -> None:
    weight = np.full(400, 1.5)
    with pytest.warns(XorderWarning, match="not whole"):
        xorder.audit(**TWO, sample_weight=weight)
    assert "not whole" in report(**TWO, sample_weight=weight).to_dict()["data"]["warnings"][0]
    assert report(**TWO, sample_weight=np.full(400, 2.0)).to_dict()["data"]["warnings"] == []


def test_tables_must_be_two_with_people() -> None:
    a, b = check_tables(*TWO.values()).values()
    with pytest.raises(InputError, match="there is one group"):
        report_tables({"A": a})
    with pytest.raises(InputError, match="there are no groups"):
        report_tables({})
    with pytest.raises(InputError, match="group 'C' has none"):
        report_tables({"A": a, "B": b, "C": ScoreTable.from_arrays([], [])})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metric": "auc"}, "metric must be one of"),
        ({"confidence": 95}, "confidence must lie between"),
        ({"tolerance": -1}, "tolerance must be a finite number from 0 up"),
        ({"high_is": "good"}, "high_is must be one of help, burden"),
        ({"names": {"scores": "s"}}, "names must have keys among"),
        ({"source": "no-such-file.csv"}, "source must be a file"),
    ],
)
def test_what_the_user_got_wrong_is_said(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        report(**TWO, **wrong)


def test_drawn_curves_are_few_points_of_the_tables() -> None:
    tables = check_tables(*TWO.values())
    _, drawn = report_numbers(tables, metric="xauc", confidence=0.95)
    for points, group in zip(drawn.roc[0], ("AB", "BA"), strict=True):
        x, y = np.array(points).T
        assert len(points) <= 201
        area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
        assert area == pytest.approx(xorder.audit(**TWO).xauc[tuple(group)], abs=2e-3)
    for group, shares in zip(tables.values(), drawn.distributions[0], strict=True):
        expected = np.histogram(group.score, drawn.edges, weights=group.positive)[0] / group.n1
        assert shares["positive"] == pytest.approx(expected, abs=1e-5)


def test_scores_are_outside_a_map_by_what_they_were_not_by_what_it_makes_of_them() -> None:
    drawn = people(600, {"A": 0.0, "B": 0.0}, seed=4)
    drawn["y_score"] = 10 * drawn["y_score"] - np.where(drawn["sensitive_features"] == "B", 3.0, 0.0)
    repair = xorder.XOrder(do_no_harm=False).fit(
        drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"]
    )
    (moved,) = repair.moved_
    knots, mine = repair.maps_[moved].raw, drawn["sensitive_features"] == moved
    # The highest tenth is above all that the map knows; what it makes of the rest is often above it, too.
    beyond = mine & (drawn["y_score"] >= np.quantile(drawn["y_score"][mine], 0.9))
    score = np.where(beyond, drawn["y_score"] + 20, drawn["y_score"])
    (first, second) = report(**drawn | {"y_score": score}, repair=repair).to_dict()["after"]["outside"]
    assert {first, second} == {None, np.mean(score[mine] > knots[-1])}
    assert np.mean(score[mine] > knots[-1]) == pytest.approx(0.1, abs=0.01)


@pytest.mark.slow
def test_the_page_allows_for_clusters_or_says_that_it_does_not(few_steps: None) -> None:
    data = people(300, {"A": 0.0, "B": 0.8})
    clusters = np.arange(len(data["y_true"])) // 3
    careless = xorder.XOrder(do_no_harm=False)
    repair = careless.fit(data["y_score"], data["y_true"], sensitive_features=data["sensitive_features"])
    found, alone = report(**data, clusters=clusters, repair=repair), report(**data)
    audit = xorder.audit(**data, clusters=clusters)
    assert found.to_dict()["audit"]["gaps"] == audit.to_dict()["gaps"]
    assert found.to_dict()["after"]["audit"]["clusters"] == audit.clusters
    assert f"They allow for {audit.clusters} clusters of rows." in found.html()
    assert "intervals are too short unless the report is given clusters" in alone.html()


def counted_top(drawn: Rows, group: str, share: float) -> dict[str, float | None]:
    """Walk down the list, score by score; of the score at the cut, take the same part of everyone."""
    weight = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    room = share * weight.sum()
    taken = np.zeros(len(drawn.y))
    for score in sorted(set(drawn.s.tolist()), reverse=True):
        here = drawn.s == score
        there = weight[here].sum()
        if there > 0:
            taken[here] = min(1.0, room / there)
            room = max(room - there, 0.0)
    mine = drawn.g == group
    in_top = (taken * weight * mine).sum()
    positive = (taken * weight * mine * (drawn.y == 1)).sum()
    everyone, positives = (weight * mine).sum(), (weight * mine * (drawn.y == 1)).sum()
    return {
        "share": in_top / (share * weight.sum()),
        "precision": positive / in_top if in_top > 1e-12 else None,
        "selected": in_top / everyone if everyone > 0 else None,
        "found": positive / positives if positives > 0 else None,
    }


@pytest.mark.slow
@given(drawn=rows())
def test_the_top_is_that_of_walking_down_the_list(drawn: Rows) -> None:
    place = standing(drawn.tables)
    for share in (*CUTS, 0.5):
        for group, found in zip(drawn.groups, place.top(share), strict=True):
            for name, expected in counted_top(drawn, group, share).items():
                if expected is None:
                    assert found[name] is None or (name == "precision" and found["share"] < 1e-9)
                else:
                    assert found[name] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(drawn=rows())
def test_shares_of_the_top_add_up(drawn: Rows) -> None:
    place = standing(drawn.tables)
    for share in CUTS:
        assert sum(row["share"] for row in place.top(share)) == pytest.approx(1.0)


@pytest.mark.slow
@given(drawn=rows())
def test_percentiles_are_shares_of_people_below(drawn: Rows) -> None:
    place = standing(drawn.tables)
    weight = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    for g, table in enumerate(drawn.tables):
        for score, found in zip(table.score, place.percentile(g), strict=True):
            below = weight[drawn.s < score].sum() + weight[drawn.s == score].sum() / 2
            assert found == pytest.approx(below / weight.sum())


def test_ties_at_the_cut_are_split_alike() -> None:
    # Ten people share the one score: each group gets its part of any top.
    table = ScoreTable.from_arrays([1] * 4 + [0] * 1, [0.5] * 5)
    other = ScoreTable.from_arrays([1] * 1 + [0] * 4, [0.5] * 5)
    for row, precision in zip(standing([table, other]).top(0.2), (0.8, 0.2), strict=True):
        assert (row["share"], row["selected"]) == (pytest.approx(0.5), pytest.approx(0.2))
        assert row["precision"] == pytest.approx(precision)


def test_moves_are_counted_by_people() -> None:
    change = np.array([0.05, 0.01, 0.0, -0.02])
    found = moves_of(np.array([1.0, 2.0, 6.0, 1.0]), change)
    assert found["mean"] == pytest.approx((0.05 + 0.02 - 0.02) / 10)
    assert (found["low"], found["median"], found["high"]) == (-0.02, 0.0, 0.01)
    assert (found["up"], found["down"]) == (pytest.approx(0.3), pytest.approx(0.1))


def test_moves_of_nobody_are_not_known() -> None:
    table = ScoreTable.from_arrays([0, 0], [0.5, 0.2])
    found = group_moves(table, np.array([0.1, 0.1]))
    assert found["positive"] == dict.fromkeys(found["positive"])
    assert found["negative"]["mean"] == pytest.approx(0.1)


@pytest.mark.slow
@given(drawn=rows())
def test_what_each_cut_finds_is_what_the_top_has(drawn: Rows) -> None:
    tables = check_tables(drawn.y, drawn.s, drawn.g, drawn.w)
    place = standing(list(tables.values()))
    for share in (0.1, 0.37, 0.8):
        for g, row in enumerate(place.top(share)):
            taken, found = place.found(g)
            if row["found"] is None:
                assert taken.size == 0
            else:
                assert np.interp(share, taken, found) == pytest.approx(row["found"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("engine", ["pandas", "polars-lazy", "pyarrow", "duckdb", "parquet", "csv"])
def test_rows_of_any_engine_have_the_same_report(engine: str, tmp_path: Path) -> None:
    columns = {"s": TWO["y_score"], "y": TWO["y_true"], "g": TWO["sensitive_features"].astype(str)}
    frame = backends.Backend(engine, tmp_path)(columns)
    found = xorder.report_frame(frame, score="s", label="y", group=["g"], high_is="help", tolerance=0.1).to_dict()
    wanted = report(**TWO, names={"score": "s", "label": "y", "group": "g"}, high_is="help", tolerance=0.1).to_dict()
    is_file = engine in ("parquet", "csv")
    assert (found.pop("source") is not None) == is_file
    wanted.pop("source")
    assert found == wanted


def test_a_repair_of_a_frame_must_be_fitted() -> None:
    frame = {"s": [0.1, 0.9], "y": [0, 1], "g": ["A", "B"]}
    with pytest.raises(InputError, match="repair must be a fitted XOrder"):
        xorder.report_frame(backends.arrow(frame), score="s", label="y", group="g", repair=xorder.XOrder())
