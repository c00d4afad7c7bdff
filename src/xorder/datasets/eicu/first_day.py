"""Vital signs and laboratory values of the first day of each stay, from the full tables or from an hourly grid.

Whatever the source, an hour counts with the median of its readings, and the day with the minimum, mean or maximum of
its hours: a single false reading does not make a minimum, and two sources of one reading agree.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from xorder._progress import Progress
from xorder.datasets.clinical import SourceTable, find_tables, run
from xorder.datasets.eicu.features import DAILY, LABS, VITALS, Measurement

NAME = "eICU"
FIRST_DAY = 24 * 60
_SQL = {"min": "min", "mean": "avg", "max": "max"}
_GRID = "hourly_48vars"
_GRID_WANTED = {_GRID: ["stay_id", "hour", *(measurement.grid for measurement in (*VITALS, *LABS))]}
_LINE = [measurement.columns[0] for measurement in VITALS]
_CUFF = {m.name: m.columns[1] for m in VITALS if len(m.columns) > 1}
_FULL_WANTED = {
    "lab": ["patientunitstayid", "labresultoffset", "labname", "labresult"],
    "vitalPeriodic": ["patientunitstayid", "observationoffset", *_LINE],
    "vitalAperiodic": ["patientunitstayid", "observationoffset", *_CUFF.values()],
}
# DuckDB cannot move the readings behind a median out of memory (about 100 bytes each), so it gets few at a time.
_READINGS_AT_A_TIME = 1_000_000


def find_readings(folder: str | os.PathLike[str]) -> dict[str, SourceTable]:
    """Find lab, vitalPeriodic and vitalAperiodic; where one of the first two is missing, the grid will do."""
    names = {path.name.lower().partition(".csv")[0] for path in Path(folder).iterdir()}
    use_grid = _GRID in names and not {"lab", "vitalperiodic"} <= names
    return find_tables(folder, _GRID_WANTED if use_grid else _FULL_WANTED, source=NAME)


def summarise_first_day(database: Any, tables: dict[str, SourceTable], progress: Progress | None) -> None:
    """Make the table ``day``: a row for each of the stays in ``candidate`` that has a reading, and its statistics."""
    columns = _day_columns([*VITALS, *LABS])
    run(
        database,
        f"CREATE TABLE part (stay BIGINT, {', '.join(f'{name} DOUBLE' for name in columns)})",
        step="first day",
    )
    if _GRID in tables:
        _read_grid(database, tables[_GRID], progress)
    else:
        _read_vitals(database, tables["vitalPeriodic"], tables["vitalAperiodic"], progress)
        _read_labs(database, tables["lab"], progress)
    # A stay has one row in part from its vital signs, and one from its laboratory values.
    joined = ", ".join(f"max({name}) AS {name}" for name in columns)
    measured = f"coalesce({', '.join(columns)}) IS NOT NULL"
    run(
        database,
        f"CREATE TABLE day AS SELECT stay AS patientunitstayid, {joined} FROM part WHERE {measured} GROUP BY stay",
        step="first day",
    )


def _day_columns(measurements: Sequence[Measurement]) -> dict[str, str]:
    """Map the name of a statistic of the day to the SQL that makes it from the medians of its hours."""
    return {
        f"{measurement.name}_{statistic}": f"{_SQL[statistic]}({measurement.name})"
        for measurement in measurements
        for statistic in DAILY[measurement.name]
    }


def _first_day(table: SourceTable, stay: str, offset: str, numbers: Collection[str]) -> str:
    """Return SQL for a FROM clause with the rows of the first day of the candidates, before anything is computed."""
    types = dict.fromkeys(numbers, "DOUBLE") | {stay: "BIGINT", offset: "BIGINT"}
    return (
        f"{table.scan(**types)} WHERE {offset} >= 0 AND {offset} < {FIRST_DAY} "
        f"AND {stay} IN (SELECT patientunitstayid FROM candidate)"
    )


def _read_grid(database: Any, grid: SourceTable, progress: Progress | None) -> None:
    measurements = [*VITALS, *LABS]
    types = dict.fromkeys((measurement.grid for measurement in measurements), "DOUBLE")
    cells = ", ".join(
        f"{measurement.plausible(measurement.grid)} AS {measurement.name}" for measurement in measurements
    )
    hours = (
        f"SELECT stay_id AS stay, {cells} FROM {grid.scan(stay_id='BIGINT', hour='BIGINT', **types)} "
        f"WHERE hour >= 0 AND hour < {FIRST_DAY // 60} AND stay_id IN (SELECT patientunitstayid FROM candidate)"
    )
    run(database, _insert_days(measurements, hours), step=f"reading {grid.name}", reads=[grid], progress=progress)


def _read_vitals(database: Any, line: SourceTable, cuff: SourceTable, progress: Progress | None) -> None:
    key = "patientunitstayid AS stay, (observationoffset // 60)::UTINYINT AS hour"
    # Vital signs are whole numbers: half the bytes hold them exactly.
    from_line = ", ".join(f"({m.plausible(m.columns[0])})::FLOAT AS {m.name}" for m in VITALS)
    run(
        database,
        f"CREATE TABLE reading AS SELECT {key}, {from_line} "
        f"FROM {_first_day(line, 'patientunitstayid', 'observationoffset', _LINE)}",
        step=f"reading {line.name}",
        reads=[line],
        progress=progress,
    )
    from_cuff = ", ".join(f"({m.plausible(_CUFF[m.name])})::FLOAT AS {m.name}" for m in VITALS if m.name in _CUFF)
    run(
        database,
        f"INSERT INTO reading BY NAME SELECT {key}, {from_cuff} "
        f"FROM {_first_day(cuff, 'patientunitstayid', 'observationoffset', _CUFF.values())}",
        step=f"reading {cuff.name}",
        reads=[cuff],
        progress=progress,
    )
    _summarise(database, VITALS, {m.name: f"median({m.name})" for m in VITALS}, "first-day vital signs", progress)


def _read_labs(database: Any, lab: SourceTable, progress: Progress | None) -> None:
    names = [", ".join(f"'{name}'" for name in measurement.labs) for measurement in LABS]
    whens = " ".join(
        f"WHEN labname IN ({names[i]}) AND labresult BETWEEN {m.low} AND {m.high} THEN {i}" for i, m in enumerate(LABS)
    )
    run(
        database,
        "CREATE TABLE reading AS SELECT * FROM (SELECT patientunitstayid AS stay, "
        f"(labresultoffset // 60)::UTINYINT AS hour, (CASE {whens} END)::UTINYINT AS what, labresult AS value "
        f"FROM {_first_day(lab, 'patientunitstayid', 'labresultoffset', ['labresult'])}) WHERE what IS NOT NULL",
        step=f"reading {lab.name}",
        reads=[lab],
        progress=progress,
    )
    medians = {m.name: f"median(value) FILTER (WHERE what = {i})" for i, m in enumerate(LABS)}
    _summarise(database, LABS, medians, "first-day laboratory values", progress)


def _summarise(
    database: Any, measurements: Sequence[Measurement], medians: dict[str, str], step: str, progress: Progress | None
) -> None:
    """Turn the table ``reading`` into medians of hours and these into rows of ``part``, some stays at a time."""
    running = f"(sum(count(*)) OVER (ORDER BY stay)) // {_READINGS_AT_A_TIME}"
    parts = run(
        database,
        f"SELECT min(stay), max(stay) FROM (SELECT stay, {running} AS number FROM reading GROUP BY stay) "
        "GROUP BY number ORDER BY 1",
        step=step,
    )
    cells = ", ".join(f"{sql} AS {name}" for name, sql in medians.items())
    for number, (first, last) in enumerate(parts):
        if progress:
            progress(step, number / len(parts))
        hours = f"SELECT stay, {cells} FROM reading WHERE stay BETWEEN {first} AND {last} GROUP BY stay, hour"
        run(database, _insert_days(measurements, hours), step=step)
    run(database, "DROP TABLE reading", step=step)
    if progress:
        progress(step, 1.0)


def _insert_days(measurements: Sequence[Measurement], hours: str) -> str:
    days = ", ".join(f"{sql} AS {name}" for name, sql in _day_columns(measurements).items())
    return f"INSERT INTO part BY NAME SELECT stay, {days} FROM ({hours}) GROUP BY stay"
