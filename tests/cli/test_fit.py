"""``xorder fit`` learns what the Python class learns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xorder
from support.command_line import Ran
from support.people_files import COLUMNS, FORMATS, LABELLED, NEW, PEOPLE, ROWS, read, table, write
from xorder._validation import check_tables
from xorder.estimators import expected_gap_tables


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "options", "settings"),
    [
        *((ending, [], {}) for ending in FORMATS),
        ("csv", ["--metric", "prf"], {"metric": "prf"}),
        ("csv", ["--max-gap", "0.05"], {"max_gap": 0.05}),
        ("csv", ["--tradeoff", "0.1"], {"tradeoff": 0.1}),
        ("csv", ["--method", "frontier", "--do-no-harm"], {"method": "frontier", "do_no_harm": True}),
        ("csv", ["--method", "dp"], {"method": "dp"}),
        ("csv", ["--reference", "B", "--no-do-no-harm"], {"reference": "B", "do_no_harm": False}),
        ("csv", ["--small-groups", "merge", "--min-group-size", "5"], {"small_groups": "merge", "min_group_size": 5}),
    ],
)
def test_fit_learns_what_the_python_class_learns(
    succeed: Callable[..., str],
    tmp_path: Path,
    ending: str,
    options: list[str],
    settings: dict[str, object],
) -> None:
    file, out = write(tmp_path / f"people.{ending}", table()), tmp_path / "map.json"
    printed = json.loads(succeed("fit", file, *LABELLED, "-o", out, "--json", *options))
    repair = xorder.XOrder(**settings).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    before = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    gap = before.gap(repair.metric, repair.pair_)
    assert printed.pop("gap_before_interval") == pytest.approx(list(gap.interval), rel=1e-12)
    tables = check_tables(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.group, None)
    expected = expected_gap_tables(repair, tables).to_dict()
    assert printed.pop("expected") == json.loads(json.dumps(expected))
    assert printed.pop("next") is None
    assert printed == repair.to_dict() | {"map": str(out)}
    learnt = xorder.load(out)
    assert learnt.get_params() == repair.get_params()
    for scores, groups in ((PEOPLE.y_score, PEOPLE.group), (NEW.y_score, NEW.group)):
        np.testing.assert_array_equal(
            learnt.transform(scores, sensitive_features=groups),
            repair.transform(scores, sensitive_features=groups),
        )


@pytest.mark.slow
def test_fit_with_weights(succeed: Callable[..., str], people: Path, repair: xorder.XOrder, tmp_path: Path) -> None:
    printed = json.loads(succeed("fit", people, *LABELLED, "--weight", "weight", "-o", tmp_path / "m", "--json"))
    weighted = xorder.XOrder().fit(
        PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=table()["weight"]
    )
    assert printed["auc_before"] == weighted.auc_before_ != repair.auc_before_
    assert printed["auc"] == weighted.auc_


@pytest.mark.slow
def test_fit_says_what_it_did_and_wrote(
    succeed: Callable[..., str], people: Path, repair: xorder.XOrder, tmp_path: Path
) -> None:
    printed = succeed("fit", people, *LABELLED, "-o", tmp_path / "m.json")
    gap = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).gap("xauc", ("A", "B"))
    low, high = gap.interval
    sure = f"95 % interval {low:+.4f} to {high:+.4f}."
    tables = check_tables(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.group, None)
    expected = expected_gap_tables(repair, tables)
    assert expected.caution in " ".join(str(expected).split())
    headline, *_, certificate = repair.describe().splitlines()
    assert str(expected) in printed
    assert " ".join(printed.split()) == " ".join(
        f"{headline} {expected} That holds for scores of rows that the model has not seen: fit to such scores. "
        f"{certificate} The gap before: {sure} Wrote {tmp_path / 'm.json'}".split()
    )
    assert all(len(line) <= 80 for line in printed.splitlines() if str(tmp_path) not in line)
    assert certificate.startswith(f"AUC {repair.auc_:.4f} is within ")
    frontier = succeed("fit", people, *LABELLED, "-o", tmp_path / "f.json", "--method", "frontier")
    assert "(5 folds, each adjusted by what was fitted to the others)" in " ".join(frontier.split())
    assert "On the rows it was fitted to:\n\nxauc gap " in frontier


def test_fit_of_very_few_says_that_nothing_can_be_expected(run: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    file.write_text("s,y,g\n.9,1,A\n.4,0,A\n.8,1,B\n.1,0,B\n.3,1,A\n.2,0,A\n", encoding="utf-8")
    fit = ("fit", file, "--score", "s", "--label", "y", "--group", "g")
    left = run(*fit, "-o", tmp_path / "left.json")
    assert left.out.startswith("All scores are left as they are.")
    assert "What to expect on new people cannot be said: fewer than two groups are repaired" in left.out
    assert "--small-groups repair repairs them all the same" in left.err
    printed = run(*fit, "-o", tmp_path / "m.json", "--small-groups", "repair")
    (gap,) = [line for line in printed.out.splitlines() if line.startswith("xauc gap")]
    assert gap.endswith("not known")
    tried = run(*fit, "-o", tmp_path / "f.json", "--small-groups", "repair", "--method", "frontier")
    assert "What to expect on new people cannot be said: the repair cannot be fitted without fold" in " ".join(
        tried.out.split()
    )
    assert "group 'B' (positives 1, negatives 1) has a single row of a class" in printed.err
    assert json.loads(run(*fit, "-o", tmp_path / "n.json", "--json").out)["expected"] is None


@pytest.mark.slow
def test_fit_says_when_a_gap_cannot_be_told_from_chance(
    run: Callable[..., Ran], succeed: Callable[..., str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    rows = zip(rng.random(200), rng.integers(0, 2, 200), rng.choice(["A", "B"], 200), strict=True)
    file = tmp_path / "noise.csv"
    file.write_text("s,y,g\n" + "".join(f"{s},{y},{g}\n" for s, y, g in rows), encoding="utf-8")
    fit = ("fit", file, "--score", "s", "--label", "y", "--group", "g", "-o", tmp_path / "m.json")
    left = run(*fit)
    assert "harm" not in left.out
    assert "scores of group 'B' are left as they are: the gap to group 'A' may be chance" in left.err
    printed = succeed(*fit, "--force", "--no-do-no-harm")
    assert "It cannot be told from chance; repairing it may do more harm than good." in " ".join(printed.split())


@pytest.mark.slow
def test_people_of_unknown_group_are_refused_left_or_a_group(
    run: Callable[..., Ran], succeed: Callable[..., str], refuse: Callable[..., str], tmp_path: Path
) -> None:
    columns = table()
    columns["group"] = ["" if row % 10 == 0 else group for row, group in enumerate(columns["group"])]
    people, out = write(tmp_path / "people.csv", columns), tmp_path / "map.json"
    error = refuse("fit", people, *LABELLED, "-o", out)
    assert f"column 'group' must name a group for each row; {ROWS // 10} rows have none, the first in line 2." in error
    assert error.endswith("with --missing-group leave or --missing-group group.\n")
    left = run("fit", people, *LABELLED, "-o", out, "--missing-group", "leave", "--json")
    assert json.loads(left.out)["left"] == ["missing"]
    assert left.err == f"xorder: warning: {ROWS // 10} rows without a group are left out.\n"
    group = ("--missing-group", "group", "--force", "--json")
    told = json.loads(succeed("fit", people, *LABELLED, "-o", out, *group))
    assert {told["reference"], *told["moved"]} == {"A", "B", "missing"}
    adjusted = tmp_path / "out.csv"
    succeed("apply", people, *COLUMNS, "--map", out, "-o", adjusted)
    known = [group or None for group in columns["group"]]
    repair = xorder.XOrder(missing_group="group").fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=known)
    expected = repair.transform(PEOPLE.y_score, sensitive_features=known)
    np.testing.assert_array_equal([float(value) for value in read(adjusted)["adjusted"]], expected)


@pytest.mark.slow
def test_three_groups_are_audited_and_repaired(succeed: Callable[..., str], tmp_path: Path) -> None:
    groups = ["ABC"[number % 3] for number in range(ROWS)]
    people = write(tmp_path / "people.csv", table() | {"group": groups})
    found = json.loads(succeed("audit", people, *LABELLED, "--json"))
    assert found == xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups).to_dict()
    fit = ("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--no-do-no-harm")
    told = json.loads(succeed(*fit, "--json"))
    assert sorted([told["reference"], *told["moved"]]) == ["A", "B", "C"]
    assert told["worst_gap"] < 0.02 < abs(told["gap_before"])
    assert "interval" in succeed(*fit, "--force")
    succeed(
        "apply",
        people,
        "--score",
        "score",
        "--group",
        "group",
        "--map",
        tmp_path / "map.json",
        "-o",
        tmp_path / "out.csv",
    )


def test_a_reference_that_is_not_there(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    error = refuse("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--reference", "C")
    assert "'A', 'B'" in error
    assert "'C'" in error


def test_harm_and_no_harm_exclude_each_other(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    error = refuse("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--do-no-harm", "--no-do-no-harm")
    assert "--do-no-harm/--no-do-no-harm is given twice" in error


def test_tradeoff_and_max_gap_exclude_each_other(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    arguments = ["fit", people, *LABELLED, "-o", tmp_path / "map.json", "--tradeoff", "1"]
    for value in ("0.1", "0"):
        error = refuse(*arguments, "--max-gap", value)
        assert "--max-gap: not allowed with argument --tradeoff" in error


@pytest.mark.slow
def test_survey_weights_are_noticed(run: Callable[..., Ran], tmp_path: Path) -> None:
    weights = [2000 + row % 7 for row in range(ROWS)]
    people = write(tmp_path / "people.csv", table() | {"weight": weights})
    told = {}
    for kind in ("counts", "sampling"):
        ran = run(
            *("fit", people, *LABELLED, "--weight", "weight", "--weights-are", kind, "--json"),
            *("-o", tmp_path / f"{kind}.json"),
        )
        told[kind] = json.loads(ran.out)
        noticed = f"column 'weight' adds up to {sum(weights):,} and is read as counts, so {ROWS} rows pass for that"
        assert (noticed in ran.err) == (kind == "counts"), ran.err
        assert "--weights-are sampling" in ran.err or kind == "sampling"
    # Each person is one, not two thousand.
    low, high = told["sampling"]["expected"]["after"]["gaps"][0]["interval"]
    assert high - low > 0.05


def test_a_group_of_one_class_is_left_alone_or_refused(
    run: Callable[..., Ran], refuse: Callable[..., str], tmp_path: Path
) -> None:
    columns = table()
    columns["outcome"] = [
        0 if group == "B" else y for group, y in zip(columns["group"], columns["outcome"], strict=True)
    ]
    people = write(tmp_path / "people.csv", columns)
    fit = ("fit", people, *LABELLED, "-o", tmp_path / "map.json")
    assert "group 'B' has no positives" in refuse(*fit, "--small-groups", "repair")
    assert "--small-groups leave" in refuse(*fit, "--small-groups", "error")
    ran = run(*fit, "--json")
    assert json.loads(ran.out)["left"] == ["B"]
    assert re.search(r"warning: scores of group 'B' \(0 positives, \d+ negatives\) are left as they are", ran.err)
