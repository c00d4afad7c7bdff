"""What the fuzzer found, each by its shortest call: refused, with an error of our own."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xorder
from xorder.cli import main
from xorder.engines import tables_of
from xorder.exceptions import InputError, MapFileError

Y, S, G = [0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], list("AABB")
NO_DATE = np.datetime64("NaT", "s")
HUGE = 10**400
MASKED, TWO, SCALAR = np.ma.masked, np.array([1, 2]), np.array(0.5)


def table(*rows: Any, **options: Any) -> xorder.ScoreTable:
    return xorder.ScoreTable.from_arrays(*rows, **options)


def found() -> xorder.Audit:
    return xorder.audit(Y, S, sensitive_features=G)


def fitted(**options: Any) -> xorder.XOrder:
    return xorder.XOrder(**{"small_groups": "repair"} | options).fit(S, Y, sensitive_features=G)


def planned(**options: Any) -> xorder.Plan:
    return xorder.plan(**{"gap": 0.2, "prevalence": 0.3, "auc": 0.7} | options)


def line() -> xorder.ScoreMap:
    return xorder.ScoreMap([0.0, 1.0], [0.0, 2.0])


CALLS: dict[str, Callable[[], Any]] = {
    "a negative weight behind another at its score": lambda: table([1, 1, 0], [0.5, 0.5, 0.2], [-1.0, 3.0, 1.0]),
    "no date as a score": lambda: table([1, 0], [NO_DATE, 0.5]),
    "complex labels": lambda: table(np.array([1 + 0j, 0j]), [0.1, 0.5]),
    "masked labels": lambda: table(np.ma.masked_array([1, 0], mask=[1, 0]), [0.1, 0.5]),
    "weights whose squares are too large": lambda: table([1, 0], [0.1, 0.5], [1e200, 1.0], squares=True),
    "weights whose sum is too large": lambda: table([1, 1, 0], [0.1, 0.1, 0.5], [1e308, 1e308, 1.0]),
    "masses whose sum is too large": lambda: xorder.ScoreTable([2.0, 1.0], [1e308, 1e308], [1.0, 1.0]),
    "a list in a list of scores": lambda: table([1, 0], [0.5, [0.2]]),
    "no date as a knot": lambda: xorder.ScoreMap([0.0, 1.0], [NO_DATE, 1.0]),
    "masked knots": lambda: xorder.ScoreMap([0.0, 1.0], np.ma.masked_array([0.0, 1.0], mask=[1, 0])),
    "complex knots": lambda: xorder.ScoreMap([0.0, 1.0], np.array([0j, 1 + 0j])),
    "masked scores through a map": lambda: line().apply(np.ma.masked_array([0.5, 0.6], mask=[1, 0])),
    "text through a map": lambda: line().apply("a"),
    "a number beyond floats through a map": lambda: line().apply(HUGE),
    "a dict through a map": lambda: line().apply({}),
    "a number as the pair of a gap": lambda: found().gap("xauc", 5),
    "a number as the pair of a cut": lambda: found().cut_gap(0.5, 5),
    "a number as the pair to describe": lambda: found().describe(pair=5),
    "a threshold beyond floats": lambda: xorder.Threshold(HUGE),
    "a tolerance beyond floats": lambda: xorder.audit(Y, S, sensitive_features=G, tolerance=HUGE),
    "groups that cannot be hashed": lambda: xorder.audit(Y, S, sensitive_features=[slice(1)] * 4),
    "an array as a metric": lambda: found().gap(TWO),
    "an array as a table": lambda: found().table(TWO),
    "an array as a metric to fit": lambda: fitted(metric=TWO),
    "an array as the group to compare with": lambda: found().describe(reference=TWO),
    "an array as the reference of a table": lambda: found().table("cuts", reference=TWO),
    "an array as a truth value": lambda: found().describe(everything=TWO),
    "an array for whether to repair": lambda: planned(repair=TWO),
    "an array for whether to replace": lambda: fitted().save("map.json", overwrite=TWO),
    "a word for whether to replace": lambda: fitted().save("map.json", overwrite="no"),
    "an array without axes as cuts": lambda: xorder.audit(Y, S, sensitive_features=G, cuts=SCALAR),
    "the masked constant as thresholds": lambda: found().table("net_benefit", thresholds=MASKED),
    "the masked constant as a group": lambda: fitted().explain(0.5, MASKED),
    "the masked constant as a tolerance": lambda: found().against(MASKED),
    "a complex number of NumPy as a limit": lambda: fitted(max_gap=np.complex128(1)),
    "a complex number of NumPy as a share": lambda: line().compressed(np.complex128(0)),
    "no tables": lambda: xorder.metrics.audit_tables(None),
    "no table of a group": lambda: xorder.metrics.audit_tables({"A": None, "B": table(Y, S)}),
    "a setting beyond floats": lambda: fitted(max_gap=HUGE),
    "a size beyond floats": lambda: fitted(min_group_size=HUGE),
    "bounds of text": lambda: fitted(bounds="01"),
    "bounds that are no numbers, where no score moves": lambda: fitted(bounds=(float("nan"), 1), small_groups="leave"),
    "bounds beyond floats": lambda: fitted(bounds=(0, HUGE)),
    "a number as an audit to plan from": lambda: xorder.plan(5, gap=0.2),
    "no power": lambda: planned(power=None),
    "a number as the pair to plan for": lambda: planned(pair=5),
    "a gap that is hardly one": lambda: planned(gap=5e-324),
    "a number as maps in SQL": lambda: xorder.transfer.repair_sql(5, score="s", group="g"),
    "a number as a map in SQL": lambda: xorder.transfer.repair_sql({"a": 5}, score="s", group="g"),
    "a number as an audit to state": lambda: xorder.statements(5),
    "a number as names to state": lambda: xorder.statements(found(), names=5),
    "a number as the source to state": lambda: xorder.statements(found(), source=5),
    "text as a count to suppress": lambda: xorder.statements(found(), suppress="a"),
    "a number as the group of a frame": lambda: fitted().transform_frame(5, score="s", group=5),
    "text as a penalty": lambda: xorder.datasets.simulate_population(9, penalty="a"),
    "more people than numbers": lambda: xorder.datasets.simulate_population(HUGE),
    "a table of scores whose squares are not numbers": lambda: xorder.audit(
        Y, [1e300, 2e300, 3.0, 4.0], sensitive_features=G
    ).table("scores"),
}


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_it_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(InputError):
        call()


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_a_group_named_by_a_zero_byte_ends() -> None:
    """NumPy drops zero bytes at the end of a text; looking for the next group once went on for ever."""
    try:
        groups = xorder.audit(Y, S, sensitive_features=["\0", "\0", "a", "a"]).groups
    except InputError:
        return
    assert len(groups) == 2


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_a_plan_for_a_number_of_few_bits_ends() -> None:
    """Halves of an interval between two such numbers once came to no end."""
    plain = xorder.plan(found_wide(), limit=0.5)
    assert xorder.plan(found_wide(), limit=np.float32(0.5)).rows == plain.rows


def found_wide() -> xorder.Audit:
    people = xorder.datasets.simulate_population(300)
    return xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_numbers_of_other_types_are_saved_as_plain_ones(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    fitted(max_gap=Fraction(1, 4), bounds=np.array([0, 1]), method="frontier").save(path)
    settings = json.loads(path.read_text(encoding="utf-8"))["params"]
    assert (settings["max_gap"], settings["bounds"]) == (0.25, [0.0, 1.0])
    made = xorder.audit(Y, S, sensitive_features=G, confidence=np.float32(0.5), tolerance=Fraction(1, 2))
    assert json.loads(json.dumps(made.to_dict()))["tolerance"] == 0.5


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_the_largest_of_all_numbers_is_saved(tmp_path: Path) -> None:
    """Rounded to the four digits that a map keeps of a score it was infinite."""
    largest = 1.7976931348623157e308
    repair = xorder.XOrder(small_groups="repair").fit([0.1, 0.9, 0.4, largest], Y, sensitive_features=G)
    repair.save(tmp_path / "map.json")
    assert xorder.load(tmp_path / "map.json").learnt_from_ == repair.learnt_from_


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_a_chance_that_falls_to_a_map_is_compared() -> None:
    """What counts half a row more in an interval was the root of a number below 0."""
    y, s = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0], [0.75, 0.74, 0.75, 0.75, 0.74, 0.75, 0.74, 0.74, 0.75, 0.74]
    own = {group: [row for row, name in enumerate("abaababbba") if name == group] for group in "ab"}

    def tables(up: float) -> dict[str, xorder.ScoreTable]:
        moved = {"a": s, "b": [score + up for score in s]}
        return {
            group: table([y[row] for row in mine], [moved[group][row] for row in mine]) for group, mine in own.items()
        }

    change = xorder.metrics.compare_map(tables(0.0), tables(0.1)).differences[0]
    before, after = (xorder.metrics.audit_tables(tables(up), cuts=()).auc for up in (0.0, 0.1))
    assert change.value == pytest.approx(after - before, abs=1e-12)


CHANGES: dict[str, tuple[tuple[str, ...], Any]] = {
    "a gap to the best below 0": (("summary", "optimality_gap"), -1.0),
    "a gap to the best that no digits show": (("summary", "optimality_gap"), 5e-324),
    "an AUC of hundreds": (("summary", "auc"), 700.0),
    "an AUC of text": (("summary", "auc"), "0.7"),
    "an AUC beyond floats": (("summary", "auc"), HUGE),
    "a promise of text": (("summary", "promise", "bound"), "small"),
    "a promise beyond floats": (("summary", "promise", "rows"), HUGE),
    "a promise of nothing": (("summary", "promise", "rows"), None),
    "a promise that is a list": (("summary", "promise"), []),
    "a promise of another metric": (("summary", "promise", "metric"), []),
    "bounds of text": (("params", "bounds"), "01"),
}


@pytest.fixture(scope="module")
def promising(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A saved map that makes a promise."""
    people = xorder.datasets.simulate_population(2000)
    rows = (people.y_score, people.y_true)
    repair = xorder.XOrder(max_gap=0.2, confidence=0.9).fit(*rows, sensitive_features=people.group)
    path = tmp_path_factory.mktemp("maps") / "map.json"
    repair.save(path)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize(("place", "value"), CHANGES.values(), ids=CHANGES)
def test_a_map_that_was_changed_by_hand_is_refused(
    promising: dict[str, Any], tmp_path: Path, place: tuple[str, ...], value: Any
) -> None:
    content = json.loads(json.dumps(promising))
    *outer, last = place
    part = content
    for name in outer:
        part = part[name]
    part[last] = value
    del content["checksum"]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    path = tmp_path / "map.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(MapFileError):
        xorder.load(path)


@pytest.fixture
def rows(tmp_path: Path) -> str:
    people = xorder.datasets.simulate_population(300)
    lines = ["s,y,g", *map("{},{},{}".format, people.y_score, people.y_true, people.group)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError(errno.EMFILE, "Too many open files"), 70), (PermissionError(errno.EACCES, "Permission denied"), 2)],
)
def test_a_map_that_cannot_be_opened(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, code: int
) -> None:
    """What the machine has run out of is not the mistake of the user; a map that may not be read is."""
    saved, usual = tmp_path / "map.json", Path.open
    saved.write_text("{}", encoding="utf-8")

    def opened(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "map.json":
            raise error
        return usual(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)
    columns = ["--score", "s", "--group", "g"]
    assert main(["apply", rows, *columns, "--map", str(saved), "-o", str(tmp_path / "new.csv")]) == code
    assert not (tmp_path / "new.csv").exists()


def test_a_result_that_cannot_be_written_leaves_no_map(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dumps(*_: Any, **__: Any) -> str:
        raise MemoryError

    monkeypatch.setattr("xorder.cli._fit.json", SimpleNamespace(dumps=dumps))
    out = tmp_path / "map.json"
    assert main(["fit", rows, "--score", "s", "--label", "y", "--group", "g", "--json", "-o", str(out)]) == 70
    assert not out.exists()


def test_a_table_that_is_refused_leaves_no_statements(rows: str, tmp_path: Path) -> None:
    out, columns = tmp_path / "statements.md", ["--score", "s", "--label", "y", "--group", "g"]
    assert main(["audit", rows, *columns, "--table", "net_benefit", "--threshold", "7", "--statements", str(out)]) == 2
    text = Path(rows).read_text(encoding="utf-8").replace("\n0.", "\n5.")
    Path(rows).write_text(text, encoding="utf-8")
    assert main(["audit", rows, *columns, "--table", "calibration", "--statements", str(out)]) == 2
    assert not out.exists()


@pytest.mark.parametrize("large", [1, 1 << 30], ids=["by DuckDB", "by pyarrow"])
@pytest.mark.parametrize("damage", [b"\xff", b"\0"])
def test_a_page_of_parquet_without_a_head_is_refused(tmp_path: Path, large: int, damage: bytes) -> None:
    """DuckDB says so with an error of no kind of its own."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"s": S, "y": Y, "g": G}), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + damage + content[5:])
    with pytest.raises(InputError, match="cannot be read"):
        tables_of(path, score="s", label="y", group="g", as_text=True, large=large)
