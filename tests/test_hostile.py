"""What hostile calls of Python once got: a wrong number without a word, or an error that was not xorder's."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import xorder
from support.needs import package
from xorder import FairRanker, ScoreMap, ScoreTable, Threshold, XOrder, audit, audit_frame, frontier, order
from xorder.exceptions import InputError
from xorder.metrics import audit_tables

pd = package("pandas")

HUGE = 10**400
Y, S, G = [0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], list("AABB")
ONE, OTHER = ScoreTable([0.9, 0.5], [1, 1], [1, 1]), ScoreTable([0.8, 0.4], [1, 1], [1, 1])
pytestmark = pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")


def masked(values: list[float]) -> Any:
    return np.ma.masked_array(values, mask=[False, True] + [False] * (len(values) - 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ScoreTable.from_arrays([1, 0, 1], masked([0.9, 0.5, 0.1])),
        lambda: ScoreTable.from_arrays(masked([1, 0, 1]), [0.9, 0.5, 0.1]),
        lambda: ScoreTable.from_arrays([1, 0, 1], [0.9, 0.5, 0.1], masked([1.0, 1.0, 1.0])),
        lambda: ScoreTable(masked([0.9, 0.5]), [1, 1], [1, 1]),
        lambda: audit(Y, S, sensitive_features=G, clusters=masked([1, 2, 3, 4])),
        lambda: ScoreMap(masked([0.0, 1.0]), [0.0, 1.0]),
        lambda: ScoreMap([0.0, 1.0], [0.0, 1.0]).apply(masked([0.1, 0.2])),
    ],
)
def test_masked_values_are_refused_wherever_arrays_come_in(call: Any) -> None:
    with pytest.raises(InputError, match="some are masked"):
        call()


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
@pytest.mark.parametrize("weight", [[0, 0], [0, 1], None])
def test_a_table_takes_no_score_that_is_not_there_whatever_its_weight(nothing: Any, weight: Any) -> None:
    with pytest.raises(InputError, match="the scores of a ScoreTable must be finite"):
        ScoreTable.from_arrays([1, 0], [nothing, 0.5], weight)


@pytest.mark.parametrize("column", ["s", "y", "g", "w"])
def test_complex_columns_of_frames_are_refused(column: str) -> None:
    frame = pd.DataFrame({"s": S, "y": Y, "g": [0, 0, 1, 1], "w": [1.0, 1.0, 1.0, 1.0]})
    frame[column] = frame[column].to_numpy() + 0j
    with pytest.raises(InputError, match=f"column '{column}' must hold real values; got complex ones"):
        audit_frame(frame, score="s", label="y", group="g", weight="w")


def test_complex_arrays_are_refused_by_tables() -> None:
    for columns in ([[2j, 1], [1, 1], [1, 1]], [[2, 1], [1j, 1], [1, 1]]):
        with pytest.raises(InputError, match="must hold real values"):
            ScoreTable(*columns)
    with pytest.raises(InputError, match="sample_weight must hold real values"):
        ScoreTable.from_arrays([1, 0], [1, 2], [1j, 2])


@pytest.mark.parametrize("kind", ["counts", "sampling"])
@pytest.mark.parametrize("far", [5e-324, 1e-300, 1e-101])
def test_weights_too_far_apart_are_refused(kind: Any, far: float) -> None:
    with pytest.raises(
        InputError, match=r"sample_weight must be 0 or between 1e-50 and 1e\+50; values above 0 go from"
    ):
        audit(Y, S, sensitive_features=G, sample_weight=[far, 1, 1, 1], weights_are=kind)
    with pytest.raises(InputError, match=r"masses of a ScoreTable must be 0 or between 1e-50 and 1e\+50"):
        ScoreTable([0.3], [1.0], [far])


def test_within_the_limits_audits_are_exact() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        y, s, g = rng.integers(0, 2, 9), rng.integers(0, 4, 9) / 4, np.array(list("AAAABBBBB"))
        w = 10.0 ** rng.integers(-49, 50, 9)
        found = audit(y, s, sensitive_features=g, sample_weight=w).xauc
        for a in "AB":
            for b in "AB":
                above, below = ((y == 1) & (g == a)), ((y == 0) & (g == b))
                pairs = [
                    (Fraction(w[i]) * Fraction(w[j]), s[i] - s[j])
                    for i in np.flatnonzero(above)
                    for j in np.flatnonzero(below)
                ]
                if pairs:
                    won = sum(mass * (2 if d > 0 else 1 if d == 0 else 0) for mass, d in pairs) / 2
                    assert found[a, b] == pytest.approx(float(won / sum(mass for mass, _ in pairs)), abs=1e-12)


@pytest.mark.parametrize("solver", ["frontier", "dp", "greedy", "insertion"])
def test_masses_too_far_apart_are_not_ordered(solver: str) -> None:
    far = ScoreTable([0.9, 0.5, 0.2], [1e20, 1, 1], [1, 1e4, 1])
    with pytest.raises(
        InputError, match=r"may be 1e\+15 times as large as each other; those above 0 go from 1 to 1e\+20"
    ):
        order(far, OTHER, solver=solver)


def test_a_map_that_could_overflow_is_refused_and_others_never_do() -> None:
    with pytest.raises(InputError, match=r"must lie between -1e\+290 and 1e\+290.*scale the scores down"):
        ScoreMap([-1e308], [1e308])
    ends = np.array([-np.finfo(float).max, -1e300, 0.0, 1e300, np.finfo(float).max])
    for knots in ([-1e290], [1e290], [-1e290, 1e290], [-1e290, 0.0, 5e-324]):
        for others in ([-1e290, 0.0, 1e290][: len(knots)], np.arange(len(knots)) * 5e-324):
            found = ScoreMap(knots, others).apply(ends)
            assert np.isfinite(found).all()
            assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("method", ["smooth", "frontier", "dp"])
def test_scores_at_the_ends_of_the_line_are_not_repaired(method: str) -> None:
    rng = np.random.default_rng(0)
    label, group = rng.random(600) < 0.5, np.repeat(["A", "B"], 300)
    score = (rng.standard_normal(600) + label + 2 * (group == "B") * label) * 3e307
    with pytest.raises(InputError, match="scale the scores down"):
        XOrder(method=method).fit(score, label, sensitive_features=group)


EXTREMES = [0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1.0, np.nextafter(1, 2), -1.0, 1e290, -1e290, 1e150, 0.1, 2 / 3]


def _drawn(rng: np.random.Generator) -> ScoreMap:
    size = int(rng.integers(1, 7))
    raw, adjusted = (np.sort(rng.choice(np.unique(EXTREMES), size, replace=False)) for _ in range(2))
    return ScoreMap(raw, adjusted)


def test_sql_computes_the_bits_of_a_map_at_the_extremes() -> None:
    """In DuckDB always; in SQLite wherever it reads the numbers of the text as they are written."""
    duckdb, rng = package("duckdb"), np.random.default_rng(0)
    in_duckdb, in_sqlite = duckdb.connect(), sqlite3.connect(":memory:")
    in_sqlite.create_function("LEAST", 2, min, deterministic=True)
    read = 0
    for _ in range(60):
        score_map = _drawn(rng)
        raw = score_map.raw
        x = np.concatenate([raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf), EXTREMES, [1.7e308, -1.7e308]])
        wanted = score_map.apply(x).tolist()
        rows = ", ".join(f"({number!r}e0)" if "e" not in repr(number) else f"({number!r})" for number in x.tolist())
        found = in_duckdb.execute(f"SELECT {score_map.to_sql('s')} FROM (VALUES {rows}) AS t(s)").fetchall()
        assert [value for (value,) in found] == wanted
        text = score_map.to_sql("s", dialect="ansi")
        numbers = re.findall(r"\d[\d.]*e[+-]?\d+", text)
        if all(in_sqlite.execute(f"SELECT {number}").fetchone()[0] == float(number) for number in numbers):
            read += 1
            in_sqlite.execute("DROP TABLE IF EXISTS rows")
            in_sqlite.execute("CREATE TABLE rows (s REAL)")
            in_sqlite.executemany("INSERT INTO rows VALUES (?)", [(number,) for number in x.tolist()])
            assert [value for (value,) in in_sqlite.execute(f"SELECT {text} FROM rows")] == wanted
    assert read > 20
    in_sqlite.close()
    in_duckdb.close()


@pytest.mark.parametrize("huge", [HUGE, -HUGE, 10**5000], ids=["huge", "minus huge", "without digits"])
@pytest.mark.parametrize(
    "call",
    [
        lambda huge: audit(Y, [huge, 1, 2, 3], sensitive_features=G),
        lambda huge: audit(Y, S, sensitive_features=G, sample_weight=[huge, 1, 1, 1]),
        lambda huge: audit(Y, S, sensitive_features=G, confidence=huge),
        lambda huge: audit(Y, S, sensitive_features=G, tolerance=huge),
        lambda huge: audit(Y, S, sensitive_features=G, cuts=[huge]),
        lambda huge: ScoreTable.from_arrays([0, 1], [huge, 1]),
        lambda huge: order(ONE, OTHER, tradeoff=huge),
        lambda huge: frontier(ONE, OTHER).at(max_gap=huge),
        lambda huge: frontier(ONE, OTHER).at(tradeoff=huge),
        lambda huge: XOrder(max_gap=huge).fit(S, Y, sensitive_features=G),
        lambda huge: XOrder(min_group_size=huge, tradeoff=huge).fit(S, Y, sensitive_features=G),
        lambda huge: Threshold(huge),
        lambda huge: ScoreMap([huge], [0.0]),
        lambda huge: ScoreMap([0.0], [1.0]).apply([huge]),
        lambda huge: ScoreMap([0.0], [1.0]).compressed(huge),
        lambda huge: xorder.expected_gap(XOrder(), S, Y, sensitive_features=G, random_state=huge),
    ],
)
def test_numbers_beyond_those_of_floats_are_refused(call: Any, huge: int) -> None:
    with pytest.raises(InputError) as caught:
        call(huge)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("tables", [{}, None, {"A": None, "B": ONE}, [ONE, OTHER]])
def test_what_is_not_tables(tables: Any) -> None:
    with pytest.raises(InputError):
        audit_tables(tables)


def test_a_solver_is_named_by_text() -> None:
    with pytest.raises(InputError, match="solver must be one of"):
        order(ONE, OTHER, solver=["dp"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ScoreTable.from_arrays([1, pd.NA], [0.1, 0.2]),
        lambda: ScoreTable.from_arrays([1, 0], [0.1, 0.2], ["a", "b"]),
        lambda: ScoreTable.from_arrays([1, 0], [object(), 0.2]),
        lambda: ScoreTable.from_arrays([[1], [0, 1]], [0.1, 0.2]),
        lambda: ScoreTable(["a"], ["b"], ["c"]),
    ],
)
def test_a_table_of_what_is_not_numbers(call: Any) -> None:
    with pytest.raises(InputError):
        call()


X, LABEL, GROUP = np.arange(80.0).reshape(-1, 1) % 7, np.tile([0, 1], 40), np.repeat(["A", "B"], 40)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimator": None}, "estimator must be a classifier of scikit-learn"),
        ({"estimator": LogisticRegression}, "estimator must be a classifier of scikit-learn"),
        ({"y": [None, *LABEL[1:]]}, "y must have a value in each row; 1 row has none"),
        (
            {"y": pd.Series([pd.NA, *LABEL[1:]], dtype="Int64")},
            "y must have a value in each row; 1 row has none",
        ),
        ({"groups": [{}] * 80}, "sensitive_features must hold plain labels"),
        ({"groups": GROUP[:5]}, "sensitive_features must have one value per row; got 5 for 80"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"random_state": "a"}, "random_state must be a whole number"),
    ],
)
def test_a_ranker_says_in_our_words_what_is_wrong(change: dict[str, Any], words: str) -> None:
    given = {"estimator": LogisticRegression(), "y": LABEL, "groups": GROUP, "random_state": 0} | change
    ranker = FairRanker(given["estimator"], random_state=given["random_state"])
    with pytest.raises(InputError, match=words):
        ranker.fit(X, given["y"], sensitive_features=given["groups"])


def test_a_limit_that_is_an_array() -> None:
    with pytest.raises(InputError, match="max_gap must lie between 0 and 1"):
        XOrder(tradeoff=1, max_gap=np.array([1, 2])).fit(S, Y, sensitive_features=G)  # type: ignore[arg-type]


@pytest.mark.parametrize("group", [math.inf, -math.inf])
def test_groups_that_json_has_no_number_for(group: float) -> None:
    found = audit(Y, S, sensitive_features=[group, group, 1.0, 1.0]).to_dict()
    assert str(group) in json.loads(json.dumps(found, allow_nan=False))["groups"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    people = xorder.datasets.simulate_population(400)
    path = tmp_path_factory.mktemp("maps") / "map.json"
    XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group).save(path)
    return json.loads(path.read_text())


def altered(content: dict[str, Any], path: Path) -> Path:
    """Write a map with its checksum made anew, as who forges one would."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("value", ["text", None, {}, [], HUGE, True, [1, "a"]], ids=lambda value: repr(value)[:9])
def test_a_forged_summary_is_refused_or_can_be_told(saved: dict[str, Any], value: Any, tmp_path: Path) -> None:
    people = xorder.datasets.simulate_population(400)
    for part in ("summary", "learnt_from"):
        inner = saved["summary"] if part == "summary" else saved["summary"]["learnt_from"]
        for name in inner:
            forged = json.loads(json.dumps(saved))
            (forged["summary"] if part == "summary" else forged["summary"]["learnt_from"])[name] = value
            try:
                found = xorder.load(altered(forged, tmp_path / "forged.json"))
            except InputError:
                continue
            assert str(found)
            found.transform(people.y_score[:5], sensitive_features=people.group[:5])


@pytest.mark.parametrize("name", [None, 5, b"a", "a\0b", "\ud800.json"])
def test_what_is_not_the_name_of_a_file(name: Any) -> None:
    people = xorder.datasets.simulate_population(400)
    repair = XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    for use in (xorder.load, repair.save):
        with pytest.raises(InputError, match=r"the name of a file"):
            use(name)
    if isinstance(name, str):
        with pytest.raises(InputError, match=r"the name of a file"):
            audit_frame(name, score="s", label="y", group="g")
