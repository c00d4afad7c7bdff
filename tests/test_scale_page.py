"""What the page on nightly runs shows is what happens, and merged tables are those of all rows."""

from __future__ import annotations

import contextlib
import functools
import io
import operator
import re
from pathlib import Path

import numpy as np

import xorder
from xorder.metrics import audit_tables

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_the_example_prints_what_follows_it() -> None:
    found = re.search(r"<!-- tested: merge -->\n```python\n(.*?)^```\n```text\n(.*?)^```$", PAGE, re.M | re.S)
    assert found
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], "scale.md", "exec"), {"__name__": "scale"})
    assert printed.getvalue() == found[2]


def test_merged_daily_tables_give_the_audit_of_all_rows() -> None:
    days = [xorder.datasets.simulate_population(3_000, random_state=day) for day in range(5)]
    score, label, group = (
        np.concatenate([getattr(day, name) for day in days]) for name in ("y_score", "y_true", "group")
    )
    score = np.round(score, 3)
    parts = np.split(np.arange(score.size), 5)
    merged = {
        name: functools.reduce(
            operator.add,
            [
                xorder.ScoreTable.from_arrays(label[part][group[part] == name], score[part][group[part] == name])
                for part in parts
            ],
        )
        for name in ("A", "B")
    }
    assert audit_tables(merged).to_dict() == xorder.audit(label, score, sensitive_features=group).to_dict()
