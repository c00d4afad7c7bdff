"""A score map, or a whole repair, as SQL text, for scores that live in a warehouse."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._parameters import brief, check_kind, check_word
from xorder._table import FloatArray
from xorder.exceptions import InputError

# Above this many knots a text is refused: parsers take megabytes of it badly, and engines run it slowly.
MOST_KNOTS = 2_000

UNKNOWN = ("null", "error")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one engine writes names, numbers and texts, and how it fails on purpose."""

    quote: str = '"'
    after_number: str = ""
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    hex_text: str | None = None
    error: str | None = None


DIALECTS = {
    "duckdb": Dialect(error="error({})"),
    # How Spark reads a backslash, and ${...}, in a quoted text depends on its settings; digits are always digits.
    "spark": Dialect("`", "D", text="STRING", hex_text="decode(X'{}', 'UTF-8')", error="raise_error({})"),
    "ansi": Dialect(double="DOUBLE PRECISION"),
}


def map_sql(raw: FloatArray, adjusted: FloatArray, column: str, dialect: str = "duckdb") -> str:
    """Return the expression that maps ``column`` along straight lines between knots, with slope 1 outside.

    A tree of CASE as deep as the logarithm of the knots. NULL stays NULL; numbers are written in full.
    """
    speech = _dialect(dialect)
    if raw.size > MOST_KNOTS:
        raise InputError(
            f"a map of {raw.size:,} knots is too long for SQL text; at most {MOST_KNOTS:,} are written. Compress it "
            "first, map.compressed(1e-5), or apply it as a map with transform_frame."
        )
    name = quoted_name(column, dialect)
    if not raw.size:
        return f"CAST({name} AS {speech.double})"
    if raw.size == 1:
        return f"({_shift(name, raw[0], adjusted[0], dialect)})"
    knots = [number(knot, dialect) for knot in raw.tolist()]
    below, above = (_shift(name, raw[end], adjusted[end], dialect) for end in (0, -1))
    tree = _tree(name, _lines(name, raw, adjusted, dialect), knots)
    # NULL is caught first: LEAST would pass it by and answer with a knot.
    return (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN {name} < {knots[0]} THEN {below} WHEN {name} >= {knots[-1]} THEN "
        f"{above} ELSE {tree} END"
    )


def repair_sql(
    maps: Mapping[Hashable, Any], *, score: str, group: str, dialect: str = "duckdb", unknown: str = "null"
) -> str:
    """Return the SQL expression that adjusts the scores of all groups.

    A score of NULL stays NULL. Rows whose group has no map, or is NULL, never get their unadjusted score.

    Parameters
    ----------
    maps : mapping of hashable to ScoreMap
        Map of each group, such as ``XOrder.maps_``.
    score, group : str
        Names of the columns.
    dialect : {"duckdb", "spark", "ansi"}, default="duckdb"
        Engine that is to read it.
    unknown : {"null", "error"}, default="null"
        What rows without a map get: NULL, or a query that fails (not in ``"ansi"``, which has no word for it).

    Returns
    -------
    str
        The expression.

    Examples
    --------
    >>> from xorder import ScoreMap
    >>> maps = {"A": ScoreMap.identity(), "B": ScoreMap([0.0, 1.0], [0.5, 1.0])}
    >>> print(repair_sql({"A": maps["A"]}, score="risk", group="sex"))
    CASE WHEN "sex" = 'A' THEN CAST("risk" AS DOUBLE) ELSE NULL END
    """
    speech = _dialect(dialect)
    check_word("unknown", unknown, UNKNOWN)
    words = "a mapping of each group to its ScoreMap"
    for score_map in check_kind("maps", maps, Mapping, words).values():
        if not hasattr(score_map, "to_sql"):
            raise InputError(f"maps must be {words}; got {brief(score_map)} for one.")
    if not maps:
        raise InputError("maps must hold the map of at least one group; it is empty.")
    name, otherwise = quoted_name(group, dialect), "NULL"
    if unknown == "error":
        if speech.error is None:
            raise InputError(f"SQL of dialect {dialect!r} cannot fail on purpose; use unknown='null'.")
        words = text(f"a row has a group without a map in column {group}: ", dialect)
        # The group is part of the message, so that the error is not raised ahead of any row.
        otherwise = speech.error.format(f"concat({words}, coalesce(CAST({name} AS {speech.text}), 'NULL'))")
    cases = [
        f"WHEN {name} = {group_literal(label, dialect)} THEN {score_map.to_sql(score, dialect=dialect)}"
        for label, score_map in maps.items()
    ]
    return f"CASE {' '.join(cases)} ELSE {otherwise} END"


def quoted_name(name: str, dialect: str = "duckdb") -> str:
    """Return the name of a column so that all of it is read as a name."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(f"a column is named by text that is not empty; got {name!r}.")
    if dialect == "spark" and "${" in name:
        raise InputError(f"Spark would replace a part of the column name {name!r} by a setting; rename the column.")
    mark = _dialect(dialect).quote
    return mark + name.replace(mark, 2 * mark) + mark


def text(value: str, dialect: str = "duckdb") -> str:
    """Return a text so that all of it is read as a text."""
    if "\0" in value:
        raise InputError(f"SQL cannot hold a text with a zero byte, as in {value!r}; rename the group.")
    speech = _dialect(dialect)
    if speech.hex_text is not None and not re.fullmatch(r"[\w .,:;<>=+\-/()]*", value):
        return speech.hex_text.format(value.encode().hex())
    return "'" + value.replace("'", "''") + "'"


def number(value: float, dialect: str = "duckdb") -> str:
    """Return a number that reads back as exactly this one, and as a floating-point one."""
    written = repr(float(value))
    # Without an exponent many engines read a decimal number, of other arithmetic.
    written += ("" if "e" in written else "e0") + _dialect(dialect).after_number
    # In parentheses, as two signs in a row begin a comment.
    return f"({written})" if written.startswith("-") else written


def _dialect(name: str) -> Dialect:
    return DIALECTS[check_word("dialect", name, DIALECTS)]


def _shift(name: str, knot: float, value: float, dialect: str) -> str:
    return f"{number(value, dialect)} + ({name} - {number(knot, dialect)})"


def _lines(name: str, raw: FloatArray, adjusted: FloatArray, dialect: str) -> list[str]:
    """Return the expression of each line between two knots, operation by operation as the map computes it."""
    lines = zip(raw, np.diff(raw), adjusted, np.diff(adjusted), adjusted[1:], strict=False)
    parts = ([number(part, dialect) for part in line] for line in lines)
    return [f"LEAST({r} * (({name} - {x0}) / {w}) + {y0}, {y1})" for x0, w, y0, r, y1 in parts]


def _tree(name: str, lines: list[str], knots: list[str]) -> str:
    """Choose among the lines by halves; ``knots[i]`` is where line ``i`` starts."""
    if len(lines) == 1:
        return lines[0]
    half = len(lines) // 2
    low, high = _tree(name, lines[:half], knots[:half]), _tree(name, lines[half:], knots[half:])
    return f"CASE WHEN {name} < {knots[half]} THEN {low} ELSE {high} END"


def group_literal(label: Hashable, dialect: str) -> str:
    """Return the label of a group as the engine reads it; text, a number, or a truth value."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, str):
        return text(label, dialect)
    if isinstance(label, int):
        # Truth values are whole numbers in Python.
        return str(label).upper()
    if isinstance(label, float) and np.isfinite(label):
        return number(label, dialect)
    raise InputError(f"group {label!r} cannot be written in SQL: labels must be text, numbers or booleans.")
