"""How fast is a map applied in each engine, and how does adjusting a parquet file compare with copying it by DuckDB?

Wanted for files: at most 4 times a plain ``COPY (SELECT * FROM file) TO file``. In each engine the unit is the time of
the same engine adding a column ``2 * score + 1``. Seconds of processor time are given too, as they depend less on what
else the machine does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from measure import peak_bytes, people, report
from xorder import ScoreMap, XOrder
from xorder.engines import GroupMaps, apply_to_file, apply_to_frame
from xorder.transfer import read_maps, write_maps

NAMES = {"score": "score", "group": "grp"}


def seconds(task: Callable[[], Any], rounds: int = 2) -> tuple[float, float]:
    """Best wall-clock and processor seconds of some rounds."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        task()
        best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
    return best[0], best[1]


def fitted_maps(method: str, tolerance: float | None) -> dict[str, ScoreMap]:
    """Maps as two million people teach them."""
    score, label, group = people(2_000_000, seed=1)
    repair = XOrder(method=method, do_no_harm=False).fit(score, label, sensitive_features=group)
    maps = {"AB"[group]: learnt for group, learnt in repair.maps_.items()}
    return maps if tolerance is None else {group: learnt.compressed(tolerance) for group, learnt in maps.items()}


def engines(
    path: Path, folder: Path, with_spark: bool
) -> dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]]:
    """Per engine: its rows, how to add a plain column, and how to compute what is lazy."""
    import duckdb
    import polars as pl
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    plain = lambda frame: frame.with_columns((pl.col("score").cast(pl.Float64) * 2 + 1).alias("plain"))  # noqa: E731
    connection = duckdb.connect()
    found: dict[str, Any] = {
        "pandas": (table.to_pandas(), lambda f: f.assign(plain=f["score"].astype(float) * 2 + 1), lambda f: f),
        "polars": (pl.from_arrow(table), plain, lambda f: f),
        "polars lazy": (pl.scan_parquet(path), plain, lambda f: f.collect(engine="streaming")),
        "pyarrow": (
            table,
            lambda f: f.append_column("plain", pc.add(pc.multiply(pc.cast(f["score"], "float64"), 2), 1)),
            lambda f: f,
        ),
        "duckdb": (
            connection.from_arrow(table),
            lambda f: f.project("*, CAST(score AS DOUBLE) * 2 + 1 AS plain"),
            lambda f: f.to_arrow_table(),
        ),
    }
    if with_spark:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        found["spark"] = (
            session.read.parquet(str(path)),
            lambda f: f.selectExpr("*", "CAST(score AS DOUBLE) * 2 + 1 AS plain"),
            lambda f: f.write.mode("overwrite").format("noop").save(),
        )
    return found


def peak_of(source: Path, maps: Path) -> float:
    """GiB at most, of a process of its own that adjusts the file and does nothing else."""
    command = [sys.executable, __file__, "--memory-of", str(source), str(maps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--spark", action="store_true", help="measure Spark too, on two cores of this machine")
    parser.add_argument("--files-only", action="store_true")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        source, stored = options.memory_of
        maps = GroupMaps(read_maps(stored)[0])
        apply_to_file(maps, source, Path(source).with_name("out.parquet"), overwrite=True, **NAMES)
        print(peak_bytes() / 2**30)
        return
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    results: dict[str, Any] = {"rows": options.rows}
    kinds = {
        "frontier, all knots": fitted_maps("frontier", None),
        "frontier, 1e-9": fitted_maps("frontier", 1e-9),
        "frontier, 1e-5": fitted_maps("frontier", 1e-5),
    }
    for name, maps in kinds.items():
        results[f"knots of {name}"] = sum(learnt.raw.size for learnt in maps.values())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "rows.parquet"
        score, label, group = people(options.rows, dtype=np.float32)
        groups = pa.DictionaryArray.from_arrays(pa.array(group), pa.array(["A", "B"])).cast(pa.string())
        pq.write_table(pa.table({"id": np.arange(options.rows), "score": score, "label": label, "grp": groups}), source)
        del score, label, group, groups
        connection = duckdb.connect(config={"memory_limit": "2GB"})
        copy = f"COPY (SELECT * FROM '{source}') TO '{folder / 'copy.parquet'}' (FORMAT parquet)"
        wall, cpu = seconds(lambda: connection.execute(copy))
        files = {"DuckDB copy": {"seconds": wall, "processor": cpu}}
        for kind, maps in kinds.items():
            task = partial(apply_to_file, GroupMaps(maps), source, folder / "out.parquet", overwrite=True, **NAMES)
            own, own_cpu = seconds(task)
            files[f"apply_to_file, {kind}"] = {
                "seconds": own,
                "processor": own_cpu,
                "/ copy (wanted <= 4)": own / wall,
                "processor / copy": own_cpu / cpu,
            }
        write_maps(folder / "maps.json", kinds["frontier, 1e-9"], params={}, summary={})
        files["apply_to_file, blocks, 1e-9"]["peak GiB, memory='2GB'"] = peak_of(source, folder / "maps.json")
        results["files"] = files
        connection.close()
        if not options.files_only:
            table = {}
            for engine, (rows, plain, compute) in engines(source, folder, options.spark).items():
                base = seconds(lambda rows=rows, plain=plain, compute=compute: compute(plain(rows)))
                table[engine] = {"plain column": {"seconds": base[0], "processor": base[1]}}
                for kind, maps in kinds.items():
                    adjust = partial(apply_to_frame, GroupMaps(maps), rows, **NAMES)
                    own = seconds(lambda adjust=adjust, compute=compute: compute(adjust()))
                    table[engine][kind] = {
                        "seconds": own[0],
                        "processor": own[1],
                        "million rows a second": options.rows / own[0] / 1e6,
                    }
            results["frames"] = table
    report(results)


if __name__ == "__main__":
    main()
