"""Framingham: coronary heart disease in a teaching extract of the Framingham Heart Study, by sex."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, keep_rows
from xorder.datasets._open_set import Parts, load_open_set, open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome
from xorder.datasets._raw_table import RawTable
from xorder.datasets._splits import Splits

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


FRAMINGHAM = open_set("framingham", prepare_framingham)
