"""The mechanism that runs the blocks of pages: it must be able to fail."""

from __future__ import annotations

import pytest

from support.shown_blocks import assert_same, blocks, linked_files, needs, run_page

PAGE = """# A page
<!-- needs: compas -->
<!-- needs: mimic3_demo as mimic-demo -->
```python
x = 1 / 3
```

```python
print(f"{x:.2f}")
```

```text
0.33
```

<!-- not run: it downloads -->
```console
$ xorder data fetch compas
```

```json
{}
```

See [this](other.md#place) and [that](https://example.org) and ![picture](a/b.svg).
"""


def test_blocks_that_are_run_with_what_they_show() -> None:
    found = list(blocks(PAGE))
    assert [(block.code, block.shown, block.line) for block in found] == [
        ("x = 1 / 3\n", "", 4),
        ('print(f"{x:.2f}")\n', "0.33\n", 8),
    ]
    assert PAGE[slice(*found[1].span)] == "0.33\n"


def test_blocks_of_a_page_share_their_names() -> None:
    assert [found for _, found in run_page(PAGE, "page")] == ["", "0.33\n"]


def test_needs_and_links() -> None:
    from pathlib import Path

    assert needs(PAGE) == [("compas", None), ("mimic3_demo", "mimic-demo")]
    assert linked_files(PAGE, Path("docs")) == [Path("docs/other.md"), Path("docs/a/b.svg")]


def test_a_block_that_is_not_run_must_say_why() -> None:
    page = "<!-- not run: -->\n```python\nprint(1)\n```\n"
    assert len(list(blocks(page))) == 1


def test_other_commands_than_xorder_are_refused() -> None:
    with pytest.raises(AssertionError, match="only xorder is run here"):
        list(run_page("```console\n$ rm -r folder\n```\n", "page"))


def test_a_console_block_must_begin_with_a_command() -> None:
    with pytest.raises(AssertionError, match="begins with no command"):
        list(run_page("```console\nWrote map.json\n```\n", "page"))


def test_a_command_that_fails_fails() -> None:
    with pytest.raises(AssertionError):
        list(run_page("```console\n$ xorder audit nowhere.csv --score s --label y --group g\n```\n", "page"))


def test_what_goes_to_standard_error_fails() -> None:
    with pytest.raises(AssertionError):
        list(run_page("```python\nimport sys\nsys.stderr.write('careful')\n```\n", "page"))


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("AUC 0.801", "AUC 0.801"),
        ("AUC 0.801", "AUC 0.802"),
        ("gap -0.000", "gap +0.001"),
        ("1,234.5 rows", "1,234.6 rows"),
    ],
)
def test_the_last_digit_may_be_one_off(found: str, shown: str) -> None:
    assert_same(found, shown, "here")


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("AUC 0.801", "AUC 0.803"),
        ("AUC 0.801", "AUC 0.80"),
        ("AUC 0.801", "AUC 0.801 "),
        ("12 rows", "13 rows"),
        ("22 %", "23 %"),
        ("0.5 and 0.5", "0.5"),
        ("xorder 0.1.0", "xorder 0.1.1"),
    ],
)
def test_more_than_that_may_not_differ(found: str, shown: str) -> None:
    with pytest.raises(AssertionError, match="here"):
        assert_same(found, shown, "here")
