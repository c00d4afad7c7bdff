"""Tables and audits of rows anywhere: the same from every engine, exact, or within the error that binning can make."""

from __future__ import annotations

import builtins
import os
import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xorder
from support import backends
from support.drawn_rows import rows
from support.effort import draws
from support.needs import package
from xorder import ScoreTable
from xorder._metric import METRICS, auc_estimate, prf_of
from xorder._table import Tables
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.engines import tables_of
from xorder.exceptions import InputError, MissingExtraError, XorderWarning
from xorder.metrics._placements import moments

NAMES = {"score": "s", "label": "y", "group": "g"}
ENCODE = "Encode the positive class as 1 and the other as 0, or name it with positive=."
CHOOSE = "Remove these rows, or choose what becomes of them with missing_group='leave' or missing_group='group'."


def people(size: int, seed: int = 0) -> dict[str, Any]:
    """Rows of two groups with heavy tails on both sides, an atom and ties."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, size)
    score = rng.standard_t(1, size) + group
    score[: size // 5] = 0.25
    score[size // 5 : size // 4] = np.round(score[size // 5 : size // 4], 1)
    label = (2 * rng.random(size) < 1 + np.tanh(score - 0.5 * group)).astype(int)
    weight = rng.integers(0, 4, size) / 2
    return {"s": score, "y": label, "g": np.array(["a", "b"])[group], "w": weight}


def same(found: ScoreTable, wanted: ScoreTable) -> bool:
    """Whether tables have the same scores, and the same sums but for their rounding."""
    return (
        np.array_equal(found.score, wanted.score)
        and len(found.sums) == len(wanted.sums)
        and all(
            np.allclose(mine, others, rtol=1e-12, atol=0) for mine, others in zip(found.sums, wanted.sums, strict=True)
        )
    )


def refused(frame: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        tables_of(frame, **{**NAMES, **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestEveryEngine:
    @pytest.mark.parametrize("weighted", [{}, {"weight": "w"}, {"weight": "w", "weights_are": "sampling"}])
    def test_more_rows_than_are_looked_at_first_give_the_very_tables_too(
        self, backend: backends.Backend, weighted: dict[str, str]
    ) -> None:
        columns = people(3_000)
        # More rows than may be scores, and no more scores than that.
        columns["s"] = np.round(np.clip(columns["s"], -5, 5))
        found = tables_of(backend(columns), **NAMES, **weighted, bins=12)
        weight = columns["w"] if weighted else None
        wanted = check_tables(
            columns["y"], columns["s"], columns["g"], weight, weights_are=weighted.get("weights_are", "counts")
        )
        assert found.binning_error is None
        assert all(same(found[group], wanted[group]) for group in "ab")

    def test_few_scores_give_the_very_tables_of_the_rows(self, backend: backends.Backend) -> None:
        columns = people(400)
        groups = columns["g"].astype(object)
        groups[7:90:11] = None
        columns["s"][:3] = [-0.0, 0.0, -1e300]
        sampling = {"weights_are": "sampling", "missing_group": "group"}
        found = tables_of(backend(columns | {"g": groups.tolist()}), **NAMES, weight="w", **sampling)
        wanted = check_tables(columns["y"], columns["s"], groups, columns["w"], **sampling)
        assert list(found) == list(wanted) == ["a", "b", "missing"]
        assert all(same(found[group], wanted[group]) for group in wanted)
        assert all(len(table.sums) == 4 for table in found.values())
        assert (found.rows, found.notes, found.weighted) == (400, (), True)
        assert found.binning_error is None

    def test_many_scores_give_the_same_bins(self, backend: backends.Backend) -> None:
        columns = people(3000)
        options = {"bins": 200, "binning_tolerance": 2e-3}
        found = tables_of(backend(columns), **NAMES, **options)
        wanted = tables_of(backends.arrow(columns), **NAMES, **options)
        if backend.name == "csv":
            # Read row by row, all scores are told apart.
            assert found.binning_error is None
            found = tables_of(backend(columns), **NAMES, **options, large=1)
        assert wanted.binning_error is not None
        assert found.binning_error is not None
        assert wanted.binning_error.largest < 2e-3
        assert all(found[group] == wanted[group] for group in wanted)
        assert found.binning_error.gaps == wanted.binning_error.gaps
        assert found.notes == wanted.notes == ()

    @pytest.mark.parametrize(
        ("labels", "groups"),
        [([True, False, True, False], [2, 10, 2, 10]), (["1", "0", "TRUE", "0.0"], [True, False, True, False])],
    )
    def test_labels_and_groups_of_any_type(self, backend: backends.Backend, labels: list, groups: list) -> None:
        found = tables_of(backend({"s": [0.9, 0.1, 0.4, 0.4], "y": labels, "g": groups}), **NAMES)
        wanted = sorted({str(value) for value in groups} if backend.is_text else set(groups))
        assert list(found) == wanted
        assert [type(group) for group in found] == [type(group) for group in wanted]
        assert found[str(groups[0]) if backend.is_text else groups[0]].n1 == 2

    GOOD: ClassVar[dict[str, list[Any]]] = {
        "s": [0.1, 0.2, 0.3, 0.4],
        "y": [0, 1, 0, 1],
        "g": ["a", "b", "a", "b"],
        "w": [1.0, 0.0, 2.0, 1.0],
    }
    # Of each column what is bad, what is said of a frame, and, of a csv file, also where.
    BAD: ClassVar = {
        "s": (
            [0.1, None, float("nan"), float("inf")],
            "must be finite; 2 rows hold nothing or nan and 1 row holds inf or -inf. Remove these rows or score them.",
            "must be finite; line 3 is empty. Correct or remove this row.",
        ),
        "w": (
            [1.0, -1.0, None, 1.0],
            "must be finite and not negative; 2 rows are not. Correct or remove them.",
            "must be finite and not negative; line 3 holds '-1.0'. Correct or remove this row.",
        ),
        "y": (
            [0, 1, 2, 1],
            f"must hold only 0 and 1; got also 2. {ENCODE}",
            f"must hold only 0 and 1; got also '2' (first in line 4). {ENCODE}",
        ),
        "y, none": (
            [0, None, 0, 1],
            "must have a value in each row; 1 row has none. Remove or complete these rows.",
            "must have a value in each row; 1 row has none, line 3. Remove or complete these rows.",
        ),
        "g": (
            ["a", None, "a", None],
            f"must name a group for each row; 2 rows have none. {CHOOSE}",
            f"must name a group for each row; 2 rows have none, the first in line 3. {CHOOSE}",
        ),
    }

    @pytest.mark.parametrize("what", BAD)
    def test_what_cannot_be_used_is_refused_in_the_same_words(self, backend: backends.Backend, what: str) -> None:
        values, said, said_of_file = self.BAD[what]
        frame = backend(self.GOOD | {what[0]: values})
        if backend.name in ("csv", "parquet"):
            said = said_of_file
        elif backend.name not in ("duckdb", "spark", "parquet-glob"):
            # Rows of these have an order, and the first is named where one look finds it.
            said = said.replace("1 row has none", "1 row has none, row 1")
            said = said.replace("2 rows have none", "2 rows have none, the first in row 1")
        if backend.name == "parquet":
            said = re.sub(r"line (\d)", lambda line: f"row {int(line[1]) - 2}", said)
            said = said.replace("holds ''", "is empty")
        within = f"{frame}: " if isinstance(frame, str | Path) else ""
        assert refused(frame, weight="w") == f"{within}column {what[0]!r} {said}"

    def test_names_and_weights_that_cannot_be_used(self, backend: backends.Backend) -> None:
        assert refused(backend(self.GOOD), score="S").endswith("no column 'S'; did you mean 's'?")
        frame = backend(self.GOOD | {"w": [0.0] * 4})
        within = f"{frame}: " if isinstance(frame, str | Path) else ""
        assert refused(frame, weight="w") == (f"{within}column 'w' must be above 0 for some row; all weights are zero.")


class TestMissingGroups:
    """A row without a group means the same in arrays and in every engine."""

    GROUPS: ClassVar = {
        "text": ["a", None, "b", "a", "b", None, "a", "b"],
        "numbers": [1.0, None, 2.0, 1.0, 2.0, float("nan"), 1.0, 2.0],
    }

    def columns(self, kind: str) -> dict[str, Any]:
        return {
            "s": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3],
            "y": [1, 0, 1, 0, 0, 1, 1, 0],
            "g": list(self.GROUPS[kind]),
            "w": [1.0, 2.0, 3.0, 0.0, 2.0, 5.0, 1.0, 1.0],
        }

    @pytest.mark.parametrize("kind", GROUPS)
    @pytest.mark.parametrize("weight", [None, "w"])
    @pytest.mark.parametrize("missing_group", ["leave", "group"])
    def test_tables_are_those_of_arrays(
        self, backend: backends.Backend, kind: str, weight: str | None, missing_group: str
    ) -> None:
        columns = self.columns(kind)
        if backend.is_text and kind == "numbers":
            # In a csv file nan is a text like any other.
            columns["g"] = [None if group != group else group for group in columns["g"]]
        found = tables_of(backend(columns), **NAMES, weight=weight, missing_group=missing_group)
        groups = np.array([None if group != group else group for group in columns["g"]], dtype=object)
        if backend.is_text:
            groups = np.array([None if group is None else str(group) for group in groups], dtype=object)
        wanted = check_tables(
            columns["y"], columns["s"], groups, columns["w"] if weight else None, missing_group=missing_group
        )
        assert list(found) == list(wanted)
        assert all(same(found[group], wanted[group]) for group in wanted)
        assert found.rows == wanted.rows == (6 if missing_group == "leave" else 8)
        left = ("2 rows without a group are left out.",) if missing_group == "leave" else ()
        assert found.notes == wanted.notes == left
        assert ("missing" in found) == (missing_group == "group")

    @pytest.mark.parametrize("differ", [False, True], ids=["ties", "no ties"])
    def test_an_audit_of_no_group_says_so(self, backend: backends.Backend, differ: bool) -> None:
        columns = people(40)
        if differ:
            columns["s"] = np.arange(40) / 40
        with pytest.raises(InputError, match=r"there is none\. 40 rows without a group are left out"):
            xorder.audit_frame(backend(columns | {"g": [None] * 40}), **NAMES, missing_group="leave")

    def test_audits_say_so(self, backend: backends.Backend) -> None:
        columns = {name: [*values, *values] for name, values in self.columns("text").items()}
        with pytest.raises(InputError, match="must name a group for each row; 4 rows have none"):
            xorder.audit_frame(backend(columns), **NAMES)
        with pytest.warns(XorderWarning, match=r"^4 rows without a group are left out\.$"):
            assert xorder.audit_frame(backend(columns), **NAMES, missing_group="leave").groups == ("a", "b")
        assert xorder.audit_frame(backend(columns), **NAMES, missing_group="group").groups == ("a", "b", "missing")

    def test_a_group_that_is_called_so_is_no_name_for_them(self, backend: backends.Backend) -> None:
        columns = self.columns("text")
        columns["g"][0] = "missing"
        for choice in ("leave", "group"):
            said = refused(backend(columns), missing_group=choice)
            assert "column 'g' has a group that is called 'missing', as rows without a group are called" in said

    def test_first_seen_late(self, backend: backends.Backend) -> None:
        """Behind the rows that DuckDB guesses groups from."""
        # Spark guesses nothing, and takes the time of all others for so many.
        size = 1_200 if backend.name == "spark" else 120_000
        columns = {"s": np.arange(size) % 7, "y": np.arange(size) % 2, "g": ["a", "b"] * (size // 2 - 1) + [None] * 2}
        found = tables_of(backend(columns), **NAMES, missing_group="leave")
        assert (list(found), found.rows) == (["a", "b"], size - 2)
        assert "2 rows have none" in refused(backend(columns))


class TestNotes:
    """What a user should hear, whatever holds the rows."""

    def test_groups_that_look_alike(self, backend: backends.Backend) -> None:
        columns = {"s": [0.1, 0.2, 0.3, 0.4], "y": [0, 1, 0, 1], "g": ["White", "white ", "Black", "Black"]}
        assert tables_of(backend(columns), **NAMES).notes == (
            "groups 'White', 'white ' differ in blanks or case alone and are taken for different groups; if they are "
            "one, write them alike.",
        )

    @pytest.mark.parametrize(
        ("weight", "note"),
        [
            ([1.0, 2.0, 0.0, 3.0], None),
            ([100.0, 250.0, 300.0, 150.0], "column 'w' adds up to 800 and is read as counts, so 4 rows pass for that"),
            ([1.0, 2.5, 1.0, 1.0], "column 'w' is not whole, yet read as counts of rows; if the weights come from a"),
        ],
    )
    def test_weights_that_look_like_those_of_a_survey(
        self, backend: backends.Backend, weight: list[float], note: str | None
    ) -> None:
        columns = {"s": [0.1, 0.2, 0.3, 0.4], "y": [0, 1, 0, 1], "g": ["a", "b", "a", "b"], "w": weight}
        notes = tables_of(backend(columns), **NAMES, weight="w").notes
        assert len(notes) == (note is not None)
        assert all(one.startswith(note) and "weights_are='sampling'" in one for one in notes)
        assert tables_of(backend(columns), **NAMES, weight="w", weights_are="sampling").notes == ()


class TestLocalEngines:
    """What does not differ by engine enough to start Spark for it."""

    @pytest.fixture(params=[name for name in backends.NAMES if name != "spark"])
    def backend(self, request: pytest.FixtureRequest, tmp_path: Path) -> backends.Backend:
        return backends.Backend(request.param, tmp_path)

    def test_a_positive_value_may_be_named(self, backend: backends.Backend) -> None:
        columns = {"s": [3.0, 2.0, 1.0], "y": ["yes", "no", "no"], "g": ["a", "a", "b"]}
        table = tables_of(backend(columns), **NAMES, positive="yes")["a"]
        assert (table.positive.tolist(), table.negative.tolist()) == ([1, 0], [0, 1])
        assert refused(backend(columns), positive="maybe").endswith(
            "column 'y' has no row that equals the positive value 'maybe'; it holds 'no', 'yes'. Name one of these "
            "with positive=."
        )
        with pytest.warns(XorderWarning, match="holds 3 values; '3' counts as positive"):
            found = tables_of(backend(columns | {"y": [1, 2, 3]}), **NAMES, positive="3")
        assert found["b"].n1 == 1

    def test_float_categorical_and_integer_columns(self, backend: backends.Backend) -> None:
        pa = package("pyarrow")
        columns = {
            "s": pa.array([1, 2, 3, 4], pa.int32()),
            "y": [0.0, 1.0, 0.0, 1.0],
            "g": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
            "w": pa.array([1, 2, 3, 4], pa.int8()),
        }
        found = tables_of(backend(columns), **NAMES, weight="w")
        assert list(found) == ["x", "y"]
        assert found["y"].score.tolist() == [4, 2]
        assert found["y"].positive.tolist() == [4, 2]
        assert found.notes == ()
        half = tables_of(backend(columns | {"s": pa.array([0.1, 0.2, 0.3, 0.4], pa.float32())}), **NAMES)
        if not backend.is_text:
            assert half["x"].score.tolist() == [float(np.float32(0.3)), float(np.float32(0.1))]

    @pytest.mark.slow
    @pytest.mark.parametrize("odd", ["a.b", "a`b", 'a"b', "a'b", "a b", "Straße"])
    def test_names_that_mean_something_to_an_engine(self, backend: backends.Backend, odd: str) -> None:
        plain = people(60)
        exact = tables_of(backends.arrow(plain), **NAMES)
        for role, name in NAMES.items():
            columns = {odd if column == name else column: values for column, values in plain.items()}
            found = tables_of(backend(columns), **NAMES | {role: odd})
            assert {str(group): table for group, table in found.items()} == exact

    def test_text_is_no_score(self, backend: backends.Backend) -> None:
        frame = backend({"s": ["low", "0.2"], "y": [0, 1], "g": ["a", "b"]})
        wanted = "column 's' must hold numbers; got values that are not"
        if backend.is_text:
            wanted = f"{frame}: column 's' must be finite; line 2 holds 'low'. Correct or remove this row."
        if backend.name == "parquet":
            wanted = f"{frame}: column 's' must hold numbers, but its type is string."
        assert refused(frame).startswith(wanted)

    def test_lists_are_no_groups(self, backend: backends.Backend) -> None:
        if not backend.is_text:
            words = refused(backend({"s": [0.1, 0.2], "y": [0, 1], "g": [["a"], ["b"]]}))
            of_file = "column 'g' is of type list<element: string>, whose values have no plain text"
            assert (
                of_file if backend.name == "parquet" else "column 'g' must hold plain labels such as text or numbers"
            ) in words

    def test_a_hundred_groups_and_no_more(self, backend: backends.Backend) -> None:
        columns = {
            "s": np.arange(202) / 7,
            "y": np.arange(202) % 2,
            "g": [f"{number % 101:03}" for number in range(202)],
        }
        assert "column 'g' has more than 100 distinct values" in refused(backend(columns))
        found = tables_of(backend({name: values[:100] for name, values in columns.items()}), **NAMES)
        assert len(found) == 100
        assert all(len(table) == 1 for table in found.values())

    def test_no_rows(self, backend: backends.Backend) -> None:
        pa = package("pyarrow")
        columns = {"s": pa.array([], pa.float64()), "y": pa.array([], pa.int8()), "g": pa.array([], pa.string())}
        assert refused(backend(columns)).endswith("has columns but no rows; nothing can be computed from it.")

    @pytest.mark.slow
    def test_a_group_that_first_comes_late(self, backend: backends.Backend) -> None:
        size = 150_000
        columns = {"s": np.arange(size) % 7, "y": np.arange(size) % 2, "g": ["a"] * (size - 1) + ["b"]}
        found = tables_of(backend(columns), **NAMES)
        assert {group: table.n1 + table.n0 for group, table in found.items()} == {"a": size - 1, "b": 1}
        columns["y"] = ["no"] * (size - 1) + ["yes"]
        assert tables_of(backend(columns), **NAMES, positive="yes")["b"].n1 == 1


def metrics(tables: list[ScoreTable]) -> dict[Any, float]:
    found = moments(tables)
    values: dict[Any, float] = {"auc": auc_estimate(found)[0]}
    for g, h in np.ndindex(len(tables), len(tables)):
        values["xauc", g, h] = found.xauc[g, h]
    for g, value in enumerate(prf_of(found)):
        values["prf", g] = value
    for a, b in combinations(range(len(tables)), 2):
        for metric, record in METRICS.items():
            values["gap", metric, a, b] = record.estimate(found, a, b)[0]
    return values


def bounds(found: Tables) -> dict[Any, float]:
    """How far each metric can be off, 0 where all scores were told apart."""
    groups, error = list(found), found.binning_error
    if error is None:
        return dict.fromkeys(metrics(list(found.values())), 0.0)
    values: dict[Any, float] = {"auc": error.auc}
    for g, h in np.ndindex(len(groups), len(groups)):
        values["xauc", g, h] = error.xauc[g, h]
    for g, group in enumerate(groups):
        values["prf", g] = error.prf[group]
    for a, b in combinations(range(len(groups)), 2):
        for metric in METRICS:
            values["gap", metric, a, b] = error.gap(metric, (groups[b], groups[a]))
    return values


class TestBinningError:
    @pytest.mark.slow
    @given(drawn=rows(max_rows=40), bins=st.integers(1, 12), splits=st.booleans())
    @settings(max_examples=draws(80))
    def test_no_metric_is_further_off_than_stated(self, drawn: Any, bins: int, splits: bool) -> None:
        columns = {"s": drawn.s, "y": drawn.y, "g": drawn.g} | ({} if drawn.w is None else {"w": drawn.w})
        found = tables_of(
            backends.arrow(columns),
            **NAMES,
            weight=None if drawn.w is None else "w",
            bins=bins,
            binning_tolerance=0.01 if splits else 1.0,
        )
        exact = check_tables(drawn.y, drawn.s, drawn.g, drawn.w)
        assert list(found) == list(exact)
        near, true, most = metrics(list(found.values())), metrics(list(exact.values())), bounds(found)
        for name, bound in most.items():
            assert np.isnan(near[name]) == np.isnan(true[name])
            if not np.isnan(true[name]):
                assert abs(near[name] - true[name]) <= bound + 1e-12
        for group, table in found.items():
            assert np.isclose(table.n1, exact[group].n1)
            assert np.isclose(table.n0, exact[group].n0)

    def test_it_is_reached_where_a_bin_hides_a_perfect_order(self) -> None:
        # All in one bin: positives of a, then negatives of b, then positives of b, then negatives of a.
        score = 1 + np.arange(8) / 1e6
        columns = {"s": score[::-1], "y": [1, 1, 0, 0, 1, 1, 0, 0], "g": list("aabbbbaa")}
        found = tables_of(backends.arrow(columns), **NAMES, bins=1, binning_tolerance=1)
        assert [len(table) for table in found.values()] == [1, 1]
        near, true = (
            metrics(list(tables.values())) for tables in (found, check_tables(columns["y"], score[::-1], columns["g"]))
        )
        most = bounds(found)
        assert abs(near["xauc", 0, 1] - true["xauc", 0, 1]) == most["xauc", 0, 1] == 0.5
        assert abs(near["xauc", 1, 0] - true["xauc", 1, 0]) == most["xauc", 1, 0] == 0.5
        assert most["gap", "xauc", 0, 1] == 1

    def test_scores_of_many_rows_cost_nothing(self) -> None:
        columns = people(20_000)
        columns["s"][:15_000] = 0.125
        found = tables_of(backends.arrow(columns), **NAMES, bins=4000, binning_tolerance=1e-3)
        assert found.notes == ()
        assert found.binning_error is not None
        assert found.binning_error.largest <= 1e-3
        assert 0.125 in found["a"].score
        assert found["a"].mass.max() == np.sum((columns["s"] == 0.125) & (columns["g"] == "a"))

    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng, size: rng.random(size),
            lambda rng, size: rng.beta(0.05, 20, size),
            lambda rng, size: rng.standard_cauchy(size),
            lambda rng, size: np.exp(40 * rng.standard_normal(size)) * rng.choice([-1, 1], size),
            lambda rng, size: 1000 + 1e-7 * rng.random(size),
            lambda rng, size: np.where(rng.random(size) < 1e-3, 1e300, rng.random(size)).astype(np.float32),
        ],
        ids=["uniform", "near 0", "heavy tails", "all scales", "narrow", "float32 with inf-like outliers"],
    )
    @pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
    def test_any_distribution_is_binned_within_tolerance(self, draw: Any) -> None:
        rng = np.random.default_rng(3)
        size = 60_000
        score = draw(rng, size)
        score = np.where(np.isfinite(score), score, 0)
        columns = {"s": score, "y": rng.integers(0, 2, size), "g": rng.choice(["a", "b"], size)}
        found = tables_of(backends.arrow(columns), **NAMES, bins=10_000, binning_tolerance=1.5e-4)
        assert found.notes == ()
        assert found.binning_error is not None
        assert found.binning_error.largest <= 1.5e-4
        near, true = (
            metrics(list(tables.values())) for tables in (found, check_tables(columns["y"], score, columns["g"]))
        )
        assert all(abs(near[name] - true[name]) <= bound + 1e-12 for name, bound in bounds(found).items())
        # What stands for a bin lies among the scores, so that probabilities stay such.
        assert min(table.score[-1] for table in found.values()) >= score.min()
        assert max(table.score[0] for table in found.values()) <= score.max()

    def test_many_groups(self) -> None:
        columns = people(4000)
        columns["g"] = np.random.default_rng(5).integers(0, 20, 4000)
        found = tables_of(backends.arrow(columns), **NAMES, weight="w", bins=300, binning_tolerance=1)
        assert found.binning_error is not None
        exact = check_tables(columns["y"], columns["s"], columns["g"], columns["w"])
        near, true = (metrics(list(tables.values())) for tables in (found, exact))
        assert all(abs(near[name] - true[name]) <= bound + 1e-12 for name, bound in bounds(found).items())
        assert near["auc"] != true["auc"]

    def test_it_says_why_a_tolerance_is_not_met(self) -> None:
        found = tables_of(backends.arrow(people(5000)), **NAMES, bins=20)
        (note,) = found.notes
        assert "more than the tolerance 1e-06" in note
        assert note.endswith("allow more than 20 with bins=.")

    def test_rows_that_are_left_out_count_for_nothing(self) -> None:
        columns = people(4000)
        columns["g"] = [group if row % 3 else None for row, group in enumerate(columns["g"])]
        kept = {name: [value for row, value in enumerate(values) if row % 3] for name, values in columns.items()}
        options = {"bins": 300, "binning_tolerance": 1e-3}
        found = tables_of(backends.arrow(columns), **NAMES, **options, missing_group="leave")
        near, true = (metrics(list(tables.values())) for tables in (found, tables_of(backends.arrow(kept), **NAMES)))
        assert found.binning_error is not None
        assert found.binning_error.groups == ("a", "b")
        assert all(abs(near[name] - true[name]) <= bound + 1e-12 for name, bound in bounds(found).items())
        assert found.notes == ("1,334 rows without a group are left out.",)
        assert found.rows == sum(table.n1 + table.n0 for table in found.values()) == 2666

    @pytest.mark.parametrize("weights_are", ["counts", "sampling"])
    def test_scores_at_which_no_row_has_weight_have_no_bins(self, weights_are: Any) -> None:
        polars = package("polars")
        columns = people(100_000)
        columns["w"] = np.where((columns["s"] >= 0.25) & (columns["s"] < 0.5), 0.0, 1.0)
        options: Any = NAMES | {"weight": "w", "weights_are": weights_are, "bins": 1000, "binning_tolerance": 1}
        # Of a lazy frame, rows are read once, into bins that the first of them make likely.
        found = tables_of(polars.LazyFrame(columns), **options)
        kept = columns["w"] > 0
        assert 0.2 < kept.mean() < 0.99
        wanted = tables_of(polars.LazyFrame({name: column[kept] for name, column in columns.items()}), **options)
        assert dict(found) == dict(wanted)
        assert found.binning_error is not None


class TestOptions:
    def test_progress_is_told_with_the_share_done(self, tmp_path: Path) -> None:
        told: list[tuple[str, float | None]] = []
        path = backends.make("parquet", people(1000), tmp_path)
        tables_of(path, **NAMES, progress=lambda step, share: told.append((step, share)), bins=10)
        assert told[0][0] == "reading scores"
        assert {step for step, _ in told} >= {"reading scores", "filling bins"}
        assert told[-1][1] == 1.0

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"bins": 0}, "bins must be a whole number from 1 up; got 0."),
            ({"binning_tolerance": -1}, "binning_tolerance must be a finite number from 0 up; got -1."),
            ({"missing_group": "drop"}, "missing_group must be one of error, leave, group; got 'drop'."),
            ({"label": None}, "label must be the name of a column; got None."),
            ({"score": None}, "score must be the name of a column; got None."),
            ({"weight": 3}, "weight must be the name of a column; got 3."),
            ({"group": ""}, "group must be the name of a column; got ''."),
            ({"weights_are": "rows"}, "weights_are must be one of counts, sampling; got 'rows'."),
            ({"group": "y"}, "group and label both name the column 'y'; each needs one of its own."),
            ({"weight": "s"}, "score and weight both name the column 's'; each needs one of its own."),
        ],
    )
    def test_options_are_checked(self, options: dict[str, Any], words: str) -> None:
        assert refused(backends.arrow(people(10)), **options) == words

    @pytest.mark.parametrize("frame", [[1, 2], {"s": [1]}, None, np.zeros((3, 3)), 7])
    def test_what_is_no_frame(self, frame: Any) -> None:
        assert refused(frame).startswith("frame must be a frame of pandas, polars")

    def test_weights_out_of_range(self) -> None:
        columns = people(50)
        columns["w"] = np.append(np.full(49, 1e49), 1e-49)
        assert tables_of(backends.arrow(columns), **NAMES, weight="w").binning_error is None
        for far in (5e-324, 1e-51, 1e51, 1.7e308):
            columns["w"][0] = far
            for kind in ("counts", "sampling"):
                said = refused(backends.arrow(columns), weight="w", weights_are=kind)
                assert "column 'w' must be 0 or between 1e-50 and 1e+50; values above 0 go from" in said

    def test_rows_that_change_while_being_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pl = package("polars")
        monkeypatch.setattr("xorder.engines._tally_numpy._KEPT_BYTES", 0)
        calls = iter(range(100))

        def change(frame: Any) -> Any:
            return frame.with_columns(pl.col("y") * 0) if next(calls) > 1 else frame

        frame = pl.from_dict(people(500)).lazy().map_batches(change, streamable=False)
        assert refused(frame, bins=10).startswith("the data changed between two passes over it")

    def test_rows_that_are_few_are_read_once(self) -> None:
        pl = package("polars")
        reads = []

        def count(frame: Any) -> Any:
            reads.append(len(frame))
            return frame

        columns = people(500)
        found = tables_of(pl.from_dict(columns).lazy().map_batches(count, streamable=False), **NAMES, bins=10)
        # Once to see which groups and labels there are, once for the scores, however often these are binned.
        assert len(reads) == 2
        assert found.binning_error is not None
        assert found["a"].n1 == np.sum((columns["g"] == "a") & (columns["y"] == 1))


class TestFiles:
    def test_names_that_are_wrong(self, tmp_path: Path) -> None:
        assert refused(tmp_path / "no.parquet").endswith("does not exist; check the name and the folder.")
        assert refused(str(tmp_path / "*.parquet")).startswith("no file matches")
        assert "is a folder; name the files in it" in refused(tmp_path)
        (tmp_path / "rows.xls").write_text("s,y,g\n")
        assert "rows.xls is not known; the name must end in .parquet or" in refused(tmp_path / "rows.xls")
        (tmp_path / "rows.parquet").write_bytes(b"")
        assert "is empty (0 bytes)" in refused(tmp_path / "rows.parquet")
        (tmp_path / "rows.parquet").write_bytes(b"PAR1 and no more than that PAR1")
        assert "cannot be read" in refused(tmp_path / "rows.parquet")

    @pytest.mark.skipif(os.name != "posix", reason="names and permissions are those of POSIX")
    @pytest.mark.parametrize("name", ["rows.parquet", "*.parquet"])
    def test_what_cannot_be_looked_at(self, tmp_path: Path, name: str) -> None:
        assert "cannot read" in refused(tmp_path / f"{'x' * 300}.parquet")
        backends.make("parquet", people(20), tmp_path).rename(tmp_path / "rows.parquet").chmod(0)
        tmp_path.chmod(0o755)
        user = os.geteuid()
        if user == 0:  # whom permissions do not stop
            os.seteuid(65534)
        try:
            said = refused(tmp_path / name)
        finally:
            os.seteuid(user)
        # Whether the folders above may be looked into is for the system to say.
        assert "may not be read by this user" in said or said.startswith("no file matches")

    def test_a_name_with_a_pattern_in_it_is_a_name_first(self, tmp_path: Path) -> None:
        made = backends.make("parquet", people(20), tmp_path)
        odd = made.rename(tmp_path / "rows [1] it's.parquet")
        assert tables_of(odd, **NAMES).rows == 20

    def test_csv_text_is_kept_as_written(self, tmp_path: Path) -> None:
        import gzip

        path = tmp_path / "rows.csv.gz"
        path.write_bytes(gzip.compress(b's,y,g\n0.5,1,01\n" 1e-1 ",0,1\n.25,true,"a, b"\n'))
        found = tables_of(path, **NAMES)
        assert list(found) == ["01", "1", "a, b"]
        assert found["1"].score.tolist() == [0.1]
        path.write_bytes(gzip.compress(b's,y,g\n0.5,1,a\n0.5,0," "\n'))
        assert "must name a group for each row" in refused(path)


class TestMissingPackages:
    @pytest.mark.parametrize("name", ["parquet", "parquet-glob", "csv"])
    def test_the_extra_is_named(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = backends.make(name, people(10), tmp_path)
        if name == "csv":
            # One is read row by row, several are not.
            backends.make(name, people(10), tmp_path)
            frame = tmp_path / "*.csv"
        monkeypatch.setitem(sys.modules, "duckdb", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'xorder\[duckdb\]'"):
            tables_of(frame, **NAMES)

    def test_frames_in_memory_need_no_other_engine(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        frame = backends.make("pandas", people(10), tmp_path)
        real = builtins.__import__

        def only_pandas(name: str, *arguments: Any, **options: Any) -> Any:
            if name.partition(".")[0] in ("duckdb", "polars", "pyspark"):
                raise ImportError(name)
            return real(name, *arguments, **options)

        monkeypatch.setattr(builtins, "__import__", only_pandas)
        assert tables_of(frame, **NAMES).rows == 10


PEOPLE = simulate_population(400, random_state=1)
WEIGHT = 1 + np.arange(400) % 3
COLUMNS = {
    "risk": PEOPLE.y_score,
    "died": PEOPLE.y_true,
    "sex": PEOPLE.group.tolist(),
    "weight": WEIGHT,
    "share": WEIGHT / 4,
}
BY_NAME = {"score": "risk", "label": "died", "group": "sex"}


def in_memory(weight=None, **options):
    return xorder.audit(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, sample_weight=weight, **options
    ).to_dict()


def close(found, expected):
    """Sums of weights may be added up in another order."""
    assert found.keys() == expected.keys()
    for name in ("auc", "auc_stderr"):
        assert found[name] == pytest.approx(expected[name], abs=1e-12)
    for one, other in zip(found["gaps"], expected["gaps"], strict=True):
        assert one["value"] == pytest.approx(other["value"], abs=1e-12)
        assert one["interval"] == pytest.approx(other["interval"], abs=1e-12)


def test_an_audit_a_repair_and_its_scores(backend):
    frame = backend(COLUMNS)
    assert xorder.audit_frame(frame, **BY_NAME).to_dict() == in_memory()
    repair = xorder.XOrder(max_gap=0.02).fit_frame(frame, **BY_NAME)
    expected = xorder.XOrder(max_gap=0.02).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert repair.to_dict() == expected.to_dict()
    assert repair.binning_error_ is None
    adjusted = repair.transform_frame(frame, score="risk", group="sex")
    assert type(adjusted) is type(frame) or backend.name.startswith(("parquet", "csv"))
    found = backends.rows_of(adjusted)
    assert list(found) == [*COLUMNS, "adjusted"]
    np.testing.assert_allclose(
        found["adjusted"], expected.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group), rtol=1e-12
    )


def test_what_is_lazy_stays_so():
    lazy = backends.make("polars-lazy", COLUMNS, None)
    repair = xorder.XOrder().fit_frame(lazy, **BY_NAME)
    unknown = lazy.with_columns(sex=package("polars").lit("C"))
    adjusted = repair.transform_frame(unknown, score="risk", group="sex")
    with pytest.raises(Exception, match="group 'C' was not seen in fit"):
        adjusted.collect()


@pytest.mark.parametrize("name", ["pandas", "duckdb"])
def test_weights(name, tmp_path):
    frame = backends.make(name, COLUMNS, tmp_path)
    close(xorder.audit_frame(frame, weight="weight", **BY_NAME).to_dict(), in_memory(WEIGHT))
    options = {"weights_are": "sampling", "confidence": 0.9}
    close(
        xorder.audit_frame(frame, weight="share", **BY_NAME, **options).to_dict(),
        in_memory(WEIGHT / 4, **options),
    )
    with pytest.warns(XorderWarning, match="column 'share' is not whole, yet read as counts"):
        xorder.audit_frame(frame, weight="share", **BY_NAME)
    repair = xorder.XOrder().fit_frame(frame, weight="weight", **BY_NAME)
    expected = xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=WEIGHT)
    assert repair.auc_ == pytest.approx(expected.auc_, abs=1e-12)


def test_people_of_unknown_group(tmp_path):
    groups = [None if row % 9 == 0 else group for row, group in enumerate(COLUMNS["sex"])]
    frame = backends.make("pyarrow", COLUMNS | {"sex": groups}, tmp_path)
    with pytest.raises(InputError, match="must name a group for each row"):
        xorder.audit_frame(frame, **BY_NAME)
    assert xorder.audit_frame(frame, **BY_NAME, missing_group="group").groups == ("A", "B", "missing")
    with pytest.warns(XorderWarning, match="^45 rows without a group are left out"):
        repair = xorder.XOrder(missing_group="leave").fit_frame(frame, **BY_NAME)
    found = repair.transform_frame(frame, score="risk", group="sex")["adjusted"].to_numpy()
    np.testing.assert_array_equal(found[::9], PEOPLE.y_score[::9])


def test_bins_move_nothing_by_more_than_they_say(tmp_path):
    """With few bins, the true figures lie within the stated error of those found."""
    frame = backends.make("polars", COLUMNS, tmp_path)
    with pytest.warns(XorderWarning, match="more than the tolerance"):
        found = xorder.audit_frame(frame, **BY_NAME, binning_tolerance=1e-9, bins=64)
    exact = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert 0 < abs(found.auc - exact.auc) <= found.binning_error.auc
    for gap, true in zip(found.gaps, exact.gaps, strict=True):
        assert abs(gap.value - true.value) <= found.binning_error.gap(gap.metric, gap.pair) + 1e-12 < 0.1
    assert "Scores were binned, which moved AUC and gaps by at most" in str(found)
    assert found.to_dict()["binning_error"]["auc"] == found.binning_error.auc


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"weights_are": "rows"}, "weights_are must be"),
        ({"score": "rsk"}, "did you mean 'risk'"),
    ],
)
def test_wrong_options(options, words, tmp_path):
    with pytest.raises(InputError, match=words):
        xorder.audit_frame(backends.make("pandas", COLUMNS, tmp_path), **BY_NAME | options)
