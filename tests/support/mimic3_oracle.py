"""The benchmark's way from MIMIC-III tables to features, one patient at a time, in plain Python: slow and obvious."""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

Row = dict[str, str]

NUMBERS_FIRST = (
    *("Capillary refill rate", "Diastolic blood pressure", "Systolic blood pressure", "Fraction inspired oxygen"),
    *("Oxygen saturation", "Glucose", "pH", "Temperature", "Weight", "Height"),
)
ANSWERS = {
    "Glascow coma scale eye opening": "None|1 No Response|2 To pain,To Pain|3 To speech,To Speech|"
    "4 Spontaneously,Spontaneously",
    "Glascow coma scale motor response": "|1 No Response,No response|2 Abnorm extensn,Abnormal extension|"
    "3 Abnorm flexion,Abnormal Flexion|4 Flex-withdraws,Flex-withdraws|5 Localizes Pain,Localizes Pain|"
    "6 Obeys Commands,Obeys Commands",
    "Glascow coma scale verbal response": "|1 No Response,No Response,1.0 ET/Trach,No Response-ETT|"
    "2 Incomp sounds,Incomprehensible sounds|3 Inapprop words,Inappropriate Words|4 Confused,Confused|"
    "5 Oriented,Oriented",
}


def read(folder: Path, name: str) -> Iterator[Row]:
    for path in folder.iterdir():
        if path.name.lower() in (f"{name}.csv".lower(), f"{name}.csv.gz".lower()):
            opened: Any = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", newline="") as file:
                lines = csv.reader(file)
                names = [column.lower() for column in next(lines)]
                yield from (dict(zip(names, line, strict=True)) for line in lines)
            return
    raise FileNotFoundError(name)


def when(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def select(folder: Path) -> tuple[list[Row], list[Row]]:
    """Adults' stays, and those of them that are long enough and have a diagnosis."""
    patients = {row["subject_id"]: row for row in read(folder, "PATIENTS")}
    admissions = {(row["subject_id"], row["hadm_id"]): row for row in read(folder, "ADMISSIONS")}
    codes = {row["icd9_code"] for row in read(folder, "D_ICD_DIAGNOSES")}
    diagnosed = {row["hadm_id"] for row in read(folder, "DIAGNOSES_ICD") if row["icd9_code"] in codes}
    unmoved = [
        row
        for row in read(folder, "ICUSTAYS")
        if row["first_wardid"] == row["last_wardid"] and row["first_careunit"] == row["last_careunit"]
    ]
    adults = []
    for row in unmoved:
        if sum(other["hadm_id"] == row["hadm_id"] for other in unmoved) == 1:
            merged = {**patients[row["subject_id"]], **admissions[row["subject_id"], row["hadm_id"]], **row}
            intime, dob = when(merged["intime"]), when(merged["dob"])
            assert intime is not None
            assert dob is not None
            age = (intime - dob).total_seconds() / 60 / 60 / 24 / 365
            if age >= 18:
                adults.append({**merged, "age": str(age if age < 290 else 90)})
    chosen = [
        row for row in adults if row["hadm_id"] in diagnosed and row["los"] and 24 * float(row["los"]) >= 48 - 1e-6
    ]
    return adults, chosen


def died(row: Row) -> bool:
    admitted, left = when(row["admittime"]), when(row["dischtime"])
    assert admitted is not None
    assert left is not None
    return any(time is not None and admitted <= time <= left for time in (when(row["dod"]), when(row["deathtime"])))


def clean(variable: str, label: str, text: str, unit: str) -> float | str | None:
    """The value as the benchmark stores it: a number, or for variables that it does not touch the text itself."""
    unit, label = unit.lower(), label.lower()
    if variable == "Capillary refill rate":
        return {"Brisk": 0.0, "Normal <3 secs": 0.0, "Delayed": 1.0, "Abnormal >3 secs": 1.0}.get(text)
    if variable not in NUMBERS_FIRST:
        return text
    if variable in ("Glucose", "pH", "Oxygen saturation") and not re.match(r"^(\d+(\.\d*)?|\.\d+)$", text):
        return None
    if variable in ("Diastolic blood pressure", "Systolic blood pressure") and "/" in text:
        text = text.split("/")[variable.startswith("D")]
    try:
        value = float(text)
    except ValueError:
        return None
    if variable == "Oxygen saturation" and value <= 1:
        value *= 100
    if variable == "Fraction inspired oxygen" and value > 1 and "torr" not in unit:
        value /= 100
    if variable == "Temperature" and value >= 79:
        value = (value - 32) * 5 / 9
    if variable == "Weight":
        ounces = "oz" in unit or "oz" in label
        value = value / 16 if ounces else value
        value = value * 0.453592 if ounces or "lb" in unit or "lb" in label else value
    if variable == "Height" and ("in" in unit or "in" in label):
        value = float(round(value * 2.54))
    return value


def number(variable: str, value: float | str) -> float:
    if variable in ANSWERS:
        for points, answers in enumerate(ANSWERS[variable].split("|")):
            if value in answers.split(","):
                return float(points)
        raise KeyError(value)
    return float(value)


def statistics(values: list[float]) -> list[float]:
    n, mean = len(values), math.fsum(values) / len(values)
    second = math.fsum((value - mean) ** 2 for value in values) / n
    third = math.fsum((value - mean) ** 3 for value in values) / n
    flat = max(values) == min(values)
    return [min(values), max(values), mean, 0 if flat else math.sqrt(second), 0 if flat else third / second**1.5, n]


def features(readings: list[tuple[float, float]]) -> list[float]:
    """The 42 features of one variable from its hours and values."""
    if not readings:
        return [math.nan] * 42
    begin, end = readings[0][0], readings[-1][0]
    ends = [(begin, begin + (end - begin) * share) for share in (1, 0.1, 0.25, 0.5)]
    ends += [(end - (end - begin) * share, end) for share in (0.1, 0.25, 0.5)]
    found = []
    for left, right in ends:
        found += statistics([value for hour, value in readings if left - 1e-6 < hour < right + 1e-6])
    return found


def cohort(folder: Path, items: dict[int, tuple[str, str]]) -> dict[int, tuple[Row, list[float]]]:
    """icustay_id -> the stay and its 714 features, in the benchmark's order."""
    adults, chosen = select(folder)
    stay_of = {(row["subject_id"], row["hadm_id"]): row["icustay_id"] for row in adults}
    by_subject: dict[str, list[tuple[datetime, str, float | str, str]]] = defaultdict(list)
    for table in ("CHARTEVENTS", "LABEVENTS"):
        for row in read(folder, table):
            item = items.get(int(row["itemid"]))
            stay = stay_of.get((row["subject_id"], row["hadm_id"]))
            if item is None or stay is None or not row["value"] or row.get("icustay_id", "") not in ("", stay):
                continue
            value = clean(*item, row["value"], row["valueuom"])
            time = when(row["charttime"])
            if value is not None and time is not None:
                by_subject[row["subject_id"]].append((time, item[0], value, stay))
    result = {}
    for row in chosen:
        events = by_subject[row["subject_id"]]
        kept: dict[tuple[datetime, str], float | str] = {}
        for time, variable, value, _ in sorted(events, key=lambda event: (event[0], event[1])):
            if (time, variable) not in kept or value > kept[time, variable]:  # type: ignore[operator]
                kept[time, variable] = value
        intime, outtime = when(row["intime"]), when(row["outtime"])
        assert intime is not None
        assert outtime is not None
        # The benchmark has a time at which two stays of the patient have events twice; that is not followed.
        inside = {time for time, _, _, stay in events if stay == row["icustay_id"] or intime <= time <= outtime}
        hours = [(time, (time - intime).total_seconds() / 3600) for time in sorted(inside)]
        hours = [(time, hour) for time, hour in hours if -1e-6 < hour < 48 + 1e-6]
        if hours:
            values: list[float] = []
            for variable in sorted({variable for variable, _ in items.values()}):
                series = [(hour, kept[time, variable]) for time, hour in hours if (time, variable) in kept]
                values += features([(hour, number(variable, value)) for hour, value in series])
            result[int(row["icustay_id"])] = (row, values)
    return result
