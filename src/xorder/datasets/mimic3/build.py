"""From a folder of MIMIC-III tables to the cohort file."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.datasets.clinical import find_tables, open_database, run
from xorder.datasets.clinical_errors import plain_errors
from xorder.datasets.cohort_file import check_output, write_cohort
from xorder.datasets.mimic3.features import FEATURES, window_features
from xorder.datasets.mimic3.readings import merged_readings, read_events
from xorder.datasets.mimic3.stays import TABLES, select_stays
from xorder.exceptions import InputError

_EVENT_COLUMNS = ("subject_id", "hadm_id", "itemid", "charttime", "value", "valueuom")
_STAY_COLUMNS = {
    **{"subject_id": "int32", "hadm_id": "int32", "icustay_id": "int32", "gender": "string", "ethnicity": "string"},
    **{"age": "float64", "los": "float64", "mortality": "int8", "hospital_expire_flag": "int8"},
}
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
        lines = (
            (self.stays, "ICU stays"),
            (self.without_transfer, "without a transfer between wards or units"),
            (self.one_per_admission, "the only such stay of their admission"),
            (self.adults, "of patients aged 18 or more"),
            (self.with_diagnosis, "with a coded diagnosis"),
            (self.at_least_48_hours, "of 48 hours or more"),
            (self.with_readings, f"with readings in the first 48 hours ({self.readings:,} readings): the cohort"),
            (self.deaths, "of them died in hospital"),
            (self.long_stays, "stayed longer than 7 days"),
            (self.women, "are stays of women"),
            (self.white, "are stays of white patients"),
        )
        return "\n".join(f"{count:>9,}  {words}" for count, words in lines)


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
    folder : where PATIENTS, ADMISSIONS, ICUSTAYS, DIAGNOSES_ICD, D_ICD_DIAGNOSES, CHARTEVENTS and LABEVENTS are, as
        csv or csv.gz
    output : the file to write, one row per stay, for :func:`load_mimic3`
    apply_ranges : take implausible values out. The benchmark has ranges but does not use them, and so by default
        neither does this
    memory : what DuckDB may use before it spills to disk
    spill : the folder to spill to; a temporary one if not given. What is written there is removed in any case
    progress : called with the step and how far it is, from 0 to 1 or None
    overwrite : replace ``output`` if it is there
    """
    check_output(output, overwrite=overwrite)
    import_optional("pyarrow", extra="data", purpose=_PURPOSE)
    wanted = {name: tuple(types) for name, types in TABLES.items()}
    wanted |= {"CHARTEVENTS": (*_EVENT_COLUMNS, "icustay_id"), "LABEVENTS": _EVENT_COLUMNS}
    tables = find_tables(folder, wanted, source="MIMIC-III")
    with open_database(purpose=_PURPOSE, memory=memory, spill=spill) as database:
        counts = select_stays(database, tables, progress)
        read_events(database, tables["CHARTEVENTS"], tables["LABEVENTS"], apply_ranges=apply_ranges, progress=progress)
        cohort, readings = _cohort(database, counts["candidates"], progress)
    summary = _summary(counts, cohort, readings)
    if cohort.num_rows == 0:
        steps = ", ".join(" ".join(line.split()) for line in str(summary).splitlines()[:6])
        raise InputError(f"no stay in {folder} belongs to the cohort ({steps}, none with readings). Check the tables.")
    about = {"source": Path(folder).resolve().name, "apply_ranges": apply_ranges, "counts": asdict(summary)}
    write_cohort(cohort, output, kind="mimic3", about=about, overwrite=overwrite)
    return summary


def _cohort(database: Any, candidates: int, progress: Progress | None) -> tuple[Any, int]:
    """Return an Arrow table of the candidates that have readings, with their features, and the number of readings."""
    pa = import_optional("pyarrow", extra="data", purpose=_PURPOSE)
    pieces = [np.empty((0, len(FEATURES)), dtype=np.float32)]
    readings = 0
    for first in range(0, candidates, _BATCH_STAYS):
        if progress:
            progress("computing features", first / candidates)
        count = min(_BATCH_STAYS, candidates - first)
        with plain_errors():
            read = database.execute(merged_readings(first, first + count - 1)).fetchnumpy()
        stay, variable, second = (read[name].astype(np.int64) for name in ("stay", "variable", "second"))
        pieces.append(window_features(count, stay - first, variable, second, read["number"].astype(np.float64)))
        readings += len(stay)
    features = np.concatenate(pieces)
    rows = run(database, f"SELECT {', '.join(_STAY_COLUMNS)} FROM candidates ORDER BY stay", step="computing features")
    columns = {
        name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(_STAY_COLUMNS.items())
    }
    columns |= {name: pa.array(values) for name, values in zip(FEATURES, features.T, strict=True)}
    table = pa.table(columns).filter(pa.array(~np.isnan(features).all(axis=1)))
    if progress:
        progress("computing features", 1.0)
    return table, readings


def _summary(counts: dict[str, int], cohort: Any, readings: int) -> Mimic3Summary:
    column = {name: cohort.column(name).to_pylist() for name in ("mortality", "los", "gender", "ethnicity")}
    return Mimic3Summary(
        stays=counts["stays"],
        without_transfer=counts["unmoved"],
        one_per_admission=counts["single"],
        adults=counts["adults"],
        with_diagnosis=counts["diagnosed"],
        at_least_48_hours=counts["candidates"],
        with_readings=cohort.num_rows,
        readings=readings,
        deaths=sum(column["mortality"]),
        long_stays=sum(days > 7 for days in column["los"]),
        women=sum(text == "F" for text in column["gender"]),
        white=sum((text or "").startswith("WHITE") for text in column["ethnicity"]),
    )
