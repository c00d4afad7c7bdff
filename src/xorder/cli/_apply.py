"""``xorder apply``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xorder.cli._program import add_input, add_output, add_unseen, chosen, progress_line, read_cut, show

if TYPE_CHECKING:
    from xorder.engines import CutMoves
    from xorder.estimators import FittedRepair
    from xorder.metrics._cuts import Cut


_NEW = "new.csv --score s --group g --map map.json"
EXAMPLES = (f"{_NEW} -o out.csv", f"{_NEW} --cut 200 -o out.csv")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=False, missing="as in fit")
    command.add_argument("--map", required=True, metavar="MAP")
    add_output(command, "OUT", "")
    command.add_argument("--into", default="adjusted", metavar="COLUMN")
    command.add_argument("--escape-formulas", action="store_true")
    command.add_argument("--cut", type=read_cut, metavar="CUT")
    add_unseen(command, None)
    command.add_argument("--explain", type=int, metavar="ROW")


def run(options: argparse.Namespace) -> None:
    """Adjust the scores of a file."""
    from xorder.engines import apply_to_file
    from xorder.estimators import load_fitted

    repair = load_fitted(options.map)
    repair.warn_of_other_columns(options.score, options.group)
    repair = repair.choosing(missing_group=options.missing_group, unseen_group=options.unseen_group)
    explained = None if options.explain is None else _explained(repair, options)
    with progress_line(sys.stderr) as progress:
        rows, left_alone, moves = apply_to_file(
            *(repair.group_maps(), options.file, options.output),
            **chosen(options, "score", "group", "into", "cut", "escape_formulas", "encoding"),
            overwrite=options.force,
            progress=progress,
        )
    if options.json:
        result = {"rows": rows, "left_alone": left_alone, "column": options.into, "output": options.output}
        if options.cut is not None:
            result |= _for_machines(options.cut, moves)
        show(result if explained is None else result | {"explained": explained})
        return
    left = ""
    if left_alone == 1:
        left = " 1 row of a missing or unseen group keeps its score."
    elif left_alone:
        left = f" {left_alone:,} rows of missing or unseen groups keep their scores."
    new = f"the new column is {options.into!r}"
    if options.cut is not None:
        new = f"the new columns are {options.into!r}, 'selected_before' and 'selected_after'"
    show(f"Wrote {rows:,} rows to {options.output}; {new}.{left}")
    if options.cut is not None:
        show(_in_words(options.cut, moves))
    if explained is not None:
        show(f"Row {options.explain:,}: {explained}")


def _for_machines(cut: Cut, moves: Sequence[CutMoves]) -> dict[str, Any]:
    """Return who enters and leaves by group; the group of rows that keep their scores is null."""
    from xorder.engines._apply_cut import SELECTED
    from xorder.metrics._cuts import cut_text
    from xorder.metrics._gaps import json_label

    by_group = [move._asdict() | {"group": None if move.group is None else json_label(move.group)} for move in moves]
    return {"cut": cut_text(cut), "selected_columns": SELECTED, "moves": by_group}


def _in_words(cut: Cut, moves: Sequence[CutMoves]) -> str:
    """Say who enters and leaves, in all and by group, and how many rows are tied."""
    from xorder.metrics._cuts import cut_text

    def changes(*moves: CutMoves) -> str:
        enter, leave = sum(move.enters for move in moves), sum(move.leaves for move in moves)
        return f"{enter:,} enter, {leave:,} leave, {sum(move.stays_in for move in moves):,} stay in"

    lines = [f"Cut at {cut_text(cut)}: {changes(*moves)}."]
    lines += [f"  {'missing or unseen' if move.group is None else move.group}: {changes(move)}" for move in moves]
    before, after = sum(move.tied_before for move in moves), sum(move.tied_after for move in moves)
    if before or after:
        lines.append(
            f"Tied at the cut, where places are too few for all of them: {before:,} before, {after:,} after. They are "
            "in none of these counts; which of them to take is for you to decide."
        )
    return "\n".join(lines)


def _explained(repair: FittedRepair, options: argparse.Namespace) -> str:
    from xorder._table import MISSING
    from xorder.engines._cells import ColumnNames, ReadingOptions
    from xorder.engines._sources import row_of_file

    names = ColumnNames(options.score, options.group, None, None)
    score, text = row_of_file(options.file, options.explain, ReadingOptions(names, encoding=options.encoding))
    # Groups of files are text; those of a repair that Python has fitted need not be.
    group = next((each for each in repair.maps if str(each) == text), text or MISSING)
    return repair.explain(score, group)
