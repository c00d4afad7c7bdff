"""Cases of the fuzzer that read files, run the command line, or hand the same rows to several engines."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import math
import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import xorder
from support import backends, exact
from support.drawn_files import (
    FileRows,
    changed_json,
    csv_bytes,
    damaged,
    draw_file_rows,
    gzip_bytes,
    parquet_bytes,
    read_plainly,
)
from support.fuzz_arrays import RefusedError, WrongError, check, near, rises, tried
from xorder.cli import main
from xorder.engines import GroupMaps, apply_to_frame, tables_of


def _same_tables(found: Any, rows: FileRows) -> None:
    """Complain unless tables are those of the rows; a group whose rows have no weight need not have one."""
    groups = dict.fromkeys(rows.g)
    check({str(group) for group in found} <= set(groups), "groups", list(found), "of", list(groups))
    for group in groups:
        mine = [number for number, name in enumerate(rows.g) if name == group]
        weights = None if rows.w is None else [rows.w[number] for number in mine]
        want = exact.masses([rows.y[number] for number in mine], [rows.s[number] for number in mine], weights)
        table = next((table for name, table in found.items() if str(name) == group), None)
        if table is None:
            check(not want, "group", group, "is lost")
            continue
        check(table.score.tolist() == [score for score, _, _ in want], "scores of", group, table.score.tolist(), want)
        for column, which in ((table.positive, 1), (table.negative, 2)):
            np.testing.assert_allclose(column, [float(entry[which]) for entry in want], rtol=1e-12)


def _read(path: Path, rows: FileRows, **options: Any) -> Any:
    names: dict[str, Any] = {"score": None, "label": None, "group": None} | rows.names
    return tried(tables_of, path, **names, as_text=True, **options)


def _written(place: Path, name: str, content: bytes) -> Path:
    path = place / name
    path.write_bytes(content)
    return path


def csv_file(r: Random, place: Path) -> None:
    """A csv file, in any way of writing it, or damaged."""
    rows = draw_file_rows(r)
    content, delimiter = csv_bytes(r, rows)
    if r.random() < 0.35:
        content = damaged(r, content)
        found = _read(_written(place, "rows.csv", content), rows)
        understood = read_plainly(content, delimiter, rows.names)
        if understood is not None:
            _same_tables(found, understood)
        return
    _same_tables(_read_or_wrong(_written(place, "rows.csv", content), rows), rows)


def _read_or_wrong(path: Path, rows: FileRows, **options: Any) -> Any:
    """Read a file that nothing is wrong with; what cannot be taken for another reason than its writing is refused."""
    try:
        return _read(path, rows, **options)
    except RefusedError as refusal:
        if re.search(r"finite|too far apart|range|weight|beyond|overflow|0 in group|no mass", str(refusal)):
            raise
        raise WrongError(f"a good file is refused: {refusal}") from None


def gzip_file(r: Random, place: Path) -> None:
    """A packed csv file; damage is refused, or touches nothing that counts."""
    rows = draw_file_rows(r)
    content, delimiter = csv_bytes(r, rows)
    packed = gzip_bytes(r, content)
    if r.random() < 0.35:
        packed = damaged(r, packed)
        found = _read(_written(place, "rows.csv.gz", packed), rows)
        # A file that is cut off between two members is whole for all that can be known.
        understood = read_plainly(gzip.decompress(packed), delimiter, rows.names)
        if understood is not None:
            _same_tables(found, understood)
        return
    _same_tables(_read_or_wrong(_written(place, "rows.csv.gz", packed), rows), rows)


def parquet_file(r: Random, place: Path) -> None:
    """A parquet file of any types; damaged ones are read or refused, and end nothing else."""
    rows = draw_file_rows(r)
    content = parquet_bytes(r, rows)
    options = {"large": 1} if r.random() < 0.03 else {}
    if r.random() < 0.4:
        _read(_written(place, "rows.parquet", damaged(r, content)), rows, **options)
        return
    _same_tables(_read_or_wrong(_written(place, "rows.parquet", content), rows, **options), rows)


@cache
def _saved_maps() -> list[dict[str, Any]]:
    """Contents of maps that nothing is wrong with."""
    import tempfile

    rng = np.random.default_rng(0)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, options in enumerate(
            ({"method": "frontier"}, {"method": "smooth", "do_no_harm": False}, {"method": "dp", "bounds": (0.0, 2.0)})
        ):
            names = ["a", "b", "c"] if number == 1 else ["a", "b"]
            y, s, g = rng.integers(0, 2, 60), rng.random(60).round(2), rng.choice(names, 60)
            path = Path(folder) / "map.json"
            repair = xorder.XOrder(small_groups="repair", **options).fit(s + 0.1 * y, y, sensitive_features=g)
            repair.save(path, overwrite=True)
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return found


def _signed(content: dict[str, Any]) -> dict[str, Any]:
    """Put the right checksum to a map, as somebody would who changed it on purpose."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return rest | {"checksum": "sha256:" + hashlib.sha256(text.encode()).hexdigest()}


def map_file(r: Random, place: Path) -> None:
    """A saved map: written in another way, changed with its checksum, or damaged."""
    content = r.choice(_saved_maps())
    kind = r.random()
    if kind < 0.6:
        # As another program may write the same.
        keys = list(content)
        r.shuffle(keys)
        text = json.dumps(
            {key: content[key] for key in keys}, indent=r.choice((None, 0, 1, 4)), ensure_ascii=r.random() < 0.5
        )
        repair = tried(xorder.load, _written(place, "map.json", text.encode()))
        scores = np.array([r.random() for _ in range(4)])
        for record in content["groups"]:
            got = repair.transform(scores, sensitive_features=[record["group"]] * 4)
            want = [float(exact.mapped(record["raw"], record["adjusted"], score)) for score in scores.tolist()]
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
        return
    if kind < 0.85:
        changed = changed_json(r, content)
        while r.random() < 0.3 and changed:
            changed = changed_json(r, changed)
        text = json.dumps(_signed(changed) if isinstance(changed, dict) else changed)
        encoded = text.encode()
    else:
        encoded = damaged(r, json.dumps(content, indent=1).encode())
    repair = tried(xorder.load, _written(place, "map.json", encoded))
    for group in list(repair.maps_):
        after = tried(repair.transform, [0.1, 0.5, 1e9], sensitive_features=[group] * 3)
        check(rises(after) and np.isfinite(after).all(), "a map that is no map", after.tolist())
    tried(repair.describe)
    tried(repair.explain, 0.5, next(iter(repair.maps_)))
    json.dumps(tried(repair.to_dict), allow_nan=False)
    check(repr(repair), "repr")
    if r.random() < 0.1:
        rows = _rows_of_maps(tuple(repair.maps_))
        audit = tried(xorder.audit, rows[0], rows[1], sensitive_features=rows[2])
        tried(audit.table, "moves", repair=repair)
        tried(xorder.statements, audit, repair=repair)
        if r.random() < 0.2 and len(repair.maps_) > 1:
            page = tried(xorder.report, rows[0], rows[1], sensitive_features=rows[2], repair=repair)
            check(page.html(), "an empty page")


def _rows_of_maps(groups: tuple[Any, ...]) -> tuple[list[int], list[float], list[Any]]:
    """Rows of groups that a map knows: labels, scores, groups."""
    size = 30 * len(groups)
    return (
        [k % 3 % 2 for k in range(size)],
        [k * 7 % 31 / 31 for k in range(size)],
        [groups[k // 30] for k in range(size)],
    )


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: Any = main(arguments)
        except SystemExit as stop:
            code = stop.code
    return int(code or 0), out.getvalue(), err.getvalue()


def _option(r: Random, share: float, *words: Any) -> list[str]:
    return [str(word) for word in words] if r.random() < share else []


BOUNDS = (("-1e3", "1e3"), ("0", "500"), ("1", "0"), ("-1e308", "1e308"), ("nan", "1"), ("0", "inf"))
CUTS = ("5%", "2", "score:0.5", "20%", "0", "200%", "nan%", "score:nan", "1e3", "½")
TABLES = ("groups", "xauc", "gaps", "cuts", "calibration", "net_benefit", "scores")
OUTPUTS = ("new.csv", "new.parquet", "new.csv.gz", "old.csv", "rows.csv", "new.txt", "new.x", "x" * 250 + ".csv")


def _some(r: Random, right: Sequence[str], wrong: Sequence[str]) -> str:
    """Choose, most often something right."""
    return r.choice(wrong if r.random() < 0.15 else right)


def _arguments(r: Random, command: str, rows: FileRows, name: str) -> list[str]:
    """Draw a command line: most options right, some not, in any combination."""
    words = [command, name, "--score", rows.names["score"], "--group", rows.names["group"]]
    labelled = command != "apply"
    if labelled:
        words += ["--label", rows.names["label"]]
        if "weight" in rows.names and r.random() < 0.8:
            words += ["--weight", rows.names["weight"]]
            words += _option(r, 0.3, "--weights-are", _some(r, ("counts", "sampling"), ("other",)))
        words += _option(r, 0.05, "--positive", r.choice(("1", "0", "true", "yes", "")))
        words += _option(r, 0.05, "--cluster", r.choice((rows.names["group"], rows.names["label"], "nothing")))
    words += _option(r, 0.4, "--json")
    words += _option(r, 0.1, "--missing-group", _some(r, ("error", "leave", "group"), ("drop",)))
    words += _option(r, 0.04, "--encoding", r.choice(("utf-8", "latin-1", "utf-16", "klingon", "rot13", "hex")))
    words += _option(r, 0.05, "--memory", _some(r, ("1GB", "100MB"), ("-1", "much", "0", "1e400GB")))
    if command == "audit":
        words += _option(r, 0.2, "--cut", _some(r, CUTS[:4], CUTS[4:]))
        words += _option(r, 0.2, "--tolerance", _some(r, ("0.1", "0", "1e-400"), ("-1", "nan", "inf", "x")))
        words += _option(r, 0.03, "--tolerance-cut", r.choice(("0.1", "-1")))
        words += _option(r, 0.1, "--metric", r.choice(("xauc", "prf", "parity", "auc")))
        words += _option(r, 0.1, "--pair", r.choice(rows.g), r.choice(rows.g))
        words += _option(r, 0.2, "--all")
        words += _option(r, 0.1, "--confidence", _some(r, ("0.5", "0.99"), ("0", "1", "nan", "95")))
        if r.random() < 0.3:
            words += [
                "--table",
                r.choice((*TABLES, "ll144")),
            ]
            words += _option(r, 0.5, "--format", _some(r, ("markdown", "csv", "json"), ("xml",)))
            words += _option(r, 0.2, "--suppress", _some(r, ("11", "2"), ("0", "-3", "x")))
            words += _option(r, 0.2, "--threshold", _some(r, ("0.2", "0.9"), ("0", "1", "nan")))
            words += _option(r, 0.2, "--reference", _some(r, rows.g, ("nobody",)))
            words += _option(r, 0.2, "--map", "map.json")
            words += _option(r, 0.2, "-o", "table.md", *_option(r, 0.5, "--force"))
        words += _option(r, 0.03, "--statements", "statements.md", *_option(r, 0.5, "--force"))
    elif command == "fit":
        words += ["-o", _some(r, ("new.json",), ("old.json", "rows.csv", "no/where.json", "."))]
        words += _option(r, 0.5, "--force")
        words += _option(r, 0.7, "--small-groups", _some(r, ("repair", "repair", "leave", "merge"), ("error", "x")))
        words += _option(r, 0.4, "--method", _some(r, ("smooth", "frontier", "dp"), ("magic",)))
        words += _option(r, 0.2, "--metric", r.choice(("xauc", "prf", "parity", "auc")))
        words += _option(r, 0.2, "--max-gap", _some(r, ("0", "0.05", "1"), ("-1", "nan", "inf")))
        words += _option(r, 0.05, "--tradeoff", _some(r, ("1", "0", "1e308"), ("-1", "nan")))
        words += _option(r, 0.1, "--max-cut-gap", _some(r, ("0.5", "1"), ("0", "2", "nan")))
        words += _option(
            r,
            0.2,
            "--bounds",
            *r.choice(BOUNDS),
        )
        words += _option(r, 0.1, "--confidence", _some(r, ("0.5", "0.9"), ("0", "1", "nan", "95")))
        words += _option(r, 0.1, "--next", _some(r, ("50", "1e6"), ("0", "-1", "nan", "inf", "1e400")))
        words += _option(r, 0.1, "--reference", _some(r, rows.g, ("nobody",)))
        words += _option(r, 0.1, r.choice(("--do-no-harm", "--no-do-no-harm")))
        words += _option(r, 0.1, "--min-group-size", _some(r, ("3", "0"), ("-1", "nan", "1e9")))
        words += _option(r, 0.1, "--unseen-group", _some(r, ("error", "leave"), ("x",)))
    elif command == "apply":
        words += ["--map", _some(r, ("map.json",), ("rows.csv", "none.json"))]
        words += ["-o", "new.parquet" if name.endswith("parquet") else "new.csv"]
        if r.random() < 0.15:
            words[-1] = r.choice(OUTPUTS)
        words += _option(r, 0.5, "--force")
        words += _option(
            r, 0.2, "--into", _some(r, ("adjusted", "é", "=1+1"), (rows.names["score"], "", "a\nb", "x" * 300))
        )
        words += _option(r, 0.2, "--cut", _some(r, ("50%", "2", "score:0.5"), ("0", "nan%")))
        words += _option(r, 0.7, "--unseen-group", _some(r, ("leave",), ("error", "x")))
        words += _option(r, 0.2, "--explain", _some(r, ("1", "2"), ("0", "-1", "999", "x")))
    else:
        other = ["--other", _some(r, (rows.names["label"],), (rows.names["score"], "nothing"))]
        words += r.choice((other, other, ["--map", "map.json"], [*other, "--map", "map.json"], []))
        words += _option(r, 0.1, "--cut", r.choice(("5%", "2", "score:0.5")))
    if r.random() < 0.05:
        words.insert(r.randrange(len(words) + 1), r.choice(("--", "-x", "--score", "", "@", "--help", "\0", "-o")))
    return words


@cache
def _map_text() -> str:
    return json.dumps(_saved_maps()[0])


def command(r: Random, place: Path) -> None:
    """A command line with any options: a result that is right, or one line, exit code 2 and nothing changed."""
    rows = draw_file_rows(r)
    for path in place.iterdir():
        path.unlink()
    name = "rows.csv"
    if r.random() < 0.2:
        name = "rows.parquet"
        (place / name).write_bytes(parquet_bytes(r, rows))
    else:
        (place / name).write_bytes(csv_bytes(r, rows)[0])
    for old, text in (("map.json", _map_text()), ("old.json", "old"), ("old.csv", "old")):
        (place / old).write_text(text, encoding="utf-8")
    verb = r.choices(("audit", "fit", "apply", "compare"), (5, 2, 5, 2))[0]
    words = _arguments(r, verb, rows, name)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    code, out, err = run(words)
    after = {path.name: path.read_bytes() for path in place.iterdir()}
    shown = f"{shlex.join(['xorder', *words])}: exit code {code}, {err.strip()[-300:]}"
    check("Traceback" not in err + out, shown)
    # Adjusted scores may replace the rows that they were made of, if that is asked for.
    in_place = verb == "apply" and "--force" in words and name in words[words.index("-o") :]
    check(in_place or after[name] == before[name], "the input changed:", shown)
    check("--force" in words or all(after.get(old) == before[old] for old in before), "something was replaced:", shown)
    if code == 2:
        lines = [line for line in err.splitlines() if not line.startswith("xorder: warning: ")]
        check(len(lines) == 1 and re.match(r"xorder( [\w-]+)*: error: ", lines[0]), "not one line:", repr(err), shown)
        check(after == before, "something was left:", sorted(after), shown)
        raise RefusedError(shown)
    check(code in (0, 1, 3), shown)
    if "--help" in words:
        return
    check(not [left for left in after if left.startswith(".")], "left behind:", sorted(after))
    _check_answer(verb, words, rows, out, place)


def _check_answer(verb: str, words: list[str], rows: FileRows, out: str, place: Path) -> None:
    if "--json" in words and "--table" not in words and "--suppress" not in words:
        answer = json.loads(out, parse_constant=_no_constant)
        plain = not {"--positive", "--missing-group", "--encoding"} & set(words)
        if verb == "audit" and plain:
            used = rows.w if "--weight" in words else None
            want = exact.Chances(rows.y, rows.s, rows.g, used).auc()
            if want is not None:
                near(answer["auc"], want, "AUC of the command")
    if verb == "apply" and words[words.index("-o") + 1].endswith((".csv", ".txt")) and "--encoding" not in words:
        _check_applied(words, rows, place)


def _check_applied(words: list[str], rows: FileRows, place: Path) -> None:
    """Complain unless the rows that were written are those that came, with what the map makes of their scores."""
    name = place / words[words.index("-o") + 1]
    text = name.read_text(encoding="utf-8-sig")
    delimiter = max(",;\t", key=text.replace('"Y,1"', "").partition("\n")[0].count)
    into = words[words.index("--into") + 1] if "--into" in words else "adjusted"
    with contextlib.suppress(csv.Error):
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if line]
        if into not in lines[0] or len({len(line) for line in lines}) > 1:
            return
        check(len(lines) == rows.size + 1, "rows are lost:", len(lines) - 1, "of", rows.size)
        maps = {record["group"]: record for record in _saved_maps()[0]["groups"]}
        for number, line in enumerate(lines[1:]):
            record = maps.get(rows.g[number], {"raw": [], "adjusted": []})
            want = float(exact.mapped(record["raw"], record["adjusted"], rows.s[number]))
            got = float(line[lines[0].index(into)])
            check(math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-12 * max(1.0, abs(want))), "row", number, got, want)


def _no_constant(name: str) -> None:
    raise WrongError(f"{name} in JSON")


FRAMES = ("pandas", "polars", "polars-lazy", "pyarrow", "csv", "duckdb", "parquet", "parquet-glob")


def engines(r: Random, place: Path) -> None:
    """The same rows in two engines: the same tables, and the same adjusted scores."""
    rows = draw_file_rows(r)
    cells: dict[str, Any] = {rows.names["score"]: rows.s, rows.names["label"]: rows.y, rows.names["group"]: rows.g}
    if rows.w is not None:
        cells[rows.names["weight"]] = rows.w
    # DuckDB takes most of the time, and stands behind the last three.
    chosen = [r.choice(FRAMES[:5]), r.choice(FRAMES[5:]) if r.random() < 0.15 else r.choice(FRAMES[:5])]
    names: dict[str, Any] = {"score": None, "label": None, "group": None} | rows.names
    refused = []
    for name in chosen:
        frame = backends.make(name, cells, place)
        try:
            found = tried(tables_of, frame, **names)
        except RefusedError as refusal:
            refused.append(refusal)
            continue
        _same_tables(found, rows)
    check(len(refused) in (0, 2) or chosen[0] == chosen[1], "one engine refuses:", chosen, refused)
    if refused:
        raise refused[0]
    groups = list(dict.fromkeys(rows.g))
    maps = {group: xorder.ScoreMap([0.0, 1.0], [0.1 * number, 1.0]) for number, group in enumerate(groups)}
    for name in chosen:
        if name in ("csv", "parquet", "parquet-glob"):
            continue
        frame = backends.make(name, cells, place)
        got = backends.rows_of(
            tried(apply_to_frame, GroupMaps(maps), frame, score=names["score"], group=names["group"], into="new")
        )
        for group, score, value in zip(rows.g, rows.s, got["new"], strict=True):
            want = float(exact.mapped([0.0, 1.0], maps[group].adjusted.tolist(), score))
            check(math.isclose(value, want, rel_tol=1e-12, abs_tol=1e-12), name, "gives", value, "for", want)


FILES = {
    "csv": csv_file,
    "gzip": gzip_file,
    "parquet": parquet_file,
    "mapfile": map_file,
    "command": command,
    "engines": engines,
}
