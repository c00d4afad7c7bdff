"""COMPAS: rows kept and inputs made, by hand and against pandas."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from support.raw_tables import COMPAS_HEADER, draw_rows, write_csv
from xorder.datasets._open_set import OPEN_SETS, Parts
from xorder.datasets._raw_file import parse_table

USED = (
    "sex,age,age_cat,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,c_charge_degree,c_charge_desc,"
    "decile_score,score_text,two_year_recid,days_b_screening_arrest,is_recid"
)


def prepare(text: str) -> Parts:
    one = OPEN_SETS["compas"]
    return one.prepare(parse_table(text, one.file.layout))


def test_by_hand() -> None:
    rows = """
Male,69,Greater than 45,Other,0,0,0,0,F,Battery,1,Low,0,-1,0
Female,24,Less than 25,Caucasian,1,2,3,4,M,arson,9,High,1,30,1
Male,30,25 - 45,African-American,0,0,1,14,F,"Theft, Grand",8,High,1,-30,1
Male,44,25 - 45,Caucasian,0,0,0,0,F,,1,Low,0,0,0
Male,45,25 - 45,Caucasian,0,0,0,0,M,Battery,1,Low,0,,0
Male,46,25 - 45,Caucasian,0,0,0,0,M,Battery,1,Low,0,31,0
Male,47,25 - 45,Caucasian,0,0,0,0,M,Battery,1,Low,0,-31,0
Male,48,25 - 45,Caucasian,0,0,0,0,M,Battery,1,Low,0,0,-1
Male,49,25 - 45,Caucasian,0,0,0,0,M,Battery,1,,0,0,0
Female,50,Greater than 45,Hispanic,0,0,0,2,M,Battery,5,Medium,0,0,1
"""
    inputs, y, groups = prepare(USED + rows)
    # those aged 44 to 49 are out by charge, days, days over 30 either way, is_recid and score_text in turn
    assert {name: values.tolist() for name, values in inputs.items()} == {
        "sex": [1, 0, 1, 0],
        "age": [69, 24, 30, 50],
        "juv_fel_count": [0, 1, 0, 0],
        "juv_misd_count": [0, 2, 0, 0],
        "juv_other_count": [0, 3, 1, 0],
        "priors_count": [0, 4, 14, 2],
        "age_cat_25 - 45": [0, 0, 1, 0],
        "age_cat_Greater than 45": [1, 0, 0, 1],
        "age_cat_Less than 25": [0, 1, 0, 0],
        "c_charge_degree_F": [1, 0, 1, 0],
        "c_charge_degree_M": [0, 1, 0, 1],
        "c_charge_desc_Battery": [1, 0, 0, 1],
        "c_charge_desc_Theft, Grand": [0, 0, 1, 0],
        "c_charge_desc_arson": [0, 1, 0, 0],
    }
    assert list(inputs)[-3:] == ["c_charge_desc_Battery", "c_charge_desc_Theft, Grand", "c_charge_desc_arson"]
    assert y.tolist() == [0, 1, 1, 0]
    assert groups.tolist() == ["not Caucasian", "Caucasian", "not Caucasian", "not Caucasian"]


def test_against_pandas() -> None:
    text = write_csv(draw_rows("compas", 400, seed=3), COMPAS_HEADER)
    frame = pd.read_csv(io.StringIO(text))[USED.split(",")].dropna()
    frame = frame[frame["days_b_screening_arrest"].between(-30, 30) & (frame["is_recid"] != -1)]
    dropped = ["days_b_screening_arrest", "is_recid", "decile_score", "score_text", "two_year_recid", "race"]
    expected = pd.get_dummies(frame.drop(columns=dropped).assign(sex=(frame["sex"] == "Male") * 1)).astype(float)
    inputs, y, groups = prepare(text)
    assert 30 < len(y) < 300
    assert list(inputs) == list(expected)
    np.testing.assert_array_equal(inputs, expected)
    np.testing.assert_array_equal(y, frame["two_year_recid"])
    np.testing.assert_array_equal(groups == "Caucasian", frame["race"] == "Caucasian")
