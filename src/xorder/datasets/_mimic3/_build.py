"""From a folder of MIMIC-III tables to the cohort file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.datasets._clinical import Database, SourceTable, find_tables, open_database
from xorder.datasets._cohort_file import check_output, write_cohort
from xorder.datasets._mimic3._features import FACTS, FEATURES, VARIABLES, Variable, window_features
from xorder.exceptions import InputError

_STAY_COLUMNS = "subject_id, hadm_id, icustay_id, gender, ethnicity, age, los, mortality, hospital_expire_flag"
_BATCH_STAYS = 1000
_PURPOSE = "Building a MIMIC-III cohort"


@dataclass(frozen=True, slots=True)
class Mimic3Summary:
    """How many stays each step of the selection left, and what the cohort holds. ``print`` it.

    The full release, v1.4, has 61,532 stays, and its cohort 21,139.
    """

    stays: int
    without_transfer: int
    one_per_admission: int
    adults: int
    with_diagnosis: int
    at_least_48_hours: int
    with_readings: int
    readings: int
    deaths: int
    long_stays: int
    women: int
    white: int

    def __str__(self) -> str:
        lines = [(getattr(self, name), words) for name, words in FACTS["summary"].items()]
        return "\n".join(f"{count:>9,}  {words.format(readings=self.readings)}" for count, words in lines)


def build_mimic3(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    apply_ranges: bool = False,
    memory: str = "2GB",
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Mimic3Summary:
    """Build the cohort of the in-hospital mortality benchmark from MIMIC-III v1.4 tables and write it as parquet.

    Parameters
    ----------
    folder : str or path-like
        Folder of PATIENTS, ADMISSIONS, ICUSTAYS, DIAGNOSES_ICD, D_ICD_DIAGNOSES, CHARTEVENTS and LABEVENTS as csv or
        csv.gz.
    output : str or path-like
        Cohort file to write for :func:`load_mimic3`, one row per stay.
    apply_ranges : bool, default=False
        Whether to take implausible values out. The benchmark has ranges but does not use them.
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
    Mimic3Summary
        Stays left after each step of the selection, and what the cohort holds; ``print`` it.

    Raises
    ------
    InputError
        If a table is missing, damaged or not as expected, or no stay can be used; nothing is written then.

    References
    ----------
    .. [1] H. Harutyunyan, H. Khachatrian, D. C. Kale, G. Ver Steeg and A. Galstyan (2019), Multitask learning and
       benchmarking with clinical time series data, Scientific Data 6, 96.
    .. [2] A. E. W. Johnson et al. (2016), MIMIC-III, a freely accessible critical care database, Scientific Data 3,
       160035.
    """
    check_output(output, overwrite=overwrite)
    tables = find_tables(folder, TABLES | EVENTS, source="MIMIC-III")
    with open_database(purpose=_PURPOSE, memory=memory, spill=spill, progress=progress) as database:
        counts = select_stays(database, tables)
        read_events(database, tables, apply_ranges=apply_ranges)
        cohort, readings = _cohort(database, counts["at_least_48_hours"])
    column = cohort.select(["mortality", "los", "gender", "ethnicity"]).to_pydict()
    summary = Mimic3Summary(
        **counts,
        with_readings=cohort.num_rows,
        readings=readings,
        deaths=sum(column["mortality"]),
        long_stays=sum(days > 7 for days in column["los"]),
        women=column["gender"].count("F"),
        white=sum((text or "").startswith("WHITE") for text in column["ethnicity"]),
    )
    if cohort.num_rows == 0:
        steps = ", ".join(" ".join(line.split()) for line in str(summary).splitlines()[:6])
        raise InputError(f"no stay in {folder} belongs to the cohort ({steps}, none with readings). Check the tables.")
    about = {"source": Path(folder).resolve().name, "apply_ranges": apply_ranges, "counts": asdict(summary)}
    write_cohort(cohort, output, kind="mimic3", about=about, overwrite=overwrite)
    return summary


def _cohort(database: Database, candidates: int) -> tuple[Any, int]:
    """Return an Arrow table of the candidates that have readings, with their features, and the number of readings."""
    pa = import_optional("pyarrow", extra="data", purpose=_PURPOSE)
    features = np.empty((candidates, len(FEATURES)), dtype=np.float32)
    readings = 0
    for first in range(0, candidates, _BATCH_STAYS):
        database.report("computing features", first / candidates)
        count = min(_BATCH_STAYS, candidates - first)
        read = database.arrow(merged_readings(first, first + count - 1))
        stay, variable, second = (read[name].to_numpy().astype(np.int64) for name in ("stay", "variable", "second"))
        number = read["number"].to_numpy()
        features[first : first + count] = window_features(count, stay - first, variable, second, number)
        readings += len(stay)
    stays = database.arrow(f"SELECT {_STAY_COLUMNS} FROM at_least_48_hours ORDER BY stay")
    names = [*stays.column_names, *FEATURES]
    table = pa.Table.from_arrays([*stays.columns, *map(pa.array, features.T)], names=names)
    database.report("computing features", 1.0)
    return table.filter(pa.array(~np.isnan(features).all(axis=1))), readings


_NUMBER = "try_cast(value AS DOUBLE)"
_PLAIN = rf"CASE WHEN regexp_full_match(value, '\d+(\.\d*)?|\.\d+') THEN {_NUMBER} END"
_UNIT = "lower(coalesce(valueuom, ''))"
_POUNDS = 0.453592

READINGS = {
    "number": _NUMBER,
    # Laboratories write words, or characters such as < and >, where they have no number.
    "laboratory": _PLAIN,
    # A pressure is a number, or a pair such as 120/80.
    "first of pair": r"try_cast(CASE WHEN regexp_full_match(value, '\d+/\d+') THEN split_part(value, '/', 1) "
    "ELSE value END AS DOUBLE)",
    "second of pair": r"try_cast(CASE WHEN regexp_full_match(value, '\d+/\d+') THEN split_part(value, '/', 2) "
    "ELSE value END AS DOUBLE)",
    "coma scale": f"CASE WHEN {_NUMBER} BETWEEN 3 AND 15 THEN {_NUMBER} END",
    "fraction": f"CASE WHEN {_NUMBER} > 1 AND NOT contains({_UNIT}, 'torr') THEN {_NUMBER} / 100 ELSE {_NUMBER} END",
    "saturation": f"CASE WHEN ({_PLAIN}) <= 1 THEN 100 * ({_PLAIN}) ELSE ({_PLAIN}) END",
    # Nobody is 79 degrees Celsius warm, nor alive at 79 degrees Fahrenheit for long.
    "temperature": f"CASE WHEN {_NUMBER} >= 79 THEN ({_NUMBER} - 32) * 5 / 9 ELSE {_NUMBER} END",
    "weight": f"CASE WHEN contains({_UNIT}, 'oz') OR itemid = 3582 THEN {_NUMBER} / 16 * {_POUNDS} "
    f"WHEN contains({_UNIT}, 'lb') OR itemid IN (3581, 226531) THEN {_NUMBER} * {_POUNDS} ELSE {_NUMBER} END",
    "height": f"CASE WHEN contains({_UNIT}, 'in') OR itemid = 1394 THEN round_even({_NUMBER} * 2.54, 0) "
    f"ELSE {_NUMBER} END",
}


def read_events(database: Database, tables: Mapping[str, SourceTable], *, apply_ranges: bool) -> None:
    """Make the table ``readings`` (stay, variable, second, number, text) from one pass over each event table.

    It needs ``adults`` and ``at_least_48_hours`` of :func:`select_stays`. As in the benchmark, an event counts
    if its admission is one of the adults' and its ICU stay, where it names one, is that admission's; it goes to the
    candidate stays of this patient that were in their first 48 hours at that time.
    """
    items = ", ".join(f"({item}, {number})" for number, variable in enumerate(VARIABLES) for item in variable.items)
    database.run(f"CREATE TEMP TABLE items AS SELECT * FROM (VALUES {items}) AS listed(itemid, variable)")
    database.run("CREATE TEMP TABLE readings (stay INT, variable TINYINT, second INT, number DOUBLE, text VARCHAR)")
    # DuckDB cannot know how many rows a csv file has, and may take the small tables for the larger side of a join: it
    # would then gather hundreds of millions of events in a hash table. As written, events stream past small tables.
    database.run("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    for name, types in EVENTS.items():
        same_stay = (
            "event.icustay_id IS NULL OR event.icustay_id = adult.icustay_id" if "icustay_id" in types else "true"
        )
        sql = _insert_readings(tables[name].scan(**types), same_stay, apply_ranges=apply_ranges)
        database.read(sql, tables[name])


def merged_readings(first: int, last: int) -> str:
    """Return SQL for the readings of stays ``first`` to ``last``, one per stay, variable and time, in this order.

    Of several the benchmark keeps the last after sorting, which for texts that it had not turned into numbers before
    (heart rate, say) is the last by text: 99 is kept, not 102.
    """
    by_text = ", ".join(str(number) for number, variable in enumerate(VARIABLES) if variable.by_text)
    return f"""
        SELECT stay, variable, second,
               CASE WHEN variable IN ({by_text}) THEN arg_max(number, text) ELSE max(number) END AS number
        FROM readings WHERE stay BETWEEN {first} AND {last} AND isfinite(number)
        GROUP BY stay, variable, second ORDER BY stay, variable, second"""


def _insert_readings(events: str, same_stay: str, *, apply_ranges: bool) -> str:
    numbers = " ".join(
        f"WHEN {number} THEN {_reading(variable, apply_ranges=apply_ranges)}"
        for number, variable in enumerate(VARIABLES)
    )
    return f"""
        INSERT INTO readings
        SELECT candidate.stay, item.variable, date_diff('second', candidate.intime, event.charttime),
               CASE item.variable {numbers} END, event.value
        FROM {events} AS event
        JOIN items AS item USING (itemid)
        JOIN adults AS adult ON adult.hadm_id = event.hadm_id AND adult.subject_id = event.subject_id
        JOIN at_least_48_hours AS candidate ON candidate.subject_id = event.subject_id
        WHERE event.value IS NOT NULL AND ({same_stay})
          AND event.charttime BETWEEN candidate.intime AND candidate.intime + INTERVAL 48 HOUR"""


def _reading(variable: Variable, *, apply_ranges: bool) -> str:
    if variable.words:
        words = " ".join(f"WHEN '{word}' THEN {number}" for word, number in variable.words.items())
        number = f"CASE value {words} END::DOUBLE"
    else:
        number = READINGS[variable.reading]
    if not apply_ranges:
        return f"({number})"
    (lowest, highest), (low, high) = variable.outlier, variable.valid
    clipped = f"least(greatest(({number}), {low}), {high})"
    return f"(CASE WHEN ({number}) BETWEEN {lowest} AND {highest} THEN {clipped} END)"


# The columns that are used, and their types.
TABLES: dict[str, dict[str, str]] = FACTS["tables"]
EVENTS: dict[str, dict[str, str]] = FACTS["events"]

# The steps of the selection, as the summary names them, each with the stays that are left.
_STEPS = {
    "stays": "SELECT * FROM icustays",
    "without_transfer": "SELECT * FROM stays WHERE first_wardid = last_wardid AND first_careunit = last_careunit",
    # Stays with a transfer are gone by now: an admission whose other stays had one counts as having a single stay.
    "one_per_admission": """
        SELECT * FROM without_transfer JOIN admissions USING (subject_id, hadm_id) JOIN patients USING (subject_id)
        QUALIFY count(*) OVER (PARTITION BY hadm_id) = 1""",
    # Birth dates of people over 89 are moved back by 300 years; the benchmark, too, gives 90 as their age.
    "adults": """
        SELECT * REPLACE (CASE WHEN age < 0 OR age > 150 THEN 90 ELSE age END AS age)
        FROM (SELECT *, date_diff('second', dob, intime) / (365 * 86400.0) AS age FROM one_per_admission)
        WHERE age < 0 OR age >= 18""",
    # The benchmark has no row for a stay without any diagnosis that the dictionary of codes knows.
    "with_diagnosis": """
        SELECT * FROM adults SEMI JOIN (SELECT * FROM diagnoses_icd SEMI JOIN d_icd_diagnoses USING (icd9_code))
        USING (subject_id, hadm_id)""",
    # Lengths of stay are given in days, to four decimals.
    "at_least_48_hours": """
        SELECT row_number() OVER (ORDER BY icustay_id) - 1 AS stay, *,
               (coalesce(dod BETWEEN admittime AND dischtime, false)
                OR coalesce(deathtime BETWEEN admittime AND dischtime, false))::TINYINT AS mortality
        FROM with_diagnosis WHERE 24 * los >= 48 - 1e-6""",
}


def select_stays(database: Database, tables: Mapping[str, SourceTable]) -> dict[str, int]:
    """Make a table of each step of the selection, and return how many stays each has."""
    for name, types in TABLES.items():
        database.load(tables[name], types, FACTS["keys"].get(name))
    counts = {}
    for name, sql in _STEPS.items():
        database.run(f"CREATE TEMP TABLE {name} AS {sql}")
        counts[name] = database.run(f"SELECT count(*) FROM {name}")[0][0]
    return counts
