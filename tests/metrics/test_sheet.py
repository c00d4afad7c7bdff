"""The tables of an audit: their columns, formats, net benefit, distribution of scores, and small counts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xorder
from xorder._parameters import TABLES
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics._sheet import _TABLES


def people(n: int = 600, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    risk = rng.normal(-1, 1.2, size=n)
    label = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)
    return label, 1 / (1 + np.exp(-(risk + 0.5 * rng.normal(size=n)))), group


def audited(**options: Any) -> xorder.Audit:
    label, score, group = people()
    return xorder.audit(label, score, sensitive_features=group, **options)


@pytest.fixture(scope="module")
def repair() -> xorder.XOrder:
    label, score, group = people()
    return xorder.XOrder(do_no_harm=False, max_gap=0.2).fit(score, label, sensitive_features=group)


def test_the_command_line_knows_all_tables() -> None:
    assert tuple(_TABLES) == TABLES


class TestFormats:
    @pytest.mark.parametrize("what", TABLES)
    def test_all_say_the_same(self, what: str, repair: xorder.XOrder) -> None:
        table = audited().table(what, repair=repair)
        assert table.rows
        assert all(list(row) == table.columns for row in table.rows)
        told = json.loads(json.dumps(table.to_dict(), allow_nan=False))
        assert (told["table"], told["version"], told["rows"]) == (what, 1, table.rows)
        read = list(csv.DictReader(io.StringIO(table.to_csv())))
        for row, texts in zip(table.rows, read, strict=True):
            for name, value in row.items():
                same = texts[name] == "" if value is None else texts[name] == str(value)
                assert same, (name, value, texts[name])
        lines = table.to_markdown().splitlines()
        assert [cell.strip() for cell in lines[0].strip("|").split("|")] == table.columns
        assert len({line.count("|") for line in lines[: len(table.rows) + 2]}) == 1

    @pytest.mark.parametrize("what", TABLES)
    def test_frames_have_the_same_numbers(self, what: str, repair: xorder.XOrder) -> None:
        audit = audited()
        table = audit.table(what, repair=repair)
        if table.notes:
            with pytest.warns(XorderWarning):
                frame = audit.to_frame(what, repair=repair)
        else:
            frame = audit.to_frame(what, repair=repair)
        assert list(frame.columns) == table.columns
        for name in table.columns:
            for value, told in zip([row[name] for row in table.rows], frame[name], strict=True):
                assert told == value or (value is None and np.isnan(told))

    def test_whole_numbers_have_no_decimals(self) -> None:
        lines = audited().table("groups").to_markdown().splitlines()
        first = dict(zip(*([cell.strip() for cell in lines[at].strip("|").split("|")] for at in (0, 2)), strict=True))
        row = audited().table("groups").rows[0]
        assert first["positives"] == str(int(row["positives"]))
        assert first["auc"] == f"{row['auc']:.4f}"

    def test_a_pipe_in_a_name_does_not_end_a_cell(self) -> None:
        label, score, group = people()
        found = xorder.audit(label, score, sensitive_features=np.where(group == "a", "x|y", "two\nlines"))
        lines = found.table("groups").to_markdown().splitlines()
        assert len(lines) == 5
        assert lines[3].startswith("| x\\|y")

    def test_moves_need_a_repair(self) -> None:
        with pytest.raises(InputError, match="needs a repair"):
            audited().table("moves")

    def test_what_no_repair_is(self) -> None:
        with pytest.raises(InputError, match="must be a fitted repair"):
            audited().table("cuts", repair="map.json")

    def test_a_group_that_the_repair_has_not_seen(self, repair: xorder.XOrder) -> None:
        label, score, group = people()
        other = xorder.audit(label, score, sensitive_features=np.where(group == "a", "z", group))
        with pytest.raises(InputError, match="group 'z' was not seen in fit"):
            other.table("cuts", repair=repair)

    @pytest.mark.parametrize("turned", [lambda score: score < 0.2, lambda score: score > 0.5])
    def test_a_repair_that_changes_the_order_within_a_group(self, turned: Callable[[Any], Any]) -> None:
        class Turning:
            def transform(self, y_score: NDArray[Any], sensitive_features: Any) -> NDArray[Any]:
                here = turned(y_score)
                return np.where(here, np.min(y_score[here]) + np.max(y_score[here]) - y_score, y_score)

        with pytest.raises(InputError, match="changes the order within group 'a'"):
            audited().table("cuts", repair=Turning())

    def test_a_reference_that_is_no_group(self) -> None:
        with pytest.raises(InputError, match="reference must be one of 'a', 'b', 'c'; got 'd'"):
            audited().table("cuts", reference="d")


class TestNetBenefit:
    def test_by_hand(self) -> None:
        label, score, group = people()
        rows = audited().table("net_benefit", thresholds=[0.1, 0.3]).rows
        assert len(rows) == 8
        for row in rows:
            own = group == row["group"] if row["group"] in "abc" else np.full(label.size, True)
            chosen = score[own] >= row["threshold"]
            odds = row["threshold"] / (1 - row["threshold"])
            y = label[own]
            benefit = (np.sum(chosen & (y == 1)) - odds * np.sum(chosen & (y == 0))) / y.size
            assert row["net_benefit"] == pytest.approx(benefit, abs=1e-12)
            assert row["treat_all"] == pytest.approx(y.mean() - odds * (1 - y.mean()), abs=1e-12)
            each = chosen * (y - odds * (1 - y))
            assert row["high"] - row["net_benefit"] == pytest.approx(1.96 * each.std() / np.sqrt(y.size), rel=1e-3)
            over = each - (y - odds * (1 - y))
            half = 1.96 * over.std() / np.sqrt(y.size)
            assert row["over_treat_all_high"] - row["over_treat_all"] == pytest.approx(half, rel=1e-3)

    def test_after_a_repair(self, repair: xorder.XOrder) -> None:
        label, score, group = people()
        moved = repair.transform(score, sensitive_features=group)
        alone = xorder.audit(label, moved, sensitive_features=group).table("net_benefit", thresholds=[0.2]).rows
        assert not {"after", "change"} & {*alone[0]}
        for row, other in zip(audited().table("net_benefit", thresholds=[0.2], repair=repair).rows, alone, strict=True):
            assert row["after"] == pytest.approx(other["net_benefit"], abs=1e-12)
            own = group == row["group"] if row["group"] in "abc" else np.full(label.size, True)
            worth = np.where(label == 1, 1, -0.25) * ((moved >= 0.2).astype(int) - (score >= 0.2))
            assert row["change"] == pytest.approx(worth[own].mean(), abs=1e-12)
            half = 1.96 * worth[own].std() / np.sqrt(own.sum())
            assert row["change_high"] - row["change"] == pytest.approx(half, rel=1e-3, abs=1e-12)

    def test_clusters_of_one_row_spend_one_on_the_mean(self) -> None:
        label, score, group = (each[:40] for each in people())
        told = [
            xorder.audit(label, score, sensitive_features=group, clusters=clusters).table("net_benefit").rows
            for clusters in (None, np.arange(40))
        ]
        for row, other in zip(*told, strict=True):
            half, wider = (each["high"] - each["net_benefit"] for each in (row, other))
            assert wider == pytest.approx(half * np.sqrt(40 / 39), rel=1e-9)

    def test_thresholds_beyond_the_scores_are_a_note(self) -> None:
        table = audited().table("net_benefit", thresholds=[0.2, 0.9999])
        assert any("0.9999" in note and "nobody" in note for note in table.notes)
        assert [row["net_benefit"] for row in table.rows[4:]] == [0, 0, 0, 0]

    @pytest.mark.parametrize("thresholds", [[0], [1.5], [], ["a"], [20]])
    def test_thresholds_that_are_none(self, thresholds: list[Any]) -> None:
        with pytest.raises(InputError, match="thresholds must be probabilities between 0 and 1"):
            audited().table("net_benefit", thresholds=thresholds)


class TestScores:
    def test_a_class_that_a_group_lacks_has_no_scores(self) -> None:
        label, score, group = [1, 0, 1, 0, 0, 0], [0.8, 0.3, 0.7, 0.4, 0.95, 0.05], ["a", "a", "b", "b", "c", "c"]
        with pytest.warns(XorderWarning):
            found = xorder.audit(label, score, sensitive_features=group).table("scores").rows
        rows = {(row["group"], row["outcome"]): row for row in found}
        assert rows["c", "positive"]["min"] is rows["c", "positive"]["median"] is None
        everyone = rows["all groups", "positive"]
        assert (everyone["min"], everyone["median"], everyone["max"]) == (0.7, 0.7, 0.8)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_by_hand(self, weighted: bool) -> None:
        label, score, group = people()
        weight = np.random.default_rng(2).integers(1, 4, label.size) if weighted else np.ones(label.size, dtype=int)
        found = xorder.audit(label, score, sensitive_features=group, sample_weight=weight if weighted else None)
        for row in found.table("scores").rows:
            own = group == row["group"] if row["group"] in "abc" else np.full(label.size, True)
            own &= {"positive": label == 1, "negative": label == 0, "all": label >= 0}[row["outcome"]]
            values = np.repeat(score[own], weight[own])
            assert row["rows"] == values.size
            assert row["mean"] == pytest.approx(values.mean())
            assert row["sd"] == pytest.approx(values.std())
            assert (row["min"], row["max"]) == (values.min(), values.max())
            for name, share in (("p5", 0.05), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p95", 0.95)):
                assert row[name] == np.quantile(values, share, method="inverted_cdf")
            of_reference = (group == "a") & {"positive": label == 1, "negative": label == 0}.get(
                row["outcome"], label >= 0
            )
            others = np.repeat(score[of_reference], weight[of_reference])
            standard = np.sqrt((values.var() + others.var()) / 2)
            assert row["standardised_difference"] == pytest.approx((values.mean() - others.mean()) / standard)


def with_few(*, positives: int = 5) -> xorder.Audit:
    """Groups a and b of many rows, b the smaller, and c with few positives."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], [300, 200, 60])
    label = np.concatenate([rng.random(500) < 0.4, np.arange(60) < positives]).astype(int)
    return xorder.audit(label, rng.random(560), sensitive_features=group, cuts=[0.2])


class TestSuppressed:
    def test_one_small_group_takes_the_next_with_it(self) -> None:
        rows = with_few().table("groups", suppress=11).rows
        shown = {row["group"]: row["positives"] is not None for row in rows}
        assert shown == {"a": True, "b": False, "c": False, "all groups": True}
        assert all(value is None for value in list(rows[1].values())[1:-1])

    def test_a_count_of_the_limit_is_shown_and_none_is(self) -> None:
        assert all(row["positives"] is not None for row in with_few(positives=11).table("groups", suppress=11).rows)
        assert all(row["auc"] is None for row in with_few(positives=10).table("groups", suppress=11).rows[1:3])

    def test_no_small_number_can_be_found_in_any_table(self, repair: xorder.XOrder) -> None:
        audit = with_few()
        for what in TABLES:
            table = audit.table(what, suppress=11, repair=repair)
            for row in table.rows:
                # Who moves is few of a, too, so that b need not be hidden with c.
                few = {"c"} if what == "moves" else {"b", "c"}
                hidden = few & {str(value) for value in row.values()}
                numbers = {
                    name: value
                    for name, value in row.items()
                    if not isinstance(value, str) and name not in ("confidence", "share", "threshold")
                }
                if hidden - {row.get("reference")}:
                    assert set(numbers.values()) == {None}, (what, row)
                counts = ("count", "of", "positives", "negatives", "rows", "selected", "enters", "leaves")
                for name in (*counts, *(["after"] if what == "moves" else [])):
                    assert not 0 < (numbers.get(name) or 0) < 11, (what, row)

    def test_small_cells_of_a_cut_hide_all_rates_of_the_group(self) -> None:
        rng = np.random.default_rng(1)
        label = (rng.random(900) < 0.3).astype(int)
        audit = xorder.audit(
            label, rng.random(900), sensitive_features=np.repeat(["a", "b", "c"], 300), cuts=[0.05, 0.4]
        )
        rows = audit.table("cuts", suppress=11).rows
        few = [row for row in rows if row["at"] == "5 %" and row["group"] != "all groups"]
        many = [row for row in rows if row["at"] == "40 %"]
        assert any(row["value"] is None for row in few)
        assert all(row["value"] is not None for row in many)
        by_group: dict[str, set[bool]] = {}
        for row in few:
            by_group.setdefault(row["group"], set()).add(row["value"] is None)
        assert all(len(each) == 1 for each in by_group.values())
        assert sum(True in each for each in by_group.values()) >= 2

    def test_two_digits_and_nobodys_own_score(self) -> None:
        rows = audited().table("scores", suppress=11).rows
        assert all(row["min"] is row["max"] is None for row in rows)
        assert all(row["mean"] == round(row["mean"], 2) for row in rows)
        assert any(row["mean"] != round(row["mean"], 2) for row in audited().table("scores").rows)

    @pytest.mark.parametrize("least", [0, -3, 2.5, "11"])
    def test_what_is_no_count(self, least: Any) -> None:
        with pytest.raises(InputError, match="suppress"):
            audited().table("groups", suppress=least)
