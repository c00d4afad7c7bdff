import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import xorder
from support.effort import draws
from support.needs import package
from support.oracles import gap
from xorder import ScoreTable, XOrder
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.estimators import METHODS
from xorder.exceptions import InputError, XorderWarning

METRICS = ["xauc", "prf", "parity"]


def sample(size=300, seed=0):
    people = simulate_population(size, random_state=seed)
    return people.y_score, people.y_true, people.group


@st.composite
def samples(draw):
    """Two groups with ties within and across them, both classes in each, weights perhaps."""
    size = draw(st.integers(0, 16))
    rows = st.tuples(st.integers(1, 19), st.integers(0, 1), st.sampled_from("ab"))
    drawn = [(5, 1, "a"), (7, 0, "a"), (3, 1, "b"), (9, 0, "b"), *draw(st.lists(rows, min_size=size, max_size=size))]
    score, label, group = (np.array(column) for column in zip(*drawn, strict=True))
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(drawn), max_size=len(drawn))))
    return score / 20, label, group, weight


# What fit and transform promise


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["dp", "frontier"])
@given(drawn=samples(), tradeoff=st.sampled_from([0.0, 0.3, 1.0, 100.0]))
@settings(max_examples=draws(25), deadline=None)
def test_adjusted_training_scores_realise_the_ordering(metric, method, drawn, tradeoff):
    score, label, group, weight = drawn
    repair = XOrder(metric=metric, tradeoff=tradeoff, method=method, small_groups="repair")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the best ordering found is no better", category=XorderWarning)
        repair.fit(score, label, sensitive_features=group, sample_weight=weight, weights_are="sampling")
    adjusted = repair.transform(score, sensitive_features=group)
    if not repair.moved_:
        assert method == "frontier"
        np.testing.assert_array_equal(adjusted, score)
        return
    found = repair.ordering_
    assert roc_auc_score(label, adjusted, sample_weight=weight) == pytest.approx(found.auc, abs=1e-9)
    pair = repair.reference_, *repair.moved_
    assert gap(metric, label, adjusted, group, *pair, weight) == pytest.approx(found.gap, abs=1e-9)
    stays = group == repair.reference_
    np.testing.assert_array_equal(adjusted[stays], score[stays])
    # Within the moved group nothing changes places: same order, same ties.
    own, new = score[~stays], adjusted[~stays]
    np.testing.assert_array_equal(np.unique(own, return_inverse=True)[1], np.unique(new, return_inverse=True)[1])
    assert (adjusted >= 0).all()
    assert (adjusted <= 1).all()


@pytest.mark.parametrize("metric", METRICS)
def test_unbounded_scores_work_alike(metric):
    score, label, group = sample()
    logits = np.log(score / (1 - score))
    repair = XOrder(metric=metric, method="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(logits, label, sensitive_features=group)
    assert roc_auc_score(label, adjusted) == pytest.approx(repair.ordering_.auc, abs=1e-12)
    alike = XOrder(metric=metric, method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    np.testing.assert_array_equal(alike.ordering_.b_above, repair.ordering_.b_above)


def test_a_tradeoff_is_the_ordering_of_that_tradeoff():
    score, label, group = sample()
    tables = [xorder.ScoreTable.from_arrays(label[group == g], score[group == g]) for g in ("A", "B")]
    repair = XOrder(metric="prf", tradeoff=0.4, method="dp", reference="A").fit(score, label, sensitive_features=group)
    expected = xorder.order(*tables, metric="prf", tradeoff=0.4, solver="dp")
    np.testing.assert_array_equal(repair.ordering_.b_above, expected.b_above)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("target", [0.01, 0.05, 0.1])
def test_a_wanted_gap_is_met(metric, target):
    score, label, group = sample(300)
    repair = XOrder(metric=metric, max_gap=target, method="dp")
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    reached = gap(metric, label, adjusted, group, "A", "B")
    before = gap(metric, label, score, group, "A", "B")
    assert abs(reached) <= target + 1e-12 < abs(before)


def test_by_default_the_gap_all_but_vanishes():
    score, label, group = sample(300)
    adjusted = XOrder(method="dp").fit_transform(score, label, sensitive_features=group)
    assert abs(gap("xauc", label, adjusted, group, "A", "B")) < 0.005


# Which group moves


@pytest.mark.parametrize("metric", METRICS)
def test_the_losing_group_moves(metric):
    score, label, group = sample()
    assert gap(metric, label, score, group, "A", "B") > 0
    assert XOrder(metric=metric, method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group).moved_ == ("B",)
    turned = np.where(group == "A", "B", "A")
    assert XOrder(metric=metric, method="dp", tradeoff=1.0).fit(score, label, sensitive_features=turned).moved_ == (
        "A",
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("reference", "moved"), [("A", "B"), ("B", "A")])
def test_either_group_may_stay(method, reference, moved):
    score, label, group = sample()
    repair = XOrder(reference=reference, method=method, do_no_harm=False)
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    assert (repair.reference_, repair.moved_) == (reference, (moved,))
    np.testing.assert_array_equal(adjusted[group == reference], score[group == reference])
    assert not np.array_equal(adjusted[group == moved], score[group == moved])
    assert abs(gap("xauc", label, adjusted, group, "A", "B")) < (0.02 if method == "smooth" else 0.01)


def test_without_any_gap_the_last_group_moves():
    repair = XOrder(method="dp", tradeoff=1.0, small_groups="repair")
    repair.fit([0.8, 0.2, 0.8, 0.2], [1, 0, 1, 0], sensitive_features=["x", "x", "y", "y"])
    assert repair.moved_ == ("y",)


# Manners


def test_clone_and_params():
    repair = XOrder(metric="prf", tradeoff=0.5, method="dp", reference="A")
    again = clone(repair)
    assert again is not repair
    assert again.get_params() == repair.get_params()
    assert again.set_params(metric="xauc", tradeoff=None).metric == "xauc"
    assert repair.metric == "prf"
    score, label, group = sample()
    fitted = repair.fit(score, label, sensitive_features=group)
    assert fitted is repair
    assert not hasattr(clone(repair), "maps_")


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(XOrder()) == "XOrder()"
    assert repr(XOrder(metric="prf", tradeoff=2.0)) == "XOrder(metric='prf', tradeoff=2.0)"


def test_tags():
    tags = XOrder().__sklearn_tags__()
    assert tags.target_tags.required
    assert tags.input_tags.one_d_array
    assert not tags.input_tags.two_d_array


def test_unfitted_is_said_so(tmp_path):
    with pytest.raises(NotFittedError):
        XOrder().transform([0.5], sensitive_features=["a"])
    with pytest.raises(NotFittedError):
        XOrder().save(tmp_path / "map.json")
    with pytest.raises(NotFittedError):
        XOrder().to_dict()
    with pytest.raises(NotFittedError):
        XOrder().describe()


def test_pickle_round_trip():
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    again = pickle.loads(pickle.dumps(repair))
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )
    assert again.ordering_.auc == repair.ordering_.auc


def test_fit_is_repeatable_and_can_be_repeated():
    score, label, group = sample()
    repair = XOrder(method="dp")
    first = repair.fit_transform(score, label, sensitive_features=group)
    np.testing.assert_array_equal(first, repair.fit_transform(score, label, sensitive_features=group))
    shuffled = np.random.default_rng(1).permutation(score.size)
    other = XOrder(method="dp").fit(score[shuffled], label[shuffled], sensitive_features=group[shuffled])
    np.testing.assert_array_equal(first, other.transform(score, sensitive_features=group))


@pytest.mark.parametrize("method", METHODS)
def test_arrays_given_are_not_changed(method):
    score, label, group = sample()
    weight = np.full(score.size, 2.0)
    given_arrays = [score, label, group, weight]
    kept = [array.copy() for array in given_arrays]
    for array in given_arrays:
        array.flags.writeable = False
    repair = XOrder(method=method, tradeoff=1.0).fit(score, label, sensitive_features=group, sample_weight=weight)
    adjusted = repair.transform(score, sensitive_features=group)
    adjusted[:] = 0
    for array, before in zip(given_arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)


# Columns of other libraries


@pytest.mark.parametrize("library", ["list", "pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("integers", [False, True])
def test_columns_of_any_library(library, integers):
    score, label, group = sample()
    if integers:
        group = np.where(group == "A", 1, 2)
    if library == "list":
        make = list
    elif library == "pandas":
        pandas = package("pandas")

        def make(values):
            return pandas.Series(values, index=np.arange(len(values))[::-1])
    elif library == "polars":
        make = package("polars").Series
    else:
        make = package("pyarrow").array
    plain = XOrder(method="dp", tradeoff=1.0)
    expected = plain.fit_transform(score, label, sensitive_features=group)
    repair = XOrder(method="dp", tradeoff=1.0)
    repair.fit(make(score), make(label), sensitive_features=make(group), sample_weight=make(np.ones(score.size)))
    got = repair.transform(make(score), sensitive_features=make(group))
    np.testing.assert_array_equal(got, expected)
    assert isinstance(got, np.ndarray)
    assert [(key, type(key)) for key in repair.maps_] == [(key, type(key)) for key in plain.maps_]


def test_categories_and_float32():
    pandas = package("pandas")
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(
        pandas.Series(score, dtype="float32"), label == 1, sensitive_features=pandas.Series(group, dtype="category")
    )
    assert adjusted.dtype == np.float64
    assert list(repair.maps_) == ["A", "B"]
    assert roc_auc_score(label, adjusted) == pytest.approx(repair.ordering_.auc, abs=1e-9)


# Weights


@pytest.mark.parametrize("metric", METRICS)
def test_weight_two_is_the_row_twice(metric):
    score, label, group = sample()
    weight = np.random.default_rng(0).integers(0, 4, score.size)
    weighted = XOrder(metric=metric, method="dp").fit(score, label, sensitive_features=group, sample_weight=weight)
    often = XOrder(metric=metric, method="dp").fit(
        np.repeat(score, weight), np.repeat(label, weight), sensitive_features=np.repeat(group, weight)
    )
    np.testing.assert_array_equal(weighted.ordering_.b_above, often.ordering_.b_above)
    np.testing.assert_array_equal(
        weighted.transform(score, sensitive_features=group), often.transform(score, sensitive_features=group)
    )
    numbers, words = (
        {name: value for name, value in weighted.to_dict().items() if isinstance(value, kind)}
        for kind in (float, str | list)
    )
    assert numbers == pytest.approx({name: often.to_dict()[name] for name in numbers}, abs=1e-12)
    assert words == {name: often.to_dict()[name] for name in words}


# Errors in the data


@pytest.mark.parametrize(("label", "missing"), [(1, "negatives"), (0, "positives")])
def test_a_one_class_group_is_named_with_what_is_missing(label, missing):
    score, labels, group = sample()
    labels = np.where(group == "B", label, labels)
    with pytest.raises(InputError, match=f"group 'B' has no {missing}"):
        XOrder(method="dp", small_groups="repair").fit(score, labels, sensitive_features=group)


def test_zero_weights_can_empty_a_class():
    score, label, group = sample()
    weight = np.where((group == "A") & (label == 1), 0.0, 1.0)
    with pytest.raises(InputError, match="group 'A' has no positives"):
        XOrder(method="dp", small_groups="repair").fit(score, label, sensitive_features=group, sample_weight=weight)


@pytest.mark.parametrize("method", ["frontier", "dp"])
def test_one_group_cannot_be_repaired_nor_three_by_the_methods_of_two(method):
    score, label, group = sample()
    three = np.where(np.arange(group.size) % 3 == 0, "C", group)
    with pytest.raises(InputError, match=f"^method='{method}' interleaves two groups; got 3. Use method='smooth', "):
        XOrder(method=method).fit(score, label, sensitive_features=three)
    with pytest.raises(InputError, match="at least two groups to repair; got 'A' alone"):
        XOrder(method=method).fit(score, label, sensitive_features=np.full(score.size, "A"))


def test_bad_rows_are_told():
    score, label, group = sample()
    with pytest.raises(InputError, match="y_score must be finite; row 1 holds nan"):
        XOrder(method="dp").fit([0.5, np.nan, *score[2:]], label, sensitive_features=group)
    with pytest.raises(InputError, match="y_true must hold only 0 and 1"):
        XOrder(method="dp").fit(score, label + 1, sensitive_features=group)
    with pytest.raises(InputError, match="sensitive_features must have one value per row"):
        XOrder(method="dp").fit(score, label, sensitive_features=group[:-1])
    repair = XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    with pytest.raises(InputError, match="y_score must be finite"):
        repair.transform([np.inf], sensitive_features=["A"])
    with pytest.raises(InputError, match="sensitive_features must name a group for each row; 1 row has none, row 0"):
        repair.transform([0.5], sensitive_features=[None])


# Where scores leave no room


def test_no_room_above_a_score_of_1_is_told():
    score = [1.0, 1.0, 0.9, 0.8, 0.3, 0.2]
    label = [0, 1, 0, 1, 1, 0]
    group = ["a", "a", "a", "b", "b", "b"]
    repair = XOrder(method="dp", tradeoff=5.0, reference="a", small_groups="repair")
    with pytest.warns(XorderWarning, match="leave no room for the ordering") as caught:
        repair.fit(score, label, sensitive_features=group)
    adjusted = repair.transform(score, sensitive_features=group)
    assert ((adjusted >= 0) & (adjusted <= 1)).all()
    told = repair.to_dict()
    assert told["auc"] == pytest.approx(roc_auc_score(label, adjusted))
    assert f"AUC is {told['auc']:.4f} instead of {repair.ordering_.auc:.4f}" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_room_enough_is_not_warned_about():
    score, label, group = sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)


# What no ordering can do


@pytest.mark.parametrize("method", ["frontier", "smooth"])
def test_scores_shared_by_both_groups_are_left_alone_where_no_ordering_is_as_fair(method):
    label, group = np.tile([1, 0], 20), np.repeat(["x", "y"], 20)
    score = np.full(40, 0.5)
    repair = XOrder(method=method)
    with pytest.warns(XorderWarning, match="left alone|left as they are"):
        repair.fit(score, label, sensitive_features=group)
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), score)
    assert (repair.gap_before_, repair.gap_) == (0.0, 0.0)
    assert "All scores are left as they are." in repair.describe()
    assert repair.auc_ == 0.5
    assert repair.bound_ >= repair.auc_ - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_a_limit_on_coarse_scores_is_met_from_inside(metric):
    missed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        group = rng.random(900) < 0.45
        risk = rng.normal(-1.0 * group, 1.5)
        label = rng.random(900) < 1 / (1 + np.exp(-risk))
        score = np.round(risk + rng.normal(0, 0.7, 900))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            repair = XOrder(method="frontier", metric=metric, max_gap=0.002).fit(score, label, sensitive_features=group)
        missed += abs(repair.gap_) > 0.002 + 1e-12
    assert missed == 0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e289, 1e-310, 5e-324 * 2**20])
def test_scores_of_any_finite_range(scale):
    score, label, group = sample()
    spread = (score - 0.5) * 2 * scale if scale > 1 else np.round(score * 1000) * scale
    repair = XOrder(method="frontier", max_gap=0.0).fit(spread, label, sensitive_features=group)
    adjusted = repair.transform(spread, sensitive_features=group)
    assert np.isfinite(adjusted).all()
    for member in np.unique(group):
        rising = adjusted[group == member][np.argsort(spread[group == member], kind="stable")]
        assert np.all(rising[1:] >= rising[:-1])


def test_what_is_said_to_be_best_is_about_what_was_achieved():
    """The reference's scores of 1 leave no room above them; the gap is that of the scores, not that of the plan."""
    group = np.repeat(["x", "y"], 20)
    label = np.append(np.tile([1, 0], 10), np.repeat([0, 1], 10))
    score = np.append(np.ones(20), np.linspace(0.2, 0.4, 20))
    repair = XOrder(method="frontier", reference="x", tradeoff=0.0)
    with pytest.warns(XorderWarning, match="leave no room"):
        repair.fit(score, label, sensitive_features=group)
    assert repair.auc_ < repair.ordering_.auc
    assert repair.optimality_gap_ == pytest.approx(repair.bound_ - repair.auc_)


@pytest.mark.parametrize("tradeoff", [1e99, 1e200, np.inf])
def test_huge_tradeoffs(tradeoff):
    score, label, group = sample()
    for method in METHODS:
        repair = XOrder(tradeoff=tradeoff, method=method, do_no_harm=False)
        if tradeoff < 1e100:
            limit = 0.02 if method == "smooth" else 0.01
            assert abs(repair.fit(score, label, sensitive_features=group).gap_) < limit
        else:
            with pytest.raises(InputError, match="at most 1e100"):
                repair.fit(score, label, sensitive_features=group)


# Scales


@pytest.mark.parametrize("method", METHODS)
def test_scores_stay_between_the_bounds(method):
    score, label, group = sample(400)
    percent = 100 * score
    bounded = XOrder(bounds=(0, 100), method=method).fit(percent, label, sensitive_features=group)
    adjusted = bounded.transform(percent, sensitive_features=group)
    assert 0 <= adjusted.min() <= adjusted.max() <= 100
    if method != "smooth":
        unit = XOrder(method=method).fit(score, label, sensitive_features=group)
        np.testing.assert_allclose(adjusted, 100 * unit.transform(score, sensitive_features=group), atol=1e-9)


@pytest.mark.parametrize("bounds", [(0, 1), (100, 0), (0, np.nan), "ab", 3, (1, 2, 3)])
def test_bounds_must_hold_all_scores(bounds):
    score, label, group = sample()
    for method in ("smooth", "frontier"):
        with pytest.raises(InputError, match="bounds must be two numbers"):
            XOrder(method=method, bounds=bounds).fit(100 * score, label, sensitive_features=group)


def test_a_fit_that_failed_leaves_nothing_to_transform_with():
    score, label, group = sample()
    repair = XOrder(bounds=(0, 0.1))
    with pytest.raises(InputError, match="bounds"):
        repair.fit(score, label, sensitive_features=group)
    with pytest.raises(NotFittedError):
        repair.transform(score, sensitive_features=group)


# From tables


def test_a_repair_from_tables_is_that_from_rows():
    score, y, group = sample()
    by_rows = XOrder(max_gap=0.02).fit(score, y, sensitive_features=group)
    by_tables = XOrder(max_gap=0.02).fit_tables(check_tables(y, score, group, None))
    assert by_tables.to_dict() == by_rows.to_dict()
    np.testing.assert_array_equal(by_tables.maps_["B"].adjusted, by_rows.maps_["B"].adjusted)


@pytest.mark.slow
def test_tables_of_several_days_add_up_to_the_repair_of_all():
    score, y, group = sample()
    days = [check_tables(y[part], score[part], group[part], None) for part in np.array_split(np.arange(score.size), 3)]
    together = {name: days[0][name] + days[1][name] + days[2][name] for name in ("A", "B")}
    whole = XOrder().fit(score, y, sensitive_features=group)
    assert XOrder().fit_tables(together).to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ([ScoreTable.from_arrays([1, 0], [0.9, 0.4])], "a dict that holds a ScoreTable for each group"),
        ({"A": np.zeros(3)}, "a dict that holds a ScoreTable for each group"),
        ({None: ScoreTable.from_arrays([1, 0], [0.9, 0.4])}, "call the rows of unknown group 'missing'"),
    ],
)
def test_what_are_no_tables(tables, words):
    with pytest.raises(InputError, match=words):
        XOrder().fit_tables(tables)


def test_groups_of_tables_are_sorted():
    score, y, group = sample(600)
    tables = check_tables(y, score, group, None)
    backwards = dict(reversed(list(tables.items())))
    first, other = (XOrder(do_no_harm=False).fit_tables(each).to_dict() for each in (tables, backwards))
    assert first == other


def test_parameters_are_checked_before_tables_are_used():
    with pytest.raises(InputError, match="metric must be one of"):
        XOrder(metric="auc").fit_tables({})
