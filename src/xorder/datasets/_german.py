"""German credit: bad credit in the Statlog data, by age."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import group_labels, one_hot
from xorder.datasets._open_set import Parts, load_open_set, open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome
from xorder.datasets._raw_table import RawTable
from xorder.datasets._splits import Splits

# Codes of personal_status that the documentation of the file gives as female.
_FEMALE = ("A92", "A95")
_BAD = 2


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
    layout = GERMAN.file.layout
    coded = [column for column in layout.columns if column not in (*layout.numbers, "personal_status")]
    inputs = {
        **{column: raw[column] for column in ("month", "credit_amount", "investment_as_income_percentage")},
        "sex": 1.0 - np.isin(raw["personal_status"].astype(str), _FEMALE),
        **{column: raw[column] for column in ("residence_since", "number_of_credits", "people_liable_for")},
        **one_hot(raw, *coded),
    }
    y = (raw["credit"] == _BAD).astype(np.int8)
    return Parts(inputs, y, group_labels(raw["age"] < 25, "under 25", "25 or older"))


GERMAN = open_set("german", prepare_german)
