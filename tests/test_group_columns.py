import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder._groups import Combinations, group_labels, groups_in, part_texts, text_columns, without
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


@pytest.mark.parametrize(
    ("value", "label"),
    [(1, "x & b=1"), (1.0, "x & b=1"), ("1", "x & b=1"), (2.5, "x & b=2.5"), (True, "x & b=True"), ("f", "x & f")],
)
def test_a_value_is_called_the_same_whatever_its_type_and_whoever_else_is_there(value, label):
    alone = pd.DataFrame({"a": ["x"], "b": pd.Series([value], dtype=object)})
    beside = pd.DataFrame({"a": ["x", "x"], "b": pd.Series([value, "other"], dtype=object)})
    assert group_labels(alone).tolist() == [label]
    assert group_labels(beside).tolist() == [label, "x & other"]


@given(st.tuples(st.text("& 1x='\\\"\nab", max_size=6), st.text(max_size=6)))
def test_a_label_says_what_is_written_in_the_columns(values):
    label = Combinations(["a", "b"])[values]
    texts = part_texts(label, ["a", "b"])
    assert [value in found for value, found in zip(values, texts, strict=True)] == [True, True]


@pytest.mark.parametrize("label", ["x", "x & y & z", 3, None])
def test_a_label_of_fewer_or_more_parts_is_for_no_row(label):
    assert part_texts(label, ["a", "b"]) == []


def test_codes_of_columns_are_combined_in_the_order_of_the_rows():
    columns = [(["x", "y"], np.array([1, 0, 1, -1])), (["f", None, "m"], np.array([2, 0, 2, 0]))]
    labels, codes = Combinations(["a", "b"]).of_codes(columns)
    assert labels == ["y & m", "x & f", None]
    assert codes.tolist() == [0, 1, 0, 2]


def test_arrays_load_no_library_of_frames():
    code = (
        "import sys; sys.modules['sklearn'] = None; import numpy as np, xorder\n"
        "groups = np.array([['a', 'x'], ['b', 'x']] * 50)\n"
        "found = xorder.audit([0, 1, 1, 0] * 25, np.arange(100) % 7, sensitive_features=groups)\n"
        "print(list(found.groups), 'narwhals' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "['a & x', 'b & x'] False\n"


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
def test_a_frame_without_columns_is_of_its_kind(frame):
    rest = without(frame, ["race", "sex"])
    assert type(rest) is type(frame)
    assert np.asarray(rest["age"]).tolist() == [1, 2, 2]
    with pytest.raises(InputError, match="nothing is left of X without 'race', 'age', 'sex'"):
        without(frame, ["race", "age", "sex"])


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame([["A", "B"]], columns=["race", "race"])
    with pytest.raises(InputError, match="each column once; some have the same name"):
        groups_in(twice, "race")


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_text(frame):
    assert text_columns(frame) == ["race", "sex"]
    assert text_columns(np.array([["a"]])) == []
