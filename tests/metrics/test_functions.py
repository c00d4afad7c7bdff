"""Every metric equals a count over pairs of rows, and scikit-learn's AUC where that exists."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from support import oracles
from support.drawn_rows import Rows, rows
from xorder._metric import auc_estimate
from xorder.exceptions import InputError
from xorder.metrics import (
    GroupMatrix,
    parity_difference,
    prf_by_group,
    prf_difference,
    xauc_difference,
    xauc_matrix,
)
from xorder.metrics._placements import moments

DIFFERENCES = {"xauc": xauc_difference, "prf": prf_difference, "parity": parity_difference}


@pytest.mark.slow
@given(rows())
def test_the_matrix_counts_pairs(data):
    matrix = xauc_matrix(data.y, data.s, **data.options)
    assert matrix.groups == tuple(data.groups)
    for above in data.groups:
        for below in data.groups:
            expected = oracles.xauc(data.y, data.s, data.g, above, below, data.w)
            assert matrix[above, below] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@given(rows())
def test_prf_and_auc_count_pairs(data):
    found = prf_by_group(data.y, data.s, **data.options)
    assert list(found) == data.groups
    for group, value in found.items():
        expected = oracles.prf(data.y, data.s, data.g, group, data.w)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert auc_estimate(moments(data.tables))[0] == pytest.approx(
        oracles.auc(data.y, data.s, data.w), abs=1e-12, nan_ok=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("metric", DIFFERENCES)
@given(data=rows())
def test_differences_count_pairs(metric, data):
    for a, b in permutations(data.groups, 2):
        value = DIFFERENCES[metric](data.y, data.s, **data.options, pair=(a, b))
        expected = oracles.gap(metric, data.y, data.s, data.g, a, b, data.w)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("metric", DIFFERENCES)
@given(data=rows())
def test_without_a_pair_it_is_the_widest_or_nan(metric, data):
    value = DIFFERENCES[metric](data.y, data.s, **data.options)
    gaps = [oracles.gap(metric, data.y, data.s, data.g, a, b, data.w) for a, b in combinations(data.groups, 2)]
    if np.isnan(gaps).any():
        assert np.isnan(value)
    else:
        assert abs(value) == pytest.approx(np.abs(gaps).max(), abs=1e-12)
        assert np.isclose(value, gaps, rtol=0, atol=1e-12).any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("distinct", [20, 10**9])
def test_scikit_learn_and_the_decomposition(weighted, distinct):
    rng = np.random.default_rng(3)
    size = 3000
    y, g = rng.integers(0, 2, size), rng.choice(["k", "l", "m", "n"], size, p=[0.5, 0.3, 0.15, 0.05])
    s = rng.integers(0, distinct, size) + y * distinct / 3
    w = rng.exponential(size=size) if weighted else np.ones(size)
    matrix = xauc_matrix(y, s, sensitive_features=g, sample_weight=w)
    prf = prf_by_group(y, s, sensitive_features=g, sample_weight=w)
    groups = list(prf)
    for above in groups:
        for below in groups:
            used = ((y == 1) & (g == above)) | ((y == 0) & (g == below))
            expected = roc_auc_score(y[used], s[used], sample_weight=w[used])
            assert matrix[above, below] == pytest.approx(expected, abs=1e-12)
        used = ((y == 1) & (g == above)) | (y == 0)
        assert prf[above] == pytest.approx(roc_auc_score(y[used], s[used], sample_weight=w[used]), abs=1e-12)
    n1, n0 = (np.array([w[(y == label) & (g == group)].sum() for group in groups]) for label in (1, 0))
    by_matrix = n1 @ matrix.values @ n0 / (n1.sum() * n0.sum())
    assert by_matrix == pytest.approx(roc_auc_score(y, s, sample_weight=w), abs=1e-12)
    np.testing.assert_allclose(matrix.values @ n0 / n0.sum(), list(prf.values()), rtol=0, atol=1e-12)
    found = auc_estimate(moments(Rows(y, s, g, w).tables))[0]
    assert found == pytest.approx(by_matrix, abs=1e-12)


@pytest.mark.slow
@given(rows(), st.sampled_from([np.arctan, lambda s: 1e200 * s - 3, lambda s: s.astype(np.float32)]))
def test_only_the_order_of_scores_counts(data, change):
    before = xauc_matrix(data.y, data.s, **data.options).values
    np.testing.assert_array_equal(xauc_matrix(data.y, change(data.s), **data.options).values, before)
    turned = xauc_matrix(data.y, -data.s, **data.options).values
    np.testing.assert_allclose(turned, 1 - before, rtol=0, atol=1e-14)


@pytest.mark.slow
@given(rows())
def test_parity_does_not_read_labels(data):
    value = parity_difference(data.y, data.s, **data.options)
    np.testing.assert_equal(parity_difference(1 - data.y, data.s, **data.options), value)


def test_a_group_of_one_class_is_nan_only_where_it_is_needed():
    y, s = [1, 0, 1, 1, 0, 0], [0.9, 0.5, 0.7, 0.3, 0.6, 0.4]
    g = ["both", "both", "only positives", "only positives", "only negatives", "only negatives"]
    matrix = xauc_matrix(y, s, sensitive_features=g)
    assert matrix["only positives", "both"] == 0.5
    assert matrix["both", "only negatives"] == 1.0
    for group in matrix.groups:
        assert np.isnan(matrix["only negatives", group])
        assert np.isnan(matrix[group, "only positives"])
    prf = prf_by_group(y, s, sensitive_features=g)
    assert prf["both"] == 1.0
    assert prf["only positives"] == 0.5
    assert np.isnan(prf["only negatives"])
    # the gaps between the others are still there
    assert prf_difference(y, s, sensitive_features=g, pair=("both", "only positives")) == 0.5
    assert np.isnan(prf_difference(y, s, sensitive_features=g))
    assert np.isnan(xauc_difference(y, s, sensitive_features=g, pair=("both", "only positives")))
    assert parity_difference(y, s, sensitive_features=g, pair=("both", "only negatives")) == 0.5


def test_a_matrix_of_one_group():
    assert xauc_matrix([1, 0, 0], [3, 2, 3], sensitive_features=["x"] * 3).values.tolist() == [[0.75]]


@pytest.mark.parametrize("difference", DIFFERENCES.values())
@pytest.mark.parametrize("pair", [("x", "z"), ("x",), ("x", "y", "x"), ()])
def test_a_pair_must_name_two_groups(difference, pair):
    with pytest.raises(InputError, match=r"pair must name two of the groups \['x', 'y'\]; got \("):
        difference([1, 0, 1, 0], [4, 3, 2, 1], sensitive_features=list("xxyy"), pair=pair)


@pytest.mark.parametrize("difference", DIFFERENCES.values())
def test_a_difference_needs_two_groups(difference):
    with pytest.raises(InputError, match="a gap needs two groups; sensitive_features holds 'x' only"):
        difference([1, 0], [2, 1], sensitive_features=["x", "x"])


class TestGroupMatrix:
    matrix = GroupMatrix(
        ("a", 2, "a much longer name"), np.array([[0.5, 0.25, np.nan], [1, 0, 0.125], [0.1, 0.2, 0.3]])
    )

    def test_by_label(self):
        assert self.matrix["a", 2] == 0.25
        assert self.matrix[2, "a"] == 1.0
        assert self.matrix["a much longer name", "a"] == 0.1

    @pytest.mark.parametrize("pair", [("a", "b"), "a", ("a",), 3, ("a", 2, "a")])
    def test_unknown_labels(self, pair):
        with pytest.raises(KeyError, match="name two of the groups 'a', 2, 'a much longer name'"):
            self.matrix[pair]

    def test_as_an_array(self):
        np.testing.assert_array_equal(np.asarray(self.matrix), self.matrix.values)
        assert np.asarray(self.matrix, dtype=np.float32).dtype == np.float32
        array = np.array(self.matrix)
        array[:] = 7
        assert self.matrix["a", "a"] == 0.5

    def test_as_text(self):
        lines = str(self.matrix).splitlines()
        assert len(lines) == 4
        assert lines[0].split() == ["1", "2", "3"]
        assert lines[1].split() == ["1", "a", "0.5000", "0.2500", "not", "known"]
        assert lines[3].startswith("3 a much longer name ")

    def test_as_json(self):
        record = json.loads(json.dumps(self.matrix.to_dict(), allow_nan=False))
        assert record["groups"] == ["a", 2, "a much longer name"]
        assert record["values"][0] == [0.5, 0.25, None]
