"""From a user's own eICU tables to a cohort file: who is in it, the labels, the groups and the inputs."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.datasets._clinical import SourceTable, check_key, find_tables, open_database, plain_errors, run
from xorder.datasets._cohort_file import check_output, write_cohort
from xorder.datasets._eicu._features import DAILY, FEATURES, LABS, VITALS, Measurement
from xorder.exceptions import InputError

KIND = "eicu"
LONG_STAY = 7 * 24 * 60
# Who a row is about, and the labels: the columns of a cohort ahead of the inputs. The inputs hold age once more.
ABOUT = {
    "patientunitstayid": "p.patientunitstayid",
    "uniquepid": "p.uniquepid",
    "hospitalid": "p.hospitalid",
    "gender": "p.gender",
    "ethnicity": "p.ethnicity",
    "unit_stay_days": "p.unitdischargeoffset / 1440.0",
    "long_stay": f"(p.unitdischargeoffset > {LONG_STAY})::TINYINT",
    "mortality": "(p.hospitaldischargestatus = 'Expired')::TINYINT",
}
_PATIENT = {
    "patientunitstayid": "BIGINT",
    "patienthealthsystemstayid": "BIGINT",
    "uniquepid": "VARCHAR",
    "hospitalid": "BIGINT",
    "gender": "VARCHAR",
    "ethnicity": "VARCHAR",
    "age": "VARCHAR",
    "admissionheight": "DOUBLE",
    "admissionweight": "DOUBLE",
    "hospitaladmitoffset": "BIGINT",
    "hospitaldischargeyear": "BIGINT",
    "hospitaldischargestatus": "VARCHAR",
    "unittype": "VARCHAR",
    "unitadmitsource": "VARCHAR",
    "unitvisitnumber": "BIGINT",
    "unitstaytype": "VARCHAR",
    "unitdischargeoffset": "BIGINT",
}


def _apache_columns(table: str) -> dict[str, str]:
    named = [feature.source.partition(".")[2] for feature in FEATURES if feature.source.startswith(f"{table}.")]
    return {"patientunitstayid": "BIGINT", **dict.fromkeys(named, "DOUBLE")}


FIRST_DAY = 24 * 60

_TABLES = {
    "patient": _PATIENT,
    "apacheApsVar": _apache_columns("apacheApsVar"),
    "apachePredVar": _apache_columns("apachePredVar"),
}
# A step of the selection, and what a stay must meet in addition to the steps before it.
_STEPS = (
    ("unit stays", "true"),
    ("of adults (18 years or more)", "years >= 18"),
    ("in intensive care, not in a step-down unit", "unitstaytype IS DISTINCT FROM 'stepdown/other'"),
    ("still in the unit after 24 hours", f"unitdischargeoffset >= {FIRST_DAY}"),
    ("with a vital sign or laboratory value of that day", "measured"),
    ("first such stay of the patient", "turn = 1"),
)
_CANDIDATE = " AND ".join(condition for _, condition in _STEPS[:4])


@dataclass(frozen=True, slots=True)
class EicuSummary:
    """What a build found: stays left after each step of the selection, and labels and groups among the last of them."""

    path: Path
    readings: tuple[str, ...]
    steps: tuple[tuple[str, int], ...]
    hospitals: int
    long_stays: int
    deaths: int
    unknown_mortality: int
    ethnicity: tuple[tuple[str, int], ...]
    gender: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        width = max(len(f"{count:,}") for _, count in self.steps)
        return "\n".join(
            [
                *(f"{count:>{width},} {step}" for step, count in self.steps),
                f"from {self.hospitals:,} hospitals; {self.long_stays:,} stay longer than 7 days; "
                f"{self.deaths:,} die in hospital, unknown for {self.unknown_mortality:,}",
                "ethnicity: " + ", ".join(f"{count:,} {value}" for value, count in self.ethnicity),
                "gender: " + ", ".join(f"{count:,} {value}" for value, count in self.gender),
                f"vital signs and laboratory values from {', '.join(self.readings)}",
                f"{len(FEATURES)} inputs",
            ]
        )


def build_eicu(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    memory: str = "2GB",
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> EicuSummary:
    """Build the cohort of the eICU problem from the user's copy of the tables and write it as a parquet file.

    A stay is in the cohort if the patient is 18 or older and still in the unit, an intensive care unit, 24 hours after
    admission, with at least one vital sign or laboratory value by then. One stay of each patient is kept, the first.
    The rule and the inputs are our own, as the paper gives neither: see ``docs/design/eicu-features.md``.

    Parameters
    ----------
    folder : str or path-like
        Folder of ``patient``, ``apacheApsVar``, ``apachePredVar``, ``lab``, ``vitalPeriodic`` and ``vitalAperiodic``
        of eICU-CRD 2.0 as csv or csv.gz. Where ``lab`` or ``vitalPeriodic`` is missing, the hourly grid
        ``hourly_48vars`` will do in place of the last three.
    output : str or path-like
        Cohort file to write for :func:`load_eicu`, one row per patient, with labels, groups and 60 inputs.
    memory : str, default="2GB"
        Memory that DuckDB may use before it spills to disk.
    spill : str or path-like, optional
        Folder with space for intermediate results, which are removed in any case; by default where the system keeps
        temporary files.
    progress : callable, optional
        Called with the step and how far it is, from 0 to 1 or None.
    overwrite : bool, default=False
        Whether ``output`` may be replaced.

    Returns
    -------
    EicuSummary
        Stays left after each step of the selection, and what the cohort holds; ``print`` it.

    Raises
    ------
    InputError
        If a table is missing, damaged or not as expected, or no stay can be used; nothing is written then.

    References
    ----------
    .. [1] T. J. Pollard, A. E. W. Johnson, J. D. Raffa, L. A. Celi, R. G. Mark and O. Badawi (2018), The eICU
       Collaborative Research Database, a freely available multi-center database for critical care research,
       Scientific Data 5, 180178.
    """
    check_output(output, overwrite=overwrite)
    import_optional("pyarrow", extra="data", purpose="Building the eICU cohort")
    tables = find_tables(folder, _TABLES, source=NAME)
    readings = find_readings(folder)
    with open_database(purpose="Building the eICU cohort", memory=memory, spill=spill) as database:
        _read_stays(database, tables, progress)
        run(database, f"CREATE TABLE candidate AS SELECT * FROM patient WHERE {_CANDIDATE}", step="selecting stays")
        summarise_first_day(database, readings, progress)
        counts = _select(database)
        if not counts[-1]:
            found = ", ".join(f"{count:,} {step}" for (step, _), count in zip(_STEPS, counts, strict=True))
            raise InputError(f"no stay in {folder} can be used: {found}. Name a folder with whole tables.")
        summary = _summarise(database, Path(output), tuple(readings), counts)
        about = {key: value for key, value in asdict(summary).items() if key != "path"}
        write_cohort(_cohort(database), output, kind=KIND, about=about, overwrite=overwrite)
    return summary


def _read_stays(database: Any, tables: dict[str, SourceTable], progress: Progress | None) -> None:
    """Read the three tables that have one row for each stay."""
    for name, table in tables.items():
        columns = _TABLES[name]
        run(
            database,
            f"CREATE TABLE {name} AS SELECT {', '.join(columns)} FROM {table.scan(**columns)}",
            step=f"reading {name}",
            reads=[table],
            progress=progress,
        )
        check_key(database, table, "patientunitstayid")
    # Ages above 89 are given as "> 89" only.
    years = "CASE WHEN starts_with(age, '>') THEN 90 ELSE TRY_CAST(age AS INTEGER) END"
    run(database, f"CREATE OR REPLACE TABLE patient AS SELECT *, {years} AS years FROM patient", step="reading ages")
    sql = "SELECT patientunitstayid, age FROM patient WHERE age IS NOT NULL AND years IS NULL ORDER BY ALL LIMIT 1"
    if unclear := run(database, sql, step="reading ages"):
        raise InputError(
            f"{tables['patient'].path}: age must be a whole number, '> 89' or nothing; stay {unclear[0][0]} has "
            f"{unclear[0][1][:80]!r}. Repair the row, or copy the file again."
        )


def _select(database: Any) -> list[int]:
    """Make the table ``cohort``; return how many stays are left after each step."""
    # Stays of a patient in one hospital stay are numbered; hospital stays are known by year only, ids break the tie.
    order = "hospitaldischargeyear, patienthealthsystemstayid, unitvisitnumber, patientunitstayid"
    person = "coalesce(uniquepid, patientunitstayid::VARCHAR)"
    run(
        database,
        "CREATE TABLE selected AS SELECT *, turn IS NOT NULL AS measured FROM patient LEFT JOIN "
        f"(SELECT patientunitstayid, row_number() OVER (PARTITION BY {person} ORDER BY {order}) AS turn "
        "FROM candidate SEMI JOIN day USING (patientunitstayid)) USING (patientunitstayid)",
        step="selecting stays",
    )
    conditions = [" AND ".join(condition for _, condition in _STEPS[: n + 1]) for n in range(len(_STEPS))]
    run(database, f"CREATE TABLE cohort AS SELECT * FROM selected WHERE {conditions[-1]}", step="selecting stays")
    counted = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in conditions)
    return list(run(database, f"SELECT {counted} FROM selected", step="counting")[0])


def _summarise(database: Any, path: Path, readings: tuple[str, ...], counts: list[int]) -> EicuSummary:
    hospitals, long_stays, deaths, unknown = run(
        database,
        f"SELECT count(DISTINCT p.hospitalid), sum({ABOUT['long_stay']}), coalesce(sum({ABOUT['mortality']}), 0), "
        "count(*) FILTER (WHERE p.hospitaldischargestatus IS NULL) FROM cohort AS p",
        step="counting",
    )[0]
    groups = {
        column: run(
            database,
            f"SELECT coalesce({column}, 'unknown'), count(*) FROM cohort GROUP BY 1 ORDER BY 2 DESC, 1",
            step="counting",
        )
        for column in ("ethnicity", "gender")
    }
    return EicuSummary(
        path=path,
        readings=readings,
        steps=tuple((step, count) for (step, _), count in zip(_STEPS, counts, strict=True)),
        hospitals=int(hospitals),
        long_stays=int(long_stays),
        deaths=int(deaths),
        unknown_mortality=int(unknown),
        ethnicity=tuple(groups["ethnicity"]),
        gender=tuple(groups["gender"]),
    )


def _cohort(database: Any) -> Any:
    """Return the cohort as an Arrow table, by stay."""
    about = [f"{sql} AS {name}" for name, sql in ABOUT.items()]
    inputs = [f"({feature.sql})::DOUBLE AS {feature.name}" for feature in FEATURES]
    with plain_errors():
        return database.sql(
            f"SELECT {', '.join(about + inputs)} FROM cohort AS p "
            "LEFT JOIN apacheApsVar AS aps USING (patientunitstayid) "
            "LEFT JOIN apachePredVar AS pred USING (patientunitstayid) "
            "LEFT JOIN day USING (patientunitstayid) ORDER BY p.patientunitstayid"
        ).to_arrow_table()


NAME = "eICU"
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
    _add_medians(database, VITALS, {m.name: f"median({m.name})" for m in VITALS}, "first-day vital signs", progress)


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
    _add_medians(database, LABS, medians, "first-day laboratory values", progress)


def _add_medians(
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
