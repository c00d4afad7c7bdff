"""The walk through a command is a table of what it enters, and of nothing else."""

from __future__ import annotations

import re

import pytest

from tools import walk


@pytest.mark.slow
def test_a_command_enters_its_own_file_and_those_that_all_share(capsys: pytest.CaptureFixture[str]) -> None:
    assert walk.main(["-v", "audit", "FairRanker.fit"]) == 0
    table, audit, ranker = re.split(r"\n\n`[\w.]+`:\n\n", capsys.readouterr().out)
    counts = {name: list(map(int, numbers)) for name, *numbers in re.findall(r"\| `(\S+)` " + r"\| (\d+) " * 3, table)}
    assert list(counts) == ["audit", "FairRanker.fit"]
    for name, listed in (("audit", audit), ("FairRanker.fit", ranker)):
        files = re.findall(r"^\d+\. `(.+)`: ", listed, re.M)
        assert len(files) == counts[name][0]
        of_cli = {file for file in files if file.startswith("cli/")}
        assert len(of_cli) == counts[name][1]
        shared = {f"cli/{file}.py" for file in ("_program",)}
        assert of_cli == (shared | {"cli/_audit.py"} if name == "audit" else set())


def test_a_walk_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        walk.main(["run"])
    assert "run is none of audit, fit, apply, report" in capsys.readouterr().err
