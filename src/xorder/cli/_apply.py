"""``xorder apply``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from xorder.cli._program import add_input, add_output, add_unseen, progress_line, show

if TYPE_CHECKING:
    from xorder.estimators import FittedRepair


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=False, missing="as in fit")
    command.add_argument("--map", required=True, metavar="MAP", help="Map that 'xorder fit' wrote")
    add_output(command, "OUT", "File to write, with the adjusted scores")
    command.add_argument(
        "--into", default="adjusted", metavar="COLUMN", help="Name of the new column (default adjusted)"
    )
    add_unseen(command, None)
    command.add_argument(
        "--explain", type=int, metavar="ROW", help="Row, the first being 1, of which to say what became of it, and why"
    )


def run(options: argparse.Namespace) -> None:
    """Adjust the scores of a file."""
    from xorder.engines import apply_to_file
    from xorder.estimators import load_fitted

    repair = load_fitted(options.map)
    repair.warn_of_other_columns(options.score, options.group)
    repair = repair.choosing(missing_group=options.missing_group, unseen_group=options.unseen_group)
    explained = None if options.explain is None else _explained(repair, options)
    with progress_line(sys.stderr) as progress:
        rows, left_alone = apply_to_file(
            repair.group_maps(),
            options.file,
            options.output,
            score=options.score,
            group=options.group,
            into=options.into,
            overwrite=options.force,
            encoding=options.encoding,
            memory=options.memory,
            progress=progress,
        )
    if options.json:
        result = {"rows": rows, "left_alone": left_alone, "column": options.into, "output": options.output}
        show(result if explained is None else result | {"explained": explained})
        return
    left = ""
    if left_alone == 1:
        left = " 1 row of a missing or unseen group keeps its score."
    elif left_alone:
        left = f" {left_alone:,} rows of missing or unseen groups keep their scores."
    show(f"Wrote {rows:,} rows to {options.output}; the new column is {options.into!r}.{left}")
    if explained is not None:
        show(f"Row {options.explain:,}: {explained}")


def _explained(repair: FittedRepair, options: argparse.Namespace) -> str:
    from xorder._table import MISSING
    from xorder.engines._cells import ColumnNames, ReadingOptions
    from xorder.engines._sources import row_of_file

    names = ColumnNames(options.score, options.group, None, None)
    score, text = row_of_file(options.file, options.explain, ReadingOptions(names, encoding=options.encoding))
    # Groups of files are text; those of a repair that Python has fitted need not be.
    group = next((each for each in repair.maps if str(each) == text), text or MISSING)
    return repair.explain(score, group)
