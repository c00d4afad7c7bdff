"""Standard errors equal a slow row-by-row count, DeLong's formula and the jackknife; intervals hold the truth."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from support.drawn_rows import REAL, WHOLE, Rows, rows
from support.effort import draws
from support.oracles import influences, outranked, slow_stderr
from xorder import audit
from xorder._metric import METRICS, Estimate, auc_estimate
from xorder.exceptions import XorderWarning
from xorder.metrics._gaps import Gap
from xorder.metrics._placements import moments


def fast_stderr(data: Rows, metric: str, a: str = "", b: str = "", *, sampling: bool = False) -> float:
    m = moments(data.sampled_tables if sampling else data.tables)
    if metric == "auc":
        return auc_estimate(m)[1]
    return METRICS[metric].estimate(m, data.groups.index(a), data.groups.index(b))[1]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(data=rows())
def test_gaps_have_the_variance_of_their_rows_placements(metric, data):
    for a, b in combinations(data.groups, 2):
        expected = slow_stderr(data, metric, a, b)
        assert fast_stderr(data, metric, a, b) == pytest.approx(expected, rel=1e-10, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(data=rows(weights=REAL))
def test_gaps_with_sampling_weights(metric, data):
    for a, b in combinations(data.groups, 2):
        expected = slow_stderr(data, metric, a, b, sampling=True)
        found = fast_stderr(data, metric, a, b, sampling=True)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@given(data=rows())
def test_auc_has_the_variance_of_its_rows_placements(data):
    expected = slow_stderr(data, "auc")
    assert fast_stderr(data, "auc") == pytest.approx(expected, rel=1e-10, abs=1e-12, nan_ok=True)


def population(size: int, seed: int = 1, distinct: int | None = None, groups: str = "abc") -> Rows:
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, size), rng.choice(list(groups), size)
    s = rng.normal(y + 0.4 * (g == "b"))
    return Rows(y, s if distinct is None else np.round(s * distinct / 4), g, None)


@pytest.mark.parametrize("distinct", [None, 6])
def test_auc_has_delongs_variance(distinct):
    data = population(700, distinct=distinct)
    above, below = data.s[data.y == 1], data.s[data.y == 0]
    # Sun and Xu's way: placements from midranks in all rows less midranks in the own class
    ranks = rankdata(np.concatenate([above, below]))
    v10 = (ranks[: above.size] - rankdata(above)) / below.size
    v01 = 1 - (ranks[above.size :] - rankdata(below)) / above.size
    expected = np.sqrt(v10.var(ddof=1) / above.size + v01.var(ddof=1) / below.size)
    assert fast_stderr(data, "auc") == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("metric", METRICS)
def test_larger_samples_in_three_groups(metric):
    data = population(150, distinct=20)
    weighted = Rows(data.y, data.s, data.g, np.random.default_rng(0).exponential(size=150))
    for a, b in combinations("abc", 2):
        assert fast_stderr(data, metric, a, b) == pytest.approx(slow_stderr(data, metric, a, b), rel=1e-10)
        found = fast_stderr(weighted, metric, a, b, sampling=True)
        assert found == pytest.approx(slow_stderr(weighted, metric, a, b, sampling=True), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_the_jackknife_agrees(weighted):
    """Leaving out each row in turn knows nothing of samples or covariances."""
    data = population(800, distinct=40)
    w = np.random.default_rng(2).uniform(0.2, 3, 800) if weighted else np.ones(800)

    def values(kept):
        m = moments(Rows(data.y[kept], data.s[kept], data.g[kept], w[kept]).tables)
        return [auc_estimate(m)[0], *(metric.estimate(m, 0, 1)[0] for metric in METRICS.values())]

    every = np.arange(800)
    left_out = np.array([values(np.delete(every, row)) for row in every])
    jackknife = np.sqrt(np.sum((left_out - left_out.mean(axis=0)) ** 2, axis=0) * 799 / 800)
    whole = Rows(data.y, data.s, data.g, w)
    found = [fast_stderr(whole, metric, "a", "b", sampling=weighted) for metric in ("auc", *METRICS)]
    np.testing.assert_allclose(found, jackknife, rtol=0.01)


def test_shared_negatives_narrow_a_prf_gap():
    """PRF of two groups moves with the same negatives: without their covariance the error would be too large."""
    data = population(900)
    found = fast_stderr(data, "prf", "a", "b")
    one, two, pooled = influences(data, np.ones(900), "prf", "a", "b")
    separate = np.var(one[1], ddof=1) / len(one[1]) + np.var(two[1], ddof=1) / len(two[1])
    for group in "ab":
        place = [outranked(data, np.ones(900), row, (data.y == 1) & (data.g == group)) for row in pooled[0]]
        separate += np.var(place, ddof=1) / len(place)
    assert found < 0.95 * np.sqrt(separate)


@pytest.mark.slow
@given(data=rows(weights=WHOLE))
def test_weights_as_counts_are_repeated_rows_in_every_field(data):
    times = data.w.astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        weighted = audit(data.y, data.s, **data.options)
        repeated = audit(*(np.repeat(column, times) for column in (data.y, data.s)),
                         sensitive_features=np.repeat(data.g, times))  # fmt: skip
    assert flat(weighted.to_dict()) == pytest.approx(flat(repeated.to_dict()), rel=1e-10, abs=1e-10, nan_ok=True)


@pytest.mark.slow
@given(data=rows(weights=REAL), scale=st.sampled_from([1e-6, 0.3, 7.0, 1e9]))
def test_the_scale_of_sampling_weights_means_nothing(data, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        found = [
            audit(data.y, data.s, sensitive_features=data.g, sample_weight=w, weights_are="sampling").to_dict()
            for w in (data.w, data.w * scale)
        ]
    for record in found:
        del record["positives"], record["negatives"]
    assert flat(found[0]) == pytest.approx(flat(found[1]), rel=1e-9, abs=1e-10, nan_ok=True)


def flat(value: object) -> list[float]:
    """All numbers of a record, in order; what is missing as nan and words left out."""
    if isinstance(value, dict | list | tuple):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in flat(part)]
    return [] if isinstance(value, str) else [np.nan if value is None else float(value)]


def test_sampling_weights_of_one_are_unweighted_rows():
    data = population(200)
    options = {"sample_weight": np.ones(200), "weights_are": "sampling"}
    found = audit(data.y, data.s, sensitive_features=data.g, **options)
    assert flat(found.to_dict()) == pytest.approx(
        flat(audit(data.y, data.s, sensitive_features=data.g).to_dict()), nan_ok=True
    )


def test_unequal_sampling_weights_widen_and_large_counts_narrow():
    data = population(600)
    w = np.random.default_rng(7).choice([1, 30], 600)
    plain = audit(data.y, data.s, sensitive_features=data.g)
    with pytest.warns(XorderWarning, match="is read as counts, so 600 rows pass for that many"):
        counts = audit(data.y, data.s, sensitive_features=data.g, sample_weight=w)
    sampling = audit(data.y, data.s, sensitive_features=data.g, sample_weight=w, weights_are="sampling")
    for gap in plain.gaps:
        as_counts, as_sample = (found.gap(gap.metric, gap.pair) for found in (counts, sampling))
        assert as_counts.value == as_sample.value
        assert as_counts.stderr < 0.5 * gap.stderr
        assert as_sample.stderr > 1.1 * gap.stderr


@pytest.mark.parametrize(("a", "b"), [("a", "b"), ("b", "c")])
@pytest.mark.parametrize("metric", METRICS)
def test_swapping_the_pair_turns_the_sign(metric, a, b):
    data = population(300, distinct=15)
    m = moments(data.tables)
    a, b = "abc".index(a), "abc".index(b)
    value, stderr = METRICS[metric].estimate(m, a, b)[:2]
    assert METRICS[metric].estimate(m, b, a)[:2] == pytest.approx((-value, stderr), rel=1e-12)


def test_large_counts():
    """A million times the rows: a thousandth of the error, but for the correction n / (n - 1)."""
    data = population(400, distinct=12)
    many = Rows(data.y, data.s, data.g, np.full(400, 1e12))
    some = Rows(data.y, data.s, data.g, np.full(400, 1e6))
    for metric in METRICS:
        ratio = fast_stderr(some, metric, "a", "b") / fast_stderr(many, metric, "a", "b")
        assert ratio == pytest.approx(1000, rel=1e-7)


class TestGap:
    def test_interval_and_pvalue_of_one_error(self):
        gap = Gap.from_estimate("xauc", ("a", "b"), Estimate(-0.1, 0.05), 0.9)
        assert gap.interval == pytest.approx((-0.1 - 1.6448536 * 0.05, -0.1 + 1.6448536 * 0.05), abs=1e-8)
        assert gap.pvalue == pytest.approx(0.04550026, abs=1e-6)
        assert gap.interval_at(0.99)[1] == pytest.approx(-0.1 + 0.05 * 2.5758293, abs=1e-8)

    def test_the_pvalue_falls_below_alpha_where_the_interval_leaves_zero(self):
        for value in (0.0979, 0.0981):
            gap = Gap.from_estimate("prf", ("a", "b"), Estimate(value, 0.05), 0.95)
            assert (gap.pvalue < 0.05) == (gap.interval[0] > 0)
        assert {norm.ppf(0.975) * 0.05 > value for value in (0.0979, 0.0981)} == {True, False}

    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("rows", [60, 90])
    def test_the_interval_of_confidence_1_less_the_pvalue_ends_at_0(self, metric, rows):
        gap = audit(**_drawn(rows)).gap(metric, ("a", "b"))
        ends = gap.interval_at(1 - gap.pvalue)
        assert min(map(abs, ends)) == pytest.approx(0, abs=1e-5)


def _drawn(rows):
    rng = np.random.default_rng(rows)
    group, label = rng.choice(["a", "b"], rows), rng.integers(0, 2, rows)
    return {"y_true": label, "y_score": rng.normal(label + (group == "a"), 1.0), "sensitive_features": group}


def half_row_more(p, terms):
    """The error of a chance, each sample having half a row more, of variance p (1 - p)."""
    total = 0.0
    for term in terms:
        n = len(term)
        total += ((n - 1) * np.var(term, ddof=1) + 0.5 * p * (1 - p)) / (n - 0.5) / n
    return np.sqrt(total)


def slow_interval(metric, y_true, y_score, sensitive_features):
    """Means and variances of placements row by row, scipy's quantiles of Student, and Zou and Donner's formula."""
    rows = {(g, y): y_score[(sensitive_features == g) & (y_true == y)] for g in ("a", "b") for y in (0, 1)}

    def placed(own, others):
        return np.array([np.mean((x > others) + 0.5 * (x == others)) for x in own])

    def summed(terms):
        parts = [(np.var(term, ddof=1) / len(term), len(term) - 1) for term in terms]
        total = sum(variance for variance, _ in parts)
        return np.sqrt(total), total**2 / sum(variance**2 / n for variance, n in parts)

    everyone = np.concatenate([rows["a", 0], rows["b", 0]])
    if metric == "xauc":
        terms = [
            (placed(rows[g, 1], rows[h, 0]), 1 - placed(rows[h, 0], rows[g, 1])) for g, h in (("a", "b"), ("b", "a"))
        ]
        whole = [*terms[0], *terms[1]]
    elif metric == "prf":
        lost = [1 - placed(everyone, rows[g, 1]) for g in ("a", "b")]
        won = [placed(rows[g, 1], everyone) for g in ("a", "b")]
        terms, whole = list(zip(won, lost, strict=True)), [*won, lost[0] - lost[1]]
    else:
        both = [np.concatenate([rows[g, 0], rows[g, 1]]) for g in ("a", "b")]
        terms = [(placed(both[0], both[1]), 1 - placed(both[1], both[0]))]
        terms.append(tuple(1 - term for term in terms[0]))
        whole = [2 * term for term in terms[0]]
    stderr, freedom = summed(whole)
    times = student.ppf(0.975, freedom)
    chance = [float(np.mean(pair[0])) for pair in terms]
    errors = [summed(pair)[0] for pair in terms]
    ends = [
        expit(logit(p) + np.array([-1, 1]) * times * half_row_more(p, pair) / (p * (1 - p)))
        for p, pair in zip(chance, terms, strict=True)
    ]
    shared = (errors[0] ** 2 + errors[1] ** 2 - stderr**2) / (2 * errors[0] * errors[1])

    def reach(x, y):
        return np.sqrt(x**2 + y**2 - 2 * shared * x * y)

    value = chance[0] - chance[1]
    low = value - reach(chance[0] - ends[0][0], ends[1][1] - chance[1])
    return low, value + reach(ends[0][1] - chance[0], chance[1] - ends[1][0])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rows", [60, 400])
def test_intervals_are_those_of_a_count_row_by_row(metric, rows):
    data = _drawn(rows)
    found = audit(**data).gap(metric, ("a", "b")).interval
    np.testing.assert_allclose(found, slow_interval(metric, **data), atol=2e-5)


def test_intervals_of_chances_are_delongs_on_the_scale_of_log_odds():
    data = _drawn(120)
    found = audit(**data)
    of_a = data["sensitive_features"] == "a"
    positives = data["y_score"][of_a & (data["y_true"] == 1)]
    negatives = data["y_score"][of_a & (data["y_true"] == 0)]
    above = (positives[:, None] > negatives[None, :]).astype(float)
    auc, parts = above.mean(), [(np.var(above.mean(axis=axis), ddof=1), above.shape[1 - axis]) for axis in (1, 0)]
    parts = [(variance / n, n - 1) for variance, n in parts]
    total = sum(variance for variance, _ in parts)
    times = student.ppf(0.975, total**2 / sum(variance**2 / n for variance, n in parts))
    reach = half_row_more(auc, [above.mean(axis=1), above.mean(axis=0)])
    ends = expit(logit(auc) + np.array([-1, 1]) * times * reach / (auc * (1 - auc)))
    assert found.xauc["a", "a"] == pytest.approx(auc)
    np.testing.assert_allclose(found.xauc_interval["a", "a"], ends, atol=2e-5)
    assert all(0 < low < high < 1 for low, high in (*found.xauc_interval.values(), *found.prf_interval.values()))


def test_a_chance_that_never_varies_has_no_interval():
    score = np.concatenate([np.arange(20.0), np.arange(100.0, 120.0), np.arange(20.0), np.arange(10.0, 30.0)])
    data = {"y_true": np.repeat([0, 1, 0, 1], 20), "y_score": score, "sensitive_features": np.repeat(["a", "b"], 40)}
    found = audit(**data)
    assert found.xauc["a", "a"] == 1
    assert np.isnan(found.xauc_interval["a", "a"]).all()
    assert np.isfinite(found.gap("xauc").interval).all()


def test_a_side_that_never_varies_makes_no_gap_certain():
    """One pair in the wrong order among 24 positives and 24 negatives: the other side is 1, but of twelve rows only."""
    score = np.r_[np.linspace(2, 3, 24), np.linspace(0, 1, 24)]
    score[12] = 0.2
    label, group = np.repeat([1, 0], 24), np.tile(np.repeat(["a", "b"], 12), 2)
    gap = audit(label, score, sensitive_features=group).gap("xauc", ("a", "b"))
    assert gap.value == pytest.approx(7 / 144)
    assert gap.pvalue > 0.3
    low, high = gap.interval
    # The chance whose twelfth power is .05, below 1, and nothing above it.
    assert low < gap.value - (1 - 0.05 ** (1 / 12))
    assert 0 < high < 1


def test_full_separation_has_no_known_error():
    data = Rows(np.tile([1, 1, 0, 0], 2), np.tile([4.0, 3.0, 2.0, 1.0], 2), np.repeat(["a", "b"], 4), None)
    for metric in ("auc", "xauc", "prf"):
        assert np.isnan(fast_stderr(data, metric, "a", "b"))
    assert fast_stderr(data, "parity", "a", "b") > 0


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "coverage_of_intervals.py"
    spec = importlib.util.spec_from_file_location("coverage_of_intervals", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metric", "gap"),
    [
        ("200 and 200", "prf", 0.1),
        ("2,000 and 200", "xauc", 0.0),
        ("600 and 400, ties", "parity", 0.1),
        ("600 and 400, ties as counts", "prf", 0.0),
        ("about 550 and 230, sampling weights", "xauc", 0.1),
        ("about 550 and 230, sampling weights", "parity", 0.0),
        ("50 and 70", "xauc", 0.0),
        ("50 and 670", "xauc", 0.1),
        ("500 and 70, good score", "xauc", 0.0),
    ],
)
def test_intervals_hold_the_truth(benchmark, name, metric, gap):
    """The full proof, of 2,000 data sets a setting, is benchmarks/coverage_of_intervals.py."""
    data_sets = draws(400)
    found = benchmark.coverage(name, metric, gap, data_sets)
    allowed = 3.5 * np.sqrt(0.95 * 0.05 / data_sets)
    for kind, shares in found.items():
        if not kind.startswith(benchmark.PLAIN):
            np.testing.assert_allclose(shares, 0.95, atol=allowed, err_msg=kind)


@pytest.mark.parametrize("step", [0.0, 0.5])
@pytest.mark.parametrize("weights", ["none", "sampling"])
def test_the_truth_of_the_benchmark_is_that_of_a_large_sample(benchmark, step, weights):
    population = benchmark.Population(benchmark.Setting(200_000, 0.3, step=step, weights=weights, apart=1.5), 0.2)
    found = benchmark.intervals(audit(**population.draw(np.random.default_rng(4))))
    for kind, truths in population.truths().items():
        for (low, high), truth in zip(found[kind], truths, strict=True):
            # An interval is about four standard errors wide.
            assert (low + high) / 2 == pytest.approx(truth, abs=high - low), kind
