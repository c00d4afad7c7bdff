"""docs/reproduction.md says what the committed results say."""

from __future__ import annotations

import re

import pytest

from experiments import tables
from experiments.__main__ import PAGE, RESULTS
from experiments.protocol import finished, sweeps
from experiments.store import Row, read

# A number with a point, as tables and prose have it: .195, 0.195, +.004, 38.67.
_DECIMAL = re.compile(r"(?<![\w.])[-+]?\d*\.\d+")


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read(RESULTS)


def test_its_tables_are_those_of_the_committed_results(page: str, rows: list[Row]) -> None:
    assert tables.filled(page, rows) == page
    assert {*re.findall(r"<!-- table: ([a-z-]+) -->", page)} == {*tables.TABLES}


def test_every_figure_of_its_prose_is_in_a_table(page: str) -> None:
    parts = re.split(r"<!-- table: [a-z-]+ -->\n(.*?)<!-- end -->", page, flags=re.DOTALL)
    # The paper's own words and settings are fenced off by a comment.
    prose = re.sub(r"<!-- settings -->.*?<!-- end -->", "", "".join(parts[::2]), flags=re.DOTALL)
    known = {_plain(number) for table in parts[1::2] for number in _DECIMAL.findall(table)}
    assert [number for number in _DECIMAL.findall(prose) if _plain(number) not in known] == []


def _plain(number: str) -> str:
    return number.lstrip("+-").lstrip("0")


def test_every_picture_is_there_and_every_picture_there_is_shown(page: str) -> None:
    shown = set(re.findall(r"\]\((figures/[\w-]+\.png)\)", page))
    there = {f"figures/{path.name}" for path in (PAGE.parent / "figures").glob("*.png")}
    assert shown
    assert shown <= there
    assert all((PAGE.parent / name).stat().st_size < 100_000 for name in shown)


def test_what_is_committed_is_small_and_whole(rows: list[Row]) -> None:
    assert sum(path.stat().st_size for path in RESULTS.parent.iterdir() if path.is_file()) < 3_000_000
    # What failed is told on the page.
    assert sum("error" in row for row in rows) < 0.001 * len(rows)
    done = finished(rows)
    assert [sweep for sweep in sweeps("stored", 10) if sweep.next_cells(done)] == []


def test_all_of_it_is_by_one_version(rows: list[Row]) -> None:
    assert len({row["versions"] for row in rows}) == 1


def test_frontier_is_never_below_dp_anywhere(rows: list[Row]) -> None:
    objectives: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        if row["method"].startswith("xorder-"):
            place = (row["data"], row["splits"], row["model"], row["metric"], row["parameter"], row["split"])
            value = row["auc_train"] - row["parameter"] * abs(row[f"{row['metric']}_train"])
            objectives.setdefault(place, {})[row["method"]] = value
    both = [found for found in objectives.values() if len(found) == 2]
    assert len(both) > 1000
    assert min(found["xorder-frontier"] - found["xorder-dp"] for found in both) > -1e-6
