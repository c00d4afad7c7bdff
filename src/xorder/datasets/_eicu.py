"""The eICU problem, from the user's own copy of the tables: who is in the cohort, labels, groups and 60 inputs.

The paper names neither its inputs nor its cohort; these are our own. All are known a day after admission to the unit:
see ``docs/design/eicu-features.md``. What each input is made from is listed in ``eicu.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal

from xorder._progress import Progress
from xorder.datasets._clinical import Database, SourceTable, find_tables, open_database
from xorder.datasets._cohort_file import Impute, check_output, cohort_problem, write_cohort
from xorder.datasets._facts import read_facts
from xorder.datasets._problem import Problem
from xorder.exceptions import InputError

FACTS = read_facts("eicu")


@dataclass(frozen=True, slots=True)
class Measurement:
    """A vital sign or a laboratory value, and what each source calls it.

    ``daily`` are the statistics of its hourly medians that are inputs. ``columns`` are columns of vitalPeriodic and
    vitalAperiodic, ``labs`` are values of ``labname`` in lab, ``grid`` is the column of hourly_48vars. Readings outside
    of ``low`` to ``high`` are taken for errors and left out.
    """

    name: str
    unit: str
    daily: tuple[str, ...]
    low: float
    high: float
    grid: str
    columns: tuple[str, ...] = ()
    labs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feature:
    """An input: ``sql`` makes it from the tables ``p`` (patient), ``aps``, ``pred`` and ``day`` (the first day)."""

    name: str
    unit: str
    source: str
    sql: str


VITALS = tuple(Measurement(name, **facts) for name, facts in FACTS["vitals"].items())
LABS = tuple(Measurement(name, **facts) for name, facts in FACTS["labs"].items())

_ALIASES = {"patient": "p", "apacheApsVar": "aps", "apachePredVar": "pred"}


def _within(value: str, low: float, high: float) -> str:
    """Return SQL for ``value`` where it lies in a range, and null elsewhere."""
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"


def _stated(
    name: str,
    source: str,
    unit: str = "0/1",
    within: tuple[float, float] = (0, 1),
    one_of: tuple[str, ...] = (),
    sql: str | None = None,
) -> Feature:
    """An input from one column of a table: where it is in a range, whether it is one of some texts, or by ``sql``."""
    table, _, column = source.partition(".")
    value = f"{_ALIASES[table]}.{column}"
    if one_of:
        listed = ", ".join(f"'{text}'" for text in one_of)
        sql = f"CASE WHEN {value} IS NOT NULL THEN {value} IN ({listed}) END"
        return Feature(name, unit, f"{source}: {', '.join(one_of)}", sql)
    return Feature(name, unit, source, sql or _within(value, *within))


def _daily(m: Measurement) -> list[Feature]:
    where = ", ".join((*m.columns, *(f"lab {lab}" for lab in m.labs)))
    return [
        Feature(f"{m.name}_{each}", m.unit, f"first day: {each} of {where}", f"day.{m.name}_{each}") for each in m.daily
    ]


FEATURES: tuple[Feature, ...] = (
    *(_stated(name, **facts) for name, facts in FACTS["features"].items()),
    *(feature for measurement in (*VITALS, *LABS) for feature in _daily(measurement)),
)

FIRST_DAY = 24 * 60

_NAME: str = FACTS["problem"]["name"]
_TABLES: dict[str, dict[str, str]] = FACTS["tables"]
# A step of the selection, and what a stay must meet in addition to the steps before it.
_STEPS: dict[str, str] = FACTS["selection"]
# What a stay must meet to be left after each step.
_LEFT = tuple(accumulate(_STEPS.values(), "{} AND {}".format))
_CANDIDATE = _LEFT[3]


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
        steps = "\n".join(f"{count:>{width},} {step}" for step, count in self.steps)
        groups = [", ".join(f"{count:,} {value}" for value, count in each) for each in (self.ethnicity, self.gender)]
        counts = {name: value for name, value in asdict(self).items() if isinstance(value, int)}
        lists = {"steps": steps, "ethnicity": groups[0], "gender": groups[1], "readings": ", ".join(self.readings)}
        return str(FACTS["summary"].format(**counts, **lists, inputs=len(FEATURES)))


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
    tables = find_tables(folder, _TABLES, source=_NAME)
    readings = find_readings(folder)
    with open_database(purpose="Building the eICU cohort", memory=memory, spill=spill, progress=progress) as database:
        _read_stays(database, tables)
        database.run(f"CREATE TEMP TABLE candidate AS SELECT * FROM patient WHERE {_CANDIDATE}")
        summarise_first_day(database, readings)
        steps = _select(database)
        if not steps[-1][1]:
            found = ", ".join(f"{count:,} {step}" for step, count in steps)
            raise InputError(f"no stay in {folder} can be used: {found}. Name a folder with whole tables.")
        summary = _summarise(database, Path(output), tuple(readings), steps)
        about = {key: value for key, value in asdict(summary).items() if key != "path"}
        cohort = database.arrow("SELECT * FROM cohort ORDER BY patientunitstayid")
    write_cohort(cohort, output, kind=FACTS["kind"], about=about, overwrite=overwrite)
    return summary


def _read_stays(database: Database, tables: Mapping[str, SourceTable]) -> None:
    """Read the three tables that have one row for each stay."""
    for name, table in tables.items():
        database.load(table, _TABLES[name], "patientunitstayid")
    # Ages above 89 are given as "> 89" only.
    years = "CASE WHEN starts_with(age, '>') THEN 90 ELSE TRY_CAST(age AS INTEGER) END"
    database.run(f"CREATE OR REPLACE TEMP TABLE patient AS SELECT *, {years} AS years FROM patient")
    sql = "SELECT patientunitstayid, age FROM patient WHERE age IS NOT NULL AND years IS NULL ORDER BY ALL LIMIT 1"
    if unclear := database.run(sql):
        raise InputError(
            f"{tables['patient'].path}: age must be a whole number, '> 89' or nothing; stay {unclear[0][0]} has "
            f"{unclear[0][1][:80]!r}. Repair the row, or copy the file again."
        )


def _select(database: Database) -> tuple[tuple[str, int], ...]:
    """Make the table ``cohort``: who a row is about, labels and inputs; return the stays left after each step."""
    # Stays of a patient in one hospital stay are numbered; hospital stays are known by year only, ids break the tie.
    order = "hospitaldischargeyear, patienthealthsystemstayid, unitvisitnumber, patientunitstayid"
    person = "coalesce(uniquepid, patientunitstayid::VARCHAR)"
    database.run(
        "CREATE TEMP TABLE selected AS SELECT *, turn IS NOT NULL AS measured FROM patient LEFT JOIN "
        f"(SELECT patientunitstayid, row_number() OVER (PARTITION BY {person} ORDER BY {order}) AS turn "
        "FROM candidate SEMI JOIN day USING (patientunitstayid)) USING (patientunitstayid)"
    )
    about = [f"{sql} AS {name}" for name, sql in FACTS["about"].items()]
    inputs = [f"({feature.sql})::DOUBLE AS {feature.name}" for feature in FEATURES]
    database.run(
        f"CREATE TEMP TABLE cohort AS SELECT {', '.join(about + inputs)} FROM selected AS p "
        "LEFT JOIN apacheApsVar AS aps USING (patientunitstayid) "
        "LEFT JOIN apachePredVar AS pred USING (patientunitstayid) "
        f"LEFT JOIN day USING (patientunitstayid) WHERE {_LEFT[-1]}"
    )
    counted = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in _LEFT)
    (counts,) = database.run(f"SELECT {counted} FROM selected")
    return tuple(zip(_STEPS, counts, strict=True))


def _summarise(
    database: Database, path: Path, readings: tuple[str, ...], steps: tuple[tuple[str, int], ...]
) -> EicuSummary:
    (counts,) = database.run(
        "SELECT count(DISTINCT hospitalid), count(*) FILTER (WHERE long_stay = 1), "
        "count(*) FILTER (WHERE mortality = 1), count(*) FILTER (WHERE mortality IS NULL) FROM cohort"
    )
    groups = [
        tuple(database.run(f"SELECT coalesce({name}, 'unknown'), count(*) FROM cohort GROUP BY 1 ORDER BY 2 DESC, 1"))
        for name in ("ethnicity", "gender")
    ]
    # The counts and the groups are in the order of its fields.
    return EicuSummary(path, readings, steps, *counts, *groups)


_GRID = "hourly_48vars"
_GRID_WANTED = {_GRID: ["stay_id", "hour", *(measurement.grid for measurement in (*VITALS, *LABS))]}
# The columns of each table that hold vital signs: those of the arterial line, and those of the cuff.
_VITALS = {
    "vitalPeriodic": {m.columns[0]: m for m in VITALS},
    "vitalAperiodic": {m.columns[1]: m for m in VITALS if len(m.columns) > 1},
}
_FULL_WANTED = {
    "lab": ["patientunitstayid", "labresultoffset", "labname", "labresult"],
    **{name: ["patientunitstayid", "observationoffset", *columns] for name, columns in _VITALS.items()},
}
# DuckDB cannot move the readings behind a median out of memory (about 100 bytes each), so it gets few at a time.
_READINGS_AT_A_TIME = 1_000_000


def find_readings(folder: str | os.PathLike[str]) -> dict[str, SourceTable]:
    """Find lab, vitalPeriodic and vitalAperiodic; where one of the first two is missing, the grid will do."""
    names = {path.name.lower().partition(".csv")[0] for path in Path(folder).iterdir()}
    use_grid = _GRID in names and not {"lab", "vitalperiodic"} <= names
    return find_tables(folder, _GRID_WANTED if use_grid else _FULL_WANTED, source=_NAME)


def summarise_first_day(database: Database, tables: Mapping[str, SourceTable]) -> None:
    """Make the table ``day``: a row for each of the stays in ``candidate`` that has a reading, and its statistics."""
    columns = _day_columns([*VITALS, *LABS])
    database.run(f"CREATE TEMP TABLE part (stay BIGINT, {', '.join(f'{name} DOUBLE' for name in columns)})")
    if _GRID in tables:
        measurements = {m.grid: m for m in (*VITALS, *LABS)}
        hours = _first_day(tables[_GRID], "hour", measurements, stay="stay_id", end=FIRST_DAY // 60)
        sql = _insert_days([*VITALS, *LABS], f"SELECT stay_id AS stay, {_plausible(measurements)} FROM {hours}")
        database.read(sql, tables[_GRID])
    else:
        _read_vitals(database, tables)
        _read_labs(database, tables["lab"])
    # A stay has one row in part from its vital signs, and one from its laboratory values.
    joined = ", ".join(f"max({name}) AS {name}" for name in columns)
    database.run(
        f"CREATE TEMP TABLE day AS SELECT stay AS patientunitstayid, {joined} FROM part "
        f"WHERE coalesce({', '.join(columns)}) IS NOT NULL GROUP BY stay"
    )


def _day_columns(measurements: Sequence[Measurement]) -> dict[str, str]:
    """Map the name of a statistic of the day to the SQL that makes it from the medians of its hours."""
    return {f"{m.name}_{each}": f"{each}({m.name})" for m in measurements for each in m.daily}


def _first_day(
    table: SourceTable, offset: str, numbers: Collection[str], *, stay: str = "patientunitstayid", end: int = FIRST_DAY
) -> str:
    """Return SQL for a FROM clause with the rows of the first day of the candidates, before anything is computed."""
    types = dict.fromkeys(numbers, "DOUBLE") | {stay: "BIGINT", offset: "BIGINT"}
    return (
        f"{table.scan(**types)} WHERE {offset} >= 0 AND {offset} < {end} "
        f"AND {stay} IN (SELECT patientunitstayid FROM candidate)"
    )


def _plausible(measurements: Mapping[str, Measurement]) -> str:
    """Return SQL for the cells of columns, where plausible, under the names of their measurements."""
    return ", ".join(f"{_within(column, m.low, m.high)} AS {m.name}" for column, m in measurements.items())


def _read_vitals(database: Database, tables: Mapping[str, SourceTable]) -> None:
    # Vital signs are whole numbers: half the bytes hold them exactly.
    cells = ", ".join(f"{m.name} FLOAT" for m in VITALS)
    database.run(f"CREATE TEMP TABLE reading (stay BIGINT, hour UTINYINT, {cells})")
    for name, columns in _VITALS.items():
        database.read(
            f"INSERT INTO reading BY NAME SELECT patientunitstayid AS stay, observationoffset // 60 AS hour, "
            f"{_plausible(columns)} FROM {_first_day(tables[name], 'observationoffset', columns)}",
            tables[name],
        )
    _add_medians(database, VITALS, {m.name: f"median({m.name})" for m in VITALS}, "first-day vital signs")


def _read_labs(database: Database, lab: SourceTable) -> None:
    names = [", ".join(f"'{name}'" for name in measurement.labs) for measurement in LABS]
    whens = " ".join(
        f"WHEN labname IN ({names[i]}) AND labresult BETWEEN {m.low} AND {m.high} THEN {i}" for i, m in enumerate(LABS)
    )
    database.read(
        "CREATE TEMP TABLE reading AS SELECT * FROM (SELECT patientunitstayid AS stay, "
        f"(labresultoffset // 60)::UTINYINT AS hour, (CASE {whens} END)::UTINYINT AS what, labresult AS value "
        f"FROM {_first_day(lab, 'labresultoffset', ['labresult'])}) WHERE what IS NOT NULL",
        lab,
    )
    medians = {m.name: f"median(value) FILTER (WHERE what = {i})" for i, m in enumerate(LABS)}
    _add_medians(database, LABS, medians, "first-day laboratory values")


def _add_medians(database: Database, measurements: Sequence[Measurement], medians: dict[str, str], step: str) -> None:
    """Turn the table ``reading`` into medians of hours and these into rows of ``part``, some stays at a time."""
    running = f"(sum(count(*)) OVER (ORDER BY stay)) // {_READINGS_AT_A_TIME}"
    parts = database.run(
        f"SELECT min(stay), max(stay) FROM (SELECT stay, {running} AS number FROM reading GROUP BY stay) "
        "GROUP BY number ORDER BY 1"
    )
    cells = ", ".join(f"{sql} AS {name}" for name, sql in medians.items())
    for number, (first, last) in enumerate(parts):
        database.report(step, number / len(parts))
        hours = f"SELECT stay, {cells} FROM reading WHERE stay BETWEEN {first} AND {last} GROUP BY stay, hour"
        database.run(_insert_days(measurements, hours))
    database.run("DROP TABLE reading")
    database.report(step, 1.0)


def _insert_days(measurements: Sequence[Measurement], hours: str) -> str:
    days = ", ".join(f"{sql} AS {name}" for name, sql in _day_columns(measurements).items())
    return f"INSERT INTO part BY NAME SELECT stay, {days} FROM ({hours}) GROUP BY stay"


def load_eicu(
    cohort: str | os.PathLike[str],
    *,
    task: Literal["long_stay", "mortality"] = "long_stay",
    group: Literal["ethnicity", "gender"] = "ethnicity",
    splits: int | None = None,
    impute: Impute = None,
) -> Problem:
    """Load a cohort that :func:`build_eicu` wrote.

    Neither gender nor ethnicity is among the inputs. Nothing is filled by default: some models take NaN as it is, and
    only the user knows what the training part is. For one split, ``impute_mean(problem.X, problem.splits[0].train)``
    fills it; for all of them, a model that imputes by itself::

        make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression())

    Stays whose label or group is not known are left out; ``warnings`` says how many. Row numbers, also in ``impute``,
    are those of ``X``, without them.

    Parameters
    ----------
    cohort : str or path-like
        Parquet file of the cohort.
    task : {"long_stay", "mortality"}, default="long_stay"
        Label: longer than 7 days in the unit, or death in hospital.
    group : {"ethnicity", "gender"}, default="ethnicity"
        Groups: Caucasian and not Caucasian, or female and male.
    splits : int, optional
        Number of random splits into training (70 %) and test part to draw.
    impute : array-like of int or "mean", optional
        Numbers of training rows, whose means fill what was not measured; or ``"mean"`` for means over all rows, which
        lets a little of a test part into training. By default NaN stays.

    Returns
    -------
    Problem
        Inputs, labels and groups, with what to know about them.

    References
    ----------
    .. [1] T. J. Pollard, A. E. W. Johnson, J. D. Raffa, L. A. Celi, R. G. Mark and O. Badawi (2018), The eICU
       Collaborative Research Database, a freely available multi-center database for critical care research,
       Scientific Data 5, 180178.
    """
    inputs = [feature.name for feature in FEATURES]
    return cohort_problem(cohort, FACTS, inputs, task=task, group=group, splits=splits, impute=impute)
