"""Tables and figures from made-up rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import figures, panels, tables
from experiments.summary import Results
from experiments.wording import number, signed
from support.made_up_results import curves, rows


def cells(table: str, start: str) -> list[str]:
    line = next(line for line in table.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_numbers_are_written_as_the_paper_does() -> None:
    assert [number(value) for value in (0.1954, -0.02, 1.25, 0.0)] == [".195", "-.020", "1.250", ".000"]
    assert signed({0: 0.01, 1: 0.03}) == "+.020 ± .127"
    assert signed({0: -0.00001, 1: -0.00001}) == "+.000 ± .000"


def test_unadjusted_stands_beside_the_paper_with_its_test() -> None:
    far = rows("unadjusted", gaps=[0.2 + 0.001 * split for split in range(10)])
    near = rows("unadjusted", gaps=[0.01 * (-1) ** split for split in range(10)], model="rankboost")
    table = tables.unadjusted(Results(far + near))
    assert cells(table, "COMPAS | linear")[3:] == [".204 ± .003", ".102 ± .001", ".195 ± .024", ".119 ± .015"]
    # Of changing sign: no test passes it, though its absolute value is the same in every split.
    assert cells(table, "COMPAS | RankBoost")[3] == ".010 ± .000 *†"


def test_rivals_are_compared_split_by_split() -> None:
    found = rows("xorder-dp", 1.0, gaps=[0.02, -0.04], aucs=[0.70, 0.80])
    found += rows("post-logit", gaps=[-0.05, 0.05], aucs=[0.69, 0.79])
    table = tables.against(Results(found), "xauc")
    assert cells(table, "COMPAS | linear")[2:] == ["-.010 ± .000", "+.020 ± .127"]


def test_only_what_is_marked_is_written_anew() -> None:
    page = "before .123\n<!-- table: fairest-xauc -->\nold\n<!-- end -->\nafter\n"
    filled = tables.filled(page, curves())
    assert filled.startswith("before .123\n<!-- table: fairest-xauc -->\n| data |")
    assert filled.endswith("|\n<!-- end -->\nafter\n")
    assert "old" not in filled
    assert tables.filled(filled, curves()) == filled


@pytest.mark.slow
def test_a_figure_says_what_its_axes_are_and_shows_every_method(tmp_path: Path) -> None:
    results = Results([row for data in tables.DATA for row in curves(data=data)])
    figure = figures.tradeoffs(results, "linear", "xauc")
    for ax in figure.axes:
        assert "xAUC gap" in ax.get_xlabel()
        assert "AUC" in ax.get_ylabel()
        assert ax.get_xlim()[0] == 0
    shown = {text.get_text() for text in figure.legends[0].get_texts()}
    assert shown == {"unadjusted", "post-logit", "xOrder, dp", "gap that chance alone would show"}
    panels.save(figure, tmp_path / "figure.png")
    assert 5_000 < (tmp_path / "figure.png").stat().st_size < 100_000


def test_methods_differ_in_marker_and_in_lightness() -> None:
    looks = list(panels.LOOKS.values())
    assert len({look.marker for look in looks}) == len(looks)
    # Lines that may run side by side differ in dashes too.
    lines = [str(look.line) for look in looks if look.line != "none"]
    assert len({*lines}) == len(lines)


@pytest.mark.parametrize("name", [*tables.TABLES])
def test_every_table_is_a_table_even_of_few_results(name: str) -> None:
    lines = tables.TABLES[name](Results(curves())).splitlines()
    assert len({line.count("|") for line in lines}) == 1
