"""What our own code asks of the system fails, an operation at a time: nothing is lost, and one line says why.

``python tools/faults.py`` goes through all of them; here a few of each kind are taken where they are many.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.effort import LONG, draws
from support.fault_runs import COMMANDS, Scene, complaints, run_failing
from support.faults import KINDS, failing
from tools import faults
from xorder.reporting import _numbers


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(tmp_path_factory.mktemp("faults"))


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page takes fewer steps along the way: faults are not about them."""
    monkeypatch.setattr(_numbers, "PARTS", (1.0,))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_fails_nothing_is_lost(scene: Scene, name: str) -> None:
    # A page takes the time of ten other commands.
    kinds, most = (("open", "write", "rename", "print"), 1) if name == "report" else (KINDS, draws(12, 4))
    found = {kind: complaints(scene, name, kind, most=most) for kind in kinds}
    assert [each for _, wrong in found.values() for each in wrong] == []
    # A fault that never happens is not one that is survived.
    points = {kind: count for kind, (count, _) in found.items()}
    assert points["open"]
    assert points["print"]
    if COMMANDS[name].output and not COMMANDS[name].large:
        assert points["write"]
        assert points["rename"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audit", "apply-csv", "apply-parquet"])
def test_whatever_array_finds_no_memory_nothing_is_lost(scene: Scene, name: str) -> None:
    """Arrays of 4 kB and more, as the file is small."""
    count, wrong = complaints(scene, name, "array", most=draws(12, 4), at_least=4096)
    assert count
    assert wrong == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the shell of Linux")
@pytest.mark.parametrize("name", ["audit", "apply-csv"])
def test_with_little_memory_it_ends_in_one_line(scene: Scene, name: str) -> None:
    steps = faults.MEMORY[:: 1 if LONG else 3]
    ends, wrong = zip(*(faults.limited(scene, name, f"ulimit -v {step * 1024};") for step in steps), strict=True)
    assert [each for each in wrong if each is not None] == []
    assert ends[-1] == "done"
    assert ends[0] != "done"


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_the_old_output_and_the_next_clears_up(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert faults.main(["kill", "--runs", "1", "--people", "3000", "--command", "apply-csv"]) == 0, capsys.readouterr()


def test_a_fault_comes_when_it_is_due(scene: Scene, tmp_path: Path) -> None:
    """Operations of tests are none of ours."""
    with failing("open", 1) as fault:
        (tmp_path / "file").write_text("x", encoding="utf-8")
    assert not fault.hit
    with pytest.raises(ValueError, match="nothing"), failing("nothing", 1):
        pass
    ran, fault = run_failing(scene, COMMANDS["audit"], "open", 1)
    assert fault.hit
    assert "Too many open files" in ran.err
