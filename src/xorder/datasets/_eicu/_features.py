"""The 60 inputs of the eICU problem, as a table: name, unit, where it comes from, and the SQL that makes it.

The paper names neither its inputs nor its cohort; these are our own. All are known a day after admission to the unit:
see ``docs/design/eicu-features.md``.
"""

from __future__ import annotations

from dataclasses import dataclass


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

    def plausible(self, value: str) -> str:
        """Return SQL for ``value`` where it lies in the range, and null elsewhere."""
        return _within(value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Feature:
    """An input: ``sql`` makes it from the tables ``p`` (patient), ``aps``, ``pred`` and ``day`` (the first day)."""

    name: str
    unit: str
    source: str
    sql: str


_ALL = ("min", "mean", "max")

VITALS = (
    Measurement("heart_rate", "/min", _ALL, 20, 300, "hr", ("heartrate",)),
    Measurement("respiratory_rate", "/min", _ALL, 2, 80, "resp", ("respiration",)),
    Measurement("oxygen_saturation", "%", ("min", "mean"), 50, 100, "o2sat", ("sao2",)),
    # Cuff and arterial line are pooled: a patient mostly has one of them, and the line goes with being sicker.
    Measurement("systolic_pressure", "mmHg", _ALL, 30, 300, "sbp", ("systemicsystolic", "noninvasivesystolic")),
    Measurement("mean_pressure", "mmHg", _ALL, 15, 250, "map", ("systemicmean", "noninvasivemean")),
)

LABS = (
    Measurement("creatinine", "mg/dL", ("max",), 0.1, 30, "crea", labs=("creatinine",)),
    Measurement("urea_nitrogen", "mg/dL", ("max",), 1, 300, "bun", labs=("BUN",)),
    Measurement("sodium", "mmol/L", ("min", "max"), 90, 200, "na", labs=("sodium",)),
    Measurement("potassium", "mmol/L", ("min", "max"), 1, 15, "k", labs=("potassium",)),
    # Not HCO3 and Total CO2, which come from blood gases and differ from it.
    Measurement("bicarbonate", "mmol/L", ("min",), 2, 60, "bicar", labs=("bicarbonate",)),
    Measurement("glucose", "mg/dL", ("max",), 10, 2000, "glu", labs=("glucose", "bedside glucose")),
    Measurement("haemoglobin", "g/dL", ("min",), 1, 25, "hgb", labs=("Hgb",)),
    Measurement("platelets", "1000/uL", ("min",), 1, 3000, "plt", labs=("platelets x 1000",)),
    Measurement("white_cells", "1000/uL", ("max",), 0.01, 500, "wbc", labs=("WBC x 1000",)),
    Measurement("albumin", "g/dL", ("min",), 0.3, 7, "alb", labs=("albumin",)),
    Measurement("bilirubin", "mg/dL", ("max",), 0.05, 80, "bili", labs=("total bilirubin",)),
    Measurement("lactate", "mmol/L", ("max",), 0.1, 40, "lact", labs=("lactate",)),
    Measurement("ph", "", ("min",), 6.5, 8, "ph", labs=("pH",)),
)

_SOURCES = {
    "from_emergency": ("Emergency Department", "Chest Pain Center"),
    "from_surgery": ("Operating Room", "Recovery Room", "PACU"),
    "from_ward": ("Floor", "Acute Care/Floor", "Step-Down Unit (SDU)"),
    "from_elsewhere": ("Other Hospital", "Other ICU", "ICU", "ICU to SDU"),
}

_UNITS = {
    "cardiac_unit": ("Cardiac ICU", "CCU-CTICU", "CSICU", "CTICU"),
    "medical_unit": ("MICU",),
    "surgical_unit": ("SICU",),
    "neurological_unit": ("Neuro ICU",),
}


def _within(value: str, low: float, high: float) -> str:
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"


def _is_one_of(name: str, column: str, texts: tuple[str, ...]) -> Feature:
    listed = ", ".join(f"'{text}'" for text in texts)
    sql = f"CASE WHEN p.{column} IS NOT NULL THEN p.{column} IN ({listed}) END"
    return Feature(name, "0/1", f"patient.{column}: {', '.join(texts)}", sql)


def _apache(name: str, table: str, column: str, unit: str = "0/1", low: float = 0, high: float = 1) -> Feature:
    """APACHE codes what is missing as -1, which lies outside of every range."""
    value = f"{'aps' if table == 'apacheApsVar' else 'pred'}.{column}"
    return Feature(name, unit, f"{table}.{column}", _within(value, low, high))


def _daily(measurement: Measurement) -> list[Feature]:
    where = ", ".join((*measurement.columns, *(f"lab {lab}" for lab in measurement.labs)))
    return [
        Feature(name, measurement.unit, f"first day: {statistic} of {where}", f"day.{name}")
        for statistic in measurement.daily
        for name in [f"{measurement.name}_{statistic}"]
    ]


FEATURES: tuple[Feature, ...] = (
    Feature("age", "years", "patient.age", "p.years"),
    Feature("height", "cm", "patient.admissionheight", _within("p.admissionheight", 100, 250)),
    Feature("weight", "kg", "patient.admissionweight", _within("p.admissionweight", 20, 400)),
    # A hospital admission after that to the unit is an error of the record; its distance would say how long both took.
    Feature("hours_in_hospital", "h", "patient.hospitaladmitoffset", "greatest(0, -p.hospitaladmitoffset) / 60.0"),
    Feature("earlier_unit_stay", "0/1", "patient.unitvisitnumber", "p.unitvisitnumber > 1"),
    *(_is_one_of(name, "unitadmitsource", texts) for name, texts in _SOURCES.items()),
    *(_is_one_of(name, "unittype", texts) for name, texts in _UNITS.items()),
    _apache("intubated", "apachePredVar", "oobintubday1"),
    _apache("ventilated", "apachePredVar", "oobventday1"),
    _apache("dialysis", "apacheApsVar", "dialysis"),
    _apache("gcs_eyes", "apacheApsVar", "eyes", "1 to 4", 1, 4),
    _apache("gcs_motor", "apacheApsVar", "motor", "1 to 6", 1, 6),
    _apache("gcs_verbal", "apacheApsVar", "verbal", "1 to 5", 1, 5),
    _apache("gcs_not_scorable", "apacheApsVar", "meds"),
    _apache("temperature", "apacheApsVar", "temperature", "Celsius", 25, 45),
    _apache("urine", "apacheApsVar", "urine", "mL/day", 0, 20000),
    # Empty for those who had no surgery.
    Feature(
        "elective_surgery",
        "0/1",
        "apachePredVar.electivesurgery",
        "CASE WHEN pred.patientunitstayid IS NOT NULL THEN coalesce(pred.electivesurgery, 0) = 1 END",
    ),
    _apache("diabetes", "apachePredVar", "diabetes"),
    _apache("cirrhosis", "apachePredVar", "cirrhosis"),
    _apache("hepatic_failure", "apachePredVar", "hepaticfailure"),
    _apache("metastatic_cancer", "apachePredVar", "metastaticcancer"),
    _apache("lymphoma", "apachePredVar", "lymphoma"),
    _apache("leukaemia", "apachePredVar", "leukemia"),
    _apache("immunosuppression", "apachePredVar", "immunosuppression"),
    _apache("aids", "apachePredVar", "aids"),
    *(feature for measurement in (*VITALS, *LABS) for feature in _daily(measurement)),
)
