"""From raw columns to inputs: complete rows, indicators, one-hot columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._table import BoolArray, FloatArray
from xorder.datasets._raw_table import RawTable


def complete_rows(table: RawTable) -> BoolArray:
    """Which rows have a value in every column."""
    masks = [~np.isnan(cells) if cells.dtype == np.float64 else cells != "" for cells in table.values()]
    return np.asarray(np.logical_and.reduce(masks), dtype=bool)


def keep_rows(table: RawTable, rows: BoolArray) -> RawTable:
    """Return the table with some of its rows."""
    return {column: cells[rows] for column, cells in table.items()}


def indicator(cells: NDArray[Any], value: str | float) -> FloatArray:
    """1 where the cell is ``value``, 0 elsewhere."""
    return np.asarray(cells == value, dtype=np.float64)


def one_hot(table: RawTable, *columns: str) -> dict[str, FloatArray]:
    """One indicator ``column_value`` per value that occurs, column by column, values in the order of their letters.

    >>> one_hot({"sex": np.array(["m", "f", "m"], dtype=object)}, "sex")
    {'sex_f': array([0., 1., 0.]), 'sex_m': array([1., 0., 1.])}
    """
    encoded = {}
    for column in columns:
        values, codes = np.unique(table[column], return_inverse=True)
        encoded.update({f"{column}_{value}": indicator(codes, code) for code, value in enumerate(values.tolist())})
    return encoded


def group_labels(in_group: BoolArray, label: str, rest: str) -> NDArray[np.object_]:
    """Readable group of each row."""
    return np.where(in_group, label, rest).astype(object)
