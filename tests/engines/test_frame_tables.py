"""Tables of frames: the same from every engine, those of the rows where exact, and within their deviation where not."""

from __future__ import annotations

import builtins
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import backends
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_rows import rows
from xorder import ScoreTable
from xorder._validation import check_tables
from xorder.engines.frame_tables import FrameTables, tables_of_frame
from xorder.exceptions import InputError, MissingExtraError, XorderWarning
from xorder.metrics.gaps import GAPS, auc, prf
from xorder.metrics.moments import moments

NAMES = {"score": "s", "label": "y", "group": "g"}


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
    """Whether tables have the same scores, and the same masses but for the rounding of sums."""
    return (
        np.array_equal(found.score, wanted.score)
        and np.allclose(found.positive, wanted.positive, rtol=1e-12, atol=0)
        and np.allclose(found.negative, wanted.negative, rtol=1e-12, atol=0)
    )


def refused(frame: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        tables_of_frame(frame, **{**NAMES, **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestEveryEngine:
    def test_few_scores_give_the_very_tables_of_the_rows(self, backend: backends.Backend) -> None:
        columns = people(400)
        groups = columns["g"].astype(object)
        groups[7:90:11] = None
        columns["s"][:3] = [-0.0, 0.0, -1e300]
        found = tables_of_frame(
            backend(columns | {"g": groups.tolist()}), **NAMES, weight="w", missing_group="group", squares=True
        )
        named = np.where(groups == None, "missing", groups).astype(str)  # noqa: E711
        wanted = check_tables(columns["y"], columns["s"], named, columns["w"])
        assert list(found.tables) == list(wanted) == ["a", "b", "missing"]
        assert all(same(found.tables[group], wanted[group]) for group in wanted)
        squares = check_tables(columns["y"], columns["s"], named, columns["w"] ** 2)
        assert found.squares is not None
        assert all(map(same, found.squares, squares.values()))
        assert (found.rows, found.passes, found.note, found.whole_weights) == (400, 1, None, False)
        assert found.is_exact
        assert found.deviation.largest == found.deviation.auc == 0

    def test_many_scores_give_the_same_bins(self, backend: backends.Backend) -> None:
        columns = people(3000)
        options = {"bins": 200, "tolerance": 2e-3}
        found = tables_of_frame(backend(columns), **NAMES, **options)
        wanted = tables_of_frame(backends.arrow(columns), **NAMES, **options)
        assert wanted.passes > 2
        assert not wanted.is_exact
        assert all(found.tables[group] == wanted.tables[group] for group in wanted.tables)
        assert found.deviation.gaps == wanted.deviation.gaps
        assert found.passes == wanted.passes

    @pytest.mark.parametrize(
        ("labels", "groups"),
        [([True, False, True, False], [2, 10, 2, 10]), (["1", "0", "TRUE", "0.0"], [True, False, True, False])],
    )
    def test_labels_and_groups_of_any_type(self, backend: backends.Backend, labels: list, groups: list) -> None:
        found = tables_of_frame(backend({"s": [0.9, 0.1, 0.4, 0.4], "y": labels, "g": groups}), **NAMES)
        wanted = sorted({str(value) for value in groups} if backend.is_text else set(groups))
        assert list(found.tables) == wanted
        assert [type(group) for group in found.tables] == [type(group) for group in wanted]
        assert found.tables[str(groups[0]) if backend.is_text else groups[0]].n1 == 2

    def test_what_cannot_be_used_is_refused_in_the_same_words(self, backend: backends.Backend) -> None:
        good: dict[str, list[Any]] = {"s": [0.1, 0.2, 0.3, 0.4], "y": [0, 1, 0, 1], "g": ["a", "b", "a", "b"]}
        good["w"] = [1.0, 0.0, 2.0, 1.0]
        assert refused(backend(good | {"s": [0.1, None, float("nan"), float("inf")]})) == (
            "column 's' must be finite; 2 rows hold nothing or nan and 1 row holds inf or -inf. "
            "Remove these rows or score them."
        )
        assert refused(backend(good | {"w": [1.0, -1.0, None, 1.0]}), weight="w") == (
            "column 'w' must be finite and not negative; 2 rows are not. Correct or remove them."
        )
        assert refused(backend(good | {"y": [0, 1, 2, 1]})).startswith(
            f"column 'y' must hold only 0 and 1; got also {chr(39) * backend.is_text}2"
        )
        assert refused(backend(good | {"g": ["a", None, "a", "b"]})).startswith(
            "column 'g' must name a group for each row; in some it is missing."
        )
        assert refused(backend(good | {"y": [0, None, 0, 1]})).startswith("column 'y' must have a value in each row.")
        assert refused(backend(good), score="S").endswith("no column 'S'; did you mean 's'?")
        assert refused(backend(good | {"w": [0.0] * 4}), weight="w").startswith(
            "column 'w' must be above 0 for some row"
        )


class TestLocalEngines:
    """What does not differ by engine enough to start Spark for it."""

    @pytest.fixture(params=[name for name in backends.NAMES if name != "spark"])
    def backend(self, request: pytest.FixtureRequest, tmp_path: Path) -> backends.Backend:
        return backends.Backend(request.param, tmp_path)

    def test_a_positive_value_may_be_named(self, backend: backends.Backend) -> None:
        columns = {"s": [3.0, 2.0, 1.0], "y": ["yes", "no", "no"], "g": ["a", "a", "b"]}
        table = tables_of_frame(backend(columns), **NAMES, positive="yes").tables["a"]
        assert (table.positive.tolist(), table.negative.tolist()) == ([1, 0], [0, 1])
        assert refused(backend(columns), positive="maybe").endswith(
            "equals the positive value 'maybe'; it holds 'no', 'yes'. Name one of these with positive=."
        )
        with pytest.warns(XorderWarning, match="holds 3 values; '3' counts as positive"):
            found = tables_of_frame(backend(columns | {"y": [1, 2, 3]}), **NAMES, positive="3")
        assert found.tables["b"].n1 == 1

    def test_float_categorical_and_integer_columns(self, backend: backends.Backend) -> None:
        pa = pytest.importorskip("pyarrow")
        columns = {
            "s": pa.array([1, 2, 3, 4], pa.int32()),
            "y": [0.0, 1.0, 0.0, 1.0],
            "g": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
            "w": pa.array([1, 2, 3, 4], pa.int8()),
        }
        found = tables_of_frame(backend(columns), **NAMES, weight="w")
        assert list(found.tables) == ["x", "y"]
        assert found.tables["y"].score.tolist() == [4, 2]
        assert found.tables["y"].positive.tolist() == [4, 2]
        assert found.whole_weights
        half = tables_of_frame(backend(columns | {"s": pa.array([0.1, 0.2, 0.3, 0.4], pa.float32())}), **NAMES)
        if not backend.is_text:
            assert half.tables["x"].score.tolist() == [float(np.float32(0.3)), float(np.float32(0.1))]

    @pytest.mark.slow
    @pytest.mark.parametrize("odd", ["a.b", "a`b", 'a"b', "a'b", "a b", "Straße"])
    def test_names_that_mean_something_to_an_engine(self, backend: backends.Backend, odd: str) -> None:
        plain = people(60)
        exact = tables_of_frame(backends.arrow(plain), **NAMES).tables
        for role, name in NAMES.items():
            columns = {odd if column == name else column: values for column, values in plain.items()}
            found = tables_of_frame(backend(columns), **NAMES | {role: odd}).tables
            assert {str(group): table for group, table in found.items()} == exact

    def test_text_is_no_score(self, backend: backends.Backend) -> None:
        words = refused(backend({"s": ["low", "0.2"], "y": [0, 1], "g": ["a", "b"]}))
        assert words.startswith("column 's' must hold numbers; got values that are not")
        assert "'low'" in words or not backend.is_text

    def test_lists_are_no_groups(self, backend: backends.Backend) -> None:
        if not backend.is_text:
            words = refused(backend({"s": [0.1, 0.2], "y": [0, 1], "g": [["a"], ["b"]]}))
            assert words.startswith("column 'g' must hold plain labels such as text or numbers")

    def test_a_hundred_groups_and_no_more(self, backend: backends.Backend) -> None:
        columns = {
            "s": np.arange(202) / 7,
            "y": np.arange(202) % 2,
            "g": [f"{number % 101:03}" for number in range(202)],
        }
        assert refused(backend(columns)).startswith("column 'g' has more than 100 distinct values")
        found = tables_of_frame(backend({name: values[:100] for name, values in columns.items()}), **NAMES)
        assert len(found.tables) == 100
        assert all(len(table) == 1 for table in found.tables.values())

    def test_no_rows(self, backend: backends.Backend) -> None:
        pa = pytest.importorskip("pyarrow")
        columns = {"s": pa.array([], pa.float64()), "y": pa.array([], pa.int8()), "g": pa.array([], pa.string())}
        assert refused(backend(columns)).endswith("has no rows; at least one is needed.")

    @pytest.mark.slow
    def test_a_group_that_first_comes_late(self, backend: backends.Backend) -> None:
        size = 150_000
        columns = {"s": np.arange(size) % 7, "y": np.arange(size) % 2, "g": ["a"] * (size - 1) + ["b"]}
        found = tables_of_frame(backend(columns), **NAMES)
        assert {group: table.n1 + table.n0 for group, table in found.tables.items()} == {"a": size - 1, "b": 1}
        columns["y"] = ["no"] * (size - 1) + ["yes"]
        assert tables_of_frame(backend(columns), **NAMES, positive="yes").tables["b"].n1 == 1


def metrics(tables: list[ScoreTable]) -> dict[Any, float]:
    found = moments(tables)
    values: dict[Any, float] = {"auc": auc(found)[0]}
    for g, h in np.ndindex(len(tables), len(tables)):
        values["xauc", g, h] = found.xauc[g, h]
    for g, value in enumerate(prf(found)):
        values["prf", g] = value
    for a, b in combinations(range(len(tables)), 2):
        for metric, gap in GAPS.items():
            values["gap", metric, a, b] = gap(found, a, b)[0]
    return values


def bounds(found: FrameTables) -> dict[Any, float]:
    groups = list(found.tables)
    values: dict[Any, float] = {"auc": found.deviation.auc}
    for g, h in np.ndindex(len(groups), len(groups)):
        values["xauc", g, h] = found.deviation.xauc[g, h]
    for g, group in enumerate(groups):
        values["prf", g] = found.deviation.prf[group]
    for a, b in combinations(range(len(groups)), 2):
        for metric in GAPS:
            values["gap", metric, a, b] = found.deviation.gap(metric, (groups[b], groups[a]))
    return values


class TestDeviation:
    @pytest.mark.slow
    @given(drawn=rows(max_rows=40), bins=st.integers(1, 12), splits=st.booleans())
    @settings(max_examples=80)
    def test_no_metric_is_further_off_than_stated(self, drawn: Any, bins: int, splits: bool) -> None:
        columns = {"s": drawn.s, "y": drawn.y, "g": drawn.g} | ({} if drawn.w is None else {"w": drawn.w})
        found = tables_of_frame(
            backends.arrow(columns),
            **NAMES,
            weight=None if drawn.w is None else "w",
            bins=bins,
            tolerance=0.01 if splits else 1.0,
        )
        exact = check_tables(drawn.y, drawn.s, drawn.g, drawn.w)
        assert list(found.tables) == list(exact)
        near, true, most = metrics(list(found.tables.values())), metrics(list(exact.values())), bounds(found)
        for name, bound in most.items():
            assert np.isnan(near[name]) == np.isnan(true[name])
            if not np.isnan(true[name]):
                assert abs(near[name] - true[name]) <= bound + 1e-12
        for group, table in found.tables.items():
            assert np.isclose(table.n1, exact[group].n1)
            assert np.isclose(table.n0, exact[group].n0)

    def test_it_is_reached_where_a_bin_hides_a_perfect_order(self) -> None:
        # All in one bin: positives of a, then negatives of b, then positives of b, then negatives of a.
        score = 1 + np.arange(8) / 1e6
        columns = {"s": score[::-1], "y": [1, 1, 0, 0, 1, 1, 0, 0], "g": list("aabbbbaa")}
        found = tables_of_frame(backends.arrow(columns), **NAMES, bins=1, tolerance=1)
        assert [len(table) for table in found.tables.values()] == [1, 1]
        near, true = (
            metrics(list(tables.values()))
            for tables in (found.tables, check_tables(columns["y"], score[::-1], columns["g"]))
        )
        most = bounds(found)
        assert abs(near["xauc", 0, 1] - true["xauc", 0, 1]) == most["xauc", 0, 1] == 0.5
        assert abs(near["xauc", 1, 0] - true["xauc", 1, 0]) == most["xauc", 1, 0] == 0.5
        assert most["gap", "xauc", 0, 1] == 1

    def test_scores_of_many_rows_cost_nothing(self) -> None:
        columns = people(20_000)
        columns["s"][:15_000] = 0.125
        found = tables_of_frame(backends.arrow(columns), **NAMES, bins=4000, tolerance=1e-3)
        assert found.note is None
        assert found.deviation.largest <= 1e-3
        assert 0.125 in found.tables["a"].score
        assert found.tables["a"].mass.max() == np.sum((columns["s"] == 0.125) & (columns["g"] == "a"))

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
        found = tables_of_frame(backends.arrow(columns), **NAMES, bins=10_000, tolerance=1.5e-4)
        assert found.note is None
        assert found.deviation.largest <= 1.5e-4
        near, true = (
            metrics(list(tables.values())) for tables in (found.tables, check_tables(columns["y"], score, columns["g"]))
        )
        assert all(abs(near[name] - true[name]) <= bound + 1e-12 for name, bound in bounds(found).items())
        # What stands for a bin lies among the scores, so that probabilities stay such.
        assert min(table.score[-1] for table in found.tables.values()) >= score.min()
        assert max(table.score[0] for table in found.tables.values()) <= score.max()

    def test_many_groups(self) -> None:
        columns = people(4000)
        columns["g"] = np.random.default_rng(5).integers(0, 20, 4000)
        found = tables_of_frame(backends.arrow(columns), **NAMES, weight="w", bins=300, tolerance=1)
        assert not found.is_exact
        exact = check_tables(columns["y"], columns["s"], columns["g"], columns["w"])
        near, true = (metrics(list(tables.values())) for tables in (found.tables, exact))
        assert all(abs(near[name] - true[name]) <= bound + 1e-12 for name, bound in bounds(found).items())
        assert near["auc"] != true["auc"]

    def test_it_says_why_a_tolerance_is_not_met(self) -> None:
        found = tables_of_frame(backends.arrow(people(5000)), **NAMES, bins=20)
        assert found.note is not None
        assert "more than the tolerance 1e-06" in found.note
        assert found.note.endswith("allow more than 20 with bins=.")


class TestOptions:
    def test_progress_is_told_with_the_share_done(self, tmp_path: Path) -> None:
        told: list[tuple[str, float | None]] = []
        path = backends.make("parquet", people(1000), tmp_path)
        tables_of_frame(path, **NAMES, progress=lambda step, share: told.append((step, share)), bins=10)
        assert told[0][0] == "reading scores"
        assert {step for step, _ in told} >= {"reading scores", "filling bins"}
        assert told[-1][1] == 1.0

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"bins": 0}, "bins must be a whole number from 1 up; got 0."),
            ({"tolerance": -1}, "tolerance must be a number from 0 up; got -1."),
            ({"missing_group": "drop"}, "missing_group must be one of error, leave, group; got 'drop'."),
            ({"score": None}, "score must be the name of a column; got None."),
            ({"weight": 3}, "weight must be the name of a column; got 3."),
        ],
    )
    def test_options_are_checked(self, options: dict[str, Any], words: str) -> None:
        assert refused(backends.arrow(people(10)), **options) == words

    @pytest.mark.parametrize("frame", [[1, 2], {"s": [1]}, None, np.zeros((3, 3)), 7])
    def test_what_is_no_frame(self, frame: Any) -> None:
        assert refused(frame).startswith("frame must be a frame of pandas, polars")

    def test_weights_out_of_range(self) -> None:
        columns = people(50)
        columns["w"] = np.full(50, 1e120)
        assert tables_of_frame(backends.arrow(columns), **NAMES, weight="w").is_exact
        assert "out of range: its largest value is 1e+120" in refused(backends.arrow(columns), weight="w", squares=True)

    def test_rows_that_change_while_being_read(self) -> None:
        pl = pytest.importorskip("polars")
        calls = iter(range(100))

        def change(frame: Any) -> Any:
            return frame.with_columns(pl.col("y") * 0) if next(calls) > 1 else frame

        frame = pl.from_dict(people(500)).lazy().map_batches(change, streamable=False)
        assert refused(frame, bins=10).startswith("the rows changed while they were being read")


class TestFiles:
    def test_names_that_are_wrong(self, tmp_path: Path) -> None:
        assert refused(tmp_path / "no.parquet").endswith("does not exist; check the name and the folder.")
        assert refused(str(tmp_path / "*.parquet")).startswith("no file matches")
        assert "is a folder; name the files in it" in refused(tmp_path)
        (tmp_path / "rows.xls").write_text("s,y,g\n")
        assert "is of no known format" in refused(tmp_path / "rows.xls")
        (tmp_path / "rows.parquet").write_bytes(b"")
        assert "is empty (0 bytes)" in refused(tmp_path / "rows.parquet")
        (tmp_path / "rows.parquet").write_bytes(b"PAR1 and no more than that PAR1")
        assert "cannot be read" in refused(tmp_path / "rows.parquet")

    def test_a_name_with_a_pattern_in_it_is_a_name_first(self, tmp_path: Path) -> None:
        made = backends.make("parquet", people(20), tmp_path)
        odd = made.rename(tmp_path / "rows [1] it's.parquet")
        assert tables_of_frame(odd, **NAMES).rows == 20

    def test_csv_text_is_kept_as_written(self, tmp_path: Path) -> None:
        import gzip

        path = tmp_path / "rows.csv.gz"
        path.write_bytes(gzip.compress(b's,y,g\n0.5,1,01\n" 1e-1 ",0,1\n.25,true,"a, b"\n'))
        found = tables_of_frame(path, **NAMES)
        assert list(found.tables) == ["01", "1", "a, b"]
        assert found.tables["1"].score.tolist() == [0.1]
        path.write_bytes(gzip.compress(b's,y,g\n0.5,1,a\n0.5,0," "\n'))
        assert "must name a group for each row" in refused(path)


class TestMissingPackages:
    @pytest.mark.parametrize(("name", "package"), [("parquet", "duckdb"), ("csv", "duckdb")])
    def test_the_extra_is_named(self, name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = backends.make(name, people(10), tmp_path)
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=rf"pip install 'xorder\[{package}\]'"):
            tables_of_frame(frame, **NAMES)

    def test_frames_in_memory_need_no_other_engine(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        frame = backends.make("pandas", people(10), tmp_path)
        real = builtins.__import__

        def only_pandas(name: str, *arguments: Any, **options: Any) -> Any:
            if name.partition(".")[0] in ("duckdb", "polars", "pyspark"):
                raise ImportError(name)
            return real(name, *arguments, **options)

        monkeypatch.setattr(builtins, "__import__", only_pandas)
        assert tables_of_frame(frame, **NAMES).rows == 10
