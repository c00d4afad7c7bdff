"""Reproduce the paper's evaluation, whole or in part.

python -m experiments run                          everything on open data, ten stored splits
python -m experiments run --dataset compas --model rankboost --metric prf --method xorder-dp
python -m experiments tables                       the tables of docs/reproduction.md, from result files only
python -m experiments figures                      its figures, likewise
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

# Each process has one thread; read by numerical libraries when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from experiments import registry, runner
from experiments.protocol import sweeps
from experiments.store import Store, pack, read
from xorder.exceptions import InputError, XorderError

HERE = Path(__file__).parent
# Where runs write, and what is committed of them.
RUNS = HERE / "runs"
RESULTS = HERE / "results" / "reproduction.jsonl.gz"
PAGE = HERE.parent / "docs" / "reproduction.md"

# Fewer rows of one outcome in a group than this, and a gap says next to nothing.
FEW = 30


class Parser(argparse.ArgumentParser):
    """Tells what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def parser() -> Parser:
    main = Parser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = main.add_subparsers(
        dest="command", required=True, metavar="run|timing|distributions|pack|tables|figures"
    )
    run = commands.add_parser("run", help="run what is missing")
    run.set_defaults(do=_run)
    for name, what in _NAMED.items():
        run.add_argument(
            f"--{name}", nargs="+", action="extend", default=[], metavar="NAME", help=f"only these {what}s"
        )
    run.add_argument("--splits", default="stored", choices=("stored", "random"), help="the paper's, or plain random")
    run.add_argument("--n-splits", type=_count, default=10, metavar="N", help="the first N splits (10)")
    run.add_argument("--cohort", action="append", default=[], metavar="FILE", help="add a MIMIC-III or eICU cohort")
    run.add_argument("--add", action="append", default=[], metavar="FILE", help="a Python file that adds its own")
    run.add_argument("--processes", type=_count, default=_cores(), metavar="N", help="one thread each (all cores)")
    run.add_argument("--retry", action="store_true", help="run cells that failed once more")
    run.add_argument("--again", action="store_true", help="run all that is named once more, as after a change of code")
    for name, do, help in (
        ("timing", _timing, "time the solvers, alone on one core"),
        ("distributions", _distributions, "measure training and test score distributions"),
        ("pack", _pack, "put what was run into the result files that are committed"),
    ):
        commands.add_parser(name, help=help).set_defaults(do=do)
    tables = commands.add_parser("tables", help="write the tables of the page")
    tables.add_argument("--page", type=Path, default=PAGE, help="whose tables to write anew; - prints them")
    tables.set_defaults(do=_tables)
    figures = commands.add_parser("figures", help="draw the figures of the page")
    figures.add_argument("--out", type=Path, default=PAGE.parent / "figures", help="folder to draw into")
    figures.set_defaults(do=_figures)
    for command in commands.choices.values():
        command.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help="where runs keep what they find")
    for command in (tables, figures):
        command.add_argument("--results", type=Path, nargs="+", default=[RESULTS], metavar="FILE", help="result files")
    return main


_NAMED = {"dataset": "data set", "model": "model", "method": "method", "metric": "metric"}


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 up is needed; got {text}")
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_names(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"no {kind} {name!r}; there are {', '.join(known)}.")


def _run(options: argparse.Namespace) -> None:
    for path in (*options.add, *options.cohort):
        if not Path(path).is_file():
            raise InputError(f"{path} is not a file.")
    clinical = runner.load_additions(options.add, options.cohort)
    names: dict[str, Any] = {
        "dataset": registry.DATASETS,
        "model": registry.MODELS,
        "method": registry.METHODS,
        "metric": registry.METRICS,
    }
    for kind, known in names.items():
        _check_names(_NAMED[kind], getattr(options, kind), list(known))
    splits = options.splits
    if clinical and not options.dataset:
        options.dataset = clinical
    if splits == "stored" and options.dataset and not any(registry.DATASETS[name].stored for name in options.dataset):
        print("No splits are stored for these data; random ones are drawn.", file=sys.stderr)
        splits = "random"
    plan = sweeps(
        splits,
        options.n_splits,
        data=options.dataset,
        models=options.model,
        methods=options.method,
        metrics=options.metric,
    )
    if not plan:
        raise InputError("nothing to run: these do not go together (see experiments/registry.py for what does).")
    with Store(options.runs / f"{splits}.jsonl") as store:
        rows = runner.run(
            plan,
            store,
            options.runs / "scores",
            processes=options.processes,
            retry=options.retry,
            again=options.again,
            additions=options.add,
            cohorts=options.cohort,
        )
    _report(rows)


def _report(rows: list[dict[str, Any]]) -> None:
    failed = [row for row in rows if "error" in row]
    for row in failed[:5]:
        print(f"failed: {row['data']} {row['model']} {row['method']} {row['metric']}: {row['error']}", file=sys.stderr)
    if len(failed) > 5:
        print(f"... and {len(failed) - 5} more; --retry runs them again.", file=sys.stderr)
    few: dict[str, int] = {}
    for row in rows:
        if row.get("smallest", FEW) < FEW:
            few[row["data"]] = min(row["smallest"], few.get(row["data"], FEW))
    for data, smallest in few.items():
        print(
            f"{data}: {smallest} rows of the rarer outcome are all that a group has in a test part. "
            "The groups are too small for conclusions about gaps.",
            file=sys.stderr,
        )


def _timing(options: argparse.Namespace) -> None:
    from experiments.timing import measure

    measure(options.runs)


def _distributions(options: argparse.Namespace) -> None:
    from experiments.robustness import measure

    measure(options.runs)


def _pack(options: argparse.Namespace) -> None:
    paths = [options.runs / f"{splits}.jsonl" for splits in ("stored", "random")]
    RESULTS.parent.mkdir(exist_ok=True)
    pack(read(*(path for path in paths if path.exists())), RESULTS)
    for name in ("timing.json", "distributions.json"):
        if (options.runs / name).exists():
            (RESULTS.parent / name).write_bytes((options.runs / name).read_bytes())


def _tables(options: argparse.Namespace) -> None:
    from experiments import tables

    rows = read(*options.results)
    if str(options.page) == "-":
        for name, text in tables.every_table(rows).items():
            print(f"## {name}\n\n{text}\n")
    else:
        options.page.write_text(tables.filled(options.page.read_text(encoding="utf-8"), rows), encoding="utf-8")


def _figures(options: argparse.Namespace) -> None:
    from experiments import figures

    figures.draw_all(read(*options.results), options.out)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        options.do(options)
    except XorderError as error:
        print(f"python -m experiments {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped; the same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
