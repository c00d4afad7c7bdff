"""The same columns as a frame, or as files, of every engine: what each test of engines runs over.

``make(name, columns, folder)`` builds one; in a test, ``backend(columns)`` does, with the fixture of conftest.py.
Columns are lists or arrays: anything that pyarrow makes a column of. Text of a csv file has no type: what is read from
there is text again, and a missing value is an empty cell.
"""

from __future__ import annotations

import csv
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from support.needs import java, package

Columns = Mapping[str, Any]

_numbers = itertools.count()


def arrow(columns: Columns) -> Any:
    """Return the columns as an Arrow table, which the others are made of, so that all hold the same values."""
    pa = package("pyarrow")
    # Not from pandas: a NaN stays a NaN, and only None is missing.
    return pa.table({name: _column(pa, values) for name, values in columns.items()})


def pandas_frame(columns: Columns, folder: Path) -> Any:
    package("pandas")
    return arrow(columns).to_pandas()


def polars_eager(columns: Columns, folder: Path) -> Any:
    return package("polars").from_arrow(arrow(columns))


def polars_lazy(columns: Columns, folder: Path) -> Any:
    return polars_eager(columns, folder).lazy()


def arrow_table(columns: Columns, folder: Path) -> Any:
    return arrow(columns)


def duckdb_relation(columns: Columns, folder: Path) -> Any:
    return package("duckdb").connect().from_arrow(arrow(columns))


def spark_frame(columns: Columns, folder: Path) -> Any:
    return spark_session().createDataFrame(arrow(columns))


def parquet_file(columns: Columns, folder: Path) -> Path:
    path = folder / f"rows-{next(_numbers)}.parquet"
    package("pyarrow.parquet").write_table(arrow(columns), path)
    return path


def parquet_glob(columns: Columns, folder: Path) -> str:
    """Write the rows to three files; the glob comes as text, as users type it."""
    parts = folder / f"parts-{next(_numbers)}"
    parts.mkdir()
    table = arrow(columns)
    third = -(-table.num_rows // 3)
    for number in range(3):
        package("pyarrow.parquet").write_table(table.slice(number * third, third), parts / f"{number}.parquet")
    return str(parts / "*.parquet")


def csv_file(columns: Columns, folder: Path) -> Path:
    path = folder / f"rows-{next(_numbers)}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*arrow(columns).to_pydict().values(), strict=True))
    return path


CONSTRUCTORS: dict[str, Callable[[Columns, Path], Any]] = {
    "pandas": pandas_frame,
    "polars": polars_eager,
    "polars-lazy": polars_lazy,
    "pyarrow": arrow_table,
    "duckdb": duckdb_relation,
    "spark": spark_frame,
    "parquet": parquet_file,
    "parquet-glob": parquet_glob,
    "csv": csv_file,
}

NAMES = list(CONSTRUCTORS)


def make(name: str, columns: Columns, folder: Path) -> Any:
    """Return the columns as the engine of that name holds them; files go below ``folder``."""
    return CONSTRUCTORS[name](columns, folder)


@dataclass(frozen=True)
class Backend:
    """One engine in a test: call it with columns to get its native frame, path or glob."""

    name: str
    folder: Path

    def __call__(self, columns: Columns) -> Any:
        return make(self.name, columns, self.folder)

    @property
    def is_text(self) -> bool:
        """Whether columns lose their type, so that groups are read back as text."""
        return self.name == "csv"

    @property
    def has_missing_numbers(self) -> bool:
        """Whether a missing number differs from NaN."""
        return self.name != "pandas"


@cache
def spark_session() -> Any:
    """Return the one local Spark session of a run of tests; skips where Spark cannot run."""
    java()
    sql = package("pyspark.sql", "spark")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # A session of tests ends before compiled code would pay for itself.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    # Without it Spark looks for a network card to speak through.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Else its workers are the machine's python3, which knows no pyarrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").appName("xorder-tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        # PySpark warns of pandas releases that it has not been tried with.
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


def rows_of(frame: Any) -> dict[str, list[Any]]:
    """Return all rows of any frame made here as lists, in its order; of a file, those of the file."""
    if isinstance(frame, str | Path):
        duckdb = package("duckdb")
        path = str(frame).replace("'", "''")
        reader = f"read_csv('{path}', all_varchar = true)" if path.endswith((".csv", ".csv.gz")) else f"'{path}'"
        with duckdb.connect() as connection:
            return connection.sql(f"SELECT * FROM {reader}").to_arrow_table().to_pydict()
    kind = f"{type(frame).__module__}.{type(frame).__name__}"
    if kind.startswith("pandas."):
        return {name: frame[name].tolist() for name in frame.columns}
    if kind.startswith("polars."):
        frame = frame.collect() if hasattr(frame, "collect") else frame
        return frame.to_dict(as_series=False)
    if kind.startswith("pyarrow."):
        return frame.to_pydict()
    if kind.startswith("pyspark."):
        return frame.toArrow().to_pydict()
    return frame.to_arrow_table().to_pydict()


def _column(pa: Any, values: Any) -> Any:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
