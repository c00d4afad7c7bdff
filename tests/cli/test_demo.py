"""The demonstration: what it prints and writes is true, and comes out the same each time."""

from __future__ import annotations

import csv
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xorder
from xorder.cli import main

FILES = [
    "adjusted.csv",
    "map.json",
    "new_adjusted.csv",
    "new_people.csv",
    "people.csv",
    "report.html",
    "tradeoff.csv",
    "tradeoff.png",
]


def demo(folder: Path, *options: str, launcher: str | None = None, **environment: str) -> subprocess.CompletedProcess:
    launch = ["-m", "xorder.cli"] if launcher is None else ["-c", launcher]
    command = [sys.executable, *launch, "demo", "--output", str(folder), *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | environment
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the output of a demo as it is by default."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    done = demo(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder, done.stdout


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: np.array(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=True)}


def before_and_after(output: str) -> dict[str, tuple[float, float]]:
    """AUC and xAUC gap of each row of the closing table."""
    rows = re.findall(
        r"^(first sample|new people), score (as it was|adjusted) +(0\.\d{3}) +([+-]0\.\d{3}) ", output, re.M
    )
    return {f"{who} {when}": (float(auc), float(gap)) for who, when, auc, gap in rows}


@pytest.mark.slow
def test_the_table_shows_the_gap_before_and_after(shown: tuple[Path, str]) -> None:
    rows = before_and_after(shown[1])
    assert set(rows) == {
        f"{who} {when}" for who in ("first sample", "new people") for when in ("as it was", "adjusted")
    }
    for seed, who in ((0, "first sample"), (1, "new people")):
        people = xorder.datasets.simulate_population(4000, random_state=seed)
        result = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)
        auc, gap = rows[f"{who} as it was"]
        assert auc == pytest.approx(result.auc, abs=5.001e-4)
        assert gap == pytest.approx(result.gap("xauc").value, abs=5.001e-4)
    # All but what the evidence does not carry, which is little of so wide a gap.
    assert rows["first sample adjusted"][1] == pytest.approx(0, abs=0.005)


@pytest.mark.slow
def test_the_score_of_new_people_gets_fairer_at_little_cost(shown: tuple[Path, str]) -> None:
    rows = before_and_after(shown[1])
    auc_before, gap_before = rows["new people as it was"]
    auc_after, gap_after = rows["new people adjusted"]
    assert abs(gap_before) > 0.1
    assert abs(gap_after) < abs(gap_before) / 2
    assert auc_after > auc_before - 0.01


@pytest.mark.slow
def test_the_audit_and_the_repair_are_printed(shown: tuple[Path, str]) -> None:
    folder, output = shown
    people = xorder.datasets.simulate_population(4000, random_state=0)
    assert str(xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)) in output
    assert " ".join(xorder.load(folder / "map.json").describe().split()) in " ".join(output.split())


@pytest.mark.slow
def test_each_file_is_listed_and_there(shown: tuple[Path, str]) -> None:
    folder, output = shown
    assert sorted(path.name for path in folder.iterdir()) == FILES
    listed = output.partition(f"Files in {folder}:\n")[2]
    assert sorted(re.findall(r"^  (\S+) ", listed, re.M)) == FILES


@pytest.mark.slow
def test_it_ends_with_three_lines_and_the_page(shown: tuple[Path, str]) -> None:
    folder, output = shown
    *_, before, after, cost, page = output.splitlines()
    found = before_and_after(output)
    gaps = [found[f"new people {when}"][1] for when in ("as it was", "adjusted")]
    for line, gap in zip((before, after), gaps, strict=True):
        assert abs(float(re.findall(r"(-?[\d.]+) more", line)[0]) - 100 * gap) < 0.06
    assert re.findall(r"0\.\d{3}", cost) == [
        f"{found[f'new people {when}'][0]:.3f}" for when in ("as it was", "adjusted")
    ]
    assert page == f"Open {folder / 'report.html'} in a browser to see it drawn."
    assert max(map(len, (before, after, cost))) <= 80


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("people.csv", 0), ("new_people.csv", 1)])
def test_the_people_are_the_simulated_ones(shown: tuple[Path, str], name: str, seed: int) -> None:
    people = xorder.datasets.simulate_population(4000, random_state=seed)
    found = columns(shown[0] / name)
    assert list(found) == ["id", "group", "outcome", "score"]
    assert found["id"].tolist() == [str(number) for number in range(1, 4001)]
    np.testing.assert_array_equal(found["group"], people.group)
    np.testing.assert_array_equal(found["outcome"].astype(int), people.y_true)
    np.testing.assert_array_equal(found["score"].astype(float), people.y_score)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "source"), [("adjusted.csv", "people.csv"), ("new_adjusted.csv", "new_people.csv")])
def test_the_adjusted_scores_are_those_of_the_saved_map(shown: tuple[Path, str], name: str, source: str) -> None:
    folder, _ = shown
    found = columns(folder / name)
    adjusted = found.pop("adjusted").astype(float)
    expected = xorder.load(folder / "map.json").transform(
        found["score"].astype(float), sensitive_features=found["group"]
    )
    np.testing.assert_array_equal(adjusted, expected)
    assert np.any(adjusted != found["score"].astype(float))
    original = columns(folder / source)
    assert list(found) == list(original)
    for column, cells in original.items():
        np.testing.assert_array_equal(found[column], cells)


@pytest.mark.slow
def test_the_tradeoff_is_the_frontier(shown: tuple[Path, str]) -> None:
    people = xorder.datasets.simulate_population(4000, random_state=0)
    tables = {
        group: xorder.ScoreTable.from_arrays(
            people.y_true[people.group == group] == 1, people.y_score[people.group == group]
        )
        for group in "AB"
    }
    curve = xorder.frontier(tables["A"], tables["B"])
    found = columns(shown[0] / "tradeoff.csv")
    assert list(found) == ["gap", "auc"]
    np.testing.assert_array_equal(found["gap"].astype(float), curve.gap)
    np.testing.assert_array_equal(found["auc"].astype(float), curve.auc)
    assert curve.auc.size > 10


@pytest.mark.slow
def test_the_picture_is_a_png_of_a_size_to_look_at(shown: tuple[Path, str]) -> None:
    from matplotlib import image

    path = shown[0] / "tradeoff.png"
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert 600 <= width <= 2000
    assert 400 <= height <= 1500
    assert 10_000 < len(data) < 500_000
    pixels = image.imread(path)
    assert pixels.shape[:2] == (height, width)
    assert len(np.unique(pixels[..., :3].reshape(-1, 3), axis=0)) > 20


@pytest.mark.slow
def test_the_same_seed_gives_the_same_files_and_another_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {}
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert main(["demo", "--output", str(tmp_path / name), "--rows", "600", "--seed", seed]) == 0
        outputs[name] = capsys.readouterr().out.replace(str(tmp_path / name), "")
    for file in FILES:
        # A map says when it was fitted, and its checksum counts that.
        first, same, other = (
            re.sub(rb'"(fitted|checksum)": ".*?"', b"", (tmp_path / name / file).read_bytes()) for name in "abc"
        )
        assert first == same
        assert same != other
    assert outputs["a"] == outputs["b"] != outputs["c"]


@pytest.mark.slow
def test_a_folder_in_use_is_left_alone_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "people.csv"
    mine.write_text("mine", encoding="utf-8")
    arguments = ["demo", "--output", str(tmp_path), "--rows", "600"]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(r"xorder: error: [^\n]*not empty[^\n]*--force[^\n]*\n", captured.err)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["mine"]
    assert main([*arguments, "--force"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    assert len(columns(mine)["score"]) == 600


@pytest.mark.slow
def test_an_empty_folder_is_used_and_a_missing_one_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new" / "deep"):
        assert main(["demo", "--output", str(folder), "--rows", "600"]) == 0
        assert sorted(path.name for path in folder.iterdir()) == FILES


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "0"], "--rows"),
        (["--rows", "-5"], "--rows"),
        (["--rows", "1"], "two groups"),
        (["--rows", "1" + "0" * 30], "--rows"),
        (["--rows", "many"], "'many'"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "1.5"], "'1.5'"),
    ],
)
def test_bad_numbers_are_told_in_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    try:
        code = main(["demo", "--output", str(tmp_path / "out"), *options])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert re.fullmatch(r"xorder[^\n]*: error: [^\n]+\n", captured.err)
    assert words in captured.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "sub"])
def test_a_file_in_the_place_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], below: str) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert main(["demo", "--output", str(tmp_path / "file" / below)]) == 2
    assert re.fullmatch(r"xorder: error: [^\n]+\n", capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.slow
def test_without_matplotlib_all_but_the_picture_is_there(tmp_path: Path) -> None:
    launcher = "import sys; sys.modules['matplotlib'] = None; from xorder.cli import main; sys.exit(main(sys.argv[1:]))"
    done = demo(tmp_path, "--rows", "600", launcher=launcher)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [name for name in FILES if name != "tradeoff.png"]
    assert "tradeoff.png was left out" in done.stdout
    assert "pip install 'xorder[plot]'" in done.stdout
    assert str(tmp_path / "tradeoff.png") not in done.stdout
    assert len(before_and_after(done.stdout)) == 4


@pytest.mark.slow
def test_without_jinja2_all_but_the_page_is_there(tmp_path: Path) -> None:
    launcher = "import sys; sys.modules['jinja2'] = None; from xorder.cli import main; sys.exit(main(sys.argv[1:]))"
    done = demo(tmp_path, "--rows", "600", launcher=launcher)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [name for name in FILES if name != "report.html"]
    assert "report.html was left out" in done.stdout
    assert "pip install 'xorder[report]'" in done.stdout


@pytest.mark.slow
def test_the_picture_needs_no_screen(tmp_path: Path) -> None:
    done = demo(tmp_path, "--rows", "600", MPLBACKEND="module://no_such_screen")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "tradeoff.png").read_bytes().startswith(b"\x89PNG")
