"""Promises: what a repair lets one say of all people, kept in its file, and where rows do not carry it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import xorder
from xorder.datasets import simulate_population
from xorder.estimators import load_fitted
from xorder.exceptions import InputError, MapFileError, XorderWarning

PEOPLE = simulate_population(3000, random_state=0)
EVERYBODY = simulate_population(60_000, random_state=99)


def fitted(**settings: object) -> xorder.XOrder:
    repair = xorder.XOrder(confidence=0.95, **settings)  # type: ignore[arg-type]
    return repair.fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_a_promise_is_the_interval_of_the_map_and_holds(metric: str) -> None:
    repair = fitted(max_gap=0.06, metric=metric)
    promise = repair.promise_
    assert promise is not None
    assert promise.made
    low, high = repair.expected_.gap().interval
    assert promise.bound == pytest.approx(max(-low, high))
    assert (promise.limit, promise.confidence, promise.rows, promise.needed) == (0.06, 0.95, 3000, None)
    # It is as near to the limit as it needs to be, for the sake of AUC.
    assert promise.bound > 0.05
    adjusted = repair.transform(EVERYBODY.y_score, sensitive_features=EVERYBODY.group)
    truth = xorder.audit(EVERYBODY.y_true, adjusted, sensitive_features=EVERYBODY.group, cuts=())
    assert abs(truth.gap(metric).value) < 0.06
    # An audit of the same rows says the same.
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    again = xorder.audit(PEOPLE.y_true, adjusted, sensitive_features=PEOPLE.group, cuts=())
    assert again.against(0.06, metric=metric) == "within"


def test_a_wider_limit_costs_less() -> None:
    narrow, wide = (fitted(max_gap=limit) for limit in (0.06, 0.15))
    assert wide.auc_ > narrow.auc_
    assert abs(wide.gap_) > abs(narrow.gap_)


def test_scores_that_carry_the_promise_are_left_alone() -> None:
    repair = fitted(max_gap=0.4)
    assert repair.moved_ == ()
    assert repair.gap_ == repair.gap_before_
    assert repair.promise_ is not None
    assert repair.promise_.made


@pytest.mark.slow
def test_where_rows_do_not_carry_it_what_can_be_promised_is_said() -> None:
    with pytest.warns(XorderWarning, match=r"The rows do not carry .* at most 0\.04.* takes about [\d,]+ rows"):
        repair = fitted(max_gap=0.02)
    promise = repair.promise_
    assert promise is not None
    assert not promise.made
    assert promise.bound is not None
    assert promise.bound > 0.02
    assert promise.needed is not None
    assert promise.needed == pytest.approx(3000 * (promise.bound / 0.02) ** 2, rel=0.25)
    # What it says can be had.
    assert fitted(max_gap=round(promise.bound + 0.005, 3)).promise_.made  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_promise_at_every_cut() -> None:
    repair = fitted(max_cut_gap=0.2)
    promise = repair.promise_
    assert promise is not None
    assert promise.made
    assert promise.cut_bound is not None
    assert repair.worst_cut_ < promise.cut_bound <= 0.2
    both = fitted(max_cut_gap=0.2, max_gap=0.08).promise_
    assert both is not None
    assert both.made
    assert "0.08 and the difference of sensitivities to the reference at any cut is at most 0.2" in str(both)
    with pytest.warns(XorderWarning, match="at any cut is at most"):
        narrow = fitted(max_cut_gap=0.09).promise_
    assert narrow is not None
    assert not narrow.made
    assert narrow.needed is not None
    assert narrow.needed > 3000


def test_it_is_kept_in_the_map(tmp_path: Path) -> None:
    repair, path = fitted(max_gap=0.06), tmp_path / "map.json"
    repair.save(path)
    loaded = xorder.load(path)
    assert loaded.promise_ == repair.promise_
    assert loaded.confidence == 0.95
    assert str(repair.promise_) in loaded.describe()
    assert loaded.to_dict()["promise"]["bound"] == repair.promise_.bound  # type: ignore[union-attr]
    assert xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group).promise_ is None


@pytest.mark.parametrize("wrong", [None, {"limit": 0.1}, 7, {"confidence": "x"}])
def test_a_file_whose_promise_makes_no_sense_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: object
) -> None:
    repair, path = fitted(max_gap=0.06), tmp_path / "map.json"
    known = repair.fitted_.to_dict()
    spoilt = known["promise"] | wrong if isinstance(wrong, dict) and "confidence" in wrong else wrong
    monkeypatch.setattr(type(repair.fitted_), "to_dict", lambda _: known | {"promise": spoilt})
    repair.save(path)
    with pytest.raises(MapFileError, match="its settings make no sense"):
        load_fitted(path)


@pytest.mark.slow
def test_clusters_make_for_less_of_a_promise() -> None:
    who, twice = np.repeat(np.arange(3000), 2), {"sensitive_features": np.repeat(PEOPLE.group, 2)}
    rows = np.repeat(PEOPLE.y_score, 2), np.repeat(PEOPLE.y_true, 2)
    repair = xorder.XOrder(max_gap=0.06, confidence=0.95).fit(*rows, clusters=who, **twice)
    alone = fitted(max_gap=0.06)
    assert repair.promise_ is not None
    assert repair.promise_.made
    assert repair.gap_ == pytest.approx(alone.gap_, abs=0.005)
    with pytest.raises(InputError, match="clusters do not go with a promise at every cut"):
        xorder.XOrder(max_cut_gap=0.2, confidence=0.95).fit(*rows, clusters=who, **twice)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "confidence needs limits above 0"),
        ({"max_gap": 0.1, "max_cut_gap": 0.0}, "confidence needs limits above 0"),
        ({"max_gap": 0.1, "confidence": 95}, "confidence must lie between 0 and 1"),
        ({"max_gap": 0.1, "method": "frontier"}, "confidence is for method 'smooth' and limits"),
        ({"tradeoff": 1.0}, "confidence is for method 'smooth' and limits"),
    ],
)
def test_what_does_not_go_together(settings: dict[str, object], words: str) -> None:
    repair = xorder.XOrder(**{"confidence": 0.95, **settings})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=words):
        repair.fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


def test_three_groups_are_promised_together() -> None:
    people = simulate_population(6000, random_state=1)
    group = np.where(np.arange(6000) % 3 == 0, "C", people.group)
    repair = xorder.XOrder(max_gap=0.08, confidence=0.95)
    repair.fit(people.y_score, people.y_true, sensitive_features=group)
    intervals = [gap.interval for gap in repair.expected_.after.gaps if gap.metric == "xauc"]
    assert repair.promise_ is not None
    assert repair.promise_.made
    assert repair.promise_.bound == pytest.approx(max(max(-low, high) for low, high in intervals))


def test_the_next_sample_is_wider_than_all_people() -> None:
    repair = fitted(max_gap=0.06)
    expected = repair.expected_
    low, high = expected.gap().interval
    ends = [expected.next_interval(rows) for rows in (1000, 3000, 10**9)]
    widths = [end[1] - end[0] for end in ends]
    assert widths[0] > widths[1] > widths[2]
    assert ends[2] == pytest.approx((low, high), abs=1e-6)
    assert widths[1] == pytest.approx(np.sqrt(2) * (high - low), rel=0.02)
    assert expected.next_interval(1000, expected.gap().pair[::-1]) == pytest.approx((-ends[0][1], -ends[0][0]))
    with pytest.raises(InputError, match="rows must be a finite number above 0"):
        expected.next_interval(0)
    assert json.loads(json.dumps(expected.to_dict()))["metric"] == "xauc"
