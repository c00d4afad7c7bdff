"""csv: nothing but the new field changes, and each kind of damage is told with its line."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.effort import draws
from support.file_rows import Rows, halving, read_rows
from xorder import ScoreMap
from xorder.engines import GroupMaps, apply_to_file
from xorder.engines import _csv_file as csv_file
from xorder.exceptions import InputError, XorderWarning

COLUMNS = {"score": "score", "group": "group"}
SAME = GroupMaps({"a": ScoreMap.identity()})
ANY = halving("a", unseen_group="leave")
MAPS = halving("a", "b", "c", "007", "é", "日本", 'a,\n"b"')


def read(path: Path, content: str | bytes, **options: str) -> Rows:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_rows(path, **{**COLUMNS, **options})


def complaint(path: Path, content: str | bytes, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read(path, content, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def added(
    path: Path,
    content: str | bytes,
    *,
    maps: GroupMaps = MAPS,
    into: str = "new",
    encoding: str = "utf-8",
    out: str = "out.csv",
) -> bytes:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    target = path.with_name(out)
    apply_to_file(maps, path, target, into=into, encoding=encoding, **COLUMNS)
    return target.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.csv"


class TestReading:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters(self, path: Path, delimiter: str) -> None:
        text = "id,score,group\n1,0.5,a\n".replace(",", delimiter)
        assert read(path, text).y_score.tolist() == [0.5]

    def test_delimiter_inside_a_quoted_name_does_not_count(self, path: Path) -> None:
        assert read(path, 'score,group,"a|b|c|d|e"\n0.5,x,1\n').groups == ["x"]

    def test_quote_inside_a_name(self, path: Path) -> None:
        assert read(path, 'score,group,height 5"\n0.5,x,1\n').groups == ["x"]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends_blank_lines_and_mark(self, path: Path, end: str) -> None:
        text = end.join(["\ufeffscore,group", "", "0.5,a", "", "", "0.25, b "]).encode()
        rows = read(path, text)
        assert rows.y_score.tolist() == [0.5, 0.25]
        assert rows.groups == ["a", " b "]
        text = end.join(["", "score,group", "", "0.5,a", "", "", "x,b"])
        assert "column 'score' must be finite; line 7 holds 'x'" in complaint(path, text)

    def test_quoted_header_after_a_mark(self, path: Path) -> None:
        assert read(path, '\ufeff"score","group"\n1,a').y_score.tolist() == [1.0]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "cp1252"])
    def test_encodings(self, path: Path, encoding: str) -> None:
        rows = read(path, "score,group\n0.5,é\n".encode(encoding), encoding=encoding)
        assert rows.groups == ["é"]

    def test_numbers_may_be_padded(self, path: Path) -> None:
        assert read(path, "score,group\n 0.50,a\n1e-3 ,a\n+7,a\n").y_score.tolist() == [0.5, 0.001, 7.0]

    @pytest.mark.parametrize("cell", ["abc", "", " ", "NA", "null", "nan", "inf", "-Infinity", "1_000", "1e999"])
    def test_not_a_number(self, path: Path, cell: str) -> None:
        text = complaint(path, f'score,group\n1,"a\nb"\n2,a\n\n{cell},a\nworse,a\n')
        came = f"holds {cell!r}" if cell else "is empty"
        assert text == f"{path}: column 'score' must be finite; line 6 {came}. Correct or remove this row."

    def test_decimal_comma(self, path: Path) -> None:
        assert complaint(path, "score;group\n0,5;a\n") == (
            f"{path}: column 'score' must be finite; line 2 holds '0,5'. Write decimals with a point and no thousands "
            "separator."
        )

    def test_long_cells_are_cut_in_messages(self, path: Path) -> None:
        assert len(complaint(path, f"score,group\n{'x' * 5000},a\n")) < 300

    def test_missing_values_as_groups_are_text(self, path: Path) -> None:
        assert read(path, "score,group\n1,NA\n2,nan\n").groups == ["NA", "nan"]

    def test_records_longer_than_a_block(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(csv_file, "_BLOCK", 8)
        text = "score,group,note\n" + "".join(f'{n},"g\n{n}","{"x" * n}\r\n""y"""\n' for n in range(30))
        rows = read(path, text)
        assert rows.groups == [f"g\n{n}" for n in range(30)]
        assert "must be finite; line 92 holds 'no'" in complaint(path, text + "no,a,b\n")


class TestDamage:
    def test_column_twice(self, path: Path) -> None:
        assert "2 columns named 'score'" in complaint(path, "score,group,score\n1,a,2\n")

    def test_other_columns_may_repeat(self, path: Path) -> None:
        assert read(path, "score,group,x,x\n1,a,2,3\n").y_score.tolist() == [1.0]

    @pytest.mark.parametrize(("record", "count"), [("1", 1), ("1,a,b,c", 4), ("   ", 1)])
    def test_number_of_fields(self, path: Path, record: str, count: int) -> None:
        text = complaint(path, f'score,group,x\n1,"a\n\nb",c\n{record}\n')
        assert f"{path}, line 5: {count} fields, but the header has 3" in text

    @pytest.mark.parametrize("tail", ['1,"a\n2,b\n', '1,"a"b\n2,b\n', '1,"a\n2,"b"\n'])
    def test_quotes_that_do_not_pair_up(self, path: Path, tail: str) -> None:
        text = complaint(path, f'score,group\n0,"x\ny"\n{tail}')
        assert f"{path}, line 4: the quotes" in text

    def test_quote_in_the_header(self, path: Path) -> None:
        assert "quotes in the header" in complaint(path, '"score,group\n1,a\n')

    @pytest.mark.slow
    def test_long_field(self, path: Path) -> None:
        limit = csv.field_size_limit()
        note = "x" * (15 << 20)
        assert read(path, f'score,group,note\n1,a,"{note}"\n').y_score.tolist() == [1.0]
        text = complaint(path, f'score,group,note\n1,a,"b\nc"\n1,a,"{note}\n{note}"\n')
        assert "line 4: the record that starts here has more than 16 MiB" in text
        assert csv.field_size_limit() == limit

    @pytest.mark.slow
    def test_quote_never_closed_in_a_large_file(self, path: Path) -> None:
        text = complaint(path, 'score,group\n1,a\n2,"b\n' + "3,some group of people\n" * 1_000_000)
        assert "line 3: the record that starts here has more than 16 MiB" in text

    def test_nul(self, path: Path) -> None:
        assert "line 3: holds a NUL byte" in complaint(path, b"score,group\n1,a\n2,\0\n")

    def test_nul_in_a_later_block(self, path: Path) -> None:
        text = b"score,group\n" + b"1,aaaaaaaaaaaaaaaa\n" * 40_000 + b"1,\0\n"
        assert "line 40002: holds a NUL byte" in complaint(path, text)

    @pytest.mark.parametrize("content", ["\n\r\n\n", "\ufeff", "\ufeff\n"])
    def test_nothing_but_blank_lines(self, path: Path, content: str) -> None:
        assert "is empty" in complaint(path, content)

    @pytest.mark.parametrize("content", ["score,group", "score,group\n", "score,group\r\n\r\n"])
    def test_header_only(self, path: Path, content: str) -> None:
        assert "no rows" in complaint(path, content)

    def test_junk(self, path: Path) -> None:
        rng = np.random.default_rng(0)
        for size in (1, 7, 100, 100_000):
            assert str(path) in complaint(path, rng.bytes(size))

    @pytest.mark.parametrize(
        ("head", "kind"),
        [(b"PAR1\x15\x04", "parquet"), (b"\x1f\x8b\x08", "gzip"), (b"PK\x03\x04", "Excel or zip")],
    )
    def test_other_formats_are_named(self, path: Path, head: bytes, kind: str) -> None:
        assert f"looks like an {kind}".replace("an p", "a p").replace("an g", "a g") in complaint(path, head * 9)

    def test_a_name_like_the_mark_of_parquet_is_fine(self, path: Path) -> None:
        assert read(path, "PAR1,score,group\n1,2,a\n").y_score.tolist() == [2.0]


class TestEncodingErrors:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
    def test_line_and_byte(self, path: Path, end: bytes) -> None:
        lines = [b"score,group", b'1,"a', b'b"', b"2,\xc3\xa9", b"3,\xe9t\xe9", b"4,a"]
        text = complaint(path, end.join(lines))
        assert f"{path}, line 5: the byte 0xe9 is not valid in utf-8" in text
        assert "encoding='latin-1'" in text
        rows = read(path, end.join([*lines[:3], *lines[4:]]), encoding="latin-1")
        assert rows.groups[1] == "été"

    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
    @pytest.mark.parametrize("block", [5, 6, 7, 8, 64])
    def test_line_when_blocks_cut_line_ends(
        self, path: Path, end: bytes, block: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(csv_file, "_BLOCK", block)
        text = complaint(path, end.join([b"score,group", *[b"1,\xc3\xa9"] * 20, b"\xff", b"1,a"]))
        assert "line 22: the byte 0xff" in text

    def test_cut_off_character_at_the_end(self, path: Path) -> None:
        assert "line 2: the byte 0xc3" in complaint(path, b"score,group\n1,\xc3")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    def test_other_unicode_is_recognised(self, path: Path, encoding: str) -> None:
        text = complaint(path, "score,group\n1,a\n".encode(encoding))
        assert f"encoding={encoding!r}" in text

    def test_utf_16_without_mark(self, path: Path) -> None:
        assert "encoding='utf-16'" in complaint(path, "score,group\n1,a\n".encode("utf-16-le"))

    def test_cut_off_utf_16(self, path: Path) -> None:
        data = "score,group\n1,a\n".encode("utf-16")
        assert "line 3: the byte" in complaint(path, data + b"x", encoding="utf-16")

    @pytest.mark.parametrize("encoding", ["nonsense", "hex", "", "utf\0"])
    def test_unknown_encoding(self, path: Path, encoding: str) -> None:
        assert complaint(path, "score,group\n1,a\n", encoding=encoding) == (
            f"encoding must be the name of an encoding, such as utf-8, latin-1 or utf-16; got {encoding!r}."
        )


class TestGzip:
    DATA = gzip.compress(b"score,group\n" + b"".join(b"%d,a\n" % (n * n) for n in range(50_000)))

    def test_reads(self, tmp_path: Path) -> None:
        rows = read(tmp_path / "people.csv.gz", self.DATA)
        assert rows.y_score[-1] == 49_999**2

    @pytest.mark.parametrize("keep", [5, 15, 1000, -1])
    def test_cut_short(self, tmp_path: Path, keep: int) -> None:
        path = tmp_path / "people.csv.gz"
        assert f"{path} is damaged or cut short" in complaint(path, self.DATA[:keep])

    def test_corrupt(self, tmp_path: Path) -> None:
        path = tmp_path / "people.csv.gz"
        half = len(self.DATA) // 2
        assert "is damaged" in complaint(path, self.DATA[:half] + b"\xff" * 50 + self.DATA[half + 50 :])
        assert "is damaged" in complaint(path, self.DATA[:-8] + b"\0" * 8)

    def test_not_gzip(self, tmp_path: Path) -> None:
        text = complaint(tmp_path / "people.csv.gz", "score,group\n1,a\n")
        assert "not gzip-compressed" in text
        assert "remove the ending .gz" in text

    def test_empty_inside(self, tmp_path: Path) -> None:
        assert "is empty" in complaint(tmp_path / "people.csv.gz", gzip.compress(b""))

    def test_damage_found_late_leaves_no_output(self, tmp_path: Path) -> None:
        path = tmp_path / "people.csv.gz"
        with pytest.raises(InputError, match="cut short"):
            added(path, self.DATA[:-20])
        assert list(tmp_path.iterdir()) == [path]

    def test_compressing_and_back(self, tmp_path: Path) -> None:
        path = tmp_path / "people.csv"
        packed = added(path, "score,group\r\n1,a", out="packed.CSV.GZ")
        assert gzip.decompress(packed) == b"score,group,new\r\n1,a,0.5"
        assert packed == added(path, "score,group\r\n1,a", out="again.csv.gz")
        unpacked = added(tmp_path / "other.csv.gz", gzip.compress(b"score,group\r\n1,a"), out="plain.csv")
        assert unpacked == b"score,group,new\r\n1,a,0.5"


class TestPassingThrough:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("score,group\n1.50,007\n", "score,group,new\n1.50,007,0.75\n"),
            ("score,group\r\n1,a\r\n", "score,group,new\r\n1,a,0.5\r\n"),
            ("score,group\r1,a\r", "score,group,new\r1,a,0.5\r"),
            ("score,group\n1,a", "score,group,new\n1,a,0.5"),
            ("\ufeffscore,group\n1,a\n", "\ufeffscore,group,new\n1,a,0.5\n"),
            ("\n\nscore,group\n\n1,a\n\r\n2,b\n\n", "\n\nscore,group,new\n\n1,a,0.5\n\r\n2,b,1.0\n\n"),
            ('"score","group"\n"1","a,\n""b"""\n', '"score","group",new\n"1","a,\n""b""",0.5\n'),
            ("score;group;\n1;a;\n", "score;group;;new\n1;a;;0.5\n"),
            ("score\tgroup\n0.2\té\n", "score\tgroup\tnew\n0.2\té\t0.1\n"),
            ('score,"the\r\ngroup",group\n1,,a\n', 'score,"the\r\ngroup",group,new\n1,,a,0.5\n'),
            ("score,group\n1,a\n2,b\r\n3,c\r", "score,group,new\n1,a,0.5\n2,b,1.0\r\n3,c,1.5\r"),
        ],
    )
    def test_text(self, path: Path, before: str, after: str) -> None:
        assert added(path, before) == after.encode()

    def test_numbers_are_the_shortest_that_round_trip(self, path: Path) -> None:
        scores = [0.1 + 0.2, 1e-320, 1e300, 2 / 3, -0.0]
        text = "score,group\n" + "".join(f" {score:.25e},a\n" for score in scores)
        fields = [line.split(b",")[2] for line in added(path, text, maps=SAME).splitlines()[1:]]
        assert fields == [repr(score).encode() for score in scores]

    @pytest.mark.parametrize("name", ["a,b", 'say "x"', "two\nlines", "a\rb", "a;b", " padded ", "é"])
    def test_name_is_quoted_where_needed(self, path: Path, name: str) -> None:
        text = added(path, "score,group\n1,a\n", into=name).decode()
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert rows == [["score", "group", name], ["1", "a", "0.5"]]
        assert ('"' in text) == any(character in name for character in ',"\r\n')

    @pytest.mark.parametrize(
        "encoding",
        ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "shift_jis", "gb18030"],
    )
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_encodings(self, path: Path, encoding: str, mark: str) -> None:
        if mark and not encoding.startswith("utf-16-"):
            mark = ""  # the codec writes its own, or cannot write any
        word = "日本" if encoding in {"shift_jis", "gb18030"} else "é"
        before = f"{mark}score,group\r\n1,{word}\r\n".encode(encoding)
        after = f"{mark}score,group,new\r\n1,{word},0.5\r\n".encode(encoding)
        assert added(path, before, encoding=encoding) == after

    @pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b""])
    def test_byte_order_is_kept(self, path: Path, mark: bytes) -> None:
        codec = "utf-16-be" if mark == b"\xfe\xff" else "utf-16-le"
        before, after = "score,group\n1,a\n".encode(codec), "score,group,new\n1,a,0.5\n".encode(codec)
        assert added(path, mark + before, encoding="utf-16") == mark + after

    def test_bytes_that_another_spelling_would_replace_are_refused(self, path: Path) -> None:
        before = b"score,group\n1,\xfa\x54\n"  # in cp932 the not sign has two spellings, and this is the rarer
        assert before.decode("cp932").encode("cp932") != before
        assert read(path, before, encoding="cp932").y_score.tolist() == [1.0]
        with pytest.raises(InputError, match="without changing bytes; save it as UTF-8"):
            added(path, before, encoding="cp932")
        assert list(path.parent.iterdir()) == [path]

    def test_bad_bytes_in_an_encoding_that_is_checked_first(self, path: Path) -> None:
        with pytest.raises(InputError, match="line 2: the byte 0x81 is not valid in cp1252"):
            added(path, b"score,group\n1,\x81\n", encoding="cp1252")

    def test_name_that_the_encoding_lacks(self, path: Path) -> None:
        with pytest.raises(InputError, match="cannot be written in iso8859-1"):
            added(path, "score,group\n1,a\n", into="€", encoding="latin-1")
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.slow
    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path) -> None:
        peaks = []
        for size in (60_000, 180_000):
            path = tmp_path / f"people{size}.csv"
            path.write_text("score,group\n" + "0.123456789,a\n0.5,b\n" * (size // 2))
            tracemalloc.start()
            assert apply_to_file(MAPS, path, path, into="new", overwrite=True, **COLUMNS).rows == size
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 1.2 * peaks[0]


DELIMITER = st.sampled_from([",", ";", "\t", "|"])
LINE_END = st.sampled_from(["\n", "\r\n", "\r"])
TEXT = st.text(
    st.one_of(st.sampled_from('",;\t|\r\n \u2028\x0b\x85é'), st.characters(exclude_characters="\0", codec="utf-8")),
    max_size=8,
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr)
RECORD = st.tuples(TEXT, NUMBER, TEXT.filter(str.strip), TEXT)


@st.composite
def contents(draw: st.DrawFn) -> tuple[str, str, str, list[tuple[str, ...]]]:
    """A csv text, the same with a marker where the new field belongs, its delimiter and its records."""
    delimiter = draw(DELIMITER)
    records = draw(st.lists(RECORD, min_size=1, max_size=6))
    before = after = draw(st.sampled_from(["", "\ufeff"]))
    for number, record in enumerate([("id", "score", "group", "note"), *records]):
        blank = "".join(draw(st.lists(LINE_END, max_size=2)))
        fields = []
        for field in record:
            must = any(character in field for character in f'{delimiter}"\r\n')
            quote = must or draw(st.booleans())
            fields.append('"' + field.replace('"', '""') + '"' if quote else field)
        end = draw(LINE_END)
        if number == len(records) and draw(st.booleans()):
            end = ""
        before += blank + delimiter.join(fields) + end
        after += blank + delimiter.join(fields) + "\0" + end
    return before, after, delimiter, records


@pytest.mark.slow
@settings(max_examples=draws(300), deadline=None)
@given(content=contents(), block=st.sampled_from([1, 7, 50, 1 << 18]))
def test_any_text_passes_byte_for_byte(content: tuple[str, str, str, list[tuple[str, ...]]], block: int) -> None:
    before, marked, delimiter, records = content
    scores = [float(record[1]) for record in records]
    moved = ScoreMap([0.0, 1.0], [0.3, 0.7])
    maps = GroupMaps({records[0][2]: moved}, unseen_group="leave")
    values = [
        moved.apply(np.array([score]))[0].item() if record[2] == records[0][2] else score
        for score, record in zip(scores, records, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "_BLOCK", block)
        path, out = Path(folder, "people.csv"), Path(folder, "out.csv")
        path.write_bytes(before.encode())
        rows = read_rows(path, **COLUMNS)
        with warnings.catch_warnings():
            # Cells that a spreadsheet would take for formulas are warned of.
            warnings.simplefilter("ignore", XorderWarning)
            count = apply_to_file(maps, path, out, into="new", **COLUMNS).rows
        result = out.read_bytes()
    assert rows.y_score.tolist() == scores
    assert rows.groups == [record[2] for record in records]
    assert count == len(records)
    pieces = marked.split("\0")
    fields = ["new", *(repr(value) for value in values), ""]
    expected = "".join(
        piece + (delimiter + field if field else "") for piece, field in zip(pieces, fields, strict=True)
    )
    assert result == expected.encode()
    table = list(filter(None, csv.reader(io.StringIO(result.decode("utf-8-sig"), newline=""), delimiter=delimiter)))
    assert table[0] == ["id", "score", "group", "note", "new"]
    assert [row[:-1] for row in table[1:]] == [list(record) for record in records]
    assert [float(row[-1]) for row in table[1:]] == values


PIECES = st.sampled_from([b"score,group\n", b"1,a\n", b'"', b",", b"\n", b"\r", b"\0", b"\xc3", b"\xff\xfe", b"x"])


@pytest.mark.slow
@settings(max_examples=draws(200), deadline=None)
@given(
    content=st.one_of(st.binary(min_size=1), st.lists(PIECES, min_size=1).map(b"".join)),
    encoding=st.sampled_from(["utf-8", "utf-16", "latin-1", "cp932", "utf-7", "idna", "punycode"]),
    ending=st.sampled_from([".csv", ".csv.gz"]),
)
def test_any_bytes_are_rows_or_an_input_error(content: bytes, encoding: str, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, f"people{ending}"), Path(folder, f"out{ending}")
        for data in (content, gzip.compress(content)):
            path.write_bytes(data)
            try:
                rows = read_rows(path, encoding=encoding, **COLUMNS)
            except InputError:
                with pytest.raises(InputError):
                    apply_to_file(ANY, path, out, into="new", encoding=encoding, **COLUMNS)
                assert list(Path(folder).iterdir()) == [path]
            else:
                assert np.isfinite(rows.y_score).all()
                assert len(rows.groups) == len(rows.y_score) > 0
