"""Score maps inside DuckDB: knots as lists that each row looks its line up in, so that no row leaves the engine.

What checks a row's score and tells its group is SQL that Spark reads, too. Parquet files of any size are written again
with one more column, in bounded memory.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from xorder._duckdb import duckdb_connection, first_line, poll_progress
from xorder._groups import BETWEEN
from xorder._optional import import_optional
from xorder._table import FloatArray, IntArray
from xorder.engines._apply_cut import SELECTED, SIDES, CutOfRows, Line
from xorder.engines._cells import ColumnNames, Kind, ReadingOptions, check_new_columns, no_rows, not_labels, not_numbers
from xorder.engines._match_groups import (
    VALUE,
    GroupMaps,
    UnusableRowError,
    check_frame_columns,
    columns_of,
    not_finite,
    nothing_seen,
    refused_group,
)
from xorder.engines._sources import blaming_files, find_files, number_in, reader_of
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer._sql import DIALECTS, number, quoted_name, text

_PURPOSE = "Adjusting parquet files"

# From so many knots on maps are applied compressed: DuckDB copies their list for each 2,048 rows.
_MANY_KNOTS = 50_000


class KnotLists(NamedTuple):
    """All maps in two lists of knots, and a guide to them: for each cell of a grid over the raw knots of a group, how
    many knots stand before it. ``of_maps`` has a text per map of each: its first and last raw knot, cells per unit of
    score, where its guide starts, and its last line.
    """

    raw: list[float]
    adjusted: list[float]
    guide: list[int]
    of_maps: list[tuple[str, ...]]
    steps: int


def knot_lists(maps: Sequence[ScoreMap]) -> KnotLists:
    """Lay the maps out one after the other, with room behind each for steps that lead past its end."""
    if sum(score_map.raw.size for score_map in maps) > _MANY_KNOTS:
        maps = [score_map.compressed() for score_map in maps]
    grids = [_grid(score_map) for score_map in maps]
    lists = KnotLists([], [], [], [], max(most for *_, most in grids).bit_length())
    # A step that leads past the last knot must find none that a score reaches, least of all another map's.
    beyond = [np.inf] * 2**lists.steps
    for score_map, (raw, adjusted, cells, starts, _) in zip(maps, grids, strict=True):
        numbers = map(number, (score_map.raw[0], score_map.raw[-1], cells))
        before = len(lists.raw)
        # Lists count from 1.
        lists.of_maps.append((*numbers, str(len(lists.guide) + 1), str(before + raw.size - 1)))
        lists.guide.extend((before + starts).tolist())
        lists.raw.extend([*raw.tolist(), *beyond])
        lists.adjusted.extend([*adjusted.tolist(), *beyond])
    return lists


def _grid(score_map: ScoreMap) -> tuple[FloatArray, FloatArray, float, IntArray, int]:
    """Return the knots, cells per unit of score, knots before each cell, and the most that one cell holds."""
    raw, adjusted = score_map.raw, score_map.adjusted
    if raw.size == 1:
        # A line of its own for the one knot; no score is held beyond it.
        raw, adjusted = (np.append(knot, np.nextafter(knot, np.inf)) for knot in (raw, adjusted))
    with np.errstate(over="ignore", divide="ignore"):
        cells = float(raw.size / (raw[-1] - raw[0]))
    # Where numbers are too small or too large for a grid, one cell holds all.
    cells = cells if np.isfinite(cells) else 0.0
    cell = np.floor((raw - raw[0]) * cells).astype(np.int64)
    starts = np.searchsorted(cell, np.arange(cell[-1] + 1), side="left")
    return raw, adjusted, cells, starts, int(np.diff(starts, append=raw.size).max())


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
# Types of DuckDB and Spark, less what stands in parentheses.
_KINDS = {
    **dict.fromkeys(("VARCHAR", "CHAR", "STRING", "ENUM"), Kind.TEXT),
    **dict.fromkeys((*_WHOLE, *(f"U{name}" for name in _WHOLE), "INT", "FLOAT", "DOUBLE"), Kind.NUMBER),
    **{"DECIMAL": Kind.DECIMAL, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE},
}

# What Python takes for blanks; DuckDB's trim takes none but spaces.
_BLANKS = r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]*"


def map_relation(
    relation: Any,
    maps: GroupMaps,
    names: ColumnNames,
    into: str,
    *,
    blanks: bool = False,
    scores_in_text: bool = False,
) -> Any:
    """Return the relation with one more column, still a relation; for the last two see :func:`mapping_select`."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    # No table of the user has this name.
    name = f"xorder_{uuid4().hex}"
    return relation.query(
        name, mapping_select(name, types, maps, names, into, blanks=blanks, scores_in_text=scores_in_text)
    )


def mapping_select(
    source: str,
    types: Mapping[str, str],
    maps: GroupMaps,
    names: ColumnNames,
    into: str,
    *,
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
    check_frame_columns(list(types), names, into=into, ignores_case="DuckDB")
    moved = [label for label, score_map in maps.maps.items() if score_map.raw.size]
    # The number of a row's map: 0 if its score stays, else from 1 up.
    codes = [moved.index(label) + 1 if label in moved else 0 for label in maps.maps]
    prefix = "xorder_"
    # No column of the user starts like this; upper and lower case are the same to DuckDB.
    while any(column.lower().startswith(prefix) for column in types):
        prefix += "_"
    x, code, held, place, raw, adjusted, guide = (
        f"{prefix}{name}" for name in ("x", "code", "held", "place", "raw", "adjusted", "guide")
    )
    query = (
        f"SELECT *, {score_sql(types, names, in_text=scores_in_text)} AS {x}, "
        f"{group_sql(types, names, maps, [*codes, 0], blanks=blanks)} AS {code} FROM {source}"
    )
    if not moved:
        return f"SELECT * EXCLUDE ({x}, {code}), {x} + 0 * {code} AS {quoted_name(into)} FROM ({query})"
    lists = knot_lists([maps.maps[label] for label in moved])
    first, last, cells, guide_start, last_line = (_of_map(code, values) for values in zip(*lists.of_maps, strict=True))
    # Rows whose score stays take part in all this, and are left out at the end: that is faster than to ask each time.
    knots = keep(
        f"SELECT {_list(lists.raw, 'DOUBLE')} AS {raw}, {_list(lists.adjusted, 'DOUBLE')} AS {adjusted}, "
        f"{_list(lists.guide, 'BIGINT')} AS {guide}"
    )
    within = f"CASE WHEN {x} < {first} THEN {first} WHEN {x} > {last} THEN {last} ELSE {x} END"
    query = f"SELECT *, {within} AS {held} FROM ({query}), {knots}"
    cell = f"CAST(floor(({held} - {first}) * {cells}) AS BIGINT)"
    query = f"SELECT *, {guide}[{guide_start} + {cell}] AS {place} FROM ({query})"
    for step in reversed(range(lists.steps)):
        further = f"CASE WHEN {raw}[{place} + {2**step}] <= {held} THEN {2**step} ELSE 0 END"
        query = f"SELECT * REPLACE ({place} + {further} AS {place}) FROM ({query})"
    at_most = f"CASE WHEN {place} > {last_line} THEN {last_line} ELSE {place} END"
    query = f"SELECT * REPLACE ({at_most} AS {place}) FROM ({query})"
    left, right, low, high = (f"{values}[{place}{shift}]" for values in (raw, adjusted) for shift in ("", " + 1"))
    share = f"(({held} - {left}) / ({right} - {left}))"
    value = f"(({high} - {low}) * {share} + {low})"
    value = f"CASE WHEN {held} = {right} OR {value} > {high} THEN {high} ELSE {value} END"
    mapped = f"CASE WHEN {code} = 0 THEN {x} ELSE {value} + ({x} - {held}) END"
    helpers = ", ".join([x, code, held, place, raw, adjusted, guide])
    return f"SELECT * EXCLUDE ({helpers}), {mapped} AS {quoted_name(into)} FROM ({query})"


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


def counting_select(source: str, types: Mapping[str, str], maps: GroupMaps, names: ColumnNames) -> str:
    """Return the query of the rows of files by number of their group, and of those with a score beyond its map."""
    beyond = " ".join(
        f"WHEN {code} THEN x < {number(score_map.raw[0])} OR x > {number(score_map.raw[-1])}"
        for code, score_map in enumerate(maps.maps.values())
        if score_map.raw.size
    )
    return (
        f"SELECT code, count(*), count_if(CASE code {beyond or 'WHEN -1 THEN false'} ELSE false END) FROM "
        f"(SELECT CAST({quoted_name(names.score)} AS DOUBLE) AS x, "
        f"{group_sql(types, names, maps, range(maps.stays + 1), blanks=True)} AS code FROM {source}) GROUP BY code"
    )


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
    if isinstance(value, str):
        return text(value, dialect)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, float):
        return number(value, dialect) if np.isfinite(value) else f"CAST('{value}' AS DOUBLE)"
    return f"{value:f}" if isinstance(value, Decimal) else str(int(value))


def _failing(complaint: InputError, value: str, dialect: str) -> str:
    """Fail with the complaint, in which, or behind which, the value of the row stands."""
    before, _, after = str(complaint).partition(VALUE)
    return str(DIALECTS[dialect].error).format(f"{text(before, dialect)} || {value} || {text(after, dialect)}")


def _of_map(code: str, values: Iterable[str]) -> str:
    """Choose among one value per map by the number of the map; where no map applies, any will do."""
    *others, last = values
    cases = " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(others, start=1))
    return f"(CASE {code} {cases} ELSE {last} END)" if others else last


def _list(values: Sequence[float], kind: str) -> str:
    """Write a list as a text that DuckDB splits, which it reads far faster than as many numbers in the query."""
    return f"CAST(string_split('{' '.join(map(repr, values))}', ' ') AS {kind}[])"


# Compressions of parquet that DuckDB writes.
_COMPRESSIONS = ("SNAPPY", "ZSTD", "GZIP", "LZ4_RAW", "BROTLI", "UNCOMPRESSED")

# Types of Arrow that come back from DuckDB as they went in, and those that both write in the same way.
_KEPT = {"string", "bool", "float", "double", "date32[day]", "timestamp[us]"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_WRITTEN_ALIKE = {kind for kind in _KEPT if "int" in kind} | {"string"}


def keeps_types(path: str, groups: Sequence[str]) -> bool:
    """Whether DuckDB writes all columns of a file in the types they have, and groups as they are written elsewhere."""
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Reading parquet files")
    try:
        schema = pq.read_schema(path)
    except Exception:
        # What is wrong with it is for its reader to say.
        return False
    kinds = {field.name: str(field.type) for field in schema}
    return set(kinds.values()) <= _KEPT and {kinds.get(group, "string") for group in groups} <= _WRITTEN_ALIKE


def copy_in_duckdb(
    maps: GroupMaps,
    path: str | os.PathLike[str],
    out: Path,
    options: ReadingOptions,
    into: str,
    chosen: CutOfRows | None = None,
) -> IntArray:
    """Write all parquet files that a path or glob names to one, with one more column; return what was counted.

    With a cut there are two columns more, and its rows are counted, too.

    Parquet keeps its compression and its own notes, but a column that pandas or polars would read as categories comes
    back as text. DuckDB's memory is capped, whatever the size of the files.
    """
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    files, names = find_files(path), options.names
    opening = duckdb_connection(extra="duckdb", purpose=_PURPOSE, memory=options.memory, spill=out.parent)
    with blaming_files(path), opening as connection:

        def keep(query: str) -> str:
            # DuckDB knows how far it is in a table, but not in a query within a query.
            connection.execute(f"CREATE TEMP TABLE knots AS {query}")
            return "temp.knots"

        source = reader_of(files)
        shape = connection.sql(f"SELECT * FROM {source}")
        types = dict(zip(shape.columns, map(str, shape.types), strict=True))
        query = mapping_select(source, types, maps, names, into, blanks=True, keep=keep)
        # Into the file itself, which is locked, not into another that takes its place.
        kept = f"FORMAT parquet, USE_TMP_FILE false, {_as_before(connection, files[0])}"
        try:
            if chosen is not None:
                check_new_columns(os.fspath(path), [*map(str.lower, types)], into, *SELECTED)
                rows = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
                if not rows:
                    raise no_rows(os.fspath(path))
                code = group_sql(types, names, maps, range(maps.stays + 1), blanks=True)
                with _watching(connection, partial(options.watch, "finding the cut")):
                    query = _with_sides(connection, query, names, into, code, chosen, rows)
            with _watching(connection, partial(options.watch, "adjusting scores")):
                connection.execute(f"COPY ({query}) TO {text(str(out))} ({kept})")
        except duckdb.InvalidInputException as error:
            # So the query fails on a row that cannot be adjusted.
            raise UnusableRowError(f"{os.fspath(path)}: {first_line(error)}.") from error
        seen = nothing_seen(maps)
        for of_group, *rows in connection.execute(counting_select(source, types, maps, names)).fetchall():
            seen[:, of_group] = rows
    return seen


def _with_sides(
    connection: Any, query: str, names: ColumnNames, into: str, code: str, chosen: CutOfRows, rows: int
) -> str:
    """Find where a cut falls, count the rows on each side by the code of their group; return the query of all columns.

    The scores of all rows, which DuckDB holds on disk where they are many, are sorted.
    """
    values = {"before": f"CAST({quoted_name(names.score)} AS DOUBLE)", "after": quoted_name(into)}
    scores = (
        f"SELECT {code} AS code, {', '.join(f'{value} AS {name}' for name, value in values.items())} FROM ({query})"
    )
    places = None if chosen.lines else chosen.places(rows)
    connection.execute(f"CREATE TEMP TABLE scores AS {scores}")

    def number_of(query: str) -> Any:
        return connection.execute(query).fetchall()[0][0]

    if places is not None:
        chosen.lines = tuple(
            Line(score, number_of(f"SELECT count(*) FROM temp.scores WHERE {name} >= {number(score)}") > places)
            for name in values
            for score in [number_of(f"SELECT {name} FROM temp.scores ORDER BY 1 DESC LIMIT 1 OFFSET {places - 1}")]
        )
    sides = ", ".join(line.sql(name) for line, name in zip(chosen.lines, values, strict=True))
    for group, before, after, counted in connection.execute(
        f"SELECT code, {sides}, count(*) FROM temp.scores GROUP BY ALL"
    ).fetchall():
        chosen.counts[group, SIDES.index(before), SIDES.index(after)] = counted
    connection.execute("DROP TABLE temp.scores")
    added = zip(chosen.lines, values.values(), SELECTED, strict=True)
    return f"SELECT *, {', '.join(f'{line.sql(value)} AS {name}' for line, value, name in added)} FROM ({query})"


def _as_before(connection: Any, file: str) -> str:
    """Return the options that keep the compression of a file, and its notes but those that describe its columns."""
    found = connection.execute(f"SELECT compression FROM parquet_metadata({text(file)}) LIMIT 1").fetchone()
    compression = found[0] if found and found[0] in _COMPRESSIONS else "SNAPPY"
    notes = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({text(file)})").fetchall()
    kept = {
        bytes(key).decode(): bytes(value)
        for key, value in notes
        if bytes(key) not in (b"ARROW:schema", b"pandas") and value is not None
    }
    options = f"COMPRESSION {compression}"
    if kept:
        pairs = ", ".join(
            f"{text(key)}: '{''.join(f'{chr(92)}x{byte:02X}' for byte in value)}'::BLOB" for key, value in kept.items()
        )
        options += f", KV_METADATA {{{pairs}}}"
    return options


@contextmanager
def _watching(connection: Any, report: Callable[[float | None], None]) -> Iterator[None]:
    """Report now and then how far DuckDB is, from a thread beside it."""
    over = threading.Event()
    watcher = threading.Thread(target=poll_progress, args=(connection, report, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
