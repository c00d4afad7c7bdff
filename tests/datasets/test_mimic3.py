"""MIMIC-III: the cohort and each of its features equal a slow re-enactment of the benchmark; damage leaves nothing."""

from __future__ import annotations

import csv
import gzip
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import mimic3_oracle as oracle
from support.command_line import Ran
from support.effort import LONG
from support.mimic3_tables import HEADERS, ITEMS, Tables, make_tables, write_tables
from support.real_data import data_file
from xorder.datasets import _mimic3, build_mimic3, impute_mean, load_mimic3
from xorder.datasets._mimic3 import FEATURES, STATISTICS, VARIABLES, WINDOWS, window_features
from xorder.exceptions import InputError

pytestmark = pytest.mark.slow

FIRST_FEATURE = 9
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def check_against_oracle(cohort: Any, expected: dict[int, tuple[oracle.Row, list[float]]]) -> None:
    assert cohort["icustay_id"].tolist() == sorted(expected)
    rows = [expected[stay] for stay in cohort["icustay_id"]]
    np.testing.assert_allclose(
        cohort.iloc[:, FIRST_FEATURE:].to_numpy(float), [values for _, values in rows], rtol=1e-6, atol=1e-6
    )
    assert cohort["mortality"].tolist() == [int(oracle.died(row)) for row, _ in rows]
    assert cohort["ethnicity"].fillna("").tolist() == [row["ethnicity"] for row, _ in rows]
    np.testing.assert_allclose(cohort["age"], [float(row["age"]) for row, _ in rows])
    for name in ("subject_id", "hadm_id", "gender", "los", "hospital_expire_flag"):
        assert cohort[name].astype(str).tolist() == [row[name] for row, _ in rows]


def one_stay(readings: list[tuple[int, int, str, str]], *, subject: int = 1, **patient: str) -> Tables:
    """A single stay that belongs to the cohort, with readings (item, minutes since entry, text, unit)."""
    ids = {"subject_id": subject, "hadm_id": subject}
    tables: Tables = {name: [] for name in HEADERS}
    tables["PATIENTS"] = [{"subject_id": subject, "gender": "F", "dob": "2100-01-01 00:00:00", **patient}]
    tables["ADMISSIONS"] = [
        {
            **ids,
            **{"admittime": "2150-01-01 00:00:00", "dischtime": "2150-01-09 00:00:00", "hospital_expire_flag": 0},
            "ethnicity": "WHITE",
        }
    ]
    stay = {"first_careunit": "MICU", "last_careunit": "MICU", "first_wardid": 1, "last_wardid": 1, "los": "2.5"}
    times = {"intime": "2150-01-02 00:00:00", "outtime": "2150-01-04 12:00:00"}
    tables["ICUSTAYS"] = [{**ids, "icustay_id": subject, **stay, **times}]
    tables["DIAGNOSES_ICD"] = [{**ids, "icd9_code": "4019"}]
    tables["D_ICD_DIAGNOSES"] = [{"icd9_code": "4019"}]
    for item, minutes, text, unit in readings:
        time = f"2150-01-{2 + minutes // 1440:02} {minutes // 60 % 24:02}:{minutes % 60:02}:00"
        table = "LABEVENTS" if 50_000 < item < 52_000 else "CHARTEVENTS"
        tables[table].append({**ids, "itemid": item, "charttime": time, "value": text, "valueuom": unit})
    return tables


def together(stays: list[Tables]) -> Tables:
    """The tables of several stays, as one build takes as long as another; stay 0 is the first."""
    merged: Tables = {name: [row for tables in stays for row in tables[name]] for name in HEADERS}
    merged["D_ICD_DIAGNOSES"] = merged["D_ICD_DIAGNOSES"][:1]
    return merged


def built(tmp_path: Path, tables: Tables, **options: Any) -> Any:
    folder = write_tables(tmp_path / "tables", tables)
    build_mimic3(folder, tmp_path / "cohort.parquet", overwrite=True, **options)
    return pd.read_parquet(tmp_path / "cohort.parquet")


# What a build reported while it ran, and at its end.
Reports = tuple[list[tuple[str, float | None]], Any]


@pytest.fixture(scope="module")
def generated_and_reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Reports]:
    """Some forty patients as csv.gz with names of columns in upper case, the cohort, and what its build reported."""
    folder = tmp_path_factory.mktemp("generated")
    write_tables(folder, make_tables(7, patients=60), upper=True, compress=True)
    seen: list[tuple[str, float | None]] = []
    summary = build_mimic3(folder, folder / "cohort.parquet", progress=lambda *step: seen.append(step))
    return folder, (seen, summary)


@pytest.fixture
def generated(generated_and_reports: tuple[Path, Reports]) -> Path:
    return generated_and_reports[0]


@pytest.fixture
def reports(generated_and_reports: tuple[Path, Reports]) -> Reports:
    return generated_and_reports[1]


class TestCohort:
    # Names of columns in both cases, plain and compressed, take four.
    @pytest.mark.parametrize("seed", range(5 if LONG else 4))
    def test_equals_the_oracle(self, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        # Batches of a few stays, so that there are several.
        monkeypatch.setattr(_mimic3, "_BATCH_STAYS", 5)
        upper, compress = bool(seed & 1), bool(seed & 2)
        folder = write_tables(tmp_path / "tables", make_tables(seed, patients=60), upper=upper, compress=compress)
        summary = build_mimic3(folder, tmp_path / "cohort.parquet", memory="200MB", spill=tmp_path)
        cohort = pd.read_parquet(tmp_path / "cohort.parquet")
        check_against_oracle(cohort, oracle.cohort(folder, ITEMS))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["cohort.parquet", "tables"]
        assert len(cohort) == summary.with_readings > 5
        adults, chosen = oracle.select(folder)
        assert (summary.adults, summary.at_least_48_hours) == (len(adults), len(chosen))
        assert summary.stays > summary.without_transfer > summary.one_per_admission > summary.adults
        assert summary.adults > summary.with_diagnosis > summary.at_least_48_hours
        assert summary.deaths == cohort["mortality"].sum()

    def test_columns(self, generated: Path) -> None:
        table = pq.read_table(generated / "cohort.parquet")
        assert table.column_names[FIRST_FEATURE:] == list(FEATURES)
        assert len(set(FEATURES)) == 17 * 7 * 6 == 714
        assert FEATURES[:2] == ("capillary_refill|all|min", "capillary_refill|all|max")
        assert "heart_rate|first 25%|mean" in FEATURES
        assert {str(field.type) for field in list(table.schema)[FIRST_FEATURE:]} == {"float"}

    def test_the_summary_is_for_people(self, reports: Reports) -> None:
        _, summary = reports
        assert str(summary).splitlines()[0].split() == [str(summary.stays), "ICU", "stays"]
        assert f"({summary.readings:,} readings): the cohort" in str(summary)

    def test_progress_names_each_table(self, reports: Reports) -> None:
        seen, _ = reports
        steps = list(dict.fromkeys(step for step, _ in seen))
        assert steps[-3:] == ["reading CHARTEVENTS", "reading LABEVENTS", "computing features"]
        assert seen[-1] == ("computing features", 1.0)
        assert all(share is None or 0 <= share <= 1 for _, share in seen)

    def test_age(self, tmp_path: Path) -> None:
        """18 years of 365 days; people over 89, whose birth is moved back by 300 years, count as 90."""
        births = ("2133-01-01 00:00:00", "2132-01-08 00:00:00", "2132-01-07 00:00:00", "1850-01-01 00:00:00")
        stays = [one_stay([(211, 60, "80", "")], subject=number, dob=dob) for number, dob in enumerate(births)]
        cohort = built(tmp_path, together(stays))
        assert cohort["subject_id"].tolist() == [2, 3]
        assert cohort["age"].tolist() == pytest.approx([18.0, 90.0])
        with pytest.raises(
            InputError, match=r"no stay in .* belongs to the cohort \(2 ICU stays, .* 0 of patients aged 18"
        ):
            built(tmp_path, together(stays[:2]))

    def test_mortality(self, tmp_path: Path) -> None:
        # date of death, time of death in hospital, and whether that is within the stay in hospital, to 2150-01-09
        cases = (
            ("", "", 0),
            ("2150-01-09 00:00:00", "", 1),
            ("2150-01-10 00:00:00", "", 0),
            ("2150-01-10 00:00:00", "2150-01-09 00:00:00", 1),
            ("", "2150-01-09 00:01:00", 0),
        )
        tables = together([one_stay([(211, 60, "80", "")], subject=n, dod=dod) for n, (dod, _, _) in enumerate(cases)])
        for row, (_, deathtime, _) in zip(tables["ADMISSIONS"], cases, strict=True):
            row["deathtime"] = deathtime
        assert built(tmp_path, tables)["mortality"].tolist() == [died for *_, died in cases]


# item, text, unit; what it is a value of, and which
VALUES = (
    (226707, "75", "Inch", "height", 190),  # 190.5, halves to the even side
    (226707, "65", "Inch", "height", 165),
    (1394, "65", "", "height", 165),
    (226730, "165.5", "cm", "height", 165.5),
    (3581, "200", "", "weight", 90.7184),
    (3582, "3200", "", "weight", 90.7184),
    (763, "200", "lbs", "weight", 90.7184),
    (763, "80", "kg", "weight", 80),
    (223761, "98.6", "?F", "temperature", 37),
    (223761, "78.9", "?F", "temperature", 78.9),
    (677, "37", "Deg. C", "temperature", 37),
    (223835, "40", "", "fio2", 0.4),
    (223835, "1", "", "fio2", 1),
    (189, "35", "torr", "fio2", 35),
    (646, "0.97", "%", "oxygen_saturation", 97),
    (646, "1", "%", "oxygen_saturation", 100),
    (51, "120/80", "mmHg", "systolic_pressure", 120),
    (8368, "120/80", "mmHg", "diastolic_pressure", 80),
    (50931, ".5", "mg/dL", "glucose", 0.5),
    (50931, "87.", "mg/dL", "glucose", 87),
    (220739, "None", "", "gcs_eyes", 0),
    (723, "1.0 ET/Trach", "", "gcs_verbal", 1),
    (223901, "Obeys Commands", "", "gcs_motor", 6),
    (198, "15", "points", "gcs_total", 15),
    (3348, "Delayed", "", "capillary_refill", 1),
    (211, "-8", "BPM", "heart_rate", -8),
)
NO_VALUES = (
    *((50931, text) for text in ("ERROR", ">500", "-1", "1e3", "nan")),
    *((211, text) for text in ("none", "nan", "inf", "80 bpm")),
    *((184, text) for text in ("5 Sings", "none")),
    *((51, text) for text in ("120/", "/80", "a/b")),
    *((3348, "Other/Remarks"), (198, "16"), (646, "-5")),
)


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One stay for each of the texts above; those that are no value have a breathing rate beside it."""
    readings = [[(item, 60, text, unit)] for item, text, unit, _, _ in VALUES]
    readings += [[(item, 60, text, ""), (618, 60, "20", "")] for item, text in NO_VALUES]
    tables = together([one_stay(listed, subject=number) for number, listed in enumerate(readings)])
    return built(tmp_path_factory.mktemp("texts"), tables)


class TestReadings:
    @pytest.mark.parametrize("number", range(len(VALUES)), ids=[f"{case[3]} {case[1]}" for case in VALUES])
    def test_text_to_number(self, stays: Any, number: int) -> None:
        *_, variable, expected = VALUES[number]
        stay = stays.iloc[number]
        assert stay[f"{variable}|all|mean"] == pytest.approx(expected, rel=1e-6)
        assert stay[f"{variable}|all|count"] == 1
        assert stay[FIRST_FEATURE:].notna().sum() == 42

    @pytest.mark.parametrize("number", range(len(NO_VALUES)), ids=[f"{item} {text}" for item, text in NO_VALUES])
    def test_what_is_no_value_is_left_out(self, stays: Any, number: int) -> None:
        stay = stays.iloc[len(VALUES) + number]
        assert stay["respiratory_rate|all|mean"] == 20
        assert stay[FIRST_FEATURE:].notna().sum() == 42

    def test_of_several_at_one_time_one_is_kept(self, tmp_path: Path) -> None:
        cases = (
            (646, ("99", "100"), "oxygen_saturation", 100),
            (211, ("99", "102"), "heart_rate", 99),
            (220739, ("To Speech", "None", "Spontaneously"), "gcs_eyes", 3),
        )
        stays = [
            one_stay([(item, 60, text, "") for text in texts], subject=number)
            for number, (item, texts, _, _) in enumerate(cases)
        ]
        cohort = built(tmp_path, together(stays))
        for number, (_, _, feature, expected) in enumerate(cases):
            assert cohort[f"{feature}|all|count"][number] == 1
            assert cohort[f"{feature}|all|mean"][number] == expected

    def test_only_the_first_48_hours(self, tmp_path: Path) -> None:
        readings = [(211, minutes, str(rate), "") for minutes, rate in ((0, 60), (2880, 70), (2881, 200))]
        cohort = built(tmp_path, one_stay(readings))
        assert cohort["heart_rate|all|max"][0] == 70
        assert cohort["heart_rate|all|count"][0] == 2

    def test_ranges(self, tmp_path: Path) -> None:
        texts = ("-1", "0", "80", "360", "391")
        tables = one_stay([(211, 60 + minutes, text, "") for minutes, text in enumerate(texts)])
        assert built(tmp_path, tables)["heart_rate|all|count"][0] == 5
        cohort = built(tmp_path, tables, apply_ranges=True)
        assert cohort["heart_rate|all|count"][0] == 3
        assert cohort["heart_rate|all|max"][0] == 350
        assert cohort["heart_rate|all|mean"][0] == pytest.approx((0 + 80 + 350) / 3)
        assert not any("apply_ranges" in text for text in load_mimic3(tmp_path / "cohort.parquet").warnings)


class TestWindows:
    def test_by_hand(self) -> None:
        hours = np.array([0, 4, 8, 24, 26, 32])
        values = np.array([0.5, 0.4, 0.4, 0.5, 0.6, 0.5])
        found = window_features(1, np.zeros(6, int), np.zeros(6, int), 3600 * hours, values)[0, :42].reshape(7, 6)
        np.testing.assert_array_equal(found[:, -1], [6, 1, 3, 3, 1, 3, 3])
        np.testing.assert_allclose(found[0, :3], [0.4, 0.6, 2.9 / 6], rtol=1e-6)
        np.testing.assert_allclose(found[2], [0.4, 0.5, 1.3 / 3, 0.1 * np.sqrt(2) / 3, np.sqrt(0.5), 3], rtol=1e-6)
        np.testing.assert_allclose(found[1], [0.5, 0.5, 0.5, 0, 0, 1])

    def test_nothing_read(self) -> None:
        nothing = np.empty(0, int)
        assert np.isnan(window_features(2, nothing, nothing, nothing, np.empty(0))).all()
        assert window_features(0, nothing, nothing, nothing, np.empty(0)).shape == (0, 714)

    def test_equal_readings_have_no_skewness(self) -> None:
        found = window_features(1, np.zeros(7, int), np.zeros(7, int), np.arange(7), np.full(7, 36.222198486328125))
        names = [name.partition("|")[2] for name in FEATURES[:42]]
        assert found[0, names.index("all|skew")] == 0
        assert found[0, names.index("all|std")] < 1e-13

    @given(
        st.lists(
            st.tuples(
                st.integers(0, 3),
                st.sampled_from([0, 5, 16]),
                st.integers(0, 172_800),
                st.sampled_from([0.0, -8.0, 7.25, 36.6, 98.6, 11647.0]),
            ),
            unique_by=lambda reading: reading[:3],
            max_size=40,
        )
    )
    def test_any_readings(self, readings: list[tuple[int, int, int, float]]) -> None:
        readings.sort()
        columns = [np.array([reading[place] for reading in readings]) for place in range(4)]
        stay, variable, second = (column.astype(np.int64) for column in columns[:3])
        found = window_features(4, stay, variable, second, columns[3].astype(float)).reshape(4, 17, 42)
        for one in range(4):
            for which in range(17):
                series = [(t / 3600, value) for s, v, t, value in readings if (s, v) == (one, which)]
                np.testing.assert_allclose(found[one, which], oracle.features(series), rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of a few patients, before anything happens to them."""
    return write_tables(tmp_path_factory.mktemp("whole"), make_tables(3, patients=8), compress=True)


class TestFailures:
    """Each is one clear sentence, and leaves no output, no part of one and nothing spilled."""

    @pytest.fixture
    def folder(self, whole: Path, tmp_path: Path) -> Path:
        return shutil.copytree(whole, tmp_path / "tables")

    def complaint(self, folder: Path, *, output: str = "cohort.parquet", **options: Any) -> str:
        there = sorted(folder.parent.rglob("*"))
        spill = folder.parent / "spill"
        spill.mkdir()
        with pytest.raises(InputError) as caught:
            build_mimic3(folder, folder.parent / output, spill=spill, **options)
        spill.rmdir()  # fails if anything is left
        assert sorted(folder.parent.rglob("*")) == there
        assert "\n" not in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("name", sorted(HEADERS))
    def test_missing_table(self, folder: Path, name: str) -> None:
        (folder / f"{name}.csv.gz").unlink()
        assert f"lacks {name}.csv or {name}.csv.gz" in self.complaint(folder)

    @pytest.mark.parametrize("name", sorted(HEADERS))
    def test_truncated_table(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.csv.gz"
        path.write_bytes(path.read_bytes()[:-3])
        assert f"{path} is cut off" in self.complaint(folder)

    def test_truncated_in_the_middle(self, folder: Path) -> None:
        path = folder / "CHARTEVENTS.csv.gz"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        assert f"{path} is cut off" in self.complaint(folder)

    @pytest.mark.parametrize("name", sorted(HEADERS))
    def test_row_with_too_few_columns(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.csv.gz"
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"17,18\n"))
        width = len(HEADERS[name].split(","))
        assert f"the header has {width} columns, but this row has 2" in self.complaint(folder)

    @pytest.mark.parametrize(
        ("name", "column"),
        [
            *(("PATIENTS", "dob"), ("ADMISSIONS", "hadm_id"), ("ICUSTAYS", "los"), ("CHARTEVENTS", "itemid")),
            *(("CHARTEVENTS", "icustay_id"), ("LABEVENTS", "charttime"), ("LABEVENTS", "hadm_id")),
        ],
    )
    def test_text_where_a_number_belongs(self, tmp_path: Path, name: str, column: str) -> None:
        tables = make_tables(3, patients=8)
        tables[name][5][column] = "twelve"
        folder = write_tables(tmp_path / "tables", tables)
        # A record with line ends in quotes takes several lines; only ADMISSIONS has such records.
        line = ", line 7: " if name != "ADMISSIONS" else ", line "
        text = self.complaint(folder)
        assert f"{folder / name}.csv{line}" in text
        assert f"column {column!r} must hold a" in text
        assert "this row holds 'twelve'" in text

    @pytest.mark.parametrize("name", sorted(HEADERS))
    def test_header_without_a_column(self, folder: Path, name: str) -> None:
        column = {"D_ICD_DIAGNOSES": "icd9_code"}.get(name, "subject_id")
        path = folder / f"{name}.csv.gz"
        text = gzip.decompress(path.read_bytes()).decode().replace(column, "something", 1)
        path.write_bytes(gzip.compress(text.encode()))
        assert f"{path} must have the columns {column}, but its header has only" in self.complaint(folder)

    def test_not_mimic_at_all(self, tmp_path: Path) -> None:
        folder = tmp_path / "photos"
        folder.mkdir()
        (folder / "patients.jpg").write_bytes(b"\xff\xd8")
        assert "photos holds none of the MIMIC-III tables (PATIENTS, ADMISSIONS" in self.complaint(folder)

    def test_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        assert "gone does not exist; name the folder" in self.complaint(tmp_path / "gone")

    def test_output(self, folder: Path) -> None:
        (folder.parent / "there.parquet").write_text("precious")
        assert "exists already" in self.complaint(folder, output="there.parquet")
        assert (folder.parent / "there.parquet").read_text() == "precious"
        assert "does not exist; create it first" in self.complaint(folder, output="gone/cohort.parquet")
        assert "is a folder; name a file" in self.complaint(folder, output="tables", overwrite=True)

    def test_a_failure_keeps_what_was_there(self, folder: Path) -> None:
        (folder.parent / "there.parquet").write_text("precious")
        (folder / "LABEVENTS.csv.gz").write_bytes(b"")
        assert "its header has only: nothing" in self.complaint(folder, output="there.parquet", overwrite=True)
        assert (folder.parent / "there.parquet").read_text() == "precious"

    def test_empty_cohort(self, tmp_path: Path) -> None:
        tables = one_stay([(211, 3000, "80", "")])
        text = self.complaint(write_tables(tmp_path / "tables", tables))
        assert "belongs to the cohort (1 ICU stays, 1 without a transfer" in text
        assert "1 of 48 hours or more, none with readings). Check the tables." in text
        tables["ICUSTAYS"] = []
        assert "(0 ICU stays, 0 without a transfer" in self.complaint(write_tables(tmp_path / "empty", tables))

    @pytest.mark.parametrize("name", ["PATIENTS", "ADMISSIONS", "ICUSTAYS"])
    def test_rows_twice(self, tmp_path: Path, name: str) -> None:
        tables = make_tables(3, patients=8)
        tables[name].append(tables[name][0])
        assert f"{name}.csv must have one row for each" in self.complaint(write_tables(tmp_path / "tables", tables))

    def test_memory(self, folder: Path) -> None:
        assert "memory must be an amount such as '2GB'" in self.complaint(folder, memory="plenty")

    def test_interrupt_between_steps(self, folder: Path) -> None:
        def stop(step: str, share: float | None) -> None:
            if "CHARTEVENTS" in step:
                raise KeyboardInterrupt

        there = sorted(folder.parent.rglob("*"))
        threads = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            build_mimic3(folder, folder.parent / "cohort.parquet", spill=folder.parent, progress=stop)
        assert sorted(folder.parent.rglob("*")) == there
        assert threading.active_count() == threads

    @pytest.mark.skipif(os.name != "posix", reason="on Windows os.kill ends a process at once")
    def test_ctrl_c_while_a_table_is_read(self, folder: Path, tmp_path: Path) -> None:
        path = folder / "CHARTEVENTS.csv.gz"
        header, body = gzip.decompress(path.read_bytes()).split(b"\n", 1)
        path.write_bytes(gzip.compress(header + b"\n") + gzip.compress(body) * 1000)
        code = (
            "import os, signal, sys, threading\n"
            "from xorder.datasets import build_mimic3\n"
            "def stop(step, share):\n"
            "    if 'CHARTEVENTS' in step and share is None:\n"
            "        threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "build_mimic3(sys.argv[1], sys.argv[2], spill=sys.argv[3], progress=stop)\n"
        )
        there = sorted(tmp_path.rglob("*"))
        command = [sys.executable, "-c", code, str(folder), str(tmp_path / "cohort.parquet"), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env={**os.environ})
        assert done.returncode in (-signal.SIGINT, 130), done.stderr
        assert "KeyboardInterrupt" in done.stderr
        assert sorted(tmp_path.rglob("*")) == there


class TestLoading:
    def test_problems_of_the_paper(self, generated: Path) -> None:
        cohort = pd.read_parquet(generated / "cohort.parquet")
        mortality = load_mimic3(generated / "cohort.parquet")
        assert mortality.name == "MIMIC-III mortality"
        assert mortality.X.shape == (len(cohort), 714)
        assert set(mortality.X.dtypes) == {np.dtype("float64")}
        np.testing.assert_array_equal(mortality.y, cohort["mortality"])
        assert (mortality.sensitive_features == "female").sum() == (cohort["gender"] == "F").sum() > 0
        stay = load_mimic3(generated / "cohort.parquet", task="long_stay")
        np.testing.assert_array_equal(stay.y, cohort["los"] > 7)
        white = cohort["ethnicity"].isin(["WHITE", "WHITE - RUSSIAN"])
        np.testing.assert_array_equal(stay.sensitive_features, np.where(white, "white", "not white"))
        assert stay.y.sum() > 0
        other = load_mimic3(generated / "cohort.parquet", task="long_stay", group="gender")
        np.testing.assert_array_equal(other.sensitive_features, mortality.sensitive_features)

    def test_warnings(self, generated: Path) -> None:
        cohort = pd.read_parquet(generated / "cohort.parquet")
        unknown = (cohort["ethnicity"].fillna("UNKNOWN").str.startswith("UNKNOWN")).sum()
        assert unknown > 0
        text = " ".join(load_mimic3(generated / "cohort.parquet", task="long_stay").warnings)
        assert f"the {unknown} stays whose ethnicity is not known" in text
        differ = (cohort["mortality"] != cohort["hospital_expire_flag"]).sum()
        text = " ".join(load_mimic3(generated / "cohort.parquet").warnings)
        assert f"differs from hospital_expire_flag for {differ} stays" in text
        assert "Implausible values are left in" in text

    def test_splits_keep_patients_whole(self, generated: Path) -> None:
        patient = pd.read_parquet(generated / "cohort.parquet")["subject_id"].to_numpy()
        assert len(set(patient)) < len(patient)
        problem = load_mimic3(generated / "cohort.parquet", splits=5)
        assert len(problem.splits) == 5
        for train, test in problem.splits:
            assert sorted([*train, *test]) == list(range(len(patient)))
            assert not set(patient[train]) & set(patient[test])
            assert 0.5 < len(train) / len(patient) < 0.85

    def test_imputing_is_that_of_a_pipeline(self, generated: Path) -> None:
        from sklearn.impute import SimpleImputer

        problem = load_mimic3(generated / "cohort.parquet", splits=1)
        train = problem.splits[0].train
        imputer = SimpleImputer(keep_empty_features=True).fit(problem.X.iloc[train])
        loaded = load_mimic3(generated / "cohort.parquet", impute=train)
        assert problem.X.isna().any(axis=None)
        for filled in (impute_mean(problem.X, train), loaded.X):
            np.testing.assert_allclose(filled, imputer.transform(problem.X), rtol=1e-12)
        assert loaded.warnings == (
            *problem.warnings,
            f"Values that were not measured are filled with means over {len(train):,} rows.",
        )

    def test_imputing_over_all_rows_is_told(self, generated: Path) -> None:
        problem, filled = (load_mimic3(generated / "cohort.parquet", impute=rule) for rule in (None, "mean"))
        pd.testing.assert_frame_equal(filled.X, problem.X.fillna(problem.X.mean()).fillna(0.0))
        assert "means over all rows" in filled.warnings[-1]
        assert not any("means over" in warning for warning in problem.warnings)

    def test_wrong_arguments(self, generated: Path) -> None:
        cohort: Any = generated / "cohort.parquet"
        for options, words in (
            ({"task": "readmission"}, "task must be one of mortality, long_stay; got 'readmission'"),
            ({"group": "age"}, "group must be one of gender, ethnicity; got 'age'"),
            ({"splits": 0}, "splits must be"),
            ({"splits": "stored"}, "no splits are stored for clinical data"),
            ({"impute": "median"}, "impute must be None, 'mean' or numbers of training rows, .*; got 'median'"),
            ({"impute": [100_000]}, "impute must be None, 'mean' or numbers of training rows, at least one, each from"),
        ):
            with pytest.raises(InputError, match=words):
                load_mimic3(cohort, **options)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="name the file that xorder data build-mimic3 wrote"):
            load_mimic3(generated / "PATIENTS.csv.gz")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """The open demo's folder, its cohort and the summary of the build."""
    folder = data_file("mimic3_demo/CHARTEVENTS.csv.gz").parent
    output = tmp_path_factory.mktemp("demo") / "cohort.parquet"
    summary = build_mimic3(folder, output)
    return folder, pd.read_parquet(output).set_index("icustay_id", drop=False), summary


def benchmark_items() -> dict[int, tuple[str, str]]:
    with data_file("mimic3_benchmark/itemid_to_variable_map.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["STATUS"] == "ready" and int(row["COUNT"]) > 0]
    return {int(row["ITEMID"]): (row["LEVEL2"], row["MIMIC LABEL"]) for row in rows}


class TestDemo:
    def test_the_counts_of_each_step(self, demo: tuple[Path, Any, Any]) -> None:
        assert [int(line.split()[0]) for line in str(demo[2]).splitlines()] == [
            *(136, 126, 115, 114, 114, 57, 57),
            *(17, 20, 27, 35),
        ]
        assert demo[2].readings == 24_496

    def test_figures_that_are_known(self, demo: tuple[Path, Any, Any]) -> None:
        """Rows of the tables; and a plain filter (any mapped chart event) finds the stays of the benchmark's rule."""
        rows = {"PATIENTS": 100, "ADMISSIONS": 129, "ICUSTAYS": 136, "DIAGNOSES_ICD": 1761, "D_ICD_DIAGNOSES": 14567}
        rows |= {"LABEVENTS": 76_074}
        assert {name: sum(1 for _ in oracle.read(demo[0], name)) for name in rows} == rows
        items, charted, count = benchmark_items(), set(), 0
        for row in oracle.read(demo[0], "CHARTEVENTS"):
            count += 1
            if int(row["itemid"]) in items:
                charted.add(row["icustay_id"])
        assert count == 758_355
        stays = [row for row in oracle.select(demo[0])[0] if float(row["los"]) >= 2 and row["icustay_id"] in charted]
        assert len(stays) == 57
        assert sum(int(row["hospital_expire_flag"]) for row in stays) == 17
        assert sum(float(row["los"]) > 7 for row in stays) == 20
        assert sum(row["gender"] == "F" for row in stays) == 27
        assert sum(row["ethnicity"].startswith("WHITE") for row in stays) == 35
        assert {int(row["icustay_id"]) for row in stays} == set(demo[1].index)

    def test_every_feature_equals_the_oracle(self, demo: tuple[Path, Any, Any]) -> None:
        folder, cohort, _ = demo
        check_against_oracle(cohort, oracle.cohort(folder, benchmark_items()))

    @pytest.mark.parametrize(
        ("stay", "variable", "window", "expected"),
        [
            # pounds: 163.9, 163.9, 163.9; kg: 74.5; pounds: 163.9; kg: 71; after 0, 19, 1084, 1093, 2356, 2365 minutes
            (204132, "weight", "all", (71, 74.5, 73.8124859, 1.2590756, -1.7804400, 6)),
            (204132, "weight", "first 10%", (74.3437288, 74.3437288, 74.3437288, 0, 0, 2)),
            (204132, "weight", "first 50%", (74.3437288, 74.5, 74.3827966, 0.0676674, 1.1547005, 4)),
            (204132, "weight", "last 25%", (71, 74.3437288, 72.6718644, 1.6718644, 0, 2)),
            # 7.44 (chart and laboratory), 6.5, 7.51 (both again), after 0, 229 and 2508 minutes
            (204132, "ph", "all", (6.5, 7.51, 7.15, 0.4605070, -0.6948727, 3)),
            (204132, "ph", "first 10%", (6.5, 7.44, 6.97, 0.47, 0, 2)),
            (204132, "ph", "last 50%", (7.51, 7.51, 7.51, 0, 0, 1)),
            # 50, 40, 40, 50, 50, 50 per cent after 0, 4, 8, 24, 26 and 32 hours: two quarters end at a reading
            (210474, "fio2", "all", (0.4, 0.5, 0.4666667, 0.0471405, -0.7071068, 6)),
            (210474, "fio2", "first 25%", (0.4, 0.5, 0.4333333, 0.0471405, 0.7071068, 3)),
            (210474, "fio2", "last 10%", (0.5, 0.5, 0.5, 0, 0, 1)),
            (210474, "fio2", "last 25%", (0.5, 0.5, 0.5, 0, 0, 3)),
            (210474, "ph", "all", (7.4, 7.47, 7.435, 0.035, 0, 2)),
            # 168.5 pounds four times; 100, 50, and seven times 40 per cent of oxygen
            (205170, "weight", "all", (76.430252, 76.430252, 76.430252, 0, 0, 4)),
            (205170, "fio2", "all", (0.4, 1.0, 0.4777778, 0.1872478, 2.3547587, 9)),
            (205170, "fio2", "first 10%", (1.0, 1.0, 1.0, 0, 0, 1)),
            (205170, "fio2", "first 25%", (0.4, 1.0, 0.575, 0.2487469, 1.0659492, 4)),
        ],
    )
    def test_by_hand(
        self, demo: tuple[Path, Any, Any], stay: int, variable: str, window: str, expected: tuple[float, ...]
    ) -> None:
        found = [demo[1].loc[stay, f"{variable}|{window}|{statistic}"] for statistic in STATISTICS]
        assert found == pytest.approx(list(expected), rel=2e-6, abs=1e-6)

    def test_never_measured(self, demo: tuple[Path, Any, Any]) -> None:
        assert demo[1].loc[204132].filter(like="capillary_refill|").isna().all()
        assert len(WINDOWS) * len(STATISTICS) == 42 == demo[1].filter(like="capillary_refill|").shape[1]

    def test_the_table_of_variables_agrees_with_the_benchmark(self) -> None:
        items: dict[str, set[int]] = {}
        for item, (name, _) in benchmark_items().items():
            items.setdefault(name, set()).add(item)
        assert len(VARIABLES) == len(items) == 17
        assert sum(len(variable.items) for variable in VARIABLES) == 114
        with data_file("mimic3_benchmark/variable_ranges.csv").open(newline="") as file:
            ranges = {row["LEVEL2"].lower(): row for row in csv.DictReader(file)}
        for variable, name in zip(VARIABLES, sorted(items), strict=True):
            assert set(variable.items) == items[name], name
            row = ranges[name.lower()]
            assert variable.outlier == (float(row["OUTLIER LOW"]), float(row["OUTLIER HIGH"])), name
            assert variable.valid == (float(row["VALID LOW"]), float(row["VALID HIGH"])), name

    def test_a_model_can_learn_from_it(self, demo: tuple[Path, Any, Any], tmp_path: Path) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score
        from sklearn.model_selection import cross_val_predict
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        build_mimic3(demo[0], tmp_path / "cohort.parquet", apply_ranges=True)
        problem = load_mimic3(tmp_path / "cohort.parquet")
        model = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(C=0.001))
        scores = cross_val_predict(model, problem.X, problem.y, cv=5, method="predict_proba")[:, 1]
        assert roc_auc_score(problem.y, scores) > 0.55


class TestBenchmark:
    """The script that ``make benchmark`` runs without arguments."""

    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
        def run(script: Path, *options: str, home: str) -> Ran:
            monkeypatch.setenv("XORDER_DATA", home)
            monkeypatch.setattr(sys, "argv", [str(script), *options])
            monkeypatch.syspath_prepend(BENCHMARKS)
            try:
                runpy.run_path(str(script), run_name="__main__")
                code: Any = 0
            except SystemExit as stop:
                code = stop.code
            return Ran(code, *capsys.readouterr())

        return run

    def test_without_the_demo_it_says_so_and_goes_on(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        # Not beside shared/data, where the script looks too.
        folder = tmp_path / "checkout" / "benchmarks"
        folder.mkdir(parents=True)
        script = folder / "bench_mimic3.py"
        script.write_bytes((BENCHMARKS / "bench_mimic3.py").read_bytes())
        for home in ("", str(tmp_path)):
            ran = run(script, home=home)
            assert (ran.code, ran.err) == (0, "")
            assert ran.out.count("\n") == 1
            assert ran.out.startswith("skipped: there is no folder mimic3_demo in ")
            assert str(tmp_path / "shared" / "data") in ran.out
        ran = run(script, str(tmp_path / "gone"), home="")
        assert ran.code == 2
        assert "is not a folder" in ran.err

    def test_it_finds_the_demo_and_copies_it(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        folder = write_tables(tmp_path / "mimic3_demo", make_tables(3, patients=8), compress=True)
        once = build_mimic3(folder, tmp_path / "cohort.parquet").with_readings
        ran = run(BENCHMARKS / "bench_mimic3.py", "--copies", "2", "--rounds", "1", home=str(tmp_path))
        assert ran.code == 0, ran.err
        found = json.loads(ran.out)
        assert found["stays"] == 2 * once > 0
        assert found["left_behind"] == []
