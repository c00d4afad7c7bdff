"""Messages of the library, in the words of the command line."""

from __future__ import annotations

from argparse import Namespace

import pytest

from xorder.cli_ending import in_the_users_words

FILE = Namespace(
    file="people.csv", score="risk", label="died", group="sex", weight=None, positive=None, missing_group="error",
    weights_are="counts", max_gap=None, tradeoff=None, confidence=0.95, into="adjusted", encoding="utf-8",
)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("y_score must be finite", "people.csv: column 'risk' must be finite"),
        ("sensitive_features has rows", "people.csv: column 'sex' has rows"),
        # No weight was named, so that there is no column to speak of.
        ("sample_weight is not whole", "sample_weight is not whole"),
        ("pass weights_are='sampling' for", "pass --weights-are sampling for"),
        ("name it with positive=.", "name it with --positive."),
        ("choose another name with into=, or", "choose another name with --into, or"),
        (
            "with missing_group='leave' or missing_group='group'.",
            "with --missing-group leave or --missing-group group.",
        ),
        ("max_gap must lie between 0 and 1", "--max-gap must lie between 0 and 1"),
        ("confidence must lie between 0 and 1", "--confidence must lie between 0 and 1"),
        ("give tradeoff or max_gap, not both.", "give --tradeoff or --max-gap, not both."),
        ("score and label both name the column 'y'", "--score and --label both name the column 'y'"),
        ("replace it with overwrite=True.", "replace it with --force."),
        # What belongs to the user is left alone.
        ("group 'max_gap' was not seen", "group 'max_gap' was not seen"),
        ("cannot read /tmp/max_gap or so", "cannot read /tmp/max_gap or so"),
        ("/tmp/a/max_gap/b.csv is empty", "/tmp/a/max_gap/b.csv is empty"),
        ("the group of a row is missing", "the group of a row is missing"),
        ("group 'A' has no positives", "group 'A' has no positives"),
    ],
)
def test_arguments_become_options_and_columns(message: str, words: str) -> None:
    assert in_the_users_words(message, FILE) == words


def test_an_argument_that_is_no_option_stays() -> None:
    assert in_the_users_words("allow more with bins=.", FILE) == "allow more with bins=."
