import re
import tomllib
from pathlib import Path

import pytest

from xorder._optional import import_optional
from xorder.exceptions import MissingExtraError, XorderError

ROOT = Path(__file__).resolve().parents[1]


def extras():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def calls():
    """Module and extra of each optional import in the source."""
    pattern = re.compile(r'import_optional\(\s*"([\w.]+)",\s*extra="(\w+)"')
    for path in sorted((ROOT / "src").rglob("*.py")):
        for module, extra in pattern.findall(path.read_text(encoding="utf-8")):
            yield path.name, module, extra


def test_what_is_installed_is_imported():
    assert import_optional("json", extra="plot", purpose="Nothing").dumps(1) == "1"
    assert import_optional("os.path", extra="plot", purpose="Nothing").join("a", "b")


def test_what_is_missing_is_told_with_its_extra():
    with pytest.raises(MissingExtraError) as caught:
        import_optional("no_such_package.part", extra="plot", purpose="Drawing")
    expected = "Drawing needs no_such_package, which is not installed. Install it with: pip install 'xorder[plot]'"
    assert str(caught.value) == expected
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, XorderError)


def test_every_extra_named_in_the_source_exists_and_brings_the_package():
    found = list(calls())
    assert found
    for file, module, extra in found:
        assert extra in extras(), f"{file} names the extra {extra!r}"
        package = module.partition(".")[0].replace("_", "-")
        assert any(re.match(rf"{package}\b", requirement) for requirement in extras()[extra]), (file, package, extra)


def test_no_call_escapes_the_scan():
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r'extra="(\w+)"', text)) | set(re.findall(r"xorder\[(\w+)\]", text))
        assert named <= extras().keys(), path


def test_the_extra_all_holds_every_other():
    everything = re.findall(r"xorder\[(.*)\]", " ".join(extras()["all"]))[0].split(",")
    assert sorted(everything) == sorted(set(extras()) - {"all"})
