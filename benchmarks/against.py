"""Is this checkout slower than another one, in the command line on few rows and in memory on many?

``python benchmarks/against.py OTHER`` runs ``xorder audit`` and ``xorder apply`` on a csv file of 4,000 rows, and the
audit and transform of a million rows in memory, by the source of both in turns, each time in a process of its own.
Printed is the least processor time, which depends less on what else runs than the clock, and the ratio of this checkout
to the other. Wanted after a change that should cost nothing: 1.05 or less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import people

HERE = Path(__file__).resolve().parent
COLUMNS = ["--score", "score", "--group", "group"]

# In memory: the least of three, after one that warms up; what is imported is not counted.
IN_MEMORY = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import xorder
from measure import best_times, people
score, label, group = people(1_000_000)
repair = xorder.XOrder().fit(score[:20_000], label[:20_000], sensitive_features=group[:20_000])
tasks = {{
    "audit": lambda: xorder.audit(label, score, sensitive_features=group),
    "transform": lambda: repair.transform(score, sensitive_features=group),
}}
for name, times in best_times(tasks).items():
    print(name, times["processor"])
"""


def ran(checkout: Path, folder: Path, *words: str) -> tuple[float, str]:
    """Run Python on the source of a checkout; return its processor time, and what it printed."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(after[:2]) - sum(before[:2]), done.stdout


def main() -> None:
    """Print the seconds of both checkouts and their ratio for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="Folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=9, help="Runs of each (default 9)")
    options = parser.parse_args()
    sides = {"this": HERE.parent, "other": options.other.resolve()}
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.csv")
        lines = [",".join(map(str, row)) for row in zip(*people(4_000), strict=True)]
        rows.write_text("\n".join(["score,outcome,group", *lines]))
        audit = ["audit", str(rows), *COLUMNS, "--label", "outcome"]
        apply = ["apply", str(rows), *COLUMNS, "--map", "map.json", "-o", "out.csv", "--force"]
        for turn in range(options.rounds):
            for side, checkout in sides.items():
                own = Path(folder, side)
                if not turn:
                    own.mkdir()
                    ran(checkout, own, "-m", "xorder", "fit", *audit[1:], "-o", "map.json")
                seconds = {
                    f"xorder {words[0]}": ran(checkout, own, "-m", "xorder", *words)[0] for words in (audit, apply)
                }
                lines = ran(checkout, own, "-c", IN_MEMORY)[1].splitlines()
                seconds |= {line.split()[0]: float(line.split()[1]) for line in lines}
                for task, took in seconds.items():
                    known = best.setdefault(task, {})
                    known[side] = min(took, known.get(side, took))
    for times in best.values():
        times["ratio"] = times["this"] / times["other"]
    print(json.dumps(best, indent=2))


if __name__ == "__main__":
    main()
