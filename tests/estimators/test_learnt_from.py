"""What a repair says of the rows it was fitted to, what becomes of one score, and a file that a person can read."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xorder
from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, MapFileError, XorderWarning

PEOPLE = simulate_population(3000)
FRAME = pd.DataFrame({"risk": PEOPLE.y_score, "died": PEOPLE.y_true, "sex": PEOPLE.group})
NAMES = {"score": "risk", "group": "sex"}


@pytest.fixture(scope="module")
def repair() -> XOrder:
    return XOrder().fit_frame(FRAME, label="died", **NAMES)


class TestFile:
    def test_it_is_short_and_the_same_when_saved_twice(self, repair: XOrder, tmp_path: Path) -> None:
        for name in ("one.json", "two.json"):
            repair.save(tmp_path / name)
        written = (tmp_path / "one.json").read_bytes()
        assert written == (tmp_path / "two.json").read_bytes()
        assert len(written) < 4000
        xorder.load(tmp_path / "one.json").save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == written

    def test_it_says_what_it_was_fitted_to(self, repair: XOrder, tmp_path: Path) -> None:
        repair.save(tmp_path / "map.json")
        learnt = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))["summary"]["learnt_from"]
        assert (learnt["rows"], learnt["score"], learnt["group"]) == (3000, "risk", ["sex"])
        assert learnt["version"] == xorder.__version__
        assert learnt["fitted"].endswith("Z")
        assert xorder.load(tmp_path / "map.json").learnt_from_ == repair.learnt_from_

    def test_no_knot_is_the_score_of_a_row(self, repair: XOrder) -> None:
        found = repair.maps_["B"]
        assert found.raw.size <= 14
        assert not np.isin(found.raw, PEOPLE.y_score).any()

    def test_what_is_no_record_is_refused(self, repair: XOrder, tmp_path: Path) -> None:
        repair.save(tmp_path / "map.json")
        content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
        del content["summary"]["learnt_from"]
        (tmp_path / "map.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(MapFileError):
            xorder.load(tmp_path / "map.json")


def test_scores_that_are_close_stay_close(repair: XOrder) -> None:
    score = np.linspace(0, 1, 10_001)
    adjusted = repair.transform(score, sensitive_features=np.full(score.size, "B"))
    assert np.diff(adjusted).max() <= 0.01
    assert (adjusted[0], adjusted[-1]) == (0, 1)


@pytest.mark.parametrize("scale", [lambda s: 10 * s - 4, lambda s: np.round(10 * s), lambda s: np.log(s / (1 - s))])
def test_adjusted_scores_stay_in_the_range_that_was_learnt(scale) -> None:  # type: ignore[no-untyped-def]
    score = scale(PEOPLE.y_score)
    found = XOrder().fit(score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    adjusted = found.transform(score, sensitive_features=PEOPLE.group)
    assert adjusted.min() >= score.min()
    assert adjusted.max() <= score.max()
    assert abs(found.gap_) < 0.1 * abs(found.gap_before_)


class TestOtherColumns:
    def test_other_names_are_noticed(self, repair: XOrder) -> None:
        other = FRAME.rename(columns={"risk": "score", "sex": "gender"})
        with pytest.warns(XorderWarning) as heard:
            repair.transform_frame(other, score="score", group="gender")
        said = [str(one.message) for one in heard]
        assert any("fitted to scores of the column 'risk', and is applied to 'score'" in text for text in said)
        assert any("fitted to groups of the column 'sex', and is applied to 'gender'" in text for text in said)

    def test_the_same_names_and_rows_without_names_are_not(self, repair: XOrder) -> None:
        nameless = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
        assert nameless.learnt_from_.score is None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            repair.transform_frame(FRAME, **NAMES)
            nameless.transform_frame(FRAME, **NAMES)


class TestExplain:
    def test_raw_adjusted_places_and_the_reason_in_two_sentences(self, repair: XOrder) -> None:
        text = repair.explain(0.3, "B")
        adjusted = repair.transform([0.3], sensitive_features=["B"])[0]
        before, after = (
            100 * np.mean(scores > value)
            for scores, value in (
                (PEOPLE.y_score, 0.3),
                (repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group), adjusted),
            )
        )
        assert text.startswith(f"The score 0.3 of group B becomes {adjusted:.4g}, and moves from the upper ")
        first, second = (float(part.split(" %")[0]) for part in text.split("the upper ")[1:])
        assert first == pytest.approx(before, abs=1.5)
        assert second == pytest.approx(after, abs=1.5)
        assert f"from {repair.gap_before_:+.4f} to {repair.gap_:+.4f}" in text
        assert text.count(". ") == 1

    def test_a_group_that_stays(self, repair: XOrder) -> None:
        assert repair.explain(0.3, "A").endswith("Group A is the reference, whose scores stay as they are.")

    def test_an_unknown_group_is_refused(self, repair: XOrder) -> None:
        with pytest.raises(InputError, match="'C'"):
            repair.explain(0.3, "C")

    def test_of_a_file_it_says_the_same(self, repair: XOrder, tmp_path: Path) -> None:
        repair.save(tmp_path / "map.json")
        assert xorder.load(tmp_path / "map.json").explain(0.7, "B") == repair.explain(0.7, "B")
