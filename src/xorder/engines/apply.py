"""Score maps applied to rows where they are: any frame comes back as its own kind, with one more column."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder._threads import in_threads
from xorder.engines.endings import file_kind
from xorder.engines.frame_files import blaming_files, find_files, reader_of
from xorder.engines.labels import PLACE, Complaints, GroupNumbers, check_frame_columns, no_numbers
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap

_PURPOSE = "Adjusting the scores of a frame"

# Rows adjusted at a time; parts run side by side.
_PART = 65_536

Numbers = NDArray[np.integer[Any]]
Adjust = Callable[[FloatArray, Numbers], FloatArray]


def map_frame(
    frame: Any,
    maps: Mapping[Hashable, ScoreMap],
    *,
    score: str,
    group: str,
    into: str = "adjusted",
    missing: Hashable | None = None,
) -> Any:
    """Return the frame with one more last column: each row's score, through the map of its group.

    Parameters
    ----------
    frame : a frame of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB. It comes back as the
        same kind; what is lazy stays lazy, and no row is collected. Other columns stay as they are. The path or glob of
        parquet or csv files comes back as a relation of DuckDB; cells of csv files stay text.
    maps : group -> ScoreMap, such as ``XOrder.maps_``. If some label is of the column's type, only such labels count: 1
        is not "1" then. Else groups are matched by how they are written, so that maps learnt elsewhere fit.
    score, group, into : names of the columns to read and of the one to add
    missing : label of the map for rows whose group is missing, which in files blank text is; None refuses such rows

    Scores that are missing or not finite, and groups without a map, are refused: at once where the rows are in
    memory, else when they are computed, by an error of their engine with the same words.

    All engines give the numbers of :meth:`ScoreMap.apply`; only DuckDB compresses maps of more than 50,000 knots first,
    which moves a score by at most 1e-9 of the score range.
    """
    check_maps(maps, missing)
    if isinstance(frame, str | os.PathLike):
        return _map_files(frame, maps, score=score, group=group, into=into, missing=missing)
    apply = _engine(frame)
    return apply(frame, maps, score=score, group=group, into=into, missing=missing)


def _map_files(path: str | os.PathLike[str], maps: Mapping[Hashable, ScoreMap], **names: Any) -> Any:
    """Read files as a relation of DuckDB, which stays as lazy as they are large."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    from xorder.engines.apply_duckdb import map_relation

    files = find_files(path)
    with blaming_files(path):
        relation = duckdb.connect().sql(f"SELECT * FROM {reader_of(files)}")
        is_text = file_kind(files[0]) == "csv"
        return map_relation(relation, maps, **names, blanks=True, scores_in_text=is_text)


def adjusting(maps: Mapping[Hashable, ScoreMap]) -> Adjust:
    """Return the function of scores and numbers of groups; it needs nothing but NumPy wherever it runs."""
    moves = {number: learnt.as_function() for number, learnt in enumerate(maps.values()) if learnt.raw.size}

    def adjust(score: FloatArray, number: Numbers) -> FloatArray:
        adjusted = np.array(score, dtype=np.float64)
        for wanted, move in moves.items():
            rows = np.flatnonzero(number == wanted)
            if rows.size:
                adjusted[rows] = move(adjusted[rows])
        return adjusted

    return adjust


def check_maps(maps: Any, missing: Hashable | None = None) -> None:
    """Refuse what is not one map a group, and a label for missing groups that has none."""
    if not isinstance(maps, Mapping) or not maps or not all(isinstance(one, ScoreMap) for one in maps.values()):
        raise InputError("maps must hold a ScoreMap for each group, as XOrder.maps_ does.")
    if missing is not None and missing not in maps:
        raise InputError(f"missing must name one of the groups {', '.join(map(repr, maps))}; got {missing!r}.")


def _engine(frame: Any) -> Callable[..., Any]:
    """Find out what holds the rows by the names of its types, so that no engine is imported to ask."""
    for kind in type(frame).__mro__:
        package, name = kind.__module__.partition(".")[0].lstrip("_"), kind.__name__
        if (package, name) in _ENGINES:
            return _ENGINES[package, name]
        if package == "pyspark" and name == "DataFrame":
            from xorder.engines.apply_spark import map_spark

            return map_spark
        if package == "duckdb" and name == "DuckDBPyRelation":
            from xorder.engines.apply_duckdb import map_relation

            return map_relation
    raise InputError(
        "frame must be a frame of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB; "
        f"got {type(frame).__name__}."
    )


def _map_pandas(
    frame: Any, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str, into: str, missing: Hashable | None
) -> Any:
    pd = import_optional("pandas", extra="data", purpose=_PURPOSE)

    check_frame_columns(list(frame.columns), score=score, group=group, into=into)
    if not (pd.api.types.is_numeric_dtype(frame[score].dtype) or frame[score].dtype == object):
        raise no_numbers(score, f"their type is {frame[score].dtype}")
    try:
        scores = frame[score].to_numpy(dtype=np.float64, na_value=np.nan)
        codes, labels = pd.factorize(frame[group])
    except (TypeError, ValueError) as error:
        raise InputError(f"column {score!r} must hold numbers, and column {group!r} plain labels ({error}).") from error
    complaints = Complaints(maps, score=score, group=group)
    numbers = _numbers(GroupNumbers(maps, complaints, missing), labels.tolist(), codes, codes.size and codes.min() < 0)
    return frame.assign(**{into: _adjusted(adjusting(maps), scores, numbers, complaints)})


def _map_arrow(
    table: Any, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str, into: str, missing: Hashable | None
) -> Any:
    pa = import_optional("pyarrow", extra="parquet", purpose=_PURPOSE)

    check_frame_columns(table.schema.names, score=score, group=group, into=into)
    scores, groups = table.column(score), table.column(group)
    if pa.types.is_dictionary(scores.type):
        scores = scores.cast(scores.type.value_type)
    kind = scores.type
    allowed = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    if not any(is_allowed(kind) for is_allowed in allowed):
        raise no_numbers(score, f"their type is {kind}")
    if pa.types.is_boolean(kind):
        scores = scores.cast(pa.int8())
    # Not safe: numbers above 2**53 are rounded, as everywhere.
    scores = scores.cast(pa.float64(), safe=False)
    if pa.types.is_nested(groups.type):
        raise InputError(f"column {group!r} must hold plain labels such as text or numbers; its type is {groups.type}.")
    encoded = pa.chunked_array([groups] if isinstance(groups, pa.Array) else groups.chunks, type=groups.type)
    if not pa.types.is_dictionary(groups.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    labels = encoded.dictionary.to_pylist()
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    complaints = Complaints(maps, score=score, group=group)
    numbers = _numbers(GroupNumbers(maps, complaints, missing), labels, codes, encoded.indices.null_count)
    flat = scores.to_numpy(zero_copy_only=False) if isinstance(scores, pa.Array) else scores.to_numpy()
    adjusted = _adjusted(adjusting(maps), flat, numbers, complaints)
    return table.append_column(pa.field(into, pa.float64()), pa.array(adjusted))


def _map_polars(
    frame: Any, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str, into: str, missing: Hashable | None
) -> Any:
    pl = import_optional("polars", extra="polars", purpose=_PURPOSE)

    schema = frame.collect_schema()
    check_frame_columns(schema.names(), score=score, group=group, into=into)
    if not (schema[score].is_numeric() or schema[score] in (pl.Boolean, pl.Null)):
        raise no_numbers(score, f"their type is {schema[score]}")
    if schema[group].is_nested():
        raise InputError(
            f"column {group!r} must hold plain labels such as text or numbers; its type is {schema[group]}."
        )
    complaints = Complaints(maps, score=score, group=group)
    known, adjust = GroupNumbers(maps, complaints, missing), adjusting(maps)

    def adjusted(rows: Any) -> Any:
        groups = rows.struct.field("group")
        if not len(groups):
            return pl.Series(into, [], dtype=pl.Float64)
        labels = groups.unique()
        places = labels.to_list()
        codes = groups.replace_strict(labels, pl.Series(range(len(places)), dtype=pl.Int32), return_dtype=pl.Int32)
        numbers = _numbers(known, places, codes.to_numpy(), False)
        return pl.Series(into, _adjusted(adjust, rows.struct.field("score").to_numpy(), numbers, complaints))

    label = pl.col(group).cast(pl.String) if schema[group] in (pl.Categorical, pl.Enum) else pl.col(group)
    rows = pl.struct(pl.col(score).cast(pl.Float64).alias("score"), label.alias("group"))
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(adjusted(frame.select(rows.alias(into)).get_column(into)))
    # Row by row, so that the engine may hand over some rows at a time.
    return frame.with_columns(rows.map_batches(adjusted, return_dtype=pl.Float64, is_elementwise=True).alias(into))


def _numbers(known: GroupNumbers, labels: list[Any], codes: Numbers, some_missing: Any) -> Numbers:
    """Turn codes, which count through ``labels``, into numbers of maps; a code below 0 is a missing group."""
    used = np.bincount(codes[codes >= 0] if some_missing else codes, minlength=len(labels)) > 0
    # A type may list labels that no row has. The last place is that of the code -1.
    table = [known[label] if is_used else -1 for label, is_used in zip(labels, used.tolist(), strict=True)]
    table.append(known[None] if some_missing else -1)
    return np.array(table, dtype=np.int64)[codes]


def _adjusted(adjust: Adjust, scores: FloatArray, numbers: Numbers, complaints: Complaints) -> FloatArray:
    """Adjust scores part by part on all cores."""
    adjusted = np.empty(scores.size)

    def one(begin: int) -> None:
        part = scores[begin : begin + _PART]
        finite = np.isfinite(part)
        if not finite.all():
            raise InputError(complaints.score.replace(PLACE, str(part[int(np.argmin(finite))])))
        adjusted[begin : begin + _PART] = adjust(part, numbers[begin : begin + _PART])

    in_threads(scores.size, one, range(0, scores.size, _PART))
    return adjusted


_ENGINES: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): _map_pandas,
    ("polars", "DataFrame"): _map_polars,
    ("polars", "LazyFrame"): _map_polars,
    ("pyarrow", "Table"): _map_arrow,
    ("pyarrow", "RecordBatch"): _map_arrow,
}
