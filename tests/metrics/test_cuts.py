"""Cuts of the list against rows sorted by hand; their intervals and bands against what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xorder
from support.drawn_rows import WHOLE, Rows, rows
from xorder._ranking import Ranking, rank_rows
from xorder._table import RankedRows, Tables
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics._cuts import OF, CutGap, Cuts, Threshold, check_cut, check_of


def cuts_of(data: Rows, confidence: float = 0.95, *, ranked: bool = False) -> Cuts:
    """The cuts of the tables, or of ranked rows, whose weights do not count."""
    if ranked:
        code = 2 * np.searchsorted(data.groups, data.g) + data.y
        ranking = rank_rows(data.s.astype(np.float64), code.astype(np.uint8), 2 * len(data.groups))
        assert ranking is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ranking, "are_distinct", True)
            tables = Tables(RankedRows(data.groups, ranking))
            assert tables.ranking is ranking
        return Cuts(tables, confidence)
    return Cuts(Tables(dict(zip(data.groups, data.tables, strict=True))), confidence)


def rate(data: Rows, group: str, of: str, selected: Any) -> float:
    """Share of a group's positives selected, of its negatives not selected, or of all its rows selected; row by row."""
    w = np.ones(data.y.size) if data.w is None else data.w
    counted = (data.g == group) & {"sensitivity": data.y == 1, "specificity": data.y == 0}.get(of, data.y >= 0)
    total = float(w[counted].sum())
    if not total > 0:
        return float("nan")
    share = float((w * selected)[counted].sum()) / total
    return 1 - share if of == "specificity" else share


def selected_at_share(data: Rows, share: float) -> Any:
    """How much of each row is selected: from the top, and of rows tied at the cut the same part of each."""
    w = np.ones(data.y.size) if data.w is None else data.w
    left, chosen = share * w.sum(), np.zeros(data.y.size)
    for score in sorted(set(data.s.tolist()), reverse=True):
        here = data.s == score
        mass = w[here].sum()
        if mass > 0:
            chosen[here] = min(max(left / mass, 0.0), 1.0)
        left -= mass
    return chosen


# However many rows are between two places.
PLACES = st.sampled_from([1, 3, 1024])


@given(
    data=rows(weights=WHOLE), share=st.floats(0.02, 0.98), of=st.sampled_from(OF), places=PLACES, ranked=st.booleans()
)
def test_a_share_of_the_list_is_what_rows_say(data: Rows, share: float, of: str, places: int, ranked: bool) -> None:
    data = Rows(data.y, data.s, data.g, None) if ranked else data
    a, b = data.groups[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._ranking.PLACES", places)
        found = cuts_of(data, ranked=ranked).at(share, (a, b), check_of(of))
    chosen = selected_at_share(data, share)
    expected = rate(data, a, of, chosen), rate(data, b, of, chosen)
    assert found.rates == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert found.value == pytest.approx(expected[0] - expected[1], abs=1e-9, nan_ok=True)
    assert found.cut == pytest.approx(share)


@given(
    data=rows(weights=WHOLE),
    of=st.sampled_from(OF),
    at=st.integers(0, 11),
    moved=st.sampled_from([-0.01, 0, 0.01]),
    ranked=st.booleans(),
)
def test_a_threshold_is_what_rows_say(data: Rows, of: str, at: int, moved: float, ranked: bool) -> None:
    data = Rows(data.y, data.s, data.g, None) if ranked else data
    a, b = data.groups[:2]
    score = float(data.s[at % data.s.size]) + moved
    found = cuts_of(data, ranked=ranked).at(Threshold(score), (a, b), check_of(of))
    expected = rate(data, a, of, data.s >= score), rate(data, b, of, data.s >= score)
    assert found.rates == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(data=rows(weights=WHOLE), of=st.sampled_from(OF), places=PLACES, ranked=st.booleans())
def test_the_worst_cut_is_the_widest_of_all_thresholds(data: Rows, of: str, places: int, ranked: bool) -> None:
    data = Rows(data.y, data.s, data.g, None) if ranked else data
    a, b = data.groups[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._ranking.PLACES", places)
        found = cuts_of(data, ranked=ranked).worst((a, b), check_of(of))
    w = np.ones(data.y.size) if data.w is None else data.w
    gaps = []
    for score in [np.inf, *sorted(set(data.s[w > 0].tolist()))]:
        first, second = (rate(data, group, of, data.s >= score) for group in (a, b))
        gaps.append(first - second)
    if np.isnan(gaps).any():
        assert np.isnan(found.value)
        return
    assert abs(found.value) == pytest.approx(np.abs(gaps).max(), abs=1e-9)
    # And it is where it says.
    at = data.s >= found.threshold
    assert found.value == pytest.approx(rate(data, a, of, at) - rate(data, b, of, at), abs=1e-9)
    assert found.cut == pytest.approx((w * at).sum() / w.sum())
    assert np.isnan(found.interval).all() or found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize("levels", [None, 5000])
def test_the_worst_of_many_cuts_is_found_though_few_are_looked_at(levels: int | None) -> None:
    rng = np.random.default_rng(3)
    y, g = rng.integers(0, 2, 40_000), np.where(rng.random(40_000) < 0.3, "b", "a")
    s = rng.normal(size=y.size) + y - 0.1 * (g == "b")
    if levels is not None:
        s = np.round(s * levels / 10)
    data = Rows(y, s, g, None)
    by_cut = cuts_of(data)
    found = by_cut.worst(("a", "b"), "sensitivity")
    falling = np.unique(s)[::-1]
    above = [np.searchsorted(np.sort(-s[(g == group) & (y == 1)]), -falling, side="right") for group in "ab"]
    first, second = (each / ((g == group) & (y == 1)).sum() for each, group in zip(above, "ab", strict=True))
    worst = int(np.argmax(np.abs(first - second)))
    assert found.value == pytest.approx(first[worst] - second[worst], abs=1e-12)
    assert found.rates == pytest.approx((first[worst], second[worst]), abs=1e-12)


@given(data=rows(weights=WHOLE), of=st.sampled_from(OF))
def test_a_curve_is_the_gap_at_each_share(data: Rows, of: str) -> None:
    a, b = data.groups[:2]
    expected = []
    for share in (0.25, 0.5, 0.75):
        first, second = (rate(data, group, of, selected_at_share(data, share)) for group in (a, b))
        expected.append(first - second)
    if np.isnan(expected).any():
        return
    shares, gaps, _ = cuts_of(data).curve((a, b), check_of(of), points=4)
    np.testing.assert_array_equal(shares, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(gaps, expected, rtol=0, atol=1e-9)


def levels(size: int = 400, lower: float = 0.4) -> Rows:
    """Rows of three scores, so that a cut in the midst of one moves smoothly as rows come and go."""
    rng = np.random.default_rng(5)
    group, label = np.where(rng.random(size) < 0.4, "b", "a"), (rng.random(size) < 0.4).astype(int)
    return Rows(label, np.clip(np.rint(rng.normal(size=size) + label - lower * (group == "b")), 0, 2), group, None)


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("share", [0.15, 0.4])
def test_errors_at_a_share_are_those_of_leaving_out_each_row(of: str, share: float) -> None:
    # Groups far apart, so that to move the cut changes the gap.
    data = levels(n := 20_000, lower=1.5)

    def gap(kept: Any) -> float:
        some = Rows(data.y[kept], data.s[kept], data.g[kept], None)
        first, second = (rate(some, group, of, selected_at_share(some, share)) for group in "ab")
        return first - second

    # Rows that are alike are left out once, for all of them.
    kinds, kind = np.unique(np.stack([data.y, data.s, data.g == "b"]), axis=1, return_inverse=True)
    firsts = [int(np.argmax(kind.ravel() == each)) for each in range(kinds.shape[1])]
    without = np.array([gap(np.arange(n) != first) for first in firsts])[kind.ravel()]
    variance = (n - 1) / n * np.sum((without - without.mean()) ** 2)
    found = cuts_of(data).at(share, ("a", "b"), check_of(of))
    # It has one more row above the cut and one below in each group.
    assert found.stderr == pytest.approx(np.sqrt(variance), rel=0.01)


@pytest.mark.parametrize("of", OF)
def test_errors_at_a_score_are_those_of_two_shares(of: str) -> None:
    data = levels()
    found = cuts_of(data).at(Threshold(1.0), ("a", "b"), check_of(of))
    variance = 0.0
    for group, own in zip("ab", found.rates, strict=True):
        rows = np.sum((data.g == group) & {"sensitivity": data.y == 1, "specificity": data.y == 0}.get(of, True))
        # One more row above and one below.
        variance += own * (1 - own) / rows + (own**2 + (1 - own) ** 2) / rows**2
    assert found.stderr == pytest.approx(np.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("cut", [0.3, Threshold(1.0)])
def test_the_scale_of_sampling_weights_means_nothing_at_a_cut(cut: Any) -> None:
    data = levels()
    once, half = (
        Cuts(Tables(dict(zip("ab", Rows(data.y, data.s, data.g, np.full(400, w)).sampled_tables, strict=True))), 0.95)
        for w in (1.0, 0.5)
    )
    for of in OF:
        one, other = (cuts.at(cut, ("a", "b"), of) for cuts in (once, half))
        assert other.stderr == pytest.approx(one.stderr, rel=1e-9)
        assert other.stderr == pytest.approx(cuts_of(data).at(cut, ("a", "b"), of).stderr, rel=1e-9)


def test_the_band_of_two_like_groups_is_smirnovs() -> None:
    rng = np.random.default_rng(7)
    for sizes in ((3000, 3000), (6000, 1500)):
        data = Rows(np.ones(sum(sizes)), rng.normal(size=sum(sizes)), np.repeat(["a", "b"], sizes), None)
        worst = cuts_of(data).worst(("a", "b"), "selected")
        # 95 % of the time the largest distance of two such steps is below 1.358 of this.
        wanted = 1.358 * np.sqrt(sum(1 / size for size in sizes))
        assert (worst.interval[1] - worst.interval[0]) / 2 == pytest.approx(wanted, rel=0.06)


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("low", [-5.0, 0.5, 2.0])
def test_the_band_of_two_small_groups_is_as_wide_wherever_a_long_list_has_them(low: float, ranked: bool) -> None:
    rng = np.random.default_rng(4)
    few = Rows(np.ones(200), rng.random(200), np.repeat(["a", "b"], 100), None)
    alone = cuts_of(few).worst(("a", "b"), "sensitivity")
    many = 100_000
    data = Rows(
        np.append(few.y, rng.integers(0, 2, many)),
        np.append(low + 1e-5 * few.s, rng.random(many)),
        np.append(few.g, np.repeat("c", many)),
        None,
    )
    among = cuts_of(data, ranked=ranked).worst(("a", "b"), "sensitivity")
    assert among.value == pytest.approx(alone.value)
    assert among.interval == pytest.approx(alone.interval, rel=0.02)
    assert among.interval[1] - among.value == pytest.approx(1.358 * np.sqrt(2 / 100), rel=0.06)


@pytest.mark.parametrize("size", [300, 1000, 6000])
def test_a_band_drawn_at_some_cuts_is_as_wide_as_at_all(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(size)
    data = Rows(rng.integers(0, 2, size), rng.normal(size=size), rng.choice(["a", "b"], size, p=[0.7, 0.3]), None)
    some = cuts_of(data).worst(("a", "b"), "selected").interval
    monkeypatch.setattr("xorder.metrics._cuts._POINTS", size)
    every = cuts_of(data).worst(("a", "b"), "selected").interval
    assert some[1] - some[0] == pytest.approx(every[1] - every[0], rel=0.02)


@pytest.mark.parametrize("size", [500, 4000, 60_000])
def test_ranked_rows_and_their_tables_have_the_same_band(size: int) -> None:
    rng = np.random.default_rng(size)
    data = Rows(rng.integers(0, 2, size), rng.normal(size=size), rng.choice(["a", "b", "c"], size), None)
    for of in OF:
        one, two = (cuts_of(data, ranked=ranked).worst(("a", "b"), of) for ranked in (False, True))
        assert one.interval == pytest.approx(two.interval, abs=1e-12)


def test_of_cuts_as_wide_the_worst_is_the_highest() -> None:
    # Above 3, 2 and 1 the shares are 1/3 and 0, 2/3 and 1/3, 1 and 2/3.
    y, s, g = np.ones(6), np.array([3.0, 2.0, 1.0, 2.0, 1.0, 0.0]), np.repeat(["a", "b"], 3)
    assert cuts_of(Rows(y, s, g, None)).worst(("a", "b"), "sensitivity").threshold == 3.0


def test_a_curve_without_positives_has_no_band() -> None:
    data = Rows(np.zeros(40), np.arange(40.0), np.tile(["a", "b"], 20), None)
    _, gaps, half = cuts_of(data).curve(("a", "b"), "sensitivity")
    assert np.isnan(gaps).all()
    assert np.isnan(half)


def test_a_list_of_tables_has_no_more_blocks_with_more_groups() -> None:
    rng = np.random.default_rng(5)
    sizes = []
    for groups in (2, 20):
        data = Rows(rng.integers(0, 2, 400_000), rng.random(400_000), rng.integers(0, groups, 400_000), None)
        sizes.append(cuts_of(data)._list.top.size)
    assert sizes[1] < 1.1 * sizes[0]


def test_a_number_of_places_is_that_share() -> None:
    rng = np.random.default_rng(0)
    data = Rows(rng.integers(0, 2, 400), rng.normal(size=400), rng.choice(["a", "b"], 400), None)
    cuts = cuts_of(data)
    assert cuts.at(40, ("a", "b"), "selected").value == pytest.approx(cuts.at(0.1, ("a", "b"), "selected").value)
    counted = cuts.at(40, ("a", "b"), "selected")
    sizes = [float((data.g == group).sum()) for group in "ab"]
    assert counted.rates[0] * sizes[0] + counted.rates[1] * sizes[1] == pytest.approx(40)


def test_seen_from_the_other_group() -> None:
    gap = CutGap("sensitivity", ("a", "b"), 0.2, 0.1, 0.7, (0.5, 0.3), 0.05, (0.1, 0.3))
    other = gap.reversed()
    assert (other.pair, other.value, other.rates, other.interval) == (("b", "a"), -0.2, (0.3, 0.5), (-0.3, -0.1))
    assert other.to_dict()["pair"] == ["b", "a"]


@pytest.mark.parametrize("wrong", [0, 0.0, 1.0, -0.1, True, "5%", None, 401, float("nan")])
def test_what_is_not_a_cut(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"a cut must be|number of places must be"):
        check_cut(wrong, 400)


@pytest.mark.parametrize("wrong", [float("inf"), float("nan"), "high", None])
def test_what_is_not_a_threshold(wrong: Any) -> None:
    with pytest.raises(InputError, match="a Threshold must be a finite score"):
        Threshold(wrong)


def drawn(rng: np.random.Generator, size: int) -> Rows:
    group = np.where(rng.random(size) < 0.3, "b", "a")
    label = (rng.random(size) < 0.3).astype(int)
    return Rows(label, np.round(rng.normal(size=size) + label - 0.3 * (group == "b"), 1), group, None)


@pytest.mark.slow
def test_intervals_and_band_cover_about_as_often_as_they_say() -> None:
    """Few draws, and so wide limits: the study with two thousand is benchmarks/coverage_of_cuts.py."""
    rng = np.random.default_rng(0)
    pair = ("a", "b")
    truth = cuts_of(drawn(rng, 500_000))
    scores = np.unique(np.round(np.linspace(-3, 4, 71), 1))
    true_curve = [truth.at(Threshold(score), pair, "sensitivity").value for score in scores]
    at_share = truth.at(0.1, pair, "sensitivity").value
    inside = {"band": 0, "share": 0}
    for _ in range(150):
        cuts = cuts_of(drawn(rng, 700))
        worst = cuts.worst(pair, "sensitivity")
        half = max(worst.interval[1] - worst.value, worst.value - worst.interval[0])
        curve = [cuts.at(Threshold(score), pair, "sensitivity").value for score in scores]
        inside["band"] += bool(np.all(np.abs(np.subtract(curve, true_curve)) <= half + 1e-12))
        low, high = cuts.at(0.1, pair, "sensitivity").interval
        inside["share"] += low <= at_share <= high
    assert 134 <= inside["band"] <= 149
    assert 134 <= inside["share"] <= 149


class TestAudit:
    """An audit knows any cut, and reports some."""

    @pytest.fixture
    def audit(self) -> xorder.Audit:
        rng = np.random.default_rng(1)
        group = rng.choice(["a", "b", "c"], 1200)
        label = rng.integers(0, 2, 1200)
        return xorder.audit(label, rng.normal(size=1200) + label - 0.5 * (group == "b"), sensitive_features=group)

    def test_a_pair_without_a_rate_is_not_the_one_that_differs_most(self) -> None:
        rng = np.random.default_rng(2)
        label, group = rng.integers(0, 2, 120), np.repeat(["a", "b", "c"], 40)
        label[group == "c"] = 0
        with pytest.warns(XorderWarning):
            found = xorder.audit(label, rng.normal(size=120) + label, sensitive_features=group)
        for at in (None, 0.25, Threshold(0.75)):
            gap = found.cut_gap(at)
            assert gap.pair == ("a", "b")
            assert 0 < abs(gap.value) < 1

    def test_the_worst_cut_is_that_of_the_pair_that_differs_most(self, audit: xorder.Audit) -> None:
        worst = audit.cut_gap()
        pairs = [("a", "b"), ("a", "c"), ("b", "c")]
        assert abs(worst.value) == max(abs(audit.cut_gap(pair=pair).value) for pair in pairs)
        assert "b" in worst.pair
        assert audit.cut_gap(pair=("b", "a")).value == pytest.approx(-audit.cut_gap(pair=("a", "b")).value)

    def test_cuts_of_all_kinds(self, audit: xorder.Audit) -> None:
        assert audit.cut_gap(120).value == pytest.approx(audit.cut_gap(0.1).value)
        threshold = audit.cut_gap(0.1).threshold
        assert audit.cut_gap(xorder.Threshold(threshold), of="selected").cut == pytest.approx(0.1, abs=0.002)
        for of in OF:
            low, high = audit.cut_gap(0.2, of=of).interval
            assert low < audit.cut_gap(0.2, of=of).value < high

    def test_what_is_reported(self, audit: xorder.Audit) -> None:
        found = audit.to_dict()["cuts"]
        assert len(found) == 3 * 5
        assert found[1]["value"] == audit.cut_gap(0.01, ("a", "b")).value
        text = str(audit)
        assert "worst, " in text
        assert "\n5 % " in text

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"at": 1.5}, "a cut must be a share"),
            ({"at": 5000}, "from 1 up to the number of rows, 1,200; got 5000"),
            ({"pair": ("a", "z")}, "pair must be two of the groups 'a', 'b', 'c'"),
            ({"pair": ("a", "b", "a")}, "pair must be two of the groups"),
            ({"of": "precision"}, "of must be one of sensitivity, specificity, selected"),
        ],
    )
    def test_what_cannot_be_asked(self, audit: xorder.Audit, wrong: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError, match=words):
            audit.cut_gap(**wrong)

    def test_a_share_that_ends_at_a_row_ends_there_in_spite_of_rounding(self) -> None:
        score, label = np.arange(100.0), np.arange(100) % 3 == 0
        assert 0.07 * 100 > 7
        assert xorder.audit(label, score, sensitive_features=np.arange(100) % 2).cut_gap(0.07).threshold == 93.0

    @pytest.mark.parametrize(("wrong", "words"), [([2.0], "a cut must be a share"), (0.05, "must be several cuts")])
    def test_cuts_are_checked_before_anything_is_measured(
        self, wrong: Any, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("xorder.metrics._make_audit.moments_of", lambda tables: pytest.fail("measured"))
        with pytest.raises(InputError, match=words):
            xorder.audit([1, 0] * 20, range(40), sensitive_features=["a", "a", "b", "b"] * 10, cuts=wrong)

    def test_few_positives_have_no_band(self) -> None:
        rng = np.random.default_rng(3)
        group = np.repeat(["a", "b", "few"], [400, 400, 60])
        label = rng.integers(0, 2, 860)
        label[group == "few"] = np.arange(60) < 9
        found = xorder.audit(label, rng.normal(size=860) + label, sensitive_features=group)
        assert np.isnan(found.cut_gap(pair=("a", "few")).interval).all()
        assert np.isfinite(found.cut_gap(pair=("a", "b")).interval).all()
        worst = [line for line in str(found).splitlines() if line.startswith("worst, ")]
        assert len(worst) == 1
        of_few = found.describe(pair=("a", "few")).splitlines()
        assert next(line for line in of_few if line.startswith("worst, ")).endswith("not known")

    def test_ties_alone_have_no_band(self) -> None:
        with pytest.warns(XorderWarning, match="placements do not vary"):
            found = xorder.audit([1, 0] * 40, [0.5] * 80, sensitive_features=["a", "b", "b", "a"] * 20)
        assert found.cut_gap().value == 0
        assert np.isnan(found.cut_gap().interval).all()
