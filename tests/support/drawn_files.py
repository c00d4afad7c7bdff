"""Files of rows as users have them: csv in all its ways of writing, gzip, parquet; and damage to their bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from support.drawn_columns import draw_numbers, draw_weights

TEXTS = (
    "a",
    "b",
    "A",
    "a, b",
    'say "a"',
    "é",
    "\u202eb",
    "=1+1",
    "-a",
    "x" * 40,
    "a  b",
    "0",
    "1e5",
    "nan",
    "ünïcode",
    "a;b",
)


@dataclass(frozen=True)
class FileRows:
    """Rows of a file: label, score, group and weight of each, and what the columns are called."""

    y: list[int]
    s: list[float]
    g: list[str]
    w: list[float] | None
    names: dict[str, str]

    @property
    def size(self) -> int:
        return len(self.y)


def draw_file_rows(r: Random) -> FileRows:
    """Draw rows for a file; each group has a name that is not blank."""
    size = r.randint(4, 12)
    names = {"score": "s", "label": "y", "group": "g"}
    if r.random() < 0.3:
        names = {"score": "the score", "label": "Y,1", "group": 'g"é"'}
    pool = r.sample(TEXTS, r.randint(2, 3)) if r.random() < 0.5 else ["a", "b"]
    g = [r.choice(pool) for _ in range(size)]
    g[:2] = pool[:2]
    w = None
    if r.random() < 0.3:
        names["weight"] = "w"
        w = draw_weights(r, size, wild=False)
    s = draw_numbers(r, size, wild=r.random() < 0.2)
    return FileRows([r.randint(0, 1) for _ in range(size)], s, g, w, names)


NUMBER_WORDS: tuple[Callable[[float], str], ...] = (
    repr,
    repr,
    lambda value: f"{value:.17g}",
    lambda value: f"{value:+.17e}",
    lambda value: f" {value!r} ",
    lambda value: repr(value).upper(),
    lambda value: repr(value).removeprefix("0") if value else "0",
)
LABEL_WORDS = (
    ("0", "1"),
    ("0", "1"),
    ("0.0", "1.0"),
    ("false", "true"),
    ("FALSE", "TRUE"),
    (" 0", "1 "),
    ("0e0", "1.00"),
)


def csv_bytes(r: Random, rows: FileRows) -> tuple[bytes, str]:
    """Write rows as csv in one of its many ways; return the bytes and the delimiter."""
    delimiter = r.choice(",,,;\t")
    number, words = r.choice(NUMBER_WORDS), r.choice(LABEL_WORDS)
    cells = {
        rows.names["score"]: [number(value) for value in rows.s],
        rows.names["label"]: [words[label] for label in rows.y],
        rows.names["group"]: rows.g,
    }
    if rows.w is not None:
        cells[rows.names["weight"]] = [number(value) for value in rows.w]
    if r.random() < 0.4:
        cells["note"] = [r.choice(("", "a", 'x "y"', "two\nlines", "1,5", "é")) for _ in range(rows.size)]
    order = list(cells)
    r.shuffle(order)
    out = io.StringIO()
    if r.random() < 0.05:
        out.write("\n\n")
    quoting = r.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(out, delimiter=delimiter, lineterminator=r.choice(("\n", "\n", "\r\n")), quoting=quoting)
    writer.writerow(order)
    writer.writerows(zip(*(cells[name] for name in order), strict=True))
    text = out.getvalue()
    if r.random() < 0.2:
        text = text.rstrip("\r\n")
    elif r.random() < 0.1:
        text += r.choice(("\n", "\n\n"))
    return text.encode("utf-8-sig" if r.random() < 0.1 else "utf-8"), delimiter


MARKS = (b"\0", b'"', b"\n", b"\r", b",", b";", b"\xff", b"\xef\xbb\xbf", b"9", b"-", b"e", b" ")


def damaged(r: Random, content: bytes) -> bytes:
    """Change some bytes: flip, drop, double, insert, swap or cut off."""
    found = bytearray(content)
    for _ in range(r.choice((1, 1, 1, 2, 5))):
        if not found:
            break
        at = r.randrange(len(found))
        kind = r.randrange(7)
        if kind == 0:
            found[at] ^= 1 << r.randrange(8)
        elif kind == 1:
            found[at] = r.randrange(256)
        elif kind == 2:
            del found[at : at + r.choice((1, 1, 4, 30))]
        elif kind == 3:
            found[at:at] = r.choice(
                (b"\0", b'"', b"\n", b"\r", b",", b";", b"\xff", b"\xef\xbb\xbf", b"9", b"-", b"e", b" ")
            )
        elif kind == 4:
            found[at:at] = found[at : at + r.choice((1, 8, 60))]
        elif kind == 5:
            del found[at:]
        else:
            other = r.randrange(len(found))
            found[at], found[other] = found[other], found[at]
    return bytes(found)


def read_plainly(content: bytes, delimiter: str, names: dict[str, str]) -> FileRows | None:
    """Read csv with the standard library; None where there may be two minds about what it says."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\0" in text or "\ufeff" in text or "\r" in text.replace("\r\n", "") or "_" in text or "'" in text:
        return None
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if line]
    except csv.Error:
        return None
    if not lines or len(set(lines[0])) < len(lines[0]) or any(len(line) != len(lines[0]) for line in lines):
        return None
    if not set(names.values()) <= set(lines[0]):
        return None
    column = {role: lines[0].index(name) for role, name in names.items()}
    classes = {word.strip(): place for pair in LABEL_WORDS for place, word in enumerate(pair)}
    try:
        y = [classes[line[column["label"]].strip()] for line in lines[1:]]
        s = [float(line[column["score"]]) for line in lines[1:]]
        w = [float(line[column["weight"]]) for line in lines[1:]] if "weight" in column else None
    except (KeyError, ValueError):
        return None
    return FileRows(y, s, [line[column["group"]] for line in lines[1:]], w, names)


def gzip_bytes(r: Random, content: bytes) -> bytes:
    """Pack with any level, in one member or several, with or without the optional parts of a header."""
    cut = r.randrange(len(content) + 1) if r.random() < 0.3 else len(content)
    packed = b"".join(_member(r, part) for part in (content[:cut], content[cut:]) if part)
    return packed + b"\0" * r.choice((0, 0, 0, 7))


def _member(r: Random, content: bytes) -> bytes:
    if r.random() < 0.5:
        return gzip.compress(content, r.randint(0, 9), mtime=r.randrange(1 << 31))
    flags, parts = 0, b""
    if r.random() < 0.4:
        flags |= 4
        parts += struct.pack("<H", 5) + b"extra"
    if r.random() < 0.5:
        flags |= 8
        parts += b"rows.csv\0"
    if r.random() < 0.3:
        flags |= 16
        parts += b"a comment\0"
    header = struct.pack("<BBBBIBB", 31, 139, 8, flags, r.randrange(1 << 31), 0, 255) + parts
    squeeze = zlib.compressobj(
        r.randint(1, 9), zlib.DEFLATED, -15, 8, r.choice((zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED))
    )
    body = squeeze.compress(content) + squeeze.flush()
    return header + body + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)


def parquet_bytes(r: Random, rows: FileRows) -> bytes:
    """Write rows as parquet, with any types, compression, pages and parts that hold them as they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells: dict[str, Any] = {
        rows.names["score"]: pa.array(rows.s),
        rows.names["label"]: pa.array(
            rows.y, r.choice((pa.int64(), pa.int8(), pa.uint16(), pa.float64(), pa.float32()))
        ),
        rows.names["group"]: pa.array(rows.g, r.choice((pa.string(), pa.string(), pa.large_string()))),
    }
    if r.random() < 0.2:
        cells[rows.names["label"]] = pa.array([bool(label) for label in rows.y])
    if r.random() < 0.2:
        cells[rows.names["group"]] = cells[rows.names["group"]].dictionary_encode()
    if rows.w is not None:
        cells[rows.names["weight"]] = pa.array(rows.w)
    if r.random() < 0.3:
        cells["note"] = pa.array([r.choice((None, "a", "é")) for _ in range(rows.size)])
    if r.random() < 0.2:
        cells["nested"] = pa.array([[1, 2]] * rows.size)
    out = io.BytesIO()
    pq.write_table(
        pa.table(cells),
        out,
        compression=r.choice(("none", "snappy", "gzip", "zstd")),
        row_group_size=r.choice((None, 1, 3, 100)),
        use_dictionary=r.random() < 0.5,
        version=r.choice(("1.0", "2.4", "2.6")),
        data_page_version=r.choice(("1.0", "2.0")),
        write_statistics=r.random() < 0.5,
        write_page_checksum=r.random() < 0.3,
        store_schema=r.random() < 0.5,
    )
    return out.getvalue()


ODD_JSON: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    1e308,
    5e-324,
    10**400,
    "",
    "a",
    "\0",
    [],
    {},
    [1],
    {"a": 1},
    "1",
    0.5,
)


def changed_json(r: Random, content: Any) -> Any:
    """Return a copy of a tree of JSON with something changed, left out, added or put elsewhere."""
    tree = json.loads(json.dumps(content))
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            walk(node[key])

    walk(tree)
    node, key = r.choice(places)
    kind = r.randrange(4)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, list):
        node.insert(r.randrange(len(node) + 1), r.choice(ODD_JSON))
    elif kind == 2 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * r.choice((1 + 1e-15, 2, -1, 1e300)) if abs(node[key]) < 1e8 else 0
    else:
        node[key] = r.choice(ODD_JSON)
    return tree
