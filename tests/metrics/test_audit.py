"""The audit: every number with its uncertainty, for any columns, and a warning that names what cannot be told."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from support import oracles
from support.drawn_rows import rows
from support.real_data import data_file
from xorder import Audit, ScoreTable, audit
from xorder.exceptions import InputError, MissingExtraError, XorderWarning
from xorder.metrics import audit_tables


def sample(groups: list[Any], size: int = 400, seed: int = 6) -> dict[str, Any]:
    """Draw rows, as keywords of audit, in which the score ranks later groups lower."""
    rng = np.random.default_rng(seed)
    y, place = rng.integers(0, 2, size), rng.integers(0, len(groups), size)
    s = np.round(rng.normal(y - 0.5 * place), 1)
    labels = np.empty(len(groups), dtype=object)
    labels[:] = groups
    return {"y_true": y, "y_score": s, "sensitive_features": labels[place]}


@pytest.mark.slow
@given(rows())
def test_all_numbers_of_an_audit(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        found = audit(data.y, data.s, **data.options)
    w = np.ones(len(data.y)) if data.w is None else data.w
    assert found.groups == tuple(data.groups)
    assert found.auc == pytest.approx(oracles.auc(data.y, data.s, w), abs=1e-12, nan_ok=True)
    for group in data.groups:
        assert found.positives[group] == pytest.approx(w[(data.g == group) & (data.y == 1)].sum())
        assert found.negatives[group] == pytest.approx(w[(data.g == group) & (data.y == 0)].sum())
        prf = oracles.prf(data.y, data.s, data.g, group, w)
        assert found.prf[group] == pytest.approx(prf, abs=1e-12, nan_ok=True)
        for other in data.groups:
            xauc = oracles.xauc(data.y, data.s, data.g, group, other, w)
            assert found.xauc[group, other] == pytest.approx(xauc, abs=1e-12, nan_ok=True)
    size = len(data.groups)
    assert len({(gap.metric, gap.pair) for gap in found.gaps}) == len(found.gaps) == 3 * size * (size - 1) // 2
    for gap in found.gaps:
        expected = oracles.gap(gap.metric, data.y, data.s, data.g, *gap.pair, w)
        assert gap.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
        low, high = gap.interval
        assert np.isnan([low, high, gap.stderr, gap.pvalue]).sum() in (0, 4)
        if not np.isnan(low):
            assert low < gap.value < high
            assert gap.stderr > 0
            assert 0 <= gap.pvalue <= 1
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)


def test_gaps_are_signed_and_intervals_follow_the_confidence():
    data = sample(["a", "b"])
    found = audit(**data)
    assert found.gap("xauc").value > 0 < found.gap("prf").value
    turned = audit(
        data["y_true"], data["y_score"], sensitive_features=np.where(data["sensitive_features"] == "a", 2, 1)
    )
    assert turned.gap("xauc").value == pytest.approx(-found.gap("xauc").value)
    assert turned.gap("xauc").interval[0] == pytest.approx(-found.gap("xauc").interval[1])
    narrow = audit(**data, confidence=0.5)
    for one, two in zip(found.gaps, narrow.gaps, strict=True):
        assert (one.value, one.stderr, one.pvalue) == (two.value, two.stderr, two.pvalue)
        # About 1.96 against 0.674 standard errors.
        assert one.interval[1] - one.value == pytest.approx(1.959964 * one.stderr, rel=0.1)
        assert two.interval[1] - two.value == pytest.approx(0.6744898 * one.stderr, rel=0.05)
        assert one.interval_at(0.5) == pytest.approx(two.interval)
        assert one.reversed().interval_at(0.5) == pytest.approx((-two.interval[1], -two.interval[0]))
    assert found.auc_interval == pytest.approx(
        (found.auc - 1.959964 * found.auc_stderr, found.auc + 1.959964 * found.auc_stderr), rel=0.01
    )


class TestGap:
    @pytest.fixture
    def found(self) -> Audit:
        return audit(**sample(["a", "b", "c"]))

    def test_by_pair(self, found):
        gap = found.gap("prf", ("b", "c"))
        assert (gap.metric, gap.pair) == ("prf", ("b", "c"))
        assert found.gap("prf", ["b", "c"]) is gap

    def test_without_a_pair_the_widest(self, found):
        assert found.gap("xauc").pair == ("a", "c")
        assert abs(found.gap("xauc").value) == max(abs(g.value) for g in found.gaps if g.metric == "xauc")

    @pytest.mark.parametrize(("metric", "pair"), [("auc", None), ("xauc", ("a", "z")), ("xauc", ("a",))])
    def test_unknown(self, found, metric, pair):
        with pytest.raises(InputError, match=f"no gap for metric '{metric}' and pair .*; metrics: xauc, prf, parity"):
            found.gap(metric, pair)

    def test_nan_is_never_the_widest(self):
        data = sample(["a", "b"], size=60)
        data = {
            name: np.append(column, [last]) for (name, column), last in zip(data.items(), (1, 0.0, "c"), strict=True)
        }
        with pytest.warns(XorderWarning, match="'c'"):
            found = audit(**data)
        assert found.gap("xauc").pair == ("a", "b")


# What cannot be told ---------------------------------------------------------------------------------------------


def warned(**data: Any) -> tuple[Audit, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = audit(**data)
    assert {warning.category for warning in caught} <= {XorderWarning}
    assert {warning.filename for warning in caught} <= {__file__}
    return found, [str(warning.message) for warning in caught]


def with_rows(labels: list[int], group: str = "few") -> dict[str, Any]:
    """Two good groups, and one more of the rows told."""
    data = sample(["a", "b"], size=100)
    scores = np.linspace(-1, 1, len(labels))
    extra = (labels, scores, [group] * len(labels))
    return {name: np.append(column, more) for (name, column), more in zip(data.items(), extra, strict=True)}


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, 1, 1], r"group 'few' \(positives 3, negatives 0\) has no negatives"),
        ([0, 0, 0], r"group 'few' \(positives 0, negatives 3\) has no positives"),
        ([1], r"group 'few' \(positives 1, negatives 0\) has no negatives"),
        ([0], r"group 'few' \(positives 0, negatives 1\) has no positives"),
    ],
)
def test_a_group_of_one_class_is_nan_with_its_counts_and_a_warning(labels, words):
    with pytest.warns(XorderWarning, match=words):
        found = audit(**with_rows(labels))
    assert found.groups == ("a", "b", "few")
    assert found.positives["few"] == sum(labels)
    assert found.negatives["few"] == len(labels) - sum(labels)
    for other in "ab":
        gap = found.gap("xauc", (other, "few"))
        assert np.isnan([gap.value, gap.stderr, *gap.interval, gap.pvalue]).all()
        assert np.isfinite(found.gap("parity", (other, "few")).value)
    assert np.isnan(found.prf["few"]) == (sum(labels) == 0)
    # the rest of the audit is not affected
    assert np.isfinite([found.auc, found.auc_stderr, found.prf["a"], found.gap("xauc", ("a", "b")).stderr]).all()
    assert "few" in str(found)
    assert "not known" in str(found)
    assert "nan" not in str(found)
    assert found.too_few == ("few",)


@pytest.mark.parametrize("labels", [[1, 0], [1, 0, 0], [1, 1, 0]])
def test_a_single_row_of_a_class_has_values_but_no_errors(labels):
    found, messages = warned(**with_rows(labels))
    counts = rf"group 'few' (positives {sum(labels)}, negatives {len(labels) - sum(labels)})"
    assert messages == [f"{counts} has a single row of a class: standard errors of its gaps are nan."]
    gap = found.gap("xauc", ("a", "few"))
    assert np.isfinite(gap.value)
    assert np.isnan([gap.stderr, *gap.interval, gap.pvalue]).all()
    assert np.isfinite(found.gap("xauc", ("a", "b")).stderr)
    assert np.isfinite(found.gap("prf", ("a", "b")).stderr)


def test_every_group_of_a_single_row_is_named():
    found, messages = warned(y_true=[1, 0, 1], y_score=[3, 2, 1], sensitive_features=["x", "y", "z"])
    assert [message.split("'")[1] for message in messages] == ["x", "y", "z"]
    assert found.auc == 0.5
    assert np.isnan(found.auc_stderr)
    assert all(np.isnan(gap.value) for gap in found.gaps if gap.metric == "xauc")
    assert all(np.isnan(gap.stderr) for gap in found.gaps)
    assert found.gap("prf", ("x", "z")).value == 1.0
    assert found.to_dict()["xauc"][0] == [None, 1.0, None]


def test_a_group_whose_weights_are_all_zero_stays_in_the_audit():
    data = sample(["a", "b", "c"], size=90)
    weight = np.where(data["sensitive_features"] == "c", 0, 1)
    found, messages = warned(**data, sample_weight=weight)
    assert len(messages) == 1
    assert "group 'c' (positives 0, negatives 0)" in messages[0]
    assert found.groups == ("a", "b", "c")
    assert np.isnan(found.gap("parity", ("a", "c")).value)
    kept = weight == 1
    alone = audit(**{name: column[kept] for name, column in data.items()})
    assert found.gap("prf", ("a", "b")).stderr == pytest.approx(alone.gap("prf").stderr, rel=1e-12)


@pytest.mark.parametrize("extra", [[], [1, 0], [1, 1]])
def test_full_separation_is_told_with_its_pair_whatever_else_there_is(extra):
    y, g = [1] * 20 + [0] * 20 + extra, ["a", "b"] * 20 + ["few"] * len(extra)
    s = [*range(40, 0, -1), *[20.5] * len(extra)]
    found, messages = warned(y_true=y, y_score=s, sensitive_features=g)
    gap = found.gap("xauc", ("a", "b"))
    assert gap.value == 0
    assert np.isnan(gap.stderr)
    assert sum("placements do not vary between ('a', 'b')" in message for message in messages) == 1
    assert len(messages) == 1 + bool(extra)
    if not extra:
        assert "vary too little in this sample to say how certain that is" in unwrapped(found)


def test_weights_that_are_no_counts_are_questioned():
    data = sample(["a", "b"])
    weight = np.random.default_rng(0).uniform(1, 2, 400)
    _, messages = warned(**data, sample_weight=weight)
    assert len(messages) == 1
    assert "sample_weight is not whole" in messages[0]
    assert "weights_are='sampling'" in messages[0]
    assert warned(**data, sample_weight=weight, weights_are="sampling")[1] == []
    assert warned(**data, sample_weight=np.ceil(weight))[1] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 95}, "confidence must lie between 0 and 1; got 95. For 95 % pass 0.95"),
        ({"confidence": 0}, "confidence must lie between 0 and 1"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"confidence": float("nan")}, "confidence must lie between 0 and 1"),
        ({"weights_are": "rows"}, "weights_are must be one of counts, sampling; got 'rows'"),
        ({"sensitive_features": ["a"] * 400}, "compares at least two groups; there is only one: 'a'"),
        ({"sample_weight": -np.ones(400)}, "sample_weight must be finite and not negative"),
        ({"y_score": np.full(400, np.nan)}, "y_score must be finite"),
    ],
)
def test_what_cannot_be_audited(options, words):
    with pytest.raises(InputError, match=words):
        audit(**(sample(["a", "b"]) | options))


# Columns as they come ------------------------------------------------------------------------------------------------

COLUMNS: dict[str, tuple[Callable, Callable, Callable]] = {
    "lists": (list, list, list),
    "numpy": (np.array, np.array, np.array),
    "numpy bool and object": (
        lambda y: np.array(y, dtype=bool), np.array, lambda g: np.array(g, dtype=object),
    ),
    "pandas": (pd.Series, pd.Series, pd.Series),
    "pandas with an index": tuple([lambda column: pd.Series(column, index=range(len(column), 0, -1))] * 3),
    "pandas string": (pd.Series, pd.Series, lambda g: pd.Series(g, dtype="string")),
    "pandas categorical": (
        lambda y: pd.Series(y, dtype="category"), pd.Series,
        lambda g: pd.Series(g, dtype=pd.CategoricalDtype(["z", "two", "one", "three"])),
    ),
    "pandas nullable": (
        lambda y: pd.Series(y, dtype="Int64"), lambda s: pd.Series(s, dtype="Float64"), pd.Series,
    ),
    "pandas boolean": (lambda y: pd.Series(y, dtype="boolean"), pd.Series, pd.Series),
    "pandas float32": (pd.Series, lambda s: pd.Series(s, dtype="float32"), pd.Series),
    "polars": (pl.Series, pl.Series, pl.Series),
    "polars categorical": (
        lambda y: pl.Series([v == 1 for v in y]), lambda s: pl.Series(s, dtype=pl.Float32),
        lambda g: pl.Series(g, dtype=pl.Categorical),
    ),
    "polars enum": (pl.Series, pl.Series, lambda g: pl.Series(g, dtype=pl.Enum(["two", "three", "one"]))),
    "arrow": (pa.array, pa.array, pa.array),
    "arrow chunks": tuple([lambda column: pa.chunked_array([column[:7], column[7:]])] * 3),
    "arrow dictionary": (
        lambda y: pa.array([v == 1 for v in y]), lambda s: pa.array(s, pa.float32()),
        lambda g: pa.array(g).dictionary_encode(),
    ),
    "arrow chunked dictionary": (
        pa.array, pa.array,
        lambda g: pa.chunked_array([pa.array(g[:7]).dictionary_encode(), pa.array(g[7:]).dictionary_encode()]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_are_taken_as_they_are(kind):
    data = sample(["one", "two", "three"])
    # halves are the same in float32
    y, s = data["y_true"].tolist(), (np.round(data["y_score"] * 2) / 2).tolist()
    g = data["sensitive_features"].tolist()
    w = [1.0 + row % 3 for row in range(len(y))]
    labels, scores, groups = COLUMNS[kind]
    found = audit(labels(y), scores(s), sensitive_features=groups(g), sample_weight=scores(w))
    assert found.groups == ("one", "three", "two")
    assert all(type(group) is str for group in found.groups)
    assert found.to_dict() == audit(y, s, sensitive_features=g, sample_weight=w).to_dict()


def unwrapped(found):
    return " ".join(str(found).split())


# Reading and storing ---------------------------------------------------------------------------------------------


def test_the_text_holds_the_numbers():
    found = audit(**sample(["a", "b"]))
    text = str(found)
    assert f"AUC {found.auc:.4f}   (95 % interval {found.auc_interval[0]:.4f} to {found.auc_interval[1]:.4f})" in text
    lines = text.splitlines()
    row = next(line.split() for line in lines if line.startswith("a "))
    assert row[:4] == ["a", f"{found.positives['a']:.0f}", f"{found.negatives['a']:.0f}", f"{found.xauc['a', 'a']:.4f}"]
    low, high = found.prf_interval["a"]
    assert row[7:] == [f"{found.prf['a']:.4f}", f"{low:.4f}", "to", f"{high:.4f}"]
    assert ["b", f"{found.xauc['b', 'a']:.4f}", f"{found.xauc['b', 'b']:.4f}"] in [line.split() for line in lines]
    for gap in found.gaps:
        line = next(line for line in lines if line.startswith(gap.metric))
        expected = f"a - b {gap.value:+.4f} [{gap.interval[0]:+.4f}, {gap.interval[1]:+.4f}]"
        assert expected in " ".join(line.split())
        assert line.endswith("< 0.0001" if gap.pvalue < 1e-4 else f"{gap.pvalue:.4f}")
    assert f"outranks a negative of b with chance {found.xauc['a', 'b']:.3f}" in unwrapped(found)
    assert f"outranks a negative of a with chance {found.xauc['b', 'a']:.3f}" in unwrapped(found)
    assert text.startswith("The score ranks b lower than a, and chance does not explain it")
    assert repr(found) == f"<Audit of 2 groups: AUC {found.auc:.4f}>"


def test_the_text_names_the_group_that_loses_and_whether_it_may_be_chance():
    data = sample(["a", "b"])
    turned = audit(
        data["y_true"], data["y_score"], sensitive_features=np.where(data["sensitive_features"] == "a", "z", "y")
    )
    assert str(turned).startswith("The score ranks y lower than z")
    same = audit(**sample(["a", "b"]) | {"sensitive_features": np.arange(400) % 2})
    assert "which may be chance (95 % confidence)" in unwrapped(same)
    assert "90 % interval" in str(audit(**data, confidence=0.9))
    assert "99.5 % interval" in str(audit(**data, confidence=0.995))


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b", "c", "d"],
        ["a name that is much longer than the others, as survey answers are", "b"],
        [1, 2, 30],
        [False, True],
        [0.5, 1, "other"],
    ],
)
def test_the_text_lines_up_for_any_labels(groups):
    found = audit(**sample(groups))
    assert found.groups == tuple(sorted(groups, key=lambda label: (type(label).__name__, str(label))))
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(str(found).split())
    shown = [gap for gap in found.gaps if gap.metric == "xauc" or len(groups) == 2]
    for gap in shown:
        assert f"{gap.pair[0]} - {gap.pair[1]} " in text
        assert f"{gap.value:+.4f} [{gap.interval[0]:+.4f}, {gap.interval[1]:+.4f}]" in text
    for group in found.groups:
        assert any(line.startswith(str(group)) for line in lines)
        assert f"{found.prf_interval[group][1]:.4f}" in text
    everything = found.describe(everything=True, width=500)
    start = next(number for number, line in enumerate(everything.splitlines()) if line.startswith("gap "))
    table = everything.splitlines()[start : start + 1 + len(found.gaps)]
    for line, gap in zip(table[1:], found.gaps, strict=True):
        assert f" {gap.pair[0]} - {gap.pair[1]} " in line
        assert f"{gap.value:+.4f}" in line
    assert len({line.index(gap.metric) for line, gap in zip(table[1:], found.gaps, strict=True)}) == 1


def test_the_widest_gaps_alone_unless_more_is_asked_for():
    found = audit(**sample(list("abcdef")))
    text = str(found)
    assert "... and 5 narrower gaps; all with --all, or in the table gaps" in text
    assert text.count("\nxauc ") == 10
    widest = sorted((gap for gap in found.gaps if gap.metric == "xauc"), key=lambda gap: -abs(gap.value))[:10]
    shown = [line.split()[1:5] for line in text.splitlines() if line.startswith("xauc ")]
    assert shown == [[gap.pair[0], "-", gap.pair[1], f"{gap.value:+.4f}"] for gap in widest]
    assert text.count("\nprf ") == 0
    everything = found.describe(everything=True)
    assert [everything.count(f"\n{metric} ") for metric in ("xauc", "prf", "parity")] == [15, 15, 15]
    assert everything.count("\nworst, ") == 15
    assert found.describe(reference="c").count("\nxauc ") == 5
    assert found.describe(metric="prf").count("\nprf ") == 10
    two = found.describe(pair=("f", "a"))
    assert [two.count(f"\n{metric} ") for metric in ("xauc", "prf", "parity")] == [1, 1, 1]
    assert f"f - a   {found.gap('xauc', ('f', 'a')).value:+.4f}" in two


@pytest.mark.parametrize(("size", "is_told"), [(32, False), (3200, True)])
def test_a_score_is_upside_down_where_that_is_no_chance(size, is_told):
    rng = np.random.default_rng(3)
    label = np.arange(size) % 2
    score = rng.normal(size=size) - 0.6 * label
    found, messages = warned(y_true=label, y_score=score, sensitive_features=np.arange(size) // 2 % 2)
    assert found.auc < 0.4
    assert (found.auc_interval[1] < 0.5) == is_told
    assert any("mostly ranked below negatives" in message for message in messages) == is_told


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_it_may_be(width):
    names = ["American Indian or Alaska Native", "Black or African American", "Native Hawaiian", "White", "x"]
    found = audit(**sample(names))
    if width >= 80:
        assert max(map(len, found.describe(width=width, everything=True).splitlines())) <= width
    assert max(map(len, found.describe(width=width).split("\n\n")[0].splitlines())) <= width


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pair": ("a", "z")}, "pair must be"),
        ({"reference": "z"}, "reference must be"),
        ({"width": 0}, "width must be"),
    ],
)
def test_what_cannot_be_described(wrong, said):
    with pytest.raises(InputError, match=said):
        audit(**sample(["a", "b"])).describe(**wrong)


def test_large_masses_keep_the_columns_apart():
    data = sample(["a", "b"])
    with pytest.warns(XorderWarning, match="adds up to 4,000,000,000 and is read as counts, so 400 rows"):
        found = audit(**data, sample_weight=np.full(400, 10_000_000))
    lines = str(found).splitlines()
    row = lines[lines.index("a") + 1]
    assert row.split()[:2] == [f"{found.positives['a']:,.0f}", f"{found.negatives['a']:,.0f}"]


def test_to_dict_is_json_and_complete():
    found = audit(**sample(["a", "b", "c"]))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(record) == {
        "groups", "positives", "negatives", "auc", "auc_stderr", "auc_interval", "xauc", "prf", "gaps", "confidence",
        "too_few", "cuts", "xauc_interval", "prf_interval", "clusters", "tolerance", "verdict",
    }  # fmt: skip
    assert record["xauc_interval"][1][2] == list(found.xauc_interval["b", "c"])
    assert record["prf_interval"][2] == list(found.prf_interval["c"])
    assert record["groups"] == ["a", "b", "c"]
    assert record["positives"] == [found.positives[group] for group in "abc"]
    assert record["negatives"] == [found.negatives[group] for group in "abc"]
    assert record["xauc"] == found.xauc.values.tolist()
    assert record["prf"] == [found.prf[group] for group in "abc"]
    assert record["auc_interval"] == list(found.auc_interval)
    gap = found.gap("parity", ("a", "c"))
    assert record["gaps"][-2] == {
        "metric": "parity", "pair": ["a", "c"], "value": gap.value, "stderr": gap.stderr,
        "interval": list(gap.interval), "pvalue": gap.pvalue, "pvalue_holm": gap.pvalue_holm,
    }  # fmt: skip


@pytest.mark.parametrize("labels", [[1], [0], [1, 0]])
def test_to_dict_has_none_for_nan(labels):
    with pytest.warns(XorderWarning):
        found = audit(**with_rows(labels))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    unknown = next(gap for gap in record["gaps"] if gap["pair"] == ["a", "few"])
    assert (unknown["stderr"], unknown["interval"], unknown["pvalue"]) == (None, [None, None], None)


@pytest.mark.parametrize("groups", [[1, 2], [True, False], [0.5, "x"], np.array([1, 2], dtype=np.int16)])
def test_to_dict_of_any_labels(groups):
    json.dumps(audit(**sample(list(groups))).to_dict(), allow_nan=False)


def test_tables_without_rows_are_refused():
    empty = ScoreTable([], [], [])
    with pytest.raises(InputError, match="the tables to audit hold no rows"):
        audit_tables({"a": empty, "b": empty})


def test_tables_give_the_audit_of_their_rows():
    data = sample(["a", "b", "c"])
    masks = {group: data["sensitive_features"] == group for group in "cab"}
    tables = {group: ScoreTable.from_arrays(data["y_true"][m], data["y_score"][m]) for group, m in masks.items()}
    found = audit_tables(tables)
    # In sorted order, whatever that of the tables.
    assert found.groups == ("a", "b", "c")
    rows_ = audit(**data)
    assert found.auc == pytest.approx(rows_.auc, rel=1e-14)
    assert found.gap("xauc", ("c", "a")).value == pytest.approx(-rows_.gap("xauc", ("a", "c")).value, rel=1e-12)
    halves = {
        group: ScoreTable.from_arrays(data["y_true"][m][::2], data["y_score"][m][::2])
        + ScoreTable.from_arrays(data["y_true"][m][1::2], data["y_score"][m][1::2])
        for group, m in masks.items()
    }
    assert audit_tables(halves).to_dict() == found.to_dict()


# The published figures -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compas() -> pd.DataFrame:
    frame = pd.read_csv(data_file("compas/compas-scores-two-years.csv.gz"))
    return frame[frame["race"].isin(["African-American", "Caucasian"])]


def test_compas_decile_score(compas):
    found = audit(compas["two_year_recid"], compas["decile_score"], sensitive_features=compas["race"])
    black, white = found.groups
    assert (black, white) == ("African-American", "Caucasian")
    assert round(found.auc, 4) == 0.7027
    assert round(found.xauc[black, white], 4) == 0.8177
    assert round(found.xauc[white, black], 4) == 0.5445
    assert round(found.gap("xauc").value, 4) == 0.2732
    assert round(found.gap("prf").value, 4) == 0.1370
    assert found.gap("xauc").interval[0] > 0.2
    assert unwrapped(found).startswith("The score ranks Caucasian lower than African-American, and chance does not")


def test_to_dict_of_dates():
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")
    data = sample([0, 1])
    found = audit(**data | {"sensitive_features": dates[data["sensitive_features"].astype(int)]})
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_scale_of_sampling_weights_at_the_ends_of_the_range(scale):
    data = sample(["a", "b"])
    found = audit(**data, sample_weight=np.full(400, scale), weights_are="sampling")
    assert found.gap("xauc").stderr == pytest.approx(audit(**data).gap("xauc").stderr)


def test_the_verdict_allows_for_the_number_of_pairs():
    """Four groups, one pair with p just below 0.05: one of six such gaps is no surprise."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        score, label = rng.random(800), rng.random(800) < 0.5
        group = rng.choice(list("abcd"), 800)
        found = audit(label, score, sensitive_features=group)
        if 0.05 / 6 < found.gap("xauc").pvalue < 0.05:
            break
    assert 0.05 / 6 < found.gap("xauc").pvalue < 0.05
    assert "which may be chance (95 % confidence, allowing for 6 pairs)" in unwrapped(found)
    a, b = found.gap("xauc").pair
    two = np.isin(group, [a, b])
    alone = audit(label[two], score[two], sensitive_features=group[two])
    assert "chance does not explain it (95 % confidence)." in unwrapped(alone)


def test_groups_of_few_rows_are_named():
    data = sample(["a", "b"])
    few = np.flatnonzero(data["sensitive_features"] == "b")[:12]
    kept = np.append(np.flatnonzero(data["sensitive_features"] == "a"), few)
    small = {name: column[kept] for name, column in data.items()}
    text = unwrapped(audit(**small))
    assert "Fewer than 10 positives or negatives: b. Too few to say whether their gaps are chance." in text
    assert "there are too few positives or negatives of b to say whether that is chance." in text
    assert audit(**small).too_few == ("b",)
    assert "too few" not in str(audit(**data)).lower()


class TestToFrame:
    """Parts of an audit as frames: the numbers of the audit, of whichever library is at hand."""

    @pytest.mark.parametrize(
        ("missing", "kind"),
        [((), pd.DataFrame), (("pandas",), pl.DataFrame), (("pandas", "polars"), pa.Table)],
    )
    def test_of_the_first_library_that_is_installed(
        self, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], kind: type
    ) -> None:
        found = audit(**sample(["a", "b", "c"]))
        there = importlib.util.find_spec
        monkeypatch.setattr("xorder.metrics._audit.find_spec", lambda name: None if name in missing else there(name))
        for what, size in (("groups", 4), ("xauc", 9), ("gaps", 9), ("cut_gaps", 15), ("cuts", 96)):
            frame = found.to_frame(what)
            assert isinstance(frame, kind)
            assert len(frame) == size

    def test_without_any_to_dict_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("xorder.metrics._audit.find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match="Use to_dict instead"):
            audit(**sample(["a", "b"])).to_frame("gaps")

    def test_the_numbers_are_those_of_the_audit(self) -> None:
        found = audit(**sample(["a", "b", "c"]), cuts=[0.05, 20])
        gaps = found.to_frame("gaps").set_index(["metric", "first", "second"])
        for gap in found.gaps:
            row = gaps.loc[(gap.metric, *gap.pair)]
            assert (row.value, row.low, row.high, row.pvalue) == (gap.value, *gap.interval, gap.pvalue)
        cuts = found.to_frame("cut_gaps").set_index(["at", "first", "second"])
        for name, at in (("worst", None), ("5 %", 0.05), ("20 places", 20)):
            cut = found.cut_gap(at, ("a", "c"))
            row = cuts.loc[(name, "a", "c")]
            assert (row.value, row.share, row.first_rate, row.low) == (
                cut.value,
                cut.cut,
                cut.rates[0],
                cut.interval[0],
            )
        xauc = found.to_frame("xauc").set_index(["positives_of", "negatives_of"])
        assert xauc.chance["b", "c"] == found.xauc["b", "c"]
        assert found.to_frame("groups").prf.tolist()[:3] == list(found.prf.values())

    def test_what_is_no_part(self) -> None:
        with pytest.raises(InputError, match=r"what must be one of groups, xauc, gaps, cuts, .*; got 'cut'"):
            audit(**sample(["a", "b"])).to_frame("cut")
