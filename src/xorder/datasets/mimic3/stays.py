"""Which ICU stays belong to the cohort: the selection of the benchmark's in-hospital mortality task, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xorder._progress import Progress
from xorder.datasets.clinical import SourceTable, check_key, run

# The columns that are used, and those of them that are not text.
TABLES: dict[str, dict[str, str]] = {
    "PATIENTS": {"subject_id": "INTEGER", "gender": "VARCHAR", "dob": "TIMESTAMP", "dod": "TIMESTAMP"},
    "ADMISSIONS": {
        **{"subject_id": "INTEGER", "hadm_id": "INTEGER", "admittime": "TIMESTAMP", "dischtime": "TIMESTAMP"},
        **{"deathtime": "TIMESTAMP", "ethnicity": "VARCHAR", "hospital_expire_flag": "TINYINT"},
    },
    "ICUSTAYS": {
        **{"subject_id": "INTEGER", "hadm_id": "INTEGER", "icustay_id": "INTEGER", "first_careunit": "VARCHAR"},
        **{"last_careunit": "VARCHAR", "first_wardid": "INTEGER", "last_wardid": "INTEGER", "intime": "TIMESTAMP"},
        **{"outtime": "TIMESTAMP", "los": "DOUBLE"},
    },
    "DIAGNOSES_ICD": {"subject_id": "INTEGER", "hadm_id": "INTEGER", "icd9_code": "VARCHAR"},
    "D_ICD_DIAGNOSES": {"icd9_code": "VARCHAR"},
}
_KEYS = {"PATIENTS": "subject_id", "ADMISSIONS": "hadm_id", "ICUSTAYS": "icustay_id"}

_STEPS = {
    "stays": "SELECT * FROM icustays",
    "unmoved": "SELECT * FROM stays WHERE first_wardid = last_wardid AND first_careunit = last_careunit",
    # Stays with a transfer are gone by now: an admission whose other stays had one counts as having a single stay.
    "single": """
        SELECT * FROM unmoved JOIN admissions USING (subject_id, hadm_id) JOIN patients USING (subject_id)
        QUALIFY count(*) OVER (PARTITION BY hadm_id) = 1""",
    # Birth dates of people over 89 are moved back by 300 years; the benchmark, too, gives 90 as their age.
    "adults": """
        SELECT * REPLACE (CASE WHEN age < 0 OR age > 150 THEN 90 ELSE age END AS age)
        FROM (SELECT *, date_diff('second', dob, intime) / (365 * 86400.0) AS age FROM single)
        WHERE age < 0 OR age >= 18""",
    # The benchmark has no row for a stay without any diagnosis that the dictionary of codes knows.
    "diagnosed": """
        SELECT * FROM adults SEMI JOIN (SELECT * FROM diagnoses_icd SEMI JOIN d_icd_diagnoses USING (icd9_code))
        USING (subject_id, hadm_id)""",
    # Lengths of stay are given in days, to four decimals.
    "candidates": """
        SELECT row_number() OVER (ORDER BY icustay_id) - 1 AS stay, *,
               (coalesce(dod BETWEEN admittime AND dischtime, false)
                OR coalesce(deathtime BETWEEN admittime AND dischtime, false))::TINYINT AS mortality
        FROM diagnosed WHERE 24 * los >= 48 - 1e-6""",
}


def select_stays(database: Any, tables: Mapping[str, SourceTable], progress: Progress | None) -> dict[str, int]:
    """Make a table of each step, ``adults`` and ``candidates`` among them, and return how many stays each has."""
    for name, types in TABLES.items():
        columns = ", ".join(types)
        run(
            database,
            f"CREATE TEMP TABLE {name.lower()} AS SELECT {columns} FROM {tables[name].scan(**types)}",
            step=f"reading {tables[name].path.name}",
            reads=[tables[name]],
            progress=progress,
        )
    for name, key in _KEYS.items():
        check_key(database, tables[name], key)
    counts = {}
    for name, sql in _STEPS.items():
        run(database, f"CREATE TEMP TABLE {name} AS {sql}", step="selecting stays")
        counts[name] = int(run(database, f"SELECT count(*) FROM {name}", step="selecting stays")[0][0])
    return counts
