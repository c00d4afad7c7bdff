"""Holm's rule against its definition, ten rows of each class as the least that says something, and the one verdict."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder import ScoreTable
from xorder._metric import Estimate
from xorder.metrics import Audit, Gap, GroupMatrix
from xorder.metrics._gaps import holm, is_too_few, judge, with_holm


@given(pvalues=st.lists(st.floats(0, 1), max_size=8), level=st.floats(0.001, 0.5))
def test_holm_rejects_what_the_sequential_test_rejects(pvalues: list[float], level: float) -> None:
    adjusted = holm(pvalues)
    left, rejected = sorted(range(len(pvalues)), key=lambda i: pvalues[i]), set()
    while left and pvalues[left[0]] * len(left) <= level:
        rejected.add(left.pop(0))
    assert {i for i in range(len(pvalues)) if adjusted[i] <= level} == rejected


def test_what_is_not_known_does_not_count() -> None:
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])
    np.testing.assert_allclose(holm([0.9, 0.4, 0.6]), [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("positives", "negatives", "few"), [(10, 10, False), (9, 10, True), (10, 9, True), (0, 50, True)]
)
def test_ten_of_each_class(positives: int, negatives: int, few: bool) -> None:
    label = [1] * positives + [0] * negatives
    assert is_too_few(ScoreTable.from_arrays(label, np.arange(len(label)))) is few


def test_weights_of_a_design_count_as_many_rows_as_tell_as_much() -> None:
    label = np.repeat([1, 0], 10)
    even, uneven = np.ones(20), np.where(np.arange(20) % 10 == 0, 100.0, 1.0)
    assert not is_too_few(ScoreTable.from_arrays(label, np.arange(20), even, squares=True))
    assert is_too_few(ScoreTable.from_arrays(label, np.arange(20), uneven, squares=True))


Values = dict[tuple[str, str], float]


def made(pvalues: Values, values: Values, few: tuple[str, ...] = ()) -> Audit:
    """An audit that holds what a verdict is made of: gaps of one metric with these values and p-values."""
    groups = tuple(sorted({group for pair in values for group in pair}))
    gaps = []
    for pair, value in values.items():
        p = pvalues[pair]
        stderr = abs(value) / NormalDist().inv_cdf(1 - p / 2) if p == p else np.nan
        gaps.append(Gap.from_estimate("xauc", pair, Estimate(value, stderr), 0.95))
    nothing = dict.fromkeys(groups, 100.0)
    matrix = GroupMatrix(groups, np.eye(len(groups)))
    return Audit(
        groups, nothing, nothing, 0.7, 0.01, (0.6, 0.8), matrix, nothing, with_holm(gaps, few), 0.95, {}, {}, few
    )


AB, AC, BC = ("a", "b"), ("a", "c"), ("b", "c")


def test_a_narrower_gap_may_be_clear_where_the_widest_is_not() -> None:
    found = judge(made({AB: 0.001, AC: 0.3, BC: 0.03}, {AB: -0.1, AC: 0.4, BC: 0.2}), "xauc")
    assert (found.kind, found.pairs, found.few) == ("clear", 3, False)
    assert found.gap.pair == ("b", "a")
    assert found.gap.value == 0.1
    assert [(gap.pair, pytest.approx(gap.pvalue_holm, rel=1e-4)) for gap in found.clear] == [(("b", "a"), 0.003)]
    # 0.03 is below 0.05 by itself, but not as the second of three.
    assert [found.readings[pair] for pair in (AB, ("b", "a"), AC, BC)] == [
        "not chance", "not chance", "may be chance", "may be chance",
    ]  # fmt: skip


def test_holm_clears_what_bonferroni_would_not() -> None:
    found = judge(made({AB: 0.001, AC: 0.02, BC: 0.9}, {AB: 0.3, AC: 0.2, BC: 0.1}), "xauc")
    assert [gap.pair for gap in found.clear] == [AB, AC]
    assert [gap.pvalue_holm for gap in found.clear] == pytest.approx([0.003, 0.04], rel=1e-4)
    # The widest clear gap is one that only Holm clears: its interval does not contradict that.
    wide = judge(made({AB: 0.001, AC: 0.02, BC: 0.9}, {AB: 0.2, AC: 0.3, BC: 0.1}), "xauc")
    assert wide.gap.pair == AC
    assert wide.interval[0] == 0 < wide.gap.interval[0]


def test_pairs_that_cannot_be_computed_do_not_count() -> None:
    found = judge(made({AB: 0.03, AC: np.nan, BC: np.nan}, {AB: 0.1, AC: np.nan, BC: np.nan}), "xauc")
    assert (found.kind, found.pairs) == ("clear", 1)
    assert found.interval == found.gap.interval
    assert (found.readings[AC], found.readings[BC]) == ("not known", "not known")


def test_groups_of_few_rows_count_but_are_too_few_to_say() -> None:
    found = judge(made({AB: 0.012, AC: 1e-9, BC: 1e-9}, {AB: 0.1, AC: 0.5, BC: 0.4}, few=("c",)), "xauc")
    assert (found.readings[AC], found.readings[BC]) == ("too few to say", "too few to say")
    # 0.012 times two would be clear: p-values of few rows are no step on the way down.
    assert judge(made({AB: 0.02, AC: 1e-9, BC: 1e-9}, {AB: 0.1, AC: 0.5, BC: 0.4}, few=("c",)), "xauc").kind == "chance"
    assert (found.kind, found.gap.pair, found.pairs) == ("clear", AB, 3)
    only = judge(made({AC: 1e-9}, {AC: 0.5}, few=("c",)), "xauc")
    assert (only.kind, only.few, only.clear) == ("unsure", True, ())
    assert np.isnan(only.gap.pvalue_holm)


def test_intervals_hold_for_all_pairs_at_once() -> None:
    found = judge(made({AB: 0.01, AC: 0.5, BC: 0.5}, {AB: 0.2, AC: 0.1, BC: 0.1}), "xauc")
    assert found.confidence == pytest.approx(1 - 0.05 / 3)
    half = NormalDist().inv_cdf(1 - 0.05 / 6) * found.gap.stderr
    assert found.interval == pytest.approx((0.2 - half, 0.2 + half))


@pytest.mark.parametrize(
    ("value", "p", "kind"),
    [
        (0.0199, 1e-4, "small"), (0.02, 1e-4, "clear"), (0.3, 0.06, "chance"),
        (0.3, np.nan, "unsure"), (0.0, np.nan, "none"), (np.nan, np.nan, "unknown"),
    ],
)  # fmt: skip
def test_every_kind(value: float, p: float, kind: str) -> None:
    found = judge(made({AB: p}, {AB: value}), "xauc")
    assert found.kind == kind
    assert (found.gap is None) == (kind == "unknown")
