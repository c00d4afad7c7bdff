"""From a cohort file to the eICU problem: inputs, one of two labels, one of two groups."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from xorder._parameters import check_word
from xorder.datasets._cohort_file import read_cohort
from xorder.datasets._eicu._build import ABOUT, KIND
from xorder.datasets._eicu._features import FEATURES
from xorder.datasets._impute import Impute, imputed, imputing_warnings
from xorder.datasets._problem import Problem
from xorder.datasets._splits import make_splits
from xorder.exceptions import InputError

_TASKS = {
    "long_stay": "the patient stays in the unit for more than 7 days",
    "mortality": "the patient dies in hospital",
}
# group -> the values that are known; for ethnicity all are, and those that are not Caucasian go together
_GROUPS = {"ethnicity": None, "gender": ("Female", "Male")}
_WARNINGS = {
    "long_stay": "Whoever dies or is moved within 7 days counts as a short stay: the label is about beds, not about "
    "getting well.",
    "mortality": "Deaths after discharge from hospital are not known and count as survival.",
    "ethnicity": "Ethnicity is as the hospital recorded it; 'Other/Unknown' counts as not Caucasian, as in the paper's "
    "split into white and the rest.",
    "gender": "Gender is as the hospital recorded it, as one of two.",
}


def load_eicu(
    cohort: str | os.PathLike[str],
    *,
    task: Literal["long_stay", "mortality"] = "long_stay",
    group: Literal["ethnicity", "gender"] = "ethnicity",
    splits: int | None = None,
    impute: Impute = None,
) -> Problem:
    """Load a cohort that :func:`build_eicu` wrote.

    Neither gender nor ethnicity is among the inputs. Nothing is filled by default: some models take NaN as it is, and
    only the user knows what the training part is. For one split, ``impute_mean(problem.X, problem.splits[0].train)``
    fills it; for all of them, a model that imputes by itself::

        make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression())

    Stays whose label or group is not known are left out; ``warnings`` says how many. Row numbers, also in ``impute``,
    are those of ``X``, without them.

    Parameters
    ----------
    cohort : str or path-like
        Parquet file of the cohort.
    task : {"long_stay", "mortality"}, default="long_stay"
        Label: longer than 7 days in the unit, or death in hospital.
    group : {"ethnicity", "gender"}, default="ethnicity"
        Groups: Caucasian and not Caucasian, or female and male.
    splits : int, optional
        Number of random splits into training (70 %) and test part to draw.
    impute : array-like of int or "mean", optional
        Numbers of training rows, whose means fill what was not measured; or ``"mean"`` for means over all rows, which
        lets a little of a test part into training. By default NaN stays.

    Returns
    -------
    Problem
        Inputs, labels and groups, with what to know about them.

    References
    ----------
    .. [1] T. J. Pollard, A. E. W. Johnson, J. D. Raffa, L. A. Celi, R. G. Mark and O. Badawi (2018), The eICU
       Collaborative Research Database, a freely available multi-center database for critical care research,
       Scientific Data 5, 180178.
    """
    check_word("task", task, _TASKS)
    check_word("group", group, _GROUPS)
    inputs = [feature.name for feature in FEATURES]
    rows, about = read_cohort(cohort, kind=KIND, columns=(*ABOUT, *inputs))
    known_label = rows[task].notna()
    known_group = rows[group].isin(_GROUPS[group]) if _GROUPS[group] else rows[group].notna()
    left_out = {
        f"have no known outcome ({task})": int((~known_label).sum()),
        f"have no known {group}": int((known_label & ~known_group).sum()),
    }
    rows = rows[known_label & known_group].reset_index(drop=True)
    if rows.empty:
        raise InputError(f"{cohort} has no stay with a known {task} and {group}; choose another task or group.")
    readings = ", ".join(about["readings"])
    return Problem(
        name=f"eICU {task}",
        X=imputed(rows[inputs], impute),
        y=rows[task].to_numpy(dtype=np.int8),
        sensitive_features=_groups(rows[group], group),
        description=(
            f"Adults still in an intensive care unit 24 hours after admission, one stay each. y = 1: {_TASKS[task]}. "
            f"Groups: {group}. Inputs: {len(inputs)} values known after the first day (vital signs and laboratory "
            f"values from {readings})."
        ),
        source="eICU Collaborative Research Database, PhysioNet; the user's own copy",
        licence="PhysioNet Credentialed Health Data License 1.5.0 (eICU-CRD), ODbL 1.0 (its open demo)",
        warnings=(
            "The paper (n = 17,402, 60 inputs) gives neither its cohort nor its inputs: both are our own here, and its "
            "figures need not come out.",
            _WARNINGS[task],
            _WARNINGS[group],
            "What was measured depends on how ill the patient looked, so a missing value means something, too.",
            *(f"{count:,} stays {what} and are left out." for what, count in left_out.items() if count),
            *imputing_warnings(impute),
        ),
        splits=make_splits(splits, len(rows)),
    )


def _groups(values: Any, group: str) -> Any:
    if group == "ethnicity":
        return np.where(values == "Caucasian", "Caucasian", "not Caucasian").astype(object)
    return values.to_numpy(dtype=object)
