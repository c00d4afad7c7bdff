"""One way to read csv, csv.gz and parquet: checked arrays out of a file, or a file with one more column."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xorder._atomic import atomic_path
from xorder._progress import Progress
from xorder.engines import columns
from xorder.engines.columns import Batch, CodeArray, Codes, FloatArray, LabelArray, TextArray
from xorder.engines.csv_file import read_csv, write_csv
from xorder.engines.csv_text import blaming_gzip, is_gzip
from xorder.engines.endings import file_kind
from xorder.engines.parquet_file import read_parquet, write_parquet
from xorder.exceptions import InputError

Transform = Callable[[FloatArray, TextArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Scores, groups and, where asked for, labels and weights of a file: one entry per row, in its order."""

    y_score: FloatArray
    groups: TextArray
    y_true: LabelArray | None = None
    sample_weight: FloatArray | None = None


def read_rows(
    path: str | os.PathLike[str],
    *,
    score: str,
    group: str,
    label: str | None = None,
    weight: str | None = None,
    positive: str | None = None,
    missing: str | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Rows:
    """Read the named columns of a csv, csv.gz or parquet file.

    Scores and weights must be finite numbers, weights not negative; each row must have a group, which is kept
    as written. Labels must be 0 and 1 (or 0.0 and 1.0, or true and false), unless ``positive`` names the
    value that counts as 1; all others are then 0. Rows without a group are refused, unless ``missing`` names the group
    that they are then of. ``encoding`` is that of csv text; ``progress`` is told the share that has been read.

    What the file does not hold as it should is an :class:`~xorder.exceptions.InputError` that names the file,
    the column and the first line (csv) or row (parquet) concerned.
    """
    reading = _Reading(path, score, group, label, weight, positive, missing, encoding, progress)
    y_score, group_rows, label_rows, weights = zip(*reading.batches(), strict=True)
    return Rows(
        y_score=np.concatenate(y_score),
        groups=reading.groups.decode(np.concatenate(group_rows)),
        y_true=None if label is None else reading.labels_of(np.concatenate(label_rows)),
        sample_weight=None if weight is None else np.concatenate(weights),
    )


def check_rows(
    path: str | os.PathLike[str],
    *,
    score: str,
    group: str,
    label: str | None = None,
    weight: str | None = None,
    positive: str | None = None,
    missing: str | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> None:
    """Complain as :func:`read_rows` does, holding no more than some rows at a time."""
    reading = _Reading(path, score, group, label, weight, positive, missing, encoding, progress)
    for _ in reading.batches():
        pass
    if label is not None:
        reading.labels_of(np.empty(0, dtype=np.int32))


class _Reading:
    """The rows of a file, some at a time, each checked."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        score: str,
        group: str,
        label: str | None,
        weight: str | None,
        positive: str | None,
        missing: str | None,
        encoding: str,
        progress: Progress | None,
    ) -> None:
        self.source = _existing(path)
        self.kind = file_kind(str(self.source))
        self.score, self.group, self.label, self.weight = score, group, label, weight
        self.positive, self.missing, self.encoding = positive, missing, encoding
        self.groups, self.labels = Codes(), Codes()
        self.watch = _watch("reading rows", progress)

    def batches(self) -> Iterator[tuple[FloatArray, CodeArray, CodeArray, FloatArray]]:
        """Yield scores, numbers of groups, numbers of labels and weights; empty arrays for what is not asked for."""
        wanted = [name for name in (self.score, self.group, self.label, self.weight) if name is not None]
        rows = 0
        with blaming_gzip(self.source), closing(self._read(wanted)) as batches:
            for batch in batches:
                scores = columns.scores(batch, self.score)
                groups = columns.groups(batch, self.group, self.groups, self.missing)
                labels, weights = np.empty(0, dtype=np.int32), np.empty(0)
                if self.label is not None:
                    labels = columns.label_codes(batch, self.label, self.labels, self.positive)
                if self.weight is not None:
                    weights = columns.weights(batch, self.weight)
                rows += len(scores)
                yield scores, groups, labels, weights
        if not rows:
            raise _no_rows(self.source)

    def _read(self, wanted: Sequence[str]) -> Generator[Batch, None, None]:
        if self.kind == "parquet":
            yield from read_parquet(self.source, wanted, self.watch)
        else:
            yield from read_csv(self.source, wanted, self.encoding, self.watch)

    def labels_of(self, rows: CodeArray) -> LabelArray:
        """Return 0 and 1 for numbers of labels, once all rows have been read."""
        return columns.binary_labels(self.source, self.label or "", self.labels, rows, self.positive)


def add_column(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: str,
    group: str,
    into: str,
    transform: Transform,
    missing: str | None = None,
    overwrite: bool = False,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> int:
    """Write ``path`` again as ``out`` with one more last column, named ``into``; return the number of rows.

    ``transform`` takes the scores and the groups of a batch of rows and returns the numbers to add; a row without a
    group is refused, or of the group ``missing``. All else stays: each byte of a csv file; the types, values and
    metadata of a parquet file. The file is read in batches, so memory does not grow with it. ``out`` appears when it is
    complete, and not at all if something goes wrong; it may be the file that is read, if ``overwrite`` allows it.
    ``progress`` is called now and then with what is being done and the share that is done.
    """
    source, target = _existing(path), Path(out)
    kind = file_kind(str(source))
    if file_kind(str(target)) != kind:
        raise InputError(f"cannot write {target}: the output keeps the format of {source}; give it a {kind} ending.")

    def compute(batch: Batch) -> FloatArray:
        codes = Codes()
        groups = codes.decode(columns.groups(batch, group, codes, missing))
        scores = columns.scores(batch, score)
        values = np.asarray(transform(scores, groups), dtype=np.float64)
        if values.shape != scores.shape:
            raise InputError(f"transform must return {scores.size} numbers, one per row; got shape {values.shape}.")
        return values

    watch = _watch("adjusting scores", progress)
    with atomic_path(target, overwrite=overwrite) as temporary, blaming_gzip(source):
        if kind == "parquet":
            rows = write_parquet(source, temporary, wanted=[score, group], into=into, compute=compute, watch=watch)
        else:
            rows = write_csv(
                source,
                temporary,
                compress=is_gzip(target),
                wanted=[score, group],
                into=into,
                encoding=encoding,
                compute=compute,
                watch=watch,
            )
        if not rows:
            raise _no_rows(source)
    return rows


def _watch(step: str, progress: Progress | None) -> Callable[[float], None]:
    return lambda share: None if progress is None else progress(step, share)


def _existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read and is not empty."""
    source = Path(path)
    try:
        status = source.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{source} is a folder; name one csv or parquet file.")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{source} is not a file on disk; save the table to a file first.")
        with source.open("rb"):
            pass
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{source} does not exist; check the name and the folder.") from error
    except PermissionError as error:
        raise InputError(f"{source} may not be read by this user; change its permissions or copy it.") from error
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}.") from error
    if not status.st_size:
        raise InputError(f"{source} is empty (0 bytes); it needs the names of the columns, and rows.")
    return source


def _no_rows(path: Path) -> InputError:
    return InputError(f"{path} has columns but no rows; nothing can be computed from it.")
