"""How fast is a MIMIC-III cohort built, against DuckDB merely scanning the same file, and in how much memory?

The open demo is copied, each copy with patients, admissions and stays of its own, until CHARTEVENTS has at least 30
million rows (a tenth of the full release). Building and scanning run in turns, each in a process of its own.

    python benchmarks/bench_mimic3.py [FOLDER] [--copies 40] [--gzip] [--memory 2GB]

The demo is looked for in ``XORDER_DATA/mimic3_demo`` and in ``shared/data/mimic3_demo`` beside the checkout; where it
is in neither, nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import peak_bytes, report

SHIFTS = {"subject_id": 100_000, "hadm_id": 1_000_000, "icustay_id": 1_000_000}
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
PATIENT_TABLES = ("PATIENTS", "ADMISSIONS", "ICUSTAYS", "DIAGNOSES_ICD", "CHARTEVENTS", "LABEVENTS")


def places() -> list[Path]:
    """Folders of data that may have the demo."""
    named = os.environ.get("XORDER_DATA")
    return [*([Path(named).expanduser()] if named else []), BESIDE]


def replicate(demo: Path, folder: Path, copies: int, *, compress: bool) -> None:
    """Write ``copies`` of each table of patients below ``folder``; the dictionary of codes as it is."""
    import duckdb

    shutil.copy(demo / "D_ICD_DIAGNOSES.csv.gz", folder)
    database = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(folder / "spill")})
    database.execute("SET preserve_insertion_order = false")
    for name in PATIENT_TABLES:
        source = f"read_csv('{demo / name}.csv.gz', all_varchar=true, header=true, quote='\"', escape='\"')"
        database.execute(f"CREATE OR REPLACE TABLE source AS SELECT * FROM {source}")
        columns = [row[0] for row in database.execute("DESCRIBE source").fetchall()]
        shifted = [f"{c}::INTEGER + {SHIFTS[c]} * copy AS {c}" if c in SHIFTS else c for c in columns]
        target = folder / f"{name}.csv{'.gz' if compress and name.endswith('EVENTS') else ''}"
        database.execute(
            f"COPY (SELECT {', '.join(shifted)} FROM range({copies}) AS copies(copy), source) TO '{target}' (HEADER)"
        )
    database.close()


def build(folder: Path, memory: str) -> dict[str, float]:
    from xorder.datasets import build_mimic3

    summary = build_mimic3(folder, folder / "cohort.parquet", memory=memory, spill=folder, overwrite=True)
    return {"stays": summary.with_readings, "readings": summary.readings}


def scan(folder: Path, memory: str) -> dict[str, float]:
    import duckdb

    path = next(folder.glob("CHARTEVENTS.csv*"))
    source = f"read_csv('{path}', header=true, quote='\"', escape='\"', all_varchar=true)"
    database = duckdb.connect(config={"memory_limit": memory})
    rows, total = database.execute(f"SELECT count(*), sum(valuenum::DOUBLE) FROM {source}").fetchall()[0]
    return {"rows": rows, "sum": total}


def child(task: str, folder: Path, memory: str) -> dict[str, float]:
    """Run a task in a process of its own; return what it found, its time and its peak of memory."""
    command = [sys.executable, __file__, str(folder), "--task", task, "--memory", memory]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def run_task(task: str, folder: Path, memory: str) -> None:
    start = time.perf_counter()
    found = {"build": build, "scan": scan}[task](folder, memory)
    print(json.dumps({**found, "seconds": time.perf_counter() - start, "peak_bytes": peak_bytes()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="the open demo of MIMIC-III")
    parser.add_argument("--copies", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--gzip", action="store_true", help="write the event tables as csv.gz")
    parser.add_argument("--task", choices=["build", "scan"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(options.task, options.folder, options.memory)
        return
    if options.folder is None:
        options.folder = next((home / "mimic3_demo" for home in places() if (home / "mimic3_demo").is_dir()), None)
        if options.folder is None:
            print(f"skipped: there is no folder mimic3_demo in {' or '.join(map(str, places()))}")
            return
    elif not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    with tempfile.TemporaryDirectory(prefix="xorder-bench-") as name:
        folder = Path(name)
        replicate(options.folder, folder, options.copies, compress=options.gzip)
        size = next(folder.glob("CHARTEVENTS.csv*")).stat().st_size
        runs = [
            (child("scan", folder, options.memory), child("build", folder, options.memory))
            for _ in range(options.rounds)
        ]
        scans, builds = zip(*runs, strict=True)
        left = sorted(path.name for path in folder.iterdir() if "spill-" in path.name or ".part" in path.name)
    scan_seconds, build_seconds = (min(run["seconds"] for run in side) for side in (scans, builds))
    rows = scans[0]["rows"]
    report(
        {
            "chart_rows": rows,
            "chart_bytes": size,
            "gzip": options.gzip,
            "memory": options.memory,
            "stays": builds[0]["stays"],
            "readings": builds[0]["readings"],
            "scan_seconds": round(scan_seconds, 2),
            "build_seconds": round(build_seconds, 2),
            "build_over_scan": round(build_seconds / scan_seconds, 2),
            "build_rows_per_second": round(rows / build_seconds),
            "scan_rows_per_second": round(rows / scan_seconds),
            "build_peak_gib": round(max(run["peak_bytes"] for run in builds) / 2**30, 2),
            "scan_peak_gib": round(max(run["peak_bytes"] for run in scans) / 2**30, 2),
            "left_behind": left,
        }
    )


if __name__ == "__main__":
    main()
