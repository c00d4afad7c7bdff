"""The table of NYC Local Law 144 is that of arrays in every engine, exact however many scores there are."""

from __future__ import annotations

import gzip
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import backends
from support.backends import Backend
from xorder.engines import ll144_frame, tables_of
from xorder.exceptions import InputError
from xorder.metrics import ll144
from xorder.metrics._ll144 import ll144_of

# A row without a category, as it may be written.
NOTHING = [None, "unknown", "Unknown", " UNKNOWN ", "", "  "]


def applicants(size: int = 400) -> tuple[list[float], dict[str, list[Any]]]:
    """Rows of known and unknown categories, some called as the table or a file might call something else."""
    rng = np.random.default_rng(5)
    sex = rng.choice(np.array(["female", "missing", "all", *NOTHING], dtype=object), size).tolist()
    race = rng.choice(np.array(["nan", "None", '["x", "y"]', "a & b", *NOTHING], dtype=object), size).tolist()
    return np.round(rng.random(size), 2).tolist(), {"sex": sex, "race": race}


def test_every_engine_gives_the_table_of_arrays(backend: Backend) -> None:
    score, columns = applicants()
    wanted = ll144(score, sensitive_features=columns)
    found = ll144_frame(backend({"s": score} | columns), score="s", group=["sex", "race"])
    assert found == wanted
    assert [row["category"] for row in found.rows[:5]] == ["all", "all", "female", "missing", "unknown"]
    assert [row["category"] for row in found.rows[5:10]] == ["None", '["x", "y"]', "a & b", "nan", "unknown"]
    one = ll144_frame(backend({"s": score} | columns), score="s", group="sex")
    assert one.rows == found.rows[:5]


def test_categories_that_are_numbers_are_as_they_are_written(backend: Backend) -> None:
    columns = {"s": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "a": [1, 2, None, 1, 2, 1], "b": [0, 1, 1, 0, 1, 0]}
    found = ll144_frame(backend(columns), score="s", group=["a", "b"])
    assert [(row["category"], row["people"]) for row in found.rows] == [
        *[("all", 6), ("1", 3), ("2", 2), ("unknown", 1), ("0", 3), ("1", 3)],
        *[("a=1 & b=0", 3), ("a=2 & b=1", 2), ("unknown", 1)],
    ]


@pytest.mark.parametrize("size", [3000, 3001])
def test_the_median_is_exact_where_scores_are_binned(backend: Backend, size: int) -> None:
    rng = np.random.default_rng(1)
    # Half of the scores lie closer together than any bin is wide.
    score = np.where(rng.random(size) < 0.5, 0.4 + 1e-13 * rng.random(size), rng.random(size)).tolist()
    columns = {"sex": rng.choice(["f", "m"], size).tolist()}
    found = ll144_frame(backend({"s": score} | columns), score="s", group="sex", bins=16)
    assert found == ll144(score, sensitive_features=columns)
    median = statistics.median(score)
    assert found.rows[0]["median"] == median
    assert found.rows[0]["above_median"] == sum(each > median for each in score)


@pytest.mark.parametrize("large", [1, 1 << 40], ids=["in DuckDB", "by rows"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_files_of_every_size(tmp_path: Path, ending: str, large: int) -> None:
    score, columns = applicants()
    path = backends.make(ending.partition(".")[0], {"s": score} | columns, tmp_path)
    if ending == "csv.gz":
        path = Path(f"{path}.gz")
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    tables = tables_of(path, score="s", label=None, group=list(columns), as_text=True, large=large, apart=True, bins=7)
    assert ll144_of(tables, list(columns)) == ll144(score, sensitive_features=columns)


def test_categories_that_come_late_in_a_file_are_counted(tmp_path: Path) -> None:
    # Of a large file the first rows are looked at for a start.
    size = 100_100
    columns = {"s": np.arange(size) % 10, "sex": ["f"] * (size - 100) + ["m", None] * 50}
    path = backends.make("parquet", columns, tmp_path)
    tables = tables_of(path, score="s", label=None, group="sex", as_text=True, large=1, apart=True)
    assert ll144_of(tables, ["sex"]) == ll144(columns["s"], sensitive_features={"sex": columns["sex"]})


def test_a_score_that_is_missing_is_refused(backend: Backend) -> None:
    frame = backend({"s": [1.0, float("nan"), 3.0], "sex": ["f", "m", None]})
    with pytest.raises(InputError, match="'s' must be finite"):
        ll144_frame(frame, score="s", group="sex")


def test_without_values_apart_a_label_is_needed() -> None:
    with pytest.raises(InputError, match="label must be the name of a column; got None"):
        tables_of(backends.arrow({"s": [1.0], "sex": ["f"]}), score="s", label=None, group="sex")
