"""How do audit, compare, fit and apply grow with rows, groups and distinct scores, in memory and in files?

``measure`` runs each task at rising sizes, in turns with a unit (np.sort of the scores, a GROUP BY of DuckDB), and
keeps processor seconds in a result file as they come, so that it goes on where it stopped; ``page`` makes the tables of
docs/benchmarks.md from that file alone. The exponent is the slope of log seconds over log size, fitted to the three
largest sizes: 1 is linear.
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
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xorder
from bench_engines import COLUMNS, apply, audit, copy, fit, group_by, learn_maps, write_files
from measure import peak_bytes, people
from xorder.exceptions import InputError, XorderWarning

HERE = Path(__file__).parent
RESULTS = HERE.parent / "experiments" / "results" / "growth.json"
PAGE = HERE.parent / "docs" / "benchmarks.md"
START, END = "<!-- growth: made by benchmarks/growth.py page -->\n", "<!-- end of growth -->\n"

Tasks = dict[str, Callable[[], Any]]


def in_memory(rows: int, groups: int = 2, distinct: int | None = None) -> Tasks:
    """Tasks on arrays, the unit first."""
    score, label, group = people(rows)
    rng = np.random.default_rng(1)
    if groups > 2:
        group = rng.integers(0, groups, rows, dtype=np.int8)
    if distinct is not None:
        score = np.floor(score * distinct) / distinct
    other, single, person = people(rows, seed=1)[0], score.astype(np.float32), rng.integers(0, rows // 4 + 1, rows)

    @cache
    def repair() -> xorder.XOrder:
        return xorder.XOrder().fit(score, label, sensitive_features=group)

    return {
        "np.sort": lambda: np.sort(score),
        "audit": lambda: xorder.audit(label, score, sensitive_features=group).to_dict(),
        "audit, float32": lambda: xorder.audit(label, single, sensitive_features=group).to_dict(),
        "audit, clusters": lambda: xorder.audit(label, score, sensitive_features=group, clusters=person).to_dict(),
        "compare": lambda: xorder.compare(label, score, other, sensitive_features=group).to_dict(),
        "fit": lambda: xorder.XOrder().fit(score, label, sensitive_features=group),
        # Fitted in the first round, which does not count.
        "transform": lambda: repair().transform(score, sensitive_features=group),
    }


def in_parquet(rows: int, folder: Path) -> Tasks:
    """Tasks on parquet files, the unit first."""
    folder = folder / f"parquet-{rows}"
    folder.mkdir(exist_ok=True)
    write_files(folder, rows)
    files = str(folder / "*.parquet")
    learn_maps(files)
    return {
        "GROUP BY": lambda: group_by(files),
        "audit": lambda: audit(files),
        "fit": lambda: fit(files),
        "COPY": lambda: copy(files),
        "apply": lambda: apply(files),
    }


def in_csv(rows: int, folder: Path) -> Tasks:
    """Tasks on one csv file, the unit first."""
    import duckdb

    path = folder / f"rows-{rows}.csv"
    if not path.exists():
        score, label, group = people(rows, dtype=np.float32)
        with duckdb.connect() as connection:
            made = {"score": score, "label": label, "grp": np.array(["A", "B"], dtype=object)[group]}
            connection.register("made", made)
            connection.execute(f"COPY (SELECT * FROM made) TO '{path}' (HEADER)")

    def scan() -> None:
        with duckdb.connect(config={"memory_limit": "2GB"}) as connection:
            connection.sql(f"SELECT grp, label, count(*), avg(score) FROM '{path}' GROUP BY grp, label").fetchall()

    return {"GROUP BY": scan, "audit": lambda: xorder.audit_frame(path, **COLUMNS)}


class Series(NamedTuple):
    """What is varied, over which sizes, the tasks that are measured, and how tasks at a size are made."""

    varied: str
    sizes: tuple[int, ...]
    tasks: tuple[str, ...]
    make: Callable[[int, Path], Tasks]


OF_ARRAYS = ("audit", "audit, float32", "audit, clusters", "compare", "fit", "transform")

SERIES = {
    "rows in memory": Series("rows", (10**4, 10**5, 10**6, 10**7), OF_ARRAYS, lambda size, _: in_memory(size)),
    "groups, a million rows": Series(
        "groups", (2, 5, 10, 20, 50), OF_ARRAYS, lambda size, _: in_memory(10**6, groups=size)
    ),
    "distinct scores, ten million rows": Series(
        "distinct scores",
        (1, 10, 10**3, 10**5, 10**7),
        ("audit", "compare", "fit"),
        lambda size, _: in_memory(10**7, distinct=size),
    ),
    "rows in parquet files": Series(
        "rows", (10**4, 10**5, 10**6, 10**7, 10**8, 10**9), ("audit", "fit", "apply"), in_parquet
    ),
    "rows in a csv file": Series("rows", (10**4, 10**5, 10**6, 10**7, 7 * 10**7), ("audit",), in_csv),
}


def point(series: str, size: int, task: str, folder: Path, rounds: int) -> None:
    """Print the best processor seconds of a task and its unit, taken in turns, and the peak of memory.

    What xorder refuses, such as clusters of very many groups, is told in its words.
    """
    warnings.simplefilter("ignore", XorderWarning)
    tasks = SERIES[series].make(size, folder)
    unit = "COPY" if task == "apply" else next(iter(tasks))
    best = dict.fromkeys((unit, task), (np.inf, np.inf))
    for turn in range(rounds + 1):
        for name in best:
            start, cpu = time.perf_counter(), time.process_time()
            try:
                tasks[name]()
            except InputError as refusal:
                print(json.dumps({"refused": str(refusal)}))
                return
            if turn or rounds == 1:
                found = time.process_time() - cpu, time.perf_counter() - start
                best[name] = min(best[name], found)
    seconds, unit_seconds = best[task][0], best[unit][0]
    print(json.dumps({"seconds": seconds, "unit": unit_seconds, "clock": best[task][1], "bytes": peak_bytes()}))


def measure(options: argparse.Namespace) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    temporary = tempfile.TemporaryDirectory(prefix="xorder-growth-")
    with temporary if options.folder is None else nullcontext(options.folder) as folder:
        wanted = [
            (series, size, task)
            for series, (_, sizes, tasks, _) in SERIES.items()
            if not options.series or series in options.series
            for size in sizes
            if size <= options.largest
            for task in tasks
            if f"{series}|{task}|{size}" not in kept
        ]
        for series, size, task in wanted:
            command = [sys.executable, __file__, "point", "--series", series, "--size", str(size), "--task", task]
            command += ["--folder", folder, "--rounds", str(options.rounds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            kept[f"{series}|{task}|{size}"] = json.loads(done.stdout)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
            print(series, size, task, kept[f"{series}|{task}|{size}"], flush=True)


def page() -> None:
    """Write the tables into the page."""
    kept, lines = json.loads(RESULTS.read_text()), []
    for series, (varied, sizes, *_) in SERIES.items():
        found = {size: {} for size in sizes}
        for key, value in kept.items():
            name, task, size = key.split("|")
            if name == series:
                found[int(size)][task] = value
        found = {size: by_task for size, by_task in found.items() if by_task}
        if not found:
            continue
        tasks = list(dict.fromkeys(task for by_task in found.values() for task in by_task))
        lines += [f"**{series[0].upper()}{series[1:]}**: processor seconds (times the unit)\n"]
        lines += [f"| {varied} | {' | '.join(tasks)} | peak memory |", "|---" * (len(tasks) + 2) + "|"]
        for size, by_task in found.items():
            cells = [_cell(by_task.get(task)) for task in tasks]
            peak = max(value.get("bytes", 0) for value in by_task.values()) / 2**30
            lines.append(f"| {size:,} | {' | '.join(cells)} | {peak:.2f} GiB |")
        slopes = [f"{_exponent(found, task):.2f}" for task in tasks]
        lines += [f"| exponent | {' | '.join(slopes)} | |", ""]
    text = PAGE.read_text()
    before, rest = text.split(START)
    PAGE.write_text(before + START + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])


def _cell(found: dict[str, Any] | None) -> str:
    if found is None or "refused" in found:
        return "" if found is None else "refused"
    ratio = found["seconds"] / found["unit"]
    return f"{found['seconds']:.3g} ({ratio:,.{0 if ratio >= 10 else 1}f})"


def _exponent(found: dict[int, dict[str, Any]], task: str) -> float:
    last = [(size, of["seconds"]) for size, by_task in found.items() if "seconds" in (of := by_task.get(task, {}))][-3:]
    size, seconds = np.log(np.array(last).T)
    return float(np.polyfit(size, seconds, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "page", "point"))
    parser.add_argument("--series", nargs="+", choices=SERIES)
    parser.add_argument("--largest", type=int, default=10**8, help="largest size (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where files are generated and kept (default: a temporary folder)")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "page":
        page()
    elif options.what == "point":
        point(options.series[0], options.size, options.task, Path(options.folder), options.rounds)
    else:
        measure(options)


if __name__ == "__main__":
    main()
