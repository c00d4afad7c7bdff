"""The demonstration: a biased score, audited, repaired, and checked on people the repair has not seen."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xorder._atomic import atomic_path
from xorder._optional import import_optional
from xorder.datasets import Population, simulate_population
from xorder.engines import apply_to_file
from xorder.estimators import XOrder
from xorder.exceptions import InputError, MissingExtraError
from xorder.metrics import Audit, audit
from xorder.plotting import TradeoffDisplay
from xorder.reporting import report

_MOST_PEOPLE = 100_000_000


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration found and wrote."""

    audits: dict[str, Audit]
    repair: XOrder
    files: dict[Path, str]
    notes: list[str]

    def table(self) -> str:
        """Lay out AUC and gaps, before and after, for both samples."""
        lines = [f"{'':<32}  {'AUC':>6}  {'xAUC gap':>8}  {'95 % interval':^18}  {'PRF gap':>8}"]
        for name, result in self.audits.items():
            xauc, prf = result.gap("xauc"), result.gap("prf")
            ends = f"[{xauc.interval[0]:+.3f}, {xauc.interval[1]:+.3f}]"
            lines.append(
                f"{name:<32}  {result.auc:>6.3f}  {_tidy(xauc.value):>+8.3f}  {ends:^18}  {_tidy(prf.value):>+8.3f}"
            )
        return "\n".join(lines)


def run_demo(folder: str | os.PathLike[str], *, n_samples: int = 4000, seed: int = 0, overwrite: bool = False) -> Demo:
    """Simulate two samples of people, learn a repair on the first, apply it to the second; write all to ``folder``."""
    if not 1 <= n_samples <= _MOST_PEOPLE or seed < 0:
        raise InputError(
            f"the demo takes from 1 to {_MOST_PEOPLE:,} people (--rows) and a seed from 0 up (--seed); "
            f"got {n_samples} and {seed}."
        )
    out = Path(folder)
    _check_folder(out, overwrite=overwrite)
    known = simulate_population(n_samples, random_state=seed)
    new = simulate_population(n_samples, random_state=seed + 1)
    # Before anything is written: a few people may be too few to learn from.
    repair = XOrder().fit(known.y_score, known.y_true, sensitive_features=known.group)
    audits = _audits("learnt on", known, repair) | _audits("new people", new, repair)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {out}: {error.strerror or error}.") from error
    files = _write_tables(out, known, new, repair)
    display = TradeoffDisplay.from_estimator(repair, known.y_score, known.y_true, sensitive_features=known.group)
    _write_columns(out / "tradeoff.csv", {"gap": display.gap.tolist(), "auc": display.auc.tolist()})
    files[out / "tradeoff.csv"] = "the whole trade-off: the best AUC for each xAUC gap"
    drawn: dict[str, tuple[str, Callable[[Path], None]]] = {
        "tradeoff.png": ("the same as a picture", lambda path: _write_picture(path, display)),
        "report.html": ("a page on the score as it was, for people to read", lambda path: _write_report(path, known)),
    }
    notes = []
    for name, (what, write) in drawn.items():
        try:
            write(out / name)
        except MissingExtraError as error:
            notes.append(f"{name} was left out. {error}")
        else:
            files[out / name] = what
    return Demo(audits, repair, files, notes)


def _check_folder(out: Path, *, overwrite: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder for the demo's files.")
    if out.is_dir() and any(out.iterdir()) and not overwrite:
        raise InputError(f"{out} exists and is not empty; choose another folder, or allow replacing (--force).")


def _audits(name: str, people: Population, repair: XOrder) -> dict[str, Audit]:
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    scores = {"score as it was": people.y_score, "score adjusted": adjusted}
    return {
        f"{name}, {which}": audit(people.y_true, score, sensitive_features=people.group)
        for which, score in scores.items()
    }


def _write_tables(out: Path, known: Population, new: Population, repair: XOrder) -> dict[Path, str]:
    """Write both samples, the map, and both samples adjusted; return what each file is."""
    _write_people(out / "people.csv", known)
    _write_people(out / "new_people.csv", new)
    repair.save(out / "map.json", overwrite=True)
    for source, target in (("people.csv", "adjusted.csv"), ("new_people.csv", "new_adjusted.csv")):
        maps = repair.fitted_.group_maps()
        apply_to_file(maps, out / source, out / target, score="score", group="group", overwrite=True)
    return {
        out / "people.csv": "the people the repair was learnt on: id, group, outcome, score",
        out / "new_people.csv": "other people, for a fair test",
        out / "map.json": "the repair: which score of which group becomes which",
        out / "adjusted.csv": "people.csv with one more column, the adjusted score",
        out / "new_adjusted.csv": "new_people.csv with one more column, the adjusted score",
    }


def _write_picture(path: Path, display: TradeoffDisplay) -> None:
    # Not through pyplot, which needs whatever screen MPLBACKEND names and keeps the figure open.
    module = import_optional("matplotlib.figure", extra="plot", purpose="Drawing the trade-off")
    figure = module.Figure(figsize=(6.4, 4.4), layout="constrained")
    display.plot(figure.subplots())
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)


def _write_report(path: Path, people: Population) -> None:
    found = report(
        people.y_true,
        people.y_score,
        sensitive_features=people.group,
        names={"score": "score", "label": "outcome", "group": "group"},
        title="A simulated score, group by group",
        source=path.with_name("people.csv"),
    )
    found.save(path, overwrite=True)


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


def _tidy(value: float) -> float:
    """Round, and turn a negative nothing into nothing."""
    return round(value, 3) + 0.0
