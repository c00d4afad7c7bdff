"""Maps applied in every engine: the numbers of ScoreMap.apply, and the same complaints."""

from __future__ import annotations

import gzip
import pickle
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from support.backends import NAMES, Backend, make, rows_of
from support.needs import package
from xorder import ScoreMap, Threshold, XOrder
from xorder.engines import GroupMaps, apply_to_file, apply_to_frame, tables_of
from xorder.engines import _apply_cut as apply_cut
from xorder.engines._apply import adjusting
from xorder.engines._match_groups import values_of
from xorder.exceptions import InputError, XorderWarning

# Maps of few knots on scores beyond them are what most tests here are about.
pytestmark = pytest.mark.filterwarnings("ignore:more than a tenth of the scores:xorder.exceptions.XorderWarning")

LAZY = ("polars-lazy", "duckdb", "spark")
FILES = ("parquet", "parquet-glob", "csv")
COLUMNS_READ = {"score": "risk", "group": "group"}


def learnt(knots: int = 40, *, seed: int = 0, spread: float = 1.0) -> ScoreMap:
    rng = np.random.default_rng(seed)
    return ScoreMap(np.sort(rng.random(knots)) * spread, np.sort(rng.random(knots)))


MAPS = {"A": ScoreMap.identity(), "B": learnt(), "C": ScoreMap([0.5], [0.25])}


def people(rows: int = 500, *, labels: tuple[object, ...] = ("A", "B", "C"), seed: int = 1) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    return {
        "id": np.arange(rows),
        "risk": rng.random(rows) * 1.4 - 0.2,
        "group": [labels[number] for number in rng.integers(0, len(labels), rows)],
        "note": [f"row {number}" for number in range(rows)],
    }


def expected(columns: dict[str, object], maps: dict[object, ScoreMap]) -> np.ndarray:
    """One row at a time, by the map of its group."""
    functions = {group: learnt.as_function() for group, learnt in maps.items()}
    pairs = zip(np.asarray(columns["risk"], dtype=float), columns["group"], strict=True)
    return np.array([functions[group](np.array([risk]))[0] for risk, group in pairs])


def mapped(backend: Backend, columns: dict[str, object], maps: dict[object, ScoreMap], **settings: str) -> dict:
    """All rows of what comes back, files read again."""
    choices = {name: settings.pop(name) for name in ("missing_group", "unseen_group") if name in settings}
    chosen, names = GroupMaps(maps, **choices), COLUMNS_READ | settings
    frame = backend(columns)
    if backend.name not in FILES:
        return rows_of(apply_to_frame(chosen, frame, **names))
    out = backend.folder / f"out.{'csv' if backend.is_text else 'parquet'}"
    assert apply_to_file(chosen, frame, out, **names, overwrite=True).rows == len(columns["id"])
    rows = rows_of(out)
    assert sorted(path.name for path in backend.folder.iterdir() if path.name.startswith(".")) == []
    return rows


def test_each_row_gets_what_its_map_gives(backend: Backend) -> None:
    columns = people()
    rows = mapped(backend, columns, MAPS, into="fair")
    assert list(rows) == ["id", "risk", "group", "note", "fair"]
    np.testing.assert_array_equal(np.array(rows["fair"], dtype=float), expected(columns, MAPS))
    np.testing.assert_array_equal(np.array(rows["risk"], dtype=float), columns["risk"])
    assert rows["note"] == columns["note"]
    assert [str(value) for value in rows["id"]] == [str(value) for value in columns["id"]]


@pytest.mark.slow
@pytest.mark.parametrize("knots", [2, 3, 5_000])
def test_few_and_many_knots_and_scores_on_them(backend: Backend, knots: int) -> None:
    maps = {"A": learnt(knots), "B": learnt(knots, seed=3, spread=1e-3)}
    columns = people(4_000, labels=("A", "B"))
    risk = np.asarray(columns["risk"])
    risk[:1_000] = np.resize(np.concatenate([maps["A"].raw, maps["B"].raw]), 1_000)
    rows = mapped(backend, columns, maps)
    np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), expected(columns, maps))


def test_knots_far_from_even(backend: Backend) -> None:
    """Heavy tails, huge and tiny numbers: a grid over the scores holds nearly all of them in one cell."""
    rng = np.random.default_rng(5)
    raw = np.unique(np.concatenate([rng.standard_cauchy(300), [-1e290, -1e-300, 0.0, 5e-324, 1e-300, 1e150, 1e290]]))
    maps = {"A": ScoreMap(raw, np.linspace(-3, 7, raw.size)), "B": ScoreMap([0.0, 5e-324], [0.0, 1.0])}
    columns = people(2 * raw.size + 3, labels=("A",))
    columns["risk"] = np.concatenate([raw, raw / 2, [-1e290, 1e308, 1.0]])
    columns["group"][-1] = "B"
    rows = mapped(backend, columns, maps)
    np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), expected(columns, maps))


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        ((1, 2), (1, 2)),
        ((True, False), (True, False)),
        ((1.5, 2.0), (1.5, 2)),
        (("it's", 'a "b" \\'), None),
        ((Decimal("1.50"), Decimal("2.00")), None),
        ((date(2026, 1, 31), date(2026, 2, 1)), None),
    ],
    ids=["whole", "boolean", "fractions", "quotes", "decimals", "days"],
)
def test_groups_of_any_plain_type(backend: Backend, labels: tuple, keys: tuple | None) -> None:
    columns = people(200, labels=labels)
    keys = keys or labels
    if backend.is_text:
        keys = tuple(str(label) for label in labels)
        columns["group"] = [str(label) for label in columns["group"]]
    maps = dict(zip(keys, [learnt(), learnt(seed=9)], strict=True))
    rows = mapped(backend, columns, maps)
    np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), expected(columns, maps))


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True], ids=["maps of text", "column of text"])
@pytest.mark.parametrize(
    "labels",
    [(0, 1), (True, False), (1.5, -2e-7), (Decimal("1.50"), Decimal("2.00")), (date(2026, 1, 31), date(2026, 2, 1))],
    ids=["whole", "boolean", "fractions", "decimals", "days"],
)
def test_labels_of_another_type_match_as_they_are_written(backend: Backend, labels: tuple, reverse: bool) -> None:
    """Maps learnt in one engine fit another, which holds the same groups in another type."""
    texts = tuple(map(str, labels))
    held, keys = (texts, labels) if reverse else (labels, texts)
    columns = people(200, labels=labels)
    want = expected(columns, dict(zip(labels, [learnt(), learnt(seed=9)], strict=True)))
    columns["group"] = [held[labels.index(label)] for label in columns["group"]]
    maps = dict(zip(keys, [learnt(), learnt(seed=9)], strict=True)) | {"missing": ScoreMap.identity()}
    rows = mapped(backend, columns, maps, missing_group="group")
    np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), want)


@pytest.mark.parametrize(
    ("held", "wrong", "keys", "shown"),
    [
        ((1, 2), 3, (1, 2, "3"), "3"),
        (("1", "2"), "3", ("1", "2", 3), "'3'"),
        ((True, True), False, (True, "0", 0), "False"),
        ((1, 2), 3, ("1", "2", "03"), "3"),
        ((1, 2), 3, ("1", "2", "9" * 20), "3"),
    ],
    ids=["text among numbers", "a number among texts", "no truth values", "a code", "a long number"],
)
@pytest.mark.parametrize("backend", [name for name in NAMES if name != "csv"], indirect=True)
def test_a_label_of_the_own_type_shuts_out_others(
    backend: Backend, held: tuple, wrong: object, keys: tuple, shown: str
) -> None:
    columns = people(60, labels=held)
    maps = dict(zip(keys, [learnt(), learnt(seed=9), ScoreMap([0.0], [9.0])], strict=True))
    by_text = {str(label): one for label, one in maps.items()}
    rows = mapped(backend, columns, maps)
    want = expected(columns | {"group": [str(label) for label in columns["group"]]}, by_text)
    np.testing.assert_array_equal(rows["adjusted"], want)
    columns["group"][7] = wrong
    with pytest.raises(Exception, match="was not seen in fit") as caught:
        mapped(backend, columns, maps)
    where = place(backend, 7)
    said = f"group {shown} was not seen in fit{where and f' (1 row, the first in {where})'}; the known groups are"
    assert f"{said} {', '.join(map(repr, maps))}. Fit again with it, or leave its scores" in str(caught.value)


def test_which_values_labels_stand_for() -> None:
    assert values_of([1, 2.5, "A", False], "number") == {1: 1, 2.5: 2.5}
    assert values_of(["1", "1.50", "1e3", "01", "+1", " 1", "1_0", "nan", "inf", "A"], "number") == {
        "1": 1,
        "1.50": 1.5,
        "1e3": 1000.0,
    }
    assert values_of([np.int64(3), np.float32(0.5)], "number") == {3: 3, 0.5: 0.5}
    assert values_of([0.1], "decimal") == {0.1: Decimal("0.1")}
    assert values_of([Decimal("0.1"), Decimal("7")], "number") == {Decimal("0.1"): 0.1, Decimal("7"): 7}
    assert values_of(["9" * 5000, "1e999"], "number") == {}
    assert values_of(["true", "1", 1, "True"], "boolean") == {"True": True}
    assert values_of([1, 0], "boolean") == {}
    assert values_of(["2026-01-31", "20260131", "2026-02-30"], "date") == {"2026-01-31": date(2026, 1, 31)}
    assert values_of([1, "missing"], "text", "missing") == {1: "1", "missing": "missing"}
    assert values_of([1, "missing"], "text") == {"missing": "missing"}
    with pytest.raises(InputError, match=r"groups '1' and '1\.0' are both meant for rows whose group is 1"):
        values_of(["1", "1.0"], "number")


@pytest.mark.parametrize("keys", [("2026-01-31", "2026-02-01"), (date(2026, 1, 31), date(2026, 2, 1))])
def test_days_as_pandas_holds_them(tmp_path: Path, keys: tuple) -> None:
    pd = package("pandas")
    columns = people(50, labels=("2026-01-31", "2026-02-01"))
    maps = dict(zip(("2026-01-31", "2026-02-01"), [learnt(), learnt(seed=9)], strict=True))
    frame = make("pandas", columns, tmp_path).assign(group=pd.to_datetime(columns["group"]))
    rows = apply_to_frame(GroupMaps(dict(zip(keys, maps.values(), strict=True))), frame, **COLUMNS_READ)
    np.testing.assert_array_equal(rows["adjusted"], expected(columns, maps))


@pytest.mark.parametrize("kind", ["bool", "float32", "float64", "int16", "decimal128(5, 2)", "date32", "string"])
def test_what_fit_calls_the_groups_of_many_files_apply_knows(tmp_path: Path, kind: str) -> None:
    pa = package("pyarrow")
    types = {"decimal128(5, 2)": pa.decimal128(5, 2)}
    columns = people(120, labels=(0, 1))
    days = [date(2026, 1, 31), date(2026, 2, 1)]
    values = {"bool": [False, True], "int16": [-3, 7], "string": ["a", "b"], "date32": days}
    values = values.get(kind, [Decimal("0.10"), Decimal("2.00")] if kind.startswith("decimal") else [0.1, 2.0])
    column = pa.array([values[label] for label in columns["group"]], types.get(kind) or pa.type_for_alias(kind))
    y = np.arange(120) // 2 % 2
    files = make("parquet-glob", columns | {"group": column, "y": y}, tmp_path)
    groups = list(tables_of(files, **COLUMNS_READ, label="y", as_text=True))
    maps = dict(zip(groups, [ScoreMap([0.0], [5.0]), ScoreMap([0.0], [7.0])], strict=True))
    apply_to_file(GroupMaps(maps), files, tmp_path / "out.parquet", **COLUMNS_READ, into="fair")
    rows = rows_of(tmp_path / "out.parquet")
    order = sorted(set(column.to_pylist()), key=str)
    want = [risk + (5, 7)[order.index(label)] for risk, label in zip(columns["risk"], column.to_pylist(), strict=True)]
    np.testing.assert_allclose(rows["fair"], want)


@pytest.mark.parametrize("kind", ["timestamp", "time64", "binary"])
def test_groups_that_have_no_plain_text_are_refused(tmp_path: Path, kind: str) -> None:
    pa = package("pyarrow")
    types = {"timestamp": pa.timestamp("us"), "time64": pa.time64("us"), "binary": pa.binary()}
    column = pa.array([b"A"] * 9 if kind == "binary" else range(9), types[kind])
    path = make("parquet-glob", people(9) | {"group": column}, tmp_path)
    with pytest.raises(InputError, match="column 'group' must hold plain labels such as text or numbers; its type is"):
        apply_to_frame(GroupMaps(MAPS), path, **COLUMNS_READ)


def test_files_of_a_glob_have_the_columns_of_the_first(tmp_path: Path) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    first = pa.table({"risk": [0.25, 0.5], "group": ["A", "A"], "visits": pa.array([1, 2], pa.int32())})
    pq.write_table(first, tmp_path / "1.parquet")
    more = pa.table({"visits": pa.array([3], pa.int64()), "group": ["A"], "risk": [0.75]})
    pq.write_table(more, tmp_path / "2.parquet")
    files, out = tmp_path / "[12].parquet", tmp_path / "out.parquet"
    maps = GroupMaps({"A": ScoreMap.identity()})
    assert apply_to_file(maps, files, out, **COLUMNS_READ).rows == 3
    assert pq.read_table(out).to_pydict()["visits"] == [1, 2, 3]
    assert pq.read_schema(out).types[:3] == first.schema.types
    pq.write_table(more.drop_columns("visits"), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"2\.parquet has not the columns and types of .*1\.parquet"):
        apply_to_file(maps, files, tmp_path / "other.parquet", **COLUMNS_READ)
    assert not (tmp_path / "other.parquet").exists()


def test_groups_as_categories(backend: Backend) -> None:
    pa = package("pyarrow")
    columns = people(200, labels=("A", "B"))
    want = expected(columns, MAPS)
    # A category that no row has is no group.
    plain = pa.array([*columns["group"], "never seen"]).dictionary_encode()[:200]
    if backend.name == "csv":
        plain = columns["group"]
    rows = mapped(backend, columns | {"group": plain}, MAPS)
    np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), want)


@pytest.mark.parametrize("kind", ["float32", "int32"])
def test_scores_of_other_types_count_as_what_they_are(backend: Backend, kind: str) -> None:
    columns = people(300)
    columns["risk"] = (np.asarray(columns["risk"]) * 3).astype(kind)
    want = expected(columns, MAPS)
    rows = mapped(backend, columns, MAPS)
    got = np.array(rows["adjusted"], dtype=float)
    if backend.is_text:
        want = expected(columns | {"risk": [float(text) for text in rows["risk"]]}, MAPS)
    np.testing.assert_array_equal(got, want)


def place(backend: Backend, row: int) -> str:
    """Where a row, of those of the first file, is said to be; engines that compute later do not know."""
    if backend.name in LAZY:
        return ""
    return f"line {row + 2}" if backend.is_text else f"row {row}"


def complaint(backend: Backend, columns: dict[str, object], **settings: object) -> str:
    """What is said: an InputError, or, of a frame that computes later, an error of its engine when it does."""
    kinds = Exception if backend.name in LAZY else InputError
    with pytest.raises(kinds) as caught:
        mapped(backend, columns, MAPS, **settings)
    left = {path.name for path in backend.folder.rglob("*") if path.name.startswith((".out", "out", "xorder-spill"))}
    assert left == set()
    return str(caught.value)


@pytest.mark.parametrize(("score", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (None, "nan")])
def test_scores_that_are_not_finite_are_refused(backend: Backend, score: float | None, shown: str) -> None:
    columns = people(50)
    columns["risk"] = [*np.asarray(columns["risk"])[:-1].tolist(), score]
    said = complaint(backend, columns)
    if backend.name in FILES:
        where = {"parquet": "row 49", "parquet-glob": "row 15", "csv": "line 51"}[backend.name]
        came = "is empty" if score is None else f"holds {shown!r}"
        assert f": column 'risk' must be finite; {where} {came}. Correct or remove this row." in said
        assert said.startswith(str(backend.folder))
    elif backend.name == "spark" and shown.endswith("inf"):
        assert f"column 'risk' must be finite; a row holds {shown.replace('inf', 'Infinity')}. " in said
    else:
        assert f"column 'risk' must be finite; a row holds {shown}. Remove these rows or score them." in said.replace(
            "NaN", "nan"
        )


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("b", [ScoreMap.identity(), ScoreMap([0.0, 1.0], [0.5, 1.0])], ids=["stays", "moved"])
def test_nan_that_the_statistics_of_a_parquet_file_leave_out(tmp_path: Path, kind: str, b: ScoreMap) -> None:
    pa, path = package("pyarrow"), tmp_path / "in.parquet"
    risk = pa.array(np.array([0.1, 0.2, np.nan, 0.4], dtype=kind))
    package("pyarrow.parquet").write_table(pa.table({"risk": risk, "group": ["A", "B", "A", "B"]}), path)
    maps = GroupMaps({"A": ScoreMap.identity(), "B": b})
    with pytest.raises(package("duckdb").Error, match="'risk' must be finite; a row holds nan"):
        apply_to_frame(maps, path, **COLUMNS_READ).fetchall()
    with pytest.raises(InputError, match="'risk' must be finite; row 2 holds 'nan'"):
        apply_to_file(maps, path, tmp_path / "out.parquet", **COLUMNS_READ)


def test_groups_that_have_no_map_are_refused(backend: Backend) -> None:
    columns = people(50)
    columns["group"][7] = "D"
    columns["group"][9] = "D"
    said, where = complaint(backend, columns), place(backend, 7)
    many = f" (2 rows, the first in {where})" if where else ""
    assert said.startswith(str(backend.folder)) or backend.name not in FILES
    assert (
        f"group 'D' was not seen in fit{many}; the known groups are 'A', 'B', 'C'. Fit again with it, or leave its "
        "scores as they are with unseen_group='leave'."
    ) in said


def test_missing_groups_are_refused(backend: Backend) -> None:
    columns = people(50)
    columns["group"][7] = None
    columns["group"][9] = None
    said, where = complaint(backend, columns), place(backend, 7)
    many = f"2 rows have none, the first in {where}" if where else "some rows have none"
    assert said.startswith(str(backend.folder)) or backend.name not in FILES
    assert (
        f"column 'group' must name a group for each row; {many}. Remove these rows, or choose what becomes of them "
        "with missing_group='leave' or missing_group='group'."
    ) in said


class TestChoices:
    """What becomes of rows without a group, and of groups without a map, is the same in every engine."""

    LOST, NEW = [7, 11], [3, 14]
    BOTH = LOST + NEW
    FIFTH: ClassVar = {"missing": ScoreMap([0.0], [5.0])}

    def columns(self, *, new: object = "D", lost: object = None) -> dict[str, object]:
        columns = people(50)
        for rows, group in ((self.LOST, lost), (self.NEW, new)):
            for row in rows:
                columns["group"][row] = group
        return columns

    def adjusted(self, backend: Backend, maps: dict[object, ScoreMap], **choices: str) -> np.ndarray:
        return np.array(mapped(backend, self.columns(), maps, **choices)["adjusted"], dtype=float)

    def want(self, maps: dict[object, ScoreMap], stays: list[int]) -> np.ndarray:
        columns = self.columns()
        known = maps | {"D": ScoreMap.identity(), None: maps.get("missing", ScoreMap.identity())}
        want = expected(columns, known)
        want[stays] = np.asarray(columns["risk"])[stays]
        return want

    @pytest.mark.parametrize("more", [{}, FIFTH], ids=["no map for them", "a map that is not asked for"])
    def test_scores_stay(self, backend: Backend, more: dict[object, ScoreMap]) -> None:
        found = self.adjusted(backend, MAPS | more, missing_group="leave", unseen_group="leave")
        np.testing.assert_array_equal(found, self.want(MAPS | more, self.BOTH))

    def test_rows_without_a_group_are_one(self, backend: Backend) -> None:
        found = self.adjusted(backend, MAPS | self.FIFTH, missing_group="group", unseen_group="leave")
        np.testing.assert_array_equal(found, self.want(MAPS | self.FIFTH, self.NEW))
        assert found[7] == pytest.approx(self.columns()["risk"][7] + 5)

    def test_their_group_may_be_unseen(self, backend: Backend) -> None:
        found = self.adjusted(backend, MAPS, missing_group="group", unseen_group="leave")
        np.testing.assert_array_equal(found, self.want(MAPS, self.BOTH))

    def test_their_group_is_refused_where_it_is_unseen(self, backend: Backend) -> None:
        said = complaint(backend, self.columns(new="A"), missing_group="group")
        where = place(backend, 7)
        many = f" (2 rows, the first in {where})" if where else ""
        assert f"group 'missing' was not seen in fit{many}; the known groups are 'A', 'B', 'C'. Fit again" in said

    @pytest.mark.parametrize(
        ("choices", "words"),
        [
            ({"missing_group": "leave"}, "group 'D' was not seen in fit"),
            ({"missing_group": "group"}, "group '(D|missing)' was not seen in fit"),
            ({"unseen_group": "leave"}, "column 'group' must name a group for each row"),
        ],
    )
    def test_one_choice_says_nothing_of_the_other(self, backend: Backend, choices: dict[str, str], words: str) -> None:
        with pytest.raises(Exception, match=words):
            self.adjusted(backend, MAPS, **choices)

    @pytest.mark.parametrize("name", ["missing_group", "unseen_group"])
    def test_other_choices_are_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=rf"{name} must be one of error, leave.* got 'drop'"):
            GroupMaps(MAPS, **{name: "drop"})


@pytest.mark.parametrize("backend", [name for name in NAMES if name != "csv"], indirect=True)
@pytest.mark.parametrize("lost", [None, np.nan])
def test_missing_groups_of_numbers(backend: Backend, lost: float | None) -> None:
    columns = people(50, labels=(1.0, 2.0))
    columns["group"][7] = lost
    maps = {1: learnt(), 2: ScoreMap.identity(), "missing": ScoreMap([0.0], [5.0])}
    rows = mapped(backend, columns, maps, missing_group="group")
    assert rows["adjusted"][7] == pytest.approx(columns["risk"][7] + 5)
    with pytest.raises(Exception, match=r"must name a group for each row; (some|1|3) rows? ha(ve|s) none"):
        mapped(backend, columns, maps)


def test_missing_groups_may_have_a_map(backend: Backend) -> None:
    columns = people(50)
    columns["group"][7] = None
    rows = mapped(backend, columns, MAPS | {"missing": ScoreMap([0.0], [5.0])}, missing_group="group")
    assert float(rows["adjusted"][7]) == pytest.approx(columns["risk"][7] + 5)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["parquet", "parquet-glob", "csv"], indirect=True)
def test_blank_groups_of_files_are_missing(backend: Backend) -> None:
    columns = people(50)
    columns["group"][7:10] = ["", "  ", "\t\u3000"]
    columns["y"] = np.arange(50) // 2 % 2
    frame, names = backend(columns), {"score": "risk", "group": "group"}
    maps = MAPS | {"missing": ScoreMap([0.0], [5.0])}
    rows = rows_of(apply_to_frame(GroupMaps(maps, missing_group="group"), frame, **names))
    np.testing.assert_allclose(rows["adjusted"][7:10], np.asarray(columns["risk"])[7:10] + 5)
    rows = mapped(backend, columns, maps, missing_group="group")
    np.testing.assert_allclose(np.array(rows["adjusted"][7:10], dtype=float), np.asarray(columns["risk"])[7:10] + 5)
    with pytest.raises(Exception, match=r"must name a group for each row; (some|1|3) rows? ha(ve|s) none"):
        rows_of(apply_to_frame(GroupMaps(maps | {"": ScoreMap.identity()}), frame, **names))
    columns["group"] = ["A" if group == "C" else group for group in columns["group"]]
    frame = backend(columns)
    repair = XOrder(missing_group="group", small_groups="repair", do_no_harm=False).fit_frame(frame, **names, label="y")
    assert len(rows_of(repair.transform_frame(frame, **names))["adjusted"]) == 50


@pytest.mark.parametrize("files", ["*.csv", "0.csv"])
def test_csv_files_come_back_as_a_relation_of_text(tmp_path: Path, files: str) -> None:
    columns = people(90)
    parts = 3 if files == "*.csv" else 1
    for part in range(parts):
        path = make("csv", {name: values[part::parts] for name, values in columns.items()}, tmp_path)
        path.rename(tmp_path / f"{part}.csv")
    relation = apply_to_frame(GroupMaps(MAPS), str(tmp_path / files), **COLUMNS_READ, into="fair")
    assert list(map(str, relation.types)) == ["VARCHAR"] * 4 + ["DOUBLE"]
    assert relation.columns == [*columns, "fair"]
    rows = rows_of(relation)
    order = np.concatenate([np.arange(90)[part::parts] for part in range(parts)])
    assert rows["id"] == [str(number) for number in order]
    assert rows["note"] == [columns["note"][number] for number in order]
    np.testing.assert_array_equal(rows["fair"], expected(columns, MAPS)[order])


@pytest.mark.parametrize(
    ("cell", "shown"), [("n/a", "'n/a'"), ("1_000", "'1_000'"), ("", "nan"), ("inf", "'inf'"), ("0,5", "'0,5'")]
)
def test_text_of_a_csv_file_that_is_no_score(tmp_path: Path, cell: str, shown: str) -> None:
    columns = people(9)
    columns["risk"] = [*map(str, np.asarray(columns["risk"])[:-1].tolist()), cell]
    relation = apply_to_frame(GroupMaps(MAPS), make("csv", columns, tmp_path), **COLUMNS_READ)
    with pytest.raises(Exception, match=f"column 'risk' must be finite; a row holds {shown}. Remove these rows"):
        relation.fetchall()


@pytest.mark.parametrize("backend", ["duckdb", "spark", "parquet", "parquet-glob"], indirect=True)
def test_a_name_that_differs_in_case_alone_would_replace_a_column(backend: Backend) -> None:
    engine = "Spark" if backend.name == "spark" else "DuckDB"
    with pytest.raises(
        InputError, match=f"^{engine} takes 'Risk' for the name of a column that is there already; choose"
    ):
        apply_to_frame(GroupMaps(MAPS), backend(people(9)), **COLUMNS_READ, into="Risk")


def test_spark_may_be_told_to_tell_case(spark: Any, tmp_path: Path) -> None:
    columns = people(9)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = rows_of(apply_to_frame(GroupMaps(MAPS), make("spark", columns, tmp_path), **COLUMNS_READ, into="Risk"))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    np.testing.assert_array_equal(rows["risk"], columns["risk"])
    np.testing.assert_array_equal(rows["Risk"], expected(columns, MAPS))


def test_names_of_pandas_that_are_no_text(tmp_path: Path) -> None:
    frame = make("pandas", people(9), tmp_path).rename(columns={"note": 3})
    with pytest.raises(InputError, match="the frame has no column 'rsik'; did you mean 'risk'"):
        apply_to_frame(GroupMaps(MAPS), frame, score="rsik", group="group")
    with pytest.raises(InputError, match=r"a column '3' whose name is not text; rename it"):
        apply_to_frame(GroupMaps(MAPS), frame, score="3", group="group")
    found = apply_to_frame(GroupMaps(MAPS), frame, **COLUMNS_READ)
    assert list(found.columns) == ["id", "risk", "group", 3, "adjusted"]


def test_a_table_of_the_user_is_not_read_instead() -> None:
    connection = package("duckdb").connect()
    connection.execute("CREATE TABLE rows_to_map AS SELECT 0.75 AS risk, 'C' AS \"group\", 1 AS more")
    relation = connection.sql("SELECT 0.5 AS risk, 'C' AS \"group\"")
    once = apply_to_frame(GroupMaps(MAPS), relation, **COLUMNS_READ)
    twice = apply_to_frame(GroupMaps(MAPS), once, **COLUMNS_READ, into="b")
    assert [tuple(map(float, (row[0], *row[2:]))) for row in twice.fetchall()] == [(0.5, 0.25, 0.25)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["apply_to_frame(maps, glob, **names)", "apply_to_file(maps, glob, 'out.parquet', **names)"]
)
def test_without_pyarrow_several_files_name_the_extra(tmp_path: Path, call: str) -> None:
    glob = make("parquet-glob", people(30), tmp_path)
    code = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "from xorder import ScoreMap\n"
        "from xorder.engines import GroupMaps, apply_to_file, apply_to_frame\n"
        "from xorder.exceptions import MissingExtraError\n"
        f"glob, names = {glob!r}, dict(score='risk', group='group')\n"
        "maps = GroupMaps(dict.fromkeys('ABC', ScoreMap.identity()))\n"
        "try:\n"
        f"    {call}\n"
        "except MissingExtraError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.stderr == b""
    assert b"pip install 'xorder[" in done.stdout
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"score": "rsik"}, "has no column 'rsik'; did you mean 'risk'"),
        ({"group": "sex"}, "has no column 'sex'"),
        ({"into": "note"}, "has a column 'note' already"),
        ({"into": ""}, "column"),
        ({"score": "note"}, "number|must be finite; line 2 holds"),
        ({"group": "risk"}, "score and group both name the column 'risk'; each needs one of its own"),
    ],
)
def test_wrong_names_are_refused_at_once(backend: Backend, settings: dict[str, str], words: str) -> None:
    frame, names = backend(people(9)), {"score": "risk", "group": "group"} | settings
    out = backend.folder / f"out.{'csv' if backend.is_text else 'parquet'}"
    call, to = (apply_to_file, [out]) if backend.name in FILES else (apply_to_frame, [])
    with pytest.raises(InputError, match=words):
        call(GroupMaps(MAPS), frame, *to, **names)
    assert not out.exists()


@pytest.mark.parametrize("maps", [{}, None, {"A": "map"}])
def test_what_is_no_set_of_maps_is_refused(maps: object) -> None:
    with pytest.raises(InputError, match="a ScoreMap for each group"):
        GroupMaps(maps)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(InputError, match=r"frame must be a frame of pandas, polars .* got list"):
        apply_to_frame(GroupMaps(MAPS), [1, 2], score="s", group="g")


def test_names_that_would_break_out_of_a_query(backend: Backend) -> None:
    score, group, into = "ri\"sk'; --", "gr`o'up", "fair \"er' `x"
    columns = people(60)
    renamed = {score: columns["risk"], group: columns["group"], "id": columns["id"], "xorder_x": columns["id"]}
    rows = mapped(backend, renamed, MAPS, score=score, group=group, into=into)
    assert list(rows) == [*renamed, into]
    np.testing.assert_array_equal(np.array(rows[into], dtype=float), expected(columns, MAPS))


@pytest.mark.parametrize("backend", LAZY, indirect=True)
def test_what_is_lazy_stays_lazy(backend: Backend) -> None:
    columns = people(50)
    columns["group"][7] = "D"
    frame = backend(columns)
    result = apply_to_frame(GroupMaps(MAPS), frame, **COLUMNS_READ)
    assert type(result) is type(frame)


def test_rows_keep_their_index_in_pandas(tmp_path: Path) -> None:
    frame = make("pandas", people(20), tmp_path).sample(frac=1, random_state=0)
    result = apply_to_frame(GroupMaps(MAPS), frame, **COLUMNS_READ)
    assert result.index.equals(frame.index)
    assert list(frame.columns) == ["id", "risk", "group", "note"]
    assert result.drop(columns="adjusted").equals(frame)


@pytest.mark.parametrize("name", ["pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "spark"])
def test_maps_that_leave_all_scores_still_refuse(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if name == "spark":
        request.getfixturevalue("spark")
    maps = {"A": ScoreMap.identity(), "B": ScoreMap.identity()}
    columns = people(50, labels=("A", "B"))
    rows = rows_of(apply_to_frame(GroupMaps(maps), make(name, columns, tmp_path), **COLUMNS_READ))
    np.testing.assert_array_equal(rows["adjusted"], columns["risk"])
    with pytest.raises(Exception, match="group 'D' was not seen in fit"):
        rows_of(apply_to_frame(GroupMaps(maps), make(name, columns | {"group": ["D"] * 50}, tmp_path), **COLUMNS_READ))


def test_a_map_of_very_many_knots_in_duckdb(tmp_path: Path) -> None:
    """Compressed there, by no more than a billionth of the range of scores."""
    raw = np.linspace(0, 1, 80_001)
    maps = {"A": ScoreMap.identity(), "B": ScoreMap(raw, 100 * raw**2)}
    columns = people(2_000, labels=("A", "B"))
    rows = rows_of(apply_to_frame(GroupMaps(maps), make("duckdb", columns, tmp_path), **COLUMNS_READ))
    want = expected(columns, maps)
    np.testing.assert_allclose(rows["adjusted"], want, rtol=0, atol=1e-7)


@pytest.mark.slow
def test_what_runs_on_executors_needs_only_numpy() -> None:
    cloudpickle = package("pyspark.cloudpickle", "spark")
    sent = cloudpickle.dumps(adjusting(GroupMaps(MAPS | {"D": learnt(5_000)})))
    code = (
        "import pickle, sys\n"
        "sys.modules['xorder'] = None\n"
        "adjust = pickle.load(sys.stdin.buffer)\n"
        "import numpy as np\n"
        "print(adjust(np.array([0.3, 0.3, 0.6, 0.3]), np.array([0, 1, 2, 3])).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, timeout=120, check=False)
    assert done.stderr == b""
    here = pickle.loads(sent)(np.array([0.3, 0.3, 0.6, 0.3]), np.array([0, 1, 2, 3]))
    assert done.stdout.decode() == f"{here.tolist()}\n"
    assert here[2] == pytest.approx(0.35)


def test_a_file_may_replace_itself_if_allowed(tmp_path: Path) -> None:
    columns = people(100)
    path = make("parquet", columns, tmp_path)
    with pytest.raises(InputError, match="exists already"):
        apply_to_file(GroupMaps(MAPS), path, path, **COLUMNS_READ)
    assert apply_to_file(GroupMaps(MAPS), path, path, **COLUMNS_READ, overwrite=True).rows == 100
    np.testing.assert_array_equal(rows_of(path)["adjusted"], expected(columns, MAPS))


def test_a_parquet_file_keeps_types_compression_and_notes(tmp_path: Path) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    columns = people(100)
    table = pa.table(
        {
            "risk": pa.array(columns["risk"], pa.float32()),
            "group": columns["group"],
            "count": pa.array(range(100), pa.uint16()),
            "when": pa.array(range(100), pa.timestamp("us")),
            "amount": pa.array([None, *range(99)], pa.decimal128(12, 3)),
            "list": [[number] * 2 for number in range(100)],
        },
    ).replace_schema_metadata({"who": "me's \\ own"})
    pq.write_table(table, tmp_path / "in.parquet", compression="zstd")
    apply_to_file(GroupMaps(MAPS), tmp_path / "in.parquet", tmp_path / "out.parquet", **COLUMNS_READ)
    again = pq.read_table(tmp_path / "out.parquet")
    assert again.drop_columns("adjusted").to_pylist() == table.to_pylist()
    assert again.schema.types[:-2] == table.schema.types[:-1]
    assert again.schema.metadata[b"who"] == b"me's \\ own"
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_groups_of_files_may_be_told_apart_as_text(tmp_path: Path) -> None:
    """Maps that were learnt from a csv file fit a parquet file of the same rows."""
    columns = people(100, labels=(1, 2))
    path = make("parquet", columns, tmp_path)
    maps = {"1": learnt(), "2": ScoreMap.identity()}
    apply_to_file(GroupMaps(maps), path, tmp_path / "out.parquet", **COLUMNS_READ)
    want = expected(columns | {"group": [str(label) for label in columns["group"]]}, maps)
    np.testing.assert_array_equal(rows_of(tmp_path / "out.parquet")["adjusted"], want)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_scores_on_another_scale_are_warned_of_once(name: str, tmp_path: Path) -> None:
    """Counted over all batches, so that a part of the file that differs is no reason."""
    size = 300_000
    maps = GroupMaps({"A": ScoreMap.identity(), "B": ScoreMap([0.0, 1.0], [0.0, 0.5])})
    columns = {"risk": np.linspace(0, 100, size), "group": ["A", "B"] * (size // 2)}
    path, out = make(name, columns, tmp_path), tmp_path / f"out.{name}"
    words = r"^more than a tenth of the scores of group 'B' lie outside those seen in fit \(0 to 1\); is it the same"
    with pytest.warns(XorderWarning, match=words) as caught:
        apply_to_file(maps, path, out, **COLUMNS_READ)
    assert [warning.filename for warning in caught] == [__file__]
    columns["risk"] = np.where(np.arange(size) < size // 20, 2.0, 0.5)
    assert apply_to_file(maps, make(name, columns, tmp_path), out, **COLUMNS_READ, overwrite=True).rows == size


@pytest.mark.parametrize("content", [b"no parquet at all", b"PAR1 cut"])
def test_a_damaged_file_is_told_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"in\.parquet cannot be read"):
        apply_to_file(GroupMaps(MAPS), tmp_path / "in.parquet", tmp_path / "out.parquet", **COLUMNS_READ)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = make("parquet", {name: values[:1] for name, values in people(5).items()}, tmp_path)
    pq = package("pyarrow.parquet")
    pq.write_table(pq.read_table(path)[:0], path)
    with pytest.raises(InputError, match="has columns but no rows"):
        apply_to_file(GroupMaps(MAPS), path, tmp_path / "out.parquet", **COLUMNS_READ)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.slow
def test_how_far_a_file_is_can_be_followed(tmp_path: Path) -> None:
    seen = []
    path = make("parquet", people(1_000_000), tmp_path)
    apply_to_file(
        GroupMaps(MAPS),
        path,
        tmp_path / "out.parquet",
        **COLUMNS_READ,
        progress=lambda step, share: seen.append((step, share)),
    )
    assert seen
    assert {step for step, _ in seen} == {"adjusting scores"}
    assert all(share is None or 0 <= share <= 1 for _, share in seen)
    assert any(share is not None and 0 < share < 1 for _, share in seen)


def sides(scores: np.ndarray, cut: object) -> list[str]:
    """On which side of a cut each row is, by counting for each the rows above it and those that tie with it."""
    if isinstance(cut, Threshold):
        return ["in" if score >= cut.score else "out" for score in scores]
    places = cut if isinstance(cut, int) else round(cut * 1000) * len(scores) // 1000
    above = [int(np.sum(scores > score)) for score in scores]
    reached = [int(np.sum(scores >= score)) for score in scores]
    return ["in" if r <= places else "out" if a >= places else "tied" for a, r in zip(above, reached, strict=True)]


WAYS = ("csv", "csv.gz", "parquet", "many files")


@pytest.mark.parametrize("way", WAYS)
class TestCut:
    """Two columns say who is above a cut of the list, before and after; every way a file can go says the same."""

    MAPS: ClassVar = MAPS | {"missing": ScoreMap([0.0, 1.0], [0.1, 0.8])}
    ALL: ClassVar = ("A", "B", "C", None, "Z")

    def file(self, way: str, columns: dict[str, object], folder: Path) -> Path | str:
        if way == "csv.gz":
            path = Path(f"{make('csv', columns, folder)}.gz")
            path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
            return path
        return make({"csv": "csv", "many files": "parquet-glob"}.get(way, "parquet"), columns, folder)

    def out(self, way: str, folder: Path) -> Path:
        return folder / f"out.{way if way.startswith('csv') else 'parquet'}"

    def cut(self, way: str, columns: dict[str, object], folder: Path, cut: object, **settings: Any) -> tuple[Any, dict]:
        maps = GroupMaps(self.MAPS, missing_group=settings.pop("missing_group", "leave"), unseen_group="leave")
        out = self.out(way, folder)
        settings = COLUMNS_READ | {"overwrite": True} | settings
        applied = apply_to_file(maps, self.file(way, columns, folder), out, cut=cut, **settings)
        assert [path.name for path in folder.iterdir() if path.name.startswith((".", "xorder-spill"))] == []
        return applied, rows_of(out)

    @pytest.mark.parametrize(
        ("cut", "digits", "has_ties"),
        [(57, 1, True), (0.1, 1, False), (0.333, 1, True), (500, 1, False), (Threshold(0.5), 1, False), (1, 17, False)],
        ids=["places", "all that are tied fit", "share", "everyone", "score", "all differ"],
    )
    def test_each_row_is_on_the_side_that_counting_shows(
        self, way: str, cut: object, digits: int, has_ties: bool, tmp_path: Path
    ) -> None:
        columns = people(labels=self.ALL)
        columns["risk"] = risk = np.round(columns["risk"], digits)
        risk[risk == 0] = np.resize([0.0, -0.0], np.sum(risk == 0))
        applied, rows = self.cut(way, columns, tmp_path, cut)
        known = {None: ScoreMap.identity(), "Z": ScoreMap.identity()} | MAPS
        adjusted = expected(columns, known)
        assert list(rows) == ["id", "risk", "group", "note", "adjusted", "selected_before", "selected_after"]
        np.testing.assert_array_equal(np.array(rows["adjusted"], dtype=float), adjusted)
        assert rows["note"] == columns["note"]
        before, after = sides(risk, cut), sides(adjusted, cut)
        assert rows["selected_before"] == before
        assert rows["selected_after"] == after
        assert ("tied" in before) == has_ties
        groups = [group if group in MAPS else None for group in columns["group"]]
        assert [move.group for move in applied.moves] == ["A", "B", "C", None]
        for move in applied.moves:
            own = [
                pair for pair, group in zip(zip(before, after, strict=True), groups, strict=True) if group == move[0]
            ]
            firsts, seconds = ([pair[place] for pair in own] for place in (0, 1))
            assert move[1:] == (
                len(own),
                *(each.count(side) for each in (firsts, seconds) for side in ("in", "tied")),
                *(own.count(pair) for pair in (("out", "in"), ("in", "out"), ("in", "in"))),
            )

    def test_missing_groups_may_have_a_map(self, way: str, tmp_path: Path) -> None:
        columns = people(labels=("A", None))
        applied, rows = self.cut(way, columns, tmp_path, 100, missing_group="group")
        adjusted = expected(columns, self.MAPS | {None: self.MAPS["missing"]})
        assert rows["selected_after"] == sides(adjusted, 100)
        assert [move.group for move in applied.moves] == ["A", "missing"]

    def test_more_scores_than_are_held(self, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(apply_cut, "_HELD", 100)
        monkeypatch.setattr(apply_cut, "_PART", 7)
        columns = people()
        assert self.cut(way, columns, tmp_path, 44)[1]["selected_before"] == sides(columns["risk"], 44)

    @pytest.mark.parametrize(
        ("cut", "words"),
        [
            (61, "a number of places must be from 1 up to the number of rows, 60; got 61."),
            (0, "a number of places must be from 1 up to the number of rows, 60; got 0."),
            (0.01, "1 % of 60 rows is less than one place; name a larger share, or a number of places."),
            (1.5, "a cut must be a share of the list between 0 and 1"),
            (True, "a cut must be a share of the list between 0 and 1"),
            ("5%", "a cut must be a share of the list between 0 and 1"),
        ],
    )
    def test_cuts_that_are_refused(self, way: str, cut: object, words: str, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            self.cut(way, people(60), tmp_path, cut)
        assert str(caught.value).startswith(words)
        assert not self.out(way, tmp_path).exists()

    @pytest.mark.parametrize("name", ["selected_before", "selected_after"])
    def test_columns_that_are_there_are_refused(self, way: str, name: str, tmp_path: Path) -> None:
        columns = people(60) | {name: ["in"] * 60}
        with pytest.raises(InputError, match=f"has a column '{name}' already, which cut= adds; rename it or drop it"):
            self.cut(way, columns, tmp_path, 20)
        assert not self.out(way, tmp_path).exists()
        assert list(self.cut(way, columns, tmp_path, None)[1])[-2:] == [name, "adjusted"]
        with pytest.raises(InputError, match=f"into must not be '{name}', which is a column that cut= adds"):
            self.cut(way, people(60), tmp_path, 20, into=name)

    def test_rows_that_cannot_be_adjusted_are_named(self, way: str, tmp_path: Path) -> None:
        columns = people(60)
        columns["risk"][7] = np.nan
        place = {"csv": "line 9", "parquet": "row 7", "many": "row 7"}[way.replace(".", " ").split()[0]]
        with pytest.raises(InputError, match=f"column 'risk' must be finite; {place} "):
            self.cut(way, columns, tmp_path, 20)
        columns = people(60)
        columns["group"][7] = None
        with pytest.raises(InputError, match=f"1 row has none, {place}\\."):
            self.cut(way, columns, tmp_path, 20, missing_group="error")
        assert not self.out(way, tmp_path).exists()


def test_names_may_differ_in_case_alone(tmp_path: Path) -> None:
    path = make("parquet", people(60) | {"Selected_After": ["in"] * 60}, tmp_path)
    out = tmp_path / "out.parquet"
    apply_to_file(GroupMaps(MAPS), path, out, **COLUMNS_READ, cut=20)
    assert package("pyarrow.parquet").read_schema(out).names[-4:] == [
        "Selected_After",
        "adjusted",
        "selected_before",
        "selected_after",
    ]


@pytest.mark.parametrize("names", [("before", "code", "after"), ("code", "after", "before"), ("after", "x", "scores")])
def test_a_cut_does_not_mix_up_columns_with_what_it_computes(names: tuple[str, str, str], tmp_path: Path) -> None:
    score, group, into = names
    columns = people()
    named = {score: columns["risk"], group: columns["group"]}
    out = tmp_path / "out.parquet"
    settings = {"score": score, "group": group, "into": into, "cut": 77}
    apply_to_file(GroupMaps(MAPS), make("parquet", named, tmp_path), out, **settings)
    rows = rows_of(out)
    adjusted = expected(columns, MAPS)
    np.testing.assert_array_equal(rows[into], adjusted)
    assert rows["selected_before"] == sides(columns["risk"], 77)
    assert rows["selected_after"] == sides(adjusted, 77)


def test_a_share_has_whole_places() -> None:
    def places(share: float, rows: int) -> int:
        return apply_cut.CutOfRows(share, GroupMaps(MAPS), "adjusted").places(rows)

    assert [places(0.05, rows) for rows in (20, 39, 40, 210)] == [1, 1, 2, 10]
    assert 0.29 * 100 < 29
    for percent in range(1, 100):
        assert places(percent / 100, 100) == percent
        assert places(percent / 100, 10**9) == percent * 10**7
        assert places(percent / 100, 10**9 - 1) == percent * 10**7 - 1


@pytest.mark.parametrize("seed", range(5))
def test_the_score_that_a_cut_falls_on_is_exact(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_cut, "_HELD", 1 << 10)
    monkeypatch.setattr(apply_cut, "_PART", 61)
    rng = np.random.default_rng(seed)
    special = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)]
    scores = np.concatenate([np.repeat(special, 3), rng.standard_cauchy(200), rng.integers(-3, 4, 100)])
    rng.shuffle(scores)
    falling = np.sort(scores)[::-1]
    with apply_cut.Spool(tmp_path) as spool:
        for part in np.array_split(scores, 4):
            spool.add(part)
        for places in [*range(1, scores.size, 7), scores.size]:
            line = spool.line(places)
            assert line.score == falling[places - 1]
            assert line.is_tied == (np.sum(scores >= line.score) > places)
