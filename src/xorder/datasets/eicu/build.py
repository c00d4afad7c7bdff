"""From a user's own eICU tables to a cohort file: who is in it, the labels, the groups and the inputs."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.datasets.clinical import SourceTable, check_key, find_tables, open_database, run
from xorder.datasets.clinical_errors import plain_errors
from xorder.datasets.cohort_file import check_output, write_cohort
from xorder.datasets.eicu.features import FEATURES
from xorder.datasets.eicu.first_day import FIRST_DAY, NAME, find_readings, summarise_first_day
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
    ("first such stay of the patient", "place = 1"),
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

    Parameters
    ----------
    folder : holds ``patient``, ``apacheApsVar``, ``apachePredVar``, ``lab``, ``vitalPeriodic`` and ``vitalAperiodic``
        of eICU-CRD 2.0 as csv or csv.gz. Where ``lab`` or ``vitalPeriodic`` is missing, the hourly grid
        ``hourly_48vars`` will do in place of the last three.
    output : the cohort; one row for each patient, with labels, groups and 60 inputs
    memory : what DuckDB may use, such as ``"2GB"``; what does not fit is kept in a folder below ``spill``
    spill : a folder with space for intermediate results; by default where the system keeps temporary files
    progress : called with what is being done and its share done, from 0 to 1, or ``None``
    overwrite : whether ``output`` may be replaced

    A stay is in the cohort if the patient is 18 or older and still in the unit, an intensive care unit, 24 hours after
    admission, with at least one vital sign or laboratory value by then. One stay of each patient is kept, the first.
    The rule and the inputs are our own, as the paper gives neither: see ``docs/design/eicu-features.md``. If anything
    goes wrong, nothing is written.
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
    # Ages above 89 are told as "> 89" only.
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
        "CREATE TABLE selected AS SELECT *, place IS NOT NULL AS measured FROM patient LEFT JOIN "
        f"(SELECT patientunitstayid, row_number() OVER (PARTITION BY {person} ORDER BY {order}) AS place "
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
