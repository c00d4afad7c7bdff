"""Adult: income above 50,000 dollars in the US census survey of 1994, by race."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, indicator, keep_rows, one_hot
from xorder.datasets._open_set import Parts, load_open_set, open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome
from xorder.datasets._raw_table import RawTable
from xorder.datasets._splits import Splits


def load_adult(*, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None) -> Problem:
    """Load Adult: 30,162 people, 98 inputs, label income above 50,000 dollars, groups ``White`` and ``not White``.

    The paper's ``a = 1`` is ``not White``. The inputs are age, years of education, capital gain and loss, hours per
    week, sex, ``race-sex``, and one-hot columns of the work class, education, marital status, occupation, relationship
    and native country.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in for the raw file, before the one that ``XORDER_DATA`` names and a per-user cache. If it is in
        none of them, it is downloaded into this folder, or else into the cache.
    sensitive_inputs : bool, default=True
        Whether to keep ``race-sex``, 1 for white men, which states the race of every man; without it 97 inputs are
        left.
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
    .. [1] B. Becker and R. Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20.
    .. [2] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """
    return load_open_set(ADULT, data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


def prepare_adult(raw: RawTable) -> Parts:
    """Leave out the survey weight and incomplete rows, and encode the rest."""
    used = {column: cells for column, cells in raw.items() if column != "fnlwgt"}
    rows = keep_rows(used, complete_rows(used))
    male, white = indicator(rows["sex"], "Male"), indicator(rows["race"], "White")
    inputs = {
        **{column: rows[column] for column in ("age", "education-num")},
        "sex": male,
        **{column: rows[column] for column in ("capital-gain", "capital-loss", "hours-per-week")},
        "race-sex": white * male,
        **one_hot(rows, "workclass", "education", "marital-status", "occupation", "relationship", "native-country"),
    }
    y = (rows["income-per-year"] == ">50K").astype(np.int8)
    return Parts(inputs, y, group_labels(white == 1, "White", "not White"))


ADULT = open_set("adult", prepare_adult)
