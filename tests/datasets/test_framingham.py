"""Framingham: rows kept and inputs made, by hand and against pandas."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from support.raw_tables import draw_rows, public_text
from xorder.datasets._open_set import OPEN_SETS, Parts
from xorder.datasets._raw_file import parse_table


def prepare(text: str) -> Parts:
    one = OPEN_SETS["framingham"]
    return one.prepare(parse_table(text, one.file.layout))


def test_by_hand() -> None:
    inputs, y, groups = prepare("""\
"sex","sbp","dbp","scl","chdfate","followup","age","bmi","month","id"
1,120,80,267,1,18,55,25,8,2642
2,130,78,192,0,35,53,28.4,12,4627
2,131,78,,0,35,53,28.4,12,1
1,132,78,192,1,35,53,,12,2
2,142,70,255,1,11688,44,23.299999237060547,4,1786
""")
    assert {name: values.tolist() for name, values in inputs.items()} == {
        "sex": [1, 2, 2],
        "sbp": [120, 130, 142],
        "dbp": [80, 78, 70],
        "scl": [267, 192, 255],
        "followup": [18, 35, 11688],
        "age": [55, 53, 44],
        "bmi": [25, 28.399999618530273, 23.299999237060547],
        "month": [8, 12, 4],
    }
    assert y.tolist() == [1, 0, 1]
    assert groups.tolist() == ["male", "female", "female"]


def test_against_pandas() -> None:
    text = public_text("framingham", draw_rows("framingham", 200, seed=3))
    frame = pd.read_csv(io.StringIO(text)).dropna()
    inputs, y, groups = prepare(text)
    assert 50 < len(y) < 150
    assert list(inputs) == [column for column in frame if column not in ("chdfate", "id")]
    # Older pandas is off by the last bit of a number.
    np.testing.assert_allclose(inputs, frame[list(inputs)], rtol=1e-15)
    np.testing.assert_array_equal(y, frame["chdfate"])
    np.testing.assert_array_equal(groups == "male", frame["sex"] == 1)
