import json
import math
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from support.odds_shift import Leave, OddsShift
from support.oracles import gap
from xorder import ScoreTable, XOrder, audit, compare, plan
from xorder._groups import naming_missing
from xorder._validation import check_tables
from xorder.baselines import PostLogit
from xorder.datasets import simulate_population
from xorder.estimators import expected_gap, expected_gap_tables
from xorder.exceptions import InputError, XorderWarning


class Knowing(BaseEstimator):
    """A cheat that knows the rows it was fitted to: it ranks their positives of B above everybody."""

    metric = "xauc"

    def fit(self, y_score, y_true, *, sensitive_features, sample_weight=None):
        lifted = (np.asarray(y_true) == 1) & (np.asarray(sensitive_features) == "B")
        self.lifted_ = np.asarray(y_score)[lifted]
        return self

    def transform(self, y_score, *, sensitive_features):
        return np.where(np.isin(y_score, self.lifted_), 1.0, y_score)


def sample(size=600, seed=0):
    people = simulate_population(size, random_state=seed)
    return people.y_score, people.y_true, people.group


def test_it_is_the_audit_of_folds_adjusted_by_the_others():
    score, label, group = sample()
    folds = list(KFold(4, shuffle=True, random_state=3).split(score))
    adjusted = np.empty_like(score)
    for train, test in folds:
        repair = OddsShift().fit(score[train], label[train], sensitive_features=group[train])
        adjusted[test] = repair.transform(score[test], sensitive_features=group[test])
    found = expected_gap(OddsShift(), score, label, sensitive_features=group, cv=folds)
    assert found.after.auc == pytest.approx(roc_auc_score(label, adjusted))
    assert found.gap().value == pytest.approx(gap("xauc", label, adjusted, group, "A", "B"))
    assert found.before.to_dict() == audit(label, score, sensitive_features=group).to_dict()
    assert found.after.to_dict() == audit(label, adjusted, sensitive_features=group).to_dict()
    assert found.folds == 4


def test_a_repair_that_only_knows_its_own_rows_is_seen_through():
    score, label, group = sample()
    found = expected_gap(Knowing(), score, label, sensitive_features=group)
    assert found.gap().value == pytest.approx(found.before.gap("xauc").value)
    told = Knowing().fit(score, label, sensitive_features=group)
    adjusted = told.transform(score, sensitive_features=group)
    assert gap("xauc", label, adjusted, group, "A", "B") < 0 < found.gap().value


@pytest.mark.parametrize("repair", [XOrder(), XOrder(metric="prf"), PostLogit(), PostLogit(metric="parity")])
def test_any_repair_will_do_and_none_is_changed(repair):
    score, label, group = sample()
    settings = repair.get_params()
    found = expected_gap(repair, score, label, sensitive_features=group)
    assert found.metric == repair.metric
    assert abs(found.gap().value) < abs(found.before.gap(repair.metric).value)
    assert repair.get_params() == settings
    assert not [name for name in vars(repair) if name.endswith("_")]


@pytest.mark.slow
def test_the_interval_holds_the_gap_among_all_people():
    """Of 40 repairs learnt from samples, about 38 should leave a gap in the population that their interval holds."""
    everybody = simulate_population(60_000, random_state=999)
    held, sizes, likely = 0, [], []
    for seed in range(40):
        score, label, group = sample(500, seed)
        found = expected_gap(OddsShift(), score, label, sensitive_features=group)
        repair = OddsShift().fit(score, label, sensitive_features=group)
        adjusted = repair.transform(everybody.y_score, sensitive_features=everybody.group)
        true = audit(everybody.y_true, adjusted, sensitive_features=everybody.group).gap("xauc").value
        low, high = found.gap(("A", "B")).interval
        held += low <= true <= high
        sizes.append(abs(true))
        likely.append(found.likely_gap)
    assert held >= 35
    assert np.mean(likely) == pytest.approx(np.mean(sizes), rel=0.4)


def test_likely_gap_is_the_mean_size_of_a_normal_gap():
    score, label, group = sample()
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    drawn = np.random.default_rng(0).normal(found.gap().value, found.gap().stderr, 400_000)
    assert found.likely_gap == pytest.approx(np.abs(drawn).mean(), rel=0.01)


# Groups too small for the target


def test_rows_too_few_for_the_target_are_told():
    score, label, group = sample(300)
    positives = int(label[group == "B"].sum())
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    assert found.target == 0.05
    freedom = found.gap().estimate.freedom
    assert found.smallest_visible == pytest.approx(stats.t.ppf(0.975, freedom) * found.gap().stderr, rel=1e-4)
    words = f"With {positives} positives in group 'B' a gap in xauc below {found.smallest_visible:.2g} cannot be told"
    assert found.caution.startswith(words)
    assert "below 0.05 cannot be known" in found.caution
    assert found.caution in " ".join(str(found).split())
    times = plan(found.after, limit=0.05, pair=found.gap().pair).times
    assert found.caution.endswith(f"to know it with 80 % power takes about {float(f'{times:.2g}'):,.0f} times as many.")


def test_a_target_above_0_is_the_measure():
    score, label, group = sample(1000)
    wide = expected_gap(OddsShift(max_gap=0.2), score, label, sensitive_features=group)
    assert wide.target == 0.2
    assert wide.caution is None
    narrow = expected_gap(OddsShift(max_gap=0.01), score, label, sensitive_features=group)
    assert "below 0.01 cannot be known" in narrow.caution


def test_of_many_rows_nothing_is_said():
    score, label, group = sample(8000)
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    assert found.smallest_visible < 0.05
    assert found.caution is None
    assert "cannot be told" not in str(found)


# Manners


def test_text_and_dict():
    score, label, group = sample()
    found = expected_gap(OddsShift(), score, label, sensitive_features=group, confidence=0.9)
    text, record = str(found), found.to_dict()
    assert "On new people like these (5 folds" in text
    assert "90 % interval after" in text
    assert f"{found.before.auc:.4f}    {found.after.auc:.4f}" in text
    assert f"{found.before.gap('xauc').value:+.4f}" in text
    assert json.loads(json.dumps(record)) == record
    assert record["likely_gap"] == found.likely_gap
    assert record["after"] == found.after.to_dict()
    assert repr(found).startswith("<ExpectedGap in xauc: ")
    assert found.gap(("B", "A")).value == -found.gap(("A", "B")).value


def test_the_same_again_and_otherwise_with_other_folds():
    score, label, group = sample()

    def auc(**options):
        return expected_gap(OddsShift(), score, label, sensitive_features=group, **options).after.auc

    assert auc() == auc()
    assert auc(random_state=1) != auc()
    assert auc(cv=3) != auc()


def test_a_row_of_weight_2_is_the_row_twice():
    score, label, group = sample(200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    twice = np.repeat(np.arange(200), weight)
    fold_of = np.arange(200) % 4
    weighted, copied = (
        expected_gap(
            OddsShift(),
            score[rows],
            label[rows],
            sensitive_features=group[rows],
            sample_weight=weights,
            cv=[(np.flatnonzero(fold_of[rows] != k), np.flatnonzero(fold_of[rows] == k)) for k in range(4)],
        )
        for rows, weights in ((np.arange(200), weight), (twice, None))
    )
    assert weighted.after.auc == pytest.approx(copied.after.auc, abs=1e-10)
    assert weighted.gap().value == pytest.approx(copied.gap().value, abs=1e-10)
    assert weighted.gap().stderr == pytest.approx(copied.gap().stderr, abs=1e-10)


def test_the_scale_of_sampling_weights_means_nothing_and_counts_that_are_none_are_questioned():
    score, label, group = sample()
    weight = np.random.default_rng(0).random(600) + 0.5
    rows = {"sensitive_features": group, "sample_weight": weight}
    with pytest.warns(XorderWarning, match="sample_weight is not whole, yet read as counts"):
        expected_gap(OddsShift(), score, label, **rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (
            expected_gap(OddsShift(), score, label, **rows | {"sample_weight": scale * weight}, weights_are="sampling")
            for scale in (1, 100)
        )
    assert first.gap().stderr == pytest.approx(second.gap().stderr)


def test_several_attributes_are_combined():
    score, label, group = sample()
    table = np.column_stack([group, np.where(np.arange(600) % 2, "old", "young")])
    found = expected_gap(Knowing(), score, label, sensitive_features=table)
    assert found.after.groups == ("A & old", "A & young", "B & old", "B & young")
    assert len([line for line in str(found).splitlines() if line.startswith("xauc gap")]) == 6


def test_one_positive_of_a_group_is_too_few_to_try():
    score, label, group = sample(100)
    label = np.where(group == "B", 0, label)
    label[np.flatnonzero(group == "B")[0]] = 1
    with (
        pytest.warns(XorderWarning, match="single row of a class"),
        pytest.raises(InputError, match=r"cannot be fitted without fold \d of 5 .*at least two rows of each class"),
    ):
        expected_gap(OddsShift(), score, label, sensitive_features=group)


def test_wrong_rows_are_told_in_the_users_words():
    score, label, group = sample(60)
    with pytest.raises(InputError, match="y_true must hold only 0 and 1"):
        expected_gap(OddsShift(), score, label + 1, sensitive_features=group)
    with pytest.raises(InputError, match="sensitive_features must have one value per row"):
        expected_gap(OddsShift(), score, label, sensitive_features=group[1:])
    with pytest.raises(InputError, match="sample_weight must have one value per row"):
        expected_gap(OddsShift(), score, label, sensitive_features=group, sample_weight=np.ones(3))


def test_where_nothing_is_uncertain_nothing_is_claimed():
    """The two classes are apart: placements do not vary, and no size of gap can be named."""
    group = np.tile(["A", "B"], 20)
    label = np.repeat([0, 1], 20)
    score = label * 0.5 + 0.25
    with pytest.warns(XorderWarning, match="placements do not vary"):
        found = expected_gap(clone(PostLogit()), score, label, sensitive_features=group)
    assert math.isnan(found.smallest_visible)
    assert "cannot tell how uncertain the gap in xauc between 'A' and 'B' is" in found.caution
    assert found.to_dict()["likely_gap"] is None
    assert "not known" in str(found)


def test_it_tells_training_scores_from_others():
    """Used as meant, on scores of people the model was not trained on, the AUC is that of new people."""
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(3000, 30)), np.where(rng.random(3000) < 0.4, "B", "A")
    label = (X[:, 0] - (group == "B") + rng.normal(size=3000) > 0).astype(int)
    model = LogisticRegression(C=100).fit(X[:500], label[:500])
    held = np.arange(500, 1500)
    score = model.predict_proba(X)[:, 1]
    found = expected_gap(OddsShift(), score[held], label[held], sensitive_features=group[held])
    repair = OddsShift().fit(score[held], label[held], sensitive_features=group[held])
    new = repair.transform(score[1500:], sensitive_features=group[1500:])
    assert found.after.auc == pytest.approx(roc_auc_score(label[1500:], new), abs=0.03)


# From tables


def rounded(size=3000, seed=0):
    drawn = simulate_population(size, random_state=seed)
    # Two digits, so that many people share a score and a table has far fewer entries than there are rows.
    return np.round(drawn.y_score, 2), drawn.y_true, drawn.group


@pytest.mark.parametrize("options", [{"metric": "prf"}, {"method": "frontier"}, {"method": "dp", "metric": "parity"}])
def test_tables_tell_exactly_what_rows_tell(options):
    score, y, group = rounded(400)
    repair = XOrder(**options)
    by_rows = expected_gap(repair, score, y, sensitive_features=group, cv=2)
    by_tables = expected_gap_tables(repair, check_tables(y, score, group, None), cv=2)
    assert by_tables.to_dict() == by_rows.to_dict()
    assert by_tables.folds == (None if repair.method == "smooth" else 2)
    assert by_tables.after.positives == by_tables.before.positives


def test_of_the_default_repair_the_very_map_is_audited():
    score, y, group = rounded()
    repair = XOrder().fit(score, y, sensitive_features=group)
    adjusted = repair.transform(score, sensitive_features=group)
    found = expected_gap(XOrder(), score, y, sensitive_features=group)
    np.testing.assert_allclose(
        found.after.gap("xauc").interval, audit(y, adjusted, sensitive_features=group).gap("xauc").interval
    )
    assert found.after.auc == pytest.approx(repair.auc_)
    assert found.gap(repair.pair_).value == pytest.approx(repair.gap_)
    assert abs(found.after.cut_gap(pair=repair.pair_).value) == pytest.approx(repair.worst_cut_)
    tables = check_tables(y, score, group, None)
    assert expected_gap_tables(repair.fitted_, tables).to_dict() == found.to_dict()
    assert repair.expected_.to_dict() == found.to_dict()
    assert not hasattr(XOrder(), "expected_")
    again = pickle.loads(pickle.dumps(repair))
    assert not hasattr(again, "expected_")
    assert again.gap_ == repair.gap_


@pytest.mark.slow
def test_it_is_the_same_every_time_and_the_repair_is_not_touched():
    score, y, group = rounded(250)
    tables = check_tables(y, score, group, None)
    repair = XOrder(method="dp")
    first, again = (expected_gap_tables(repair, tables) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    assert not hasattr(repair, "maps_")
    other = expected_gap_tables(repair, tables, random_state=1)
    assert other.to_dict() != first.to_dict()


@pytest.mark.slow
def test_a_repair_of_noise_is_not_praised():
    """On the sample itself the gap is closed; on people it was not learnt from it is not."""
    score, y, group = rounded(200, seed=3)
    tables = check_tables(y, score, group, None)
    repair = XOrder(method="frontier")
    assert abs(repair.fit_tables(tables).gap_) < 0.002
    assert expected_gap_tables(repair, tables).likely_gap > 0.03


def test_weights_that_are_no_counts_need_their_squares():
    score, y, group = rounded()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, score.size)
    repair = XOrder(do_no_harm=False)
    settings = {"sensitive_features": group, "sample_weight": weight, "weights_are": "sampling"}
    by_rows = expected_gap(repair, score, y, **settings)
    tables = check_tables(y, score, group, weight, weights_are="sampling")
    assert expected_gap_tables(repair, tables).to_dict() == by_rows.to_dict()
    as_counts = expected_gap_tables(repair, check_tables(y, score, group, np.rint(weight) + 1))
    assert as_counts.gap().stderr < 0.9 * by_rows.gap().stderr


def test_weighted_rows_are_not_dealt_to_folds_from_tables():
    score, y, group = rounded(300)
    weight = np.full(score.size, 2.0)
    by_folds = XOrder(method="dp")
    with pytest.raises(InputError, match=r"tried in folds, to which rows with weights .* xorder.expected_gap"):
        expected_gap_tables(by_folds, check_tables(y, score, group, weight))
    by_rows = expected_gap(by_folds, score, y, sensitive_features=group, sample_weight=weight)
    assert by_rows.folds == 5


def test_too_few_people_are_said_so():
    tables = {
        "A": ScoreTable.from_arrays([1, 0, 1, 0, 1, 0], [0.9, 0.4, 0.7, 0.1, 0.6, 0.3]),
        "B": ScoreTable.from_arrays([1, 0, 0], [0.8, 0.2, 0.3]),
    }
    frontier = XOrder(method="frontier", small_groups="repair")
    with (
        pytest.warns(match="single row of a class"),
        pytest.raises(InputError, match=r"cannot be fitted without fold .* Each group needs at least two rows"),
    ):
        expected_gap_tables(frontier, tables)
    with pytest.warns(match="single row of a class"):
        found = expected_gap_tables(XOrder(small_groups="repair"), tables)
    assert "not known" in str(found)
    with pytest.raises(InputError, match="cv must be a whole number of folds from 2 up; got 1"):
        expected_gap_tables(frontier, check_tables(*sample()[1::-1], sample()[2]), cv=1)


# Groups that a repair sets aside neither prevent an expectation nor are what it is about

# What the repair and the audit say of the groups set aside is tested elsewhere.
QUIET = pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")

LEAVE_SMALL = {"small_groups": "leave", "min_group_size": 10}
MERGE_SMALL = {"small_groups": "merge", "min_group_size": 10}


def with_rare(rare, rows, size=1500):
    """Two groups, and a few rows of which a third label takes possession."""
    drawn = simulate_population(size, random_state=0)
    group = drawn.group.astype(object)
    group[rows] = rare
    return drawn.y_score, drawn.y_true, group


def plain_repair(**options):
    return XOrder(do_no_harm=False, **options)


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rare", "options", "aside"),
    [
        # Rows without a group are left out, as they are of the fit.
        (None, {"missing_group": "leave"}, ((), ())),
        (np.nan, {"missing_group": "leave"}, ((), ())),
        ("tiny", LEAVE_SMALL, (("tiny",), ())),
        ("tiny", MERGE_SMALL, ((), ("tiny",))),
    ],
)
def test_one_row_set_aside_does_not_make_the_expectation_impossible(rare, options, aside):
    score, y, group = with_rare(rare, [5])
    found = expected_gap(plain_repair(**options), score, y, sensitive_features=group)
    assert tuple(found.aside) == aside
    assert found.before.groups == found.after.groups == ("A", "B", *(("tiny",) if rare == "tiny" else ()))
    known = np.arange(score.size) != 5
    assert {*found.gap().pair} == {"A", "B"}
    without = expected_gap(plain_repair(), score[known], y[known], sensitive_features=group[known])
    # Other folds, else the same people: the two figures differ by far less than their error.
    assert abs(found.gap(("A", "B")).value - without.gap(("A", "B")).value) < 0.3 * found.gap().stderr


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize("options", [LEAVE_SMALL, MERGE_SMALL])
def test_rows_set_aside_that_no_other_fold_holds_keep_their_scores(options):
    score, y, group = with_rare("tiny", [5, 7], size=600)
    test = np.arange(score.size) < 150
    folds = [(np.flatnonzero(~test), np.flatnonzero(test)), (np.flatnonzero(test), np.flatnonzero(~test))]
    found = expected_gap(plain_repair(method="frontier", **options), score, y, sensitive_features=group, cv=folds)
    adjusted = score.copy()
    for train, held in folds:
        learnt = plain_repair(method="frontier", **options)
        learnt.fit(score[train], y[train], sensitive_features=group[train])
        rows = np.setdiff1d(held, [5, 7])
        adjusted[rows] = learnt.transform(score[rows], sensitive_features=group[rows])
    for pair in (("A", "tiny"), ("B", "tiny"), ("A", "B")):
        assert found.gap(pair).value == pytest.approx(gap("xauc", y, adjusted, group, *pair))


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize("rare", ["tiny", "missing"])
@pytest.mark.parametrize("options", [LEAVE_SMALL, MERGE_SMALL, LEAVE_SMALL | {"missing_group": "leave"}])
def test_tables_set_the_same_aside(rare, options):
    score, y, group = with_rare(rare, [5])
    tables = check_tables(y, score, group, None)
    found = expected_gap_tables(plain_repair(**options), tables)
    left = options["small_groups"] == "leave"
    assert tuple(found.aside) == (((rare,), ()) if left else ((), (rare,)))
    assert {*found.gap().pair} == {"A", "B"}
    assert abs(found.gap().value) < 0.03
    assert found.after.positives[rare] == tables[rare].n1
    weight = np.full(score.size, 1.5)
    weighted = expected_gap_tables(
        plain_repair(**options), check_tables(y, score, group, weight, weights_are="sampling")
    )
    assert weighted.gap().stderr == pytest.approx(found.gap().stderr, rel=0.02)


@QUIET
def test_a_row_without_a_group_is_refused():
    score, y, group = with_rare(None, [5])
    with pytest.raises(InputError, match="name a group for each row"):
        expected_gap(plain_repair(**LEAVE_SMALL), score, y, sensitive_features=group)


# What is said of groups set aside


@QUIET
def test_groups_set_aside_are_listed_and_the_others_make_the_headline():
    score, y, group = with_rare("small", np.arange(25), size=3000)
    found = expected_gap(plain_repair(small_groups="leave", min_group_size=100), score, y, sensitive_features=group)
    widest = found.after.gap("xauc")
    assert "small" in widest.pair, "the sample is made so that the widest gap is one that nobody repairs"
    assert {*found.gap().pair} == {"A", "B"}
    assert abs(found.gap().value) < abs(widest.value)
    assert f"{found.gap().value:+.4f} after repair" in repr(found)
    freedom = found.gap().estimate.freedom
    assert found.smallest_visible == pytest.approx(stats.t.ppf(0.975, freedom) * found.gap().stderr, rel=1e-4)
    assert found.caution is None
    lines = str(found).partition("\n\nBefore minus after")[0].splitlines()
    # With their marks lines would be too long: pairs have lines of their own.
    (first, *others) = [place for place, line in enumerate(lines) if line.startswith("xauc gap")]
    assert lines[first - 1] == "A - B"
    others = [lines[place - 1] + lines[place] for place in others]
    assert lines[first].endswith("]")
    assert [line.endswith("(small left alone)") for line in others] == [True, True]
    record = json.loads(json.dumps(found.to_dict()))
    assert (record["left"], record["merged"]) == (["small"], [])
    assert found.gap(("A", "small")).value == found.after.gap("xauc", ("A", "small")).value


@QUIET
@pytest.mark.slow
def test_of_many_groups_those_set_aside_are_named_though_their_pairs_are_not():
    score, y, group = with_rare("A", [], size=6000)
    group = np.array([f"{label}{number}" for label, number in zip(group, np.arange(6000) % 3, strict=True)], object)
    group[:20] = "small"
    found = expected_gap(plain_repair(small_groups="merge", min_group_size=100), score, y, sensitive_features=group)
    assert "... and 11 more pairs; not repaired: small (counted with the reference)" in str(found)
    assert "small" not in str(found).split("...")[0]


@QUIET
def test_a_gap_of_unknown_error_is_the_most_uncertain_and_is_cautioned_about():
    score, y, group = with_rare("C", np.arange(200), size=3000)
    y[(group == "C") & (np.cumsum((group == "C") & (y == 1)) > 1)] = 0
    assert y[group == "C"].sum() == 1
    found = expected_gap(Leave(), score, y, sensitive_features=group)
    assert math.isnan(found.smallest_visible)
    assert found.caution.startswith("With 1 positives in group 'C' the rows cannot tell how uncertain the gap in xauc")
    assert "below 0.05 cannot be known" in found.caution
    assert found.to_dict()["smallest_visible"] is None
    assert found.caution in " ".join(str(found).split())


@QUIET
def test_nothing_is_set_aside_by_default():
    score, y, group = with_rare("A", [])
    found = expected_gap(plain_repair(), score, y, sensitive_features=group)
    assert tuple(found.aside) == ((), ())


@QUIET
def test_the_expectation_says_no_more_than_the_repair_of_all_rows():
    score, y, group = with_rare("tiny", [5, 7])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", XorderWarning)
        expected_gap(plain_repair(**LEAVE_SMALL), score, y, sensitive_features=naming_missing(group))
    assert len({str(warning.message) for warning in caught}) == len(caught) <= 1


# What the repair changes


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_before_minus_after_is_that_of_a_paired_comparison(metric: str, clustered: bool) -> None:
    people = simulate_population(400)
    clusters = np.arange(400) // 4 if clustered else None
    rows = {"sensitive_features": people.group, "clusters": clusters}
    repair = XOrder(metric=metric).fit(people.y_score, people.y_true, **rows)
    found = expected_gap(repair, people.y_score, people.y_true, **rows)
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    by_rows = compare(people.y_true, adjusted, people.y_score, **rows)
    auc, gap = found.before_minus_after
    for one, two in ((auc, by_rows.auc), (gap, by_rows.gap(metric, gap.pair))):
        assert (one.value, one.stderr, one.pvalue) == pytest.approx((two.value, two.stderr, two.pvalue), rel=1e-9)
        assert one.interval == pytest.approx(two.interval, rel=1e-9)
    assert gap.value == pytest.approx(
        found.before.gap(metric, gap.pair).value - found.after.gap(metric, gap.pair).value
    )
    low, high = gap.interval
    said = f"{metric} gap {gap.pair[0]} - {gap.pair[1]} {gap.value:+.4f} [{low:+.4f}, {high:+.4f}]."
    assert f"Before minus after, by pairs of the same rows: AUC {auc.value:+.4f} [" in str(found)
    assert said in str(found)
    assert found.to_dict()["before_minus_after"] == [auc.to_dict(), gap.to_dict()]


def test_folds_have_no_map_to_speak_of() -> None:
    people = simulate_population(300)
    rows = {"sensitive_features": people.group}
    found = expected_gap(XOrder(method="dp"), people.y_score, people.y_true, **rows)
    assert found.before_minus_after == ()
    assert "Before minus after" not in str(found)
