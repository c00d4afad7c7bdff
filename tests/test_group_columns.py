import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder._group_columns import group_labels, groups_in, text_columns
from xorder.exceptions import InputError

FRAME = pd.DataFrame({"race": ["A", "B", "B"], "age": [1, 2, 2], "sex": ["f", "f", "m"]})
FRAMES = [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)]


# Several attributes in one label


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("x & y", "z"), ("x", "y & z")),
        (("x &", "y"), ("x", "& y")),
        (("x & ", "y"), ("x", " & y")),
        (("x&", "y"), ("x", "&y")),
    ],
)
def test_two_groups_never_have_one_label(first, second):
    labels = group_labels(pd.DataFrame([first, second], columns=["a", "b"]))
    assert labels[0] != labels[1]


def test_text_with_an_ampersand_is_named_and_other_text_is_not():
    table = pd.DataFrame([("x & y", "z"), ("x", "y & z"), ("x", "z")], columns=["a", "b"])
    assert group_labels(table).tolist() == ["a='x & y' & z", "x & b='y & z'", "x & z"]


def test_a_row_is_called_the_same_whoever_else_is_there():
    table = pd.DataFrame([("x & y", "z"), ("x", "y & z")], columns=["a", "b"])
    alone = [group_labels(table.iloc[[row]])[0] for row in range(2)]
    assert alone == group_labels(table).tolist()


@given(rows=st.lists(st.tuples(st.text(" &xa='", max_size=4), st.text(" &xb='", max_size=4)), min_size=1, max_size=6))
def test_labels_tell_combinations_apart(rows):
    labels = group_labels(pd.DataFrame(rows, columns=["a", "b"], dtype=object))
    assert len(set(labels)) == len(set(rows))


def test_values_written_alike_are_refused():
    table = pd.DataFrame({"a": pd.Series([1, "1"], dtype=object), "b": ["f", "f"]})
    with pytest.raises(InputError, match=r"combinations \(1, 'f'\) and \('1', 'f'\), which would both be .*'a=1 & f'"):
        group_labels(table)


def test_a_part_that_is_missing_makes_the_group_missing():
    table = pd.DataFrame({"a": ["x", None, "x", "x"], "b": [1.0, 1.0, np.nan, np.nan]})
    assert group_labels(table).tolist() == ["x & b=1", None, None, None]


# Columns of X


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_by_name(frame):
    assert groups_in(frame, "race").tolist() == ["A", "B", "B"]
    assert groups_in(frame, ["race"]).tolist() == ["A", "B", "B"]
    assert groups_in(frame, ["race", "sex"]).tolist() == ["A & f", "B & f", "B & m"]
    assert groups_in(frame, ("race", "age")).tolist() == ["A & age=1", "B & age=2", "B & age=2"]


def test_texts_are_labels_and_never_names_of_columns():
    assert group_labels(["race", "age", "sex"]).tolist() == ["race", "age", "sex"]
    assert group_labels(np.array(["race", "sex"])).tolist() == ["race", "sex"]


def test_in_an_array_columns_have_positions():
    array = FRAME[["age"]].to_numpy()
    assert groups_in(array, 0).tolist() == [1, 2, 2]
    with pytest.raises(InputError, match="'race', but X is an array, whose columns have no names"):
        groups_in(array, "race")


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("columns", ["town", ["race", "town"]])
def test_names_that_are_no_columns(frame, columns):
    words = "names 'town', but X has no column of that name; its columns are 'race', 'age', 'sex'"
    with pytest.raises(InputError, match=words):
        groups_in(frame, columns)


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_text(frame):
    assert text_columns(frame) == ["race", "sex"]
    assert text_columns(np.array([["a"]])) == []
