"""eICU: the cohort and its inputs against a reading row by row, nothing from after the first day, clear refusals."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from support.eicu_oracle import as_grid, cohort_of, hours_of
from support.eicu_tables import Tables, draw_tables, read_tables, write_tables
from support.real_data import data_file
from xorder.datasets import _eicu, build_eicu, load_eicu
from xorder.datasets._cohort_file import write_cohort
from xorder.datasets._eicu import FEATURES, LABS, VITALS, EicuSummary
from xorder.exceptions import InputError

pytestmark = pytest.mark.slow

INPUTS = [feature.name for feature in FEATURES]
LAB_NAMES = {measurement.name for measurement in LABS}
FULL = ["patient", "apacheApsVar", "apachePredVar", "lab", "vitalPeriodic", "vitalAperiodic"]


def built(folder: Path, output: Path, **options: Any) -> tuple[Any, EicuSummary]:
    """Build, and return the cohort by stay with the summary."""
    summary = build_eicu(folder, output, **options)
    return pd.read_parquet(output).set_index("patientunitstayid"), summary


def assert_same_inputs(cohort: Any, tables: Tables) -> None:
    expected = pd.DataFrame.from_dict(cohort_of(tables), orient="index").astype(float)
    assert list(expected) == INPUTS
    assert list(expected.index) == list(cohort.index)
    np.testing.assert_allclose(cohort[INPUTS].to_numpy(), expected.to_numpy(), rtol=1e-12)


@pytest.fixture(scope="module")
def tables() -> Tables:
    return draw_tables(seed=1, stays=90)


@pytest.fixture(scope="module")
def cohort_file(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eicu")
    build_eicu(write_tables(folder / "tables", tables), folder / "cohort.parquet")
    return folder / "cohort.parquet"


class TestInputs:
    def test_sixty_with_names_of_their_own(self) -> None:
        assert len(FEATURES) == len(set(INPUTS)) == 60
        assert all(feature.source for feature in FEATURES)

    def test_none_is_made_from_what_tells_the_outcome_or_the_group(self) -> None:
        used = " ".join(f"{feature.source} {feature.sql}" for feature in FEATURES).lower()
        for word in ["discharge", "died", "xlos", "actual", "predicted", "gender", "ethnicity", "status", "stay_days"]:
            assert word not in used

    def test_the_page_about_them_has_them_all(self) -> None:
        page = Path(__file__).parents[2] / "docs" / "design" / "eicu-features.md"
        if not page.exists():
            pytest.skip("docs are not here")
        text = page.read_text()
        for feature in FEATURES[:31]:
            assert f"| `{feature.name}` | {feature.unit} | {feature.source} |" in text
        for m in (*VITALS, *LABS):
            names = f"| {', '.join(m.columns or m.labs)} | {m.grid} | {m.low:g} to {m.high:g} |"
            assert f"| `{m.name}` | {m.unit} | {', '.join(m.daily)} {names}" in text

    @pytest.mark.parametrize(("gz", "upper"), [(False, False), (True, True)])
    def test_full_tables(self, tmp_path: Path, gz: bool, upper: bool) -> None:
        tables = draw_tables(seed=int(gz), stays=90)
        folder = write_tables(tmp_path / "tables", tables, gz=gz, upper=upper)
        cohort, summary = built(folder, tmp_path / "cohort.parquet")
        assert_same_inputs(cohort, tables)
        assert summary.readings == ("lab", "vitalPeriodic", "vitalAperiodic")

    def test_some_stays_at_a_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: Tables) -> None:
        monkeypatch.setattr(_eicu, "_READINGS_AT_A_TIME", 100)
        cohort, _ = built(write_tables(tmp_path / "tables", tables), tmp_path / "cohort.parquet")
        assert_same_inputs(cohort, tables)

    def test_grid_gives_what_the_full_tables_give(self, tmp_path: Path, tables: Tables, cohort_file: Path) -> None:
        folder = write_tables(tmp_path / "tables", as_grid(tables))
        cohort, summary = built(folder, tmp_path / "cohort.parquet")
        pd.testing.assert_frame_equal(cohort, pd.read_parquet(cohort_file).set_index("patientunitstayid"))
        assert summary.readings == ("hourly_48vars",)

    def test_full_tables_come_before_the_grid(self, tmp_path: Path, tables: Tables) -> None:
        folder = write_tables(tmp_path / "tables", tables | as_grid(tables))
        assert build_eicu(folder, tmp_path / "a.parquet").readings == ("lab", "vitalPeriodic", "vitalAperiodic")
        (folder / "vitalPeriodic.csv").unlink()
        assert build_eicu(folder, tmp_path / "b.parquet").readings == ("hourly_48vars",)

    def test_nothing_after_the_first_day_counts(self, tmp_path: Path, tables: Tables) -> None:
        """Change all that is only known later; the same stays must come out, with the same inputs."""
        before, _ = built(write_tables(tmp_path / "before", tables), tmp_path / "before.parquet")
        rng = random.Random(0)
        later = {name: [dict(row) for row in rows] for name, rows in tables.items()}
        for row in later["patient"]:
            if row["unitdischargeoffset"] >= 1440:
                row["unitdischargeoffset"] = rng.choice([1440, 90000])
            row["hospitaldischargestatus"] = rng.choice(["Alive", "Expired"])
        for row in later["apachePredVar"]:
            row["diedinhospital"] = 1 - row["diedinhospital"]
        for name, offset in [
            ("lab", "labresultoffset"),
            *((f"vital{x}eriodic", "observationoffset") for x in ("P", "Ap")),
        ]:
            kept = [row for row in later[name] if 0 <= row[offset] < 1440]
            again = [row | {offset: rng.choice([-1, 1440, 5000])} for row in kept for _ in range(rng.randint(0, 3))]
            later[name] = kept + again
        after, _ = built(write_tables(tmp_path / "after", later), tmp_path / "after.parquet")
        pd.testing.assert_frame_equal(before[INPUTS], after[INPUTS])
        assert (before["long_stay"] != after["long_stay"]).any()

    def test_one_stay_of_each_patient(self, cohort_file: Path) -> None:
        assert pd.read_parquet(cohort_file)["uniquepid"].is_unique


class TestSummary:
    def test_counts_and_words(self, tmp_path: Path, tables: Tables) -> None:
        cohort, summary = built(write_tables(tmp_path / "tables", tables), tmp_path / "cohort.parquet")
        counts = [count for _, count in summary.steps]
        assert counts == sorted(counts, reverse=True)
        assert (counts[0], counts[-1]) == (90, len(cohort))
        assert summary.long_stays == cohort["long_stay"].sum()
        assert summary.deaths == cohort["mortality"].sum()
        assert summary.unknown_mortality == cohort["mortality"].isna().sum()
        assert sum(count for _, count in summary.gender) == len(cohort)
        assert str(summary).splitlines()[0] == "90 unit stays"
        assert "from lab, vitalPeriodic, vitalAperiodic" in str(summary)

    def test_labels(self, tables: Tables, cohort_file: Path) -> None:
        cohort = pd.read_parquet(cohort_file).set_index("patientunitstayid")
        died = {"Expired": 1.0, "Alive": 0.0, "": np.nan}
        for row in tables["patient"]:
            if row["patientunitstayid"] in cohort.index:
                found = cohort.loc[row["patientunitstayid"]]
                assert found["long_stay"] == (row["unitdischargeoffset"] > 10080)
                assert found["unit_stay_days"] == pytest.approx(row["unitdischargeoffset"] / 1440)
                np.testing.assert_equal(found["mortality"], died[row["hospitaldischargestatus"]])
        assert set(cohort["unit_stay_days"]) >= {7.0, 10081 / 1440}

    def test_progress_goes_from_step_to_step(self, tmp_path: Path, tables: Tables) -> None:
        seen: list[tuple[str, float | None]] = []
        folder = write_tables(tmp_path / "tables", tables)
        build_eicu(folder, tmp_path / "cohort.parquet", progress=lambda *told: seen.append(told))
        steps = list(dict.fromkeys(step for step, _ in seen))
        assert [step for step in steps if step.startswith("reading")] == [
            f"reading {name}" for name in [*FULL[:3], "vitalPeriodic", "vitalAperiodic", "lab"]
        ]
        assert all(share is None or 0 <= share <= 1 for _, share in seen)


def cut(path: Path) -> None:
    whole = gzip.compress(path.read_bytes() * 50)
    path.with_name(f"{path.name}.gz").write_bytes(whole[: len(whole) // 2])
    path.unlink()


def change(old: str, new: str) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return act


def append(line: str) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        path.write_text(path.read_text() + line + "\n")

    return act


def repeat(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[-1], ""]))


class TestRefusals:
    @pytest.fixture
    def folder(self, tmp_path: Path, tables: Tables) -> Path:
        (tmp_path / "spill").mkdir()
        return write_tables(tmp_path / "tables", tables)

    def refusal(self, folder: Path, **options: Any) -> str:
        """Build, and return the one line of the error; nothing may be left behind."""
        home = folder.parent
        with pytest.raises(InputError) as caught:
            build_eicu(folder, home / "cohort.parquet", spill=home / "spill", **options)
        assert sorted(path.name for path in home.iterdir() if path != folder) == ["spill"]
        assert not list((home / "spill").iterdir())
        assert "\n" not in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("name", FULL)
    def test_missing_table(self, folder: Path, name: str) -> None:
        (folder / f"{name}.csv").unlink()
        assert f"lacks {name}.csv or {name}.csv.gz" in self.refusal(folder)

    @pytest.mark.parametrize("name", FULL)
    def test_truncated_gz(self, folder: Path, name: str) -> None:
        cut(folder / f"{name}.csv")
        assert f"{name}.csv.gz" in self.refusal(folder)

    @pytest.mark.parametrize("name", FULL)
    def test_row_with_too_few_fields(self, folder: Path, name: str) -> None:
        append("1,2,3")(folder / f"{name}.csv")
        rows = len((folder / f"{name}.csv").read_text().splitlines())
        text = self.refusal(folder)
        assert f"{name}.csv, line {rows}: the header has" in text
        assert "this row has 3" in text

    @pytest.mark.parametrize(
        ("name", "column"),
        [
            ("patient", "admissionweight"),
            ("patient", "unitdischargeoffset"),
            ("apacheApsVar", "temperature"),
            ("apachePredVar", "aids"),
            ("lab", "labresult"),
            ("vitalPeriodic", "heartrate"),
            ("vitalAperiodic", "noninvasivemean"),
        ],
    )
    def test_text_among_numbers(self, tmp_path: Path, folder: Path, tables: Tables, name: str, column: str) -> None:
        broken = [*tables[name], tables[name][-1] | {column: "high"}]
        # A stay and a day that are not used must be right too.
        broken[-1] |= {"patientunitstayid": 1} | {key: 9999 for key in broken[-1] if key == "observationoffset"}
        write_tables(folder, {name: broken})
        assert f"column '{column}' must hold a number or nothing; this row holds 'high'" in self.refusal(folder)

    @pytest.mark.parametrize(
        ("name", "column"), [("patient", "unitstaytype"), ("apachePredVar", "oobventday1"), ("lab", "labresult")]
    )
    def test_header_lacks_a_column(self, folder: Path, name: str, column: str) -> None:
        change(column, "other")(folder / f"{name}.csv")
        assert f"{name}.csv must have the columns {column}" in self.refusal(folder)

    def test_grid_lacks_a_column(self, tmp_path: Path, tables: Tables) -> None:
        (tmp_path / "spill").mkdir()
        folder = write_tables(tmp_path / "tables", as_grid(tables))
        change(",lact,", ",lactate,")(folder / "hourly_48vars.csv")
        assert "hourly_48vars.csv must have the columns lact" in self.refusal(folder)

    @pytest.mark.parametrize("name", FULL[:3])
    def test_stay_twice(self, folder: Path, name: str) -> None:
        repeat(folder / f"{name}.csv")
        assert f"{name}.csv must have one row for each patientunitstayid, but has 2 rows with" in self.refusal(folder)

    def test_age_that_is_none(self, folder: Path) -> None:
        change("> 89", "ninety")(folder / "patient.csv")
        assert "age must be a whole number, '> 89' or nothing; stay 10" in self.refusal(folder)

    def test_other_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "mimic"
        folder.mkdir()
        (tmp_path / "spill").mkdir()
        (folder / "PATIENTS.csv").write_text("row_id,subject_id\n1,2\n")
        assert "holds none of the eICU tables" in self.refusal(folder)

    def test_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "spill").mkdir()
        assert "does not exist; name the folder that holds the eICU tables" in self.refusal(tmp_path / "nowhere")

    def test_no_stay_left(self, folder: Path, tables: Tables) -> None:
        write_tables(folder, {"patient": [row | {"unitdischargeoffset": 60} for row in tables["patient"]]})
        text = self.refusal(folder)
        assert "no stay in" in text
        assert "90 unit stays" in text
        assert "0 still in the unit after 24 hours" in text

    def test_tables_without_rows(self, folder: Path) -> None:
        for name in FULL:
            path = folder / f"{name}.csv"
            path.write_text(path.read_text().splitlines()[0] + "\n")
        assert "0 unit stays" in self.refusal(folder)

    def test_output_exists(self, folder: Path, tmp_path: Path) -> None:
        output = tmp_path / "cohort.parquet"
        output.write_text("mine")
        with pytest.raises(InputError, match="exists already"):
            build_eicu(folder, output)
        assert output.read_text() == "mine"
        build_eicu(folder, output, overwrite=True)
        assert output.read_bytes()[:4] == b"PAR1"

    def test_memory_that_is_none(self, folder: Path) -> None:
        assert "memory must be an amount" in self.refusal(folder, memory="much")


class TestLoading:
    @pytest.mark.parametrize("task", ["long_stay", "mortality"])
    @pytest.mark.parametrize("group", ["ethnicity", "gender"])
    def test_rows_labels_and_groups(self, cohort_file: Path, task: Any, group: Any) -> None:
        rows = pd.read_parquet(cohort_file)
        known = rows[group].isin(["Male", "Female"]) if group == "gender" else rows[group].notna()
        kept = rows[known & rows[task].notna()]
        problem = load_eicu(cohort_file, task=task, group=group)
        np.testing.assert_array_equal(problem.X.to_numpy(), kept[INPUTS].to_numpy())
        assert list(problem.X) == INPUTS
        assert list(problem.X.index) == list(range(len(kept)))
        assert problem.y.tolist() == kept[task].tolist()
        assert problem.y.dtype == np.int8
        expected = kept[group] if group == "gender" else kept[group].where(kept[group] == "Caucasian", "not Caucasian")
        assert problem.sensitive_features.tolist() == expected.tolist()
        left_out = sum(int(text.split()[0]) for text in problem.warnings if text.endswith("are left out."))
        assert 0 < left_out == len(rows) - len(kept)
        assert problem.name == f"eICU {task}"

    def test_unmeasured_values_stay_so(self, cohort_file: Path) -> None:
        assert load_eicu(cohort_file).X.isna().to_numpy().any()

    def test_imputing(self, cohort_file: Path) -> None:
        problem = load_eicu(cohort_file, splits=1)
        train = problem.splits[0].train
        filled = load_eicu(cohort_file, impute=train)
        pd.testing.assert_frame_equal(filled.X, problem.X.fillna(problem.X.iloc[train].mean()).fillna(0.0))
        assert not filled.X.isna().to_numpy().any()
        assert f"means over {len(train):,} rows" in filled.warnings[-1]
        everything = load_eicu(cohort_file, impute="mean")
        pd.testing.assert_frame_equal(everything.X, problem.X.fillna(problem.X.mean()).fillna(0.0))
        assert "means over all rows" in everything.warnings[-1]
        # Rows that are left out have no number: the last of the file is none of X.
        n_file = len(pd.read_parquet(cohort_file))
        assert n_file > len(problem.y)
        with pytest.raises(InputError, match=f"each from 0 to {len(problem.y) - 1:,}; got "):
            load_eicu(cohort_file, impute=[0, n_file - 1])
        with pytest.raises(InputError, match="impute must be None, 'mean' or numbers of training rows"):
            load_eicu(cohort_file, impute=True)  # type: ignore[arg-type]

    def test_splits(self, cohort_file: Path) -> None:
        problem = load_eicu(cohort_file, splits=3)
        assert len(problem.splits) == 3
        for train, test in problem.splits:
            assert sorted([*train, *test]) == list(range(len(problem.y)))
        with pytest.raises(InputError, match="no splits are stored for clinical data"):
            load_eicu(cohort_file, splits="stored")  # type: ignore[arg-type]

    def test_other_choices(self, cohort_file: Path) -> None:
        with pytest.raises(InputError, match="task must be one of long_stay, mortality; got 'los'"):
            load_eicu(cohort_file, task="los")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="group must be one of ethnicity, gender; got 'race'"):
            load_eicu(cohort_file, group="race")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="splits must be"):
            load_eicu(cohort_file, splits=0)

    def test_other_files(self, cohort_file: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="does not exist; name the file that xorder data build-eicu wrote"):
            load_eicu(tmp_path / "none.parquet")
        other = tmp_path / "other.parquet"
        write_cohort(pa.table({"a": [1]}), other, kind="mimic3", about={}, overwrite=False)
        with pytest.raises(InputError, match="mimic3"):
            load_eicu(other)
        changed = pa.parquet.read_table(cohort_file).drop_columns(["ph_min"])
        pa.parquet.write_table(changed, other)
        with pytest.raises(InputError, match="ph_min"):
            load_eicu(other)

    def test_nobody_of_known_group(self, tmp_path: Path, tables: Tables) -> None:
        nobody = tables | {"patient": [row | {"gender": ""} for row in tables["patient"]]}
        build_eicu(write_tables(tmp_path / "tables", nobody), tmp_path / "cohort.parquet")
        with pytest.raises(InputError, match="no stay with a known long_stay and gender"):
            load_eicu(tmp_path / "cohort.parquet", group="gender")


# Read off the rows of the three stays by hand.
BY_HAND: dict[int, dict[str, float]] = {
    # Ventilated and sedated, in the unit for 37 days.
    1101375: {
        "age": 79, "height": 157, "weight": 51, "hours_in_hospital": 28 / 60, "from_emergency": 1, "intubated": 1,
        "ventilated": 1, "gcs_eyes": np.nan, "gcs_not_scorable": 1, "temperature": 35.6, "urine": 1430.5248,
        "heart_rate_min": 67, "heart_rate_mean": 1731 / 24, "heart_rate_max": 79.5, "respiratory_rate_mean": 522.5 / 24,
        "oxygen_saturation_min": 98, "systolic_pressure_min": 106.5, "mean_pressure_max": 92, "creatinine_max": 0.6,
        "potassium_min": 3.7, "potassium_max": 4.4, "glucose_max": 113.5, "white_cells_max": 8.58,
        "albumin_min": np.nan,
    },
    # Older than 89, from the emergency department; died.
    1795300: {
        "age": 90, "height": 177.8, "weight": 63.5, "hours_in_hospital": 2.6, "from_emergency": 1, "ventilated": 0,
        "gcs_eyes": 3, "gcs_verbal": 4, "temperature": 36.5, "urine": 128.304, "heart_rate_min": 35,
        "heart_rate_mean": 1303 / 24, "heart_rate_max": 68, "systolic_pressure_max": 119, "mean_pressure_min": 55.5,
        "creatinine_max": 2.68,
        "sodium_min": 140, "sodium_max": 143, "bicarbonate_min": np.nan, "platelets_min": 92, "bilirubin_max": 0.8,
    },
    # A second unit stay, without APACHE values.
    859033: {
        "age": 67, "hours_in_hospital": 47.6, "earlier_unit_stay": 1, "from_elsewhere": 1, "from_emergency": 0,
        "intubated": np.nan, "gcs_motor": np.nan, "diabetes": np.nan, "elective_surgery": np.nan, "heart_rate_min": 52,
        "heart_rate_max": 63.5, "respiratory_rate_min": 8.5, "systolic_pressure_min": 78.5, "mean_pressure_min": 48,
        "creatinine_max": 1.12, "glucose_max": 279, "haemoglobin_min": 7.2, "albumin_min": 2, "lactate_max": np.nan,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def demo() -> Path:
    return data_file("eicu_demo")


@pytest.fixture(scope="module")
def raw(demo: Path) -> Tables:
    return read_tables(demo, [*FULL[:3], "hourly_48vars", "lab_subset", "vitalAperiodic"])


@pytest.fixture(scope="module")
def cohort(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, EicuSummary]:
    return built(demo, tmp_path_factory.mktemp("demo") / "cohort.parquet")


class TestDemo:
    def test_published_counts(self, raw: Tables) -> None:
        assert {name: len(rows) for name, rows in raw.items()} == {
            "patient": 2520,
            "apacheApsVar": 2205,
            "apachePredVar": 2205,
            "hourly_48vars": 124094,
            "lab_subset": 29961,
            "vitalAperiodic": 274088,
        }
        patients = raw["patient"]
        assert len({row["patientunitstayid"] for row in patients}) == 2520
        assert len({row["uniquepid"] for row in patients}) == 1841
        assert len({row["hospitalid"] for row in patients}) == 186
        assert sum(int(row["unitdischargeoffset"]) > 10080 for row in patients) == 145
        assert sum(row["ethnicity"] == "Caucasian" for row in patients) == 2010
        assert sum(row["ethnicity"] == "" for row in patients) == 39
        assert sum(row["hospitaldischargestatus"] == "Expired" for row in patients) == 212
        assert len({row["stay_id"] for row in raw["hourly_48vars"]}) == 2267
        assert len({row["patientunitstayid"] for row in raw["lab_subset"]}) == 169

    def test_cohort_counts(self, cohort: tuple[Any, EicuSummary]) -> None:
        rows, summary = cohort
        assert [count for _, count in summary.steps] == [2520, 2512, 2234, 1515, 1486, 1260]
        assert summary.readings == ("hourly_48vars",)
        assert (summary.hospitals, summary.long_stays, summary.deaths, summary.unknown_mortality) == (185, 118, 119, 17)
        assert dict(summary.gender) == {"Male": 745, "Female": 515}
        assert dict(summary.ethnicity)["Caucasian"] == 987
        assert dict(summary.ethnicity)["unknown"] == 15
        assert rows.shape == (1260, 7 + 60)
        assert rows["uniquepid"].is_unique

    def test_inputs_of_all_stays(self, cohort: tuple[Any, EicuSummary], raw: Tables) -> None:
        assert_same_inputs(cohort[0], {name: raw[name] for name in [*FULL[:3], "hourly_48vars"]})

    @pytest.mark.parametrize("stay", BY_HAND)
    def test_inputs_by_hand(self, cohort: tuple[Any, EicuSummary], stay: int) -> None:
        found = cohort[0].loc[stay]
        assert {name: found[name] for name in BY_HAND[stay]} == pytest.approx(BY_HAND[stay], rel=1e-12, nan_ok=True)

    def test_laboratory_values_agree_with_the_raw_table(self, raw: Tables) -> None:
        """Stays of a day or more have on the grid the medians that the raw laboratory table gives, and no others."""
        from_lab = hours_of({"lab": raw["lab_subset"]})
        on_grid = hours_of({"hourly_48vars": raw["hourly_48vars"]})
        day = {int(row["patientunitstayid"]) for row in raw["patient"] if int(row["unitdischargeoffset"]) >= 1440}
        compared = 0
        for stay in from_lab.keys() & on_grid.keys() & day:
            grid = {key: value for key, value in on_grid[stay].items() if key[0] in LAB_NAMES}
            assert grid == pytest.approx(from_lab[stay], abs=1e-4)
            compared += len(grid)
        assert compared == 2022

    def test_full_path_on_the_same_stays(self, demo: Path, tmp_path: Path, cohort: tuple[Any, EicuSummary]) -> None:
        """The raw laboratory table, read as a full release, gives what the grid gives."""
        folder = tmp_path / "tables"
        folder.mkdir()
        for name in [*FULL[:3], "vitalAperiodic"]:
            (folder / f"{name}.csv.gz").symlink_to(demo / f"{name}.csv.gz")
        (folder / "lab.csv.gz").symlink_to(demo / "lab_subset.csv.gz")
        columns = "patientunitstayid,observationoffset,heartrate,respiration,sao2,systemicsystolic,systemicmean"
        (folder / "vitalPeriodic.csv").write_text(columns + "\n")
        rows, summary = built(folder, tmp_path / "cohort.parquet")
        assert summary.readings == ("lab", "vitalPeriodic", "vitalAperiodic")
        names = [name for name in INPUTS if name.rpartition("_")[0] in LAB_NAMES]
        known = {int(row["patientunitstayid"]) for row in read_tables(demo, ["lab_subset"])["lab_subset"]}
        both = [stay for stay in rows.index.intersection(cohort[0].index) if stay in known]
        np.testing.assert_allclose(rows.loc[both, names], cohort[0].loc[both, names], rtol=1e-12)
        assert len(both) == 74

    def test_mimic_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds none of the eICU tables"):
            build_eicu(data_file("mimic3_demo"), tmp_path / "cohort.parquet")
        assert not list(tmp_path.iterdir())
