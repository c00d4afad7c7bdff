"""Result files: whole lines, whatever happens to the process that writes them."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from experiments.store import Store, pack, read
from xorder.exceptions import InputError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="result files are locked as POSIX does")


def row(split: int, **more: Any) -> dict[str, Any]:
    place = {"data": "toy", "splits": "stored", "model": "linear", "method": "nap", "metric": "xauc", "parameter": 0.5}
    return {**place, "split": split, "auc_test": 0.7, **more}


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "rows.jsonl") as store:
        for split in range(3):
            store.append(row(split))
        assert store.rows() == [row(0), row(1), row(2)]


def test_the_last_of_several_rows_about_one_cell_counts(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.jsonl") as store:
        store.append(row(0, error="ValueError: no"))
        store.append(row(1))
        store.append(row(0))
    assert read(tmp_path / "rows.jsonl") == [row(0), row(1)]


@pytest.mark.parametrize("kept", [1, 17, -1])
def test_a_torn_last_line_is_left_out_and_cut_off_by_the_next_run(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "rows.jsonl"
    with Store(path) as store:
        store.append(row(0))
    whole, torn = path.read_bytes(), json.dumps(row(1)).encode() + b"\n"
    path.write_bytes(whole + torn[:kept])
    assert read(path) == [row(0)]
    with Store(path) as store:
        assert path.read_bytes() == whole
        store.append(row(1))
    assert read(path) == [row(0), row(1)]


def test_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row(0)) + "\n{}\n" + json.dumps(row(1)) + "\n")
    with pytest.raises(InputError, match="line 2 of"):
        read(path)


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.jsonl"), pytest.raises(InputError, match="another run"):
        Store(tmp_path / "rows.jsonl")


def test_packed_rows_are_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    rows = [row(split) for split in range(5)]
    pack(rows, tmp_path / "one.jsonl.gz")
    pack(rows[::-1], tmp_path / "two.jsonl.gz")
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()
    assert read(tmp_path / "one.jsonl.gz") == rows
    assert gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()).count(b"\n") == 5


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "rows.jsonl")
