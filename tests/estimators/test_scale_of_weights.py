"""Do no harm with weights: counts are rows; of sampling weights the scale tells nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import xorder
from xorder import XOrder
from xorder._validation import check_tables
from xorder.exceptions import XorderWarning


def rows(seed: int = 0, n: int = 1500, gap: float = 0.35):
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.4, "B", "A")
    need = rng.normal(size=n)
    y = (need + rng.logistic(size=n) > 0.5).astype(int)
    return 1 / (1 + np.exp(-need - rng.normal(size=n) + gap * (group == "B"))), y, group


def kept_share(score, y, group, weight=None, weights_are="counts", **settings):
    repair = XOrder(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        repair.fit(score, y, sensitive_features=group, sample_weight=weight, weights_are=weights_are)
    return repair.kept_share_


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@pytest.mark.parametrize("scale", [1e-120, 1 / 1500, 0.5, 250.5])
def test_the_scale_of_sampling_weights_cancels(metric, scale):
    score, y, group = rows()
    plain = kept_share(score, y, group, metric=metric)
    assert 0 < plain["B"] < 1
    weighted = kept_share(score, y, group, np.full(y.size, scale), "sampling", metric=metric)
    assert weighted["B"] == pytest.approx(plain["B"], rel=1e-9)


def test_the_share_kept_is_that_of_an_audit_by_sampling_weights():
    score, y, group = rows(1)
    weight = np.random.default_rng(1).gamma(0.7, 300.0, y.size)
    weight[::9] = 0.0
    found = xorder.audit(y, score, sensitive_features=group, sample_weight=weight, weights_are="sampling").gap("xauc")
    expected = max(0.0, 1 - (1.25 * found.stderr / found.value) ** 2)
    assert 0 < expected < 1
    assert kept_share(score, y, group, weight, "sampling") == {"B": pytest.approx(expected, rel=1e-9)}


@pytest.mark.slow
def test_noise_with_survey_weights_is_not_repaired():
    for seed in range(10):
        score, y, group = rows(seed, n=500, gap=0.0)
        weighted = kept_share(score, y, group, np.full(y.size, 250.0), "sampling")
        (moved,) = weighted
        assert weighted[moved] == pytest.approx(kept_share(score, y, group)[moved], abs=1e-9)


def test_counts_are_rows():
    score, y, group = rows(2)
    weight = np.random.default_rng(2).integers(0, 4, y.size)
    often = np.repeat(np.arange(y.size), weight)
    assert kept_share(score, y, group, weight)["B"] == pytest.approx(
        kept_share(score[often], y[often], group[often])["B"], abs=1e-10
    )


def test_rows_a_frame_and_tables_say_the_same():
    score, y, group = rows(3)
    weight = np.random.default_rng(3).random(y.size) + 0.01
    by_rows = kept_share(score, y, group, weight, "sampling")["B"]
    assert by_rows > 0
    frame = pd.DataFrame({"s": score, "y": y, "g": group, "w": weight})
    careful = XOrder()
    careful.fit_frame(frame, score="s", label="y", group="g", weight="w", weights_are="sampling")
    assert careful.kept_share_["B"] == pytest.approx(by_rows, rel=1e-9)
    tables = check_tables(y, score, group, weight, weights_are="sampling")
    assert careful.fit_tables(tables).kept_share_["B"] == pytest.approx(by_rows, rel=1e-12)
    with pytest.warns(XorderWarning, match="sample_weight is not whole, yet read as counts"):
        careful.fit_tables(check_tables(y, score, group, weight))
    assert careful.kept_share_["B"] < by_rows
    whole = frame.assign(w=np.random.default_rng(4).integers(1, 3, y.size))
    careful.fit_frame(whole, score="s", label="y", group="g", weight="w")
    assert careful.kept_share_["B"] == pytest.approx(kept_share(score, y, group, whole.w)["B"], rel=1e-9)


def test_merged_groups_bring_their_squares_along():
    score, y, group = rows(4)
    group = group.astype("U4")
    group[:12] = "tiny"
    weight = np.random.default_rng(5).random(y.size) + 0.1
    merged = kept_share(score, y, group, weight, "sampling", min_group_size=30, small_groups="merge")
    joined = kept_share(score, y, np.where(group == "tiny", "A", group), weight, "sampling")
    assert merged == {"B": pytest.approx(joined["B"], rel=1e-12)}


@pytest.mark.slow
def test_a_row_cut_into_parts_changes_nothing():
    for seed in (29, 3, 4):
        rng = np.random.default_rng(seed)
        group = np.array(list("ABC"))[rng.integers(0, 3, 200)]
        score = np.round(rng.random(200), 2)
        y = (rng.random(200) < score ** (1 + (group == "A"))).astype(int)
        parts = rng.integers(1, 4, 200)
        cut = np.repeat(np.arange(200), parts)
        whole, pieces = (XOrder(tradeoff=1.0, do_no_harm=False) for _ in range(2))
        whole.fit(score, y, sensitive_features=group, sample_weight=0.1 * parts, weights_are="sampling")
        tenth = np.full(cut.size, 0.1)
        pieces.fit(score[cut], y[cut], sensitive_features=group[cut], sample_weight=tenth, weights_are="sampling")
        np.testing.assert_allclose(
            pieces.transform(score, sensitive_features=group),
            whole.transform(score, sensitive_features=group),
            atol=1e-10,
        )
