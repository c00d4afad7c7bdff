"""One way to read csv, csv.gz and parquet: checked arrays out of a file, or a file with one more column."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xorder._atomic import atomic_path
from xorder.engines import columns
from xorder.engines.columns import Batch, CodeArray, Codes, FloatArray, LabelArray, TextArray
from xorder.engines.csv_file import read_csv, write_csv
from xorder.engines.csv_text import blaming_gzip, is_gzip
from xorder.engines.parquet_file import read_parquet, write_parquet
from xorder.exceptions import InputError

Transform = Callable[[FloatArray, TextArray], FloatArray]

_CSV = (".csv", ".csv.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz")


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
    encoding: str = "utf-8",
) -> Rows:
    """Read the named columns of a csv, csv.gz or parquet file.

    Scores and weights must be finite numbers, weights not negative; each row must have a group, which is kept
    as written. Labels must be 0 and 1 (or 0.0 and 1.0, or true and false), unless ``positive`` names the
    value that counts as 1; all others are then 0. ``encoding`` is that of csv text.

    What the file does not hold as it should is an :class:`~xorder.exceptions.InputError` that names the file,
    the column and the first line (csv) or row (parquet) concerned.
    """
    source = _existing(path)
    kind = _format(source)
    wanted = [name for name in (score, group, label, weight) if name is not None]
    y_score: list[FloatArray] = []
    sample_weight: list[FloatArray] = []
    group_rows: list[CodeArray] = []
    label_rows: list[CodeArray] = []
    group_codes, label_codes = Codes(), Codes()
    with blaming_gzip(source), closing(_batches(source, kind, wanted, encoding)) as batches:
        for batch in batches:
            y_score.append(columns.scores(batch, score))
            group_rows.append(columns.groups(batch, group, group_codes))
            if label is not None:
                label_rows.append(columns.label_codes(batch, label, label_codes, positive))
            if weight is not None:
                sample_weight.append(columns.weights(batch, weight))
    if not sum(map(len, y_score)):
        raise _no_rows(source)
    y_true = None
    if label is not None:
        y_true = columns.binary_labels(source, label, label_codes, np.concatenate(label_rows), positive)
    return Rows(
        y_score=np.concatenate(y_score),
        groups=group_codes.decode(np.concatenate(group_rows)),
        y_true=y_true,
        sample_weight=None if weight is None else np.concatenate(sample_weight),
    )


def add_column(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: str,
    group: str,
    into: str,
    transform: Transform,
    overwrite: bool = False,
    encoding: str = "utf-8",
) -> int:
    """Write ``path`` again as ``out`` with one more last column, named ``into``; return the number of rows.

    ``transform`` takes the scores and the groups of a batch of rows and returns the numbers to add. All else
    stays: each byte of a csv file; the types, values and metadata of a parquet file. The file is read in
    batches, so memory does not grow with it. ``out`` appears when it is complete, and not at all if something
    goes wrong; it may be the file that is read, if ``overwrite`` allows it.
    """
    source, target = _existing(path), Path(out)
    kind = _format(source)
    if _format(target) != kind:
        raise InputError(f"cannot write {target}: the output keeps the format of {source}; give it a {kind} ending.")

    def compute(batch: Batch) -> FloatArray:
        codes = Codes()
        groups = codes.decode(columns.groups(batch, group, codes))
        scores = columns.scores(batch, score)
        values = np.asarray(transform(scores, groups), dtype=np.float64)
        if values.shape != scores.shape:
            raise InputError(f"transform must return {scores.size} numbers, one per row; got shape {values.shape}.")
        return values

    with atomic_path(target, overwrite=overwrite) as temporary, blaming_gzip(source):
        if kind == "parquet":
            rows = write_parquet(source, temporary, wanted=[score, group], into=into, compute=compute)
        else:
            rows = write_csv(
                source,
                temporary,
                compress=is_gzip(target),
                wanted=[score, group],
                into=into,
                encoding=encoding,
                compute=compute,
            )
        if not rows:
            raise _no_rows(source)
    return rows


def _batches(path: Path, kind: str, wanted: Sequence[str], encoding: str) -> Generator[Batch, None, None]:
    if kind == "parquet":
        yield from read_parquet(path, wanted)
    else:
        yield from read_csv(path, wanted, encoding)


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


def _format(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(".parquet"):
        return "parquet"
    if name.endswith(_CSV):
        return "csv"
    raise InputError(f"{path} is of no known format; the name must end in .parquet or {' or '.join(_CSV)}.")


def _no_rows(path: Path) -> InputError:
    return InputError(f"{path} has columns but no rows; nothing can be computed from it.")
