"""The command line: wrong names, what does not go together, cohorts, and the guide's own example."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.registry import DATASETS, Data
from experiments.store import read
from support.real_data import data_file
from xorder.datasets import build_mimic3
from xorder.exceptions import InputError

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "extending-experiments.md"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--dataset", "compass"], "no data set 'compass'; there are german, framingham, compas"),
        (["--model", "svm"], "no model 'svm'; there are linear"),
        (["--method", "xorder"], "no method 'xorder'; there are unadjusted"),
        (["--metric", "auc"], "no metric 'auc'; there are xauc, prf"),
        (["--model", "rankboost", "--method", "corr-reg"], "nothing to run"),
        (["--cohort", "nowhere.parquet"], "nowhere.parquet is not a file"),
        (["--cohort", str(GUIDE)], "is no cohort"),
        (["--splits", "mine"], "invalid choice"),
        (["--n-splits", "0"], "from 1 up"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        code = main(["run", *arguments, "--runs", str(tmp_path)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_missing_result_file_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["tables", "--results", str(tmp_path / "rows.jsonl")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.slow
def test_a_cohort_is_run_on_random_splits_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cohort = tmp_path / "mimic3.parquet"
    build_mimic3(data_file("mimic3_demo/PATIENTS.csv.gz").parent, cohort)
    arguments = [
        "--cohort",
        str(cohort),
        "--method",
        "unadjusted",
        "post-logit",
        "--model",
        "linear",
        "--n-splits",
        "1",
    ]
    assert main(["run", *arguments, "--processes", "1", "--runs", str(tmp_path)]) == 0
    rows = read(tmp_path / "random.jsonl")
    assert {row["data"] for row in rows} == {"mimic3-mortality", "mimic3-long-stay"}
    told = capsys.readouterr().err
    assert "random ones are drawn" in told
    assert "too small for conclusions" in told


def test_data_that_cannot_be_had_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(splits: object) -> None:
        raise InputError("no data without a network.")

    monkeypatch.setitem(DATASETS, "far", Data(refuse))  # type: ignore[arg-type]
    assert main(["run", "--dataset", "far", "--runs", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "python -m experiments run: no data without a network.\n"
    assert (tmp_path / "stored.jsonl").read_bytes() == b""


def guide_code() -> str:
    found = re.search(r"<!-- tested: own.py -->\n```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_the_guides_own_data_set_model_and_method(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(guide_code(), encoding="utf-8")
    shutil.copytree(
        ROOT / "experiments", tmp_path / "experiments", ignore=shutil.ignore_patterns("runs", "__pycache__")
    )
    text = GUIDE.read_text(encoding="utf-8")
    found = re.search(r"<!-- tested: console -->\n```console\n(.*?)```", text, re.DOTALL)
    assert found is not None
    outputs = []
    for line in found[1].splitlines():
        assert line.startswith("$ python -m experiments ")
        # Two splits of the ten: the others are run alike.
        command = [sys.executable, *line.split()[2:], *["--n-splits", "2"] * (" run " in line)]
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=True,
            timeout=120,
        )
        outputs.append(ran.stdout)
    rows = read(tmp_path / "mine" / "random.jsonl")
    assert not [row for row in rows if "error" in row]
    assert {row["method"] for row in rows} == {"unadjusted", "shift", "xorder-dp"}
    shifted = [row for row in rows if row["method"] == "shift" and row["metric"] == "xauc"]
    assert {row["parameter"] for row in shifted} >= {0.0, 0.05, 0.1}
    assert "clinic" in outputs[1]


def test_the_guides_entries_take_ten_lines_each_at_most() -> None:
    code = guide_code().split("\n\n\n")
    assert [part.splitlines()[0].split("(")[0] for part in code[1:3]] == ["def load_clinic", "def shift"]
    assert all(len(part.splitlines()) <= 10 for part in code[1:])
