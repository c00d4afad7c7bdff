"""How long do audit, fit and apply take on parquet files, and how much memory, against plain queries of DuckDB?

Both read the same generated files (float32 score, label, group) in one run, each in a process of its own, in turns.
Wanted at the largest size: tables, and tables with the audit or the fit that follows, in at most 4 times the time of
``SELECT grp, label, count(*), avg(score) ... GROUP BY grp, label``; adjusting in at most 4 times the time of copying
the files to one; all in at most 4 GiB of memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measure import peak_bytes, people, report
from xorder import XOrder, audit_frame
from xorder.engines import GroupMaps, apply_to_file, tables_of
from xorder.transfer import read_maps, write_maps

MILLION = 1_000_000
FILE_ROWS = 5 * MILLION
WANTED_RATIO, WANTED_BYTES = 4.0, 4 << 30

COLUMNS = {"score": "score", "label": "label", "group": "grp"}


def group_by(files: str) -> None:
    import duckdb

    query = f"SELECT grp, label, count(*), avg(score) FROM read_parquet('{files}') GROUP BY grp, label"
    with duckdb.connect(config={"memory_limit": "2GB"}) as connection:
        connection.sql(query).fetchall()


def tables(files: str) -> dict[str, Any]:
    found = tables_of(files, **COLUMNS)
    return {
        "binning error": 0.0 if found.binning_error is None else found.binning_error.largest,
        "bins": len(next(iter(found.values()))),
    }


def audit(files: str) -> None:
    audit_frame(files, **COLUMNS)


def fit(files: str) -> None:
    XOrder().fit_frame(files, **COLUMNS)


def copy(files: str) -> None:
    import duckdb

    out = _written(files, "copy.parquet")
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(out.parent)}) as connection:
        connection.execute(f"COPY (SELECT * FROM read_parquet('{files}')) TO '{out}' (FORMAT parquet)")
    out.unlink()


def apply(files: str) -> None:
    out = _written(files, "adjusted.parquet")
    maps = GroupMaps(read_maps(_written(files, "maps.json"))[0])
    apply_to_file(maps, files, out, score="score", group="grp")
    out.unlink()


def learn_maps(files: str) -> None:
    """Write the maps that two million people teach."""
    score, label, group = people(2 * MILLION, dtype=np.float32, seed=10_000)
    repair = XOrder().fit(score, label, sensitive_features=np.array(["A", "B"])[group])
    write_maps(_written(files, "maps.json"), repair.maps_, params={}, summary={})


def _written(files: str, name: str) -> Path:
    folder = Path(files).parent / "out"
    folder.mkdir(exist_ok=True)
    return folder / name


TASKS: dict[str, Callable[[str], Any]] = {
    "group_by": group_by,
    "tables": tables,
    "audit": audit,
    "fit": fit,
    "copy": copy,
    "apply": apply,
}
UNITS = {"tables": "group_by", "audit": "group_by", "fit": "group_by", "apply": "copy"}


def write_files(folder: Path, rows: int) -> None:
    """Add files until there are ``rows`` rows in all; those of smaller sizes are part of larger ones."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    have = sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))
    while have < rows:
        size = min(FILE_ROWS, rows - have)
        number = len(list(folder.glob("*.parquet")))
        score, label, group = people(size, dtype=np.float32, seed=number)
        named = pa.DictionaryArray.from_arrays(group, ["A", "B"])
        pq.write_table(pa.table({"score": score, "label": label, "grp": named}), folder / f"{number:04}.parquet")
        have += size


def measured(task: str, files: str) -> dict[str, Any]:
    """Run a task in a process of its own, and return its seconds, its peak of memory and what it says."""
    command = [sys.executable, __file__, "--task", task, "--files", files]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def run(task: str, files: str) -> None:
    warnings.simplefilter("ignore")
    start, cpu = time.perf_counter(), time.process_time()
    said = TASKS[task](files)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "cpu": time.process_time() - cpu, "bytes": peak_bytes(), "said": said}))


def at_size(folder: Path, rows: int, rounds: int, tasks: list[str]) -> dict[str, Any]:
    write_files(folder, rows)
    files = str(folder / "*.parquet")
    # The first round only brings the files into the cache of the system.
    if "apply" in tasks:
        learn_maps(files)
    wanted = [task for task in TASKS if task in tasks or task in {UNITS[chosen] for chosen in tasks}]
    turns = [{task: measured(task, files) for task in wanted} for _ in range(rounds + 1)][1:]
    best = {task: min((turn[task] for turn in turns), key=lambda found: found["seconds"]) for task in turns[0]}
    return {
        "rows": rows,
        "seconds": {task: round(found["seconds"], 3) for task, found in best.items()},
        "ratio": {
            f"{task} / {UNITS[task]}": round(best[task]["seconds"] / best[UNITS[task]]["seconds"], 2) for task in tasks
        },
        # All cores together: on a machine that others use, it tells more than the clock.
        "processor seconds": {task: round(min(turn[task]["cpu"] for turn in turns), 3) for task in best},
        "peak GiB": {task: round(found["bytes"] / (1 << 30), 2) for task, found in best.items()},
        "said": best["tables"]["said"] if "tables" in best else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 10, 100, 200], help="rows, rising")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tasks", nargs="+", choices=list(UNITS), default=list(UNITS))
    parser.add_argument("--folder", help="where to generate the files (default: below the system's temporary folder)")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--files", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run(options.task, options.files)
        return
    with tempfile.TemporaryDirectory(prefix="xorder-bench-", dir=options.folder) as folder:
        sizes = [
            at_size(Path(folder), millions * MILLION, options.rounds, options.tasks)
            for millions in sorted(options.millions)
        ]
    last = sizes[-1]
    report(
        {
            "sizes": sizes,
            f"all within {WANTED_RATIO} times at the largest": max(last["ratio"].values()) <= WANTED_RATIO,
            "all within 4 GiB": max(last["peak GiB"].values()) * (1 << 30) <= WANTED_BYTES,
        }
    )


if __name__ == "__main__":
    main()
