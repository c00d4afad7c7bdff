"""How much longer than importing NumPy does a command take that does little: a line of help, 4,000 rows of csv?

Processor time of fresh processes, compiled modules being there as after an installation, in turns, the best of five
each, over that of ``python -c "import numpy"``. ``limits`` are what each should stay below.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROUNDS = 5
ROWS = 4000

COLUMNS = ["--score", "score", "--group", "group"]
LABELLED = [*COLUMNS, "--label", "outcome"]

# What is timed, as arguments of Python, and how many times as long as importing NumPy it may take.
XORDER = ["-m", "xorder"]
TIMED: dict[str, tuple[list[str], float | None]] = {
    "import numpy": (["-c", "import numpy"], None),
    "import xorder": (["-c", "import xorder"], 3),
    "import all names": (["-c", "from xorder import *"], None),
    "xorder --version": ([*XORDER, "--version"], 2),
    "xorder --help": ([*XORDER, "--help"], 2),
    "xorder --wrong": ([*XORDER, "--wrong"], 2),
    "xorder audit --help": ([*XORDER, "audit", "--help"], 2),
    "xorder audit --wrong": ([*XORDER, "audit", "people.csv", *LABELLED, "--wrong"], 2),
    "xorder fit --wrong": ([*XORDER, "fit", "people.csv", *LABELLED, "--wrong"], 2),
    "xorder apply --wrong": ([*XORDER, "apply", "people.csv", *COLUMNS, "--wrong"], 2),
    "xorder report --wrong": ([*XORDER, "report", "people.csv", *LABELLED, "--wrong"], 2),
    "xorder audit": ([*XORDER, "audit", "people.csv", *LABELLED], 5),
    "xorder fit": ([*XORDER, "fit", "people.csv", *LABELLED, "-o", "map.json", "--force"], 8),
    "xorder apply": (
        [*XORDER, "apply", "people.csv", *COLUMNS, "--map", "map.json", "-o", "out.csv", "--force"],
        5,
    ),
    "xorder report --json": ([*XORDER, "report", "people.csv", *LABELLED, "--json"], None),
    "xorder report": ([*XORDER, "report", "people.csv", *LABELLED, "-o", "page.html", "--force"], 12),
}


def write_people(folder: Path) -> None:
    """Write the rows, by a process of its own."""
    code = (
        "import xorder; people = xorder.datasets.simulate_population(%d, random_state=0)\n"
        "print('score,outcome,group')\n"
        "for row in zip(people.y_score.tolist(), people.y_true, people.group): print(*row, sep=',')"
    )
    run = subprocess.run([sys.executable, "-c", code % ROWS], capture_output=True, text=True, check=True)
    (folder / "people.csv").write_text(run.stdout)


def seconds(arguments: list[str], folder: Path, environment: dict[str, str]) -> float:
    """Return the processor time of a process, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != (2 if "--wrong" in arguments else 0):
        raise SystemExit(f"{' '.join(arguments)}: {run.stderr.decode()}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    taken: dict[str, list[float]] = {name: [] for name in TIMED}
    with tempfile.TemporaryDirectory() as folder:
        write_people(Path(folder))
        # The first round compiles what is not compiled yet.
        for turn in range(ROUNDS + 1):
            for name, (arguments, _) in TIMED.items():
                passed = seconds(arguments, Path(folder), environment)
                if turn:
                    taken[name].append(passed)
    best = {name: min(all_taken) for name, all_taken in taken.items()}
    results = {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("numpy", "scipy")},
        "seconds of import numpy": round(best["import numpy"], 3),
        "ratios": {name: round(best[name] / best["import numpy"], 2) for name in TIMED},
        "limits": {name: limit for name, (_, limit) in TIMED.items() if limit is not None},
    }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
