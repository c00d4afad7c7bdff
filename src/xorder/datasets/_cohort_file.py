"""The cohort file that a builder writes and a loader reads: parquet, with a note of how it was made.

A problem is made of it, and what was not measured is filled with means, as the MIMIC-III benchmark does: over the
training rows only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from xorder import __version__
from xorder._atomic import atomic_path
from xorder._optional import import_optional
from xorder._parameters import check_word
from xorder.datasets._problem import IntArray, Problem, Split, make_splits
from xorder.exceptions import InputError

_KEY = b"xorder.cohort"

TrainingRows = Sequence[int] | IntArray
Impute = Literal["mean"] | TrainingRows | None


def check_output(output: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse at once, before hours of work, an output that could not be written at the end."""
    with suppress(_CheckedError), atomic_path(output, overwrite=overwrite):
        raise _CheckedError


def write_cohort(
    table: Any, output: str | os.PathLike[str], *, kind: str, about: Mapping[str, Any], overwrite: bool
) -> None:
    """Write an Arrow table as parquet; ``kind`` (such as ``"mimic3"``) and ``about`` go into its metadata as JSON."""
    parquet = import_optional("pyarrow.parquet", extra="data", purpose="Writing a cohort")
    note = json.dumps({"kind": kind, "xorder": __version__, **about})
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: note.encode()})
    with atomic_path(output, overwrite=overwrite) as temporary:
        parquet.write_table(table, temporary, compression="zstd")


def read_cohort(
    path: str | os.PathLike[str], *, kind: str, columns: Collection[str] = ()
) -> tuple[Any, dict[str, Any]]:
    """Read a cohort as a pandas frame, with the note of how it was made; refuse any other file.

    ``columns`` must be there.
    """
    command = f"xorder data build-{kind}"
    needed = ("pandas", "pyarrow", "pyarrow.parquet")
    _, pyarrow, parquet = (import_optional(name, extra="data", purpose="Loading a cohort") for name in needed)
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; name the file that {command} wrote.")
    try:
        table = parquet.read_table(path)
        note = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a parquet file; name the file that {command} wrote.") from error
    if note.get("kind") != kind:
        of = f"a cohort of kind {note['kind']!r}" if "kind" in note else "a parquet file, but not a cohort"
        raise InputError(f"{path} is {of}; name the file that {command} wrote.")
    there = {*table.column_names}
    missing = [column for column in columns if column not in there]
    if missing:
        raise InputError(f"{path} lacks the column {missing[0]!r}, which {command} writes. Build it again.")
    return table.replace_schema_metadata(None).to_pandas(), note


def cohort_problem(
    cohort: str | os.PathLike[str],
    facts: Mapping[str, Any],
    inputs: Sequence[str],
    *,
    task: str,
    group: str | None,
    splits: int | None,
    impute: Impute,
) -> Problem:
    """Load a cohort as the problem of a task and a group, which the facts about its data name and describe.

    Rows whose label or group is not known are left out.
    """
    about = facts["problem"]
    chosen = about["tasks"][check_word("task", task, about["tasks"])]
    group = check_word("group", chosen.get("group") if group is None else group, about["groups"])
    rows, note = read_cohort(cohort, kind=facts["kind"], columns=(*about["columns"], *inputs))
    counts = {name: int(rows.eval(sql, engine="python").sum()) for name, sql in about.get("counts", {}).items()}
    grouping = dict(about["groups"][group])
    warnings = (*about["warnings"], *(text for option, text in about.get("unless", {}).items() if not note.get(option)))
    warnings += (chosen["warning"], grouping.pop("warning"))
    label, groups = rows[chosen["column"]], _groups(rows[group], **grouping)
    left_out = {
        f"have no known outcome ({task})": int(label.isna().sum()),
        f"have no known {group}": int((label.notna() & groups.isna()).sum()),
    }
    known = label.notna() & groups.notna()
    rows = rows[known].reset_index(drop=True)
    if rows.empty:
        raise InputError(f"{cohort} has no stay with a known {task} and {group}; choose another task or group.")
    words = note | counts | {"rows": len(rows), "inputs": len(inputs), "label": chosen["label"], "group": group}
    words["readings"] = ", ".join(note.get("readings", ()))
    return Problem(
        name=f"{about['name']} {task}",
        X=imputed(rows[list(inputs)].astype(np.float64), impute),
        y=(label[known] > chosen["above"]).to_numpy(dtype=np.int8),
        sensitive_features=groups[known].to_numpy(dtype=object),
        description=about["description"].format(**words),
        source=about["source"].format(**words),
        licence=about["licence"],
        warnings=(
            *(warning.format(**words) for warning in warnings),
            *(f"{count:,} stays {what} and are left out." for what, count in left_out.items() if count),
            *imputing_warnings(impute),
        ),
        splits=_splits_of_units(rows[about["unit"]], splits),
    )


def _groups(values: Any, names: Mapping[str, str], rest: str | None = None, missing: str | None = None) -> Any:
    """Return groups by how texts begin; those of the rest, and what is missing, have none unless that is given."""

    def named(text: str) -> str | None:
        return next((name for start, name in names.items() if text.startswith(start)), rest)

    return (values if missing is None else values.fillna(missing)).map(named, na_action="ignore")


def _splits_of_units(unit: Any, splits: int | None) -> tuple[Split, ...]:
    """Draw units, such as patients, not rows: a model must not be tested on people it has seen."""
    known, number = np.unique(unit.to_numpy(), return_inverse=True)
    drawn = (np.isin(number, split.train) for split in make_splits(splits, len(known)))
    return tuple(Split(np.flatnonzero(training), np.flatnonzero(~training)) for training in drawn)


def impute_mean(X: Any, training_rows: TrainingRows) -> Any:
    """Replace each NaN by the mean of its column over the training rows, as the MIMIC-III benchmark does.

    A column without any value there is filled with 0. (The benchmark's tool would drop such a column.)

    Parameters
    ----------
    X : pandas.DataFrame
        Inputs, such as ``problem.X``.
    training_rows : array-like of int
        Numbers of rows of ``X``, such as ``problem.splits[0].train``.

    Returns
    -------
    pandas.DataFrame
        Inputs without NaN; ``X`` stays as it is.

    References
    ----------
    .. [1] H. Harutyunyan, H. Khachatrian, D. C. Kale, G. Ver Steeg and A. Galstyan (2019), Multitask learning and
       benchmarking with clinical time series data, Scientific Data 6, 96.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        raise InputError(
            f"X must be a pandas DataFrame, such as problem.X; got {type(X).__name__}. For arrays, scikit-learn has "
            "SimpleImputer(keep_empty_features=True)."
        )
    return _filled(X, training_rows, "training_rows must be")


def imputed(X: Any, impute: Impute) -> Any:
    """Return ``X`` as it is (None), or filled with means over all rows (``"mean"``) or over the given ones."""
    if impute is None:
        return X
    rows = np.arange(len(X)) if isinstance(impute, str) and impute == "mean" else impute
    return _filled(X, rows, "impute must be None, 'mean' or")


def imputing_warnings(impute: Impute) -> list[str]:
    """What to know about inputs that were filled."""
    if impute is None:
        return []
    if isinstance(impute, str):
        return [
            "Values that were not measured are filled with means over all rows, those of any test part among them; "
            "name the training rows (impute=) for the benchmark's rule."
        ]
    return [f"Values that were not measured are filled with means over {len(impute):,} rows."]


def _filled(X: Any, rows: TrainingRows, must: str) -> Any:
    try:
        numbers = np.asarray(rows)
    except ValueError:
        # Lists of unequal lengths.
        numbers = np.empty(0)
    whole = numbers.ndim == 1 and numbers.size > 0 and numbers.dtype.kind in "iu"
    if not whole or numbers.min() < 0 or numbers.max() >= len(X):
        shown = repr(rows).replace("\n", " ")
        raise InputError(
            f"{must} numbers of training rows, at least one, each from 0 to {len(X) - 1:,}; got "
            f"{shown if len(shown) <= 80 else shown[:77] + '...'}. Of a mask, numpy.flatnonzero gives the numbers."
        )
    return X.fillna(X.iloc[numbers].mean().fillna(0.0))


class _CheckedError(Exception):
    """Leaves the block that would write, with nothing written."""
