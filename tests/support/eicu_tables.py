"""Small tables of the shape of eICU, drawn at random, with repeated patients, missing cells and false readings."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]

ETHNICITIES = ["Caucasian", "African American", "Hispanic", "Other/Unknown", "Asian", "Native American", ""]
UNITS = ["Med-Surg ICU", "MICU", "SICU", "Neuro ICU", "Cardiac ICU", "CCU-CTICU", "CSICU", "CTICU"]
SOURCES = ["Emergency Department", "Chest Pain Center", "Operating Room", "Recovery Room", "PACU", "Floor", "ICU", ""]
SOURCES += ["Acute Care/Floor", "Step-Down Unit (SDU)", "Other Hospital", "Other ICU", "ICU to SDU", "Direct Admit"]
# name in the cohort -> column of the grid, lowest and highest credible value
VITALS = {
    "heart_rate": ("hr", 20, 300),
    "respiratory_rate": ("resp", 2, 80),
    "oxygen_saturation": ("o2sat", 50, 100),
    "systolic_pressure": ("sbp", 30, 300),
    "mean_pressure": ("map", 15, 250),
}
LABS = {
    "creatinine": ("crea", 0.1, 30),
    "urea_nitrogen": ("bun", 1, 300),
    "sodium": ("na", 90, 200),
    "potassium": ("k", 1, 15),
    "bicarbonate": ("bicar", 2, 60),
    "glucose": ("glu", 10, 2000),
    "haemoglobin": ("hgb", 1, 25),
    "platelets": ("plt", 1, 3000),
    "white_cells": ("wbc", 0.01, 500),
    "albumin": ("alb", 0.3, 7),
    "bilirubin": ("bili", 0.05, 80),
    "lactate": ("lact", 0.1, 40),
    "ph": ("ph", 6.5, 8),
}
LAB_NAMES = {
    "creatinine": "creatinine",
    "BUN": "urea_nitrogen",
    "sodium": "sodium",
    "potassium": "potassium",
    "bicarbonate": "bicarbonate",
    "glucose": "glucose",
    "bedside glucose": "glucose",
    "Hgb": "haemoglobin",
    "platelets x 1000": "platelets",
    "WBC x 1000": "white_cells",
    "albumin": "albumin",
    "total bilirubin": "bilirubin",
    "lactate": "lactate",
    "pH": "ph",
}
PERIODIC = {
    "heartrate": "heart_rate",
    "respiration": "respiratory_rate",
    "sao2": "oxygen_saturation",
    "systemicsystolic": "systolic_pressure",
    "systemicmean": "mean_pressure",
}
APERIODIC = {"noninvasivesystolic": "systolic_pressure", "noninvasivemean": "mean_pressure"}


def draw_tables(seed: int = 0, stays: int = 60) -> Tables:
    """Draw the six tables of a full release."""
    rng = random.Random(seed)
    tables: Tables = {name: [] for name in ("patient", "apacheApsVar", "apachePredVar", "lab", "vitalPeriodic")}
    tables["vitalAperiodic"] = []
    for number in range(stays):
        stay = 1000 + 7 * number
        tables["patient"].append(_patient(rng, stay, number))
        if rng.random() < 0.9:
            tables["apacheApsVar"].append(_aps(rng, stay, number))
            tables["apachePredVar"].append(_pred(rng, stay, number))
        if rng.random() < 0.9:
            _readings(rng, stay, tables)
    for name in ("lab", "vitalPeriodic", "vitalAperiodic"):
        rng.shuffle(tables[name])
    return tables


def _patient(rng: random.Random, stay: int, number: int) -> Row:
    return {
        "patientunitstayid": stay,
        "patienthealthsystemstayid": 5000 + number // 2,
        "gender": rng.choice(["Male", "Female", "Male", "Female", "", "Other"]),
        "age": rng.choice(["> 89", "17", "18", "45", "60", "71", "", "89"]),
        "ethnicity": rng.choice(ETHNICITIES),
        "hospitalid": rng.randint(50, 54),
        "apacheadmissiondx": 'Rhythm disturbance (atrial, "supraventricular")',
        "admissionheight": rng.choice(["157.50", "", "0.3", "180", "600"]),
        "hospitaladmitoffset": rng.choice([-3000, -60, 0, 8000, -15]),
        "hospitaldischargeyear": rng.choice([2014, 2015]),
        "hospitaldischargestatus": rng.choice(["Alive", "Alive", "Alive", "Expired", ""]),
        "unittype": rng.choice(UNITS),
        "unitadmitsource": rng.choice(SOURCES),
        "unitvisitnumber": 1 + number % 2,
        "unitstaytype": rng.choice(["admit"] * 6 + ["readmit", "transfer", "stepdown/other"]),
        "admissionweight": rng.choice(["46.5", "", "0.5", "90.25"]),
        "unitdischargeoffset": rng.choice([100, 1439, 1440, 3000, 5000, 10080, 10081, 20000]),
        "uniquepid": f"002-{number // 3}",
    }


def _aps(rng: random.Random, stay: int, number: int) -> Row:
    return {
        "apacheapsvarid": number,
        "patientunitstayid": stay,
        "dialysis": rng.choice([0, 1]),
        "eyes": rng.choice([-1, 1, 4]),
        "motor": rng.choice([-1, 1, 6]),
        "verbal": rng.choice([-1, 1, 5]),
        "meds": rng.choice([-1, 0, 1]),
        "urine": rng.choice([-1, 0, 1372.2048, 42206.832]),
        "temperature": rng.choice([-1, 36.4, 20, 39.1]),
    }


def _pred(rng: random.Random, stay: int, number: int) -> Row:
    flags = ["aids", "hepaticfailure", "lymphoma", "metastaticcancer", "leukemia", "immunosuppression", "cirrhosis"]
    flags += ["diabetes", "oobventday1", "oobintubday1", "diedinhospital"]
    return {
        "apachepredvarid": number,
        "patientunitstayid": stay,
        "electivesurgery": rng.choice(["", 0, 1]),
        **{flag: rng.choice([0, 1]) for flag in flags},
    }


def _readings(rng: random.Random, stay: int, tables: Tables) -> None:
    for number in range(rng.randint(0, 60)):
        tables["vitalPeriodic"].append(
            {"vitalperiodicid": number, "patientunitstayid": stay, "observationoffset": rng.randint(-100, 1600)}
            | {"heartrate": rng.choice(["", rng.randint(0, 340)]), "respiration": rng.choice(["", rng.randint(0, 100)])}
            | {
                "sao2": rng.choice(["", rng.randint(40, 101)]),
                "systemicsystolic": rng.choice(["", rng.randint(0, 320)]),
            }
            | {"systemicmean": rng.choice(["", rng.randint(0, 270)])}
        )
    for number in range(rng.randint(0, 20)):
        tables["vitalAperiodic"].append(
            {"vitalaperiodicid": number, "patientunitstayid": stay, "observationoffset": rng.randint(-100, 1600)}
            | {"noninvasivesystolic": rng.choice(["", rng.randint(0, 320)])}
            | {"noninvasivemean": rng.choice(["", rng.randint(0, 270)])}
        )
    for number in range(rng.randint(0, 40)):
        name = rng.choice([*LAB_NAMES, "HCO3", "anion gap"])
        _, low, high = LABS.get(LAB_NAMES.get(name, ""), ("", 1.0, 2.0))
        value = rng.choice(["", round(rng.uniform(low, high), 2), round(rng.uniform(low, high), 2), low / 2, high * 2])
        tables["lab"].append(
            {"labid": number, "patientunitstayid": stay, "labresultoffset": rng.randint(-100, 1600)}
            | {"labname": name, "labresult": value, "labresulttext": f"{value}, or so"}
        )


def write_tables(folder: Path, tables: Tables, *, gz: bool = False, upper: bool = False) -> Path:
    """Write each table as csv, or csv.gz, with its header in lower or upper case."""
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow([column.upper() if upper else column for column in rows[0]])
        writer.writerows(row.values() for row in rows)
        content = text.getvalue().encode()
        (folder / f"{name}.csv{'.gz' if gz else ''}").write_bytes(gzip.compress(content) if gz else content)
    return folder


def read_tables(folder: Path, names: list[str]) -> Tables:
    """Read csv.gz tables as text."""
    tables = {}
    for name in names:
        with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    return tables
