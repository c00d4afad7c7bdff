"""Score maps inside DuckDB: knots as lists that each row looks its line up in, so that no row leaves the engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import numpy as np

from xorder.engines.frame_rows import number_in
from xorder.engines.knot_lists import lines_of
from xorder.engines.labels import (
    BOOLEAN,
    DATE,
    DECIMAL,
    NUMBER,
    PLACE,
    TEXT,
    Complaints,
    check_frame_columns,
    no_numbers,
    values_of,
)
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer.sql import number, quoted_name, text

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_SIGNED, *(f"U{name}" for name in _SIGNED), "FLOAT", "DOUBLE", "DECIMAL")

# What Python takes for blanks; DuckDB's trim takes none but spaces.
_BLANKS = r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]*"


def map_relation(
    relation: Any,
    maps: Mapping[Hashable, ScoreMap],
    *,
    score: str,
    group: str,
    into: str,
    missing: Hashable | None,
    blanks: bool = False,
    scores_in_text: bool = False,
) -> Any:
    """Return the relation with one more column, still a relation; for the last two see :func:`mapping_select`."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    # No table of the user has this name.
    name = f"xorder_{uuid4().hex}"
    query = mapping_select(
        name,
        types,
        maps,
        score=score,
        group=group,
        into=into,
        missing=missing,
        blanks=blanks,
        scores_in_text=scores_in_text,
    )
    return relation.query(name, query)


def mapping_select(
    source: str,
    types: Mapping[str, str],
    maps: Mapping[Hashable, ScoreMap],
    *,
    score: str,
    group: str,
    into: str,
    missing: Hashable | None = None,
    blanks: bool = False,
    scores_in_text: bool = False,
    keep: Callable[[str], str] = "({})".format,
) -> str:
    """Return the query that adds the column to ``source``, whose columns have these types.

    It computes what :meth:`ScoreMap.apply` computes, operation by operation, and fails on scores and groups that have
    no answer. With ``blanks``, a group of nothing but blanks is missing, as in files; with ``scores_in_text``, scores
    are read out of text, as those of csv files are. ``keep`` takes the query of the knots, one row, and says where that
    row is to be read.
    """
    check_frame_columns(list(types), score=score, group=group, into=into, ignores_case="DuckDB")
    is_text = scores_in_text and types[score] == "VARCHAR"
    if not is_text and not _is_plain(types[score], *_NUMBERS, "BOOLEAN"):
        raise no_numbers(score, f"their type is {types[score]}")
    complaints = Complaints(maps, score=score, group=group)
    moved = [label for label, learnt in maps.items() if learnt.raw.size]
    x, code, held, place, raw, adjusted, guide = (
        _unused(f"xorder_{name}", types) for name in ("x", "code", "held", "place", "raw", "adjusted", "guide")
    )
    query = (
        f"SELECT *, {_checked_score(score, complaints, is_text=is_text)} AS {x}, "
        f"{_code(types[group], group, maps, complaints, missing=missing, blanks=blanks)} AS {code} FROM {source}"
    )
    if not moved:
        return f"SELECT * EXCLUDE ({x}, {code}), {x} + 0 * {code} AS {quoted_name(into)} FROM ({query})"
    lines = lines_of([maps[label] for label in moved])
    first, last, cells = (_of_map(code, map(number, values)) for values in (lines.first, lines.last, lines.cells))
    guide_start, last_line = (_of_map(code, map(str, values)) for values in (lines.guide_start, lines.last_line))
    # Rows whose score stays take part in all this, and are left out at the end: that is faster than to ask each time.
    knots = keep(
        f"SELECT {_list(lines.raw, 'DOUBLE')} AS {raw}, {_list(lines.adjusted, 'DOUBLE')} AS {adjusted}, "
        f"{_list(lines.guide, 'BIGINT')} AS {guide}"
    )
    query = f"SELECT *, {_held(x, first, last)} AS {held} FROM ({query}), {knots}"
    cell = f"CAST(floor(({held} - {first}) * {cells}) AS BIGINT)"
    query = f"SELECT *, {guide}[{guide_start} + {cell}] AS {place} FROM ({query})"
    for step in reversed(range(lines.steps)):
        further = f"CASE WHEN {raw}[{place} + {2**step}] <= {held} THEN {2**step} ELSE 0 END"
        query = f"SELECT * REPLACE ({place} + {further} AS {place}) FROM ({query})"
    at_most = f"CASE WHEN {place} > {last_line} THEN {last_line} ELSE {place} END"
    query = f"SELECT * REPLACE ({at_most} AS {place}) FROM ({query})"
    left, right, low, high = (f"{values}[{place}{shift}]" for values in (raw, adjusted) for shift in ("", " + 1"))
    share = f"(({held} - {left}) / ({right} - {left}))"
    value = f"(({high} - {low}) * {share} + {low})"
    value = f"CASE WHEN {share} = 1 OR {value} > {high} THEN {high} ELSE {value} END"
    mapped = f"CASE WHEN {code} = 0 THEN {x} ELSE {value} + ({x} - {held}) END"
    helpers = ", ".join([x, code, held, place, raw, adjusted, guide])
    return f"SELECT * EXCLUDE ({helpers}), {mapped} AS {quoted_name(into)} FROM ({query})"


def _checked_score(score: str, complaints: Complaints, *, is_text: bool) -> str:
    """Return the score as a number of double precision; what is not finite fails when it is computed."""
    value, came = f"CAST({quoted_name(score)} AS DOUBLE)", f"CAST({quoted_name(score)} AS VARCHAR)"
    if is_text:
        value, came = number_in(score), f"chr(39) || {came} || chr(39)"
    instead = _failing(complaints.score, f"coalesce({came}, 'nan')")
    return f"CASE WHEN isfinite({value}) THEN {value} ELSE {instead} END"


def _code(
    kind: str,
    group: str,
    maps: Mapping[Hashable, ScoreMap],
    complaints: Complaints,
    *,
    missing: Hashable | None,
    blanks: bool,
) -> str:
    """Return the number of a row's map: 0 if its score stays, else from 1 up; other groups fail when computed."""
    column = quoted_name(group)
    of_values = _kind(kind)
    if of_values is None:
        raise InputError(f"column {group!r} must hold plain labels such as text or numbers; its type is {kind}.")
    moved = [label for label, learnt in maps.items() if learnt.raw.size]
    codes = {label: moved.index(label) + 1 if label in moved else 0 for label in maps}
    written = f"CAST({column} AS VARCHAR)"
    # Something of the row is part of the message, so that the error is not raised ahead of any row.
    instead = _failing(complaints.missing + PLACE, f"left(coalesce({written}, ''), 0)")
    if missing is not None:
        instead = str(codes[missing])
    # Not isnan: on a parquet file whose statistics leave NaN out, DuckDB answers no without looking.
    lost = f"{column} IS NULL OR {written} = 'nan'" if kind in ("FLOAT", "DOUBLE") else f"{column} IS NULL"
    cases = [f"WHEN {lost} THEN {instead}"]
    blanks = blanks and of_values == TEXT
    for label, value in values_of(maps, of_values, missing).items():
        if not (blanks and not value.strip()):
            cases.append(f"WHEN {written if of_values == TEXT else column} = {_literal(value)} THEN {codes[label]}")
    if blanks:
        # After the known groups, as it takes longer to see.
        cases.append(f"WHEN regexp_full_match({written}, {text(_BLANKS)}) THEN {instead}")
    shown = written
    if of_values == TEXT:
        shown = f"chr(39) || {written} || chr(39)"
    elif of_values == BOOLEAN:
        shown = f"CASE WHEN {column} THEN 'True' ELSE 'False' END"
    elif kind == "FLOAT":
        shown = f"CAST(CAST({column} AS DOUBLE) AS VARCHAR)"
    return f"CASE {' '.join(cases)} ELSE {_failing(complaints.unknown, shown)} END"


def _kind(kind: str) -> str | None:
    """Return which values a type of DuckDB has, or None where they are no plain labels."""
    if _is_plain(kind, "VARCHAR", "ENUM"):
        return TEXT
    if _is_plain(kind, "DECIMAL"):
        return DECIMAL
    if _is_plain(kind, *_NUMBERS):
        return NUMBER
    return {"BOOLEAN": BOOLEAN, "DATE": DATE}.get(kind)


def _literal(value: Any) -> str:
    """Write a value as DuckDB reads it."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, float):
        return number(value) if np.isfinite(value) else f"CAST('{value}' AS DOUBLE)"
    return f"{value:f}" if isinstance(value, Decimal) else str(int(value))


def _is_plain(kind: str, *names: str) -> bool:
    """Whether a type is one of these, and no list of them."""
    return kind.startswith(names) and not kind.endswith("]")


def _failing(message: str, value: str) -> str:
    before, _, after = message.partition(PLACE)
    return f"error({text(before)} || {value} || {text(after)})"


def _held(x: str, first: str, last: str) -> str:
    return f"CASE WHEN {x} < {first} THEN {first} WHEN {x} > {last} THEN {last} ELSE {x} END"


def _of_map(code: str, values: Iterable[str]) -> str:
    """Choose among one value per map by the number of the map; where no map applies, any will do."""
    *others, last = values
    cases = " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(others, start=1))
    return f"(CASE {code} {cases} ELSE {last} END)" if others else last


def _list(values: Sequence[float], kind: str) -> str:
    """Write a list as a text that DuckDB splits, which it reads far faster than as many numbers in the query."""
    return f"CAST(string_split('{' '.join(map(repr, values))}', ' ') AS {kind}[])"


def _unused(name: str, columns: Mapping[str, str]) -> str:
    """Return a name like this one that no column has; DuckDB does not tell upper from lower case."""
    taken = {column.lower() for column in columns}
    while name in taken:
        name += "_"
    return name
