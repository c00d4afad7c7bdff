"""A public data set as data: its raw file, how inputs come from it, and what to know about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder.datasets._facts import read_facts
from xorder.datasets._problem import Problem
from xorder.datasets._raw_file import DataHome, RawFile, load_raw
from xorder.datasets._raw_table import Layout, RawTable
from xorder.datasets._splits import Splits, StoredSplits, check_splits, make_splits


class Parts(NamedTuple):
    """What the rows of a raw table give: named inputs, labels, groups."""

    inputs: dict[str, FloatArray]
    y: NDArray[np.int8]
    groups: NDArray[np.object_]


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
    prepare : from the raw table to inputs, labels and groups
    stored : the paper's ten splits
    revealing : inputs that state the group, wholly or in part, with the warning that each is there
    """

    file: RawFile
    prepare: Callable[[RawTable], Parts]
    stored: StoredSplits
    revealing: Mapping[str, str] = field(default_factory=dict)

    def warnings_without(self, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """What to know about the set when the ``hidden`` inputs are left out."""
        present = (warning for column, warning in self.revealing.items() if column not in hidden)
        return (*present, *self.warnings)


def open_set(name: str, prepare: Callable[[RawTable], Parts]) -> OpenSet:
    """Return the set whose facts are in the file of its name."""
    facts = read_facts(name)
    file = RawFile(folder=name, layout=Layout(**facts.pop("layout")), **facts.pop("file"))
    stored = StoredSplits(rows=facts["rows"], **facts.pop("stored"))
    return OpenSet(name=name, file=file, prepare=prepare, stored=stored, **facts)


# Every open set by its name; the package's __init__ enters them.
OPEN_SETS: dict[str, OpenSet] = {}


def load_open_set(
    open_set: OpenSet, *, data_home: DataHome = None, sensitive_inputs: bool = True, splits: Splits = None
) -> Problem:
    """Find or download the raw file of a set, and make the problem of it."""
    pandas = import_optional("pandas", extra="data", purpose="loading a data set")
    # Before a download.
    check_splits(splits, stored=True)
    parts = open_set.prepare(load_raw(open_set.file, data_home))
    hidden = () if sensitive_inputs else tuple(open_set.revealing)
    inputs = {name: values for name, values in parts.inputs.items() if name not in hidden}
    return Problem(
        name=open_set.name,
        X=pandas.DataFrame(inputs),
        y=parts.y,
        sensitive_features=parts.groups,
        description=open_set.description,
        source=open_set.source,
        licence=open_set.licence,
        warnings=open_set.warnings_without(hidden),
        splits=make_splits(splits, len(parts.y), open_set.stored),
    )
