"""Errors that allow for clusters: those of rows where each is alone, of a bootstrap by cluster, and honest coverage."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from support import backends
from support.effort import draws
from xorder import Threshold, XOrder, audit, audit_frame, expected_gap
from xorder.engines import tables_of
from xorder.exceptions import InputError
from xorder.metrics import Audit

METRICS = ("xauc", "prf", "parity")


def people(rng: np.random.Generator, persons: int, rows: int, groups: int = 2) -> dict[str, Any]:
    """Rows of persons whose scores have much in common; the group is the person's."""
    person = np.repeat(np.arange(persons), rows)
    group = np.array(list("abc"))[rng.integers(0, groups, persons)][person]
    label = (rng.normal(size=persons)[person] + 0.3 * rng.normal(size=person.size) > 0.5).astype(int)
    score = label + rng.normal(size=persons)[person] + 0.5 * rng.normal(size=person.size) - 0.3 * (group == "b")
    return {"y_true": label, "y_score": score, "sensitive_features": group, "clusters": person}


def plain(data: dict[str, Any]) -> dict[str, Any]:
    return {name: column for name, column in data.items() if name != "clusters"}


def stderrs(found: Audit) -> list[float]:
    return [found.auc_stderr, *(gap.stderr for gap in found.gaps), *(found.cut_gap(at).stderr for at in (0.1, 0.5))]


# The last are few enough to be kept as they are.
@pytest.mark.parametrize(("groups", "persons"), [(2, 400), (3, 400), (3, 36)])
def test_clusters_of_one_row_are_rows(groups: int, persons: int) -> None:
    data = people(np.random.default_rng(persons), persons, 1, groups)
    alone, rows = audit(**data), audit(**plain(data))
    assert alone.clusters == persons
    assert rows.clusters is None
    np.testing.assert_allclose(stderrs(alone)[:-2], stderrs(rows)[:-2], rtol=1e-9)
    if persons == 400:
        np.testing.assert_allclose(stderrs(alone)[-2:], stderrs(rows)[-2:], rtol=0.1)
    values = [[found.auc, *(gap.value for gap in found.gaps)] for found in (alone, rows)]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("name", "limit"), [("_MOST_WORK", 10.0), ("_MOST_KEPT", 10.0)])
@pytest.mark.parametrize("groups", [2, 3])
def test_more_than_memory_or_time_allow_is_refused(
    monkeypatch: pytest.MonkeyPatch, groups: int, name: str, limit: float
) -> None:
    data = people(np.random.default_rng(1), 100, 3, groups)
    monkeypatch.setattr(f"xorder.metrics._units.{name}", limit)
    with pytest.raises(InputError, match=f"{groups} groups with 100 clusters are too many"):
        audit(**data)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_blocks_of_any_size_give_the_same_errors(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    rng = np.random.default_rng(8)
    data = people(rng, 40, 5, 3)
    # Ties, in any order of the rows, and weights.
    order = rng.permutation(200)
    data = {name: column[order] for name, column in data.items()} | {"sample_weight": rng.choice([0, 0.5, 2], 200)}
    data["y_score"] = np.round(data["y_score"], 1)
    both = [data, data | {"clusters": np.array([f"person number {person}" for person in data["clusters"]])}]
    expected = stderrs(audit(**data, weights_are="sampling"))
    monkeypatch.setattr("xorder.metrics._units.STEP", size)
    monkeypatch.setattr("xorder._ranking._STEP", size)
    for each in both:
        np.testing.assert_allclose(stderrs(audit(**each, weights_are="sampling")), expected, rtol=1e-9)


def test_a_row_that_counts_as_three_is_a_cluster_of_three() -> None:
    data = people(np.random.default_rng(2), 300, 1)
    three = {name: np.repeat(column, 3) for name, column in data.items()}
    weighted = audit(**plain(data), sample_weight=np.full(300, 3.0), weights_are="sampling")
    np.testing.assert_allclose(stderrs(audit(**three))[:-2], stderrs(weighted)[:-2], rtol=1e-9)


@pytest.mark.slow
def test_errors_are_those_of_a_bootstrap_by_cluster() -> None:
    rng = np.random.default_rng(3)
    data = people(rng, 250, 4)
    # Some persons change their group.
    data["sensitive_features"] = np.where(rng.random(1000) < 0.05, "b", data["sensitive_features"])
    found, drawn = audit(**data), []
    for _ in range(draws(300, 200)):
        rows = (4 * rng.integers(0, 250, 250)[:, None] + np.arange(4)).ravel()
        again = audit(**{name: column[rows] for name, column in plain(data).items()})
        gaps = [again.gap(metric, ("a", "b")).value for metric in METRICS]
        drawn.append([again.auc, *gaps, again.xauc["a", "b"], again.cut_gap(0.2, ("a", "b")).value])
    spread = np.std(drawn, axis=0)
    low, high = found.xauc_interval["a", "b"]
    errors = [found.auc_stderr, *(found.gap(metric, ("a", "b")).stderr for metric in METRICS)]
    errors += [(high - low) / 2 / 1.97, found.cut_gap(0.2, ("a", "b")).stderr]
    np.testing.assert_allclose(errors, spread, rtol=0.15)


@cache
def true_gap() -> float:
    return audit(**plain(people(np.random.default_rng(99), 200_000, 2)), cuts=()).gap("xauc", ("a", "b")).value


@pytest.mark.slow
@pytest.mark.parametrize(("persons", "rows"), [(400, 1), (250, 5), (120, 20)])
def test_intervals_hold_the_truth_where_those_of_rows_do_not(persons: int, rows: int) -> None:
    truth = true_gap()
    rng, held = np.random.default_rng(4), []
    for _ in range(200):
        data = people(rng, persons, rows)
        both = []
        for found in (audit(**data, cuts=()), audit(**plain(data), cuts=())):
            low, high = found.gap("xauc", ("a", "b")).interval
            both.append(low <= truth <= high)
        held.append(both)
    with_clusters, without = np.mean(held, axis=0)
    assert 0.9 <= with_clusters <= 0.99
    assert without > 0.9 if rows == 1 else without < 0.85


def test_specificity_and_thresholds_know_clusters_and_the_band_does_not() -> None:
    data = people(np.random.default_rng(5), 200, 5)
    found, rows = audit(**data), audit(**plain(data))
    for cut, of in ((Threshold(0.5), "sensitivity"), (0.3, "specificity"), (100, "selected")):
        one, other = found.cut_gap(cut, of=of), rows.cut_gap(cut, of=of)
        assert one.value == other.value
        assert one.stderr > 1.2 * other.stderr
    assert np.isnan(found.cut_gap().interval).all()
    assert np.isfinite(rows.cut_gap().interval).all()
    assert "Errors allow for 200 clusters of rows." in str(found)
    assert found.to_dict()["clusters"] == 200


@pytest.mark.parametrize("name", backends.NAMES)
def test_frames_and_files_tell_what_arrays_tell(name: str, tmp_path: Any) -> None:
    data = people(np.random.default_rng(6), 60, 4)
    columns = {"s": data["y_score"], "y": data["y_true"], "g": data["sensitive_features"]}
    columns |= {"p": [f"person {number}" for number in data["clusters"]]}
    frame = backends.make(name, columns, tmp_path)
    found = audit_frame(frame, score="s", label="y", group="g", cluster="p")
    np.testing.assert_allclose(stderrs(found), stderrs(audit(**data)), rtol=1e-9)
    assert found.clusters == 60


def test_every_row_needs_a_cluster(tmp_path: Any) -> None:
    data = people(np.random.default_rng(7), 30, 2)
    with pytest.raises(InputError, match=r"clusters must have one value per row; got shape \(59,\) for 60 rows"):
        audit(**data | {"clusters": data["clusters"][1:]})
    names = [None, *map(str, data["clusters"][1:])]
    with pytest.raises(InputError, match="for each row; 1 row has none, row 0"):
        audit(**data | {"clusters": names})
    columns = {"s": data["y_score"], "y": data["y_true"], "g": data["sensitive_features"], "p": ["", *names[1:]]}
    blank = columns | {"p": ["a", "", " ", *names[3:]]}
    for frame, large in ((backends.make("csv", blank, tmp_path), 10**9), (backends.make("csv", blank, tmp_path), 0)):
        with pytest.raises(
            InputError, match=r"column 'p' must name a cluster .* 2 rows have none, the first in line 3\."
        ):
            tables_of(frame, score="s", label="y", group="g", cluster="p", large=large)


@pytest.mark.parametrize("name", backends.NAMES)
def test_a_frame_without_a_cluster_is_refused(name: str, tmp_path: Any) -> None:
    data = people(np.random.default_rng(7), 30, 2)
    columns = {"s": data["y_score"], "y": data["y_true"], "g": data["sensitive_features"]}
    columns |= {"p": [None, *map(str, data["clusters"][1:])]}
    with pytest.raises(InputError, match="column 'p' must name a cluster for each row; 1 row has none"):
        audit_frame(backends.make(name, columns, tmp_path), score="s", label="y", group="g", cluster="p")


def test_clusters_in_another_order_are_noticed() -> None:
    data = people(np.random.default_rng(7), 300, 2)
    data["y_score"] = data["y_score"] - 2 * (data["sensitive_features"] == "b")
    label, clusters = pd.Series(data["y_true"]), pd.Series(data["clusters"])[::-1]
    with pytest.warns(match=r"y_true and clusters have the same pandas index in another order"):
        audit(**data | {"y_true": label, "clusters": clusters})
    with pytest.warns(match=r"y_true and clusters have the same pandas index in another order"):
        XOrder().fit(data["y_score"], label, sensitive_features=data["sensitive_features"], clusters=clusters)


def test_a_repair_keeps_less_of_what_clusters_make_uncertain() -> None:
    data = people(np.random.default_rng(8), 120, 10)
    data["y_score"] = data["y_score"] - (data["sensitive_features"] == "b")
    score, label, rest = data["y_score"], data["y_true"], {"sensitive_features": data["sensitive_features"]}
    alone = XOrder().fit(score, label, **rest).kept_share_
    together = XOrder().fit(score, label, **rest, clusters=data["clusters"]).kept_share_
    assert all(together[group] < share for group, share in alone.items())
    expected = expected_gap(XOrder(), score, label, **rest, clusters=data["clusters"])
    assert expected.after.clusters == 120
    assert "allow for 120 clusters of rows" in " ".join(str(expected).split())
    with pytest.raises(InputError, match="clusters are not dealt yet"):
        expected_gap(XOrder(method="frontier"), score, label, **rest, clusters=data["clusters"])


def test_clusters_that_do_not_vary_are_not_known() -> None:
    data = people(np.random.default_rng(9), 100, 1)
    copies = {name: np.tile(column, 4) for name, column in data.items()} | {"clusters": np.repeat(np.arange(4), 100)}
    with pytest.warns(match="placements do not vary"):
        found = audit(**copies)
    assert np.isnan([found.auc_stderr, found.gap("xauc").stderr]).all()
    with pytest.warns(match="placements do not vary"):
        one = audit(**data | {"clusters": np.zeros(100)})
    assert np.isnan([*one.auc_interval, *one.gap("xauc").interval, *one.cut_gap(0.1).interval]).all()
    assert one.against(0.01, tolerance_cut=0.01) == "cannot tell"


def test_a_cut_that_finds_nobody_is_not_certain() -> None:
    data = people(np.random.default_rng(10), 40, 5)
    low, high = audit(**data).cut_gap(Threshold(100.0)).interval
    assert low < 0 < high


def test_merged_groups_keep_their_clusters() -> None:
    data = people(np.random.default_rng(11), 300, 2)
    score, label, group = (
        data["y_score"] - (data["sensitive_features"] == "b"),
        data["y_true"],
        data["sensitive_features"],
    )
    rare = np.where(np.arange(600) < 24, "c", group)
    with pytest.warns(match="counted with the reference"):
        merged = XOrder(small_groups="merge", min_group_size=100, reference="a").fit(
            score, label, sensitive_features=rare, clusters=data["clusters"]
        )
    same = XOrder(reference="a").fit(
        score, label, sensitive_features=np.where(rare == "c", "a", rare), clusters=data["clusters"]
    )
    assert merged.kept_share_ == pytest.approx(same.kept_share_, rel=1e-6)
