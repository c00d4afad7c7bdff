"""Adult: rows kept and inputs made, by hand and against pandas."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from support.raw_tables import draw_rows, header_of, write_csv
from xorder.datasets._open_set import OPEN_SETS, Parts
from xorder.datasets._raw_file import parse_table


def prepare(text: str) -> Parts:
    one = OPEN_SETS["adult"]
    return one.prepare(parse_table(text, one.file.layout))


def test_by_hand() -> None:
    inputs, y, groups = prepare("""\
39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Own-child, White, Male, 2174, 0, 40, Cuba, <=50K
50, Private, ?, HS-grad, 9, Divorced, Sales, Wife, Black, Female, 0, 1902, 13, United-States, >50K
51, ?, 1, HS-grad, 9, Divorced, Sales, Wife, Black, Female, 0, 0, 13, United-States, >50K
52, Private, 1, HS-grad, 9, Divorced, ?, Wife, Black, Female, 0, 0, 13, United-States, >50K
53, Private, 1, HS-grad, 9, Divorced, Sales, Wife, Black, Female, 0, 0, 13, ?, >50K
28, Private, 1, 11th, 7, Divorced, Armed-Forces, Wife, White, Female, 0, 0, 99, Cuba, >50K
61, Private, 1, 11th, 7, Divorced, Sales, Husband, Other, Male, 99999, 0, 1, Cuba, <=50K

""")
    # an unknown survey weight does not matter; an unknown work class, occupation or country rules out 51, 52 and 53
    assert {name: values.tolist() for name, values in inputs.items()} == {
        "age": [39, 50, 28, 61],
        "education-num": [13, 9, 7, 7],
        "sex": [1, 0, 0, 1],
        "capital-gain": [2174, 0, 0, 99_999],
        "capital-loss": [0, 1902, 0, 0],
        "hours-per-week": [40, 13, 99, 1],
        "race-sex": [1, 0, 0, 0],
        "workclass_Private": [0, 1, 1, 1],
        "workclass_State-gov": [1, 0, 0, 0],
        "education_11th": [0, 0, 1, 1],
        "education_Bachelors": [1, 0, 0, 0],
        "education_HS-grad": [0, 1, 0, 0],
        "marital-status_Divorced": [0, 1, 1, 1],
        "marital-status_Never-married": [1, 0, 0, 0],
        "occupation_Armed-Forces": [0, 0, 1, 0],
        "occupation_Sales": [1, 1, 0, 1],
        "relationship_Husband": [0, 0, 0, 1],
        "relationship_Own-child": [1, 0, 0, 0],
        "relationship_Wife": [0, 1, 1, 0],
        "native-country_Cuba": [1, 0, 1, 1],
        "native-country_United-States": [0, 1, 0, 0],
    }
    assert y.tolist() == [0, 1, 1, 0]
    assert groups.tolist() == ["White", "not White", "White", "not White"]


def test_against_pandas() -> None:
    text = write_csv(draw_rows("adult", 400, seed=3), header_of("adult"))
    frame = pd.read_csv(io.StringIO(text), na_values="?").drop(columns="fnlwgt").dropna()
    white, male = frame["race"] == "White", frame["sex"] == "Male"
    expected = frame.drop(columns=["race", "income-per-year"]).assign(sex=male * 1, **{"race-sex": (white & male) * 1})
    expected = pd.get_dummies(expected).astype(float)
    inputs, y, groups = prepare(text)
    assert 50 < len(y) < 300
    assert list(inputs) == list(expected)
    np.testing.assert_array_equal(inputs, expected)
    np.testing.assert_array_equal(y, frame["income-per-year"] == ">50K")
    np.testing.assert_array_equal(groups == "White", white)
