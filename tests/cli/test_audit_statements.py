"""``xorder audit --statements`` writes what the Python function returns, and nothing where it must not."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import xorder
from support.command_line import Ran, files
from support.people_files import LABELLED, PEOPLE, table, write


def below_the_header(text: str) -> str:
    return text.partition("\n## ")[2]


def test_the_file_has_the_statements_of_the_python_function(
    succeed: Callable[..., str], people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "statements.md"
    printed = succeed("audit", people, *LABELLED, "--statements", out)
    audit = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert printed == f"{audit}\nWrote statements to {out}.\n"
    text = out.read_text(encoding="utf-8")
    assert below_the_header(text) == below_the_header(xorder.statements(audit))
    data = people.read_bytes()
    assert f"people.csv: {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}\n" in text
    assert "- **Columns:** score: score, label: outcome, group: group\n" in text
    assert f"\n    xorder audit {people} --score score --group group --label outcome --statements {out}\n" in text


def test_the_tolerance_is_stated_with_its_verdict(run: Callable[..., Ran], people: Path, tmp_path: Path) -> None:
    out = tmp_path / "statements.md"
    options = ["--tolerance", "0.05", "--metric", "prf", "--tolerance-cut", "0.1", "--json"]
    ran = run("audit", people, *LABELLED, "--statements", out, *options)
    assert ran.code == 1
    assert json.loads(ran.out)["verdict"] == "beyond"
    said = "0.05 for PRF gaps, and 0.1 between sensitivities at any cut; verdict: beyond"
    assert f"- **Declared tolerance:** {said}\n" in out.read_text(encoding="utf-8")


def test_a_map_reference_and_thresholds_go_with_it(
    succeed: Callable[..., str], people: Path, saved: Path, tmp_path: Path
) -> None:
    out, tables = tmp_path / "statements.md", tmp_path / "tables.md"
    options = ["--map", saved, "--reference", "B", "--threshold", "0.25", "--table", "cuts", "-o", tables]
    printed = succeed("audit", people, *LABELLED, "--statements", out, *options)
    assert printed == f"Wrote cuts to {tables}.\nWrote statements to {out}.\n"
    text = out.read_text(encoding="utf-8")
    assert "What the map changes at each cut of the list" in text
    assert "Rates less those of B, the reference" in text
    assert re.findall(r"^\| ([\d.]+) +\| A ", text, re.M) == ["0.25"]
    assert f"SHA-256 {hashlib.sha256(saved.read_bytes()).hexdigest()}" in text


def test_suppression_keeps_small_counts_off_the_screen_too(
    succeed: Callable[..., str], people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "statements.md"
    printed = succeed("audit", people, *LABELLED, "--statements", out, "--suppress", "11")
    assert printed == f"The text of the audit has small counts, and is not printed.\nWrote statements to {out}.\n"
    audit = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    found = below_the_header(out.read_text(encoding="utf-8"))
    assert found == below_the_header(xorder.statements(audit, suppress=11))
    assert "not shown" in found


def test_each_file_of_a_pattern_has_a_line(succeed: Callable[..., str], tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    columns = table()
    halves = [
        write(tmp_path / f"part{n}.csv", {name: values[n::2] for name, values in columns.items()}) for n in (0, 1)
    ]
    out = tmp_path / "statements.md"
    succeed("audit", tmp_path / "part*.csv", *LABELLED, "--statements", out)
    text = out.read_text(encoding="utf-8")
    for half in halves:
        assert f"{half}: {half.stat().st_size:,} bytes, SHA-256 {hashlib.sha256(half.read_bytes()).hexdigest()}" in text


def test_a_file_that_exists_is_replaced_only_by_force(
    refuse: Callable[..., str], succeed: Callable[..., str], people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "statements.md"
    out.write_text("mine")
    assert "exists already; choose another name, or replace it with --force." in refuse(
        "audit", people, *LABELLED, "--statements", out
    )
    assert out.read_text() == "mine"
    succeed("audit", people, *LABELLED, "--statements", out, "--force")
    assert out.read_text(encoding="utf-8").startswith("# ")


def test_what_cannot_be_written_is_refused_before_anything_is_read(
    refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path
) -> None:
    before = files(tmp_path)
    wrong = tmp_path / "missing.csv"
    assert "the folder" in refuse("audit", wrong, *LABELLED, "--statements", tmp_path / "no" / "statements.md")
    for path in (people, saved):
        options = ["--map", saved, "--statements", path, "--force"]
        assert "is an input itself" in refuse("audit", people, *LABELLED, *options)
    same = tmp_path / "same.md"
    both = refuse("audit", people, *LABELLED, "--table", "cuts", "-o", same, "--statements", same)
    assert "--statements and --output both name" in both
    assert files(tmp_path) == before


def test_options_that_do_not_go_with_it(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    given = ["audit", people, *LABELLED, "--statements", tmp_path / "statements.md"]
    assert "--format is about tables" in refuse(*given, "--format", "csv")
    assert "name a --table" in refuse(*given, "--suppress", "11", "--json")
    assert "--threshold is about tables" in refuse("audit", people, *LABELLED, "--threshold", "0.1")
    assert list(tmp_path.glob("*.md")) == []
