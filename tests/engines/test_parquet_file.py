"""parquet: values of many types are read, all types and metadata pass, and damage is told with its row."""

from __future__ import annotations

import datetime
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.file_rows import halving, read_rows
from xorder.engines import apply_to_file
from xorder.exceptions import InputError

COLUMNS = {"score": "score", "group": "group"}
MAPS = halving("a", "b")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.parquet"


def write(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def complaint(path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read_rows(path, **{**COLUMNS, **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestTypes:
    @pytest.mark.parametrize(
        "values",
        [
            pa.array([1, 2, 3], pa.int8()),
            pa.array([1, 2, 3], pa.uint64()),
            pa.array([1, 2, 3], pa.float32()),
            pa.array(np.array([1, 2, 3], np.float16)),
            pa.array([Decimal("1.00"), Decimal("2.00"), Decimal("3.00")], pa.decimal128(5, 2)),
            pa.array([1.0, 2.0, 3.0]).dictionary_encode(),
        ],
        ids=lambda values: str(values.type),
    )
    def test_scores(self, path: Path, values: pa.Array) -> None:
        rows = read_rows(write(path, score=values, group=["a", "b", "c"]), **COLUMNS)
        assert rows.y_score.dtype == np.float64
        assert rows.y_score.tolist() == [1.0, 2.0, 3.0]

    def test_whether_is_a_score_of_two_values(self, path: Path) -> None:
        rows = read_rows(write(path, score=[True, False, True], group=["a", "b", "c"]), **COLUMNS)
        assert rows.y_score.tolist() == [1.0, 0.0, 1.0]

    def test_integers_too_large_for_a_float_are_rounded(self, path: Path) -> None:
        write(path, score=pa.array([2**60 + 1]), group=["a"])
        assert read_rows(path, **COLUMNS).y_score.tolist() == [2.0**60]

    @pytest.mark.parametrize(
        "values",
        [
            pa.array(["1", "2"]),
            pa.array([[1.0], [2.0]]),
            pa.array([{"x": 1.0}, {"x": 2.0}]),
            pa.array(["1", "2"]).dictionary_encode(),
            pa.array([datetime.date(2020, 1, 1)] * 2),
        ],
        ids=lambda values: str(values.type),
    )
    @pytest.mark.parametrize("column", ["score", "weight"])
    def test_types_that_are_no_numbers(self, path: Path, values: pa.Array, column: str) -> None:
        columns = {"score": [1.0, 2.0], "weight": [1.0, 2.0], "group": ["a", "b"], column: values}
        text = complaint(write(path, **columns), weight="weight")
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        assert f"{path}: column {column!r} must hold numbers, but its type is {str(kind).partition('<')[0]}" in text
        assert text.endswith("Convert it or name another column.")

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (pa.array(["a", "é ", "a"], pa.large_string()), ["a", "é ", "a"]),
            (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
            (pa.array([3, 1, 3]), ["3", "1", "3"]),
            (pa.array([3, 1, 3]).dictionary_encode(), ["3", "1", "3"]),
            (pa.array([True, False, True]), ["True", "False", "True"]),
            (pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("1.50")]), ["1.50", "2.00", "1.50"]),
            (pa.array([datetime.date(2020, 1, 2)] * 3), ["2020-01-02"] * 3),
            (pa.array([0.5, 1.0, 0.5]), ["0.5", "1", "0.5"]),
            (pa.array([b"a", b"b", b"a"]), ["a", "b", "a"]),
        ],
        ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
    )
    def test_groups(self, path: Path, values: pa.Array, expected: list[str]) -> None:
        rows = read_rows(write(path, score=[1.0, 2.0, 3.0], group=values), **COLUMNS)
        assert rows.groups == expected
        assert all(type(group) is str for group in rows.groups)

    @pytest.mark.parametrize(
        "values",
        [pa.array([["a"], ["b"]]), pa.array([{"x": 1}, {"x": 2}]), pa.array([b"\xff", b"a"])],
        ids=lambda values: str(values.type),
    )
    def test_groups_without_a_text(self, path: Path, values: pa.Array) -> None:
        text = complaint(write(path, score=[1.0, 2.0], group=values))
        assert f"column 'group' is of type {str(values.type).partition('<')[0]}" in text

    @pytest.mark.parametrize(
        "values",
        [
            pa.array(["a", None, "b"]),
            pa.array(["a", None, "b"]).dictionary_encode(),
            pa.array([1, None, 2]),
            pa.array([0.5, float("nan"), 1.0]),
            pa.array(["a", "", "b"]),
        ],
        ids=lambda values: str(values.type),
    )
    def test_missing_group(self, path: Path, values: pa.Array) -> None:
        assert complaint(write(path, score=[1.0, 2.0, 3.0], group=values)).startswith(
            f"{path}: column 'group' must name a group for each row; 1 row has none, row 1. "
        )

    def test_columns_of_nulls_only(self, path: Path) -> None:
        write(path, score=pa.nulls(2), group=["a", "b"], label=pa.nulls(2))
        assert "column 'score' must be finite; row 0 is empty" in complaint(path)
        assert "column 'label' must have a value in each row; 2 rows have none, the first in row 0." in complaint(
            write(path, score=[1, 2], group=["a", "b"], label=pa.nulls(2)), label="label"
        )
        assert "column 'group' must name a group for each row; 2 rows have none, the first in row 0." in complaint(
            write(path, score=[1, 2], group=pa.nulls(2))
        )

    def test_unused_categories_are_not_values(self, path: Path) -> None:
        frame = pd.DataFrame({"score": [0.1, 0.2], "group": ["a", "b"], "label": ["yes", "no"]})
        frame["label"] = pd.Categorical(frame["label"], categories=["maybe", "yes", "no", ""])
        frame["group"] = pd.Categorical(frame["group"], categories=["", "b", "a"])
        frame.to_parquet(path)
        rows = read_rows(path, label="label", positive="yes", **COLUMNS)
        assert rows.y_true == [1, 0]
        assert rows.groups == ["a", "b"]

    def test_polars_and_names_with_dots(self, path: Path) -> None:
        frame = pl.DataFrame({"my.score": [0.1, 0.2], "my": [5, 6], "g": pl.Series(["x", "y"], dtype=pl.Categorical)})
        frame.write_parquet(path)
        rows = read_rows(path, score="my.score", group="g", weight="my")
        assert rows.y_score.tolist() == [0.1, 0.2]
        assert rows.groups == ["x", "y"]
        assert rows.sample_weight is not None
        assert rows.sample_weight.tolist() == [5.0, 6.0]

    def test_column_twice(self, path: Path) -> None:
        pq.write_table(
            pa.Table.from_arrays([pa.array([1.0])] * 2 + [pa.array(["a"])], ["score", "score", "group"]), path
        )
        assert "2 columns named 'score'" in complaint(path)


class TestDamage:
    @pytest.mark.parametrize("content", [b"score,group\n1,a\n", b"PAR1", b"x", b"\0" * 1000])
    def test_not_parquet(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        assert f"{path} cannot be read as parquet" in complaint(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
    def test_cut_short(self, path: Path, share: float) -> None:
        data = write(path, score=np.random.default_rng(0).random(5000), group=["a"] * 5000).read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        assert "cannot be read as parquet" in complaint(path)

    def test_damaged_pages(self, path: Path) -> None:
        data = write(path, score=np.random.default_rng(0).random(5000), group=["a"] * 5000).read_bytes()
        path.write_bytes(data[:10] + b"\xff" * 5000 + data[5010:])
        assert "cannot be read as parquet" in complaint(path)
        with pytest.raises(InputError, match="cannot be read as parquet"):
            apply_to_file(MAPS, path, path, overwrite=True, **COLUMNS)
        assert list(path.parent.iterdir()) == [path]


class TestWriting:
    def test_all_else_stays(self, path: Path, tmp_path: Path) -> None:
        size = 1000
        table = pa.table(
            {
                "id": pa.array(range(size), pa.uint16()),
                "score": pa.array([n / 7 for n in range(size)], pa.float32()),
                "group": pa.array(["a", "b"] * (size // 2)).dictionary_encode(),
                "maybe": pa.array([None, "x"] * (size // 2), pa.large_string()),
                "day": pa.array([datetime.date(2020, 1, 1)] * size),
                "when": pa.array([datetime.datetime(2020, 1, 1, 3)] * size, pa.timestamp("us", "Europe/Oslo")),
                "money": pa.array([Decimal("1.50")] * size, pa.decimal128(9, 2)),
                "list": pa.array([[1, None], None] * (size // 2)),
                "struct": pa.array([{"x": 1, "y": ["z"]}] * size),
                "yes": pa.array([True, None] * (size // 2)),
            }
        ).replace_schema_metadata({"origin": "registry"})
        field = table.schema.field("id").with_nullable(False).with_metadata({"unit": "person"})
        table = table.cast(table.schema.set(0, field))
        pq.write_table(table, path, row_group_size=300, compression="zstd")
        out = tmp_path / "out.parquet"
        assert apply_to_file(MAPS, path, out, into="new", **COLUMNS).rows == size
        result = pq.read_table(out)
        assert result.column_names == [*table.column_names, "new"]
        assert result.drop_columns("new").equals(pq.read_table(path), check_metadata=True)
        assert result.schema.field("new").type == pa.float64()
        np.testing.assert_array_equal(result["new"], table["score"].to_numpy().astype(float) / 2)
        metadata = pq.read_metadata(out)
        kinds = {metadata.row_group(0).column(n).compression for n in range(metadata.num_columns)}
        assert kinds == {"ZSTD"}

    @pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
    def test_compression_is_kept(self, path: Path, compression: str) -> None:
        pq.write_table(pa.table({"score": [1.0], "group": ["a"]}), path, compression=compression)
        before = pq.read_metadata(path).row_group(0).column(0).compression
        apply_to_file(MAPS, path, path, into="new", overwrite=True, **COLUMNS)
        group = pq.read_metadata(path).row_group(0)
        assert {group.column(n).compression for n in range(3)} == {before}

    def test_pandas_reads_its_frame_again(self, path: Path) -> None:
        frame = pd.DataFrame(
            {
                "score": [0.5, 0.25, 1.0],
                "group": pd.Categorical(["a", "b", "a"], categories=["b", "a", "c"], ordered=True),
                "count": pd.array([1, None, 3], dtype="Int64"),
            },
            index=pd.Index(["x", "y", "z"], name="key"),
        )
        frame.to_parquet(path)
        apply_to_file(MAPS, path, path, into="new", overwrite=True, **COLUMNS)
        result = pd.read_parquet(path)
        pd.testing.assert_frame_equal(result.drop(columns="new"), pd.read_parquet(path, columns=[*frame.columns]))
        pd.testing.assert_frame_equal(result.drop(columns="new"), frame)
        assert result["new"].tolist() == [0.25, 0.125, 0.5]

    @pytest.mark.slow
    @pytest.mark.parametrize("row_group", [100_000, 2_000_000])
    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path, row_group: int) -> None:
        pool = pa.default_memory_pool()
        rng = np.random.default_rng(0)
        peaks = []
        for size in (400_000, 2_000_000):
            path = tmp_path / f"people{size}.parquet"
            table = pa.table({"score": rng.random(size), "group": pa.array(["a"]).take(np.zeros(size, int))})
            pq.write_table(table, path, row_group_size=row_group)
            del table
            held: list[int] = []
            start = pool.bytes_allocated()

            def look(step: str, share: float | None, held: list[int] = held) -> None:
                held.append(pool.bytes_allocated())

            tracemalloc.start()
            assert apply_to_file(MAPS, path, path, overwrite=True, progress=look, **COLUMNS).rows == size
            peaks.append(max(held) - start + tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert pq.read_metadata(path).num_rows == size
        assert peaks[1] < 1.3 * peaks[0]
