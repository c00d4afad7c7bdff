"""A user's tables are read whole or refused with a word on what is wrong with which line; cohort files likewise."""

from __future__ import annotations

import gzip
import os
import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xorder.datasets._clinical import SourceTable, find_tables, open_database, plain_errors
from xorder.datasets._cohort_file import check_output, read_cohort, write_cohort
from xorder.exceptions import InputError

pytestmark = pytest.mark.slow

ROWS = [f"{number},{number / 4},2150-01-01 00:00:{number % 60:02}" for number in range(5000)]
TEXT = "\n".join(["id,amount,time", *ROWS]) + "\n"
TYPES = {"id": "INTEGER", "amount": "DOUBLE", "time": "TIMESTAMP"}
TOTALS = "count(*), sum(id), sum(amount), max(time)::VARCHAR"
EXPECTED = [(5000, 12497500, 3124375.0, "2150-01-01 00:00:59")]


def write(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_all(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """Read the table T beside ``path``, as a builder does; nothing may be left in the folder to spill to."""
    spill = path.parent / "spill"
    spill.mkdir(exist_ok=True)
    threads = threading.active_count()
    try:
        table = find_tables(path.parent, {"T": ("id", "amount", "time")}, source="test")["T"]
        with open_database(purpose="Testing", memory="500MB", spill=spill, **options) as database:
            database.load(table, TYPES)
            return database.run(f"SELECT {TOTALS} FROM t")
    finally:
        assert list(spill.iterdir()) == []
        assert threading.active_count() == threads


def complaint(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_all(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(params=["T.csv", "T.csv.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


class TestFinding:
    @pytest.mark.parametrize("name", ["PEOPLE.csv", "people.csv.gz", "People.CSV"])
    def test_any_case_and_ending(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path / name, "ID,Amount\n1,2\n")
        found = find_tables(tmp_path, {"People": ["amount"]}, source="test")
        assert found == {"People": SourceTable("People", path, ("id", "amount"))}

    def test_the_gzipped_one_of_two_is_taken(self, tmp_path: Path) -> None:
        write(tmp_path / "T.csv", "id\n")
        write(tmp_path / "T.csv.gz", "id\n")
        assert find_tables(tmp_path, {"T": []}, source="test")["T"].path.name == "T.csv.gz"

    def test_two_that_differ_in_case(self, tmp_path: Path) -> None:
        write(tmp_path / "T.csv", "id\n")
        write(tmp_path / "t.csv", "id\n")
        if len(list(tmp_path.iterdir())) == 1:
            pytest.skip("a file system that does not tell case apart")
        with pytest.raises(InputError, match=r"holds T\.csv and t\.csv; keep only one"):
            find_tables(tmp_path, {"T": []}, source="test")

    def test_folder_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="gone does not exist; name the folder that holds the MIMIC-III tables"):
            find_tables(tmp_path / "gone", {"T": []}, source="MIMIC-III")
        file = write(tmp_path / "T.csv", "id\n")
        with pytest.raises(InputError, match=r"T\.csv is a file; name the folder"):
            find_tables(file, {"T": []}, source="MIMIC-III")

    def test_missing_tables(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"holds none of the test tables \(A, B as \.csv or \.csv\.gz\)"):
            find_tables(tmp_path, {"A": [], "B": []}, source="test")
        write(tmp_path / "A.csv", "id\n")
        (tmp_path / "B.csv").mkdir()
        with pytest.raises(InputError, match=r"lacks B\.csv or B\.csv\.gz; put it there"):
            find_tables(tmp_path, {"A": [], "B": []}, source="test")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("id,amount\n1,2\n", "must have the columns time, but its header has only: id,amount"),
            ("1,2,3\n", "must have the columns id, amount, time, but its header has only: 1,2,3"),
            ("", "must have the columns id, amount, time, but its header has only: nothing"),
            ("id,amount,time,ID\n", "names the column 'id' twice"),
            (b"\xff\xfe\x00id", "cannot read the header of"),
        ],
    )
    def test_headers(self, path: Path, text: str | bytes, words: str) -> None:
        assert words in complaint(write(path, text))

    def test_gzip_in_name_only(self, tmp_path: Path) -> None:
        (tmp_path / "T.csv.gz").write_text(TEXT)
        assert "cannot read the header" in complaint(tmp_path / "T.csv.gz")
        (tmp_path / "T.csv.gz").write_bytes(gzip.compress(TEXT.encode())[:20])
        assert "cannot read the header" in complaint(tmp_path / "T.csv.gz")


class TestReading:
    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text,
            lambda text: text.upper(),
            lambda text: text.replace("\n", "\r\n"),
            lambda text: "\ufeff" + text,
            lambda text: text[:-1],
            lambda text: text.replace("17,4.25,", '"17","4.25",'),
        ],
        ids=["plain", "upper", "windows", "mark", "no line end", "quoted"],
    )
    def test_whole(self, path: Path, change: Callable[[str], str]) -> None:
        assert read_all(write(path, change(TEXT))) == EXPECTED

    def test_other_columns_may_hold_anything(self, path: Path) -> None:
        text = "id,amount,time,note\n" + "".join(f'{row},"a,\n""b"""\n' for row in ROWS)
        assert read_all(write(path, text)) == EXPECTED

    def test_empty_cells_are_null(self, path: Path) -> None:
        assert read_all(write(path, "id,amount,time\n1,,\n2,,\n")) == [(2, 3, None, None)]

    def test_names_with_quotes(self, tmp_path: Path) -> None:
        folder = tmp_path / "it's"
        folder.mkdir()
        assert read_all(write(folder / "T.csv", TEXT)) == EXPECTED

    @pytest.mark.skipif(os.name == "nt", reason="no name on Windows has a star")
    @pytest.mark.parametrize(("name", "other"), [("x[1]", "x1"), ("x*", "xy")])
    def test_a_name_that_looks_like_a_pattern(self, tmp_path: Path, name: str, other: str) -> None:
        """DuckDB would read the table of the other folder in its place, or both."""
        for folder, text in ((name, TEXT), (other, "id,amount,time\n1,1,2150-01-01 00:00:00\n")):
            (tmp_path / folder).mkdir()
            write(tmp_path / folder / "T.csv", text)
        assert read_all(tmp_path / name / "T.csv") == EXPECTED

    def test_several_gzip_members(self, tmp_path: Path) -> None:
        cut = len(TEXT) // 3
        path = tmp_path / "T.csv.gz"
        path.write_bytes(gzip.compress(TEXT[:cut].encode()) + gzip.compress(TEXT[cut:].encode()))
        assert read_all(path) == EXPECTED

    def test_progress(self, path: Path) -> None:
        seen: list[tuple[str, float | None]] = []
        read_all(write(path, TEXT), progress=lambda step, share: seen.append((step, share)))
        assert seen[0] == ("reading T", None)
        assert seen[-1] == ("reading T", 1.0)

    def test_progress_that_fails(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("xorder._duckdb._POLL_SECONDS", 0.0)

        def fail_later(step: str, share: float | None) -> None:
            if share is not None:
                raise BrokenPipeError("nobody listens")

        with pytest.raises(BrokenPipeError, match="nobody listens"):
            read_all(write(path, TEXT), progress=fail_later)


class TestDamage:
    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ("7,8", "the header has 3 columns, but this row has 2."),
            ("7,8,2150-01-01,9", "the header has 3 columns, but this row has 4."),
            ("7,abc,2150-01-01", "column 'amount' must hold a number or nothing; this row holds 'abc'."),
            ("7.5x,8,2150-01-01", "column 'id' must hold a number or nothing; this row holds '7.5x'."),
            ("7,8,yesterday", "column 'time' must hold a date and time or nothing; this row holds 'yesterday'."),
            ('7,8,"2150', "a quote that opens here is not closed"),
        ],
    )
    @pytest.mark.parametrize("line", [2, 4000, 5001])
    def test_one_broken_row(self, path: Path, row: str, words: str, line: int) -> None:
        lines = TEXT.splitlines()
        lines[line - 1] = row
        text = complaint(write(path, "\n".join(lines) + "\n"))
        assert re.fullmatch(rf"{re.escape(str(path))}, line {line}: {re.escape(words)}.*", text)

    def test_bytes_that_are_no_text(self, path: Path) -> None:
        # Only the columns that are used are looked at, so it must be one of them.
        assert "line 3: " in complaint(write(path, b"id,amount,time\n1,2,\n1,\xff\xfe,\n"))

    @pytest.mark.parametrize("missing", [1, 4, 8, 9, 100, 10_000])
    def test_gzip_cut_off(self, tmp_path: Path, missing: int) -> None:
        path = tmp_path / "T.csv.gz"
        path.write_bytes(gzip.compress(TEXT.encode())[:-missing])
        assert re.search(r"T\.csv\.gz is cut off.* Copy or download it again\.", complaint(path))

    def test_gzip_whose_checksum_is_wrong(self, tmp_path: Path) -> None:
        # The rows can all be read: they may still be other rows than those that were written.
        data = bytearray(gzip.compress(TEXT.encode()))
        data[-8] ^= 1
        path = tmp_path / "T.csv.gz"
        path.write_bytes(data)
        assert "T.csv.gz is damaged (CRC check failed" in complaint(path)

    @pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
    def test_gzip_with_a_wrong_byte(self, tmp_path: Path, place: float) -> None:
        data = bytearray(gzip.compress(TEXT.encode()))
        data[int(place * len(data))] ^= 0xFF
        path = tmp_path / "T.csv.gz"
        path.write_bytes(data)
        assert str(path) in complaint(path)

    def test_line_end_lost_in_a_plain_file(self, tmp_path: Path) -> None:
        assert "columns, but this row has" in complaint(write(tmp_path / "T.csv", TEXT[:-25]))


class TestDatabase:
    def test_memory_that_is_no_amount(self) -> None:
        with (
            pytest.raises(InputError, match="memory must be an amount such as '2GB' or '500MB'; got 'lots'"),
            open_database(purpose="Testing", memory="lots", spill=None),
        ):
            pass

    def test_spill_that_is_no_folder(self, tmp_path: Path) -> None:
        with (
            pytest.raises(InputError, match="spill must be a folder that exists"),
            open_database(purpose="Testing", memory="1GB", spill=tmp_path / "gone"),
        ):
            pass

    def test_spill_that_cannot_be_written_to(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(tempfile, "mkdtemp", refuse)
        for spill, words in ((tmp_path, tmp_path), (None, "the system's folder for temporary files")):
            with pytest.raises(InputError) as caught, open_database(purpose="Testing", memory="1GB", spill=spill):
                pass
            assert str(caught.value) == (
                f"spill must be a folder that files can be written to, and {words} is not (Permission denied). "
                "Name another."
            )

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
    def test_spill_into_the_kernel(self) -> None:
        with (
            pytest.raises(InputError, match="spill must be a folder that files can be written to, and /proc is not"),
            open_database(purpose="Testing", memory="1GB", spill="/proc"),
        ):
            pass

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            ("0 1 2", None),
            ("0 1 0 0", "3 rows with id 0"),
            ('1 1 2 2 ""', "2 rows with id 1"),
            ('1 "" 2', "1 row with id empty"),
        ],
    )
    def test_one_row_for_each_key(self, tmp_path: Path, rows: str, words: str | None) -> None:
        path = write(tmp_path / "T.csv", "\n".join(["id", *rows.split()]) + "\n")
        table = SourceTable("T", path, ("id",))
        with open_database(purpose="Testing", memory="500MB", spill=None) as database:
            if words is None:
                database.load(table, {"id": "INTEGER"}, "id")
                return
            with pytest.raises(InputError) as caught:
                database.load(table, {"id": "INTEGER"}, "id")
        assert str(caught.value) == f"{path} must have one row for each id, but has {words}. Copy the file again."

    def test_too_little_memory_spills_and_leaves_nothing(self, tmp_path: Path) -> None:
        with open_database(purpose="Testing", memory="40MB", spill=tmp_path) as database:
            database.run("SET threads = 1")
            database.run("CREATE TEMP TABLE t AS SELECT hash(range) AS h FROM range(10000000)")
            folder = next(tmp_path.iterdir())
            assert sum(file.stat().st_size for file in folder.iterdir()) > 10 << 20
            assert database.run("SELECT count(*) FROM t") == [(10_000_000,)]
        assert list(tmp_path.iterdir()) == []

    def test_memory_that_does_not_suffice(self, tmp_path: Path) -> None:
        with open_database(purpose="Testing", memory="40MB", spill=tmp_path) as database:
            database.run("SET max_temp_directory_size = '1MB'")
            with pytest.raises(InputError, match=r"raise it .* or free disk space"):
                database.run("CREATE TEMP TABLE t AS SELECT hash(range) AS h FROM range(10000000)")

    def test_ctrl_c_is_told_as_such(self) -> None:
        # DuckDB raises this when it notices the signal.
        with pytest.raises(KeyboardInterrupt), plain_errors():
            raise RuntimeError("Query interrupted")
        with pytest.raises(RuntimeError, match="something else"), plain_errors():
            raise RuntimeError("something else")

    def test_interrupt_from_elsewhere(self) -> None:
        with open_database(purpose="Testing", memory="500MB", spill=None) as database:
            timer = threading.Timer(0.2, database.connection.interrupt)
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                database.run("SELECT count(*) FROM range(10000000000) WHERE hash(range) = 1")
            timer.join()


class TestCohortFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        write_cohort(
            pa.table({"a": [1, 2], "b": ["x", None]}),
            tmp_path / "c",
            kind="test",
            about={"source": "s"},
            overwrite=False,
        )
        return tmp_path / "c"

    def test_round_trip(self, file: Path) -> None:
        rows, about = read_cohort(file, kind="test", columns=["a", "b"])
        assert rows["a"].tolist() == [1, 2]
        assert about["kind"] == "test"
        assert about["source"] == "s"
        assert re.match(r"\d+\.\d+", about["xorder"])

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_existing_file(self, file: Path, overwrite: bool) -> None:
        before = file.read_bytes()
        if overwrite:
            check_output(file, overwrite=True)
        else:
            with pytest.raises(InputError, match="exists already"):
                check_output(file, overwrite=False)
        assert file.read_bytes() == before
        assert list(file.parent.iterdir()) == [file]

    def test_output_that_cannot_be(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="does not exist; create it first"):
            check_output(tmp_path / "gone" / "c.parquet", overwrite=False)
        check_output(tmp_path / "c.parquet", overwrite=False)
        assert list(tmp_path.iterdir()) == []

    def test_other_files_are_refused(self, file: Path, tmp_path: Path) -> None:
        def words(path: Path, kind: str = "test", columns: tuple[str, ...] = ()) -> str:
            with pytest.raises(InputError) as caught:
                read_cohort(path, kind=kind, columns=columns)
            assert f"xorder data build-{kind}" in str(caught.value)
            return str(caught.value)

        assert "is a cohort of kind 'test'" in words(file, kind="other")
        assert "lacks the column 'z'" in words(file, columns=("a", "z"))
        assert "does not exist" in words(tmp_path / "gone")
        assert "is a folder" in words(tmp_path)
        pq.write_table(pa.table({"a": [1]}), tmp_path / "plain")
        assert "is a parquet file, but not a cohort" in words(tmp_path / "plain")
        (tmp_path / "text").write_text("a,b\n1,2\n")
        assert "cannot be read as a parquet file" in words(tmp_path / "text")
        (tmp_path / "cut").write_bytes(file.read_bytes()[:-10])
        assert "cannot be read as a parquet file" in words(tmp_path / "cut")
