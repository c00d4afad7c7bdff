"""Files that go through DuckDB mean what they mean when they are read row by row."""

import gzip
import os
import signal
import subprocess
import sys
import time as clock
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xorder
from xorder.engines import GroupMaps, apply_to_file, tables_of
from xorder.engines._sources import in_engine
from xorder.exceptions import InputError, XorderWarning

pytestmark = pytest.mark.slow

NAMES = {"score": "s", "label": "y", "group": "g"}
LINES = "s,y,g\n.9,1,A\n.4,0,A\n.7,1,B\n.1,0,B\n.6,1,A\n.3,0,B\n"


def wider(header, cells):
    """The lines with more columns: their names, and what each row holds in them."""
    first, *rows = LINES.splitlines()
    return "".join(f"{line}\n" for line in [first + header, *(row + cells for row in rows)])


def both(path, **options):
    """What comes of the file by rows and through DuckDB: tables and all that is said of them, or complaints."""
    found = []
    for large in (1 << 40, 1):
        try:
            tables = tables_of(path, **NAMES | options, large=large, as_text=True)
        except InputError as error:
            found.append(str(error))
        else:
            assert tables.binning_error is None
            found.append((dict(tables), tables.rows, tables.notes, tables.weighted))
    return found


CSV = {
    "plain": LINES,
    "semicolons": LINES.replace(",", ";"),
    "tabs": LINES.replace(",", "\t"),
    "byte order mark": "\ufeff" + LINES,
    "line ends": LINES.replace("\n", "\r\n"),
    "single quotes": LINES.replace("A", "'A'").replace(".9,1,'A'", ".9,1,A"),
    "quoted with a comma": LINES.replace("B\n", '"B, west"\n'),
    "a quote late": LINES + ".2,1,A\n" * 30_000 + '.3,0,"A, x"\n.4,1,"A, x"\n',
    "spaces": LINES.replace("A", " A "),
    "labels of other numbers": LINES.replace(",1,", ",1.00,").replace(",0,", ", 0e0,"),
    "words for labels": LINES.replace(",1,", ",TRUE,").replace(",0,", ", false,"),
    "blank lines before": "\n\n" + LINES,
    "a header of several lines": "\n" + wider(',"x\n\ny"', ",1"),
    "line ends of two kinds": LINES + LINES[6:].replace("\n", "\r\n"),
    "columns that differ in case": wider(",S", ",1"),
    "columns without a name": wider(",,", ",1,2"),
    "a wide field": LINES.replace("A\n.4", "A" * 300_000 + "\n.4"),
    "header with spaces": wider(", x", ",1"),
}


@pytest.mark.parametrize("text", CSV.values(), ids=CSV)
def test_csv(text, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    by_rows, in_engine = both(path)
    assert by_rows == in_engine
    assert isinstance(by_rows, tuple)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert both(tmp_path / "rows.csv.gz")[1] == by_rows


@pytest.mark.parametrize(
    "text",
    [
        LINES + ".5,1\n",
        LINES + ".5,1,A,more\n",
        LINES.replace(".3,0,B", "n/a,0,B"),
        LINES.replace(".3,0,B", ".3,2,B"),
        LINES.replace(".3,0,B", "1_000,0,B"),
        LINES.replace(".3,0,B", ".3,1_0,B"),
        LINES.replace(".3,0,B", ".3,0, "),
        LINES.replace(".3,0,B", ".3,0,"),
        LINES.replace(".3,0,B", ".3,,B"),
        LINES + '.5,1,"A\n',
    ],
)
def test_csv_that_is_wrong(text, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    by_rows, in_engine = both(path)
    assert by_rows == in_engine
    assert by_rows.startswith(str(path))
    assert "line" in by_rows


class TestUnderscores:
    """Numbers are no more looked through for underscores where the start of a file shows none."""

    LONG = LINES + ".2,1,A\n" * 150_000

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("cell", ["1_000", "0.1_5", "x_1"])
    def test_in_a_number_far_down(self, cell, end, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text((self.LONG + f"{cell},0,B\n").replace("\n", end), encoding="utf-8", newline="")
        by_rows, in_engine = both(path)
        assert by_rows == in_engine
        assert f"line 150008 holds {cell!r}" in by_rows

    def test_in_a_number_of_one_of_several_files(self, tmp_path):
        (tmp_path / "a.csv").write_text(self.LONG, encoding="utf-8")
        (tmp_path / "b.csv").write_text(self.LONG + "1_000,0,B\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"b\.csv: .* line 150008 holds '1_000'"):
            tables_of(tmp_path / "*.csv", **NAMES)

    def test_in_a_group_far_down_and_in_the_header(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text(wider(",my_column", ",1") + ".2,1,A,2\n" * 150_000 + ".3,0,A_1,3\n", encoding="utf-8")
        by_rows, in_engine = both(path)
        assert by_rows == in_engine
        assert list(by_rows[0]) == ["A", "A_1", "B"]

    def test_in_files_too_large_to_be_looked_through(self, tmp_path, monkeypatch):
        monkeypatch.setattr("xorder.engines._sources._AT_HAND", 0)
        path = tmp_path / "rows.csv"
        path.write_text(self.LONG + "1_000,0,B\n", encoding="utf-8")
        by_rows, in_engine = both(path)
        assert by_rows == in_engine
        assert "'1_000'" in by_rows


@pytest.mark.parametrize("missing_group", ["leave", "group"])
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"weight": "w", "weights_are": "sampling"}], ids=["rows", "counts", "sampling"]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_weights_and_missing_groups(missing_group, options, kind, tmp_path):
    rng = np.random.default_rng(0)
    size = 300
    columns = {
        "s": rng.integers(0, 20, size) / 20,
        "y": rng.integers(0, 2, size),
        "g": [("A", "a ", "B", None, " ")[number] for number in rng.integers(0, 5, size)],
        "w": rng.integers(0, 100, size) / 2,
    }
    path = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        cells = zip(*columns.values(), strict=True)
        lines = [f"{s},{y},{g or ''},{w}\n" for s, y, g, w in cells]
        path.write_text("s,y,g,w\n" + "".join(lines), encoding="utf-8")
    by_rows, in_engine = both(path, missing_group=missing_group, **options)
    assert by_rows == in_engine
    tables, rows, notes, weighted = by_rows
    left = sum(group in (None, " ") for group in columns["g"]) * (missing_group == "leave")
    assert list(tables) == ["A", "B", "a "] + ["missing"] * (missing_group == "group")
    assert (rows, weighted) == (size - left, bool(options))
    assert all(len(table.sums) == (4 if "weights_are" in options else 2) for table in tables.values())
    said = " ".join(notes)
    assert "groups 'A', 'a ' differ in blanks or case alone" in said
    assert (f"{left} rows without a group are left out." in said) == (missing_group == "leave")
    assert ("column 'w' is not whole" in said) == (options == {"weight": "w"})


PARQUET = {
    "whole numbers": [1, 1, 2, 2, 1, 2],
    "floats with nan": [1.0, 1.0, 2.0, 2.0, 1.0, float("nan")],
    "null": ["A", "A", "B", "B", "A", None],
    "truth": [True, True, False, False, True, False],
    "blank": ["A", "A", "B", "B", "A", " "],
}


@pytest.mark.parametrize("groups", PARQUET.values(), ids=PARQUET)
@pytest.mark.parametrize("missing_group", ["error", "group"])
def test_parquet(groups, missing_group, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"s": [0.9, 0.4, 0.7, 0.1, 0.6, 0.3], "y": [1, 0, 1, 0, 1, 0], "g": groups}), path)
    by_rows, in_engine = both(path, missing_group=missing_group)
    assert by_rows == in_engine


COLUMNS = {
    "whether, as scores": {"s": [True, False, True, False, True, False]},
    "decimals as labels": {"y": pa.array([Decimal(one) for one in "101010"], pa.decimal128(5, 2))},
    "decimals as groups": {"g": pa.array([Decimal(one) for one in "112212"], pa.decimal128(5, 2))},
    "times as groups": {"g": pa.array([datetime(2026, 1, int(one), 12) for one in "112212"])},
    "hours as groups": {"g": pa.array([time(int(one)) for one in "112212"])},
    "bytes as groups": {"g": pa.array([one.encode() for one in "112212"])},
    "endless numbers as groups": {"g": [1.0, 1.0, np.inf, np.inf, 1.0, np.inf]},
    "days as groups": {"g": pa.array([date(2026, 1, int(one)) for one in "112212"])},
    "whether, as weights": {"w": [True, True, True, True, False, True]},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_types_of_parquet(columns, tmp_path):
    plain = {"s": [0.9, 0.4, 0.7, 0.1, 0.6, 0.3], "y": [1, 0, 1, 0, 1, 0], "g": list("AABBAB"), "w": [1] * 6}
    pq.write_table(pa.table(plain | columns), tmp_path / "rows.parquet")
    by_rows, in_engine = both(tmp_path / "rows.parquet", weight="w")
    assert by_rows == in_engine
    assert isinstance(by_rows, tuple)


@pytest.mark.parametrize(("positive", "found"), [("Yes", True), ("yes", True), (" YES ", True), ("y", False)])
def test_a_positive_value_however_it_is_written(positive, found, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(LINES.replace(",1,", ",Yes,").replace(",0,", ",No,"), encoding="utf-8")
    by_rows, in_engine = both(path, positive=positive)
    assert by_rows == in_engine
    assert isinstance(by_rows, tuple) is found
    # Where one is written so, others are not it.
    path.write_text(LINES.replace(",1,A", ",Yes,A").replace(",1,B", ",yes,B"), encoding="utf-8")
    with pytest.warns(XorderWarning, match="holds 3 values"):
        by_rows, in_engine = both(path, positive="Yes")
    assert by_rows == in_engine
    assert by_rows[0]["B"].n1 == 0


@pytest.mark.parametrize(
    ("first", "second"), [(pa.int64(), pa.float64()), (pa.float32(), pa.float64()), (pa.int8(), pa.int64())], ids=str
)
def test_files_of_different_types_are_widened(first, second, tmp_path):
    """The types of the first file, forced on all others, would change their scores."""
    rng = np.random.default_rng(0)
    parts = []
    for number, kind in enumerate((first, second)):
        score = pa.array(100 * rng.random(50)).cast(kind, safe=False)
        parts.append(pa.table({"s": score, "y": rng.integers(0, 2, 50), "g": rng.choice(["A", "B"], 50)}))
        pq.write_table(parts[-1], tmp_path / f"{number}.parquet")
    exact = tables_of(pa.concat_tables(parts, promote_options="permissive"), **NAMES)
    assert dict(tables_of(tmp_path / "*.parquet", **NAMES)) == dict(exact)


def test_files_of_different_columns_are_refused(tmp_path):
    columns = {"s": [0.9, 0.4, 0.7, 0.1], "y": [1, 0, 1, 0], "g": ["A", "A", "B", "B"]}
    pq.write_table(pa.table(columns), tmp_path / "1.parquet")
    pq.write_table(pa.table(columns | {"more": [1, 2, 3, 4]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"different columns: 'more' is in .*2\.parquet but not in .*1\.parquet\. Use"):
        tables_of(tmp_path / "*.parquet", **NAMES)


def test_small_files_of_many_rows_go_through_duckdb(tmp_path):
    rows = 2_500_000
    columns = {"s": np.zeros(rows), "y": np.arange(rows) % 2, "g": pa.array(["A"]).take(np.zeros(rows, dtype=int))}
    pq.write_table(pa.table(columns), tmp_path / "many.parquet", compression="zstd")
    pq.write_table(pa.table(columns)[:1000], tmp_path / "few.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 1 << 20
    assert in_engine([str(tmp_path / "many.parquet")])
    assert not in_engine([str(tmp_path / "few.parquet")])


def test_a_group_that_comes_late(tmp_path):
    rows = 400_000
    rng = np.random.default_rng(0)
    group = np.where(np.arange(rows) < rows - 3000, rng.choice(["A", "B"], rows), "C")
    columns = {"s": rng.random(rows), "y": rng.integers(0, 2, rows), "g": group}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    # So few bins that scores go to cells, which threads add up, before the new group comes.
    found = tables_of(str(tmp_path / "rows.parquet"), **NAMES, bins=1000, binning_tolerance=1)
    assert [table.n1 + table.n0 for table in found.values()] == [(group == name).sum() for name in "ABC"]


def test_a_folder_is_no_column(tmp_path):
    folder = tmp_path / "y=1" / "day=2024-01-01"
    folder.mkdir(parents=True)
    columns = {"s": [0.9, 0.4, 0.7, 0.1], "y": [1, 0, 1, 0], "g": ["A", "A", "B", "B"]}
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    maps = {"A": xorder.ScoreMap.identity(), "B": xorder.ScoreMap([0.0, 1.0], [0.1, 1.0])}
    apply_to_file(GroupMaps(maps), folder / "rows.parquet", tmp_path / "out.parquet", score="s", group="g")
    found = pq.read_table(tmp_path / "out.parquet", partitioning=None).to_pydict()
    assert {name: found[name] for name in columns} == columns
    assert list(found) == [*columns, "adjusted"]


def test_types_that_duckdb_would_change_are_kept(tmp_path):
    """Such a file is written row by row, whatever its size."""
    table = pa.table(
        {
            "s": [0.9, 0.4],
            "g": ["A", "B"],
            "at": pa.array([1, 2], pa.duration("s")),
            "kind": pa.array(["x", "y"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    out = tmp_path / "out.parquet"
    maps = GroupMaps(dict.fromkeys("AB", xorder.ScoreMap([0.0, 1.0], [0.0, 2.0])))
    apply_to_file(maps, tmp_path / "rows.parquet", out, score="s", group="g")
    found = pq.read_table(out)
    assert found.drop_columns("adjusted").schema.types == table.schema.types
    assert found["adjusted"].to_pylist() == [1.8, 0.8]


def test_csv_files_are_joined_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("s,y,g\n.9,1,A\n.4,0,A\n.5,1,B\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("g,s,y\nB,.7,1\nB,.1,0\n", encoding="utf-8")
    found = tables_of(tmp_path / "*.csv", **NAMES)
    assert {group: table.score.tolist() for group, table in found.items()} == {"A": [0.9, 0.4], "B": [0.7, 0.5, 0.1]}
    (tmp_path / "c.csv").write_text("g,s,label\nB,.7,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'y'"):
        tables_of(tmp_path / "*.csv", **NAMES)


def test_too_little_memory_is_told(tmp_path):
    rows = 300_000
    columns = {"s": np.random.default_rng(0).random(rows), "y": np.arange(rows) % 2, "g": ["A", "B"] * (rows // 2)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"takes more memory than allowed; allow more, such as memory='8GB'"):
        tables_of(tmp_path / "rows.parquet", **NAMES, large=1, memory="1MB")


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interruption_leaves_nothing(name, tmp_path):
    number = getattr(signal, name)
    rows = 3_000_000
    rng = np.random.default_rng(0)
    group = rng.choice(["A", "B"], rows)
    score = rng.random(rows)
    pq.write_table(pa.table({"s": score, "y": rng.integers(0, 2, rows), "g": group}), tmp_path / "rows.parquet")
    repair = xorder.XOrder(method="frontier").fit(score[:500], rng.integers(0, 2, 500), sensitive_features=group[:500])
    repair.save(tmp_path / "map.json")
    # A process in the background ignores Ctrl-C, one under nohup the end of its terminal; children inherit that.
    script = (
        "import signal; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "[signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)]; "
        "from xorder.cli import program; print('ready', flush=True); program()"
    )
    arguments = ["apply", "rows.parquet", "--score", "s", "--group", "g", "--map", "map.json", "-o", "out.parquet"]
    running = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "ready\n"
    until = clock.monotonic() + 30
    while not list(tmp_path.glob(".xorder-*")) and clock.monotonic() < until:
        clock.sleep(0.01)
    clock.sleep(0.2)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    assert running.returncode in (128 + number, -number), told
    assert "Traceback" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "rows.parquet"]
