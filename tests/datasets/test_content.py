"""One table in many files is one content; any change of a value, a row or their order is told."""

from __future__ import annotations

import csv
import gzip
import random
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.raw_tables import draw_rows, header_of, public_text, small_set, write_csv
from support.real_data import data_file
from xorder.datasets import _raw_file as raw_text
from xorder.datasets._catalogue import OPEN_SETS
from xorder.datasets._raw_file import Layout, fingerprint, parse_table, read_table, read_text
from xorder.exceptions import InputError

NAMES = list(OPEN_SETS)
PEOPLE = Layout(columns=("sex", "age"), numbers=frozenset({"age"}), rows=2, sha256="")


def complaint(path: Path, content: str | bytes, layout: Layout) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        read_table(path, layout)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", NAMES)
class TestOneTableInManyFiles:
    @pytest.fixture
    def rows(self, name: str) -> list[list[str]]:
        return draw_rows(name)

    @pytest.fixture
    def layout(self, name: str, rows: list[list[str]]) -> Layout:
        return small_set(name, rows).file.layout

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    def test_separators_line_ends_quotes(self, tmp_path, name, rows, layout, delimiter, line_end, quoting) -> None:
        path = tmp_path / "table"
        text = write_csv(rows, header_of(name), delimiter=delimiter, line_end=line_end, quoting=quoting)
        path.write_bytes(text.encode())
        assert fingerprint(read_table(path, layout)) == layout.sha256

    def test_as_the_public_origin_writes_it(self, tmp_path, name, rows, layout) -> None:
        path = tmp_path / "table"
        path.write_bytes(public_text(name, rows).encode())
        read_table(path, layout)

    def test_gzipped_zipped_and_marked_as_utf_8(self, tmp_path, name, rows, layout) -> None:
        text = write_csv(rows, header_of(name))
        path = tmp_path / "table"
        path.write_bytes(gzip.compress(text.encode()))
        read_table(path, layout)
        path.write_bytes(text.encode("utf-8-sig"))
        read_table(path, layout)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("Index", "other things")
            archive.writestr("folder/table.data", text)
        read_table(path, layout, member="table.data")

    def test_blank_lines_and_blanks_around_cells(self, tmp_path, name, rows, layout) -> None:
        path = tmp_path / "table"
        padded = [[f" {cell} " for cell in row] for row in rows]
        path.write_text("\n\n" + write_csv(padded, header_of(name)).replace("\n", "\n\n") + "\n \n")
        read_table(path, layout)

    @pytest.mark.parametrize("missing", ["", "?", "NA", "nan", "NULL"])
    def test_missing_values_and_numbers_as_others_write_them(self, tmp_path, name, rows, layout, missing) -> None:
        def written(column: str, cell: str) -> str:
            if cell in ("", "?"):
                return missing
            return repr(float(np.float32(cell))) if column in layout.numbers else cell

        path = tmp_path / "table"
        header = header_of(name)
        other = [[written(column, cell) for column, cell in zip(header, row, strict=True)] for row in rows]
        assert other != rows
        path.write_text(write_csv(other, header))
        read_table(path, layout)

    def test_a_header_in_capitals_among_other_columns_in_another_order(self, tmp_path, name, rows, layout) -> None:
        header = header_of(name)
        order = sorted(range(len(header)), key=lambda place: (header[place], place))
        shuffled = [["7", *(row[place] for place in order)] for row in rows]
        path = tmp_path / "table"
        path.write_text(write_csv(shuffled, ["", *(header[place].upper() for place in order)]))
        read_table(path, layout)

    def test_no_header_or_other_names(self, tmp_path, name, rows, layout) -> None:
        others = [f"V{place}" for place in range(len(rows[0]))]
        for text in (write_csv(rows), write_csv(rows, others)):
            if name == "compas":
                assert "must have the columns sex, age" in complaint(tmp_path / "table", text, layout)
            else:
                (tmp_path / "table").write_text(text)
                read_table(tmp_path / "table", layout)

    def test_any_changed_cell_is_found(self, tmp_path, name, rows, layout) -> None:
        rng = random.Random(1)
        header = header_of(name)
        used = [place for place, column in enumerate(header) if column in layout.columns]
        first = [place for place in used if header.index(header[place]) == place]
        for place in first:
            changed = [row.copy() for row in rows]
            row = rng.choice(changed)
            row[place] = str(float(row[place] or 0) + 1) if header[place] in layout.numbers else row[place] + "x"
            message = complaint(tmp_path / "table", write_csv(changed, header), layout)
            assert "40 rows of the public file but other values" in message

    def test_order_and_number_of_rows(self, tmp_path, name, rows, layout) -> None:
        path, header = tmp_path / "table", header_of(name)
        assert "another order of rows" in complaint(path, write_csv(rows[::-1], header), layout)
        assert "must hold 40 rows; it holds 39" in complaint(path, write_csv(rows[:-1], header), layout)
        assert "must hold 40 rows; it holds 41" in complaint(path, write_csv([*rows, rows[0]], header), layout)


class TestBadFiles:
    def test_a_row_that_is_too_short(self, tmp_path: Path) -> None:
        message = complaint(tmp_path / "t", "sex,age\nm,1\nf\n", PEOPLE)
        assert message.endswith("row 3: 1 cells where the first row has 2.")

    def test_a_number_that_is_none(self, tmp_path: Path) -> None:
        assert "the column age must hold numbers; got 'old'" in complaint(tmp_path / "t", "sex,age\nm,old\n", PEOPLE)
        assert "got 'inf'" in complaint(tmp_path / "t", "sex,age\nm,inf\n", PEOPLE)

    def test_a_page_instead_of_a_table(self, tmp_path: Path) -> None:
        message = complaint(tmp_path / "t", "<!DOCTYPE html>\n<html>, sign in", PEOPLE)
        assert "cells where the first row has" in message
        assert "there is no sex, age" in complaint(tmp_path / "t", "<html>", PEOPLE)

    @pytest.mark.parametrize("content", [b"", b"\n\n \n", b"\xef\xbb\xbf"])
    def test_nothing(self, tmp_path: Path, content: bytes) -> None:
        assert complaint(tmp_path / "t", content, PEOPLE).endswith("is empty.")

    def test_an_open_quote(self, tmp_path: Path) -> None:
        assert "cannot be read as a table" in complaint(tmp_path / "t", 'sex,age\n"' + "x" * 200_000, PEOPLE)

    @pytest.mark.parametrize("keep", [15, 60, -1])
    def test_a_cut_off_gz(self, tmp_path: Path, keep: int) -> None:
        data = gzip.compress(random.Random(0).randbytes(300))
        assert "damaged or was cut off" in complaint(tmp_path / "t", data[:keep], PEOPLE)

    def test_a_damaged_gz(self, tmp_path: Path) -> None:
        data = bytearray(gzip.compress(b"sex,age\n" * 100))
        data[12] ^= 0xFF
        assert "damaged or was cut off" in complaint(tmp_path / "t", bytes(data), PEOPLE)

    def test_a_cut_off_zip_and_one_without_the_table(self, tmp_path: Path) -> None:
        path = tmp_path / "t"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("one", "1")
            archive.writestr("two", "2")
        with pytest.raises(InputError, match=r"holds no adult\.data; it holds one, two"):
            read_text(path, member="adult.data")
        assert "damaged or was cut off" in complaint(path, path.read_bytes()[:-30], PEOPLE)

    def test_a_folder_or_nothing_there(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "none"):
            with pytest.raises(InputError, match="cannot read"):
                read_text(path)

    def test_a_small_gz_that_unpacks_to_very_much(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(raw_text, "MOST_BYTES", 1 << 20)
        data = gzip.compress(b"0" * (32 << 20))
        tracemalloc.start()
        assert "more than 1 MiB" in complaint(tmp_path / "t", data, PEOPLE)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()


def test_bytes_that_are_no_utf_8_do_not_pass_for_others() -> None:
    texts = [data.decode("utf-8", errors="replace") for data in (b"sex,age\nm\xe9,1\n", b"sex,age\nm,1\n")]
    assert len({fingerprint(parse_table(text, PEOPLE)) for text in texts}) == 2


def test_cells_do_not_run_into_each_other_and_keep_their_rows() -> None:
    texts = ["sex,age\nab,1\nc,1\n", "sex,age\na,1\nbc,1\n", "sex,age\nbc,1\na,1\n", "sex,age\nbc,1\na,2\n"]
    assert len({fingerprint(parse_table(text, PEOPLE)) for text in texts}) == 4


def test_quotes_inside_quotes() -> None:
    table = parse_table('sex,age\n"a ""b"", c",3\n', PEOPLE)
    assert table["sex"].tolist() == ['a "b", c']
    assert table["age"].tolist() == [3.0]


def test_missing_cells() -> None:
    table = parse_table("sex,age\n?,\n,NA\nm,4\n", PEOPLE)
    assert table["sex"].tolist() == ["", "", "m"]
    np.testing.assert_array_equal(table["age"], [np.nan, np.nan, 4.0])


class TestRealFiles:
    """The files that were hashed, written again as the public origins and as common tools write them."""

    @pytest.fixture(params=NAMES)
    def known(self, request: pytest.FixtureRequest) -> tuple[str, list[list[str]], list[str]]:
        name = request.param
        files = {
            "compas": "compas/compas-scores-two-years.csv.gz",
            "adult": "adult/adult_raw.csv.gz",
            "framingham": "framingham/framingham.csv",
            "german": "german/german_raw.csv",
        }
        header, *rows = csv.reader(read_text(data_file(files[name])).splitlines())
        return name, rows, header

    @pytest.mark.slow
    def test_as_the_public_origin_writes_it(self, tmp_path, known) -> None:
        name, rows, _ = known
        path = tmp_path / "table"
        path.write_bytes(public_text(name, rows).encode())
        layout = OPEN_SETS[name].file.layout
        table = read_table(path, layout)
        assert len(table[layout.columns[0]]) == layout.rows
        if name in ("adult", "german"):  # sizes of adult.data and german.data at the UCI repository, in bytes
            assert (
                path.stat().st_size - (1000 if name == "german" else 0) == {"adult": 3_974_305, "german": 79_793}[name]
            )

    @pytest.mark.slow
    def test_as_pandas_writes_it(self, tmp_path, known) -> None:
        import pandas as pd

        name, rows, header = known
        path = tmp_path / "table.csv"
        path.write_text(write_csv(rows, header))
        pd.read_csv(path).to_csv(path)
        read_table(path, OPEN_SETS[name].file.layout)

    @pytest.mark.parametrize("known", ["framingham"], indirect=True)
    def test_short_decimals(self, tmp_path, known) -> None:
        name, rows, header = known
        short = [[str(np.float32(cell)) if "." in cell else cell for cell in row] for row in rows]
        assert sum(cell == "28.4" for row in short for cell in row) > 10
        path = tmp_path / "table.csv"
        path.write_text(write_csv(short, header))
        read_table(path, OPEN_SETS[name].file.layout)

    @pytest.mark.slow
    def test_two_rows_in_the_wrong_order(self, tmp_path, known) -> None:
        name, rows, header = known
        rows[5], rows[6] = rows[6], rows[5]
        layout = OPEN_SETS[name].file.layout
        assert "another order of rows" in complaint(tmp_path / "t", write_csv(rows, header), layout)
        assert "must hold" in complaint(tmp_path / "t", write_csv(rows, header), replace(layout, rows=5))
