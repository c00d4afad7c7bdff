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
from support.needs import package
from support.oracles import gap
from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, XorderWarning

METRICS = ["xauc", "prf", "parity"]


def sample(size=150, seed=0):
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
@pytest.mark.parametrize("solver", ["dp", "greedy", "insertion"])
@given(drawn=samples(), tradeoff=st.sampled_from([0.0, 0.3, 1.0, 100.0]))
@settings(max_examples=25, deadline=None)
def test_adjusted_training_scores_realise_the_ordering(metric, solver, drawn, tradeoff):
    score, label, group, weight = drawn
    repair = XOrder(metric=metric, tradeoff=tradeoff, solver=solver)
    weights = {"sample_weight": weight, "weights_are": "sampling"}
    adjusted = repair.fit_transform(score, label, sensitive_features=group, **weights)
    found = repair.ordering_
    assert roc_auc_score(label, adjusted, sample_weight=weight) == pytest.approx(found.auc, abs=1e-9)
    pair = repair.reference_, repair.moved_
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
    repair = XOrder(metric=metric, solver="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(logits, label, sensitive_features=group)
    assert roc_auc_score(label, adjusted) == pytest.approx(repair.ordering_.auc, abs=1e-12)
    alike = XOrder(metric=metric, solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    np.testing.assert_array_equal(alike.ordering_.b_above, repair.ordering_.b_above)


def test_summary_tells_before_and_after():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    told = repair.summary()
    pair = told["reference"], told["moved"]
    assert told["auc_before"] == pytest.approx(roc_auc_score(label, score))
    assert told["auc_after"] == pytest.approx(roc_auc_score(label, adjusted))
    assert told["gap_before"] == pytest.approx(gap("xauc", label, score, group, *pair))
    assert told["gap_after"] == pytest.approx(gap("xauc", label, adjusted, group, *pair), abs=1e-12)
    assert told["metric"] == "xauc"


def test_a_tradeoff_is_the_ordering_of_that_tradeoff():
    score, label, group = sample()
    tables = [xorder.ScoreTable.from_arrays(label[group == g], score[group == g]) for g in ("A", "B")]
    repair = XOrder(metric="prf", tradeoff=0.4, solver="dp", adjust="B").fit(score, label, sensitive_features=group)
    expected = xorder.order(*tables, metric="prf", tradeoff=0.4, solver="dp")
    np.testing.assert_array_equal(repair.ordering_.b_above, expected.b_above)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("target", [0.01, 0.05, 0.1])
def test_a_wanted_gap_is_met(metric, target):
    score, label, group = sample(300)
    repair = XOrder(metric=metric, max_gap=target, solver="dp")
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    reached = gap(metric, label, adjusted, group, "A", "B")
    before = gap(metric, label, score, group, "A", "B")
    assert abs(reached) <= target + 1e-12 < abs(before)


def test_by_default_the_gap_all_but_vanishes():
    score, label, group = sample(300)
    adjusted = XOrder(solver="dp").fit_transform(score, label, sensitive_features=group)
    assert abs(gap("xauc", label, adjusted, group, "A", "B")) < 0.005


# Which group moves


@pytest.mark.parametrize("metric", METRICS)
def test_the_losing_group_moves(metric):
    score, label, group = sample()
    assert gap(metric, label, score, group, "A", "B") > 0
    assert XOrder(metric=metric, solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group).moved_ == "B"
    turned = np.where(group == "A", "B", "A")
    assert XOrder(metric=metric, solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=turned).moved_ == "A"


@pytest.mark.parametrize("adjust", ["A", "B"])
def test_either_group_can_be_chosen(adjust):
    score, label, group = sample()
    repair = XOrder(adjust=adjust, solver="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    assert repair.moved_ == adjust
    np.testing.assert_array_equal(adjusted[group != adjust], score[group != adjust])
    assert not np.array_equal(adjusted[group == adjust], score[group == adjust])
    assert abs(gap("xauc", label, adjusted, group, "A", "B")) < 0.05


def test_without_any_gap_the_last_group_moves():
    repair = XOrder(solver="dp", tradeoff=1.0)
    repair.fit([0.8, 0.2, 0.8, 0.2], [1, 0, 1, 0], sensitive_features=["x", "x", "y", "y"])
    assert repair.moved_ == "y"


def test_a_group_may_be_called_disadvantaged():
    score, label, group = sample()
    named = np.where(group == "A", "disadvantaged", "other")
    repair = XOrder(adjust="disadvantaged", solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=named)
    assert repair.moved_ == "disadvantaged"


def test_a_group_that_is_not_there_cannot_move():
    score, label, group = sample()
    with pytest.raises(InputError, match=r"adjust must name one of the groups \['A', 'B'\]; got 'C'"):
        XOrder(adjust="C", solver="dp").fit(score, label, sensitive_features=group)


# Settings


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tradeoff": 1.0, "max_gap": 0.1}, "tradeoff or max_gap, not both"),
        ({"metric": "auc"}, "metric must be one of xauc, prf, parity; got 'auc'"),
        ({"solver": "best"}, "solver must be one of .*; got 'best'"),
        ({"transfer": "copy"}, "transfer must be one of interpolate, rank, .*; got 'copy'"),
        ({"max_gap": -0.1}, "max_gap must lie between 0 and 1; got -0.1"),
        ({"max_gap": 2}, "max_gap must lie between 0 and 1"),
        ({"max_gap": float("nan")}, "max_gap must lie between 0 and 1"),
        ({"max_gap": "0"}, "max_gap must lie between 0 and 1"),
        ({"tradeoff": -1.0}, "tradeoff must be a finite number from 0 up"),
        ({"tradeoff": float("inf")}, "tradeoff must be a finite number from 0 up"),
        ({"tradeoff": "1"}, "tradeoff must be a finite number from 0 up"),
    ],
)
def test_wrong_settings_are_told_at_fit(options, words):
    score, label, group = sample(50)
    repair = XOrder(**options)
    with pytest.raises(InputError, match=words):
        repair.fit(score, label, sensitive_features=group)


def test_numpy_numbers_are_numbers():
    score, label, group = sample(60)
    XOrder(max_gap=np.float32(0.25), solver="dp").fit(score, label, sensitive_features=group)
    XOrder(tradeoff=np.float32(0.25), solver="dp").fit(score, label, sensitive_features=group)
    XOrder(tradeoff=np.int64(2), solver="dp").fit(score, label, sensitive_features=group)


# Manners


def test_clone_and_params():
    repair = XOrder(metric="prf", tradeoff=0.5, solver="dp", transfer="rank", adjust="B")
    again = clone(repair)
    assert again is not repair
    assert again.get_params() == repair.get_params()
    assert again.set_params(metric="xauc", tradeoff=None).metric == "xauc"
    assert repair.metric == "prf"
    score, label, group = sample(60)
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
        XOrder().summary()


def test_pickle_round_trip():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    again = pickle.loads(pickle.dumps(repair))
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )
    assert again.ordering_.auc == repair.ordering_.auc


def test_fit_is_repeatable_and_can_be_repeated():
    score, label, group = sample()
    repair = XOrder(solver="dp")
    first = repair.fit_transform(score, label, sensitive_features=group)
    np.testing.assert_array_equal(first, repair.fit_transform(score, label, sensitive_features=group))
    shuffled = np.random.default_rng(1).permutation(score.size)
    other = XOrder(solver="dp").fit(score[shuffled], label[shuffled], sensitive_features=group[shuffled])
    np.testing.assert_array_equal(first, other.transform(score, sensitive_features=group))


@pytest.mark.parametrize("transfer", ["interpolate", "rank"])
def test_arrays_given_are_not_changed(transfer):
    score, label, group = sample()
    weight = np.full(score.size, 2.0)
    given_arrays = [score, label, group, weight]
    kept = [array.copy() for array in given_arrays]
    for array in given_arrays:
        array.flags.writeable = False
    repair = XOrder(solver="dp", tradeoff=1.0, transfer=transfer)
    repair.fit(score, label, sensitive_features=group, sample_weight=weight if transfer == "interpolate" else None)
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
    plain = XOrder(solver="dp", tradeoff=1.0)
    expected = plain.fit_transform(score, label, sensitive_features=group)
    repair = XOrder(solver="dp", tradeoff=1.0)
    repair.fit(make(score), make(label), sensitive_features=make(group), sample_weight=make(np.ones(score.size)))
    got = repair.transform(make(score), sensitive_features=make(group))
    np.testing.assert_array_equal(got, expected)
    assert isinstance(got, np.ndarray)
    assert [(key, type(key)) for key in repair.maps_] == [(key, type(key)) for key in plain.maps_]


def test_categories_and_float32():
    pandas = package("pandas")
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(
        pandas.Series(score, dtype="float32"), label == 1, sensitive_features=pandas.Series(group, dtype="category")
    )
    assert adjusted.dtype == np.float64
    assert list(repair.maps_) == ["A", "B"]
    assert roc_auc_score(label, adjusted) == pytest.approx(repair.ordering_.auc, abs=1e-9)


# Weights


@pytest.mark.parametrize("metric", METRICS)
def test_weight_two_is_the_row_twice(metric):
    score, label, group = sample(120)
    weight = np.random.default_rng(0).integers(0, 4, score.size)
    weighted = XOrder(metric=metric, solver="dp").fit(score, label, sensitive_features=group, sample_weight=weight)
    often = XOrder(metric=metric, solver="dp").fit(
        np.repeat(score, weight), np.repeat(label, weight), sensitive_features=np.repeat(group, weight)
    )
    np.testing.assert_array_equal(weighted.ordering_.b_above, often.ordering_.b_above)
    np.testing.assert_array_equal(
        weighted.transform(score, sensitive_features=group), often.transform(score, sensitive_features=group)
    )
    numbers, words = (
        {name: value for name, value in weighted.summary().items() if isinstance(value, kind)}
        for kind in (float, str | list)
    )
    assert numbers == pytest.approx({name: often.summary()[name] for name in numbers}, abs=1e-12)
    assert words == {name: often.summary()[name] for name in words}


# Errors in the data


def test_a_group_never_seen_is_named_with_the_known_ones():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    with pytest.raises(
        InputError, match=r"group 'C' was not seen in fit \(1 row, the first in row 1\); the known .* 'A', 'B'\. Fit"
    ):
        repair.transform([0.5, 0.5], sensitive_features=["A", "C"])
    repair.set_params(unseen_group="leave")
    assert repair.transform([0.5, 0.5], sensitive_features=["A", "C"]).tolist() == [0.5, 0.5]


def test_one_group_of_those_seen_is_enough_to_transform():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    both = repair.transform([0.3, 0.3], sensitive_features=["A", "B"])
    assert repair.transform([0.3], sensitive_features=["A"]) == [0.3] == both[:1]
    assert repair.transform([0.3], sensitive_features=["B"]) == both[1:]


@pytest.mark.parametrize(("label", "missing"), [(1, "negatives"), (0, "positives")])
def test_a_one_class_group_is_named_with_what_is_missing(label, missing):
    score, labels, group = sample()
    labels = np.where(group == "B", label, labels)
    with pytest.raises(InputError, match=f"group 'B' has no {missing}"):
        XOrder(solver="dp").fit(score, labels, sensitive_features=group)


def test_zero_weights_can_empty_a_class():
    score, label, group = sample()
    weight = np.where((group == "A") & (label == 1), 0.0, 1.0)
    with pytest.raises(InputError, match="group 'A' has no positives"):
        XOrder(solver="dp").fit(score, label, sensitive_features=group, sample_weight=weight)


def test_one_group_cannot_be_repaired_nor_three_by_the_solvers_of_two():
    score, label, group = sample()
    three = np.where(np.arange(group.size) % 3 == 0, "C", group)
    with pytest.raises(InputError, match="solver='dp' is for two groups; got 3"):
        XOrder(solver="dp").fit(score, label, sensitive_features=three)
    with pytest.raises(InputError, match="at least two groups to repair; got 'A' alone"):
        XOrder(solver="dp").fit(score, label, sensitive_features=np.full(score.size, "A"))


def test_bad_rows_are_told():
    score, label, group = sample(60)
    with pytest.raises(InputError, match="y_score must be finite; row 1 holds nan"):
        XOrder(solver="dp").fit([0.5, np.nan, *score[2:]], label, sensitive_features=group)
    with pytest.raises(InputError, match="y_true must hold only 0 and 1"):
        XOrder(solver="dp").fit(score, label + 1, sensitive_features=group)
    with pytest.raises(InputError, match="sensitive_features must have one value a row"):
        XOrder(solver="dp").fit(score, label, sensitive_features=group[:-1])
    repair = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    with pytest.raises(InputError, match="y_score must be finite"):
        repair.transform([np.inf], sensitive_features=["A"])
    with pytest.raises(InputError, match="sensitive_features must name a group for each row; 1 row has none, row 0"):
        repair.transform([0.5], sensitive_features=[None])


# Where scores leave no room


def test_no_room_above_a_score_of_1_is_told():
    score = [1.0, 1.0, 0.9, 0.8, 0.3, 0.2]
    label = [0, 1, 0, 1, 1, 0]
    group = ["a", "a", "a", "b", "b", "b"]
    with pytest.warns(XorderWarning, match="leave no room for the ordering") as caught:
        repair = XOrder(solver="dp", tradeoff=5.0, adjust="b").fit(score, label, sensitive_features=group)
    adjusted = repair.transform(score, sensitive_features=group)
    assert ((adjusted >= 0) & (adjusted <= 1)).all()
    told = repair.summary()
    assert told["auc_after"] == pytest.approx(roc_auc_score(label, adjusted))
    assert f"AUC is {told['auc_after']:.4f} instead of {repair.ordering_.auc:.4f}" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_room_enough_is_not_warned_about():
    score, label, group = sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)


# Transfer to new scores


def test_new_scores_are_interpolated_one_by_one():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    new = np.random.default_rng(3).random(50)
    batch = repair.transform(new, sensitive_features=["B"] * 50)
    alone = [repair.transform([value], sensitive_features=["B"])[0] for value in new]
    np.testing.assert_array_equal(batch, alone)
    assert (np.diff(batch[np.argsort(new)]) > 0).all()


def test_by_rank_the_training_batch_gets_the_training_scores():
    score, label, group = sample()
    by_rank = XOrder(solver="dp", tradeoff=1.0, transfer="rank").fit(score, label, sensitive_features=group)
    straight = XOrder(solver="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    np.testing.assert_allclose(
        by_rank.transform(score, sensitive_features=group), straight.transform(score, sensitive_features=group)
    )


def test_by_rank_only_the_order_in_the_batch_counts():
    score, label, group = sample()
    repair = XOrder(solver="dp", tradeoff=1.0, transfer="rank").fit(score, label, sensitive_features=group)
    one = repair.transform([0.1, 0.2, 0.3], sensitive_features=["B"] * 3)
    np.testing.assert_array_equal(one, repair.transform([0.7, 0.8, 0.9], sensitive_features=["B"] * 3))
    assert repair.transform([0.3], sensitive_features=["B"])[0] != one[2]
    np.testing.assert_array_equal(repair.transform([0.1, 0.9], sensitive_features=["A", "A"]), [0.1, 0.9])


# What no ordering can do


@pytest.mark.parametrize("transfer", ["interpolate", "rank"])
def test_scores_shared_by_both_groups_are_left_alone_where_no_ordering_is_as_fair(transfer):
    label, group = np.tile([1, 0], 10), np.repeat(["x", "y"], 10)
    score = np.full(20, 0.5)
    repair = XOrder(transfer=transfer)
    with pytest.warns(XorderWarning, match="left alone"):
        repair.fit(score, label, sensitive_features=group)
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), score)
    assert (repair.gap_before_, repair.gap_) == (0.0, 0.0)
    assert "All scores are left as they are." in repair.report()
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
            repair = XOrder(metric=metric, max_gap=0.002).fit(score, label, sensitive_features=group)
        missed += abs(repair.gap_) > 0.002 + 1e-12
    assert missed == 0


@pytest.mark.parametrize("scale", [1.7e308, 1e-310, 5e-324 * 2**20])
def test_scores_of_any_finite_range(scale):
    score, label, group = sample()
    spread = (score - 0.5) * 2 * scale if scale > 1 else np.round(score * 1000) * scale
    repair = XOrder(max_gap=0.0).fit(spread, label, sensitive_features=group)
    adjusted = repair.transform(spread, sensitive_features=group)
    assert np.isfinite(adjusted).all()
    for member in np.unique(group):
        rising = adjusted[group == member][np.argsort(spread[group == member], kind="stable")]
        assert np.all(rising[1:] >= rising[:-1])


def test_ranks_know_no_weights():
    score, label, group = sample()
    with pytest.raises(InputError, match="does not support sample_weight"):
        XOrder(transfer="rank").fit(score, label, sensitive_features=group, sample_weight=np.ones(score.size))


def test_settings_of_numpy_types_can_be_saved(tmp_path):
    score, label, group = sample()
    repair = XOrder(tradeoff=np.float32(0.5)).fit(score, label, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    assert xorder.load(tmp_path / "map.json").tradeoff == 0.5


def test_what_is_said_to_be_best_is_about_what_was_achieved():
    """The reference's scores of 1 leave no room above them; the gap is that of the scores, not that of the plan."""
    group = np.repeat(["x", "y"], 20)
    label = np.append(np.tile([1, 0], 10), np.repeat([0, 1], 10))
    score = np.append(np.ones(20), np.linspace(0.2, 0.4, 20))
    repair = XOrder(adjust="y", tradeoff=0.0)
    with pytest.warns(XorderWarning, match="leave no room"):
        repair.fit(score, label, sensitive_features=group)
    assert repair.auc_ < repair.ordering_.auc
    assert repair.optimality_gap_ == pytest.approx(repair.bound_ - repair.auc_)


@pytest.mark.parametrize("tradeoff", [1e99, 1e200, np.inf])
def test_huge_tradeoffs(tradeoff):
    score, label, group = sample()
    for solver in ("frontier", "dp"):
        repair = XOrder(tradeoff=tradeoff, solver=solver)
        if tradeoff < 1e100:
            assert abs(repair.fit(score, label, sensitive_features=group).gap_) < 0.01
        else:
            with pytest.raises(InputError, match="at most 1e100"):
                repair.fit(score, label, sensitive_features=group)


# Scales


@pytest.mark.parametrize("transfer", ["interpolate", "rank"])
def test_scores_stay_between_the_bounds(transfer):
    score, label, group = sample(400)
    percent = 100 * score
    bounded = XOrder(bounds=(0, 100), transfer=transfer).fit(percent, label, sensitive_features=group)
    adjusted = bounded.transform(percent, sensitive_features=group)
    assert 0 <= adjusted.min() <= adjusted.max() <= 100
    unit = XOrder(transfer=transfer).fit(score, label, sensitive_features=group)
    np.testing.assert_allclose(adjusted, 100 * unit.transform(score, sensitive_features=group), atol=1e-9)


@pytest.mark.parametrize("bounds", [(0, 1), (100, 0), (0, np.nan), "ab", 3, (1, 2, 3)])
def test_bounds_must_hold_all_scores(bounds):
    score, label, group = sample()
    with pytest.raises(InputError, match="bounds must be two numbers with all scores"):
        XOrder(bounds=bounds).fit(100 * score, label, sensitive_features=group)


def test_bounds_survive_saving(tmp_path):
    score, label, group = sample()
    repair = XOrder(bounds=(0, 2)).fit(score, label, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert list(again.bounds) == [0, 2]
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )


def test_scores_on_another_scale_are_told():
    score, label, group = sample(400)
    repair = XOrder().fit(score, label, sensitive_features=group)
    with pytest.warns(XorderWarning, match=r"outside those seen in fit \(0 to 1\); is it the same score"):
        repair.transform(100 * score, sensitive_features=group)
    repair.transform(score, sensitive_features=group)


def test_a_fit_that_failed_leaves_nothing_to_transform_with():
    score, label, group = sample()
    repair = XOrder(bounds=(0, 0.1))
    with pytest.raises(InputError, match="bounds"):
        repair.fit(score, label, sensitive_features=group)
    with pytest.raises(NotFittedError):
        repair.transform(score, sensitive_features=group)
