"""The tables on repairs of docs/generalisation.md, from the results of experiments/generalisation.py only."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.candidates import ORDERS, SMOOTH
from experiments.store import Row
from experiments.wording import markdown, number

RESULTS = Path(__file__).parent / "results" / "repairs.jsonl.gz"
PAGE = Path(__file__).parents[1] / "docs" / "generalisation.md"

# Positions in a list of measures.
AUC, GAP, WORST, AT_5, AT_20 = range(5)
TOPS = slice(5, 9)

# The default, what it took the place of, and the rival that the issue names first.
DEFAULT, FORMER, RIVAL = "constant, care", "logistic, care", "quantiles, care"
MAIN = ("unadjusted", DEFAULT, FORMER, RIVAL)
ALL = ("unadjusted", *ORDERS, *SMOOTH)

DATA = ("german", "framingham", "compas", "adult")
MODELS = ("linear", "boosted", "RankBoost")
# The sizes of the study of training scores.
FIRST_SIZES = ("full", "1000")
SIZES = ("400", "1000", "3000", "10000", "full")

Cell = tuple[str, str, str]


def read() -> list[Row]:
    """Return all results so far."""
    return [json.loads(line) for line in gzip.decompress(RESULTS.read_bytes()).splitlines()] if RESULTS.exists() else []


def paired(differences: Any) -> tuple[float, float]:
    """Mean of paired differences, and its standard error."""
    values = np.asarray(differences)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


class Study:
    """Measures of each repair, by cell: an array of splits (or draws) and measures."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if row["model"] != "simulated"]
        self.cells: dict[Cell, dict[str, Any]] = {}
        for data in DATA:
            for model in MODELS:
                for size in SIZES:
                    splits = [row["held_out"] for row in self.of_cell((data, model, size))]
                    if splits:
                        by_repair = {name: np.array([split[name] for split in splits]) for name in splits[0]}
                        self.cells[data, model, size] = by_repair
        self.simulated: dict[tuple[str, str], dict[str, Any]] = {
            (row["data"], row["size"]): {name: np.array(draws) for name, draws in row["held_out"].items()}
            for row in sorted(rows, key=lambda row: (_GAPS.get(row["data"], 0), int(row["size"].replace("full", "0"))))
            if row["model"] == "simulated"
        }

    def of_cell(self, cell: Cell) -> list[Row]:
        """Rows of one cell, in the order of its splits."""
        found = [row for row in self.rows if (row["data"], row["model"], row["size"]) == cell]
        return sorted(found, key=lambda row: row["split"])

    def mean(self, repair: str, *, cells: Callable[[Cell], bool] = lambda cell: True) -> Any:
        """Measures of a repair: the mean over cells of the means over splits."""
        return np.mean([found[repair].mean(axis=0) for cell, found in self.cells.items() if cells(cell)], axis=0)

    def excess(self, repair: str) -> dict[Cell, tuple[float, float]]:
        """Worst cut less the unadjusted one in each cell, with its paired error."""
        return {
            cell: paired(found[repair][:, WORST] - found["unadjusted"][:, WORST]) for cell, found in self.cells.items()
        }

    def harm_less_former(self, repair: str) -> tuple[float, float]:
        """|gap| less that of the former default where there is no gap: mean of all sizes, with its paired error."""
        kinds = [found for (gap, _), found in self.simulated.items() if gap == "no gap"]
        # Draws of the same number share their new rows.
        return paired(np.mean([draws[repair][:, GAP] - draws[FORMER][:, GAP] for draws in kinds], axis=0))


_GAPS = {"no gap": 1, "small gap": 2, "clear gap": 3}


def value(measures: Any) -> float:
    """AUC less |gap|."""
    return float(measures[AUC] - measures[GAP])


def summary(study: Study) -> str:
    """Means over all cells, over the 21 first ones, and by model."""
    kinds = [lambda cell: cell[2] in FIRST_SIZES, *(lambda cell, model=model: cell[1] == model for model in MODELS)]
    head = ["repair", "AUC - gap", "AUC", "gap", "worst cut", "at 5 %", "at 20 %"]
    head += [f"{name}: AUC - gap / worst cut" for name in ("21 cells", *MODELS)]
    lines = []
    for repair in ALL:
        mean = study.mean(repair)
        parts = [study.mean(repair, cells=kind) for kind in kinds]
        line = [number(value(mean), 4), *(number(mean[at], 4) for at in range(5))]
        lines.append([repair, *line, *(f"{number(value(part), 4)} / {number(part[WORST], 4)}" for part in parts)])
    return markdown(head, lines)


def by_size(study: Study) -> str:
    """AUC less the gap / worst cut, means over the cells of each size."""
    sizes = [size for size in SIZES if any(cell[2] == size for cell in study.cells)]
    lines = []
    for repair in ("unadjusted", "constant", DEFAULT, "logistic", FORMER, "quantiles", RIVAL, "bends, care"):
        parts = [study.mean(repair, cells=lambda cell, size=size: cell[2] == size) for size in sizes]
        lines.append([repair, *(f"{number(value(part), 4)} / {number(part[WORST], 4)}" for part in parts)])
    return markdown(["repair", *sizes], lines)


def criteria(study: Study) -> str:
    """The conditions that the winner must meet, one column each, for every repair."""
    best = max(value(study.mean(repair)) for repair in SMOOTH)
    best_careful = max(value(study.mean(repair)) for repair in SMOOTH if repair.endswith(", care"))
    former = study.mean(FORMER)[WORST]
    head = ["repair", "AUC - gap behind the best", "behind the best with care", "worst cut / logistic with care"]
    head += ["cells with a worse cut", "largest excess", "no gap: gap less logistic with care"]
    lines = []
    for repair in SMOOTH:
        mean, excess = study.mean(repair), study.excess(repair)
        bad = sum(found > 0.02 and found > 2 * error for found, error in excess.values())
        (data, model, size), (most, error) = max(excess.items(), key=lambda item: item[1][0])
        behind = [number(best - value(mean), 4), number(best_careful - value(mean), 4).replace("-.", "ahead .")]
        lines.append(
            [
                repair,
                *behind,
                number(mean[WORST] / former),
                str(bad),
                f"{_signed(most, 3)} ± {number(error)} ({data}, {model}, {size})",
                _plus_minus(*study.harm_less_former(repair)),
            ]
        )
    return markdown(head, lines)


def worst_cuts(study: Study) -> str:
    """Worst cut of each cell; in brackets less the unadjusted one, with its paired error."""
    lines = []
    for cell, found in study.cells.items():
        means = [number(found[repair][:, WORST].mean()) for repair in MAIN]
        less = [_plus_minus(*paired(found[name][:, WORST] - found[MAIN[0]][:, WORST]), 3) for name in MAIN[1:]]
        default = found[DEFAULT][:, WORST]
        default_less = [_plus_minus(*paired(default - found[name][:, WORST]), 3) for name in MAIN[2:]]
        shown = [f"{mean} ({off})" for mean, off in zip(means[1:], less, strict=True)]
        lines.append([", ".join(cell), means[0], *shown, *default_less])
    return markdown(["data, model, rows", *MAIN, *(f"{DEFAULT} less {name}" for name in MAIN[2:])], lines)


def duels(study: Study) -> str:
    """In how many cells the default is better or worse than another repair by more than two paired errors."""
    lines = []
    for other in ("unadjusted", "frontier", *(repair for repair in SMOOTH if repair != DEFAULT)):
        counts = []
        for what, better in (([WORST], -1), ([AUC, GAP], 1)):
            pairs = []
            for found in study.cells.values():
                mine, theirs = (found[repair][:, what] for repair in (DEFAULT, other))
                # Worst cut as it is; AUC less the gap.
                less = (mine - theirs) @ np.array([1.0, -1.0])[: len(what)]
                pairs.append(paired(better * less))
            counts += [sum(mean > 2 * error and mean > 0 for mean, error in pairs)]
            counts += [sum(mean < -2 * error and mean < 0 for mean, error in pairs)]
        lines.append([other, *map(str, counts)])
    head = ["default against", "worst cut lower", "worst cut higher", "AUC - gap higher", "AUC - gap lower"]
    return markdown(head, lines)


def values(study: Study) -> str:
    """AUC less |gap| of each cell, and the default less others with paired errors."""
    lines = []
    for cell, found in study.cells.items():
        by_split = {repair: found[repair][:, AUC] - found[repair][:, GAP] for repair in (*MAIN, "constant")}
        less = [
            _plus_minus(*paired(by_split[DEFAULT] - by_split[other]), 3)
            for other in ("unadjusted", FORMER, RIVAL, "constant")
        ]
        lines.append([", ".join(cell), number(by_split[DEFAULT].mean()), *less])
    return markdown(
        ["data, model, rows", DEFAULT, *(f"less {name}" for name in ("unadjusted", FORMER, RIVAL, "constant"))], lines
    )


def tops(study: Study) -> str:
    """Share of the moved group in the top 1, 5, 10 and 20 % of the list, by data set and over all cells."""
    head = ["data", "of all rows", "of all positives", *MAIN]
    lines = []
    for data in DATA:
        rows = [row for row in study.rows if row["data"] == data]
        if not rows:
            continue
        whole = [number(float(np.mean([row[name] for row in rows]))) for name in ("moved_share", _OF_POSITIVES)]
        lines.append([data, *whole, *(_tops(study, repair, data) for repair in MAIN)])
    return markdown(head, lines)


def every_top(study: Study) -> str:
    """The same for every repair, means over all cells."""
    lines = [[repair, *(number(share) for share in study.mean(repair)[TOPS])] for repair in ALL]
    return markdown(["repair", "top 1 %", "5 %", "10 %", "20 %"], lines)


_OF_POSITIVES = "moved_share_of_positives"


def _tops(study: Study, repair: str, data: str) -> str:
    shares = study.mean(repair, cells=lambda cell: cell[0] == data)[TOPS]
    return " / ".join(number(share) for share in shares)


def simulations(study: Study, measure: int) -> str:
    """One measure of new rows less that of the scores as they are, with paired errors; by gap and rows."""
    head = ["repair", *(f"{gap}, {size}" for gap, size in study.simulated)]
    plain = [found["unadjusted"][:, measure] for found in study.simulated.values()]
    lines = [["unadjusted", *(number(draws.mean(), 4) for draws in plain)]]
    for repair in SMOOTH:
        found = [kind[repair][:, measure] for kind in study.simulated.values()]
        lines.append([repair, *(_plus_minus(*paired(a - b)) for a, b in zip(found, plain, strict=True))])
    return markdown(head, lines)


def _signed(found: float, digits: int) -> str:
    return ("-" if round(found, digits) < 0 else "+") + number(abs(found), digits)


def _plus_minus(found: float, error: float, digits: int = 4) -> str:
    return f"{_signed(found, digits)} ± {number(error, digits)}"


TABLES: dict[str, Callable[[Study], str]] = {
    "summary": summary,
    "by-size": by_size,
    "criteria": criteria,
    "worst-cuts": worst_cuts,
    "values": values,
    "duels": duels,
    "tops": tops,
    "every-top": every_top,
    "simulated-gap": lambda study: simulations(study, GAP),
    "simulated-worst": lambda study: simulations(study, WORST),
}

_PLACE = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, rows: Sequence[Row]) -> str:
    """Return the page with each table between its two comments made anew."""
    study = Study(rows)
    return _PLACE.sub(lambda found: f"{found[1]}{TABLES[found[2]](study)}\n{found[3]}", page)


def show(*, in_page: bool) -> None:
    """Print all tables, or put them into the page."""
    rows = read()
    if in_page:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        return
    study = Study(rows)
    for name, table in TABLES.items():
        print(f"{name}\n\n{table(study)}\n")
