"""From a cohort file to the eICU problem: inputs, one of two labels, one of two groups."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from xorder._parameters import check_word
from xorder.datasets._cohort_file import read_cohort
from xorder.datasets._eicu._build import ABOUT, KIND
from xorder.datasets._eicu._features import FACTS, FEATURES
from xorder.datasets._impute import Impute, imputed, imputing_warnings
from xorder.datasets._problem import Problem
from xorder.datasets._splits import make_splits
from xorder.exceptions import InputError

_FACTS = FACTS["problem"]


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
    tasks, groups = _FACTS["tasks"], _FACTS["groups"]
    label = tasks[check_word("task", task, tasks)]["label"]
    known = groups[check_word("group", group, groups)].get("known")
    inputs = [feature.name for feature in FEATURES]
    rows, about = read_cohort(cohort, kind=KIND, columns=(*ABOUT, *inputs))
    known_label = rows[task].notna()
    known_group = rows[group].isin(known) if known else rows[group].notna()
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
        description=_FACTS["description"].format(label=label, group=group, inputs=len(inputs), readings=readings),
        source=_FACTS["source"],
        licence=_FACTS["licence"],
        warnings=(
            _FACTS["own_cohort"],
            tasks[task]["warning"],
            groups[group]["warning"],
            _FACTS["missing"],
            *(f"{count:,} stays {what} and are left out." for what, count in left_out.items() if count),
            *imputing_warnings(impute),
        ),
        splits=make_splits(splits, len(rows)),
    )


def _groups(values: Any, group: str) -> Any:
    if group == "ethnicity":
        return np.where(values == "Caucasian", "Caucasian", "not Caucasian").astype(object)
    return values.to_numpy(dtype=object)
