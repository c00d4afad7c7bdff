"""The table of NYC Local Law 144, against counts made by hand with loops."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

from xorder.exceptions import InputError
from xorder.metrics import ll144
from xorder.metrics._sheet import AuditTable

COLUMNS = ["by", "category", "people", "share", "above_median", "scoring_rate", "impact_ratio", "below_2_percent"]


def by_hand(score: list[float], columns: dict[str, list[Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Count with loops, for one column or two; a category that is None is unknown."""
    median = statistics.median(score)
    size = len(score)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    wanted = [(name, [None if value is None else str(value) for value in values]) for name, values in columns.items()]
    if len(columns) == 2:
        (first, ones), (second, others) = wanted
        pairs = [None if a is None or b is None else f"{a} & {b}" for a, b in zip(ones, others, strict=True)]
        wanted.append((f"{first} & {second}", pairs))
    for by, values in wanted:
        of_by = {}
        for category in sorted({value for value in values if value is not None}):
            people = above = 0
            for each, value in zip(score, values, strict=True):
                if value == category:
                    people += 1
                    above += each > median
            of_by[category] = {"people": people, "above_median": above, "scoring_rate": above / people}
        counted = [row["scoring_rate"] for row in of_by.values() if row["people"] / size >= 0.02]
        for row in of_by.values():
            small = row["people"] / size < 0.02
            row["impact_ratio"] = None if small else row["scoring_rate"] / max(counted)
            row["below_2_percent"] = "yes" if small else "no"
        found |= {(by, category): row for category, row in of_by.items()}
        if None in values:
            nothing = dict.fromkeys(("above_median", "scoring_rate", "impact_ratio", "below_2_percent"))
            found[by, "unknown"] = {"people": values.count(None)} | nothing
    return {key: row | {"share": row["people"] / size, "median": median} for key, row in found.items()}


def by_category(table: AuditTable) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows but that of all people, by what they are about."""
    assert table.columns == [*COLUMNS, "median"]
    assert (table.rows[0]["by"], table.rows[0]["category"]) == ("all", "all")
    keys = [(row["by"], row["category"]) for row in table.rows[1:]]
    assert len(set(keys)) == len(keys)
    rows = [{name: value for name, value in row.items() if name not in ("by", "category")} for row in table.rows[1:]]
    return dict(zip(keys, rows, strict=True))


def applicants(size: int = 400) -> tuple[list[float], dict[str, list[Any]]]:
    rng = np.random.default_rng(5)
    sex = rng.choice(["female", "male", "x", None], size, p=[0.5, 0.43, 0.01, 0.06]).tolist()
    race = rng.choice(["Asian", "Black", "White", None], size, p=[0.1, 0.3, 0.5, 0.1]).tolist()
    return np.round(rng.random(size), 2).tolist(), {"sex": sex, "race": race}


def test_ten_applicants_counted_by_hand() -> None:
    # Sorted: 1 2 3 4 5 | 6 7 8 9 10, so that the median is 5.5 and five are above.
    score = [10, 9, 8, 3, 2, 7, 6, 5, 4, 1]
    sex = ["m", "m", "m", "m", "f", "f", "f", "f", None, "f"]
    table = ll144(score, sensitive_features={"sex": sex})
    everyone, women, men, unknown = table.rows
    assert everyone == {
        **{"by": "all", "category": "all", "people": 10, "share": 1.0, "above_median": 5, "scoring_rate": 0.5},
        **{"impact_ratio": None, "below_2_percent": None, "median": 5.5},
    }
    # Of five women two (7 and 6) are above the median, of four men three.
    assert (women["people"], women["above_median"], women["scoring_rate"]) == (5, 2, 2 / 5)
    assert (men["people"], men["above_median"], men["scoring_rate"]) == (4, 3, 3 / 4)
    assert (women["impact_ratio"], men["impact_ratio"]) == (pytest.approx(0.4 / 0.75), 1.0)
    assert (unknown["category"], unknown["people"], unknown["share"]) == ("unknown", 1, 0.1)
    assert [unknown[name] for name in COLUMNS[4:]] == [None] * 4
    assert table.notes == (
        "People of unknown category count for the median and for shares, and belong to no category.",
    )


@pytest.mark.parametrize("names", [["sex"], ["race"], ["sex", "race"], ["race", "sex"]])
def test_columns_and_combinations_are_those_counted_by_hand(names: list[str]) -> None:
    score, columns = applicants()
    chosen = {name: columns[name] for name in names}
    wanted = by_hand(score, chosen)
    found = by_category(ll144(score, sensitive_features=chosen))
    assert list(found) == list(wanted)
    assert {key: pytest.approx(row) for key, row in wanted.items()} == found
    assert {row["below_2_percent"] for row in found.values()} >= ({"yes", "no"} if "sex" in names else {"no"})


def test_frames_dicts_and_arrays_of_categories() -> None:
    score, columns = applicants(60)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    wanted = ll144(score, sensitive_features=columns)
    assert ll144(score, sensitive_features=pandas.DataFrame(columns)) == wanted
    assert ll144(score, sensitive_features=polars.DataFrame(columns)) == wanted
    table = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    renamed = dict(enumerate(columns.values()))
    assert ll144(score, sensitive_features=table) == ll144(score, sensitive_features=renamed)
    of_sex = ll144(score, sensitive_features={"sex": columns["sex"]}).rows
    assert ll144(score, sensitive_features=pandas.Series(columns["sex"], name="sex")).rows == of_sex
    assert {row["by"] for row in ll144(score, sensitive_features=columns["sex"]).rows} == {"all", "group"}


def test_three_columns_give_all_their_combinations() -> None:
    score, columns = applicants()
    columns["old"] = [number % 3 == 0 for number in range(len(score))]
    found = by_category(ll144(score, sensitive_features=columns))
    blocks = ["sex", "race", "old", "sex & race", "sex & old", "race & old", "sex & race & old"]
    assert list(dict.fromkeys(by for by, _ in found)) == blocks
    assert ("sex & race & old", "female & Black & old=True") in found
    for by in blocks:
        assert sum(row["people"] for (own, _), row in found.items() if own == by) == 400


def test_a_column_called_all() -> None:
    table = ll144([1, 2, 3, 4], sensitive_features={"all": ["a", "a", "b", None]})
    assert [row["category"] for row in table.rows] == ["all", "a", "b", "unknown"]


def test_a_category_below_two_percent_keeps_its_people_and_rate_and_is_named() -> None:
    # 99 people, the one of category x with the highest score: 1 of 99 is below 2 %.
    score = list(range(99))
    sex = ["f", "m"] * 49 + ["x"]
    table = ll144(score, sensitive_features={"sex": sex})
    found = by_category(table)
    assert found["sex", "x"] == {
        **{"people": 1, "share": 1 / 99, "above_median": 1, "scoring_rate": 1.0, "impact_ratio": None},
        **{"below_2_percent": "yes", "median": 49},
    }
    # 50 to 97 are above: 24 even numbers of women, and 24 odd numbers of men.
    assert found["sex", "f"]["scoring_rate"] == found["sex", "m"]["scoring_rate"] == 24 / 49
    assert found["sex", "f"]["impact_ratio"] == 1.0
    assert "left out of the impact ratios: sex: x." in table.notes[0]


def test_exactly_two_percent_is_not_below() -> None:
    table = ll144(list(range(100)), sensitive_features={"sex": ["f"] * 98 + ["x"] * 2})
    assert by_category(table)["sex", "x"]["below_2_percent"] == "no"
    assert by_category(table)["sex", "f"]["impact_ratio"] == pytest.approx(48 / 98)


def test_scores_at_the_median_are_not_above_it() -> None:
    table = ll144([1, 2, 2, 2, 3], sensitive_features={"sex": ["f", "f", "m", "m", "m"]})
    found = by_category(table)
    assert (found["sex", "f"]["above_median"], found["sex", "m"]["above_median"]) == (0, 1)
    assert (found["sex", "f"]["impact_ratio"], found["sex", "m"]["impact_ratio"]) == (0.0, 1.0)
    assert table.notes[0] == "60% of all people score exactly the median, which is not above it."


def test_a_median_between_two_neighbouring_numbers() -> None:
    low = 1 + np.finfo(float).eps
    high = np.nextafter(low, 2)
    # Rounded, the mean of the two is the higher one, which is above it all the same.
    assert low / 2 + high / 2 == high
    assert ll144([low, high], sensitive_features={"sex": ["f", "m"]}).rows[0]["above_median"] == 1


def test_no_ratio_where_nobody_is_above_the_median() -> None:
    table = ll144([7.0] * 6, sensitive_features={"sex": ["f", "m"] * 3})
    assert {row["impact_ratio"] for row in table.rows} == {None}
    assert {row["scoring_rate"] for row in table.rows} == {0.0}
    assert table.notes[-1] == "sex: no impact ratio, as no category of 2 % or more has people above the median."


def test_no_ratio_where_all_categories_are_small_or_unknown() -> None:
    many = ll144(list(range(99)), sensitive_features={"id": [f"c{number}" for number in range(99)]})
    assert {row["impact_ratio"] for row in many.rows} == {None}
    none = ll144([1, 2], sensitive_features={"sex": [None, None]})
    assert [row["category"] for row in none.rows] == ["all", "unknown"]


def test_categories_that_look_alike_are_said() -> None:
    table = ll144([1, 2, 3, 4], sensitive_features={"sex": ["f", "F ", "m", "m"]})
    assert table.notes[0].startswith("sex: groups 'F ', 'f' differ in blanks or case alone")


def told(lines: list[list[int | None]]) -> bool:
    """Whether some sum of known total has exactly one unknown part."""
    return any(line.count(None) == 1 for line in lines)


@pytest.mark.parametrize("seed", range(20))
def test_suppressed_rows_cannot_be_told_from_the_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 300
    columns = {
        "sex": rng.choice(["f", "m", "x"], size, p=[0.5, 0.45, 0.05]).tolist(),
        "race": rng.choice(["A", "B", "C", "D"], size, p=[0.6, 0.3, 0.07, 0.03]).tolist(),
    }
    score = rng.random(size).tolist()
    open_, found = (by_category(ll144(score, sensitive_features=columns, suppress=each)) for each in (None, 11))
    assert list(found) == list(open_)
    for key, row in found.items():
        numbers = open_[key]["people"], open_[key]["above_median"]
        if any(0 < number < 11 for number in (*numbers, numbers[0] - numbers[1])):
            assert row["people"] is row["share"] is row["above_median"] is row["scoring_rate"] is None
            assert row["impact_ratio"] is None
        elif row["people"] is not None:
            assert (row["people"], row["above_median"]) == numbers
            assert row["scoring_rate"] == round(open_[key]["scoring_rate"], 2)
    shown = {key: row["people"] for key, row in found.items()}
    sums = [[people for (by, _), people in shown.items() if by == own] for own in ("sex", "race", "sex & race")]
    for by, place in (("sex", 0), ("race", 1)):
        for (own, category), people in shown.items():
            if own == by:
                parts = [
                    each
                    for (pair, name), each in shown.items()
                    if pair == "sex & race" and category == name.split(" & ")[place]
                ]
                sums.append([people, *parts])
    assert not told(sums)
    assert None in shown.values()


def test_a_single_small_row_takes_the_next_smallest_with_it() -> None:
    sex = ["f"] * 60 + ["m"] * 80 + ["x"] * 5
    table = ll144(np.random.default_rng(0).random(145), sensitive_features={"sex": sex}, suppress=11)
    assert [row["people"] for row in table.rows] == [145, None, 80, None]
    assert table.rows[1]["median"] == round(table.rows[1]["median"], 2)
    assert table.notes[-1].startswith("Rows with a count of 1 to 10 are suppressed")


def test_of_two_rows_neither_is_shown_where_one_is_small() -> None:
    table = ll144(np.random.default_rng(0).random(85), sensitive_features={"sex": ["f"] * 80 + ["m"] * 5}, suppress=11)
    assert [row["people"] for row in table.rows] == [85, None, None]


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(InputError, match="one value per row; got shape \\(3,\\) of column 'sex' for 2 scores"):
        ll144([1, 2], sensitive_features={"sex": ["f", "m", "m"]})
    with pytest.raises(InputError, match="must have a column; it has none"):
        ll144([1, 2], sensitive_features={})
    with pytest.raises(InputError, match="y_score must be finite; row 1"):
        ll144([1, float("nan")], sensitive_features={"sex": ["f", "m"]})
    with pytest.raises(InputError, match="plain labels"):
        ll144([1, 2], sensitive_features=[["f"], ["m", "x"]])
    with pytest.raises(InputError, match="suppress must be a whole number"):
        ll144([1, 2], sensitive_features=["f", "m"], suppress=0)
    with pytest.raises(InputError, match="at most 100 groups"):
        ll144(list(range(101)), sensitive_features=list(range(101)))


@pytest.mark.parametrize("word", ["unknown", "Unknown", " UNKNOWN ", "", "  ", float("nan")])
def test_blank_and_unknown_are_no_categories(word: Any) -> None:
    score, columns = applicants(80)
    worded = {name: [word if value is None else value for value in values] for name, values in columns.items()}
    assert ll144(score, sensitive_features=worded) == ll144(score, sensitive_features=columns)


@pytest.mark.parametrize("word", ["missing", "all", "sex", "nan", "None", '["f"]'])
def test_a_category_may_have_any_other_name(word: str) -> None:
    score, columns = applicants(80)
    columns["sex"] = [word if value == "male" else value for value in columns["sex"]]
    found = by_category(ll144(score, sensitive_features=columns))
    assert {key: pytest.approx(row) for key, row in by_hand(score, columns).items()} == found
