"""Means, intervals and tests over splits, against SciPy and hand calculation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.summary import Results, difference, half_width, mean, noise_floor, p_values
from support.made_up_results import curves, rows


def test_a_curve_is_in_the_order_of_its_parameter() -> None:
    results = Results(rows("xorder-dp", 0.5, gaps=[0.1]) + rows("xorder-dp", 0.0, gaps=[0.2]))
    curve = results.curve("compas", "stored", "linear", "xorder-dp", "xauc")
    assert [(point.parameter, point.mean_gap) for point in curve] == [(0.0, 0.2), (0.5, 0.1)]


def test_gaps_are_averaged_without_their_sign_and_of_the_metric_asked_for() -> None:
    results = Results(rows("unadjusted", gaps=[-0.2, 0.1]))
    assert results.unadjusted("compas", "stored", "linear", "xauc").mean_gap == pytest.approx(0.15)
    assert results.unadjusted("compas", "stored", "linear", "prf").mean_gap == pytest.approx(0.075)


def test_the_fairest_point_is_chosen_in_training_not_on_test_rows() -> None:
    found = rows("xorder-dp", 0.0, gaps=[0.01], training=0.3) + rows("xorder-dp", 0.5, gaps=[0.2], training=0.01)
    point = Results(found).fairest("compas", "stored", "linear", "xorder-dp", "xauc")
    assert point is not None
    assert point.parameter == 0.5


def test_failed_rows_and_what_could_not_be_measured_are_left_out() -> None:
    found = rows("post-logit", gaps=[0.1, 0.3])
    found[0]["xauc_test"] = None
    found.append({**rows("post-logit", gaps=[0.5])[0], "split": 7, "error": "ValueError: no"})
    point = Results(found).curve("compas", "stored", "linear", "post-logit", "xauc")[0]
    assert point.gap == {1: 0.3}


def test_an_interval_is_students() -> None:
    values = {0: 0.1, 1: 0.25, 2: 0.13, 3: 0.2}
    found = np.array([*values.values()])
    low, high = stats.t.interval(0.95, 3, loc=found.mean(), scale=stats.sem(found))
    assert (mean(values) - half_width(values), mean(values) + half_width(values)) == pytest.approx((low, high))


def test_differences_pair_splits() -> None:
    assert difference({0: 0.5, 1: 0.7}, {1: 0.4, 2: 0.1}) == {1: pytest.approx(0.3)}


def test_the_t_test_is_scipys_and_shared_rows_make_it_weaker() -> None:
    values = dict(enumerate([0.1, 0.12, 0.09, 0.15, 0.11]))
    plain, corrected = p_values(values, 3 / 7)
    assert plain == pytest.approx(stats.ttest_1samp([*values.values()], 0.0).pvalue)
    assert plain < corrected
    # Splits that share no rows, as if the test part were nothing: both are the same.
    assert p_values(values, 0.0)[1] == pytest.approx(plain)


def test_where_there_is_nothing_to_test_with_nothing_is_claimed() -> None:
    assert p_values({0: 0.2}, 3 / 7) == (1.0, 1.0)
    assert p_values({0: 0.0, 1: 0.0}, 3 / 7) == (1.0, 1.0)
    assert p_values({0: 0.2, 1: 0.2}, 3 / 7) == (0.0, 0.0)


def test_chance_alone_shows_the_mean_of_a_half_normal() -> None:
    point = Results(rows("unadjusted", gaps=[0.1, 0.1])).unadjusted("compas", "stored", "linear", "xauc")
    drawn = np.abs(np.random.default_rng(0).normal(0.0, 0.02, 200_000)).mean()
    assert noise_floor(point) == pytest.approx(drawn, rel=0.01)


def test_names_known_come_first_and_own_ones_after() -> None:
    results = Results(curves(data="mine") + curves(data="adult") + curves())
    assert results.listed("data", ("compas", "adult", "german")) == ["compas", "adult", "mine"]
