import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, RepeatedKFold, TimeSeriesSplit

from xorder.estimators._folds import dealt_folds, make_folds
from xorder.exceptions import InputError

Y = np.tile([0, 1], 20)
GROUPS = np.repeat(["a", "b"], 20)


def folds_of(cv, y=Y, groups=GROUPS, **options):
    return make_folds(cv, np.zeros((len(y), 1)), y, groups, **options)


@pytest.mark.slow
@given(strata=st.lists(st.sampled_from("abcd"), min_size=2, max_size=60), data=st.data())
def test_each_fold_has_its_share_of_each_stratum(strata, data):
    n_folds = data.draw(st.integers(2, len(strata)))
    folds = dealt_folds(strata, len(strata), n_folds, data.draw(st.integers(0, 5)))
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(len(strata)))
    named = np.array(strata)
    for stratum in set(strata):
        counts = [int((named[fold.test] == stratum).sum()) for fold in folds]
        assert max(counts) - min(counts) <= 1
    for fold in folds:
        assert sorted([*fold.train.tolist(), *fold.test.tolist()]) == list(range(len(strata)))
    sizes = [fold.test.size for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_a_class_of_a_group_with_two_rows_is_never_held_out_whole():
    y, groups = Y.copy(), GROUPS.copy()
    y[GROUPS == "b"] = 0
    y[[25, 30]] = 1
    for seed in range(20):
        for fold in folds_of(5, y, groups, random_state=seed):
            assert y[fold.train][groups[fold.train] == "b"].sum() >= 1


def test_the_state_decides():
    def held_out(seed):
        return [fold.test.tolist() for fold in folds_of(4, random_state=seed)]

    assert held_out(0) == held_out(0)
    assert held_out(0) != held_out(1)


def test_missing_groups_are_a_stratum_of_their_own():
    groups = GROUPS.astype(object)
    groups[:10] = None
    groups[10:20] = np.nan
    for fold in folds_of(5, groups=groups):
        assert fold.test.size == 8
        assert Y[fold.test[fold.test < 20]].sum() == 2


def test_splitters_and_pairs():
    splitter = KFold(4)
    given_by = [folds_of(splitter), folds_of(list(splitter.split(Y))), folds_of(iter(list(splitter.split(Y))))]
    for folds in given_by:
        assert [fold.test.tolist() for fold in folds] == [test.tolist() for _, test in splitter.split(Y)]
    half = np.arange(40) < 20
    assert [fold.test.size for fold in folds_of([(half, ~half), (~half, half)])] == [20, 20]


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "from 2 up to the number of rows, 40; got 1"),
        (41, "from 2 up to the number of rows, 40; got 41"),
        (None, "a number of folds, a splitter, or pairs of row numbers; got None"),
        (True, "got True"),
        ("5", "got '5'"),
        ([1, 2], "pairs of row numbers"),
        ([([0], [99])], "pairs of row numbers"),
        ([([0.5], [1.0])], "pairs of row numbers"),
        ([], "row 0 is held out 0 times"),
        (TimeSeriesSplit(4), "row 0 is held out 0 times"),
        (RepeatedKFold(n_splits=2, n_repeats=2), "row 0 is held out 2 times"),
        ([(np.arange(20), np.arange(20)), (np.arange(20), np.arange(20, 40))], "fold 0 does, e.g. from row 0"),
        ([(np.arange(0), np.arange(40))], "there is one fold"),
    ],
)
def test_folds_that_make_no_sense_are_told(cv, words):
    with pytest.raises(InputError, match=words):
        folds_of(cv)


def test_clusters_stay_together():
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 30, 200)
    label, groups = rng.integers(0, 2, 200), rng.choice(["a", "b"], 200)
    folds = make_folds(4, np.zeros((200, 1)), label, groups, clusters=cluster)
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(200))
    for fold in folds:
        assert not np.intersect1d(cluster[fold.train], cluster[fold.test]).size
        assert 5 <= np.unique(cluster[fold.test]).size <= 9
    with pytest.raises(InputError, match="cv must be at most the number of clusters, 2; got 4"):
        make_folds(4, np.zeros((200, 1)), label, groups, clusters=np.arange(200) % 2)
    torn = [(np.arange(100, 200), np.arange(100)), (np.arange(100), np.arange(100, 200))]
    with pytest.raises(InputError, match="keep the rows of a cluster together; fold 0 learns from"):
        make_folds(torn, np.zeros((200, 1)), label, groups, clusters=cluster)
