"""Count the files and functions that a command enters on its way through 300 rows, and list them in order.

``python tools/walk.py [-v] [fit|apply|report|FairRanker.fit|FairRanker.predict_proba ...]`` runs each of them under a
profile hook, after everything has been imported, and counts what belongs to xorder.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xorder
import xorder.cli
import xorder.reporting

HOME = str(Path(xorder.__file__).parent)
ROWS = 300


@contextmanager
def walked() -> Iterator[dict[str, set[str]]]:
    """Yield the functions that were entered, by file, in the order of first entry."""
    import threading

    entered: dict[str, set[str]] = {}

    def note(frame: Any, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(HOME) and frame.f_code.co_name != "<module>":
            entered.setdefault(name[len(HOME) + 1 :], set()).add(frame.f_code.co_qualname)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """Return what can be walked."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    people = xorder.datasets.simulate_population(ROWS, random_state=0)
    lines = [f"{s!r},{y},{g}" for s, y, g in zip(people.y_score.tolist(), people.y_true, people.group, strict=True)]
    file = folder / "people.csv"
    file.write_text("\n".join(["score,outcome,group", *lines]) + "\n")
    columns = ["--score", "score", "--group", "group"]
    labelled = [*columns, "--label", "outcome"]
    X = np.column_stack([people.y_score, np.arange(ROWS) % 7])
    ranker = xorder.FairRanker(LogisticRegression())

    def command(*words: object) -> Callable[[], object]:
        return lambda: xorder.cli.main([str(word) for word in words])

    return {
        "audit": command("audit", file, *labelled),
        "fit": command("fit", file, *labelled, "-o", folder / "map.json", "--force"),
        "apply": command("apply", file, *columns, "--map", folder / "map.json", "-o", folder / "out.csv", "--force"),
        "report": command("report", file, *labelled, "-o", folder / "page.html", "--force"),
        "FairRanker.fit": lambda: ranker.fit(X, people.y_true, sensitive_features=people.group),
        "FairRanker.predict_proba": lambda: ranker.predict_proba(X, sensitive_features=people.group),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("walk", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the files, and their functions")
    options = parser.parse_args(arguments)
    entered: Any
    with tempfile.TemporaryDirectory() as folder:
        known = walks(Path(folder))
        unknown = [name for name in options.walk if name not in known]
        if unknown:
            parser.error(f"{unknown[0]} is none of {', '.join(known)}")
        print("walk                       files  functions")
        for name, run in known.items():
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                # The first time, for what is imported on the way, and for those that need what it leaves behind.
                for hook in (contextlib.nullcontext(), walked()):
                    with hook as entered:
                        result = run()
                    if isinstance(result, int) and result:
                        raise SystemExit(f"{name} ended with exit code {result}")
            if options.walk and name not in options.walk:
                continue
            print(f"{name:25} {len(entered):6} {sum(map(len, entered.values())):10}")
            if options.verbose:
                for file, functions in entered.items():
                    print(f"    {file:40} {', '.join(sorted(functions))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
