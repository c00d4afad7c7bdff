"""Groups and labels as small numbers, names of columns, and what is said of those that cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xorder._groups import number, written
from xorder.engines._cells import Codes, ColumnNames, Distinct, ReadingOptions, coding, label_class
from xorder.exceptions import InputError


class TestColumnNames:
    def test_those_that_are_given(self) -> None:
        assert ColumnNames("s", "g").all == ["s", "g"]
        assert ColumnNames("s", ["g", "h"], "y", "w").all == ["s", "g", "h", "y", "w"]

    def test_what_groups_are_called(self) -> None:
        assert ColumnNames("s", ["g"]).group_called == ColumnNames("s", "g").group_called == "column 'g'"
        assert ColumnNames("s", ("g", "h", "i")).group_called == "the combination of columns 'g', 'h' and 'i'"

    @pytest.mark.parametrize(
        ("names", "roles"),
        [
            (("x", "x"), "score and group"),
            (("x", ["g", "x"]), "score and group"),
            (("s", ["g", "x"], "x"), "group and label"),
            (("x", "g", "x"), "score and label"),
            (("s", "x", "y", "x"), "group and weight"),
            (("s", "g", "x", "x"), "label and weight"),
        ],
    )
    def test_one_column_has_one_role(self, names: tuple[Any, ...], roles: str) -> None:
        with pytest.raises(InputError, match=f"^{roles} both name the column 'x'; each needs one of its own.$"):
            ColumnNames(*names)

    @pytest.mark.parametrize(
        ("names", "role"), [((None, "g"), "score"), (("s", None), "group"), (("s", ["g", ""]), "group")]
    )
    def test_what_is_no_name(self, names: Any, role: str) -> None:
        with pytest.raises(InputError, match=f"{role} must be the name of a column; got "):
            ColumnNames(*names)

    def test_columns_of_a_group_differ(self) -> None:
        with pytest.raises(InputError, match="group names the column 'g' twice; its columns must differ"):
            ColumnNames("s", ["g", "h", "g"])
        with pytest.raises(InputError, match=r"group must name a column, or several; got \[\]"):
            ColumnNames("s", [])


class TestCoding:
    OPTIONS = ReadingOptions(ColumnNames("s", "g", "y"))

    def found(self, groups: list[Any], missing_group: str = "error", *, file: str | None = None) -> Any:
        options = replace(self.OPTIONS, missing_group=missing_group)
        return coding(Distinct(groups), Distinct([0, 1] if file is None else ["0", "1"]), options, file=file)

    def test_groups_are_numbered_in_sorted_order(self) -> None:
        found = self.found(["b", "a"])
        assert (found.groups, found.group_values, found.missing) == (("a", "b"), (("b", 1), ("a", 0)), None)
        assert found.size == 4

    def test_rows_without_a_group_are_one_or_left_out(self) -> None:
        assert self.found(["z", None, "a"], "group").groups == ("a", "missing", "z")
        left = self.found(["z", None, "a"], "leave")
        assert (left.groups, left.missing, left.size) == (("a", "z"), 2, 4)
        assert self.found(["z", "a"], "leave").missing is None

    def test_blanks_are_missing_in_files_alone(self) -> None:
        assert self.found(["a", " "]).groups == (" ", "a")
        assert self.found(["a", " ", ""], "leave", file="f.csv").group_values == (("a", 0), (" ", 1), ("", 1))

    def test_texts_of_a_file_become_codes(self) -> None:
        groups, labels = Codes(), Codes()
        of_rows = np.array([groups[text] for text in ("b", "a", "", "b")], dtype=np.int32)
        of_labels = np.array([labels[text] for text in ("1", "0", "1.0", "false")], dtype=np.int32)
        options = replace(self.OPTIONS, missing_group="leave")
        found = coding(Distinct(list(groups)), Distinct(list(labels)), options, file="f.csv")
        assert found.of_texts(groups, of_rows, labels, of_labels).tolist() == [3, 0, 5, 2]

    def test_it_says_how_many_and_where_if_that_is_known(self) -> None:
        known = Distinct(["a", "", " "], {"": "line 7", " ": "line 3", "a": "line 2"}, {"a": 1, "": 2, " ": 1200})
        with pytest.raises(InputError, match=r"^f\.csv: column 'g' .*; 1,202 rows have none, the first in line 7\."):
            coding(known, Distinct(["0"]), self.OPTIONS, file="f.csv")
        with pytest.raises(InputError, match=r"^column 'g' .*; some rows have none\. Remove"):
            self.found(["a", None])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("0", 0), (" 1.00 ", 1), ("1e0", 1), ("TRUE", 1), ("false", 0), ("2", None), ("yes", None), ("1_0", None)],
)
def test_which_class_a_text_stands_for(text: str, wanted: int | None) -> None:
    assert label_class(text) == wanted


@pytest.mark.filterwarnings("ignore:column 'y' holds 3 values")
def test_positive_values_as_they_are_written_or_nearly() -> None:
    options = ReadingOptions(ColumnNames("s", "g", "y"), positive="yes")

    def positives(*values: str) -> set[str]:
        found = coding(Distinct(["a"]), Distinct(values), options)
        return {value for value, number in found.label_values if number}

    assert positives("Yes", "yes", "no") == {"yes"}
    assert positives("Yes ", "YES", "no") == {"Yes ", "YES"}


def test_numbers_and_values_as_text() -> None:
    assert number(" 1e3 ") == 1000
    assert np.isnan([number("1_000"), number("n/a"), number("")]).all()
    assert [written(value) for value in (None, float("nan"), b"a", 1, True)] == ["", "", "a", "1", "True"]
