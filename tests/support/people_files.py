"""Scored people in files of every format, and the command lines that read them."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import xorder

# So many that a repair is fitted at once; of fewer, the best of all interleavings is searched for.
ROWS = 900
PEOPLE = xorder.datasets.simulate_population(ROWS, random_state=3)
NEW = xorder.datasets.simulate_population(200, random_state=4)
FORMATS = ["csv", "csv.gz", "parquet"]
COLUMNS = ["--score", "score", "--group", "group"]
LABELLED = [*COLUMNS, "--label", "outcome"]


def table(people: xorder.datasets.Population = PEOPLE) -> dict[str, list[object]]:
    return {
        "id": list(range(1, people.y_true.size + 1)),
        "group": people.group.tolist(),
        "outcome": people.y_true.tolist(),
        "score": people.y_score.tolist(),
        "weight": [1 + number % 3 for number in range(people.y_true.size)],
    }


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write columns in the format that the ending says."""
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table(columns), path)
        return path
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    data = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def read(path: Path) -> dict[str, list[object]]:
    """Read columns back; cells of csv files are text."""
    if path.name.endswith(".parquet"):
        return pq.read_table(path).to_pydict()
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.name.endswith(".gz") else data).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def commands(file: Path, saved: Path, folder: Path) -> dict[str, list[object]]:
    """Each command that reads a table, with all it needs."""
    ending = "parquet" if file.name.endswith(".parquet") else "csv"
    return {
        "audit": ["audit", file, *LABELLED],
        "fit": ["fit", file, *LABELLED, "-o", folder / "new.json"],
        "apply": ["apply", file, *COLUMNS, "--map", saved, "-o", folder / f"new.{ending}"],
    }
