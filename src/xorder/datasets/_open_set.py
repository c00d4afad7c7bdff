"""The four open data sets as data: the raw file of each, how inputs come from it, and what to know about it.

All of that is in the file of its name, such as ``adult.toml``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._optional import import_optional
from xorder.datasets._facts import read_facts
from xorder.datasets._problem import Problem, Splits, StoredSplits, check_splits, make_splits
from xorder.datasets._raw_file import DataHome, Layout, RawFile, RawTable, load_raw


class Parts(NamedTuple):
    """What the rows of a raw table give: named inputs, labels, groups."""

    inputs: Any
    y: NDArray[np.int8]
    groups: NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the rows of a problem come from the complete rows of a raw table, in expressions of pandas on its columns.

    Attributes
    ----------
    positive : the rows whose label is 1
    first : the rows of the first of the two groups
    inputs : each input by its name
    one_hot : columns that become one indicator ``column_value`` per value, after these inputs
    unused : columns that may be incomplete
    kept : the rows that are kept; by default all
    """

    positive: str
    first: str
    inputs: Mapping[str, str]
    one_hot: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    kept: str = "index >= 0"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a public data set without reading it.

    Attributes
    ----------
    name, description, source, licence : as in :class:`Problem`
    rows, inputs : how many the problem has
    label, groups : what 1 stands for, and the two groups, in a few words each
    warnings : what to know about it
    """

    name: str
    rows: int
    inputs: int
    label: str
    groups: tuple[str, str]
    description: str
    source: str
    licence: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenSet(About):
    """A public data set; ``warnings`` hold whichever inputs are used.

    Attributes
    ----------
    file : the raw file
    recipe : from the raw table to inputs, labels and groups
    stored : the paper's ten splits
    revealing : inputs that state the group, wholly or in part, with the warning that each is there
    """

    file: RawFile
    recipe: Recipe
    stored: StoredSplits
    revealing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def named(cls, name: str) -> OpenSet:
        """Return the set whose facts are in the file of its name."""
        facts = read_facts(name)
        file = RawFile(folder=name, layout=Layout(**facts.pop("layout")), **facts.pop("file"))
        stored = StoredSplits(rows=facts["rows"], **facts.pop("stored"))
        return cls(name=name, file=file, recipe=Recipe(**facts.pop("recipe")), stored=stored, **facts)

    def warnings_without(self, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """What to know about the set when the ``hidden`` inputs are left out."""
        return (*(text for column, text in self.revealing.items() if column not in hidden), *self.warnings)

    def prepare(self, raw: RawTable) -> Parts:
        """Make inputs, labels and groups of a raw table."""
        pandas, recipe = _pandas(), self.recipe
        table = pandas.DataFrame(raw).drop(columns=list(recipe.unused)).replace("", None).dropna()
        rows = table.query(recipe.kept, engine="python").reset_index(drop=True)

        def read(expression: str) -> Any:
            return rows.eval(expression, engine="python")

        plain = pandas.DataFrame({name: read(expression) for name, expression in recipe.inputs.items()})
        coded = [pandas.get_dummies(rows[column], prefix=column) for column in recipe.one_hot]
        groups = np.where(read(recipe.first), *self.groups).astype(object)
        inputs = pandas.concat([plain, *coded], axis=1).astype(np.float64)
        return Parts(inputs, read(recipe.positive).to_numpy(np.int8), groups)


# Every open set by its name.
OPEN_SETS = {name: OpenSet.named(name) for name in ("compas", "adult", "framingham", "german")}


def load_open_set(
    open_set: OpenSet, *, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None
) -> Problem:
    """Find or download the raw file of a set, and make the problem of it."""
    # Both before a download.
    _pandas()
    check_splits(splits, stored=True)
    parts = open_set.prepare(load_raw(open_set.file, data_home))
    hidden = () if sensitive_inputs else tuple(open_set.revealing)
    return Problem(
        name=open_set.name,
        X=parts.inputs.drop(columns=list(hidden)),
        y=parts.y,
        sensitive_features=parts.groups,
        description=open_set.description,
        source=open_set.source,
        licence=open_set.licence,
        warnings=open_set.warnings_without(hidden),
        splits=make_splits(splits, len(parts.y), open_set.stored),
    )


def _pandas() -> Any:
    return import_optional("pandas", extra="data", purpose="loading a data set")


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
    return load_open_set(OPEN_SETS["adult"], data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


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
    return load_open_set(OPEN_SETS["compas"], data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


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
    return load_open_set(OPEN_SETS["framingham"], data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)


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
    return load_open_set(OPEN_SETS["german"], data_home=data_home, sensitive_inputs=sensitive_inputs, splits=splits)
