"""The cohort file that a builder writes and a loader reads: parquet, with a note of how it was made; its problems."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from xorder._atomic import atomic_path
from xorder._optional import import_optional
from xorder._parameters import check_word
from xorder.datasets._impute import Impute, imputed, imputing_warnings
from xorder.datasets._problem import Problem, Split
from xorder.datasets._splits import make_splits
from xorder.exceptions import InputError

_KEY = b"xorder.cohort"


def check_output(output: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse at once, before hours of work, an output that could not be written at the end."""
    with suppress(_CheckedError), atomic_path(output, overwrite=overwrite):
        raise _CheckedError


def write_cohort(
    table: Any, output: str | os.PathLike[str], *, kind: str, about: Mapping[str, Any], overwrite: bool
) -> None:
    """Write an Arrow table as parquet; ``kind`` (such as ``"mimic3"``) and ``about`` go into its metadata as JSON."""
    parquet = import_optional("pyarrow.parquet", extra="data", purpose="Writing a cohort")
    note = json.dumps({"kind": kind, "xorder": _version(), **about})
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
    import_optional("pandas", extra="data", purpose="Loading a cohort")
    pyarrow = import_optional("pyarrow", extra="data", purpose="Loading a cohort")
    parquet = import_optional("pyarrow.parquet", extra="data", purpose="Loading a cohort")
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
    missing = [column for column in columns if column not in table.column_names]
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
    lists = {name: ", ".join(value) for name, value in note.items() if name == "readings"}
    words = note | lists | counts | {"rows": len(rows), "inputs": len(inputs), "label": chosen["label"], "group": group}
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


class _CheckedError(Exception):
    """Leaves the block that would write, with nothing written."""


def _version() -> str:
    import importlib.metadata  # Imported here, as it is slow to load.

    try:
        return importlib.metadata.version("xorder")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
