"""What holds for each format: the same arrays and complaints, and an output that is whole or not there."""

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

from xorder.engines import Rows, add_column, read_rows
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
    return f"row {row + 1}:" if path.name.endswith(".parquet") else f"line {row + 2}:"


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


def halve(scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return scores / 2


BASE: dict[str, list[object]] = {
    "score": [0.25, 0.5, 1e-3, -2.0],
    "group": ["a", " b", "a", "ü,\n"],
    "label": [0, 1, 1, 0],
    "weight": [1.0, 0.0, 2.5, 3.0],
}


def changed(column: str, row: int, value: object) -> dict[str, list[object]]:
    table = {name: list(values) for name, values in BASE.items()}
    table[column][row] = value
    return table


class TestReadRows:
    def test_every_format_gives_the_same_arrays(self, file: Path) -> None:
        rows = read_rows(write_table(file, BASE), score="score", group="group", label="label", weight="weight")
        assert isinstance(rows, Rows)
        assert rows.y_score.dtype == np.float64
        assert rows.y_score.tolist() == BASE["score"]
        assert rows.groups.dtype == object
        assert rows.groups.tolist() == BASE["group"]
        assert all(type(group) is str for group in rows.groups)
        assert rows.y_true is not None
        assert rows.y_true.dtype == np.int8
        assert rows.y_true.tolist() == BASE["label"]
        assert rows.sample_weight is not None
        assert rows.sample_weight.dtype == np.float64
        assert rows.sample_weight.tolist() == BASE["weight"]

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
        rows = read_rows(write_table(file, table), score="score", group="group", label="label")
        assert rows.y_true is not None
        np.testing.assert_array_equal(rows.y_score, numbers / 7)
        np.testing.assert_array_equal(rows.groups, table["group"])
        np.testing.assert_array_equal(rows.y_true, numbers % 2)
        table["group"][size - 3] = ""
        write_table(file, table)
        assert place(file, size - 3) in message(read_rows, file, score="score", group="group")

    @pytest.mark.parametrize("value", [None, float("nan"), float("inf"), float("-inf")])
    @pytest.mark.parametrize("column", ["score", "weight"])
    def test_numbers_must_be_finite(self, file: Path, column: str, value: float | None) -> None:
        write_table(file, changed(column, 2, value))
        text = message(read_rows, file, score="score", group="group", weight="weight")
        assert text.startswith(f"{file}, {place(file, 2)} the {column} must be a finite number")
        assert repr(column) in text
        assert ("an empty cell" if value is None else repr(str(value))) in text

    def test_weights_must_not_be_negative(self, file: Path) -> None:
        write_table(file, changed("weight", 1, -0.5))
        text = message(read_rows, file, score="score", group="group", weight="weight")
        assert f"{place(file, 1)} the weight must not be negative; column 'weight' holds '-0.5'" in text

    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_groups_must_be_known(self, file: Path, value: str | None) -> None:
        write_table(file, changed("group", 3, value))
        text = message(read_rows, file, score="score", group="group")
        assert f"{file}, {place(file, 3)} column 'group' is empty" in text
        assert "Remove these rows or give them a value of their own" in text
        assert place(file, 3) in message(
            add_column, file, file, score="score", group="group", into="x", transform=halve, overwrite=True
        )

    def test_missing_column_offers_the_nearest(self, file: Path) -> None:
        write_table(file, BASE)
        assert "no column 'Score'; did you mean 'score'?" in message(read_rows, file, score="Score", group="group")
        assert "no column 'wieght'; did you mean 'weight'?" in message(
            read_rows, file, score="score", group="group", weight="wieght"
        )

    def test_missing_column_lists_what_there_is(self, file: Path) -> None:
        write_table(file, {f"column{number:02}": [1] for number in range(12)})
        text = message(read_rows, file, score="zzz", group="group")
        assert "its columns are 'column00', 'column01'" in text
        assert "'column09' and more" in text
        assert "column10" not in text

    def test_no_rows(self, file: Path) -> None:
        write_table(file, {"score": [], "group": []})
        assert "no rows" in message(read_rows, file, score="score", group="group")
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        options = {"score": "score", "group": "group", "into": "x", "transform": halve}
        assert "no rows" in message(add_column, file, out, **options)
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
        write_table(file, {**BASE, "label": values})
        rows = read_rows(file, score="score", group="group", label="label")
        assert rows.y_true is not None
        assert rows.y_true.tolist() == expected

    def test_other_values_are_shown_and_positive_is_offered(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["0", "yes", "no", "maybe"]})
        text = message(read_rows, file, score="score", group="group", label="label")
        assert f"{place(file, 1)} column 'label' holds 'yes'" in text
        assert "'0', 'yes', 'no', 'maybe'" in text
        assert "--positive VALUE" in text

    def test_at_most_five_values_are_shown(self, file: Path) -> None:
        size = 20
        table = {
            "score": [0.5] * size,
            "group": ["a"] * size,
            "label": [f"v{number}" for number in range(size)],
        }
        write_table(file, table)
        text = message(read_rows, file, score="score", group="group", label="label")
        assert "'v0', 'v1', 'v2', 'v3', 'v4' and more" in text
        assert "v5" not in text

    def test_2_is_not_a_label(self, file: Path) -> None:
        write_table(file, changed("label", 3, 2))
        assert "holds '2'" in message(read_rows, file, score="score", group="group", label="label")

    def test_positive(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "yes", "no"]})
        rows = read_rows(file, score="score", group="group", label="label", positive="yes")
        assert rows.y_true is not None
        assert rows.y_true.dtype == np.int8
        assert rows.y_true.tolist() == [1, 0, 1, 0]

    def test_positive_written_in_another_case(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "Yes ", "no"]})
        with pytest.warns(XorderWarning, match="holds 3 values"):
            rows = read_rows(file, score="score", group="group", label="label", positive="YES")
        assert rows.y_true is not None
        assert rows.y_true.tolist() == [1, 0, 1, 0]

    def test_positive_that_no_row_has(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["yes", "no", "yes", "no"]})
        text = message(read_rows, file, score="score", group="group", label="label", positive="ja")
        assert "no row of column 'label' equals the positive value 'ja'" in text
        assert "'yes', 'no'" in text

    def test_positive_among_more_than_two_values_warns(self, file: Path) -> None:
        write_table(file, {**BASE, "label": ["low", "high", "middle", "low"]})
        with pytest.warns(XorderWarning, match="'high' counts as positive") as caught:
            rows = read_rows(file, score="score", group="group", label="label", positive="high")
        assert "'low', 'middle'" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert rows.y_true is not None
        assert rows.y_true.tolist() == [0, 1, 0, 0]

    @pytest.mark.parametrize("positive", [None, "1"])
    def test_empty_label(self, file: Path, positive: str | None) -> None:
        write_table(file, changed("label", 2, None))
        text = message(read_rows, file, score="score", group="group", label="label", positive=positive)
        assert f"{place(file, 2)} column 'label' is empty" in text


class TestPaths:
    def test_does_not_exist(self, file: Path) -> None:
        assert message(read_rows, file, score="s", group="g").startswith(f"{file} does not exist")

    def test_a_file_taken_for_a_folder(self, file: Path) -> None:
        write_table(file, BASE)
        assert "does not exist" in message(read_rows, file / "x.csv", score="s", group="g")

    def test_folder(self, file: Path) -> None:
        file.mkdir()
        assert "is a folder" in message(read_rows, file, score="s", group="g")

    @pytest.mark.skipif(os.name != "posix", reason="named pipes are those of POSIX")
    def test_pipe(self, file: Path) -> None:
        os.mkfifo(file)
        assert "is not a file on disk" in message(read_rows, file, score="s", group="g")

    @pytest.mark.skipif(os.name != "posix", reason="Windows says of such a name that it does not exist")
    def test_name_too_long(self, tmp_path: Path) -> None:
        assert "cannot read" in message(read_rows, tmp_path / f"{'x' * 300}.csv", score="s", group="g")

    @pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
    def test_no_permission(self, file: Path) -> None:
        write_table(file, BASE).chmod(0)
        user = os.geteuid()
        if user == 0:  # whom permissions do not stop
            os.seteuid(65534)
        try:
            text = message(read_rows, file, score="score", group="group")
        finally:
            os.seteuid(user)
        assert "may not be read" in text

    def test_zero_bytes(self, file: Path) -> None:
        file.touch()
        assert "is empty (0 bytes)" in message(read_rows, file, score="s", group="g")

    @pytest.mark.parametrize("name", ["people.xlsx", "people", "people.gz", "people.csv.zip"])
    def test_unknown_ending(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        path.write_text("score,group\n1,a\n")
        text = message(read_rows, path, score="score", group="group")
        assert all(ending in text for ending in (".csv", ".csv.gz", ".parquet", ".tsv", ".txt"))

    @pytest.mark.parametrize("name", ["A.CSV", "a.Txt", "a.tsv", "A.CSV.GZ", "A.Parquet"])
    def test_endings_in_any_case(self, tmp_path: Path, name: str) -> None:
        plain = write_table(tmp_path / name.lower(), BASE)
        path = plain.rename(tmp_path / name)
        assert read_rows(path, score="score", group="group").y_score.tolist() == BASE["score"]

    def test_parquet_without_pyarrow_names_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write_table(tmp_path / "people.parquet", BASE)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(MissingExtraError, match=r"xorder\[parquet\]"):
            read_rows(path, score="score", group="group")
        with pytest.raises(MissingExtraError, match=r"xorder\[parquet\]"):
            add_column(path, tmp_path / "out.parquet", score="score", group="group", into="x", transform=halve)
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.slow
    def test_csv_needs_no_pyarrow(self, tmp_path: Path) -> None:
        path = write_table(tmp_path / "people.csv", BASE)
        code = f"""
            import sys
            sys.modules["pyarrow"] = None
            from xorder.engines import add_column, read_rows
            read_rows({str(path)!r}, score="score", group="group", label="label")
            add_column({str(path)!r}, {str(path)!r}, score="score", group="group", into="x",
                       transform=lambda scores, groups: scores, overwrite=True)
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, env=_environment())


def _environment() -> dict[str, str]:
    import xorder

    return {**os.environ, "PYTHONPATH": str(Path(xorder.__file__).parents[1])}


class TestAddColumn:
    OPTIONS: ClassVar = {"score": "score", "group": "group", "into": "adjusted"}

    def out(self, file: Path) -> Path:
        return file.with_name(f"out.{file.name.partition('.')[2]}")

    def test_result_is_read_back(self, file: Path) -> None:
        write_table(file, BASE)

        def transform(scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
            assert scores.dtype == np.float64
            assert groups.dtype == object
            return np.where(groups == "a", scores / 3, scores)

        assert add_column(file, self.out(file), transform=transform, **self.OPTIONS) == 4
        rows = read_rows(self.out(file), score="adjusted", group="group", label="label", weight="weight")
        assert rows.y_score.tolist() == [0.25 / 3, 0.5, 1e-3 / 3, -2.0]
        assert rows.groups.tolist() == BASE["group"]

    def test_it_tells_how_far_it_is(self, file: Path) -> None:
        told: list[tuple[str, float | None]] = []
        write_table(file, {"score": [0.5] * 80_000, "group": ["A"] * 80_000})
        add_column(
            file,
            self.out(file),
            **self.OPTIONS,
            transform=halve,
            progress=lambda step, share: told.append((step, share)),
        )
        shares = [share for _, share in told]
        assert {step for step, _ in told} == {"adjusting scores"}
        assert shares == sorted(shares)
        assert shares[-1] == 1.0

    def test_source_is_kept_unless_overwritten(self, file: Path) -> None:
        write_table(file, BASE)
        before = file.read_bytes()
        assert "exists already" in message(add_column, file, file, transform=halve, **self.OPTIONS)
        assert file.read_bytes() == before
        assert add_column(file, file, transform=halve, overwrite=True, **self.OPTIONS) == 4
        assert read_rows(file, score="adjusted", group="group").y_score.tolist() == [0.125, 0.25, 5e-4, -1.0]
        assert list(file.parent.iterdir()) == [file]

    def test_name_in_use(self, file: Path) -> None:
        write_table(file, BASE)
        options = {**self.OPTIONS, "into": "label", "transform": halve}
        text = message(add_column, file, self.out(file), **options)
        assert "has a column 'label' already; choose another name with --into" in text
        assert "--into" in message(add_column, file, self.out(file), **{**options, "into": ""})
        assert list(file.parent.iterdir()) == [file]

    def test_missing_column(self, file: Path) -> None:
        write_table(file, BASE)
        options = {**self.OPTIONS, "score": "scores", "transform": halve}
        assert "did you mean 'score'" in message(add_column, file, self.out(file), **options)
        assert list(file.parent.iterdir()) == [file]

    @pytest.mark.parametrize(("source", "target"), [("csv", "parquet"), ("parquet", "csv")])
    def test_format_is_kept(self, tmp_path: Path, source: str, target: str) -> None:
        path = write_table(tmp_path / f"people.{source}", BASE)
        out = tmp_path / f"out.{target}"
        assert "keeps the format" in message(add_column, path, out, transform=halve, **self.OPTIONS)
        assert not out.exists()

    @pytest.mark.parametrize("error", [InputError("unknown group 'c'"), ZeroDivisionError("oops")])
    def test_error_of_the_transform_surfaces_and_leaves_nothing(self, file: Path, error: Exception) -> None:
        size = 200_000
        write_table(file, {"score": [0.5] * size, "group": ["a"] * (size - 1) + ["c"]})
        calls = 0

        def transform(scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
            nonlocal calls
            calls += 1
            if "c" in groups:
                raise error
            return scores

        with pytest.raises(type(error), match=str(error)):
            add_column(file, self.out(file), transform=transform, **self.OPTIONS)
        assert calls > 1
        assert list(file.parent.iterdir()) == [file]

    def test_transform_of_the_wrong_length(self, file: Path) -> None:
        write_table(file, BASE)
        text = message(add_column, file, self.out(file), transform=lambda scores, groups: scores[1:], **self.OPTIONS)
        assert "must return 4 numbers" in text
        assert list(file.parent.iterdir()) == [file]

    def test_bad_score_names_the_place_and_leaves_nothing(self, file: Path) -> None:
        write_table(file, changed("score", 3, None))
        text = message(add_column, file, self.out(file), transform=halve, **self.OPTIONS)
        assert f"{file}, {place(file, 3)}" in text
        assert list(file.parent.iterdir()) == [file]

    def test_folder_of_the_output_is_missing(self, file: Path) -> None:
        write_table(file, BASE)
        text = message(add_column, file, file.parent / "no" / self.out(file).name, transform=halve, **self.OPTIONS)
        assert "create it first" in text

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="limits on the size of files are those of POSIX")
    def test_full_disk(self, file: Path) -> None:
        size = 50_000
        rng = np.random.default_rng(0)
        write_table(file, {"score": rng.random(size).tolist(), "group": ["a", "b"] * (size // 2)})
        before = file.read_bytes()
        code = f"""
            import resource, sys
            from xorder.engines import add_column
            from xorder.exceptions import InputError
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            try:
                add_column({str(file)!r}, {str(file)!r}, score="score", group="group", into="x",
                           transform=lambda scores, groups: scores / 3, overwrite=True)
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
