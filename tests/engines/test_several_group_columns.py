"""Several columns make up the group: their combinations are the groups, the same in arrays and in every engine."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xorder
from support import backends
from support.backends import Backend, rows_of
from xorder import ScoreMap
from xorder._groups import Combinations
from xorder._validation import check_tables
from xorder.engines import GroupMaps, apply_to_file, apply_to_frame, audit_frame, tables_of
from xorder.exceptions import InputError, XorderWarning

NAMES: dict[str, Any] = {"score": "s", "label": "y", "group": ["race", "sex"]}
LAZY = ("polars-lazy", "duckdb", "spark")
CHOOSE = "Remove these rows, or choose what becomes of them"


def people(size: int = 240) -> dict[str, Any]:
    """Rows of eight combinations; some values would be mixed up if they were joined without care."""
    rng = np.random.default_rng(3)
    return {
        "s": np.round(rng.random(size), 2),
        "y": rng.integers(0, 2, size),
        "race": np.array(["Black", "White", "x & y", "x"])[np.arange(size) % 4],
        "sex": np.array(["female", "y & z"])[np.arange(size) // 4 % 2],
        "smoker": np.arange(size) // 8 % 2,
        "old": np.arange(size) // 16 % 2 == 1,
    }


def labels(columns: dict[str, Any], *names: str) -> list[str | None]:
    called = Combinations(names)
    return [called[row] for row in zip(*(np.asarray(columns[name]).tolist() for name in names), strict=True)]


@cache
def audit_of_arrays(names: tuple[str, ...]) -> dict[str, Any]:
    """The audit of all engines, which is most of the time of a test."""
    columns = people()
    attributes = backends.arrow({name: columns[name] for name in names})
    return xorder.audit(columns["y"], columns["s"], sensitive_features=attributes).to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("names", [("race", "sex"), ("sex", "race", "smoker"), ("old", "race")])
def test_tables_and_audits_are_those_of_arrays(backend: Backend, names: tuple[str, ...]) -> None:
    columns = people()
    wanted = check_tables(columns["y"], columns["s"], np.array(labels(columns, *names), dtype=object))
    frame = backend(columns)
    found = tables_of(frame, score="s", label="y", group=names)
    assert list(found) == list(wanted)
    assert dict(found) == dict(wanted)
    assert audit_frame(frame, score="s", label="y", group=list(names)).to_dict() == audit_of_arrays(names)


def test_one_column_in_a_list_is_that_column(backend: Backend) -> None:
    frame = backend(people(40))
    assert dict(tables_of(frame, **NAMES | {"group": ["sex"]})) == dict(tables_of(frame, **NAMES | {"group": "sex"}))


@pytest.mark.parametrize("large", [1, 1 << 40], ids=["in DuckDB", "by rows"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("as_text", [False, True])
def test_files_of_every_size(tmp_path: Path, ending: str, large: int, as_text: bool) -> None:
    columns, names = people(), ["race", "sex", "smoker", "old"]
    path = backends.make(ending.partition(".")[0], columns, tmp_path)
    if ending == "csv.gz":
        path = Path(f"{path}.gz")
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    wanted = check_tables(columns["y"], columns["s"], np.array(labels(columns, *names), dtype=object))
    found = tables_of(path, score="s", label="y", group=names, large=large, as_text=as_text)
    assert dict(found) == dict(wanted)
    out = tmp_path / f"out.{ending}"
    maps = halving(columns, *names)
    assert apply_to_file(maps, path, out, score="s", group=names)[:2] == (240, 0)
    assert [float(value) for value in rows_of(out)["adjusted"]] == halved(columns, *names)


def halving(columns: dict[str, Any], *names: str, **choices: str) -> GroupMaps:
    """Maps that halve the scores of the combinations that have a female, and leave those of others."""
    half = ScoreMap([0.0, 1.0], [0.0, 0.5])
    found = dict.fromkeys(label for label in labels(columns, *names) if label is not None)
    return GroupMaps({label: half if "female" in label else ScoreMap.identity() for label in found}, **choices)


def halved(columns: dict[str, Any], *names: str) -> list[float]:
    called = labels(columns, *names)
    pairs = zip(np.asarray(columns["s"]).tolist(), called, strict=True)
    return [score / 2 if label is not None and "female" in label else score for score, label in pairs]


def adjusted(backend: Backend, columns: dict[str, Any], maps: GroupMaps, *names: str) -> list[float]:
    found = rows_of(apply_to_frame(maps, backend(columns), score="s", group=names))
    return [float(value) for value in found["adjusted"]]


@pytest.mark.parametrize("names", [("race", "sex"), ("sex", "race", "smoker"), ("sex", "old")])
def test_a_map_moves_the_same_rows(backend: Backend, names: tuple[str, ...]) -> None:
    columns = people(80)
    assert adjusted(backend, columns, halving(columns, *names), *names) == halved(columns, *names)


class TestMissing:
    def columns(self) -> dict[str, Any]:
        columns = people(64)
        columns["race"] = [None if row in (5, 9) else value for row, value in enumerate(columns["race"].tolist())]
        columns["sex"] = [None if row in (9, 12) else value for row, value in enumerate(columns["sex"].tolist())]
        return columns

    @pytest.mark.parametrize("missing_group", ["leave", "group"])
    def test_a_value_that_is_missing_makes_the_group_missing(self, backend: Backend, missing_group: str) -> None:
        columns = self.columns()
        called = np.array(labels(columns, "race", "sex"), dtype=object)
        assert [row for row, label in enumerate(called) if label is None] == [5, 9, 12]
        wanted = check_tables(columns["y"], columns["s"], called, missing_group=missing_group)
        found = tables_of(backend(columns), **NAMES, missing_group=missing_group)
        assert dict(found) == dict(wanted)
        assert found.rows == wanted.rows == (61 if missing_group == "leave" else 64)

    def test_a_map_leaves_their_scores(self, backend: Backend) -> None:
        columns = self.columns()
        maps = halving(columns, "race", "sex", missing_group="leave")
        assert adjusted(backend, columns, maps, "race", "sex") == halved(columns, "race", "sex")

    def test_they_are_refused_and_named(self, backend: Backend) -> None:
        columns = self.columns()
        frame = backend(columns)
        where = {"csv": ", the first in line 7", "duckdb": "", "spark": "", "parquet-glob": ""}
        with pytest.raises(InputError) as caught:
            tables_of(frame, **NAMES)
        within = f"{frame}: " if isinstance(frame, str | Path) else ""
        assert str(caught.value).startswith(
            f"{within}the combination of columns 'race' and 'sex' must name a group for each row; 3 rows have none"
            f"{where.get(backend.name, ', the first in row 5')}. {CHOOSE}"
        )
        with pytest.raises(Exception, match="the combination of columns 'race' and 'sex' must name a group"):
            adjusted(backend, columns, halving(columns, "race", "sex"), "race", "sex")


def test_a_combination_without_a_map_is_named(backend: Backend) -> None:
    columns = people(80)
    maps = halving({name: values[:4] for name, values in columns.items()}, "race", "sex")
    with pytest.raises(Exception, match=r"group 'Black & y & z' was not seen|Black & sex='y & z'"):
        adjusted(backend, columns, maps, "race", "sex")


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (["race", "race"], "group names the column 'race' twice; its columns must differ"),
        (["race", "s"], "score and group both name the column 's'"),
        (["race", "y"], "group and label both name the column 'y'"),
        (["race", "gender"], "has no column 'gender'"),
        ([], "group must name a column, or several; got []"),
        (["race", 3], "group must be the name of a column; got 3"),
    ],
)
@pytest.mark.parametrize("name", ["pandas", "polars-lazy", "duckdb", "csv", "parquet-glob"])
def test_what_cannot_make_up_a_group(tmp_path: Path, name: str, group: Any, words: str) -> None:
    frame = backends.make(name, people(8), tmp_path)
    with pytest.raises(InputError, match=re.escape(words)):
        tables_of(frame, **NAMES | {"group": group})
    if "label" not in words:
        with pytest.raises(InputError, match=re.escape(words)):
            apply_to_frame(GroupMaps({"x & y": ScoreMap.identity()}), frame, score="s", group=group)


def test_combinations_that_would_have_one_name_are_refused(backend: Backend) -> None:
    columns = people(8) | {"race": ["1", "race=1"] * 4}
    with pytest.raises(InputError, match=r"the combinations \('.*1', '.*'\) and .* would both be the group"):
        tables_of(backend(columns), **NAMES)


def test_a_hundred_combinations_and_no_more(backend: Backend) -> None:
    columns = people(202) | {"race": [f"r{row % 101}" for row in range(202)], "sex": ["f"] * 202}
    with pytest.raises(InputError, match="combination of columns 'race' and 'sex' has more than 100 distinct values"):
        tables_of(backend(columns), **NAMES)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
class TestCounts:
    """What a file is written with is counted."""

    def test_scores_that_stay_for_want_of_a_group(self, tmp_path: Path, ending: str) -> None:
        columns = people(64)
        columns["race"] = [None if row in (5, 9) else value for row, value in enumerate(columns["race"].tolist())]
        path, out = backends.make(ending, columns, tmp_path), tmp_path / f"out.{ending}"
        known = {"Black": ScoreMap([0.0, 1.0], [0.0, 0.5]), "White": ScoreMap.identity(), "x": ScoreMap.identity()}
        maps = GroupMaps(known, missing_group="leave", unseen_group="leave")
        found = apply_to_file(maps, path, out, score="s", group="race")
        assert found[:2] == (64, 18)
        assert found.left_alone == sum(race in (None, "x & y") for race in columns["race"])

    def test_a_map_of_another_scale_is_noticed(self, tmp_path: Path, ending: str) -> None:
        columns = people(240)
        path, out = backends.make(ending, columns, tmp_path), tmp_path / f"out.{ending}"
        maps = GroupMaps({"female": ScoreMap([0.0, 1.0], [0.0, 0.5]), "y & z": ScoreMap([10.0, 90.0], [10.0, 80.0])})
        with pytest.warns(XorderWarning, match=r"a tenth of the scores of group 'y & z' lie outside .* \(10 to 90\)"):
            apply_to_file(maps, path, out, score="s", group="sex")


def test_of_frames_in_memory_a_map_of_another_scale_is_noticed(backend: Backend) -> None:
    frame = backend(people(240))
    maps = GroupMaps({"female": ScoreMap([10.0, 90.0], [10.0, 80.0]), "y & z": ScoreMap.identity()})
    if backend.name in ("pandas", "polars", "pyarrow"):
        with pytest.warns(XorderWarning, match="more than a tenth of the scores of group 'female'"):
            apply_to_frame(maps, frame, score="s", group="sex")
    else:
        assert apply_to_frame(maps, frame, score="s", group="sex") is not None
