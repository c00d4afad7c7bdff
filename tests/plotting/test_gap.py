"""The forest plot shows the gaps of the audit, the widest on top, each with its own interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.scored_people import people
from xorder import audit
from xorder.exceptions import InputError
from xorder.plotting import GapDisplay

FOUR = people(1200, {"a": 0.0, "b": 0.3, "c": 0.9, "d": 0.1})
FOUND = audit(**FOUR, tolerance=0.05)


def drawn(display: Any, stage: str) -> dict[float, tuple[float, float, float]]:
    """Value and ends of the interval, by the row."""
    found = {}
    for (of, _), bars in display.bars_.items():
        if of == stage:
            line, _, (lengths,) = bars
            ends = [segment[:, 0] for segment in lengths.get_segments()]
            for x, y, (low, high) in zip(line.get_xdata(), line.get_ydata(), ends, strict=True):
                found[float(y)] = (x, low, high)
    return found


def test_all_pairs_are_shown_widest_first_and_the_higher_group_first() -> None:
    display = GapDisplay.from_audit(FOUND).plot()
    gaps = display.gaps["before"]
    assert len(gaps) == display.pairs == 6
    values = [gap.value for gap in gaps]
    assert values == sorted(values, reverse=True)
    assert min(values) >= 0
    rows = drawn(display, "before")
    for gap, y in zip(gaps, sorted(rows), strict=True):
        assert gap == FOUND.gap("xauc", gap.pair)
        np.testing.assert_allclose(rows[y], (gap.value, *gap.interval), atol=1e-12)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"{gap.pair[0]} − {gap.pair[1]}" for gap in gaps]
    # Values rise to the right, as on every axis of gaps.
    assert np.diff(display.ax_.get_xlim())[0] > 0
    assert {-0.05, 0.0, 0.05} <= {line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 2}


def test_filled_marks_are_those_that_chance_does_not_explain() -> None:
    display = GapDisplay.from_audit(FOUND).plot()
    sure = [gap for gap in display.gaps["before"] if display.readings["before"][gap.pair] == "not chance"]
    assert 0 < len(sure) < 6
    bars = display.bars_["before", "chance does not explain it"]
    assert bars[0].get_xdata().tolist() == [gap.value for gap in sure]


def test_before_and_after_share_the_rows() -> None:
    after = FOUR["y_score"] + 0.1 * (FOUR["sensitive_features"] == "c")
    display = GapDisplay.from_predictions(**FOUR, y_adjusted=after, most=3, metric="prf", name="risk").plot()
    adjusted = audit(**FOUR | {"y_score": after})
    pairs = [gap.pair for gap in display.gaps["before"]]
    assert [gap.pair for gap in display.gaps["after"]] == pairs
    assert display.gaps["after"] == [adjusted.gap("prf", pair) for pair in pairs]
    assert "risk, 3 widest of 6 pairs" in display.ax_.get_title(loc="left")
    assert len(drawn(display, "before")) == len(drawn(display, "after")) == 3


def test_a_reference_is_the_second_of_each_pair() -> None:
    display = GapDisplay.from_audit(FOUND, reference="b")
    assert {gap.pair for gap in display.gaps["before"]} == {("a", "b"), ("c", "b"), ("d", "b")}
    with pytest.raises(InputError, match="reference must be one of 'a', 'b'"):
        GapDisplay.from_audit(FOUND, reference="z")
    with pytest.raises(InputError, match="metric must be"):
        GapDisplay.from_audit(FOUND, metric="other")
    with pytest.raises(InputError, match="two groups or more; got 1"):
        GapDisplay.from_predictions(**FOUR | {"sensitive_features": np.full(1200, "a")})


def test_what_is_not_known_is_drawn_last_without_a_bar() -> None:
    y = np.where(FOUR["sensitive_features"] == "d", 0, FOUR["y_true"])
    display = GapDisplay.from_predictions(**FOUR | {"y_true": y}).plot()
    assert [np.isnan(gap.value) for gap in display.gaps["before"]] == [False] * 3 + [True] * 3
    display.figure_.canvas.draw()


def test_long_names_are_wrapped_and_never_cut() -> None:
    name = "Native Hawaiian and Other Pacific Islander, not specified and no other races"
    group = np.where(FOUR["sensitive_features"] == "a", name, FOUR["sensitive_features"])
    display = GapDisplay.from_predictions(**FOUR | {"sensitive_features": group}).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert any("\n" in label for label in labels)
    assert sum(name in " ".join(label.split()) for label in labels) == 3
