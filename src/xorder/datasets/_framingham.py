"""Framingham: coronary heart disease in a teaching extract of the Framingham Heart Study, by sex."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, keep_rows
from xorder.datasets._open_set import OpenSet, Parts, load_open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome, RawFile
from xorder.datasets._raw_table import Layout, RawTable
from xorder.datasets._splits import Splits, StoredSplits

_MALE = 1


def load_framingham(*, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None) -> Problem:
    """Load Framingham: 4,658 people, 8 inputs, label coronary heart disease, groups ``male`` and ``female``.

    The paper's ``a = 1`` is ``male``. The inputs are sex (1 male, 2 female), systolic and diastolic blood pressure,
    serum cholesterol, days of follow-up, age, body mass index, and the month of the examination.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in for the raw file, before the one that ``XORDER_DATA`` names and a per-user cache. If it is in
        none of them, it is downloaded into this folder, or else into the cache.
    sensitive_inputs : bool, default=True
        Whether to keep ``sex``; without it 7 inputs are left, the number that the paper gives.
    splits : int or "stored", optional
        Number of random 70/30 splits to draw, or ``"stored"`` for the paper's ten.

    Returns
    -------
    Problem
        Inputs, labels and groups, with what to know about them.

    Raises
    ------
    InputError
        If the file is not the public one, or cannot be downloaded.

    References
    ----------
    .. [1] W. D. Dupont (2009), Statistical Modeling for Biomedical Researchers, 2nd edition, Cambridge University
       Press.
    .. [2] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """
    return load_open_set(FRAMINGHAM, data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


def prepare_framingham(raw: RawTable) -> Parts:
    """Keep complete rows, without the number of the person."""
    rows = keep_rows(raw, complete_rows(raw))
    inputs = {column: cells for column, cells in rows.items() if column not in ("chdfate", "id")}
    y = (rows["chdfate"] == 1).astype(np.int8)
    return Parts(inputs, y, group_labels(rows["sex"] == _MALE, "male", "female"))


_COLUMNS = ("sex", "sbp", "dbp", "scl", "chdfate", "followup", "age", "bmi", "month", "id")

FRAMINGHAM = OpenSet(
    name="framingham",
    label="coronary heart disease",
    groups=("female", "male"),
    description=(
        "Adults of Framingham, Massachusetts, at an examination of the Framingham Heart Study. The label is 1 for "
        "those found with coronary heart disease at any time of the follow-up, 32 years at most. The groups are male "
        "and female."
    ),
    source=(
        "Framingham Heart Study, teaching extract 2.20.Framingham of W. D. Dupont, Statistical Modeling for "
        "Biomedical Researchers, in the collection of Vanderbilt University's Department of Biostatistics"
    ),
    licence="public teaching data, no explicit licence",
    warnings=(
        "followup, the days until the disease or the end of observation, is among the inputs and leaks the outcome: "
        "alone it ranks with an AUC of 0.77. Drop it before reading a score as a forecast.",
        "The label covers the whole follow-up, while the paper speaks of ten years; 73 % of the cases came later.",
        "2,076 of the 3,193 without the disease were observed for less than the full 32 years.",
        "41 of 4,699 rows lack the cholesterol or the body mass index and are left out.",
        "This is not the file with TenYearCHD that goes by the same name.",
    ),
    rows=4658,
    inputs=8,
    file=RawFile(
        folder="framingham",
        names=("framingham.csv", "2.20.Framingham.csv"),
        urls=(
            "https://hbiostat.org/data/repo/2.20.Framingham.csv",
            "https://raw.githubusercontent.com/cuis15/xorder/6dde5a18552ffa07f29100038464a38c49495527/data/original/framingham.csv",
        ),
        layout=Layout(
            columns=_COLUMNS,
            numbers=frozenset(_COLUMNS),
            rows=4699,
            sha256="c73215f4511e65f23e3d6a13420be863622d6a7f671be33b39a7a713c57a811b",
        ),
    ),
    prepare=prepare_framingham,
    stored=StoredSplits(
        4658, (1, 3, 4, 6, 9, 10, 11, 12, 14, 15), "26286a354c7eccf356dbfecedd229f9c212caa1cf676e1b413ac34539e6034e8"
    ),
    revealing={
        "sex": (
            "sex, the group itself, is among the inputs; sensitive_inputs=False drops it. With plain logistic "
            "regression on the stored splits the xAUC gap is 0.34 with it and 0.06 without it."
        )
    },
)
