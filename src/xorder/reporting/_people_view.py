"""The parts of the page about people: who moves, who is at the top of the list, who was looked at."""

from __future__ import annotations

from typing import Any

from xorder.reporting._formats import count, interval_in_points, one_line, percent, shortened, signed_points

_WHO = {"positive": "with the outcome", "negative": "without it", "all": "all"}
_CLASS = {"positives": "with the outcome", "negatives": "without it"}


def moves_view(numbers: dict[str, Any], names: list[str], shown: list[int]) -> list[dict[str, Any]]:
    """Lay out the changes of rank of the groups shown."""
    if numbers["moves"] is None:
        return []
    rows = []
    for g in shown:
        for who, said in _WHO.items():
            move = numbers["moves"][g][who]
            rows.append(
                {
                    "name": names[g],
                    "who": said,
                    "first": who == "positive",
                    "mean": signed_points(move["mean"]),
                    "range": interval_in_points([move["low"], move["high"]]),
                    "up": percent(move["up"]),
                    "down": percent(move["down"]),
                    "bar": max(-50.0, min(50.0, round(200 * (move["mean"] or 0.0), 2))),
                }
            )
    return rows


def top_view(numbers: dict[str, Any], names: list[str], shown: list[int]) -> list[dict[str, Any]]:
    """Lay out the top of the list, before and after, for the groups shown."""
    tables = []
    for entry in numbers["top"]:
        after = entry["after"]
        rows = []
        for g in shown:
            then = after[g] if after else dict.fromkeys(entry["before"][g])
            row = {
                f"{what}_{when}": percent(record[what])
                for what in ("share", "precision", "found")
                for when, record in (("before", entry["before"][g]), ("after", then))
            }
            bars = [round(100 * (record["share"] or 0.0), 2) for record in (entry["before"][g], then)]
            rows.append(row | {"name": names[g], "all": percent(numbers["data"]["groups"][g]["share"]), "bars": bars})
        tables.append({"percent": f"{entry['percent']:g} %", "rows": rows})
    return tables


def data_view(numbers: dict[str, Any], names: list[str], keys: dict[int, str]) -> dict[str, Any]:
    """Lay out counts, ties and what is wrong with some groups."""
    data = numbers["data"]
    rows = [
        {
            "name": name,
            "full": one_line(full),
            "key": keys.get(g),
            "people": count(group["people"]),
            "positives": count(group["positives"]),
            "negatives": count(group["negatives"]),
            "rate": percent(group["rate"]),
            "scores": count(group["scores"]),
            "range": f"{group['lowest']:.4g} to {group['highest']:.4g}".replace("-", "−"),
        }
        for g, (name, full, group) in enumerate(zip(names, numbers["groups"], data["groups"], strict=True))
    ]
    return {
        "rows": rows,
        "people": count(data["people"]),
        "scores": count(data["ties"]["scores"]),
        "across": percent(data["ties"]["across"]) if data["ties"]["across"] else None,
        "commonest": percent(data["ties"]["commonest"]),
        "few": data["few"],
        "small": [
            name
            for name, group in zip(names, data["groups"], strict=True)
            if group["too_few"]["xauc"] and not group["missing"]
        ],
        "lacking": [
            f"{name} has nobody {' and nobody '.join(_CLASS[kind] for kind in group['missing'])}"
            for name, group in zip(names, data["groups"], strict=True)
            if group["missing"]
        ],
        "weighted": numbers["weighted"],
        "warnings": [shortened(text, 300) for text in data["warnings"]],
    }
