"""What holds for each format of files: the same rows and complaints, and an output that is whole or not there."""

from __future__ import annotations

import csv
import gzip
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.file_rows import HALF, halving, read_rows
from xorder import ScoreMap
from xorder.engines import GroupMaps, apply_to_file, tables_of
from xorder.exceptions import InputError, MissingExtraError, XorderWarning

FORMATS = ["csv", "csv.gz", "parquet"]


def write_table(path: Path, table: dict[str, list[object]]) -> Path:
    """Write columns as the ending says; ``None`` is an empty csv field or a parquet null."""
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table(table), path)
        return path
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    data = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def place(path: Path, row: int) -> str:
    """Where a row (from 0) stands: parquet counts rows from 1, a csv file has its header on line 1."""
    return f"row {row}" if path.name.endswith(".parquet") else f"line {row + 2}"


@pytest.fixture(params=FORMATS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"people.{request.param}"


def message(call: object, *arguments: object, **options: object) -> str:
    """Return the words of the InputError that a call must end in."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    assert type(caught.value) is InputError
    text = str(caught.value)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


BASE: dict[str, list[object]] = {
    "score": [0.25, 0.5, 1e-3, -2.0],
    "group": ["a", " b", "a", "ü,\n"],
    "label": [0, 1, 1, 0],
    "weight": [1.0, 0.0, 2.5, 3.0],
}
NAMES = {"score": "score", "group": "group", "label": "label"}


def changed(column: str, row: int, value: object) -> dict[str, list[object]]:
    table = {name: list(values) for name, values in BASE.items()}
    table[column][row] = value
    return table


class TestReading:
    def test_every_format_gives_the_same_rows(self, file: Path) -> None:
        rows = read_rows(write_table(file, BASE), **NAMES, weight="weight")
        assert rows.y_score.dtype == np.float64
        assert rows.y_score.tolist() == BASE["score"]
        assert rows.groups == BASE["group"]
        assert rows.y_true == BASE["label"]
        assert rows.sample_weight is not None
        assert rows.sample_weight.dtype == np.float64
        assert rows.sample_weight.tolist() == BASE["weight"]

    def test_and_the_same_tables(self, file: Path) -> None:
        found = tables_of(write_table(file, BASE), **NAMES, weight="weight", weights_are="sampling", as_text=True)
        assert list(found) == [" b", "a", "ü,\n"]
        assert all(type(group) is str for group in found)
        assert (found.rows, found.binning_error, found.notes, found.weighted) == (4, None, (), True)
        assert [len(table) for table in found.values()] == [0, 2, 1]
        assert found["a"].score.tolist() == [0.25, 1e-3]
        assert [sums.tolist() for sums in found["a"].sums] == [[0, 2.5], [1, 0], [0, 6.25], [1, 0]]

    def test_label_and_weight_only_when_asked_for(self, file: Path) -> None:
        rows = read_rows(str(write_table(file, BASE)), score="score", group="group")
        assert rows.y_true is None
        assert rows.sample_weight is None

    @pytest.mark.slow
    def test_many_batches_keep_the_order_and_name_the_place(self, file: Path) -> None:
        size = 300_000
        numbers = np.arange(size)
        table: dict[str, list[object]] = {
            "score": (numbers / 7).tolist(),
            "group": [f"g{number % 5}" for number in range(size)],
            "label": (numbers % 2).tolist(),
        }
        rows = read_rows(write_table(file, table), **NAMES)
        np.testing.assert_array_equal(rows.y_score, numbers / 7)
        assert rows.groups == table["group"]
        assert rows.y_true == table["label"]
        table["group"][size - 3 :: 2] = ["", " "]
        write_table(file, table)
        text = message(tables_of, file, **NAMES, as_text=True)
        assert text.startswith(
            f"{file}: column 'group' must name a group for each row; 2 rows have none, "
            f"the first in {place(file, size - 3)}. "
        )

    @pytest.mark.parametrize("value", [None, float("nan"), float("inf"), float("-inf")])
    @pytest.mark.parametrize("column", ["score", "weight"])
    def test_numbers_must_be_finite(self, file: Path, column: str, value: float | None) -> None:
        write_table(file, changed(column, 2, value))
        rule = "must be finite" + (" and not negative" if column == "weight" else "")
        came = "is empty" if value is None else f"holds {str(value)!r}"
        assert message(tables_of, file, **NAMES, weight="weight", as_text=True) == (
            f"{file}: column {column!r} {rule}; {place(file, 2)} {came}. Correct or remove this row."
        )

    def test_weights_must_not_be_negative(self, file: Path) -> None:
        write_table(file, changed("weight", 1, -0.5))
        assert message(tables_of, file, **NAMES, weight="weight", as_text=True) == (
            f"{file}: column 'weight' must be finite and not negative; {place(file, 1)} holds '-0.5'. "
            "Correct or remove this row."
        )

    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_groups_must_be_known(self, file: Path, value: str | None) -> None:
        write_table(file, changed("group", 3, value))
        words = (
            f"{file}: column 'group' must name a group for each row; 1 row has none, {place(file, 3)}. Remove these "
            "rows, or choose what becomes of them with missing_group='leave' or missing_group='group'."
        )
        assert message(tables_of, file, **NAMES, as_text=True) == words
        assert message(apply_to_file, halving("a", " b"), file, file, score="score", group="group", overwrite=True) == (
            words
        )

    def test_missing_column_offers_the_nearest(self, file: Path) -> None:
        write_table(file, BASE)
        assert message(tables_of, file, **NAMES | {"score": "Score"}, as_text=True) == (
            f"{file} has no column 'Score'; did you mean 'score'?"
        )
        assert "no column 'wieght'; did you mean 'weight'?" in message(
            tables_of, file, **NAMES, weight="wieght", as_text=True
        )

    def test_missing_column_lists_what_there_is(self, file: Path) -> None:
        write_table(file, {f"column{number:02}": [1] for number in range(12)})
        text = message(tables_of, file, **NAMES | {"score": "zzz"}, as_text=True)
        assert "its columns are 'column00', 'column01'" in text
        assert "'column09' and more" in text
        assert "column10" not in text

    def test_no_rows(self, file: Path) -> None:
        write_table(file, {"score": [], "group": [], "label": []})
        words = f"{file} has columns but no rows; nothing can be computed from it."
        assert message(tables_of, file, **NAMES, as_text=True) == words
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        assert message(apply_to_file, halving(), file, out, score="score", group="group") == words
        assert not out.exists()


class TestLabels:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (["0", "1", "0.0", "1.0"], [0, 1, 0, 1]),
            (["true", "False", "TRUE", "false"], [1, 0, 1, 0]),
            ([0, 1, 1, 0], [0, 1, 1, 0]),
            ([0.0, 1.0, 1.0, 0.0], [0, 1, 1, 0]),
            ([True, False, False, True], [1, 0, 0, 1]),
            (["1", "1", "1", "1"], [1, 1, 1, 1]),
        ],
    )
    def test_spellings(self, file: Path, values: list[object], expected: list[int]) -> None:
        assert read_rows(write_table(file, {**BASE, "label": values}), **NAMES).y_true == expected

    def test_other_values_are_shown_and_positive_is_offered(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["0", "yes", "no", "maybe"]})
        assert message(tables_of, file, **NAMES, as_text=True) == (
            f"{file}: column 'label' must hold only 0 and 1; got also 'maybe', 'no', 'yes' (first in "
            f"{place(file, 1)}). Encode the positive class as 1 and the other as 0, or name it with positive=."
        )

    def test_at_most_five_values_are_shown(self, file: Path) -> None:
        size = 20
        table = {
            "score": [0.5] * size,
            "group": ["a"] * size,
            "label": [f"v{number}" for number in range(size)],
        }
        write_table(file, table)
        text = message(tables_of, file, **NAMES, as_text=True)
        assert "'v0', 'v1', 'v10', 'v11', 'v12' and more" in text
        assert "v2" not in text

    def test_2_is_not_a_label(self, file: Path) -> None:
        write_table(file, changed("label", 3, 2))
        assert f"got also '2' (first in {place(file, 3)})." in message(tables_of, file, **NAMES, as_text=True)

    def test_more_labels_than_classes_could_be(self, file: Path) -> None:
        size = 3000
        write_table(file, {"score": [0.5] * size, "group": ["a"] * size, "label": list(range(size))})
        assert message(tables_of, file, **NAMES, as_text=True) == (
            f"{file}: column 'label' has more than 1,000 distinct values, and labels are 0 and 1. Is it the right "
            "column?"
        )

    def test_positive(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "yes", "no"]})
        assert read_rows(file, **NAMES, positive="yes").y_true == [1, 0, 1, 0]

    def test_positive_written_in_another_case(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "Yes ", "no"]})
        with pytest.warns(XorderWarning, match="holds 3 values"):
            rows = read_rows(file, **NAMES, positive="YES")
        assert rows.y_true == [1, 0, 1, 0]

    def test_positive_that_no_row_has(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "yes", "no"]})
        assert message(tables_of, file, **NAMES, positive="ja", as_text=True) == (
            f"{file}: column 'label' has no row that equals the positive value 'ja'; it holds 'no', 'yes'. Name one of "
            "these with positive=."
        )

    def test_positive_among_more_than_two_values_warns(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["low", "high", "middle", "low"]})
        with pytest.warns(XorderWarning, match="'high' counts as positive") as caught:
            found = tables_of(file, **NAMES, positive="high", as_text=True)
        assert "'low', 'middle'" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert [table.n1 for table in found.values()] == [1, 0, 0]

    @pytest.mark.parametrize("positive", [None, "1"])
    def test_empty_label(self, file: Path, positive: str | None) -> None:
        write_table(file, changed("label", 2, None))
        assert message(tables_of, file, **NAMES, positive=positive, as_text=True) == (
            f"{file}: column 'label' must have a value in each row; 1 row has none, {place(file, 2)}. Remove or "
            "complete these rows."
        )


@pytest.mark.parametrize("call", [read_rows, tables_of], ids=["rows", "tables"])
class TestPaths:
    def test_does_not_exist(self, file: Path, call: object) -> None:
        assert message(call, file, **self.names(call, file)) == f"{file} does not exist; check the name and the folder."

    def names(self, call: object, file: Path) -> dict[str, object]:
        return NAMES | ({"as_text": True} if call is tables_of else {})

    def test_a_file_taken_for_a_folder(self, file: Path, call: object) -> None:
        write_table(file, BASE)
        assert "does not exist" in message(call, file / "x.csv", **self.names(call, file))

    def test_folder(self, file: Path, call: object) -> None:
        file.mkdir()
        assert "is a folder" in message(call, file, **self.names(call, file))

    @pytest.mark.skipif(os.name != "posix", reason="named pipes are those of POSIX")
    def test_pipe(self, file: Path, call: object) -> None:
        os.mkfifo(file)
        assert "is not a file on disk" in message(call, file, **self.names(call, file))

    @pytest.mark.skipif(os.name != "posix", reason="Windows says of such a name that it does not exist")
    def test_name_too_long(self, tmp_path: Path, call: object) -> None:
        file = tmp_path / f"{'x' * 300}.csv"
        assert "cannot read" in message(call, file, **self.names(call, file))

    @pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
    def test_no_permission(self, file: Path, call: object) -> None:
        write_table(file, BASE).chmod(0)
        user = os.geteuid()
        if user == 0:  # whom permissions do not stop
            os.seteuid(65534)
        try:
            text = message(call, file, **self.names(call, file))
        finally:
            os.seteuid(user)
        assert "may not be read" in text

    def test_zero_bytes(self, file: Path, call: object) -> None:
        file.touch()
        assert "is empty (0 bytes)" in message(call, file, **self.names(call, file))

    @pytest.mark.parametrize("name", ["people.xlsx", "people", "people.gz", "people.csv.zip"])
    def test_unknown_ending(self, tmp_path: Path, name: str, call: object) -> None:
        path = tmp_path / name
        path.write_text("score,group\n1,a\n")
        text = message(call, path, **self.names(call, path))
        assert all(ending in text for ending in (".csv", ".csv.gz", ".parquet", ".tsv", ".txt"))


class TestPackages:
    @pytest.mark.parametrize("name", ["A.CSV", "a.Txt", "a.tsv", "A.CSV.GZ", "A.Parquet"])
    def test_endings_in_any_case(self, tmp_path: Path, name: str) -> None:
        plain = write_table(tmp_path / name.lower(), BASE)
        path = plain.rename(tmp_path / name)
        assert read_rows(path, **NAMES).y_score.tolist() == BASE["score"]

    def test_parquet_without_pyarrow_names_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write_table(tmp_path / "people.parquet", BASE)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(MissingExtraError, match=r"xorder\[parquet\]"):
            tables_of(path, **NAMES, as_text=True)
        with pytest.raises(MissingExtraError, match=r"xorder\[parquet\]"):
            apply_to_file(halving(), path, tmp_path / "out.parquet", score="score", group="group")
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.slow
    def test_csv_needs_no_pyarrow_duckdb_or_narwhals(self, tmp_path: Path) -> None:
        path = write_table(tmp_path / "people.csv", BASE)
        code = f"""
            import sys
            sys.modules["pyarrow"] = sys.modules["duckdb"] = None
            from xorder import ScoreMap
            from xorder.engines import GroupMaps, apply_to_file, tables_of
            tables_of({str(path)!r}, score="score", group="group", label="label")
            maps = GroupMaps({{"a": ScoreMap.identity()}}, unseen_group="leave")
            apply_to_file(maps, {str(path)!r}, {str(path)!r}, score="score", group="group", overwrite=True)
            from xorder.engines._cells import ColumnNames
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, env=_environment())


def _environment() -> dict[str, str]:
    import xorder

    return {**os.environ, "PYTHONPATH": str(Path(xorder.__file__).parents[1])}


class TestWriting:
    OPTIONS: ClassVar = {"score": "score", "group": "group"}
    MAPS = halving("a", " b", "ü,\n")

    def out(self, file: Path) -> Path:
        return file.with_name(f"out.{file.name.partition('.')[2]}")

    def test_result_is_read_back(self, file: Path) -> None:
        write_table(file, BASE)
        maps = GroupMaps({"a": HALF, " b": ScoreMap.identity(), "ü,\n": ScoreMap([0.0], [3.0])})
        assert apply_to_file(maps, file, self.out(file), **self.OPTIONS).rows == 4
        rows = read_rows(self.out(file), score="adjusted", group="group", label="label", weight="weight")
        assert rows.y_score.tolist() == [0.125, 0.5, 5e-4, 1.0]
        assert rows.groups == BASE["group"]

    def test_it_tells_how_far_it_is(self, file: Path) -> None:
        told: list[tuple[str, float | None]] = []
        write_table(file, {"score": [0.5] * 80_000, "group": ["a"] * 80_000})
        apply_to_file(
            halving(), file, self.out(file), **self.OPTIONS, progress=lambda step, share: told.append((step, share))
        )
        shares = [share for _, share in told]
        assert {step for step, _ in told} == {"adjusting scores"}
        assert shares == sorted(shares)
        assert shares[-1] == 1.0

    def test_reading_tells_how_far_it_is(self, file: Path) -> None:
        told: list[tuple[str, float | None]] = []
        size = 80_000
        write_table(file, {"score": [0.5] * size, "group": ["a"] * size, "label": [0, 1] * (size // 2)})
        tables_of(file, **NAMES, as_text=True, progress=lambda step, share: told.append((step, share)))
        shares = [share for _, share in told]
        assert {step for step, _ in told} == {"reading rows"}
        assert shares == sorted(shares)
        assert shares[-1] == 1.0

    def test_source_is_kept_unless_overwritten(self, file: Path) -> None:
        write_table(file, {**BASE, "score": [0.25, 0.5, 1e-3, 2.0]})
        before = file.read_bytes()
        assert "exists already" in message(apply_to_file, self.MAPS, file, file, **self.OPTIONS)
        assert file.read_bytes() == before
        assert apply_to_file(self.MAPS, file, file, overwrite=True, **self.OPTIONS).rows == 4
        assert read_rows(file, score="adjusted", group="group").y_score.tolist() == [0.125, 0.25, 5e-4, 1.0]
        assert list(file.parent.iterdir()) == [file]

    def test_name_in_use(self, file: Path) -> None:
        write_table(file, BASE)
        text = message(apply_to_file, self.MAPS, file, self.out(file), into="label", **self.OPTIONS)
        assert text == f"{file} has a column 'label' already; choose another name with into=, or drop it first."
        assert message(apply_to_file, self.MAPS, file, self.out(file), into="", **self.OPTIONS) == (
            "into must be the name of a column; got ''."
        )
        assert list(file.parent.iterdir()) == [file]

    def test_missing_column(self, file: Path) -> None:
        write_table(file, BASE)
        options = {**self.OPTIONS, "score": "scores"}
        assert "did you mean 'score'" in message(apply_to_file, self.MAPS, file, self.out(file), **options)
        assert list(file.parent.iterdir()) == [file]

    def test_one_column_twice(self, file: Path) -> None:
        write_table(file, BASE)
        options = {"score": "score", "group": "score"}
        words = "score and group both name the column 'score'; each needs one of its own."
        assert message(apply_to_file, self.MAPS, file, self.out(file), **options) == words
        assert message(tables_of, file, **NAMES | options, as_text=True) == words

    @pytest.mark.parametrize(("source", "target"), [("csv", "parquet"), ("parquet", "csv")])
    def test_format_is_kept(self, tmp_path: Path, source: str, target: str) -> None:
        path = write_table(tmp_path / f"people.{source}", BASE)
        out = tmp_path / f"out.{target}"
        assert message(apply_to_file, self.MAPS, path, out, **self.OPTIONS) == (
            f"cannot write {out}: the output keeps the format of {path}; name a {source} file."
        )
        assert not out.exists()

    @pytest.mark.slow
    def test_a_group_without_a_map_that_comes_late_leaves_nothing(self, file: Path) -> None:
        size = 200_000
        groups = ["a"] * size
        groups[-3], groups[-1] = "d", "d"
        write_table(file, {"score": [0.5] * size, "group": groups})
        assert message(apply_to_file, halving("a", "b"), file, self.out(file), **self.OPTIONS) == (
            f"{file}: group 'd' was not seen in fit (2 rows, the first in {place(file, size - 3)}); the known groups "
            "are 'a', 'b'. Fit again with it, or leave its scores as they are with unseen_group='leave'."
        )
        assert list(file.parent.iterdir()) == [file]

    def test_bad_score_names_the_place_and_leaves_nothing(self, file: Path) -> None:
        write_table(file, changed("score", 3, None))
        assert message(apply_to_file, self.MAPS, file, self.out(file), **self.OPTIONS) == (
            f"{file}: column 'score' must be finite; {place(file, 3)} is empty. Correct or remove this row."
        )
        assert list(file.parent.iterdir()) == [file]

    def test_folder_of_the_output_is_missing(self, file: Path) -> None:
        write_table(file, BASE)
        out = file.parent / "no" / self.out(file).name
        assert "create it first" in message(apply_to_file, self.MAPS, file, out, **self.OPTIONS)

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="limits on the size of files are those of POSIX")
    def test_full_disk(self, file: Path) -> None:
        size = 50_000
        rng = np.random.default_rng(0)
        write_table(file, {"score": rng.random(size).tolist(), "group": ["a", "b"] * (size // 2)})
        before = file.read_bytes()
        code = f"""
            import resource, sys
            from xorder import ScoreMap
            from xorder.engines import GroupMaps, apply_to_file
            from xorder.exceptions import InputError
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            maps = GroupMaps(dict.fromkeys("ab", ScoreMap([0.0, 1.0], [0.0, 0.3])))
            try:
                apply_to_file(maps, {str(file)!r}, {str(file)!r}, score="score", group="group", overwrite=True)
            except InputError as error:
                sys.stdout.write(str(error))
        """
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env=_environment(),
            check=False,
        )
        assert done.stdout.startswith(f"could not write {file}: ")
        assert "too large" in done.stdout
        assert done.stderr == ""
        assert done.returncode == 0
        assert list(file.parent.iterdir()) == [file]
        assert file.read_bytes() == before
