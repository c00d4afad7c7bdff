"""German credit: inputs made, by hand and against pandas."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from support.raw_tables import draw_rows, header_of, write_csv
from xorder.datasets._open_set import OPEN_SETS, Parts
from xorder.datasets._raw_file import parse_table


def prepare(text: str) -> Parts:
    one = OPEN_SETS["german"]
    return one.prepare(parse_table(text, one.file.layout))


def test_by_hand() -> None:
    inputs, y, groups = prepare("""\
A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1
A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 24 A143 A152 1 A173 2 A191 A201 2
A14 12 A34 A410 2096 A61 A74 3 A91 A102 3 A121 25 A143 A152 1 A172 2 A191 A202 1
""")
    plain = {name: values.tolist() for name, values in inputs.items() if "_A" not in name}
    assert plain == {
        "month": [6, 48, 12],
        "credit_amount": [1169, 5951, 2096],
        "investment_as_income_percentage": [4, 2, 3],
        "sex": [1, 0, 1],
        "residence_since": [4, 2, 3],
        "number_of_credits": [2, 1, 1],
        "people_liable_for": [1, 2, 2],
    }
    assert list(inputs)[: len(plain)] == list(plain)
    assert {name: values.tolist() for name, values in inputs.items() if name not in plain} == {
        "status_A11": [1, 0, 0],
        "status_A12": [0, 1, 0],
        "status_A14": [0, 0, 1],
        "credit_history_A32": [0, 1, 0],
        "credit_history_A34": [1, 0, 1],
        "purpose_A410": [0, 0, 1],
        "purpose_A43": [1, 1, 0],
        "savings_A61": [0, 1, 1],
        "savings_A65": [1, 0, 0],
        "employment_A73": [0, 1, 0],
        "employment_A74": [0, 0, 1],
        "employment_A75": [1, 0, 0],
        "other_debtors_A101": [1, 1, 0],
        "other_debtors_A102": [0, 0, 1],
        "property_A121": [1, 1, 1],
        "installment_plans_A143": [1, 1, 1],
        "housing_A152": [1, 1, 1],
        "skill_level_A172": [0, 0, 1],
        "skill_level_A173": [1, 1, 0],
        "telephone_A191": [0, 1, 1],
        "telephone_A192": [1, 0, 0],
        "foreign_worker_A201": [1, 1, 0],
        "foreign_worker_A202": [0, 0, 1],
    }
    assert y.tolist() == [0, 1, 0]
    assert groups.tolist() == ["25 or older", "under 25", "25 or older"]


@pytest.mark.parametrize(("code", "male"), [("A91", 1), ("A92", 0), ("A93", 1), ("A94", 1), ("A95", 0)])
def test_sex_by_the_documentation_of_the_file(code: str, male: int) -> None:
    row = draw_rows("german", 1)[0]
    row[header_of("german").index("personal_status")] = code
    assert prepare(write_csv([row])).inputs["sex"].tolist() == [male]


def test_against_pandas() -> None:
    text = write_csv(draw_rows("german", 300, seed=3), header_of("german"))
    frame = pd.read_csv(io.StringIO(text))
    sex = frame["personal_status"].replace({"A91": 1, "A92": 0, "A93": 1, "A94": 1}).astype(float)
    expected = frame.rename(columns={"personal_status": "sex"}).assign(sex=sex).drop(columns=["age", "credit"])
    expected = pd.get_dummies(expected).astype(float)
    inputs, y, groups = prepare(text)
    assert list(inputs) == list(expected)
    np.testing.assert_array_equal(inputs, expected)
    np.testing.assert_array_equal(y, frame["credit"] == 2)
    np.testing.assert_array_equal(groups == "under 25", frame["age"] < 25)
