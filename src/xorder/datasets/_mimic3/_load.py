"""From a cohort file to the paper's two MIMIC-III problems."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from xorder._parameters import check_word
from xorder.datasets._cohort_file import read_cohort
from xorder.datasets._impute import Impute, imputed, imputing_warnings
from xorder.datasets._mimic3._features import FEATURES
from xorder.datasets._problem import Problem, Split
from xorder.datasets._splits import make_splits

# task -> the paper's group for it, and the label in words
_TASKS = {
    "mortality": ("gender", "the patient died during this stay in hospital"),
    "long_stay": ("ethnicity", "the stay in intensive care was longer than 7 days"),
}
_UNKNOWN = ("UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED")
_WITHOUT_RANGES = (
    "Implausible values are left in, as the benchmark does, and some are far out; build with apply_ranges=True "
    "to take them out."
)
_WARNINGS = {
    "mortality": "The label is the benchmark's: a date of death between admission and discharge. It differs from "
    "hospital_expire_flag for {differing:,} stays.",
    "long_stay": "Whoever dies within 7 days counts as a short stay: the label is about beds, not about getting well.",
    "gender": "Gender is as the hospital recorded it, as one of two.",
    "ethnicity": "Ethnicity is as the hospital recorded it; all that does not start with WHITE is one group, the "
    "{unknown:,} stays whose ethnicity is not known among them.",
}
_COLUMNS = ("subject_id", "gender", "ethnicity", "los", "mortality", "hospital_expire_flag")


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
    usual, label = _TASKS[check_word("task", task, _TASKS)]
    grouping = check_word("group", usual if group is None else group, ("gender", "ethnicity"))
    rows, about = read_cohort(cohort, kind="mimic3", columns=(*_COLUMNS, *FEATURES))
    y = rows["mortality"] if task == "mortality" else rows["los"] > 7
    differing = int((rows["mortality"] != rows["hospital_expire_flag"]).sum())
    unknown = int(rows["ethnicity"].fillna("UNKNOWN").str.startswith(_UNKNOWN).sum())
    return Problem(
        name=f"MIMIC-III {task}",
        X=imputed(rows[list(FEATURES)].astype(np.float64), impute),
        y=y.to_numpy(dtype=np.int8),
        sensitive_features=_groups(rows, grouping),
        description=(
            f"{len(rows):,} intensive care stays of adults, 48 hours or longer. y = 1: {label}. Groups: {grouping}. "
            f"Inputs: {len(FEATURES)} statistics of 17 clinical variables over windows of the first 48 hours."
        ),
        source=f"MIMIC-III, PhysioNet; the user's own copy ({about.get('source')})",
        licence="PhysioNet Credentialed Health Data License 1.5.0 (MIMIC-III), ODbL 1.0 (its open demo)",
        warnings=(
            "One hospital, 2001 to 2012; patients with several admissions have several rows (subject_id in the cohort "
            "file), so that rows are not independent.",
            "What was measured depends on how ill the patient looked, so a missing value means something, too.",
            *([] if about.get("apply_ranges") else [_WITHOUT_RANGES]),
            _WARNINGS[task].format(differing=differing),
            _WARNINGS[grouping].format(unknown=unknown),
            *imputing_warnings(impute),
        ),
        splits=_splits_by_patient(rows["subject_id"].to_numpy(), splits),
    )


def _groups(rows: Any, group: str) -> Any:
    if group == "gender":
        return rows["gender"].map({"F": "female", "M": "male"}).fillna("unknown").to_numpy(dtype=object)
    white = rows["ethnicity"].fillna("").str.startswith("WHITE")
    return np.where(white, "white", "not white").astype(object)


def _splits_by_patient(patient: Any, splits: int | None) -> tuple[Split, ...]:
    """Draw patients, not stays: a model must not be tested on people it has seen."""
    known, number = np.unique(patient, return_inverse=True)
    drawn = []
    for split in make_splits(splits, len(known)):
        training = np.isin(number, split.train)
        drawn.append(Split(np.flatnonzero(training), np.flatnonzero(~training)))
    return tuple(drawn)
