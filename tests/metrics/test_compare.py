"""Paired differences: DeLong's published example, a bootstrap, maps from tables alone, and two samples."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from support import backends
from support.effort import draws
from xorder import Threshold, XOrder, audit, compare, compare_frame
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.estimators._learn import mapped
from xorder.exceptions import InputError
from xorder.metrics import compare_audits, compare_map

# Patients with ovarian cancer: albumin, total protein, K-G score, and whether surgery was of use (DeLong, DeLong and
# Clarke-Pearson 1988; those without a missing value).
OVARIAN = """
3.0 5.8 10 0  3.2 6.3 5 1  3.9 6.8 3 1  2.8 4.8 6 0  3.2 5.8 3 1  0.9 4.0 5 0  2.5 5.7 8 0  1.6 5.6 5 1  3.8 5.7 5 1
3.7 6.7 6 1  3.2 5.4 4 1  3.8 6.6 6 1  4.1 6.6 5 1  3.6 5.7 5 1  4.3 7.0 4 1  3.6 6.7 4 0  2.3 4.4 6 1  4.2 7.6 4 0
4.0 6.6 6 0  3.5 5.8 6 1  3.8 6.8 7 1  3.0 4.7 8 0  4.5 7.4 5 1  3.7 7.4 5 1  3.1 6.6 6 1  4.1 8.2 6 1  4.3 7.0 5 1
4.3 6.5 4 1  3.2 5.1 5 1  2.6 4.7 6 1  3.3 6.8 6 0  1.7 4.0 7 0  3.7 6.1 5 1  3.3 6.3 7 1  4.2 7.7 6 1  3.5 6.2 5 1
2.9 5.7 9 0  2.1 4.8 7 1  2.8 6.2 8 0  4.0 7.0 7 1  3.3 5.7 6 1  3.7 6.9 5 1  3.6 6.6 5 1
"""


def test_the_published_example() -> None:
    albumin, protein, score, label = np.array(OVARIAN.split(), dtype=float).reshape(-1, 4).T
    others = {"albumin": albumin, "protein": protein}
    # The difference in AUC does not look at groups.
    found = compare(label, -score, others, sensitive_features=np.arange(label.size) % 2)
    by_name = {each.other: each for each in found.differences if each.what == "auc"}
    assert found.auc.first == pytest.approx(0.7258, abs=5e-5)
    assert (by_name["albumin"].value, by_name["albumin"].stderr) == pytest.approx((0.0108, 0.0953), abs=5e-5)
    assert (by_name["protein"].value, by_name["protein"].stderr) == pytest.approx((-0.0780, 0.1046), abs=5e-5)


def two_scores(size: int = 900) -> dict[str, Any]:
    people, rng = simulate_population(size), np.random.default_rng(0)
    other = people.y_score + 0.05 * rng.normal(size=size) + 0.1 * (people.group == "B")
    return {
        "y_true": people.y_true,
        "y_score": people.y_score,
        "other_score": other,
        "sensitive_features": people.group,
    }


def test_it_is_the_second_less_the_first() -> None:
    data = two_scores()
    found = compare(**data)
    one, two = (
        audit(data["y_true"], data[name], sensitive_features=data["sensitive_features"])
        for name in ("y_score", "other_score")
    )
    assert found.auc.value == pytest.approx(two.auc - one.auc)
    for metric in ("xauc", "prf", "parity"):
        assert found.gap(metric, ("A", "B")).value == pytest.approx(
            two.gap(metric, ("A", "B")).value - one.gap(metric, ("A", "B")).value
        )
        assert found.gap(metric, ("B", "A")).value == -found.gap(metric, ("A", "B")).value
        # Two audits apart would have an error several times as large.
        assert found.gap(metric).stderr < 0.6 * np.hypot(one.gap(metric).stderr, two.gap(metric).stderr)
    assert found.cut_gap(0.05, ("A", "B")).second == pytest.approx(two.cut_gap(0.05, ("A", "B")).value)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["others"] == ["other"]
    said = " ".join(str(found).split())
    assert "errors are those of pairs" in said
    assert "narrower than that of the first score, and chance does not explain it" in said


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_errors_are_those_of_a_paired_bootstrap(clustered: bool) -> None:
    data, rng, drawn = two_scores(1200), np.random.default_rng(1), []
    person = np.arange(1200) // 4
    found = compare(**data, clusters=person if clustered else None, cuts=[0.1, 0.3])
    for _ in range(draws(300, 200)):
        rows = rng.integers(0, 1200, 1200)
        if clustered:
            rows = (4 * rng.integers(0, 300, 300)[:, None] + np.arange(4)).ravel()
        some = {name: column[rows] for name, column in data.items()}
        drawn.append([each.value for each in compare(**some, cuts=[0.1, 0.3]).differences])
    spread, errors = np.std(drawn, axis=0), [each.stderr for each in found.differences]
    np.testing.assert_allclose(errors[:4], spread[:4], rtol=0.15)
    np.testing.assert_allclose(errors[4:], spread[4:], rtol=0.3)
    assert found.clusters == (300 if clustered else None)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_difference_of_two_rows_has_the_error_of_its_placements(clustered: bool) -> None:
    rng = np.random.default_rng(8)
    label, group, score = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000), rng.random(3000)
    other, top = score.copy(), np.flatnonzero(label)[:2]
    other[top] = 2.0
    clusters = np.arange(3000) // 2 if clustered else None
    found = compare(label, score, other, sensitive_features=group, clusters=clusters).auc
    placements = [(each[:, None] > each[None, label == 0]).mean(axis=1) for each in (score, other)]
    shares = [(each[None, label == 1] > each[:, None]).mean(axis=1) for each in (score, other)]
    added = np.where(label == 1, placements[1] - placements[0], shares[1] - shares[0])
    for of in (0, 1):
        own = label == of
        centred = np.where(own, added - added[own].mean(), 0.0) / own.sum()
        units = np.count_nonzero(np.bincount(clusters[own])) if clusters is not None else own.sum()
        centred = centred * np.sqrt(units / (units - 1))
        added = np.where(own, centred, added)
    variance = np.sum((added if clusters is None else np.bincount(clusters, added)) ** 2)
    assert found.value == pytest.approx((placements[1] - placements[0])[label == 1].mean(), rel=1e-9)
    assert found.stderr == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_rows_that_count_as_two_are_two() -> None:
    data = two_scores(300)
    twice = compare(**{name: np.repeat(column, 2) for name, column in data.items()})
    counted = compare(**data, sample_weight=np.full(300, 2))
    for one, two in zip(twice.differences, counted.differences, strict=True):
        assert one.value == pytest.approx(two.value, abs=1e-12)
        assert one.stderr == pytest.approx(two.stderr, rel=2e-3)
        assert one.interval == pytest.approx(two.interval, abs=2e-3 * one.stderr + 1e-12)


def test_before_and_after_a_map_from_tables_alone() -> None:
    people = simulate_population(800)
    repair = XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    by_rows = compare(people.y_true, people.y_score, adjusted, sensitive_features=people.group)
    tables = check_tables(people.y_true, people.y_score, people.group)
    by_tables = compare_map(tables, mapped(tables, repair.maps_))
    for one, two in zip(by_rows.differences, by_tables.differences, strict=True):
        assert (two.value, two.stderr) == pytest.approx((one.value, one.stderr), rel=1e-9)
        assert two.interval == pytest.approx(one.interval, rel=1e-9)


def test_maps_of_other_groups_are_no_comparison() -> None:
    people = simulate_population(300)
    tables = check_tables(people.y_true, people.y_score, people.group)
    one, two = tables
    for wrong in ({one: tables[one]}, {one: tables[one], "z": tables[two]}):
        with pytest.raises(InputError, match="must be of the same two groups or more"):
            compare_map(tables, wrong)
    with pytest.raises(InputError, match="must be of the same two groups or more"):
        compare_map({one: tables[one]}, {one: tables[one]})


def test_of_many_pairs_those_of_the_widest_gaps_are_shown() -> None:
    rng = np.random.default_rng(4)
    label, group = rng.integers(0, 2, 900), rng.choice(list("abcdef"), 900)
    score = rng.normal(size=900) + label
    text = str(compare(label, score, score + 0.1 * rng.normal(size=900), sensitive_features=group))
    shown = sum(line.strip().startswith("xauc gap ") for line in text.splitlines())
    assert 0 < shown < 15
    # The last of the table, which stands right above, is there, too.
    assert text.split("\n... and")[0].splitlines()[-1].strip().startswith("20 % of the list ")
    assert f"\n... and {15 - shown} pairs of groups with narrower xauc gaps\n" in text


def test_several_scores_are_adjusted_for_each_other() -> None:
    data, rng = two_scores(), np.random.default_rng(2)
    others = {f"noise {number}": data["y_score"] + 0.2 * rng.normal(size=900) for number in range(4)}
    found = compare(**data | {"other_score": others})
    raw = [each.pvalue for each in found.differences if each.what == "xauc"]
    adjusted = [each.pvalue_holm for each in found.differences if each.what == "xauc"]
    assert min(adjusted) == pytest.approx(min(4 * min(raw), 1.0))
    assert "p (all)" in str(found)
    assert found.gap("xauc", other="noise 3").other == "noise 3"


def test_two_samples_have_errors_that_add_up() -> None:
    first, second = (simulate_population(700, random_state=seed) for seed in (1, 2))
    saved = [audit(each.y_true, each.y_score, sensitive_features=each.group) for each in (first, second)]
    found = compare_audits(*(json.loads(json.dumps(each.to_dict())) for each in saved))
    gap = found.gap("xauc", ("A", "B"))
    assert gap.stderr == pytest.approx(np.hypot(*(each.gap("xauc").stderr for each in saved)))
    assert gap.value == pytest.approx(saved[1].gap("xauc", ("A", "B")).value - saved[0].gap("xauc", ("A", "B")).value)
    assert "Two different samples" in str(found)
    with pytest.raises(InputError, match="different groups"):
        compare_audits(saved[0].to_dict(), saved[1].to_dict() | {"groups": ["A", "C"]})
    with pytest.raises(InputError, match="that is no audit"):
        compare_audits({}, saved[0].to_dict())


@pytest.mark.parametrize("name", backends.NAMES)
def test_frames_and_files_tell_what_arrays_tell(name: str, tmp_path: Any) -> None:
    data = two_scores(300)
    columns = dict(zip("yabg", data.values(), strict=True))
    found = compare_frame(backends.make(name, columns, tmp_path), score="a", other="b", label="y", group="g")
    for one, two in zip(found.differences, compare(**data).differences, strict=True):
        assert (one.value, one.stderr) == pytest.approx((two.value, two.stderr), rel=1e-9)


def test_wrong_scores_are_told() -> None:
    data = two_scores(300)
    with pytest.raises(InputError, match=r"other_score 'other' must have one value per row; got 299 for 300 rows"):
        compare(**data | {"other_score": data["other_score"][1:]})
    with pytest.raises(InputError, match="at least one score"):
        compare(**data | {"other_score": {}})
    with pytest.raises(InputError, match="no difference in 'xauc' for pair \\('A', 'C'\\)"):
        compare(**data).gap("xauc", ("A", "C"))
    same = compare(**data | {"other_score": data["y_score"]})
    assert np.isnan(same.auc.stderr)
    assert "cannot be said" in str(same)


def test_a_gap_that_turns_round_and_rows_left_out_are_said() -> None:
    data = two_scores()
    found = compare(**data | {"other_score": data["y_score"] + 0.6 * (data["sensitive_features"] == "B")})
    assert "turns round, from +" in str(found)
    group = data["sensitive_features"].astype(object)
    group[:5] = None
    with pytest.warns(match="5 rows without a group are left out"):
        compare(**data | {"sensitive_features": group}, missing_group="leave")
    group[:] = None
    with (
        pytest.warns(match="rows without a group are left out"),
        pytest.raises(InputError, match="needs two groups or more; there is none"),
    ):
        compare(**data | {"sensitive_features": group}, missing_group="leave")


def test_other_scores_in_another_order_are_noticed() -> None:
    data = two_scores(300)
    series = data | {"y_score": pd.Series(data["y_score"]), "other_score": pd.Series(data["other_score"])[::-1]}
    with pytest.warns(match="y_score and other_score have the same pandas index in another order"):
        compare(**series)
    with pytest.warns(match=r"y_score and other_score\['new'\] have the same pandas index in another order"):
        compare(**series | {"other_score": {"new": series["other_score"]}})


def test_a_group_of_too_few_is_marked() -> None:
    data = two_scores(400)
    group = data["sensitive_features"].astype(object)
    positive = np.flatnonzero(data["y_true"])
    group[positive[:4]] = "C"
    group[np.flatnonzero(data["y_true"] == 0)[:30]] = "C"
    found = compare(**data | {"sensitive_features": group})
    assert found.too_few == ("C",)
    assert found.to_dict()["too_few"] == ["C"]
    assert np.isnan(found.gap("xauc", ("A", "C")).pvalue_holm)
    of_all = [each.pvalue for each in found.differences if each.what == "xauc" and "C" not in each.pair]
    # Pairs of C count among the three, though they say nothing themselves.
    assert found.gap("xauc", ("A", "B")).pvalue_holm == pytest.approx(min(3 * of_all[0], 1.0))
    assert "Fewer than 10 positives or negatives: C. Too few to say whether their gaps differ." in " ".join(
        str(found).split()
    )


def test_saved_audits_have_the_cuts_that_both_report() -> None:
    first, second = (simulate_population(700, random_state=seed) for seed in (1, 2))
    both = []
    for people, cuts in ((first, [0.05, 30, Threshold(0.5)]), (second, [30, Threshold(0.5), 0.1, Threshold(0.25)])):
        found = audit(people.y_true, people.y_score, sensitive_features=people.group, cuts=cuts)
        both.append(found)
    found = compare_audits(*(each.to_dict() for each in both))
    assert [each.at for each in found.differences if each.what == "cut"] == ["30 places", "score from 0.5"]
    for cut in (30, Threshold(0.5)):
        one, two = (each.cut_gap(cut, ("A", "B")) for each in both)
        difference = found.cut_gap(cut, ("A", "B"))
        assert difference.value == pytest.approx(two.value - one.value)
        assert difference.stderr == pytest.approx(np.hypot(one.stderr, two.stderr))
    few = compare_audits(both[0].to_dict(), both[1].to_dict() | {"too_few": ["B"]})
    assert few.too_few == ("B",)
    assert "too few positives or negatives of B to say" in str(few)
