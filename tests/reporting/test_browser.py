"""The page in a real browser: opened from disk, by keyboard, at three widths, in the dark and in print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import xorder
from support.needs import browser, package
from support.printed_page import digits, value
from support.scored_people import people
from xorder._validation import check_tables
from xorder.reporting import Report, _numbers, report_tables

pytestmark = pytest.mark.slow

playwright = package("playwright.sync_api", "browser")
CHROMIUM = browser()

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
WIDTHS = (320, 360, 768, 1280)
# Twelve groups, with names that are long, run from right to left, or have wide characters.
TWELVE = {
    "American Indian or Alaska Native": 0.0,
    "Native Hawaiian or Other Pacific Islander": 0.4,
    "Declined to answer when asked at admission": 0.8,
    "\u0645\u062c\u0645\u0648\u0639\u0629 \u0639\u0631\u0628\u064a\u0629": 0.2,
    "\u65e5\u672c\u8a9e\u306e\u9577\u3044\u30b0\u30eb\u30fc\u30d7\u540d\u524d": 0.3,
    **{f"group number {number}": number / 10 for number in range(7)},
}
TWO = people(500, {"A": 0.0, "B": 0.9})
HOSTILE = {
    "<script>window.hit = 1</script>": 0.0,
    "\"'><img src=x onerror='window.hit = 1'>": 0.9,
    "</script><script>window.hit = 1</script><!--": 0.2,
    "😀" * 2500: 0.0,
    "datum.x + window.alert(1)": 0.3,
}


@dataclass
class Opened:
    """A page of the report in the browser, with everything it complained of or asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return str(self.page.text_content(selector)).strip()

    def shown(self) -> dict[str, str]:
        """Every number that follows the control, as it stands on the page."""
        return dict(
            self.page.eval_on_selector_all("[data-field]", "all => all.map(e => [e.dataset.field, e.textContent])")
        )

    def overflow(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with playwright.sync_playwright() as run:
        launched = run.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def made(folder: Path) -> Report:
    found = report_tables(check_tables(*TWO.values()))
    found.save(folder / "two.html")
    return found


def save_with_few_steps(path: Path, drawn: dict[str, Any], **options: Any) -> Path:
    """Save a page that is not about the control: it takes fewer steps along the way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_numbers, "PARTS", (1.0,))
        report_tables(check_tables(*drawn.values()), **options).save(path)
    return path


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Path:
    path = folder / "hostile.html"
    names = {"score": "<i>", "label": "</title><script>window.hit = 1</script>", "group": "g"}
    return save_with_few_steps(path, people(700, HOSTILE), names=names, title="<svg onload=window.hit=1>")


@pytest.fixture(scope="module")
def twelve(folder: Path) -> Path:
    return save_with_few_steps(folder / "twelve.html", people(2400, TWELVE))


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_page(path: Path, width: int = 1280, **settings: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.on("console", lambda message: found.said.append(message.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.goto(path.as_uri())
        found.page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return found

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.usefixtures("made")
def test_it_opens_from_disk_without_a_word_or_a_request(opened: Any, folder: Path) -> None:
    found = opened(folder / "two.html")
    assert found.said == []
    assert found.asked == [(folder / "two.html").as_uri()]
    assert found.page.locator(".chart svg").count() == 5
    assert found.page.locator(".chart svg .line:visible").count() == 8


def test_the_control_shows_what_python_computes(opened: Any, made: Report, folder: Path) -> None:
    found = opened(folder / "two.html")
    audit = xorder.audit(**TWO)
    stops = made.to_dict()["path"]["stops"]
    charts = ("tradeoff", "cuts", "roc", "positives", "negatives")
    for number, stop in enumerate(stops):
        found.page.locator("#stop").fill(str(number))
        shown = found.shown()
        assert value(shown["auc"]) == digits(stop["auc"], 4)
        assert value(shown["gap"]) == digits(100 * stop["gap"], 1)
        assert value(shown["change"]) == digits(stop["auc"] - audit.auc, 4)
        assert value(shown["first"]) - value(shown["second"]) == pytest.approx(stop["gap"], abs=1.1e-4)
        assert value(shown["top-1-1-share"]) == digits(100 * stop["top"][1][1]["share"], 1)
        assert value(shown["cut-2"]) == digits(100 * stop["cuts"][2]["value"], 1)
        assert value(shown["move-1-positive"]) == digits(100 * stop["moves"][1]["positive"]["mean"], 1)
        assert shown["auc"] in found.page.get_attribute("#stop", "aria-valuetext")
        for name in ("first", "second"):
            width = str(found.page.locator(f"[data-bar={name}]").get_attribute("width"))
            assert float(width.removesuffix("%")) == pytest.approx(100 * value(shown[name]), abs=0.06)
        assert found.page.locator("tr.chosen").get_attribute("data-stop") == str(number)
        for name in charts:
            drawn = found.page.locator(f"[data-chart={name}] .s:visible")
            assert drawn.count() == 1
            assert f"s{number}" in str(drawn.get_attribute("class")).split()
    assert found.said == []


def test_the_drawn_point_follows_the_control(opened: Any, made: Report, folder: Path) -> None:
    found = opened(folder / "two.html")
    point = found.page.locator("[data-chart=tradeoff] .chosen:visible")
    stops, drawn = made.to_dict()["path"]["stops"], {}
    for number in range(len(stops)):
        found.page.locator("#stop").fill(str(number))
        assert point.count() == 1
        drawn[number] = [float(part) for part in re.findall(r"[\d.]+", str(point.get_attribute("transform")))]
    # A wider gap is further to the right, and a higher AUC further up.
    for one, two in pairwise(sorted(drawn, key=lambda number: stops[number]["gap"])):
        assert drawn[one][0] <= drawn[two][0]
    for one, two in pairwise(sorted(drawn, key=lambda number: stops[number]["auc"])):
        assert drawn[two][1] <= drawn[one][1]


@pytest.mark.usefixtures("made")
def test_pointer_and_arrow_keys_read_a_chart(opened: Any, folder: Path) -> None:
    found = opened(folder / "two.html")
    found.page.locator("[data-chart=cuts] .place:visible").nth(3).hover()
    by_pointer = found.text("[data-chart=cuts] .tip")
    assert re.fullmatch(r"at 31.8: A [\d.]+ %, B [\d.]+ %", by_pointer)
    found.page.mouse.move(0, 0)
    assert found.text("[data-chart=cuts] .tip") == ""
    found.page.locator("[data-chart=cuts] svg").focus()
    for _ in range(4):
        found.page.keyboard.press("ArrowRight")
    assert found.text("[data-chart=cuts] .tip") == by_pointer


@pytest.mark.usefixtures("made")
def test_the_keyboard_is_enough(opened: Any, folder: Path) -> None:
    found = opened(folder / "two.html")
    reached = []
    for _ in range(60):
        found.page.keyboard.press("Tab")
        reached.append(found.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert found.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if reached[-1] == "SUMMARY":
            break
    assert reached[0] == "A"
    assert "svg" in reached[reached.index("stop") :]
    assert reached[-1] == "SUMMARY"
    found.page.locator("#stop").focus()
    last = found.shown()["label"]
    found.page.keyboard.press("ArrowLeft")
    assert found.shown()["label"] != last
    found.page.keyboard.press("Home")
    assert found.shown()["label"] == "The score as it is"
    found.page.keyboard.press("End")
    assert found.shown()["label"] == last


def test_hostile_names_stay_text(opened: Any, hostile: Path) -> None:
    found = opened(hostile)
    assert found.page.evaluate("window.hit") is None
    assert (found.said, len(found.asked)) == ([], 1)
    assert found.page.locator("img").count() == 0
    assert found.page.locator("h1 *").count() == 0
    assert "<svg onload=window.hit=1>" in found.text("h1")
    assert "<script>window.hit = 1</script>" in found.page.inner_text("#data")
    assert "😀" in found.page.inner_text("#data")
    found.page.locator("#stop").fill("1")
    assert found.page.evaluate("window.hit") is None


@pytest.mark.parametrize("name", ["two", "hostile", "twelve"])
@pytest.mark.usefixtures("made", "hostile", "twelve")
def test_no_width_overflows(name: str, opened: Any, folder: Path, tmp_path: Path) -> None:
    """One page is opened, and made narrower and wider by day and by night; pictures are taken of the narrowest."""
    found = opened(folder / f"{name}.html", WIDTHS[0])
    found.page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
    for scheme in ("light", "dark"):
        found.page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            found.page.set_viewport_size({"width": width, "height": 800})
            assert found.overflow() == 0
            widths = found.page.eval_on_selector_all(
                ".chart svg", "all => all.map(e => e.getBoundingClientRect().width)"
            )
            assert 0 < max(widths) <= width
            if width == WIDTHS[0]:
                shot = tmp_path / f"{scheme}.png"
                found.page.screenshot(path=shot, full_page=True)
                assert shot.stat().st_size > 20_000


@pytest.mark.usefixtures("made")
def test_the_first_screen_answers(opened: Any, folder: Path) -> None:
    page = opened(folder / "two.html").page
    for width in WIDTHS[1:]:
        page.set_viewport_size({"width": width, "height": 800})
        tiles = page.locator(".facts div").all()
        assert len(tiles) == 4
        for box in (tile.bounding_box() for tile in tiles):
            assert box["y"] + box["height"] <= 800


@pytest.mark.usefixtures("made")
def test_the_dark_is_dark_and_can_be_read(opened: Any, folder: Path) -> None:
    for scheme in ("light", "dark"):
        found = opened(folder / "two.html", color_scheme=scheme)
        paper, *inks = found.page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
            ...['.meta', '#summary h2', 'dt', 'td.clear', 'summary', 'thead th'].map(
              s => getComputedStyle(document.querySelector(s)).color),
            ...['.tick', '.name'].map(
              s => getComputedStyle(document.querySelector('.chart ' + s)).fill)]"""
        )
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        assert all(contrast(paper, ink) >= 4.5 for ink in inks)
        lines = found.page.evaluate(
            "() => [...document.querySelectorAll('.chart .line')].map(e => getComputedStyle(e).stroke)"
        )
        grouped = found.page.evaluate(
            """() => [...Array.from({ length: 12 }, (_, n) => `--g${n}`), '--accent'].map(name => {
              const probe = document.body.appendChild(document.createElement('i'));
              probe.style.color = `var(${name})`;
              return getComputedStyle(probe).color; })"""
        )
        assert all(contrast(paper, colour) >= 3 for colour in grouped)
        assert set(grouped[:2]) <= set(lines)


@pytest.mark.usefixtures("made")
def test_two_groups_take_five_screens(opened: Any, folder: Path) -> None:
    found = opened(folder / "two.html")
    assert found.page.evaluate("document.documentElement.scrollHeight") <= 5 * 900


def test_twelve_groups_have_a_small_chart_each(opened: Any, twelve: Path) -> None:
    found = opened(twelve)
    assert found.said == []
    for name in ("cuts", "positives", "negatives"):
        charts = found.page.locator(f"[data-chart={name}] svg").all()
        assert len(charts) == 12
        looks = {
            chart.locator(".line:visible").evaluate(
                "e => getComputedStyle(e).stroke + getComputedStyle(e).strokeDasharray"
            )
            for chart in charts
        }
        assert len(looks) == 12
    # A name from right to left does not turn what stands beside it.
    assert "\u2068" in found.page.inner_text("#audit")


@pytest.mark.parametrize("name", ["two", "twelve"])
@pytest.mark.usefixtures("made", "twelve")
def test_print_cuts_nothing(name: str, opened: Any, folder: Path) -> None:
    # What A4 leaves between its margins, in the browser's points.
    found = opened(folder / f"{name}.html", width=688)
    found.page.emulate_media(media="print")
    wider = found.page.evaluate(
        """() => [...document.querySelectorAll('table, .drawn')]
        .filter(e => e.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 1)
        .map(e => e.textContent)"""
    )
    assert wider == []
    assert found.overflow() == 0


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """As the web's accessibility guidelines define it."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.usefixtures("made")
def test_print_has_numbers_in_place_of_the_control(opened: Any, folder: Path, tmp_path: Path) -> None:
    found = opened(folder / "two.html", color_scheme="dark")
    pdf = found.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert pdf.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
    found.page.emulate_media(media="print", color_scheme="dark")
    assert not found.page.locator("#stop").is_visible()
    assert found.page.locator("[data-field=auc]").is_visible()
    assert found.page.locator("#steps table").is_visible()
    assert luminance(found.page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    found.page.emulate_media(media="screen")
    assert not found.page.locator("#steps table").is_visible()


@pytest.mark.usefixtures("made")
def test_nothing_moves_for_those_who_asked_for_that(opened: Any, folder: Path) -> None:
    bar = "getComputedStyle(document.querySelector('[data-bar]')).transitionDuration"
    assert opened(folder / "two.html", reduced_motion="reduce").page.evaluate(bar) == "0s"
    assert opened(folder / "two.html", reduced_motion="no-preference").page.evaluate(bar) != "0s"


@pytest.mark.usefixtures("made")
def test_without_scripts_all_numbers_are_there(browser: Any, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "two.html").as_uri())
    assert "the control needs it" in page.inner_text("#tradeoff")
    assert page.locator(".chart svg .line:visible").count() == 8
    assert f"{xorder.audit(**TWO).auc:.4f}" in page.inner_text("#audit")
    context.close()
