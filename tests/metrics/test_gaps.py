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
from scipy.stats import norm, rankdata

from support.drawn_rows import REAL, WHOLE, Rows, rows
from support.oracles import beats
from xorder import audit
from xorder._metric import METRICS, auc_estimate
from xorder.exceptions import XorderWarning
from xorder.metrics._gaps import Gap, interval
from xorder.metrics._placements import moments


def outranked(data: Rows, w: np.ndarray, row: int, others: np.ndarray) -> float:
    """Share of the others' weight that lies below a row, ties one half."""
    below = sum(w[other] * beats(data.s[row], data.s[other]) for other in np.flatnonzero(others))
    return below / w[others].sum() if w[others].any() else np.nan


def influences(data: Rows, w: np.ndarray, metric: str, a: str, b: str) -> list[tuple[np.ndarray, list[float]]]:
    """Return, for each independent sample of rows, its rows and what each of them adds to the estimate."""
    one, zero, in_a, in_b = data.y == 1, data.y == 0, data.g == a, data.g == b
    every = np.ones(len(data.y), dtype=bool)

    def sample(members, *terms):
        members = np.flatnonzero(members & (w > 0))
        value = [sum(sign * share(row) for sign, share in terms) for row in members]
        return members, value

    def above(others):
        return lambda row: outranked(data, w, row, others)

    def below(others):
        return lambda row: 1 - outranked(data, w, row, others)

    if metric == "auc":
        return [sample(every & one, (1, above(zero))), sample(every & zero, (1, below(one)))]
    if metric == "xauc":
        return [
            sample(in_a & one, (1, above(in_b & zero))),
            sample(in_b & zero, (1, below(in_a & one))),
            sample(in_b & one, (-1, above(in_a & zero))),
            sample(in_a & zero, (-1, below(in_b & one))),
        ]
    if metric == "prf":
        return [
            sample(in_a & one, (1, above(zero))),
            sample(in_b & one, (-1, above(zero))),
            sample(zero, (1, below(in_a & one)), (-1, below(in_b & one))),
        ]
    return [
        sample(in_a, (1, above(in_b)), (-1, below(in_b))),
        sample(in_b, (1, below(in_a)), (-1, above(in_a))),
    ]


def slow_stderr(data: Rows, metric: str, a: str = "", b: str = "", *, sampling: bool = False) -> float:
    """Root of the summed variances of the samples' means; nan where one has a single row, or nothing varies."""
    w = np.ones(len(data.y)) if data.w is None else data.w
    total = 0.0
    for members, values in influences(data, w, metric, a, b):
        mass = w[members]
        spread = mass**2 if sampling else mass
        if mass.sum() ** 2 <= spread.sum() * (1 + 1e-9):
            return np.nan
        scatter = np.sum(spread * (values - np.average(values, weights=mass)) ** 2)
        total += scatter / (mass.sum() ** 2 - spread.sum())
    return float(np.sqrt(total)) if total > 1e-14 else np.nan


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
    value, stderr = METRICS[metric].estimate(m, a, b)
    assert METRICS[metric].estimate(m, b, a) == pytest.approx((-value, stderr), rel=1e-12)


def test_large_counts():
    """A million times the rows: a thousandth of the error, but for the correction n / (n - 1)."""
    data = population(400, distinct=12)
    many = Rows(data.y, data.s, data.g, np.full(400, 1e12))
    some = Rows(data.y, data.s, data.g, np.full(400, 1e6))
    for metric in METRICS:
        ratio = fast_stderr(some, metric, "a", "b") / fast_stderr(many, metric, "a", "b")
        assert ratio == pytest.approx(1000, rel=1e-7)


class TestGap:
    def test_interval_and_pvalue(self):
        gap = Gap.from_estimate("xauc", ("a", "b"), (-0.1, 0.05), 0.9)
        assert gap.interval == pytest.approx((-0.1 - 1.6448536 * 0.05, -0.1 + 1.6448536 * 0.05), abs=1e-8)
        assert gap.pvalue == pytest.approx(0.04550026, abs=1e-8)
        assert interval((0.2, 0.1), 0.99)[1] == pytest.approx(0.2 + 0.1 * 2.5758293, abs=1e-8)

    def test_the_pvalue_falls_below_alpha_where_the_interval_leaves_zero(self):
        for value in (0.0979, 0.0981):
            gap = Gap.from_estimate("prf", ("a", "b"), (value, 0.05), 0.95)
            assert (gap.pvalue < 0.05) == (gap.interval[0] > 0)
        assert {norm.ppf(0.975) * 0.05 > value for value in (0.0979, 0.0981)} == {True, False}

    def test_unknown_uncertainty_is_nan_and_none_in_json(self):
        gap = Gap.from_estimate("xauc", ("a", 1), (1.0, np.nan), 0.95)
        assert np.isnan([*gap.interval, gap.stderr, gap.pvalue]).all()
        unknown = {"stderr": None, "interval": [None, None], "pvalue": None}
        assert gap.to_dict() == {"metric": "xauc", "pair": ["a", 1], "value": 1.0} | unknown


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
    ],
)
def test_intervals_hold_the_truth(benchmark, name, metric, gap):
    """The full proof, of 2,000 data sets a setting, is benchmarks/coverage_of_intervals.py."""
    data_sets = 400
    found = benchmark.coverage(name, metric, gap, data_sets)
    allowed = 3.5 * np.sqrt(0.95 * 0.05 / data_sets)
    assert found["coverage"] == pytest.approx(0.95, abs=allowed)
    assert found["coverage_of_auc"] == pytest.approx(0.95, abs=allowed)


@pytest.mark.parametrize("step", [0.0, 0.5])
@pytest.mark.parametrize("weights", ["none", "sampling"])
def test_the_truth_of_the_benchmark_is_that_of_a_large_sample(benchmark, step, weights):
    setting = benchmark.Setting(200_000, 0.3, step=step, weights=weights)
    truth = benchmark.Population(setting, 0.2)
    found = audit(**truth.draw(np.random.default_rng(4)))
    assert found.auc == pytest.approx(truth.value("auc"), abs=4 * found.auc_stderr)
    for gap in found.gaps:
        assert gap.value == pytest.approx(truth.value(gap.metric), abs=4 * gap.stderr)
