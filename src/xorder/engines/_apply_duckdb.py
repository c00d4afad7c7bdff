"""Score maps inside DuckDB: knots as lists that each row looks its line up in, so that no row leaves the engine.

What checks a row's score and tells its group is SQL that Spark reads, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import numpy as np

from xorder._groups import BETWEEN
from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder.engines._cells import ColumnNames, Kind, not_labels, not_numbers
from xorder.engines._match_groups import VALUE, GroupMaps, check_frame_columns, columns_of, not_finite, refused_group
from xorder.engines._sources import blaming_files, file_kind, find_files, number_in, reader_of
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer._sql import DIALECTS, group_literal, number, quoted_name, text

# From so many knots on maps are applied compressed: DuckDB copies their list for each 2,048 rows.
_MANY_KNOTS = 50_000

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
# Types of DuckDB and Spark, less what stands in parentheses.
_KINDS = {
    **dict.fromkeys(("VARCHAR", "CHAR", "STRING", "ENUM"), Kind.TEXT),
    **dict.fromkeys((*_WHOLE, *(f"U{name}" for name in _WHOLE), "INT", "FLOAT", "DOUBLE"), Kind.NUMBER),
    **{"DECIMAL": Kind.DECIMAL, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE},
}

# What Python takes for blanks; DuckDB's trim takes none but spaces.
_BLANKS = r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]*"


def map_files(path: str | os.PathLike[str], maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    """Read files as a relation of DuckDB, which stays as lazy as they are large, and map it."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose="Adjusting the scores of a frame")
    files = find_files(path)
    with blaming_files(path):
        relation = duckdb.connect().sql(f"SELECT * FROM {reader_of(files)}")
        return map_relation(relation, maps, names, into, files=file_kind(files[0]))


def map_relation(relation: Any, maps: GroupMaps, names: ColumnNames, into: str, *, files: str | None = None) -> Any:
    """Return the relation with one more column, still a relation.

    Its query computes what :meth:`ScoreMap.apply` computes, operation by operation, and fails on scores and groups that
    have no answer. Where files of a kind are read, a group of nothing but blanks is missing, and scores are read out of
    text, if it is csv.
    """
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    check_frame_columns(list(types), names, into=into, ignores_case="DuckDB")
    moved = [label for label, score_map in maps.maps.items() if score_map.raw.size]
    # The number of a row's map: 0 if its score stays, else from 1 up.
    codes = [moved.index(label) + 1 if label in moved else 0 for label in maps.maps]
    prefix = "xorder_"
    # No column of the user starts like this; upper and lower case are the same to DuckDB.
    while any(column.lower().startswith(prefix) for column in types):
        prefix += "_"
    helpers = [f"{prefix}{name}" for name in ("x", "code", "held", "place", "final", "raw", "adjusted")]
    x, code, held, place, final, raw, adjusted = helpers
    # No table of the user has this name.
    source = f"xorder_{uuid4().hex}"
    query = (
        f"SELECT *, {score_sql(types, names, in_text=files == 'csv')} AS {x}, "
        f"{group_sql(types, names, maps, [*codes, 0], blanks=files is not None)} AS {code} FROM {source}"
    )
    if not moved:
        query = f"SELECT * EXCLUDE ({x}, {code}), {x} + 0 * {code} AS {quoted_name(into)} FROM ({query})"
        return relation.query(source, query)
    knots, of_maps, steps = _knot_lists([maps.maps[label] for label in moved])
    first, last, start, end = (_of_map(code, values) for values in zip(*of_maps, strict=True))
    # Rows whose score stays take part in all this, and are left out at the end: that is faster than to ask each time.
    within = f"CASE WHEN {x} < {first} THEN {first} WHEN {x} > {last} THEN {last} ELSE {x} END"
    lists = f"(SELECT {_list(knots[0])} AS {raw}, {_list(knots[1])} AS {adjusted})"
    query = f"SELECT *, {within} AS {held}, {start} AS {place}, {end} AS {final} FROM ({query}), {lists}"
    for step in reversed(range(steps)):
        further = f"{place} + {2**step}"
        is_there = f"{further} <= {final} AND {raw}[{further}] <= {held}"
        query = f"SELECT * REPLACE (CASE WHEN {is_there} THEN {further} ELSE {place} END AS {place}) FROM ({query})"
    left, right, low, high = (f"{values}[{place}{shift}]" for values in (raw, adjusted) for shift in ("", " + 1"))
    share = f"(({held} - {left}) / ({right} - {left}))"
    value = f"(({high} - {low}) * {share} + {low})"
    value = f"CASE WHEN {held} = {right} OR {value} > {high} THEN {high} ELSE {value} END"
    mapped = f"CASE WHEN {code} = 0 THEN {x} ELSE {value} + ({x} - {held}) END"
    query = f"SELECT * EXCLUDE ({', '.join(helpers)}), {mapped} AS {quoted_name(into)} FROM ({query})"
    return relation.query(source, query)


def _knot_lists(maps: Sequence[ScoreMap]) -> tuple[FloatArray, list[tuple[str, ...]], int]:
    """Lay out the knots of maps one after the other, raw and adjusted.

    Also return, as text, the first and last raw knot of each map, and where its first and its last line start;
    and how many steps by halves find one line of the longest.
    """
    if sum(score_map.raw.size for score_map in maps) > _MANY_KNOTS:
        maps = [score_map.compressed() for score_map in maps]
    # Lists count from 1.
    parts: list[FloatArray] = []
    of_maps: list[tuple[str, ...]] = []
    start = 1
    for score_map in maps:
        knots = np.array([score_map.raw, score_map.adjusted])
        if knots.shape[1] == 1:
            # A line of its own for the one knot; no score is held beyond it.
            knots = np.hstack([knots, np.nextafter(knots, np.inf)])
        parts.append(knots)
        ends = number(score_map.raw[0]), number(score_map.raw[-1])
        of_maps.append((*ends, str(start), str(start + knots.shape[1] - 2)))
        start += knots.shape[1]
    return np.hstack(parts), of_maps, max(knots.shape[1] - 2 for knots in parts).bit_length()


def score_sql(types: Mapping[str, str], names: ColumnNames, *, in_text: bool = False, dialect: str = "duckdb") -> str:
    """Return the score as a number of double precision; what is not finite fails when it is computed."""
    score, name = names.score, quoted_name(names.score, dialect)
    value, came = f"CAST({name} AS DOUBLE)", f"CAST({name} AS {DIALECTS[dialect].text})"
    if in_text and types[score] == "VARCHAR":
        value, came = number_in(score), f"chr(39) || {came} || chr(39)"
    elif _kind(types[score]) not in (Kind.NUMBER, Kind.DECIMAL, Kind.BOOLEAN):
        raise not_numbers(score, f"their type is {types[score]}")
    instead = _failing(not_finite(names, VALUE), f"coalesce({came}, 'nan')", dialect)
    # DuckDB would take the comparison for true without looking, where the statistics of a parquet file leave NaN out.
    # Spark has no isfinite, and takes NaN for larger than infinity.
    is_finite = f"isfinite({value})" if dialect == "duckdb" else f"abs({value}) < CAST('inf' AS DOUBLE)"
    return f"CASE WHEN {is_finite} THEN {value} ELSE {instead} END"


def group_sql(
    types: Mapping[str, str],
    names: ColumnNames,
    maps: GroupMaps,
    codes: Sequence[int],
    *,
    blanks: bool = False,
    dialect: str = "duckdb",
) -> str:
    """Return the code of a row by the number of its group; groups that are refused fail when computed."""
    kinds, columns, lost, shown, empty = [], [], [], [], []
    for name in names.groups:
        kind, column, type_text = _kind(types[name]), quoted_name(name, dialect), DIALECTS[dialect].text
        if kind is None:
            raise not_labels(name, f"its type is {types[name]}")
        as_text = f"CAST({column} AS {type_text})"
        kinds.append(kind)
        # DuckDB's may be an enumeration, which is compared with its own values only; Spark pads texts of fixed length.
        columns.append(as_text if kind == Kind.TEXT and dialect == "duckdb" else column)
        lost.append(f"{column} IS NULL")
        is_single = types[name].upper() == "FLOAT"
        if is_single or types[name].upper() == "DOUBLE":
            # Not isnan: on a parquet file whose statistics leave NaN out, DuckDB answers no without looking.
            lost.append(f"lower({as_text}) = 'nan'")
        if blanks and kind == Kind.TEXT:
            empty.append(f"regexp_full_match({as_text}, {text(_BLANKS)})")
        if kind == Kind.BOOLEAN:
            shown.append(f"CASE WHEN {column} THEN 'True' ELSE 'False' END")
        else:
            shown.append(f"CAST(CAST({column} AS DOUBLE) AS {type_text})" if is_single else as_text)
    # Something of the row is part of the message, so that the error is not raised ahead of any row.
    instead = _failing(refused_group(maps, names, None), f"left(coalesce({as_text}, ''), 0)", dialect)
    if maps.of_missing is not None:
        instead = str(codes[maps.of_missing])
    cases = [f"WHEN {' OR '.join(lost)} THEN {instead}"]
    order = list(maps.maps)
    for label, values in columns_of(maps, names, kinds):
        if not (blanks and any(isinstance(value, str) and not value.strip() for value in values)):
            pairs = zip(columns, values, strict=True)
            same = " AND ".join(f"{column} = {_literal(value, dialect)}" for column, value in pairs)
            cases.append(f"WHEN {same} THEN {codes[order.index(label)]}")
    if empty:
        # After the known groups, as it takes longer to see.
        cases.append(f"WHEN {' OR '.join(empty)} THEN {instead}")
    quote = text("'" if len(kinds) > 1 or kinds[0] == Kind.TEXT else "", dialect)
    of_row = f"{quote} || {f' || {text(BETWEEN, dialect)} || '.join(shown)} || {quote}"
    otherwise = _failing(refused_group(maps, names, VALUE), of_row, dialect)
    if maps.of_unseen is not None:
        otherwise = str(codes[maps.of_unseen])
    return f"CASE {' '.join(cases)} ELSE {otherwise} END"


def _kind(kind: str) -> Kind | None:
    """Return which values a type of DuckDB or Spark has, or None where they are not plain labels."""
    return _KINDS.get(re.sub(r"\(.*\)$", "", kind.upper(), flags=re.DOTALL))


def _literal(value: Any, dialect: str) -> str:
    """Write a value as the engine reads it."""
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float) and not np.isfinite(value):
        return f"CAST('{value}' AS DOUBLE)"
    return group_literal(value, dialect)


def _failing(complaint: InputError, value: str, dialect: str) -> str:
    """Fail with the complaint, in which, or behind which, the value of the row stands."""
    before, _, after = str(complaint).partition(VALUE)
    return str(DIALECTS[dialect].error).format(f"{text(before, dialect)} || {value} || {text(after, dialect)}")


def _of_map(code: str, values: Iterable[str]) -> str:
    """Choose among one value per map by the number of the map; where no map applies, any will do."""
    *others, last = values
    cases = " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(others, start=1))
    return f"(CASE {code} {cases} ELSE {last} END)" if others else last


def _list(values: FloatArray) -> str:
    """Write a list as a text that DuckDB splits, which it reads far faster than as many numbers in the query."""
    return f"CAST(string_split('{' '.join(map(repr, values.tolist()))}', ' ') AS DOUBLE[])"
