"""How long do audits, comparisons and repairs of arrays take, and how much memory an audit, against one roc_auc_score?

Wanted at 10 million rows, two groups, wall and processor time: an audit with all intervals and cuts at most 0.3 times
as long, 0.2 with scores in single precision, and 12 and 6 times np.sort of the scores; 1.5 times that with ten groups;
all its tables (the sheet: rates at cuts, calibration, net benefit, scores) together with it 0.6;
a comparison of two scores 0.5; a default fit 0.4; its transform 0.08. With clusters, five rows each in any order, an
audit takes at most 2.5 times as long and 2.5 times the memory: of numbers, of numbers far apart, and of text. An audit
takes at most 45 bytes a row above the input arrays. --rows 1000000 prints the same of a million.

On a Zen 4, np.sort is up to six times slower with AVX-512 than without it, and tables are as slow to build as to sort;
NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL" shows what other processors do.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import xorder
from measure import best_times, peak_bytes, people, report
from xorder._parameters import TABLES
from xorder.exceptions import XorderWarning

# Task -> what its time is divided by, and the ratio that is wanted.
WANTED = {
    "audit": {"roc_auc_score": 0.3, "np.sort": 12},
    "audit, float32": {"roc_auc_score, float32": 0.2, "np.sort, float32": 6},
    "audit, ten groups": {"audit": 1.5},
    "sheet": {"roc_auc_score": 0.6},
    "compare": {"roc_auc_score": 0.5},
    "audit, clusters": {"audit": 2.5},
    "audit, clusters far apart": {"audit": 2.5},
    "audit, clusters of text": {"audit": 2.5},
    "fit": {"roc_auc_score": 0.4},
    "fit, ten groups": {"fit": 1.5},
    "transform": {"roc_auc_score": 0.08},
}


def peak_bytes_a_row(rows: tuple[Any, ...]) -> float:
    """Peak above the inputs, in a process of its own that loads them from a file and does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, *rows)
        command = [sys.executable, __file__, "--memory-of", str(path)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(path: str) -> float:
    with np.load(path) as stored:
        score, label, group, *rest = (stored[name] for name in stored.files)
    names = ("y_score", "y_true", "sensitive_features", "clusters")
    columns = dict(zip(names, (score, label, group, *rest), strict=False))
    # Few rows first, so that all code is loaded before the peak is noted.
    xorder.audit(**{name: column[:1000] for name, column in columns.items()}).to_dict()
    before = peak_bytes()
    xorder.audit(**columns).to_dict()
    return (peak_bytes() - before) / score.size


def sheet(label: Any, score: Any, group: Any) -> None:
    """Audit, and make all tables that need no repair."""
    found = xorder.audit(label, score, sensitive_features=group)
    for name in TABLES:
        if name != "moves":
            found.table(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--tasks", nargs="+", choices=WANTED, default=list(WANTED), help="what to measure, and its units"
    )
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print(measure_memory(options.memory_of))
        return
    score, label, group = people(options.rows)
    single, other = score.astype(np.float32), people(options.rows, seed=1)[0]
    ten = 5 * group + np.random.default_rng(1).integers(0, 5, options.rows, dtype=np.int8)
    cluster = np.random.default_rng(2).integers(0, options.rows // 5, options.rows)
    clusters = {
        "clusters": cluster,
        "clusters far apart": cluster * 1_000_003,
        "clusters of text": np.char.add("P", cluster.astype(str)) if "audit, clusters of text" in options.tasks else [],
    }
    # Of ten groups, some differ by chance alone, and every such fit says so.
    warnings.simplefilter("ignore", XorderWarning)
    repair = xorder.XOrder().fit(score, label, sensitive_features=group)
    tasks = {
        "roc_auc_score": lambda: roc_auc_score(label, score),
        "roc_auc_score, float32": lambda: roc_auc_score(label, single),
        "np.sort": lambda: np.sort(score),
        "np.sort, float32": lambda: np.sort(single),
        # Cuts are worked out when they are asked for.
        "audit": lambda: xorder.audit(label, score, sensitive_features=group).to_dict(),
        "audit, float32": lambda: xorder.audit(label, single, sensitive_features=group).to_dict(),
        "audit, ten groups": lambda: xorder.audit(label, score, sensitive_features=ten).to_dict(),
        **{
            f"audit, {name}": lambda each=each: xorder.audit(
                label, score, sensitive_features=group, clusters=each
            ).to_dict()
            for name, each in clusters.items()
        },
        "sheet": lambda: sheet(label, score, group),
        "compare": lambda: xorder.compare(label, score, other, sensitive_features=group),
        "fit": lambda: xorder.XOrder().fit(score, label, sensitive_features=group),
        "fit, ten groups": lambda: xorder.XOrder().fit(score, label, sensitive_features=ten),
        "transform": lambda: repair.transform(score, sensitive_features=group),
    }
    wanted = {task: WANTED[task] for task in options.tasks}
    needed = {*wanted, *(unit for units in wanted.values() for unit in units)}
    times = best_times({name: task for name, task in tasks.items() if name in needed}, rounds=options.rounds)
    ratios = {
        f"{task} / {unit} (wanted <= {limit:g})": {
            clock: times[task][clock] / times[unit][clock] for clock in ("wall", "processor")
        }
        for task, units in wanted.items()
        for unit, limit in units.items()
    }
    memory = {
        "peak bytes a row of an audit (wanted <= 45)": peak_bytes_a_row((score, label, group)),
        "with clusters (wanted <= 2.5 times)": peak_bytes_a_row((score, label, group, cluster)),
    }
    report({"rows": options.rows, "seconds": times, **ratios, **memory})


if __name__ == "__main__":
    main()
