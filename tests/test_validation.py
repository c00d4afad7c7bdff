"""Input is checked in one place; each complaint names the argument and says what to do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from xorder import ScoreTable
from xorder._table import check_both_classes
from xorder._validation import (
    MAX_GROUPS,
    check_clusters,
    check_groups,
    check_scores,
    check_tables,
    sorted_groups,
)
from xorder.baselines._post_logit import check_two_groups
from xorder.exceptions import InputError, XorderError

Y = [1, 0, 1, 0]
S = [0.9, 0.4, 0.4, 0.1]
G = ["x", "x", "y", "y"]


def complaint(**changed: object) -> str:
    """Return the words of the InputError that four good rows end in after a change."""
    good = {"y_true": Y, "y_score": S, "sensitive_features": G, "sample_weight": None}
    with pytest.raises(InputError) as caught:
        check_tables(**(good | changed))
    assert isinstance(caught.value, XorderError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_good_rows_become_one_table_a_group():
    tables = check_tables(Y, S, ["y", "x", "x", "y"], [1, 2, 1, 3])
    assert list(tables) == ["x", "y"]
    assert tables["x"] == ScoreTable([0.4], [1], [2])
    assert tables["y"] == ScoreTable([0.9, 0.1], [1, 0], [0, 3])


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (np.zeros((4, 2)), r"shape \(4, 2\).*positive class: y_score\[:, 1\]"),
        (np.zeros((2, 2, 1)), r"one-dimensional; got shape \(2, 2, 1\)"),
        (0.5, r"one-dimensional; got shape \(\)"),
        ([], "empty; at least one row is needed"),
        ([[1.0], [1.0, 2.0]], "a column of values; got list"),
        (["high", "low", "low", "high"], "hold numbers.*'high'"),
        ([{}, {}, {}, {}], "hold numbers.*dict"),
        (np.array([1j, 0, 0, 0]), "real values; got complex"),
        ([0.1, np.nan, np.nan, 0.2], r"finite; row 1 holds nan \(2 such rows\).*Remove these rows or score them"),
        ([0.1, 0.2, 0.3, np.inf], r"finite; row 3 holds inf \(1 such rows\)"),
        ([0.1, 0.2, -np.inf, np.inf], "finite; row 2 holds -inf"),
        (np.array([0.1, 0.2, np.nan, 1], dtype=np.float32), "finite; row 2 holds nan"),
        ([0.1, None, 0.3, 0.4], "finite; row 1 holds nan"),
        (pl.Series([0.1, None, 0.3, 0.4]), "finite; row 1 holds nan"),
        (pa.array([0.1, None, 0.3, 0.4]), "finite; row 1 holds nan"),
        (pd.Series([0.1, None, 0.3, 0.4], dtype="Float64"), "finite; row 1 holds nan|hold numbers"),
        (np.ma.array(S, mask=[0, 0, 1, 0]), "some are masked.*Remove or complete"),
    ],
)
def test_scores(scores, words):
    text = complaint(y_score=scores)
    assert text.startswith("y_score ")
    assert re.search(words, text)


def test_scores_whose_sum_overflows_are_finite():
    scores = np.full(4, 1.7e308)
    np.testing.assert_array_equal(check_scores(scores), scores)
    single = np.full(4, 3e38, dtype=np.float32)
    assert check_scores(single).dtype == np.float32


def test_scores_go_by_the_name_they_are_given():
    with pytest.raises(InputError, match=r"^column 'risk' must be finite; row 0"):
        check_scores([np.nan], "column 'risk'")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, 0, 2, -1], r"only 0 and 1; got also -1, 2 \(first in row 2\).*Encode the positive class as 1"),
        ([1, 2, 1, 2], "got also 2 .*first in row 1"),
        (["1", "0", "1", "0"], "got also '0', '1'"),
        (["yes", "no", "yes", "no"], "got also 'no', 'yes'"),
        ([1, 0, 0.5, 0], "got also 0.5"),
        ([1, 0, np.nan, 0], r"got also nan \(first in row 2\)"),
        ([1, 0, None, 0], r"got also None \(first in row 2\)"),
        (pd.array([1, 0, None, 0], dtype="Int64"), "row 2"),
        (pd.array([True, False, None, False], dtype="boolean"), "row 2"),
        (pd.Series([1, 0, pd.NA, 0], dtype=object), "value in each row; 1 row has none, row 2. Remove or complete"),
        (pl.Series([1, 0, None, 0]), "row 2"),
        (pa.array([True, False, None, False]), "row 2"),
        ([1, 0, 1], "one value per row; got 3 for 4 scores"),
        ([[1], [0], [1], [0]], r"one-dimensional; got shape \(4, 1\)"),
        ([], "empty"),
        (np.array([1, 0, 1, 0j]), "complex"),
        (np.ma.array(Y, mask=[0, 0, 1, 0]), "masked"),
    ],
)
def test_labels(labels, words):
    text = complaint(y_true=labels)
    assert text.startswith("y_true ")
    assert re.search(words, text)


def test_a_complaint_about_many_labels_stays_short():
    text = complaint(y_true=np.arange(10_000) + 5, y_score=np.zeros(10_000), sensitive_features=["x"] * 10_000)
    assert len(text) < 200


@pytest.mark.parametrize("labels", [Y, [True, False, True, False], [1.0, 0.0, 1.0, 0.0], np.array(Y, dtype=object)])
def test_labels_of_any_type(labels):
    assert check_tables(labels, S, G) == check_tables(np.array(Y), S, G)


def test_several_attributes_become_the_groups_of_their_combinations():
    attributes = [["x", "f"], ["x", "m"], ["y", "f"], ["y", "f"]]
    assert list(check_tables(Y, S, attributes)) == ["x & f", "x & m", "y & f"]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.zeros((4, 2, 2)), r"one-dimensional; got shape \(4, 2, 2\)"),
        ([["x", None], ["x", "f"], ["y", "f"], ["y", "f"]], "1 row has none, row 0"),
        ("x", r"one-dimensional; got shape \(\)"),
        (G[:3], "one value per row; got 3 for 4 scores"),
        ([], "empty"),
        ([None, "x", "y", "y"], "name a group for each row; 1 row has none, row 0.*with missing_group='leave' or"),
        (["x", float("nan"), "y", "y"], "1 row has none, row 1"),
        (("x", float("nan"), "y", "y"), "1 row has none, row 1"),
        (np.array([1, 2, np.nan, 2]), "1 row has none, row 2"),
        (np.array(["2020-01-01", "NaT", "2020-01-01", "NaT"], dtype="M8[D]"), "2 rows have none, the first in row 1"),
        (pd.Series(["x", None, "y", "y"]), "1 row has none, row 1"),
        (pd.Series(["x", None, "y", "y"], dtype="category"), "1 row has none, row 1"),
        (pd.Series(["x", None, "y", "y"], dtype="string"), "1 row has none, row 1"),
        (pd.Series(["x", pd.NA, "y", "y"], dtype=object), "1 row has none, row 1"),
        (pd.Series([1, None, 2, 2], dtype="Int64"), "1 row has none, row 1"),
        (pl.Series(["x", None, "y", "y"]), "1 row has none, row 1"),
        (pl.Series(["x", None, "y", "y"], dtype=pl.Categorical), "1 row has none, row 1"),
        (pa.array(["x", None, "y", "y"]), "1 row has none, row 1"),
        (pa.array(["x", None, "y", "y"]).dictionary_encode(), "1 row has none, row 1"),
        (np.ma.array(G, mask=[0, 0, 1, 0]), "masked"),
    ],
)
def test_groups(groups, words):
    text = complaint(sensitive_features=groups)
    assert text.startswith("sensitive_features ")
    assert re.search(words, text)


def test_a_column_of_identifiers_is_told_as_such():
    rows = 5000
    text = complaint(y_true=[0] * rows, y_score=np.zeros(rows), sensitive_features=np.arange(rows))
    assert "has 5,000 distinct values; at most 100 groups" in text
    assert "Is it the right column?" in text


def test_as_many_groups_as_allowed():
    groups = np.arange(3 * MAX_GROUPS) % MAX_GROUPS
    assert [label for label, _ in check_groups(groups, groups.size)] == list(range(MAX_GROUPS))
    with pytest.raises(InputError, match="distinct values"):
        list(check_groups(np.arange(MAX_GROUPS + 1), MAX_GROUPS + 1))


@pytest.mark.parametrize(
    ("groups", "labels"),
    [
        (["b", "a", "c", "a"], ["a", "b", "c"]),
        ([10, 9, 9, 10], [9, 10]),
        (["10", "9", "9", "10"], ["10", "9"]),
        ([True, False, True, False], [False, True]),
        ([0.5, -1.0, 0.5, 0.5], [-1.0, 0.5]),
        ([1, "x", "x", 1], [1, "x"]),
        (np.array(["x", 1, 2.5, 1], dtype=object), [2.5, 1, "x"]),
        (pd.Series(["b", "a", "a", "b"], dtype=pd.CategoricalDtype(["b", "a"])), ["a", "b"]),
        # NumPy 1 has no texts of any length.
        *([(np.array(["b", "a", "a", "a"], dtype="T"), ["a", "b"])] if hasattr(np.dtypes, "StringDType") else []),
    ],
)
def test_groups_keep_their_labels_in_sorted_order(groups, labels):
    found = dict(check_groups(groups, 4))
    assert list(found) == labels
    assert [type(label) for label in found] == [type(label) for label in labels]
    # each row is in the mask of its own label and in no other
    assert np.sum(list(found.values()), axis=0).tolist() == [1, 1, 1, 1]
    for label, mask in found.items():
        assert mask.tolist() == [value == label for value in groups]


def test_labels_that_cannot_be_compared_are_sorted_by_type_and_text():
    assert sorted_groups(["b", 2, "a", 10, None]) == [None, 10, 2, "a", "b"]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1, 1, 1], "finite and not negative; row 1 holds -1.0"),
        ([1, 1, np.nan, 1], "finite and not negative; row 2 holds nan"),
        ([1, 1, 1, np.inf], "finite and not negative; row 3 holds inf"),
        (pl.Series([1.0, None, 1.0, 1.0]), "row 1 holds nan"),
        ([0, 0, 0, 0], "above 0 for some row; all weights are zero"),
        (["1", "b", "c", "d"], r"hold numbers; got values such as \['1'\]"),
        ([1, 1, 1], "one value per row; got 3 for 4 scores"),
        (2.0, r"one-dimensional; got shape \(\)"),
        ([[1], [1], [1], [1]], r"one-dimensional; got shape \(4, 1\)"),
        ([], "empty"),
        (np.ones(4) * 1j, "complex"),
        (np.ma.array([1, 2, 3, 4], mask=[0, 0, 1, 0]), "masked"),
    ],
)
def test_weights(weights, words):
    text = complaint(sample_weight=weights)
    assert text.startswith("sample_weight ")
    assert re.search(words, text)


def test_a_masked_array_without_masked_rows_is_an_array():
    assert check_tables(np.ma.array(Y), np.ma.array(S), np.ma.array(G)) == check_tables(Y, S, G)


def test_two_groups_with_both_classes():
    check_two_groups(check_tables([1, 0, 1, 0], S, G))


def test_other_than_two_groups():
    for groups, words in ((["x"] * 4, "got 1: 'x'"), (["x", "y", "z", "x"], "got 3: 'x', 'y', 'z'")):
        with pytest.raises(InputError, match=f"^sensitive_features must name exactly two groups to repair; {words}"):
            check_two_groups(check_tables(Y, S, groups))
    many = check_tables([0] * 40, np.zeros(40), np.arange(40))
    with pytest.raises(InputError, match=r"got 40: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\. An audit takes any number"):
        check_two_groups(many)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, 0, 0, 0], r"group 'y' has no positives \(positives 0, negatives 2\)"),
        ([1, 1, 1, 0], r"group 'x' has no negatives \(positives 2, negatives 0\)"),
    ],
)
def test_a_group_with_one_class(labels, words):
    with pytest.raises(InputError, match=words):
        check_two_groups(check_tables(labels, S, G))


def test_a_table_without_mass_lacks_both_classes():
    with pytest.raises(InputError, match=r"^table a has no positives and no negatives \(positives 0, negatives 0\)"):
        check_both_classes(ScoreTable.from_arrays([], []), "table a")


CLUSTERS = {
    "small numbers": np.random.default_rng(0).integers(-128, 128, 3000).astype(np.int8),
    "large numbers": np.random.default_rng(0).choice(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 90),
    "numbers far apart": np.random.default_rng(0).choice([-(2**62), 5, 2**62], 90),
    "text": np.random.default_rng(0).choice(["", "a", "bb", "\u00e4\u20ac", "zzzzzzzz"], 400),
    "text in order": np.repeat(["b", "a", "c", "a"], 9),
    "objects": np.array(["a", -1, -2, (1, 2)] * 20, dtype=object),
    "amounts": np.random.default_rng(0).random(50).round(1),
    "times": np.random.default_rng(0).integers(0, 9, 50).astype("datetime64[ns]"),
    "one": np.array([7]),
    "far apart": np.random.default_rng(0).integers(0, 9, 50) * 2**58 - 2**62,
    "unsigned": np.array([2**64 - 1, 0, 2**63, 2**64 - 1], dtype=np.uint64),
    "long text": np.array(["a" * length for length in range(30)] * 2),
    "letters of several bytes": np.array(["é", "病院", "e", "病", "é"] * 9),
    "empty text": np.array(["", ""]),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_have_a_number_each(name: str) -> None:
    labels = CLUSTERS[name]
    found = check_clusters(labels, labels.size)
    slow = [labels.tolist().index(label) for label in labels.tolist()]
    assert len({*zip(found.tolist(), slow, strict=True)}) == len({*slow}) == len({*found.tolist()})
    assert found.dtype == np.int64


def test_texts_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xorder._validation._hashes", lambda words: np.zeros(words[0].size, dtype=np.uint64))
    found = check_clusters(np.array(["a long label", "b long label", "c long label", "a long label"]), 4)
    assert len({*found.tolist()}) == 3
    assert found[0] == found[3]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        np.array([1.0, np.nan]),
        np.array(["a", None], dtype=object),
        np.array([1, np.nan], dtype=object),
    ],
)
def test_missing_clusters_are_named(labels: Any) -> None:
    with pytest.raises(InputError, match="clusters must name a cluster for each row; 1 row has none, row 1"):
        check_clusters(labels, 2)
