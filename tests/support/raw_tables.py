"""Small raw files of the same shapes as the public ones, and a server on loopback to fetch them from."""

from __future__ import annotations

import csv
import io
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from xorder.datasets._catalogue import OPEN_SETS
from xorder.datasets._open_set import OpenSet
from xorder.datasets._raw_file import fingerprint, parse_table

Rows = list[list[str]]

_COMPAS_COLUMNS = (
    "id,name,first,last,compas_screening_date,sex,dob,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,"
    "juv_other_count,priors_count,days_b_screening_arrest,c_jail_in,c_jail_out,c_case_number,c_offense_date,"
    "c_arrest_date,c_days_from_compas,c_charge_degree,c_charge_desc,is_recid,r_case_number,r_charge_degree,"
    "r_days_from_arrest,r_offense_date,r_charge_desc,r_jail_in,r_jail_out,violent_recid,is_violent_recid,"
    "vr_case_number,vr_charge_degree,vr_offense_date,vr_charge_desc,type_of_assessment,decile_score,score_text,"
    "screening_date,v_type_of_assessment,v_decile_score,v_score_text,v_screening_date,in_custody,out_custody,"
    "priors_count,start,end,event,two_year_recid"
)
COMPAS_HEADER = _COMPAS_COLUMNS.split(",")


def header_of(name: str) -> list[str]:
    """Columns of the public file, in its order."""
    return COMPAS_HEADER if name == "compas" else list(OPEN_SETS[name].file.layout.columns)


def draw_rows(name: str, n_rows: int = 40, seed: int = 0) -> Rows:
    """Rows that look like those of the public file, some of them incomplete."""
    rng = random.Random(seed)
    return [_DRAW[name](rng) for _ in range(n_rows)]


def write_csv(
    rows: Rows,
    header: list[str] | None = None,
    *,
    delimiter: str = ",",
    line_end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    """Text of a csv file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([header, *rows] if header else rows)
    return text.getvalue()


def public_text(name: str, rows: Rows) -> str:
    """The rows as the public origin writes them."""
    if name == "adult":
        return "".join(", ".join(row) + "\n" for row in rows) + "\n"
    if name == "german":
        return "".join(" ".join(row) + " \n" for row in rows)
    quoting = csv.QUOTE_NONNUMERIC if name == "framingham" else csv.QUOTE_MINIMAL
    head = write_csv([header_of(name)], quoting=quoting, line_end="\r\n")
    return head + write_csv(rows, line_end="\r\n")


def small_set(name: str, rows: Rows) -> OpenSet:
    """The open set with these rows for its public table."""
    whole = OPEN_SETS[name]
    table = parse_table(write_csv(rows, header_of(name)), whole.file.layout)
    layout = replace(whole.file.layout, rows=len(rows), sha256=fingerprint(table))
    return replace(whole, file=replace(whole.file, layout=layout))


def _draw_compas(rng: random.Random) -> list[str]:
    cells = dict.fromkeys(COMPAS_HEADER, "")
    age = rng.randint(18, 70)
    cells |= {
        "id": str(rng.randint(1, 10_000)),
        "name": "someone, else",
        "sex": rng.choice(["Male", "Male", "Female"]),
        "age": str(age),
        "age_cat": "Less than 25" if age < 25 else "25 - 45" if age <= 45 else "Greater than 45",
        "race": rng.choice(["African-American", "Caucasian", "Hispanic", "Other", "Asian"]),
        "c_charge_degree": rng.choice("FM"),
        "c_charge_desc": rng.choice(["Battery", "arrest case no charge", "Grand Theft, 3rd", 'Poss "ID"', ""]),
        "days_b_screening_arrest": rng.choice(["-1", "0", "-30", "30", "31", "-31", "500", ""]),
        "is_recid": rng.choice(["0", "1", "1", "-1"]),
        "score_text": rng.choice(["Low", "Medium", "High"]),
        "two_year_recid": rng.choice("01"),
    }
    for column in ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "decile_score"):
        cells[column] = str(rng.randint(0, 9))
    # Two names occur twice, with the same cells, as in the public file.
    return [cells[column] for column in COMPAS_HEADER]


def _draw_adult(rng: random.Random) -> list[str]:
    return [
        str(rng.randint(17, 90)),
        rng.choice(["Private", "State-gov", "?"]),
        str(rng.randint(12_285, 1_484_705)),
        rng.choice(["Bachelors", "HS-grad", "11th"]),
        str(rng.randint(1, 16)),
        rng.choice(["Never-married", "Divorced"]),
        rng.choice(["Sales", "Tech-support", "?"]),
        rng.choice(["Husband", "Wife", "Own-child"]),
        rng.choice(["White", "White", "Black", "Asian-Pac-Islander"]),
        rng.choice(["Male", "Female"]),
        str(rng.choice([0, 2174, 99_999])),
        str(rng.choice([0, 1902])),
        str(rng.randint(1, 99)),
        rng.choice(["United-States", "Mexico", "?"]),
        rng.choice(["<=50K", ">50K"]),
    ]


def _draw_framingham(rng: random.Random) -> list[str]:
    return [
        rng.choice("12"),
        str(rng.randint(90, 250)),
        str(rng.randint(50, 140)),
        rng.choice(["", str(rng.randint(115, 400)), "200"]),
        rng.choice("01"),
        str(rng.randint(18, 11_688)),
        str(rng.randint(30, 68)),
        rng.choice(["", "25", "28.399999618530273", "23.200000762939453", "33.29999923706055"]),
        str(rng.randint(1, 12)),
        str(rng.randint(1, 4699)),
    ]


def _draw_german(rng: random.Random) -> list[str]:
    return [
        rng.choice(["A11", "A12", "A13", "A14"]),
        str(rng.randint(4, 72)),
        rng.choice(["A30", "A32", "A34"]),
        rng.choice(["A40", "A41", "A410", "A43"]),
        str(rng.randint(250, 18_424)),
        rng.choice(["A61", "A65"]),
        rng.choice(["A71", "A75"]),
        str(rng.randint(1, 4)),
        rng.choice(["A91", "A92", "A93", "A94"]),
        rng.choice(["A101", "A103"]),
        str(rng.randint(1, 4)),
        rng.choice(["A121", "A124"]),
        str(rng.choice([19, 24, 25, 26, 75])),
        rng.choice(["A141", "A143"]),
        rng.choice(["A151", "A152"]),
        str(rng.randint(1, 4)),
        rng.choice(["A171", "A173"]),
        rng.choice("12"),
        rng.choice(["A191", "A192"]),
        rng.choice(["A201", "A202"]),
        rng.choice("12"),
    ]


_DRAW = {"compas": _draw_compas, "adult": _draw_adult, "framingham": _draw_framingham, "german": _draw_german}

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serve(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """Serve on 127.0.0.1, the last answer to all further requests too; yield the address and the paths asked for."""
    asked: list[str] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                number = len(asked)
                asked.append(self.path)
            answers[min(number, len(answers) - 1)](self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def give(body: bytes, *, promised: int | None = None, status: int = 200) -> Answer:
    """Answer with a body, and with a length that may promise more of it."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body) if promised is None else promised))
        request.end_headers()
        request.wfile.write(body)

    return answer
