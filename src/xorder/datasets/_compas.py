"""COMPAS: new charges within two years of a risk assessment, by race."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, indicator, keep_rows, one_hot
from xorder.datasets._open_set import Parts, load_open_set, open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome
from xorder.datasets._raw_table import RawTable
from xorder.datasets._splits import Splits

_COUNTS = ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")


def load_compas(*, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None) -> Problem:
    """Load COMPAS: 6,167 people, 400 inputs, label recidivism, groups ``Caucasian`` and ``not Caucasian``.

    The paper's ``a = 1`` is ``not Caucasian``. The inputs are the age, four counts of earlier offences, sex, and
    one-hot columns of the age class, the degree and the description of the charge.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in for the raw file, before the one that ``XORDER_DATA`` names and a per-user cache. If it is in
        none of them, it is downloaded into this folder, or else into the cache.
    sensitive_inputs : bool, default=True
        No input states the race, so False leaves all 400; ``sex`` is not the group here and stays.
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
    .. [1] J. Angwin, J. Larson, S. Mattu and L. Kirchner (2016), Machine bias, ProPublica.
    .. [2] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """
    return load_open_set(COMPAS, data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


def prepare_compas(raw: RawTable) -> Parts:
    """Keep complete rows screened within 30 days of the arrest, and encode them."""
    rows = keep_rows(raw, complete_rows(raw))
    screened = np.abs(rows["days_b_screening_arrest"]) <= 30
    rows = keep_rows(rows, screened & (rows["is_recid"] != -1))
    inputs = {
        "sex": indicator(rows["sex"], "Male"),
        "age": rows["age"],
        **{column: rows[column] for column in _COUNTS},
        **one_hot(rows, "age_cat", "c_charge_degree", "c_charge_desc"),
    }
    y = (rows["two_year_recid"] == 1).astype(np.int8)
    return Parts(inputs, y, group_labels(rows["race"] == "Caucasian", "Caucasian", "not Caucasian"))


COMPAS = open_set("compas", prepare_compas)
