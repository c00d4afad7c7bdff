"""Timing two things in one run: best of several, taken in turns, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import xorder


def best_seconds(tasks: dict[str, Callable[[], Any]], *, rounds: int = 3) -> dict[str, float]:
    """Run the tasks in turns and return the best time of each; the first round only warms up."""
    return {name: times["wall"] for name, times in best_times(tasks, rounds=rounds).items()}


def best_times(tasks: dict[str, Callable[[], Any]], *, rounds: int = 3) -> dict[str, dict[str, float]]:
    """Do the same; return the best by the wall clock and of processor time, which depends less on other processes."""
    clocks = {"wall": time.perf_counter, "processor": time.process_time}
    best = {name: dict.fromkeys(clocks, float("inf")) for name in tasks}
    for turn in range(rounds + 1):
        for name, task in tasks.items():
            starts = {clock: read() for clock, read in clocks.items()}
            task()
            for clock, read in clocks.items():
                if turn:
                    best[name][clock] = min(best[name][clock], read() - starts[clock])
    return best


def people(rows: int, *, dtype: type = np.float64, seed: int = 0) -> tuple[Any, Any, Any]:
    """Scores, labels and groups (30 % in the second) of a population whose score reads the second group too low."""
    rng = np.random.default_rng(seed)
    group = (rng.random(rows, dtype=np.float32) < 0.3).astype(np.int8)
    risk = rng.standard_normal(rows, dtype=np.float32) * 1.5 - 1 - 0.5 * group
    label = (rng.random(rows, dtype=np.float32) < 1 / (1 + np.exp(-risk))).astype(np.int8)
    seen = risk.astype(dtype) - 0.4 * group + 0.5 * rng.standard_normal(rows, dtype=dtype)
    return (1 / (1 + np.exp(-seen))).astype(dtype), label, group


def peak_bytes() -> int:
    """Largest memory of this process so far; unlike getrusage it does not count the process that started it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def report(results: dict[str, Any]) -> None:
    """Print results as JSON, with what they were measured on."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__}
    print(json.dumps({"xorder": xorder.__version__, **versions, **results}, indent=2))
