"""Columns as users hand them over: of every type that holds their values, or damaged in one place.

A column says what it means, as a plain list, so that whoever takes it can be held to that; or that it must be refused.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np

from support.drawn import extreme, ordinary


class Column(NamedTuple):
    """What is handed over, and what it means; None if it has no meaning and must be refused."""

    values: Any
    means: list[Any] | None


def _pandas() -> Any:
    import pandas

    return pandas


def _polars() -> Any:
    import polars

    return polars


def _arrow() -> Any:
    import pyarrow

    return pyarrow


def _with_odd_steps(values: Sequence[Any]) -> Any:
    """Return a view that skips every other entry, last first."""
    return np.repeat(np.asarray(values)[::-1], 2)[::-2]


# Types that hold numbers as they are.
NUMBERS: tuple[Callable[[list[float]], Any], ...] = (
    list,
    tuple,
    np.array,
    np.array,
    np.array,
    lambda values: np.array(values, dtype=object),
    lambda values: array.array("d", values),
    lambda values: np.array(values).astype(">f8"),
    lambda values: np.ma.masked_array(values),
    _with_odd_steps,
    lambda values: _pandas().Series(values),
    lambda values: _pandas().Series(values, dtype="Float64"),
    lambda values: _polars().Series(values),
    lambda values: _arrow().array(values),
    lambda values: np.array(values)[:, None],
    lambda values: [np.float64(value) for value in values],
    lambda values: [Fraction(value) for value in values],
    lambda values: [Decimal(value) for value in values],
)


def numbers(r: Random, values: list[float]) -> Column:
    """Hand over finite numbers in some type."""
    if all(abs(value) < 1e38 for value in values) and r.random() < 0.1:
        short = np.array(values, dtype=np.float32)
        return Column(short, short.astype(float).tolist())
    if all(value == int(value) and abs(value) < 2**53 for value in values) and r.random() < 0.3:
        return Column(r.choice((np.array, list))([int(value) for value in values]), values)
    return Column(r.choice(NUMBERS)(values), values)


def draw_numbers(r: Random, size: int, *, wild: bool) -> list[float]:
    """Draw that many finite numbers, some of them equal."""
    draw = extreme if wild else ordinary
    few = [draw(r) for _ in range(r.randint(1, max(size, 1)))]
    return [r.choice(few) for _ in range(size)]


def _instead(value: Any) -> Callable[[Random, list[Any]], Any]:
    """Put a value in the place of one of the others."""

    def damage(r: Random, values: list[Any]) -> Any:
        changed = list(values)
        changed[r.randrange(len(changed))] = value
        is_number = isinstance(value, float) and not any(isinstance(other, str) for other in changed)
        return np.array(changed) if is_number and r.random() < 0.5 else changed

    return damage


def _masked(r: Random, values: list[Any]) -> Any:
    mask = [False] * len(values)
    mask[r.randrange(len(values))] = True
    return np.ma.masked_array(np.array(values, dtype=float), mask=mask)


# What no number can be made of.
WRONG_NUMBERS: tuple[Callable[[Random, list[Any]], Any], ...] = (
    *map(_instead, (None, float("nan"), float("inf"), -float("inf"), "", "high", 10**400, -(10**400))),
    *map(_instead, (object(), [1.0], {}, b"\0", 1j, datetime(2026, 1, 1), np.datetime64("NaT", "s"), Decimal("sNaN"))),
    _instead(Decimal("1e400")),
    lambda r, values: _instead(_pandas().NA)(r, values),
    lambda r, values: _pandas().Series([*values[1:], None], dtype="Float64"),
    lambda r, values: _polars().Series([*values[1:], None]),
    lambda r, values: _arrow().array([*values[1:], None]),
    lambda r, values: np.array(values, dtype=float) + 0j,
    _masked,
    lambda r, values: values[:-1],
    lambda r, values: [*values, 0.0],
    lambda r, values: [values, values],
    lambda r, values: np.array([values, values]),
    lambda r, values: None,
    lambda r, values: 5,
    lambda r, values: "0.5",
    lambda r, values: {"a": 1.0},
    lambda r, values: object(),
    lambda r, values: np.array(0.5),
    lambda r, values: np.array([(1.0, 2)] * len(values), dtype=[("a", "f8"), ("b", "i4")]),
    lambda r, values: np.full(len(values), "2026-01-01", dtype="datetime64[s]"),
)


def wrong_numbers(r: Random, values: list[float]) -> Column:
    """Hand over numbers that are damaged in one place, or as a whole."""
    return Column(r.choice(WRONG_NUMBERS)(r, values), None)


LABELS: tuple[Callable[[list[int]], Any], ...] = (
    list,
    tuple,
    np.array,
    np.array,
    lambda values: np.array(values, dtype=bool),
    lambda values: np.array(values, dtype=float),
    lambda values: np.array(values, dtype=np.int8),
    lambda values: np.array(values, dtype=object),
    lambda values: [bool(value) for value in values],
    _with_odd_steps,
    lambda values: _pandas().Series(values),
    lambda values: _pandas().Series(values, dtype="boolean"),
    lambda values: _pandas().Series(values, dtype="Int64"),
    lambda values: _polars().Series(values),
    lambda values: _arrow().array(values),
)

WRONG_LABELS: tuple[Callable[[Random, list[Any]], Any], ...] = (
    *map(_instead, (2, -1, 0.5, None, float("nan"), "yes", object(), 10**400, 1j, [1])),
    *WRONG_NUMBERS[17:],
)


def labels(r: Random, values: list[int]) -> Column:
    """Hand over labels in some type."""
    return Column(r.choice(LABELS)(values), values)


def wrong_labels(r: Random, values: list[int]) -> Column:
    """Hand over labels that are damaged in one place, or as a whole."""
    return Column(r.choice(WRONG_LABELS)(r, values), None)


NAMES = (
    "a",
    "b",
    "A ",
    " a",
    "",
    "=1+1",
    "é",
    "e\u0301",
    "\u202egnp",
    "a & b",
    "x" * 300,
    "\x1b[31m",
    "'; --",
    "<b>",
    "7",
)


def draw_groups(r: Random, size: int, most: int = 4) -> list[Any]:
    """Draw labels of groups, two at the least where there are two rows: plain names, odd ones, numbers or booleans."""
    kind = r.randrange(6)
    if kind < 2:
        pool: Sequence[Any] = "abcd"[: r.randint(2, most)]
    elif kind == 2:
        pool = r.sample(NAMES, r.randint(2, most))
    elif kind == 3:
        pool = range(r.randint(2, most))
    elif kind == 4:
        pool = (True, False)
    else:
        pool = (0.5, -1.0, 2.0, 1e300)[: r.randint(2, most)]
    found = [r.choice(pool) for _ in range(size)]
    found[:2] = list(pool)[: min(2, size)]
    return found


GROUPS: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    tuple,
    np.array,
    np.array,
    lambda values: np.array(values, dtype=object),
    lambda values: _pandas().Series(values),
    lambda values: _pandas().Categorical(values),
    lambda values: _polars().Series(values),
    lambda values: _arrow().array(values),
)

WRONG_GROUPS: tuple[Callable[[Random, list[Any]], Any], ...] = (
    *map(_instead, (None, float("nan"), [1], {}, np.datetime64("NaT", "s"))),
    lambda r, values: values[:-1],
    lambda r, values: [*values, values[0]],
    lambda r, values: None,
    lambda r, values: 5,
    lambda r, values: object(),
    lambda r, values: np.ma.masked_array(np.array(values), mask=[True] + [False] * (len(values) - 1)),
)


def groups(r: Random, values: list[Any]) -> Column:
    """Hand over groups in some type."""
    return Column(r.choice(GROUPS)(values), values)


def wrong_groups(r: Random, values: list[Any]) -> Column:
    """Hand over groups that are damaged in one place, or as a whole."""
    return Column(r.choice(WRONG_GROUPS)(r, values), None)


def draw_weights(r: Random, size: int, *, wild: bool) -> list[float]:
    """Draw weights: whole, real, some of them 0, or any that are not negative; one at the least is not 0."""
    kind = 3 if wild and r.random() < 0.6 else r.randrange(3)
    if kind == 0:
        found = [float(r.randint(1, 3)) for _ in range(size)]
    elif kind == 1:
        found = [r.random() * 10 for _ in range(size)]
    elif kind == 2:
        found = [r.choice((0.0, 0.5, 1.0, 40.0)) for _ in range(size)]
    else:
        found = [abs(extreme(r)) for _ in range(size)]
    if not any(found):
        found[0] = 1.0
    return found


def wrong_weights(r: Random, values: list[float]) -> Column:
    """Hand over weights that are damaged: as numbers are, or negative."""
    if r.random() < 0.1:
        return Column(_instead(-1.0)(r, values), None)
    column = wrong_numbers(r, values)
    # None is how one says that there are no weights.
    return Column("none", None) if column.values is None else column


ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**400, -(10**400), 0.0, 0.5, -0.5, 1.0, 1e308, 5e-324, float("nan")),
    *(float("inf"), -float("inf"), 1j, "", "a", "xauc", "0.5", "\0", "x" * 5000, b"", b"a", (), [], {}, set(), (1,)),
    *([1, 2], ["dp"], {"a": 1}, (0.1, 0.2), (0.2, 0.1), (None, None), ("a", "b"), (float("nan"), 1.0), object()),
    *(object, len, Decimal("0.5"), Fraction(1, 3), np.float64(0.5), np.float32(0.5), np.int64(1), np.bool_(True)),
    *(np.datetime64("2026-01-01"), datetime(2026, 1, 1)),
    *(Decimal("NaN"), range(3), slice(1), ..., np.nan, np.ma.masked, np.array(0.5), np.array([1, 2]), np.array(["a"])),
    *(np.array([]), np.array([[0.5]]), np.array([True, False]), np.array([None, "a"], dtype=object)),
    *(np.ma.masked_array([0.1, 0.2], mask=[True, False]), np.datetime64("NaT", "s"), np.str_("xauc"), np.complex128(1)),
)
"""Values of all sorts, to be given where something else is wanted."""
