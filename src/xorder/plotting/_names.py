"""Names of groups as a picture can show them: of any label something short, distinct and in plain text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from xorder._optional import import_optional

# Signs in a name, at most; longer ones lose their middle.
LONGEST = 28


def group_names(groups: Iterable[Hashable], *, longest: int = LONGEST) -> list[str]:
    """Return a name for each group: one line, short, and no two alike; needs matplotlib, to know what can be drawn."""
    has_sign = _known_signs()
    whole = [_drawable(str(group), has_sign) for group in groups]
    # Where shortened names are alike, their ends may tell them apart.
    for head in (2 / 3, 1 / 2, 1 / 3):
        names = [_shortened(name, longest, head) for name in whole]
        if len(set(names)) == len(names):
            break
    counts, seen = Counter(names), Counter[str]()
    for place, name in enumerate(names):
        if counts[name] > 1:
            seen[name] += 1
            names[place] = f"{name} ({seen[name]})"
    return [_escaped(name) for name in names]


def named(name: str | None) -> str:
    """What to add to a title so that it tells which score is meant: nothing, or a comma and its name."""
    return f", {group_names([name], longest=40)[0]}" if name else ""


def _escaped(name: str) -> str:
    """Two dollar signs would make a formula, and a line whose name begins with _ is left out of legends."""
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


def _shortened(name: str, longest: int, share: float) -> str:
    """Cut out the middle, which tells less than the ends do; ``share`` of what is kept is the beginning."""
    if len(name) <= longest:
        return name
    head = int((longest - 1) * share)
    return f"{name[:head].rstrip()}…{name[head + 1 - longest :].lstrip()}"


def _drawable(name: str, has_sign: Callable[[str], bool]) -> str:
    """Spell out symbols that the font lacks, such as emoji; leave out marks that are not seen by themselves."""
    # Of a label of thousands of signs only the ends will be shown.
    ends = name if len(name) <= 1000 else name[:500] + name[-500:]
    signs = []
    for sign in " ".join(ends.split()):
        kind = unicodedata.category(sign)
        if sign != " " and kind[0] == "C" and kind != "Co":
            continue
        if has_sign(sign):
            signs.append(sign)
        elif kind[0] != "M":
            signs.append(f"[{unicodedata.name(sign, 'sign').lower()}]" if kind == "So" else "□")
    return " ".join("".join(signs).split()) or "(no name)"


def _known_signs() -> Callable[[str], bool]:
    """Say what the fonts in use can draw."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="Drawing")
    manager = import_optional("matplotlib.font_manager", extra="plot", purpose="Drawing")
    fonts = [
        manager.get_font(manager.findfont(manager.FontProperties(family=[family])))
        for family in matplotlib.rcParams["font.family"]
    ]
    return lambda sign: any(font.get_char_index(ord(sign)) for font in fonts)
