"""Row batches of a parquet file, read and written with pyarrow (the extra ``parquet``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from xorder._duckdb import first_line
from xorder._groups import written
from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder.engines._cells import CodeArray, Codes, Kind, NewColumns, check_columns, check_new_columns
from xorder.exceptions import InputError

_BATCH_BYTES = 32 << 20
_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 17
_READ_AHEAD = 1 << 20


@dataclass(frozen=True, slots=True)
class ParquetBatch:
    """Some rows of a parquet file as an Arrow record batch, and how many rows stand before them."""

    path: Path
    arrow: Any
    before: int

    def floats(self, column: str) -> FloatArray:
        """Return the column as numbers, NaN where a cell is null; a column of another type is refused."""
        pa, array = _pyarrow(), self.arrow.column(column)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if self.kind(column) not in (Kind.NUMBER, Kind.DECIMAL, Kind.BOOLEAN) and not pa.types.is_null(array.type):
            raise InputError(
                f"{self.path}: column {column!r} must hold numbers, but its type is {array.type}. "
                "Convert it or name another column."
            )
        if not pa.types.is_floating(array.type):
            # Not safe: whole numbers of more than 53 bits are rounded.
            array = array.cast(pa.float64(), safe=False)
        return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)

    def encode(self, column: str, codes: Codes) -> CodeArray:
        """Return the column as numbers of its values, as text, in ``codes``; null counts as an empty text."""
        pa, array = _pyarrow(), self.arrow.column(column)
        kind = array.type
        try:
            if not pa.types.is_dictionary(kind):
                array = _countable(pa, array).dictionary_encode()
            texts = [written(value) for value in _countable(pa, array.dictionary).to_pylist()]
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.path}: column {column!r} is of type {kind}, whose values have no plain text. "
                "Convert it or name another column."
            ) from error
        indices = array.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
        texts.append("")
        numbers = np.zeros(len(texts), dtype=np.int32)
        # A dictionary may list values that no row has; these are not values of the column.
        for index in np.flatnonzero(np.bincount(indices, minlength=len(texts))).tolist():
            numbers[index] = codes[texts[index]]
        return np.asarray(numbers[indices], dtype=np.int32)

    def kind(self, column: str) -> Kind:
        """Return which kind of values the column holds; those of no other kind are told apart as text."""
        types, kind = _pyarrow().types, self.arrow.column(column).type
        if types.is_dictionary(kind):
            kind = kind.value_type
        kinds = {types.is_boolean: Kind.BOOLEAN, types.is_decimal: Kind.DECIMAL, types.is_date: Kind.DATE}
        kinds |= dict.fromkeys((types.is_integer, types.is_floating), Kind.NUMBER)
        return next((name for is_one, name in kinds.items() if is_one(kind)), Kind.TEXT)

    def place(self, row: int) -> str:
        """Name the row, counted from 0 as in frames."""
        return f"row {self.before + row}"

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as text, ``None`` if it is null."""
        value = self.arrow.column(column)[row].as_py()
        return None if value is None else str(value)


def read_parquet(path: Path, wanted: Sequence[str], watch: Callable[[float], None]) -> Iterator[ParquetBatch]:
    """Yield the rows of a parquet file in batches, the wanted columns only; call ``watch`` with the share read."""
    with _open(path) as (file, names):
        check_columns(str(path), names, wanted)
        for batch in _batches(path, file, list(dict.fromkeys(wanted))):
            yield batch
            watch(_share(file, batch))


def write_parquet(paths: Sequence[Path], temporary: Path, columns: NewColumns) -> None:
    """Write files to ``temporary`` with one more column of float64, and others of text; types and metadata stay.

    Of several files the first says which columns there are, and of which types. A batch is written while the next is
    read.
    """
    pa, path = _pyarrow(), paths[0]
    with _open(path) as (file, names):
        check_new_columns(str(path), names, *columns.names)
        check_columns(str(path), names, columns.wanted)
        before = schema = file.schema_arrow
        kinds = [pa.float64(), *(pa.string() for _ in columns.names[1:])]
        for name, kind in zip(columns.names, kinds, strict=True):
            schema = schema.append(pa.field(name, kind))
        batches = _of_all(paths, file, before, columns.watch)
        # Once a batch was read, the metadata is sound: asked for it before, pyarrow may abort on a damaged file.
        first = list(islice(batches, 1))
        if not first:
            return
        with _reading(path):
            compression = _compression(file, columns.names)
        try:
            with (
                temporary.open("wb") as sink,
                _pyarrow("pyarrow.parquet").ParquetWriter(sink, schema, compression=compression) as writer,
                ThreadPoolExecutor(1) as beside,
            ):
                # Nothing, at first.
                written_last: Future[Any] = beside.submit(bool)
                for batch in chain(first, batches):
                    added = map(pa.array, columns.compute(batch), kinds)
                    made = pa.RecordBatch.from_arrays([*batch.arrow.columns, *added], schema=schema)
                    written_last.result()
                    written_last = beside.submit(writer.write_batch, made)
                written_last.result()
        except pa.ArrowException as error:
            raise InputError(f"{path} cannot be written again with one more column: {first_line(error)}.") from error


def _of_all(paths: Sequence[Path], first: Any, schema: Any, watch: Callable[[float], None]) -> Iterator[ParquetBatch]:
    """Yield the batches of files, of which the first is open, all with the columns and types of the first."""
    pa = _pyarrow()
    for number, path in enumerate(paths):
        with ExitStack() as stack:
            file = stack.enter_context(_open(path))[0] if number else first
            for batch in _batches(path, file, None):
                if batch.arrow.schema != schema:
                    try:
                        same = pa.Table.from_batches([batch.arrow]).select(schema.names).cast(schema)
                    except (KeyError, pa.ArrowException) as error:
                        raise InputError(
                            f"{path} has not the columns and types of {paths[0]} ({first_line(error)}); files that "
                            "are written to one must have the same."
                        ) from error
                    batch = replace(batch, arrow=same.combine_chunks().to_batches()[0])
                yield batch
                watch((number + _share(file, batch)) / len(paths))


def _share(file: Any, batch: ParquetBatch) -> float:
    """Share of the rows that has been read with a batch."""
    return float(min((batch.before + batch.arrow.num_rows) / max(file.metadata.num_rows, 1), 1.0))


def _batches(path: Path, file: Any, columns: list[str] | None) -> Iterator[ParquetBatch]:
    """Read batches whose size in memory does not depend on the number of rows."""
    # The size of a row unpacked is guessed from the file, taken to be packed to a quarter.
    width = max(8 * file.metadata.num_columns, 4 * path.stat().st_size // max(file.metadata.num_rows, 1), 1)
    rows = min(max(_BATCH_BYTES // width, _FEWEST_ROWS), _MOST_ROWS)
    before = 0
    with _reading(path):
        batches = file.iter_batches(batch_size=rows, columns=columns)
    while True:
        with _reading(path):
            batch = next(batches, None)
        if batch is None:
            return
        if batch.num_rows:
            yield ParquetBatch(path, batch, before)
        before += batch.num_rows


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, list[str]]]:
    """Open the file; give it together with the names of its columns."""
    with ExitStack() as stack:
        with _reading(path):
            handle = stack.enter_context(path.open("rb"))
            # Without buffering ahead, and with small reads: else whole row groups, or all of them, come into memory.
            file = _pyarrow("pyarrow.parquet").ParquetFile(handle, pre_buffer=False, buffer_size=_READ_AHEAD)
            stack.enter_context(file)
            names = list(file.schema_arrow.names)
        yield file, names


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Report what goes wrong while reading, in the user's words."""
    try:
        yield
    except MemoryError:
        raise
    except (_pyarrow().ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read as parquet ({first_line(error)}). It may be cut short or of another "
            "format: write it again, or give it the ending of its format."
        ) from error


def _compression(file: Any, new: Sequence[str]) -> dict[str, str]:
    """Compress each column as in the file it comes from, new ones as the first of them."""
    group = file.metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    kinds = {column.path_in_schema: column.compression for column in columns}
    kinds |= dict.fromkeys(new, columns[0].compression)
    return {name: "NONE" if kind == "UNCOMPRESSED" else kind for name, kind in kinds.items()}


def _countable(pa: Any, array: Any) -> Any:
    """Return the array in a type whose distinct values have a text of their own."""
    kind = array.type
    # Python's own times stop at millionths of a second.
    if pa.types.is_duration(kind) or getattr(kind, "unit", None) == "ns":
        return array.cast(pa.large_string())
    if pa.types.is_nested(kind):
        raise pa.ArrowNotImplementedError(str(kind))
    return array


def _pyarrow(module: str = "pyarrow") -> Any:
    return import_optional(module, extra="parquet", purpose="Reading parquet files")
