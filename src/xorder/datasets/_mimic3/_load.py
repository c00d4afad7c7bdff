"""From a cohort file to the paper's two MIMIC-III problems."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from xorder._parameters import check_word
from xorder.datasets._cohort_file import read_cohort
from xorder.datasets._impute import Impute, imputed, imputing_warnings
from xorder.datasets._mimic3._features import FACTS, FEATURES
from xorder.datasets._problem import Problem, Split
from xorder.datasets._splits import make_splits

_FACTS = FACTS["problem"]
_UNKNOWN = ("UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED")
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
    tasks, groups = _FACTS["tasks"], _FACTS["groups"]
    chosen = tasks[check_word("task", task, tasks)]
    grouping = check_word("group", chosen["group"] if group is None else group, groups)
    rows, about = read_cohort(cohort, kind="mimic3", columns=(*_COLUMNS, *FEATURES))
    y = rows["mortality"] if task == "mortality" else rows["los"] > 7
    numbers = {
        "rows": len(rows),
        "inputs": len(FEATURES),
        "differing": int((rows["mortality"] != rows["hospital_expire_flag"]).sum()),
        "unknown": int(rows["ethnicity"].fillna("UNKNOWN").str.startswith(_UNKNOWN).sum()),
    }
    ranges = () if about.get("apply_ranges") else (_FACTS["without_ranges"],)
    warnings = (*_FACTS["warnings"], *ranges, chosen["warning"], groups[grouping]["warning"])
    return Problem(
        name=f"MIMIC-III {task}",
        X=imputed(rows[list(FEATURES)].astype(np.float64), impute),
        y=y.to_numpy(dtype=np.int8),
        sensitive_features=_groups(rows, grouping),
        description=_FACTS["description"].format(label=chosen["label"], group=grouping, **numbers),
        source=_FACTS["source"].format(source=about.get("source")),
        licence=_FACTS["licence"],
        warnings=(*(warning.format(**numbers) for warning in warnings), *imputing_warnings(impute)),
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
