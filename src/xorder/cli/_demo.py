"""``xorder demo``: a biased score, audited, repaired, and checked on people the repair has not seen."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xorder._atomic import atomic_path, make_folder
from xorder.cli._program import add_output, open_page, painted, show, stage, wrapped_lines
from xorder.exceptions import InputError, MissingExtraError

if TYPE_CHECKING:
    from xorder.datasets import Population
    from xorder.estimators import XOrder
    from xorder.metrics import Audit

_MOST_PEOPLE = 100_000_000

_FILES = {
    "people.csv": "the people that the repair was fitted to",
    "new_people.csv": "other people, for a fair test",
    "map.json": "the repair: which score of which group becomes which",
    "adjusted.csv": "people.csv with one more column, the adjusted score",
    "new_adjusted.csv": "new_people.csv with one more column, the adjusted score",
    "report.html": "a page on the score as it was, for people to read",
}


EXAMPLES = ("--open", "--rows 20000 --seed 7 -o larger-demo")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    command.description = "Simulate a biased score, audit it, repair it, and check the repair on new people"
    add_output(command, "FOLDER", required=False, default="xorder-demo")
    command.add_argument("--open", action="store_true")
    command.add_argument("--rows", type=int, default=4000)
    command.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> None:
    """Simulate two samples of people, repair the score on the first, apply the map to the second; write all of it."""
    from xorder.datasets import simulate_population
    from xorder.estimators import XOrder

    if not 1 <= options.rows <= _MOST_PEOPLE or options.seed < 0:
        raise InputError(
            f"the demo takes from 1 to {_MOST_PEOPLE:,} people (--rows) and a seed from 0 up (--seed); "
            f"got {options.rows} and {options.seed}."
        )
    out = Path(options.output)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder for the demo's files.")
    if out.is_dir() and any(out.iterdir()) and not options.force:
        raise InputError(f"{out} exists and is not empty; choose another folder, or allow replacing (--force).")
    known = simulate_population(options.rows, random_state=options.seed)
    new = simulate_population(options.rows, random_state=options.seed + 1)
    with stage("fitting a repair, and trying it on new people"):
        # Before anything is written: a few people may be too few for a repair.
        repair = XOrder().fit(known.y_score, known.y_true, sensitive_features=known.group)
        audits = _audits("first sample", known, repair) | _audits("new people", new, repair)
    make_folder(out)
    with stage("writing files and a page"):
        note = _write_files(out, known, new, repair)
    listed = "\n".join(f"  {name:<18}{what}" for name, what in _FILES.items() if name != "report.html" or not note)
    text = wrapped_lines(
        "A simulated population of two groups. Group B's risks are lower, and the score reads them lower still.\n\n"
        f"THE SCORE AS IT WAS\n{next(iter(audits.values()))}\n\nTHE REPAIR\n{repair.describe()}\n\n"
        f"BEFORE AND AFTER\n{_table(audits)}\n\nFiles in {out}:\n{listed}{note}\n\n"
    )
    show(text + _in_short(*list(audits.values())[2:]))
    if not note:
        show(painted(f"Open {out / 'report.html'} in a browser to see it drawn.", "bold"))
        if options.open:
            open_page(str(out / "report.html"))


def _audits(name: str, people: Population, repair: XOrder) -> dict[str, Audit]:
    from xorder.metrics import audit

    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    return {
        f"{name}, {which}": audit(people.y_true, score, sensitive_features=people.group)
        for which, score in (("score as it was", people.y_score), ("score adjusted", adjusted))
    }


def _in_short(before: Audit, after: Audit) -> str:
    """Say in three lines what the repair does to people it was not fitted to."""
    first, then = (result.gap("xauc", ("A", "B")) for result in (before, after))
    low, high = (100 * end for end in then.interval)
    return (
        f"Before: of 100 pairs of people, {100 * first.value:.1f} more go group A's way than group B's.\n"
        f"After:  {100 * then.value:.1f} more (95 % interval {low:+.1f} to {high:+.1f}), on people new to the repair.\n"
        f"Cost:   accuracy (AUC) {before.auc:.3f} before, {after.auc:.3f} after."
    )


def _table(audits: dict[str, Audit]) -> str:
    """Lay out AUC and gaps, before and after, for both samples."""
    from xorder._present import signed

    lines = [f"{'':<32}  {'AUC':>6}  {'xAUC gap':>8}  {'95 % interval':^18}  {'PRF gap':>8}"]
    for name, result in audits.items():
        xauc, prf = result.gap("xauc"), result.gap("prf")
        ends = f"[{xauc.interval[0]:+.3f}, {xauc.interval[1]:+.3f}]"
        gaps = f"{signed(xauc.value, 3):>8}  {ends:^18}  {signed(prf.value, 3):>8}"
        lines.append(f"{name:<32}  {result.auc:>6.3f}  {gaps}")
    return "\n".join(lines)


def _write_files(out: Path, known: Population, new: Population, repair: XOrder) -> str:
    """Write the samples, the map, the samples adjusted, and a page; return why there is none, if so."""
    from xorder.engines import apply_to_file
    from xorder.reporting import report_frame

    _write_people(out / "people.csv", known)
    _write_people(out / "new_people.csv", new)
    repair.save(out / "map.json", overwrite=True)
    for source, target in (("people.csv", "adjusted.csv"), ("new_people.csv", "new_adjusted.csv")):
        maps = repair.fitted_.group_maps()
        apply_to_file(maps, out / source, out / target, score="score", group="group", overwrite=True)
    try:
        said: dict[str, Any] = {"title": "A simulated score, group by group", "high_is": "help"}
        page = report_frame(out / "people.csv", score="score", label="outcome", group="group", **said)
        page.save(out / "report.html", overwrite=True)
    except MissingExtraError as error:
        return f"\nreport.html was left out. {error}"
    return ""


def _write_people(path: Path, people: Population) -> None:
    columns = {
        "id": range(1, people.y_true.size + 1),
        "group": people.group.tolist(),
        "outcome": people.y_true.tolist(),
        "score": people.y_score.tolist(),
    }
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
