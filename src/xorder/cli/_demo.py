"""``xorder demo``: a biased score, audited, repaired, and checked on people the repair has not seen."""

from __future__ import annotations

import argparse
import csv
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xorder._atomic import atomic_path
from xorder._optional import import_optional
from xorder.cli._program import add_open, add_output, open_page, painted, show, stage, wrapped_lines
from xorder.exceptions import InputError, MissingExtraError

if TYPE_CHECKING:
    from xorder.datasets import Population
    from xorder.estimators import XOrder
    from xorder.metrics import Audit
    from xorder.plotting import TradeoffDisplay

_MOST_PEOPLE = 100_000_000


EXAMPLES = ("--open", "--rows 20000 --seed 7 -o larger-demo")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    command.description = "Simulate a biased score, audit it, repair it, and check the repair on new people"
    add_output(command, "FOLDER", "Folder of the files (default xorder-demo)", required=False, default="xorder-demo")
    add_open(command)
    command.add_argument("--rows", type=int, default=4000, help="Number of people in each sample (default 4000)")
    command.add_argument("--seed", type=int, default=0, help="Seed of the simulation (default 0)")


def run(options: argparse.Namespace) -> None:
    """Simulate two samples of people, repair the score on the first, apply the map to the second; write all of it."""
    from xorder.datasets import simulate_population
    from xorder.estimators import XOrder
    from xorder.plotting import TradeoffDisplay

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
        display = TradeoffDisplay.from_estimator(repair, known.y_score, known.y_true, sensitive_features=known.group)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {out}: {error.strerror or error}.") from error
    with stage("writing files, a picture and a page"):
        files, notes = _write_files(out, known, new, repair, display)
    listed = "\n".join(f"  {name:<18}{what}" for name, what in files.items())
    text = wrapped_lines(
        "A simulated population of two groups. Group B's risks are lower, and the score reads them lower still.\n\n"
        f"THE SCORE AS IT WAS\n{next(iter(audits.values()))}\n\nTHE REPAIR\n{repair.describe()}\n\n"
        f"BEFORE AND AFTER\n{_table(audits)}\n\nFiles in {out}:\n{listed}{''.join(notes)}\n\n"
    )
    show(text + _in_short(*list(audits.values())[2:]))
    if "report.html" in files:
        show(painted(f"Open {out / 'report.html'} in a browser to see it drawn.", "bold"))
        if options.open:
            open_page(str(out / "report.html"))


def _audits(name: str, people: Population, repair: XOrder) -> dict[str, Audit]:
    from xorder.metrics import audit

    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    scores = {"score as it was": people.y_score, "score adjusted": adjusted}
    return {
        f"{name}, {which}": audit(people.y_true, score, sensitive_features=people.group)
        for which, score in scores.items()
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


def _write_files(
    out: Path, known: Population, new: Population, repair: XOrder, display: TradeoffDisplay
) -> tuple[dict[str, str], list[str]]:
    """Write the samples, the map, the samples adjusted, the trade-off, and a page; return what is what, and notes."""
    from xorder.engines import apply_to_file

    _write_people(out / "people.csv", known)
    _write_people(out / "new_people.csv", new)
    repair.save(out / "map.json", overwrite=True)
    for source, target in (("people.csv", "adjusted.csv"), ("new_people.csv", "new_adjusted.csv")):
        maps = repair.fitted_.group_maps()
        apply_to_file(maps, out / source, out / target, score="score", group="group", overwrite=True)
    _write_columns(out / "tradeoff.csv", {"gap": display.gap.tolist(), "auc": display.auc.tolist()})
    files = {
        "people.csv": "the people that the repair was fitted to",
        "new_people.csv": "other people, for a fair test",
        "map.json": "the repair: which score of which group becomes which",
        "adjusted.csv": "people.csv with one more column, the adjusted score",
        "new_adjusted.csv": "new_people.csv with one more column, the adjusted score",
        "tradeoff.csv": "the whole trade-off: the best AUC for each xAUC gap",
    }
    drawn = [
        ("tradeoff.png", "the same as a picture", partial(_write_picture, display)),
        ("report.html", "a page on the score as it was, for people to read", partial(_write_report, known)),
    ]
    notes = []
    for name, what, write in drawn:
        try:
            write(out / name)
        except MissingExtraError as error:
            notes.append(f"\n{name} was left out. {error}")
        else:
            files[name] = what
    return files, notes


def _write_picture(display: TradeoffDisplay, path: Path) -> None:
    # Not through pyplot, which needs whatever screen MPLBACKEND names and keeps the figure open.
    module = import_optional("matplotlib.figure", extra="plot", purpose="Drawing the trade-off")
    figure = module.Figure(figsize=(6.4, 4.4), layout="constrained")
    display.plot(figure.subplots())
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)


def _write_report(people: Population, path: Path) -> None:
    from xorder.reporting import report

    result = report(
        people.y_true,
        people.y_score,
        sensitive_features=people.group,
        names={"score": "score", "label": "outcome", "group": "group"},
        title="A simulated score, group by group",
        high_is="help",
        source=path.with_name("people.csv"),
    )
    result.save(path, overwrite=True)


def _write_people(path: Path, people: Population) -> None:
    columns = {
        "id": range(1, people.y_true.size + 1),
        "group": people.group.tolist(),
        "outcome": people.y_true.tolist(),
        "score": people.y_score.tolist(),
    }
    _write_columns(path, columns)


def _write_columns(path: Path, columns: dict[str, Any]) -> None:
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
