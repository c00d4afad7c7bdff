"""Count the files and functions that a command enters on its way through 300 rows, as a table in Markdown.

``python tools/walk.py [-v] [audit|fit|apply|report|FairRanker.fit|FairRanker.predict_proba ...]`` runs each of them
under a profile hook, after everything has been imported, and counts what belongs to xorder, files of the command line
included; ``-v`` lists them below the table, in the order of first entry.
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
            entered.setdefault(Path(name).relative_to(HOME).as_posix(), set()).add(frame.f_code.co_qualname)

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
    parser.add_argument("-v", "--verbose", action="store_true", help="List the files, and their functions")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        known = walks(Path(folder))
        unknown = [name for name in options.walk if name not in known]
        if unknown:
            parser.error(f"{unknown[0]} is none of {', '.join(known)}")
        # All of them, as some need what others leave behind.
        entered = {name: walk(name, run) for name, run in known.items()}
    chosen = options.walk or list(known)
    print("| walk | files | of these in `cli/` | functions |\n|---|---:|---:|---:|")
    for name in chosen:
        of_cli = sum(file.startswith("cli/") for file in entered[name])
        print(f"| `{name}` | {len(entered[name])} | {of_cli} | {sum(map(len, entered[name].values()))} |")
    for name in chosen if options.verbose else ():
        print(f"\n`{name}`:\n")
        for number, (file, functions) in enumerate(entered[name].items(), start=1):
            print(f"{number}. `{file}`: {', '.join(sorted(functions))}")
    return 0


def walk(name: str, run: Callable[[], object]) -> dict[str, set[str]]:
    """Run it twice, the first time for what is imported on the way; return what the second time entered."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for hook in (contextlib.nullcontext({}), walked()):
            with hook as entered:
                result = run()
            if isinstance(result, int) and result:
                raise SystemExit(f"{name} ended with exit code {result}")
    return entered


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
