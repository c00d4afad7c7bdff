"""The eICU cohort read row by row, slowly and in the open; shares no code with src."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean, median
from typing import Any

from support.eicu_tables import APERIODIC, LAB_NAMES, LABS, PERIODIC, VITALS, Row, Tables


def hours_of(tables: Tables) -> dict[int, dict[tuple[str, int], float]]:
    """Map each stay to the median of each measurement in each hour of the first day, false readings left out."""
    found: dict[int, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(row: Row, stay: str, hour: int, measurement: str, cell: Any) -> None:
        _, low, high = (VITALS | LABS)[measurement]
        if cell != "" and 0 <= hour < 24 and low <= float(cell) <= high:
            found[int(row[stay])][measurement, hour].append(float(cell))

    for row in tables.get("hourly_48vars", []):
        for measurement, (column, _, _) in (VITALS | LABS).items():
            add(row, "stay_id", int(row["hour"]), measurement, row[column])
    for table, columns in (("vitalPeriodic", PERIODIC), ("vitalAperiodic", APERIODIC)):
        for row in tables.get(table, []):
            for column, measurement in columns.items():
                add(row, "patientunitstayid", int(row["observationoffset"]) // 60, measurement, row[column])
    for row in tables.get("lab", []):
        if row["labname"] in LAB_NAMES:
            hour = int(row["labresultoffset"]) // 60
            add(row, "patientunitstayid", hour, LAB_NAMES[row["labname"]], row["labresult"])
    return {stay: {key: median(values) for key, values in cells.items()} for stay, cells in found.items()}


def as_grid(tables: Tables) -> Tables:
    """Replace the tables of readings by the hourly grid of the same readings."""
    columns = {measurement: column for measurement, (column, _, _) in (VITALS | LABS).items()}
    rows = []
    for stay, cells in hours_of(tables).items():
        for hour in range(30):
            row: Row = {"stay_id": stay, "hour": hour} | dict.fromkeys(columns.values(), "")
            # What comes after the first day must not count.
            row |= {columns[what]: cells.get((what, hour), "") if hour < 24 else 100 for what in columns}
            rows.append(row)
    return {name: tables[name] for name in ("patient", "apacheApsVar", "apachePredVar")} | {"hourly_48vars": rows}


def cohort_of(tables: Tables) -> dict[int, dict[str, float | None]]:
    """Select the stays and compute the 60 inputs, one stay after another."""
    hours = hours_of(tables)
    aps = {int(row["patientunitstayid"]): row for row in tables["apacheApsVar"]}
    pred = {int(row["patientunitstayid"]): row for row in tables["apachePredVar"]}
    first: dict[str, tuple[tuple[int, ...], Row]] = {}
    for row in tables["patient"]:
        stay, age = int(row["patientunitstayid"]), row["age"]
        years = 90 if age == "> 89" else int(age or 0)
        if years < 18 or row["unitstaytype"] == "stepdown/other" or int(row["unitdischargeoffset"]) < 1440:
            continue
        if stay not in hours:
            continue
        keys = ("hospitaldischargeyear", "patienthealthsystemstayid", "unitvisitnumber", "patientunitstayid")
        order = tuple(int(row[key]) for key in keys)
        if row["uniquepid"] not in first or order < first[row["uniquepid"]][0]:
            first[row["uniquepid"]] = order, row
    chosen = sorted(int(row["patientunitstayid"]) for _, row in first.values())
    patients = {int(row["patientunitstayid"]): row for _, row in first.values()}
    return {stay: inputs_of(patients[stay], aps.get(stay, {}), pred.get(stay, {}), hours[stay]) for stay in chosen}


def inputs_of(p: Row, aps: Row, pred: Row, hours: dict[tuple[str, int], float]) -> dict[str, float | None]:
    """Compute the inputs of one stay."""

    def number(cell: Any, low: float, high: float) -> float | None:
        return float(cell) if cell not in ("", None) and low <= float(cell) <= high else None

    def one_of(cell: str, texts: str) -> float | None:
        return None if cell == "" else float(cell in texts.split("|"))

    source, unit = p["unitadmitsource"], p["unittype"]
    inputs: dict[str, float | None] = {
        "age": 90.0 if p["age"] == "> 89" else float(p["age"]),
        "height": number(p["admissionheight"], 100, 250),
        "weight": number(p["admissionweight"], 20, 400),
        "hours_in_hospital": max(0, -int(p["hospitaladmitoffset"])) / 60,
        "earlier_unit_stay": float(int(p["unitvisitnumber"]) > 1),
        "from_emergency": one_of(source, "Emergency Department|Chest Pain Center"),
        "from_surgery": one_of(source, "Operating Room|Recovery Room|PACU"),
        "from_ward": one_of(source, "Floor|Acute Care/Floor|Step-Down Unit (SDU)"),
        "from_elsewhere": one_of(source, "Other Hospital|Other ICU|ICU|ICU to SDU"),
        "cardiac_unit": one_of(unit, "Cardiac ICU|CCU-CTICU|CSICU|CTICU"),
        "medical_unit": one_of(unit, "MICU"),
        "surgical_unit": one_of(unit, "SICU"),
        "neurological_unit": one_of(unit, "Neuro ICU"),
        "intubated": number(pred.get("oobintubday1"), 0, 1),
        "ventilated": number(pred.get("oobventday1"), 0, 1),
        "dialysis": number(aps.get("dialysis"), 0, 1),
        "gcs_eyes": number(aps.get("eyes"), 1, 4),
        "gcs_motor": number(aps.get("motor"), 1, 6),
        "gcs_verbal": number(aps.get("verbal"), 1, 5),
        "gcs_not_scorable": number(aps.get("meds"), 0, 1),
        "temperature": number(aps.get("temperature"), 25, 45),
        "urine": number(aps.get("urine"), 0, 20000),
        "elective_surgery": float(str(pred["electivesurgery"]) == "1") if pred else None,
        "diabetes": number(pred.get("diabetes"), 0, 1),
        "cirrhosis": number(pred.get("cirrhosis"), 0, 1),
        "hepatic_failure": number(pred.get("hepaticfailure"), 0, 1),
        "metastatic_cancer": number(pred.get("metastaticcancer"), 0, 1),
        "lymphoma": number(pred.get("lymphoma"), 0, 1),
        "leukaemia": number(pred.get("leukemia"), 0, 1),
        "immunosuppression": number(pred.get("immunosuppression"), 0, 1),
        "aids": number(pred.get("aids"), 0, 1),
    }
    wanted = (
        "heart_rate_min heart_rate_mean heart_rate_max respiratory_rate_min respiratory_rate_mean respiratory_rate_max "
        "oxygen_saturation_min oxygen_saturation_mean systolic_pressure_min systolic_pressure_mean "
        "systolic_pressure_max mean_pressure_min mean_pressure_mean mean_pressure_max creatinine_max "
        "urea_nitrogen_max sodium_min sodium_max "
        "potassium_min potassium_max bicarbonate_min glucose_max haemoglobin_min platelets_min white_cells_max "
        "albumin_min bilirubin_max lactate_max ph_min"
    )
    for name in wanted.split():
        measurement, _, statistic = name.rpartition("_")
        values = [value for (what, _), value in hours.items() if what == measurement]
        inputs[name] = {"min": min, "mean": fmean, "max": max}[statistic](values) if values else None
    return inputs
