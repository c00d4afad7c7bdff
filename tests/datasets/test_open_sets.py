"""The four open sets: made from the raw files, equal to the prepared ones value by value."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.raw_tables import draw_rows, public_text, small_set
from support.real_data import LOADERS, data_file
from support.real_data import data_home as folder_of_data
from xorder.datasets import load_adult, load_compas, load_framingham, load_german
from xorder.datasets._catalogue import OPEN_SETS
from xorder.datasets._open_set import load_open_set
from xorder.exceptions import InputError, MissingExtraError

# name -> the prepared file, label column and positive value, group column and value, other columns that are no inputs
PREPARED: dict[str, tuple[str, tuple[str, int], tuple[str, int], list[str]]] = {
    "compas": (
        "compas/propublica-recidivism_numerical-binsensitive.csv.gz",
        ("two_year_recid", 1),
        ("race", 0),
        ["sex-race", "race"],
    ),
    "adult": ("adult/adult_numerical-binsensitive.csv.gz", ("income-per-year", 1), ("race", 0), ["race"]),
    "framingham": ("framingham/framingham.csv", ("chdfate", 1), ("sex", 1), ["id"]),
    "german": ("german/german_numerical-binsensitive.csv", ("credit", 2), ("age", 0), ["sex-age", "age"]),
}
# the group that the paper calls a = 1, and the other
GROUPS = {
    "compas": ("not Caucasian", "Caucasian"),
    "adult": ("not White", "White"),
    "framingham": ("male", "female"),
    "german": ("under 25", "25 or older"),
}
SHAPES = {"compas": (6167, 400), "adult": (30_162, 98), "framingham": (4658, 8), "german": (1000, 57)}
WITHOUT = {"compas": [], "adult": ["race-sex"], "framingham": ["sex"], "german": []}
NAMES = list(OPEN_SETS)


@pytest.fixture
def data_home(name: str) -> Path:
    """The folder of real data, if it is here."""
    return folder_of_data(name)


@pytest.mark.parametrize("name", NAMES)
class TestRealData:
    @pytest.mark.slow
    def test_equal_to_the_prepared_file(self, name: str, data_home: Path) -> None:
        path, (label, positive), (group, value), left_out = PREPARED[name]
        prepared = pd.read_csv(data_file(path)).dropna().reset_index(drop=True)
        inputs = prepared.drop(columns=[label, *left_out])
        problem = LOADERS[name](data_home=data_home)
        assert problem.X.shape == SHAPES[name]
        assert problem.X.columns.tolist() == inputs.columns.tolist()
        assert isinstance(problem.X.index, pd.RangeIndex)
        assert set(problem.X.dtypes) == {np.dtype("float64")}
        np.testing.assert_array_equal(problem.X.to_numpy(), inputs.to_numpy(dtype=np.float64))
        np.testing.assert_array_equal(problem.X.to_numpy(), inputs.to_numpy(dtype=np.float32))
        assert problem.y.dtype == np.int8
        np.testing.assert_array_equal(problem.y, prepared[label] == positive)
        assert problem.sensitive_features.dtype == object
        one, other = GROUPS[name]
        assert problem.sensitive_features.tolist() == np.where(prepared[group] == value, one, other).tolist()

    @pytest.mark.slow
    def test_without_the_inputs_that_state_the_group(self, name: str, data_home: Path) -> None:
        everything = LOADERS[name](data_home=data_home)
        fewer = LOADERS[name](data_home=data_home, sensitive_inputs=False)
        pd.testing.assert_frame_equal(fewer.X, everything.X.drop(columns=WITHOUT[name]))
        # Nothing that is left states the group of everyone.
        in_group = everything.sensitive_features == GROUPS[name][0]
        same = [np.array_equal(fewer.X[column] == one, in_group) for column in fewer.X for one in (0, 1, 2)]
        assert not any(same)

    @pytest.mark.slow
    def test_stored_splits(self, name: str, data_home: Path) -> None:
        problem = LOADERS[name](data_home=data_home, splits="stored")
        assert problem.splits[0].train.max() < len(problem.y)
        archive = np.load(data_file(f"splits/{name}.npz"))
        assert len(problem.splits) == 10
        for number, split in enumerate(problem.splits):
            np.testing.assert_array_equal(split.train, archive[f"train_{number}"])
            np.testing.assert_array_equal(split.test, archive[f"test_{number}"])
        n_test = {"compas": 1851, "adult": 9049, "framingham": 1398, "german": 300}[name]
        assert {len(split.test) for split in problem.splits} == {n_test}
        random = LOADERS[name](data_home=data_home, splits=3).splits
        assert [len(split.test) for split in random] == [n_test] * 3

    @pytest.mark.slow
    def test_found_by_the_environment(self, name: str, data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XORDER_DATA", str(data_home))
        assert LOADERS[name]().X.shape == SHAPES[name]


@pytest.mark.slow
def test_figures_in_the_warnings() -> None:
    """What the warnings say in figures, counted again."""
    home = data_file("README.md").parent
    compas = load_compas(data_home=home)
    charges = compas.X.filter(like="c_charge_desc_")
    assert charges.shape[1] == 389
    assert (charges.sum() == 1).sum() == 177
    adult = load_adult(data_home=home)
    assert OPEN_SETS["adult"].file.layout.rows - len(adult.y) == 2399
    assert adult.y.mean() == pytest.approx(1 / 4, abs=0.01)
    assert adult.y[adult.sensitive_features == "not White"].mean() == pytest.approx(1 / 6, abs=0.01)
    framingham = load_framingham(data_home=home)
    days = framingham.X["followup"].to_numpy()
    above = days[framingham.y == 1][:, None] < days[framingham.y == 0]
    ties = days[framingham.y == 1][:, None] == days[framingham.y == 0]
    assert (above + ties / 2).mean() == pytest.approx(0.77, abs=0.005)
    assert (days[framingham.y == 1] > 3652.5).mean() == pytest.approx(0.73, abs=0.005)
    healthy = days[framingham.y == 0]
    assert ((healthy < days.max()).sum(), healthy.size) == (2076, 3193)
    assert days.max() / 365.25 == pytest.approx(32, abs=0.01)
    german = load_german(data_home=home)
    young = german.sensitive_features == "under 25"
    assert (young.sum(), german.y[young].sum(), german.y.mean()) == (149, 61, 0.3)


@pytest.mark.parametrize("name", NAMES)
class TestGeneratedFiles:
    def test_problem(self, name: str, tmp_path: Path) -> None:
        rows = draw_rows(name, 200)
        small = small_set(name, rows)
        path = tmp_path / name / small.file.names[0]
        path.parent.mkdir()
        path.write_bytes(public_text(name, rows).encode())
        problem = load_open_set(small, data_home=tmp_path, splits=2)
        n_rows = len(problem.y)
        assert 20 < n_rows <= 200
        assert problem.X.shape[0] == len(problem.sensitive_features) == n_rows
        assert not problem.X.isna().any().any()
        assert set(problem.sensitive_features) == set(GROUPS[name])
        assert set(problem.y.tolist()) == {0, 1}
        assert len(problem.splits) == 2
        assert (problem.name, problem.source, problem.licence) == (name, small.source, small.licence)
        assert problem.warnings == small.warnings_without()
        fewer = load_open_set(small, data_home=tmp_path, sensitive_inputs=False)
        assert fewer.X.columns.tolist() == [column for column in problem.X if column not in WITHOUT[name]]

    def test_only_inputs_that_are_there_are_warned_of(self, name: str, tmp_path: Path) -> None:
        rows = draw_rows(name, 200)
        small = small_set(name, rows)
        (tmp_path / small.file.names[0]).write_bytes(public_text(name, rows).encode())
        problem, fewer = (load_open_set(small, data_home=tmp_path, sensitive_inputs=kept) for kept in (True, False))
        dropped = [warning for warning in problem.warnings if warning not in fewer.warnings]
        assert [warning.partition(",")[0] for warning in dropped] == WITHOUT[name]
        assert len(problem.warnings) == len(fewer.warnings) + len(dropped)
        assert not any("sensitive_inputs=False drops it" in warning for warning in fewer.warnings)
        assert all("sensitive_inputs=False drops it" in warning for warning in dropped)

    def test_labels_and_groups_cannot_be_changed(self, name: str, tmp_path: Path) -> None:
        rows = draw_rows(name, 200)
        small = small_set(name, rows)
        (tmp_path / small.file.names[0]).write_bytes(public_text(name, rows).encode())
        problem = load_open_set(small, data_home=tmp_path)
        with pytest.raises(ValueError, match="read-only"):
            problem.y[0] = 1 - problem.y[0]
        with pytest.raises(ValueError, match="read-only"):
            problem.sensitive_features[0] = "other"
        problem.X.iloc[0, 0] = 7.0

    def test_without_pandas(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtraError, match=r"loading a data set needs pandas.*xorder\[data\]"):
            LOADERS[name](data_home=tmp_path)

    def test_words_about_it(self, name: str) -> None:
        one = OPEN_SETS[name]
        assert (one.rows, one.inputs) == SHAPES[name]
        texts = (one.description, one.source, one.licence, *one.warnings_without())
        assert all(text.strip() == text and "\n" not in text and "  " not in text for text in texts)
        assert len(one.warnings) >= 3
        assert all(url.startswith("https://") for url in one.file.urls)
        assert all(group in one.description for group in GROUPS[name] if name != "german")

    def test_signature(self, name: str) -> None:
        parameters = inspect.signature(LOADERS[name]).parameters
        assert {key: each.default for key, each in parameters.items()} == {
            "data_home": None,
            "sensitive_inputs": True,
            "splits": None,
        }
        assert all(each.kind is each.KEYWORD_ONLY for each in parameters.values())

    @pytest.mark.parametrize("splits", [0, -1, True, 1.5, "random", "", [1]])
    def test_splits_that_cannot_be_are_told_before_anything_is_looked_for(self, name: str, splits: object) -> None:
        with pytest.raises(InputError, match="splits must be None, 'stored'"):
            LOADERS[name](data_home="/nowhere", splits=splits)  # type: ignore[arg-type]
