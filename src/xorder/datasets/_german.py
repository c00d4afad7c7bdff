"""German credit: bad credit in the Statlog data, by age."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import group_labels, one_hot
from xorder.datasets._open_set import OpenSet, Parts, load_open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome, RawFile
from xorder.datasets._raw_table import Layout, RawTable
from xorder.datasets._splits import Splits, StoredSplits

# Codes of personal_status that the documentation of the file gives as female.
_FEMALE = ("A92", "A95")
_BAD = 2
_COLUMNS = (
    "status",
    "month",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "employment",
    "investment_as_income_percentage",
    "personal_status",
    "other_debtors",
    "residence_since",
    "property",
    "age",
    "installment_plans",
    "housing",
    "number_of_credits",
    "skill_level",
    "people_liable_for",
    "telephone",
    "foreign_worker",
    "credit",
)
_NUMBERS = (
    "month",
    "credit_amount",
    "investment_as_income_percentage",
    "residence_since",
    "age",
    "number_of_credits",
    "people_liable_for",
    "credit",
)
_CODED = tuple(column for column in _COLUMNS if column not in (*_NUMBERS, "personal_status"))


def load_german(*, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None) -> Problem:
    """Load German credit: 1,000 credits, 57 inputs, label bad credit, groups ``under 25`` and ``25 or older``.

    The set is in the paper's code and not in the paper; its ``a = 1`` is ``under 25``. The inputs are six numbers about
    the credit and the debtor, ``sex``, and one-hot columns of the twelve coded ones.

    Parameters
    ----------
    data_home : str or path-like, optional
        Folder to look in for the raw file, before the one that ``XORDER_DATA`` names and a per-user cache. If it is in
        none of them, it is downloaded into this folder, or else into the cache.
    sensitive_inputs : bool, default=True
        No input is made from the age, so False leaves all 57; ``sex`` is not the group here and stays.
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
    .. [1] H. Hofmann (1994), Statlog (German Credit Data), UCI Machine Learning Repository, doi:10.24432/C5NC77.
    .. [2] U. Grömping (2019), South German Credit Data: correcting a widely used data set, Reports in Mathematics,
       Physics and Chemistry 4/2019, Beuth University of Applied Sciences Berlin.
    .. [3] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """
    return load_open_set(GERMAN, data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


def prepare_german(raw: RawTable) -> Parts:
    """Encode all rows; the age and the personal status are inputs only as ``sex``."""
    inputs = {
        "month": raw["month"],
        "credit_amount": raw["credit_amount"],
        "investment_as_income_percentage": raw["investment_as_income_percentage"],
        "sex": 1.0 - np.isin(raw["personal_status"].astype(str), _FEMALE),
        "residence_since": raw["residence_since"],
        "number_of_credits": raw["number_of_credits"],
        "people_liable_for": raw["people_liable_for"],
        **one_hot(raw, *_CODED),
    }
    y = (raw["credit"] == _BAD).astype(np.int8)
    return Parts(inputs, y, group_labels(raw["age"] < 25, "under 25", "25 or older"))


GERMAN = OpenSet(
    name="german",
    label="bad credit",
    groups=("25 or older", "under 25"),
    description=(
        "Credits that a bank in southern Germany gave from 1973 to 1975. The label is 1 for bad credit. The groups are "
        "debtors under 25 and debtors of 25 or older."
    ),
    source="UCI Machine Learning Repository, Statlog (German Credit Data), german.data (1994)",
    licence="CC BY 4.0",
    warnings=(
        "The documentation of this file assigns many codes wrongly (Grömping, 2019, South German Credit Data). By the "
        "corrected table A92 holds women who are not single together with single men, so that sex here is not the sex.",
        "Bad credits were drawn far more often than they occur: 30 % here.",
        "149 people are under 25, 61 of them with bad credit; a test part of 300 rows has about 45 and 18 of them, so "
        "that gaps are uncertain by several points.",
        "The set is in the paper's code and not in the paper.",
    ),
    rows=1000,
    inputs=57,
    file=RawFile(
        folder="german",
        names=("german_raw.csv", "german.data", "german.csv"),
        urls=(
            "https://archive.ics.uci.edu/static/public/144/statlog+german+credit+data.zip",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
            "https://raw.githubusercontent.com/algofairness/fairness-comparison/master/fairness/data/raw/german.csv",
        ),
        layout=Layout(
            columns=_COLUMNS,
            numbers=frozenset(_NUMBERS),
            rows=1000,
            sha256="ea23f586278009068ce5cc52e1b0c0da66dd6275a28a06d52f691f88c69c1d17",
        ),
        member="german.data",
    ),
    prepare=prepare_german,
    stored=StoredSplits(
        1000, (0, 2, 3, 9, 12, 14, 15, 18, 20, 21), "6bfc1b31a68c4006a7a25f9d3bb1f80e9ab55ed0d16e55c2b912b535f655ac5c"
    ),
)
