"""Score maps inside DuckDB: knots as lists that each row looks its line up in, so that no row leaves the engine."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.engines.labels import PLACE, Complaints, check_frame_columns, no_numbers
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer.sql import number, quoted_name, text

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_SIGNED, *(f"U{name}" for name in _SIGNED), "FLOAT", "DOUBLE", "DECIMAL")

# From so many knots on maps are applied compressed: DuckDB copies their list for each 2,048 rows.
_MANY_KNOTS = 50_000


class _Lines(NamedTuple):
    """All maps in two lists of knots, and a guide to them: for each cell of a grid over the raw knots of a group, how
    many knots stand before it. The rest is one value per map.
    """

    raw: list[float]
    adjusted: list[float]
    guide: list[int]
    first: list[float]
    last: list[float]
    cells: list[float]
    guide_start: list[int]
    last_line: list[int]
    steps: int


def map_relation(
    relation: Any, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str, into: str, missing: Hashable | None
) -> Any:
    """Return the relation with one more column, still a relation."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    query = mapping_select("rows_to_map", types, maps, score=score, group=group, into=into, missing=missing)
    return relation.query("rows_to_map", query)


def mapping_select(
    source: str,
    types: Mapping[str, str],
    maps: Mapping[Hashable, ScoreMap],
    *,
    score: str,
    group: str,
    into: str,
    missing: Hashable | None = None,
    texts: bool = False,
) -> str:
    """Return the query that adds the column to ``source``, whose columns have these types.

    It computes what :meth:`ScoreMap.apply` computes, operation by operation, and fails on scores and groups that have
    no answer. With ``texts``, groups are told apart by how they are written, as those of files are.
    """
    check_frame_columns(list(types), score=score, group=group, into=into)
    if into.lower() in map(str.lower, types):
        raise InputError(f"DuckDB does not tell {into!r} from a column that is there; choose another name with into=.")
    if not _is_plain(types[score], *_NUMBERS, "BOOLEAN"):
        raise no_numbers(score, f"their type is {types[score]}")
    complaints = Complaints(maps, score=score, group=group)
    moved = [label for label, learnt in maps.items() if learnt.raw.size]
    x, code, held, place, raw, adjusted, guide = (
        _unused(f"xorder_{name}", types) for name in ("x", "code", "held", "place", "raw", "adjusted", "guide")
    )
    query = (
        f"SELECT *, {_checked_score(score, complaints)} AS {x}, "
        f"{_code(types[group], group, maps, complaints, missing=missing, texts=texts)} AS {code} FROM {source}"
    )
    if not moved:
        return f"SELECT * EXCLUDE ({x}, {code}), {x} + 0 * {code} AS {quoted_name(into)} FROM ({query})"
    lines = _lines([maps[label] for label in moved])
    first, last, cells = (_of_map(code, map(number, values)) for values in (lines.first, lines.last, lines.cells))
    guide_start, last_line = (_of_map(code, map(str, values)) for values in (lines.guide_start, lines.last_line))
    # Rows whose score stays take part in all this, and are left out at the end: that is faster than to ask each time.
    query = (
        f"SELECT *, {_held(x, first, last)} AS {held} FROM ({query}), (SELECT {_list(lines.raw, 'DOUBLE')} AS {raw}, "
        f"{_list(lines.adjusted, 'DOUBLE')} AS {adjusted}, {_list(lines.guide, 'BIGINT')} AS {guide})"
    )
    cell = f"CAST(floor(({held} - {first}) * {cells}) AS BIGINT)"
    query = f"SELECT *, {guide}[{guide_start} + {cell}] AS {place} FROM ({query})"
    for step in reversed(range(lines.steps)):
        further = f"CASE WHEN {raw}[{place} + {2**step}] <= {held} THEN {2**step} ELSE 0 END"
        query = f"SELECT * REPLACE ({place} + {further} AS {place}) FROM ({query})"
    at_most = f"CASE WHEN {place} > {last_line} THEN {last_line} ELSE {place} END"
    query = f"SELECT * REPLACE ({at_most} AS {place}) FROM ({query})"
    left, right, low, high = (f"{knots}[{place}{shift}]" for knots in (raw, adjusted) for shift in ("", " + 1"))
    share = f"(({held} - {left}) / ({right} - {left}))"
    value = f"(({high} - {low}) * {share} + {low})"
    value = f"CASE WHEN {share} = 1 OR {value} > {high} THEN {high} ELSE {value} END"
    mapped = f"CASE WHEN {code} = 0 THEN {x} ELSE {value} + ({x} - {held}) END"
    helpers = ", ".join([x, code, held, place, raw, adjusted, guide])
    return f"SELECT * EXCLUDE ({helpers}), {mapped} AS {quoted_name(into)} FROM ({query})"


def _checked_score(score: str, complaints: Complaints) -> str:
    """Return the score as a number of double precision; what is not finite fails when it is computed."""
    value = f"CAST({quoted_name(score)} AS DOUBLE)"
    came = f"coalesce(CAST({value} AS VARCHAR), 'nan')"
    return f"CASE WHEN isfinite({value}) THEN {value} ELSE {_failing(complaints.score, came)} END"


def _code(
    kind: str,
    group: str,
    maps: Mapping[Hashable, ScoreMap],
    complaints: Complaints,
    *,
    missing: Hashable | None,
    texts: bool,
) -> str:
    """Return the number of a row's map: 0 if its score stays, else from 1 up; other groups fail when computed."""
    column = quoted_name(group)
    is_text = _is_plain(kind, "VARCHAR", "ENUM")
    if not is_text and not _is_plain(kind, *_NUMBERS, "BOOLEAN", "DATE"):
        raise InputError(f"column {group!r} must hold plain labels such as text or numbers; its type is {kind}.")
    written = f"CAST({column} AS VARCHAR)"
    moved = [label for label, learnt in maps.items() if learnt.raw.size]
    codes = {label: moved.index(label) + 1 if label in moved else 0 for label in maps}
    lost = f"{column} IS NULL"
    if texts and is_text:
        lost += f" OR trim({column}) = ''"
    elif kind in ("FLOAT", "DOUBLE"):
        # Not isnan: on a parquet file whose statistics leave NaN out, DuckDB answers no without looking.
        lost += f" OR {written} = 'nan'"
    # Something of the row is part of the message, so that the error is not raised ahead of any row.
    instead = _failing(complaints.missing + PLACE, f"left(coalesce({written}, ''), 0)")
    cases = [f"WHEN {lost} THEN {instead if missing is None else codes[missing]}"]
    compared = written if is_text or texts else column
    for label, code in codes.items():
        literal = _literal(label, kind, as_text=is_text or texts)
        if literal is not None:
            cases.append(f"WHEN {compared} = {literal} THEN {code}")
    shown = f"chr(39) || {written} || chr(39)" if is_text or texts else written
    return f"CASE {' '.join(cases)} ELSE {_failing(complaints.unknown, shown)} END"


def _literal(label: Hashable, kind: str, *, as_text: bool) -> str | None:
    """Return the label as the column would hold it, or None where it holds no such values."""
    if as_text or isinstance(label, str):
        return text(label) if as_text and isinstance(label, str) else None
    if kind == "BOOLEAN":
        # In Python, True is 1.
        return str(bool(label)).upper() if label in (True, False) else None
    if isinstance(label, date) and not isinstance(label, datetime):
        return f"DATE '{label.isoformat()}'" if kind == "DATE" else None
    if isinstance(label, int | Decimal) and kind != "DATE":
        return str(label if isinstance(label, Decimal) else int(label))
    return number(label) if isinstance(label, float) and kind != "DATE" else None


def _is_plain(kind: str, *names: str) -> bool:
    """Whether a type is one of these, and no list of them."""
    return kind.startswith(names) and not kind.endswith("]")


def _failing(message: str, value: str) -> str:
    before, _, after = message.partition(PLACE)
    return f"error({text(before)} || {value} || {text(after)})"


def _lines(maps: Sequence[ScoreMap]) -> _Lines:
    if sum(learnt.raw.size for learnt in maps) > _MANY_KNOTS:
        maps = [learnt.compressed() for learnt in maps]
    grids = [_grid(learnt) for learnt in maps]
    steps = max(most for *_, most in grids).bit_length()
    lines = _Lines([], [], [], [], [], [], [], [], steps)
    for learnt, (raw, adjusted, cells, starts, _) in zip(maps, grids, strict=True):
        before = len(lines.raw)
        lines.first.append(float(learnt.raw[0]))
        lines.last.append(float(learnt.raw[-1]))
        lines.cells.append(cells)
        # Lists count from 1.
        lines.guide_start.append(len(lines.guide) + 1)
        lines.guide.extend((before + starts).tolist())
        lines.last_line.append(before + raw.size - 1)
        # A step that leads past the last knot must find none that a score reaches, least of all another map's.
        lines.raw.extend([*raw.tolist(), *([np.inf] * 2**steps)])
        lines.adjusted.extend([*adjusted.tolist(), *([np.inf] * 2**steps)])
    return lines


def _grid(learnt: ScoreMap) -> tuple[FloatArray, FloatArray, float, IntArray, int]:
    """Return the knots, cells per unit of score, knots before each cell, and the most that one cell holds."""
    raw, adjusted = learnt.raw, learnt.adjusted
    if raw.size == 1:
        # A line of its own for the one knot; no score is held beyond it.
        raw, adjusted = (np.append(knot, np.nextafter(knot, np.inf)) for knot in (raw, adjusted))
    with np.errstate(over="ignore", divide="ignore"):
        if not (np.isfinite(np.diff(raw)).all() and np.isfinite(np.diff(adjusted)).all()):
            raise InputError("the knots of a map are further apart than the largest number; scale the scores down.")
        cells = float(raw.size / (raw[-1] - raw[0]))
    # Where numbers are too small or too large for a grid, one cell holds all.
    cells = cells if np.isfinite(cells) else 0.0
    cell = np.floor((raw - raw[0]) * cells).astype(np.int64)
    starts = np.searchsorted(cell, np.arange(cell[-1] + 1), side="left")
    return raw, adjusted, cells, starts, int(np.diff(starts, append=raw.size).max())


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
