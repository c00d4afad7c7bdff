"""Adult: income above 50,000 dollars in the US census survey of 1994, by race."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, indicator, keep_rows, one_hot
from xorder.datasets._open_set import OpenSet, Parts, load_open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome, RawFile
from xorder.datasets._raw_table import Layout, RawTable
from xorder.datasets._splits import Splits, StoredSplits


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
        "age": rows["age"],
        "education-num": rows["education-num"],
        "sex": male,
        "capital-gain": rows["capital-gain"],
        "capital-loss": rows["capital-loss"],
        "hours-per-week": rows["hours-per-week"],
        "race-sex": white * male,
        **one_hot(rows, "workclass", "education", "marital-status", "occupation", "relationship", "native-country"),
    }
    y = (rows["income-per-year"] == ">50K").astype(np.int8)
    return Parts(inputs, y, group_labels(white == 1, "White", "not White"))


_LAYOUT = Layout(
    columns=(
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
        "native-country",
        "income-per-year",
    ),
    numbers=frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}),
    rows=32561,
    sha256="30a3a3ab331b99bc29bf2e9b1bc0166c88124d8d7cb39eb50173d1d100456ab6",
)

ADULT = OpenSet(
    name="adult",
    label="income above $50,000",
    groups=("White", "not White"),
    description=(
        "People in the US Current Population Survey of 1994: the part of the Adult data that is meant for training. "
        "The label is 1 for a yearly income above 50,000 dollars. The groups are White and not White."
    ),
    source="UCI Machine Learning Repository, Adult, adult.data (1996)",
    licence="CC BY 4.0",
    warnings=(
        "The label is a threshold of 50,000 dollars in 1994, passed by one in four people, and by one in six of those "
        "who are not White; findings depend on where it lies.",
        "The survey weight fnlwgt is left out, so shares are those of the sample and not of the population.",
        "2,399 rows with an unknown work class, occupation or country are left out.",
        "native-country, relationship and marital status are related to race and sex and stay among the inputs.",
    ),
    rows=30162,
    inputs=98,
    file=RawFile(
        folder="adult",
        names=("adult_raw.csv", "adult.data", "adult.csv"),
        urls=(
            "https://archive.ics.uci.edu/static/public/2/adult.zip",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
            "https://raw.githubusercontent.com/algofairness/fairness-comparison/master/fairness/data/raw/adult.csv",
        ),
        layout=_LAYOUT,
        member="adult.data",
    ),
    prepare=prepare_adult,
    stored=StoredSplits(30_162, range(10), "b76c90ec407f32ff24c18dd176479a515681aefdca9b6c115fb54f9ba4c6b0e3"),
    revealing={
        "race-sex": (
            "race-sex, 1 for white men, is among the inputs, though the paper speaks of non-sensitive inputs only: for "
            "a man it states the race. sensitive_inputs=False drops it."
        )
    },
)
