"""COMPAS: new charges within two years of a risk assessment, by race."""

from __future__ import annotations

import numpy as np

from xorder.datasets._one_hot import complete_rows, group_labels, indicator, keep_rows, one_hot
from xorder.datasets._open_set import OpenSet, Parts, load_open_set
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome, RawFile
from xorder.datasets._raw_table import Layout, RawTable
from xorder.datasets._splits import Splits, StoredSplits

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


_LAYOUT = Layout(
    # The names, birth dates and case numbers that the file also holds are not read.
    columns=(
        "sex",
        "age",
        "age_cat",
        "race",
        *_COUNTS,
        "c_charge_degree",
        "c_charge_desc",
        "decile_score",
        "score_text",
        "two_year_recid",
        "days_b_screening_arrest",
        "is_recid",
    ),
    numbers=frozenset({"age", *_COUNTS, "decile_score", "two_year_recid", "days_b_screening_arrest", "is_recid"}),
    rows=7214,
    sha256="6fb7506c2626b833d8f20ca787439433de226fbc76b5c82e084d047dd8eec914",
)

COMPAS = OpenSet(
    name="compas",
    label="new charge in two years",
    groups=("Caucasian", "not Caucasian"),
    description=(
        "People who were scored by the COMPAS tool in Broward County, Florida, in 2013 and 2014. The label is 1 for "
        "those charged with a new crime within two years. The groups are Caucasian and not Caucasian."
    ),
    source="ProPublica, compas-analysis, compas-scores-two-years.csv (2016)",
    licence="no explicit licence; published by ProPublica for re-analysis",
    warnings=(
        "The label is recidivism = 1, as in the paper's code; the paper's table says non-recidivism. Turning label and "
        "score round keeps the AUC and the size of the xAUC gap, but changes the PRF gap.",
        "The label is a new charge on record, not a crime: it also measures whom the police stop and arrest.",
        "Of people observed for less than two years the file keeps only those with a new charge; with one rule for "
        "all Barenstein (2019, ProPublica's COMPAS Data Revisited) finds a rate of 36.2 % instead of 45.1 %.",
        "No input states the race, but sex, age, earlier offences and the charge are related to it.",
        "389 of the 400 inputs are charge descriptions, and 177 of those occur for one person only.",
    ),
    rows=6167,
    inputs=400,
    file=RawFile(
        folder="compas",
        names=("compas-scores-two-years.csv",),
        urls=(
            "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
            "https://raw.githubusercontent.com/algofairness/fairness-comparison/master/fairness/data/raw/propublica-recidivism.csv",
        ),
        layout=_LAYOUT,
    ),
    prepare=prepare_compas,
    stored=StoredSplits(6167, range(10), "65390d22ea221fa88b086fe9395a3ae7ab01814f94fdbccf9064d99f700038d1"),
)
