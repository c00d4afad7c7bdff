"""The paper's two MIMIC-III problems, from the user's own copy of the tables: the cohort file, and what it holds.

A stay has 714 features: 17 clinical variables, seven windows and six statistics of each. Which items of MIMIC-III a
variable is charted under, how they are read and what is plausible are facts of the benchmark of Harutyunyan et al.
(Scientific Data 6, 96, 2019; ``mimic3-benchmarks``, MIT), listed in ``mimic3.toml``: its map of item ids, its unit
conversions, the numbers it gives to charted words, its ranges, and its selection of stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._table import FloatArray, IntArray
from xorder.datasets._clinical import Database, SourceTable, find_tables, open_database
from xorder.datasets._cohort_file import Impute, check_output, cohort_problem, write_cohort
from xorder.datasets._facts import read_facts
from xorder.datasets._problem import Problem
from xorder.exceptions import InputError

FACTS = read_facts("mimic3")

# The columns that are used, and their types.
TABLES: dict[str, dict[str, str]] = FACTS["tables"]
EVENTS: dict[str, dict[str, str]] = FACTS["events"]

_STAY_COLUMNS = "subject_id, hadm_id, icustay_id, gender, ethnicity, age, los, mortality, hospital_expire_flag"
_BATCH_STAYS = 1000
_PURPOSE = "Building a MIMIC-III cohort"


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable.

    Attributes
    ----------
    name : how its columns start in the cohort file
    unit : after conversion
    items : the item ids it is charted or measured under
    reading : how its text becomes a number; a name in :data:`READINGS`
    outlier : values outside are taken for errors, where ranges are applied
    valid : values outside, but within ``outlier``, are moved to the nearer end, where ranges are applied
    words : the numbers of charted words, for variables that are charted in words
    by_text : of several values at one time the benchmark keeps the last by text, not by number
    """

    name: str
    unit: str
    items: tuple[int, ...]
    reading: str
    outlier: tuple[float, float]
    valid: tuple[float, float]
    words: Mapping[str, float] = field(default_factory=dict)
    by_text: bool = False


VARIABLES = tuple(Variable(name, **facts) for name, facts in FACTS["variables"].items())

# Shares, in per cent, of the time between the first and the last reading of the variable in the stay's 48 hours.
WINDOWS: dict[str, tuple[int, int]] = FACTS["windows"]

STATISTICS = ("min", "max", "mean", "std", "skew", "count")
FEATURES = tuple(f"{v.name}|{window}|{statistic}" for v in VARIABLES for window in WINDOWS for statistic in STATISTICS)


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
    write_cohort(cohort, output, kind=FACTS["kind"], about=about, overwrite=overwrite)
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
    table = pa.Table.from_arrays([*stays.columns, *map(pa.array, features.T)], names=[*stays.column_names, *FEATURES])
    database.report("computing features", 1.0)
    return table.filter(pa.array(~np.isnan(features).all(axis=1))), readings


# How the text of a reading becomes a number.
READINGS = {
    name: sql.format(
        number="try_cast(value AS DOUBLE)",
        plain=r"CASE WHEN regexp_full_match(value, '\d+(\.\d*)?|\.\d+') THEN try_cast(value AS DOUBLE) END",
        unit="lower(coalesce(valueuom, ''))",
    )
    for name, sql in FACTS["readings"].items()
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
    readings = [_reading(variable, apply_ranges=apply_ranges) for variable in VARIABLES]
    numbers = " ".join(f"WHEN {number} THEN {reading}" for number, reading in enumerate(readings))
    for name, types in EVENTS.items():
        same_stay = "event.icustay_id IS NULL OR event.icustay_id = adult.icustay_id"
        sql = f"""
            INSERT INTO readings
            SELECT candidate.stay, item.variable, date_diff('second', candidate.intime, event.charttime),
                   CASE item.variable {numbers} END, event.value
            FROM {tables[name].scan(**types)} AS event
            JOIN items AS item USING (itemid)
            JOIN adults AS adult ON adult.hadm_id = event.hadm_id AND adult.subject_id = event.subject_id
            JOIN at_least_48_hours AS candidate ON candidate.subject_id = event.subject_id
            WHERE event.value IS NOT NULL AND ({same_stay if "icustay_id" in types else "true"})
              AND event.charttime BETWEEN candidate.intime AND candidate.intime + INTERVAL 48 HOUR"""
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


def select_stays(database: Database, tables: Mapping[str, SourceTable]) -> dict[str, int]:
    """Make a table of each step of the selection, and return how many stays each has."""
    for name, types in TABLES.items():
        database.load(tables[name], types, FACTS["keys"].get(name))
    counts = {}
    for name, sql in FACTS["selection"].items():
        database.run(f"CREATE TEMP TABLE {name} AS {sql}")
        counts[name] = database.run(f"SELECT count(*) FROM {name}")[0][0]
    return counts


def window_features(
    stays: int, stay: IntArray, variable: IntArray, second: IntArray, number: FloatArray
) -> NDArray[np.float32]:
    """Return the features of stays 0, 1, ..., one row each, from readings sorted by stay, variable and time.

    A variable that was never read has NaN in all its features, the count too, as in the benchmark. Readings at the
    very ends of a window belong to it. The deviation divides by n; the skewness is the third central moment over the
    second to the power 3/2, and 0 where all readings are equal.
    """
    features = np.full((stays, len(VARIABLES), len(WINDOWS), len(STATISTICS)), np.nan, dtype=np.float32)
    if len(number) == 0:
        return features.reshape(stays, len(FEATURES))
    start = np.flatnonzero(np.append(True, (np.diff(stay) != 0) | (np.diff(variable) != 0)))
    size = np.diff(np.append(start, len(number)))
    row, column = stay[start], variable[start]
    # Whole seconds and whole per cent: no reading falls on the wrong side of an end by rounding.
    elapsed = 100 * (second - np.repeat(second[start], size))
    duration = np.repeat(second[start + size - 1] - second[start], size)
    for window, (begin, end) in enumerate(WINDOWS.values()):
        inside = (elapsed >= begin * duration) & (elapsed <= end * duration)
        counts = np.add.reduceat(inside, start, dtype=np.int64)
        for which, values in enumerate(_statistics(number[inside], counts)):
            features[row, column, window, which] = values
    return features.reshape(stays, len(FEATURES))


def _statistics(number: FloatArray, counts: IntArray) -> Iterator[FloatArray]:
    """Yield the statistics of consecutive pieces of ``number``, none of them empty."""
    start = np.cumsum(counts) - counts
    mean = np.add.reduceat(number, start) / counts
    deviation = number - np.repeat(mean, counts)
    second = np.add.reduceat(deviation**2, start) / counts
    third = np.add.reduceat(deviation**3, start) / counts
    # Equal readings may leave a deviation of rounding errors only.
    flat = second <= (np.finfo(np.float64).resolution * mean) ** 2
    yield np.minimum.reduceat(number, start)
    yield np.maximum.reduceat(number, start)
    yield mean
    yield np.sqrt(second)
    yield np.where(flat, 0.0, third / np.where(flat, 1.0, second) ** 1.5)
    yield counts.astype(np.float64)


def load_mimic3(
    cohort: str | os.PathLike[str],
    *,
    task: Literal["mortality", "long_stay"] = "mortality",
    group: Literal["gender", "ethnicity"] | None = None,
    splits: int | None = None,
    impute: Impute = None,
) -> Problem:
    """Load a cohort that :func:`build_mimic3` wrote, as one of the paper's two MIMIC-III problems.

    Nothing is filled by default, as only the user knows what the training part is, and with several splits there are
    several. Any of these gives the benchmark's values for a split::

        problem = load_mimic3(cohort, splits=10)
        X = impute_mean(problem.X, problem.splits[0].train)
        X = load_mimic3(cohort, impute=problem.splits[0].train).X
        make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(C=0.001))

    Parameters
    ----------
    cohort : str or path-like
        Parquet file of the cohort.
    task : {"mortality", "long_stay"}, default="mortality"
        Label: death in hospital, or longer than 7 days in intensive care.
    group : {"gender", "ethnicity"}, optional
        Groups: female and male, or white and not white; by default the paper's for the task, which is gender for
        mortality and ethnicity for long stays.
    splits : int, optional
        Number of random splits into training (70 %) and test part to draw; all stays of a patient go together.
    impute : array-like of int or "mean", optional
        Numbers of training rows, whose means fill what was not measured, as in the benchmark; or ``"mean"`` for means
        over all rows, which lets a little of a test part into training. By default NaN stays.

    Returns
    -------
    Problem
        Inputs, labels and groups, with what to know about them.

    References
    ----------
    .. [1] H. Harutyunyan, H. Khachatrian, D. C. Kale, G. Ver Steeg and A. Galstyan (2019), Multitask learning and
       benchmarking with clinical time series data, Scientific Data 6, 96.
    .. [2] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """
    return cohort_problem(cohort, FACTS, FEATURES, task=task, group=group, splits=splits, impute=impute)
