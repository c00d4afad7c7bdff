"""How long does an audit with intervals take, and how much memory, against one call of roc_auc_score?

Wanted at 10 million rows, two groups: at most 0.5 times the time, at most 150 bytes a row above the input arrays.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

from sklearn.metrics import roc_auc_score

import xorder
from measure import best_seconds, people, report


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory_per_row(rows: int) -> float:
    """Peak above the inputs, in a process of its own; an audit of few rows first, so that all code is loaded."""
    command = [sys.executable, __file__, "--rows", str(rows), "--memory-only"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory-only", action="store_true")
    options = parser.parse_args()
    score, label, group = people(options.rows)
    if options.memory_only:
        xorder.audit(label[:1000], score[:1000], sensitive_features=group[:1000])
        # Making the inputs has used more memory than they take; fill that up before it is measured.
        before = peak_bytes()
        ballast = bytearray(max(before - current_bytes(), 0))
        xorder.audit(label, score, sensitive_features=group)
        print((peak_bytes() - before) / options.rows, len(ballast) * 0)
        return
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
            "peak bytes a row (wanted <= 150)": memory_per_row(options.rows),
        }
    )


def current_bytes() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
