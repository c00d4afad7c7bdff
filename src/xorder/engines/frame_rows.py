"""Anything with rows, made ready to be tallied: found out what it is, and its columns checked."""

from __future__ import annotations

import os
from collections.abc import Generator, Hashable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from xorder._group_columns import is_missing
from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._validation import MAX_GROUPS
from xorder.engines.coding import MOST_LABELS, Coding, coding
from xorder.engines.columns import check_columns, quoted
from xorder.engines.endings import file_kind
from xorder.engines.frame_files import find_files, open_files, rows_about
from xorder.engines.local_rows import Batch, LocalRows
from xorder.engines.spark_rows import SparkRows
from xorder.engines.tally import Named, Tally
from xorder.exceptions import InputError
from xorder.transfer.sql import quoted_name

_STEP = 1 << 17
_GUESSED_ROWS = 100_000
_ACCEPTED = (
    "a frame of pandas, polars (eager or lazy), pyarrow or PySpark, a relation of DuckDB, or the path or glob of "
    "parquet or csv files"
)


@contextmanager
def open_rows(
    frame: Any,
    names: Named,
    *,
    positive: Any = None,
    missing_group: str = "error",
    squares: bool = False,
    progress: Progress | None = None,
    memory: str = "2GB",
) -> Iterator[tuple[Tally, str]]:
    """Yield the rows, ready to be tallied in their own engine, and what to call them in a message."""
    nw = _narwhals()
    with ExitStack() as stack:
        source, is_file, is_text, total = "the frame", False, False, None
        if isinstance(frame, str | os.PathLike):
            files = find_files(frame)
            source, is_file, is_text = os.fspath(frame), True, file_kind(files[0]) == "csv"
            frame = stack.enter_context(open_files(frame, memory=memory))
            total = rows_about(files) if is_text else frame.count("*").fetchall()[0][0]
        check_columns(Path(source), native_columns(frame), _wanted(names))
        prepared = _prepared(nw, frame, names, is_text)

        def look(rows: int | None = None) -> Coding:
            part = prepared if rows is None else prepared.head(rows)
            try:
                groups, labels = _distinct(nw, part)
            except TypeError as error:
                # pandas finds out row by row that a column holds lists.
                raise _no_labels(names.group, str(error)) from error
            return coding(
                groups,
                labels,
                group=names.group,
                label=names.label,
                positive=positive,
                missing_group=missing_group,
                blanks=is_file,
            )

        if prepared.implementation.is_pyspark() or prepared.implementation.is_pyspark_connect():
            yield SparkRows(prepared, coding=look(), squares=squares, progress=progress), source
            return

        def batches(by: Coding, known: bool) -> Generator[Batch, None, None]:
            return _batches(nw, prepared, by.expression(nw, nw.col("group"), nw.col("label"), known=known))

        def blame() -> None:
            if is_text:
                _refuse_text(frame, names)

        # Whether a value named as positive is there, and what else is, all rows must tell.
        guess = look(_GUESSED_ROWS if prepared.implementation.is_duckdb() and positive is None else None)
        yield (
            LocalRows(
                batches,
                guess=guess,
                look=look,
                blame=blame,
                weighted=names.weight is not None,
                squares=squares,
                total=total,
                progress=progress,
            ),
            source,
        )


def native_columns(frame: Any) -> list[str]:
    """Return the names of the columns of any frame, or refuse what is none."""
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().names())
    for attribute in ("column_names", "columns"):
        names = getattr(frame, attribute, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    raise InputError(f"frame must be {_ACCEPTED}; got {type(frame).__name__}.")


def _prepared(nw: Any, frame: Any, names: Named, is_text: bool) -> Any:
    """Return the frame with the columns score, label, group and weight alone, missing values of all kinds null."""
    numbers = {"score": names.score} | ({} if names.weight is None else {"weight": names.weight})
    if is_text:
        return _parsed(nw, frame, names, numbers)
    labels = {"label": names.label, "group": names.group}
    held = numbers | labels
    if type(frame).__module__.startswith("pyspark"):
        # Names with dots and backticks mean something else to Spark, unless they are quoted.
        functions = import_optional("pyspark.sql.functions", extra="spark", purpose="Reading frames of Spark")
        frame = frame.select(
            *(functions.col(quoted_name(column, "spark")).alias(role) for role, column in held.items())
        )
        held = {role: role for role in held}
    try:
        whole = nw.from_native(_decoded(frame))
    except TypeError as error:
        raise InputError(f"frame must be {_ACCEPTED}; got {type(frame).__name__}.") from error
    schema = whole.collect_schema() if hasattr(whole, "collect_schema") else whole.schema
    chosen = {role: _number(nw, schema, held[role], column) for role, column in numbers.items()}
    for role, column in labels.items():
        value, kind = nw.col(held[role]), schema[held[role]]
        if kind.is_nested():
            raise _no_labels(column, f"its type is {kind}")
        if kind.is_float():
            # Not is_nan: of parquet files whose statistics leave NaN out, DuckDB 2.0 takes it to be nowhere.
            value = nw.when(value.is_finite() | (value == np.inf) | (value == -np.inf)).then(value)
        chosen[role] = value
    try:
        return whole.select(**{role: value.alias(role) for role, value in chosen.items()})
    except (TypeError, ValueError) as error:
        raise _no_numbers(names.score, str(error)) from error


def _number(nw: Any, schema: Any, held: str, column: str) -> Any:
    """Return the column, held under that name, as numbers."""
    kind = schema[held]
    if kind.is_float():
        return nw.col(held)
    if kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown):
        return nw.col(held).cast(nw.Float64)
    raise _no_numbers(column, f"their type is {kind}")


def _no_numbers(column: str, why: str) -> InputError:
    return InputError(f"column {column!r} must hold numbers; got values that are not ({why}).")


def _no_labels(column: str, why: str) -> InputError:
    return InputError(f"column {column!r} must hold plain labels such as text or numbers; {why}.")


def _parsed(nw: Any, relation: Any, names: Named, numbers: dict[str, str]) -> Any:
    """Read numbers out of text; what is none is missing."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose="Reading csv files")
    chosen = [duckdb.SQLExpression(number_in(name)).alias(role) for role, name in numbers.items()]
    for role, name in (("label", names.label), ("group", names.group)):
        chosen.append(duckdb.ColumnExpression(name).alias(role))
    return nw.from_native(relation.select(*chosen))


def number_in(name: str) -> str:
    """Return a column of text as numbers, null where it is none; to DuckDB alone, 1_000 is one."""
    return f"CASE WHEN contains({quoted_name(name)}, '_') THEN NULL ELSE TRY_CAST({quoted_name(name)} AS DOUBLE) END"


def _refuse_text(relation: Any, names: Named) -> None:
    """Name a text that stands where a number should; looked for only once some number is missing."""
    for name in filter(None, (names.score, names.weight)):
        found = (
            relation.filter(f"{number_in(name)} IS NULL AND trim({quoted_name(name)}) <> ''")
            .select(quoted_name(name))
            .limit(1)
        )
        for (text,) in found.fetchall():
            raise _no_numbers(name, f"such as {quoted(text)}")


def _decoded(frame: Any) -> Any:
    """Return an Arrow table without dictionaries, which few of its functions take."""
    if not type(frame).__module__.startswith("pyarrow"):
        return frame
    pa = import_optional("pyarrow", extra="parquet", purpose="Reading Arrow tables")
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))


def _distinct(nw: Any, frame: Any) -> tuple[list[Hashable], list[Hashable]]:
    """Return the distinct values of group and label, missing ones as None; of too many, enough to see that."""
    pairs = frame.select(nw.col("group"), nw.col("label")).unique().head(MAX_GROUPS * MOST_LABELS + 1)
    if hasattr(pairs, "collect"):
        pairs = pairs.collect()
    found = []
    for name in ("group", "label"):
        values = [value.item() if isinstance(value, np.generic) else value for value in pairs[name].to_list()]
        # pandas has several values for missing, none of them equal to itself.
        found.append(list(dict.fromkeys(None if is_missing(value) else value for value in values)))
    return found[0], found[1]


def _batches(nw: Any, frame: Any, code: Any) -> Generator[Batch, None, None]:
    """Yield rows as arrays of numpy, each engine in its own way of handing over some at a time."""
    wanted = [nw.col("score"), code.alias("code"), *([nw.col("weight")] if "weight" in frame.columns else [])]
    if isinstance(frame, nw.DataFrame):
        for start in range(0, len(frame), _STEP):
            yield _batch(frame[start : start + _STEP].select(*wanted))
        return
    native = frame.select(*wanted).to_native()
    if frame.implementation.is_duckdb():
        import_optional("pyarrow", extra="duckdb", purpose="Reading what DuckDB holds")
        with closing(native.to_arrow_reader(_STEP)) as parts:
            for part in parts:
                yield _batch(part)
    elif frame.implementation.is_polars():
        for part in native.collect_batches(chunk_size=_STEP, maintain_order=False):
            yield _batch(part)
    else:
        raise InputError(f"frame must be {_ACCEPTED}; got {type(native).__name__}.")


def _batch(part: Any) -> Batch:
    def array(name: str) -> Any:
        column = part[name] if hasattr(part, "get_column") else part.column(name)
        if hasattr(column, "buffers"):
            return column.to_numpy(zero_copy_only=False)
        return column.to_numpy()

    names = part.columns if hasattr(part, "get_column") else part.schema.names
    weight = np.asarray(array("weight"), dtype=np.float64) if "weight" in names else None
    return Batch(array("score"), array("code"), weight)


def _wanted(names: Named) -> list[str]:
    return [name for name in (names.score, names.label, names.group, names.weight) if name is not None]


def _narwhals() -> Any:
    import narwhals

    return narwhals
