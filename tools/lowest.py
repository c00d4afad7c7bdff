"""Print the lowest version of each dependency that a pyproject.toml allows, as a constraints file for pip."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def lowest(project: dict[str, object]) -> list[str]:
    """Return a line ``name==version`` for each requirement ``name>=version`` of a package and its extras."""
    extras: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]
    wanted: list[str] = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]  # type: ignore[misc]
    floors: dict[str, set[str]] = {}
    for requirement in wanted:
        name, at_least, version = requirement.partition(">=")
        if at_least:
            floors.setdefault(name, set()).add(version)
        elif not requirement.startswith(f"{project['name']}["):
            raise SystemExit(f"{requirement} names no lowest version; write {name}>=VERSION")
    for name, versions in floors.items():
        if len(versions) > 1:
            raise SystemExit(f"{name} has several lowest versions: {', '.join(sorted(versions))}; name one")
    return [f"{name}=={version}" for name, (version,) in sorted(floors.items())]


if __name__ == "__main__":
    for line in lowest(tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["project"]):
        print(line)
