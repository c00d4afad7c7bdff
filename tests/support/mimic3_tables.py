"""Small tables of the shape of MIMIC-III v1.4, with every oddity that the builder must cope with."""

from __future__ import annotations

import csv
import gzip
import io
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]

HEADERS = {
    "PATIENTS": "row_id,subject_id,gender,dob,dod,dod_hosp,dod_ssn,expire_flag",
    "ADMISSIONS": (
        "row_id,subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,"
        "insurance,language,religion,marital_status,ethnicity,edregtime,edouttime,diagnosis,hospital_expire_flag,"
        "has_chartevents_data"
    ),
    "ICUSTAYS": (
        "row_id,subject_id,hadm_id,icustay_id,dbsource,first_careunit,last_careunit,first_wardid,last_wardid,intime,"
        "outtime,los"
    ),
    "CHARTEVENTS": (
        "row_id,subject_id,hadm_id,icustay_id,itemid,charttime,storetime,cgid,value,valuenum,valueuom,warning,error,"
        "resultstatus,stopped"
    ),
    "LABEVENTS": "row_id,subject_id,hadm_id,itemid,charttime,value,valuenum,valueuom,flag",
    "DIAGNOSES_ICD": "row_id,subject_id,hadm_id,seq_num,icd9_code",
    "D_ICD_DIAGNOSES": "row_id,icd9_code,short_title,long_title",
}

# item -> the benchmark's variable and the label of the item, by which it tells units
ITEMS = {
    3348: ("Capillary refill rate", "Capillary Refill"),
    8368: ("Diastolic blood pressure", "Arterial BP [Diastolic]"),
    220180: ("Diastolic blood pressure", "Non Invasive Blood Pressure diastolic"),
    189: ("Fraction inspired oxygen", "FiO2 (Analyzed)"),
    223835: ("Fraction inspired oxygen", "Inspired O2 Fraction"),
    184: ("Glascow coma scale eye opening", "Eye Opening"),
    220739: ("Glascow coma scale eye opening", "GCS - Eye Opening"),
    454: ("Glascow coma scale motor response", "Motor Response"),
    198: ("Glascow coma scale total", "GCS Total"),
    223900: ("Glascow coma scale verbal response", "GCS - Verbal Response"),
    811: ("Glucose", "Glucose (70-105)"),
    50931: ("Glucose", "GLUCOSE"),
    211: ("Heart Rate", "Heart Rate"),
    220045: ("Heart Rate", "Heart Rate"),
    1394: ("Height", "Height Inches"),
    226707: ("Height", "Height"),
    226730: ("Height", "Height (cm)"),
    52: ("Mean blood pressure", "Arterial BP Mean"),
    646: ("Oxygen saturation", "SpO2"),
    50817: ("Oxygen saturation", "OXYGEN SATURATION"),
    618: ("Respiratory rate", "Respiratory Rate"),
    51: ("Systolic blood pressure", "Arterial BP [Systolic]"),
    677: ("Temperature", "Temperature C (calc)"),
    223761: ("Temperature", "Temperature Fahrenheit"),
    763: ("Weight", "Daily Weight"),
    3581: ("Weight", "Present Weight  (lb)"),
    3582: ("Weight", "Present Weight  (oz)"),
    226531: ("Weight", "Admission Weight (lbs.)"),
    780: ("pH", "Arterial pH"),
    50820: ("pH", "PH"),
}
LABORATORY = (50931, 50817, 50820)

# item -> texts, and units as charted
_TEXTS: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    3348: (("Brisk", "Delayed", "Normal <3 secs", "Abnormal >3 secs", "Other/Remarks"), ("",)),
    8368: (("60", "120/80", "75.5", "abc"), ("mmHg",)),
    51: (("120", "130/70", "99", "11647"), ("mmHg",)),
    189: (("0.4", "0.5"), ("torr", "")),
    223835: (("40", "50", "100", "1", "0"), ("", "%", "decFrc")),
    184: (("1 No Response", "2 To pain", "3 To speech", "4 Spontaneously"), ("",)),
    220739: (("None", "To Pain", "To Speech", "Spontaneously"), ("",)),
    454: (("1 No Response", "2 Abnorm extensn", "4 Flex-withdraws", "6 Obeys Commands"), ("",)),
    198: (("3", "9", "11", "15"), ("points",)),
    223900: (("No Response-ETT", "Confused", "Oriented", "Inappropriate Words"), ("",)),
    811: (("99", "101.5", "250"), ("", "mg/dL")),
    50931: (("120", "ERROR", "GREATER THAN 1000", ".5", "87."), ("mg/dL",)),
    1394: (("75", "60"), ("",)),
    226707: (("65", "71", "75"), ("Inch",)),
    226730: (("175", "180"), ("cm",)),
    646: (("98", "0.97", "1", "100", "-5"), ("%",)),
    50817: (("97", "0.9", "88"), ("%", "")),
    677: (("36.6", "37.222198486328125", "98.6"), ("Deg. C",)),
    223761: (("98.6", "101.3", "78.9"), ("?F",)),
    763: (("80", "81.5"), ("kg", "lbs")),
    3581: (("180",), ("",)),
    3582: (("2880",), ("",)),
    226531: (("176.4", "200"), ("",)),
    780: (("7.4", "7.31", "."), ("",)),
    50820: (("7.42", "6.9", "<6.8"), ("units",)),
}
_ETHNICITIES = ("WHITE", "WHITE - RUSSIAN", "BLACK/AFRICAN AMERICAN", "UNKNOWN/NOT SPECIFIED", "ASIAN", "")
_START = datetime(2150, 1, 1, 7, 30)


def make_tables(seed: int = 0, *, patients: int = 24, hourly: int = 60) -> Tables:
    """Draw patients with one to three admissions each, and about ``hourly`` readings of each stay per two days."""
    rng = random.Random(seed)
    tables: Tables = {name: [] for name in HEADERS}
    tables["D_ICD_DIAGNOSES"] = [{"icd9_code": "4019", "short_title": "Hypertension NOS", "long_title": 'Said "high"'}]
    for subject in range(1, patients + 1):
        _add_patient(rng, tables, subject, hourly)
    for rows in tables.values():
        for number, row in enumerate(rows, start=1):
            row["row_id"] = number
    return tables


def write_tables(folder: Path, tables: Tables, *, upper: bool = False, compress: bool = False) -> Path:
    """Write the tables as csv or csv.gz, with names of columns in upper case, as in the full release, or lower."""
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        columns = HEADERS[name].split(",")
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writerow({column: column.upper() if upper else column for column in columns})
        writer.writerows(rows)
        data = text.getvalue().encode()
        if compress:
            (folder / f"{name}.csv.gz").write_bytes(gzip.compress(data))
        else:
            (folder / f"{name}.csv").write_bytes(data)
    return folder


def _add_patient(rng: random.Random, tables: Tables, subject: int, hourly: int) -> None:
    years = rng.choice([17.9, 18.1, 40, 70, 85, 300])
    arrival = _START + timedelta(days=rng.randrange(300), minutes=rng.randrange(1000), seconds=rng.randrange(60))
    first = arrival
    dod: datetime | None = None
    for visit in range(rng.choice([1, 1, 2, 3])):
        hadm = 1000 * subject + visit
        died = rng.random() < 0.25
        stays = rng.choice([1, 1, 1, 2])
        leave = arrival
        for number in range(stays):
            days = rng.choice([1.5, 2.0, 2.1, 3.3, 7.5, 9.0])
            entry = leave + timedelta(hours=rng.randrange(1, 5), seconds=rng.randrange(3600))
            leave = entry + timedelta(days=days)
            unit = rng.choice(["MICU", "MICU", "SICU"])
            tables["ICUSTAYS"].append(
                {
                    **{"subject_id": subject, "hadm_id": hadm, "icustay_id": 10 * hadm + number, "dbsource": "carevue"},
                    **{"first_careunit": unit, "last_careunit": rng.choice([unit, unit, unit, "CCU"])},
                    **{"first_wardid": 52, "last_wardid": rng.choice([52, 52, 52, 52, 7])},
                    **{"intime": entry, "outtime": leave, "los": rng.choice([days, days, days, days, days, ""])},
                }
            )
            if rng.random() < 0.92:
                _add_events(rng, tables, subject, hadm, 10 * hadm + number, entry, hourly)
        discharge = leave + timedelta(hours=rng.randrange(0, 30))
        if died:
            dod = discharge.replace(hour=0, minute=0, second=0)
        tables["ADMISSIONS"].append(
            {
                **{"subject_id": subject, "hadm_id": hadm, "admittime": arrival, "dischtime": discharge},
                **{"deathtime": discharge + timedelta(minutes=rng.choice([0, 0, 2000])) if died else ""},
                **{"ethnicity": rng.choice(_ETHNICITIES), "hospital_expire_flag": int(died)},
                **{"diagnosis": 'CHEST PAIN, "ACUTE"\nSEPSIS', "has_chartevents_data": 1},
            }
        )
        if rng.random() < 0.9:
            code = rng.choice(["4019", "4019", "4019", "99999", ""])
            tables["DIAGNOSES_ICD"].append({"subject_id": subject, "hadm_id": hadm, "seq_num": 1, "icd9_code": code})
        if died:
            break
        arrival = discharge + timedelta(days=rng.choice([0, 1, 20]), minutes=30)
    dob = (first - timedelta(days=365 * years)).replace(hour=0, minute=0, second=0)
    tables["PATIENTS"].append(
        {"subject_id": subject, "gender": rng.choice("FM"), "dob": dob, "dod": dod or "", "expire_flag": int(bool(dod))}
    )


def _add_events(
    rng: random.Random, tables: Tables, subject: int, hadm: int, stay: int, entry: datetime, hourly: int
) -> None:
    used = rng.sample(sorted(ITEMS), rng.randrange(6, len(ITEMS)))
    times = [entry + timedelta(minutes=rng.randrange(-300, 4000)) for _ in range(hourly)]
    times += [entry, entry + timedelta(hours=48), entry + timedelta(hours=48, seconds=1)]
    for time in times:
        for item in rng.choices(used, k=3):
            texts, units = _TEXTS.get(item, (tuple(map(str, (-8, 0, 9, 61, 88, 88, 99, 102, 120.5))), ("BPM", "")))
            row: Row = {
                **{
                    "subject_id": subject,
                    "itemid": item,
                    "charttime": time.replace(second=rng.choice([0, time.second])),
                },
                **{"value": rng.choice([*texts, *texts, ""]), "valueuom": rng.choice(units)},
                "hadm_id": rng.choice([hadm] * 20 + [hadm + 1, 1000 * max(subject - 1, 1), ""]),
            }
            if item in LABORATORY:
                tables["LABEVENTS"].append({**row, "flag": "abnormal"})
            else:
                whose = rng.choice([stay] * 20 + ["", stay + 1])
                tables["CHARTEVENTS"].append({**row, "icustay_id": whose, "error": rng.choice(["", 0, 1])})
