"""How long does an audit with intervals take, and how much memory, against one call of roc_auc_score?

Wanted at 10 million rows, two groups: at most 0.5 times the time, at most 150 bytes a row above the input arrays.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import xorder
from measure import best_seconds, peak_bytes, people, report


def peak_bytes_a_row(rows: tuple[Any, Any, Any]) -> float:
    """Peak above the inputs, in a process of its own that loads them from a file and does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, *rows)
        command = [sys.executable, __file__, "--memory-of", str(path)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(path: str) -> float:
    with np.load(path) as stored:
        score, label, group = (stored[name] for name in stored.files)
    # Few rows first, so that all code is loaded before the peak is noted.
    xorder.audit(label[:1000], score[:1000], sensitive_features=group[:1000])
    before = peak_bytes()
    xorder.audit(label, score, sensitive_features=group)
    return (peak_bytes() - before) / score.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print(measure_memory(options.memory_of))
        return
    score, label, group = people(options.rows)
    seconds = best_seconds(
        {
            "roc_auc_score": lambda: roc_auc_score(label, score),
            "audit": lambda: xorder.audit(label, score, sensitive_features=group),
        }
    )
    report(
        {
            "rows": options.rows,
            "seconds": seconds,
            "audit / roc_auc_score (wanted <= 0.5)": seconds["audit"] / seconds["roc_auc_score"],
            "peak bytes a row (wanted <= 150)": peak_bytes_a_row((score, label, group)),
        }
    )


if __name__ == "__main__":
    main()
