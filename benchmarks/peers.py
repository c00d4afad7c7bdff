"""What do other audit and repair libraries see in the same people? python benchmarks/peers.py NAME

NAME is faircare, fairscope, fairaudit or equipy; install it into an environment of its own, beside xorder. Prints JSON;
docs/comparison.md shows what was seen.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np

import xorder

PEOPLE = xorder.datasets.simulate_population(5000, random_state=0)


def timed(call: Any) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returned."""
    start = time.process_time()
    found = call()
    return round(time.process_time() - start, 3), found


def ours() -> dict[str, Any]:
    """Return what xorder sees, and the time it takes; once before, as the first call loads packages."""
    rows = {"sensitive_features": PEOPLE.group}
    xorder.report(PEOPLE.y_true, PEOPLE.y_score, **rows).html()
    audit_time, result = timed(lambda: xorder.audit(PEOPLE.y_true, PEOPLE.y_score, **rows))
    page_time, page = timed(lambda: xorder.report(PEOPLE.y_true, PEOPLE.y_score, **rows).html())
    gap = result.gap("xauc")
    within = {group: round(result.xauc[group, group], 4) for group in result.groups}
    cut = result.cut_gap(at=xorder.Threshold(0.5))
    return {
        "seconds_audit": audit_time,
        "seconds_page": page_time,
        "page_kilobytes": len(page.encode()) // 1000,
        "auc_within": within,
        "xauc_gap": round(gap.value, 4),
        "sensitivity_gap_at_0.5": round(cut.value, 4),
    }


def faircare() -> dict[str, Any]:
    """Run its audit with its defaults, and write its page."""
    import polars
    from faircareai import FairCareAudit, FairnessConfig, FairnessMetric

    rows = polars.DataFrame({"score": PEOPLE.y_score, "outcome": PEOPLE.y_true, "group": PEOPLE.group})
    audit = FairCareAudit(data=rows, pred_col="score", target_col="outcome")
    audit.add_sensitive_attribute(name="group", column="group", reference="A")
    audit.config = FairnessConfig(
        model_name="made up",
        primary_fairness_metric=FairnessMetric.EQUALIZED_ODDS,
        fairness_justification="a comparison",
    )
    seconds, found = timed(audit.run)
    found.to_html("faircare.html")
    groups = found.subgroup_performance["group"]["groups"]
    return {
        "seconds": seconds,
        "auc_within": {group: round(numbers["auroc"], 4) for group, numbers in groups.items()},
        "flags": [flag["message"] for flag in found.flags],
    }


def fairscope() -> dict[str, Any]:
    """Run its audit of scores."""
    from fairscope.healthcare import HealthcareFairnessAudit

    audit = HealthcareFairnessAudit.from_scores(PEOPLE.y_true, PEOPLE.y_score, {"group": PEOPLE.group})
    seconds, found = timed(audit.run)
    return {"seconds": seconds, "summary": found.summary()}


def fairaudit() -> dict[str, Any]:
    """Bound how far each group's share of those selected is from that of all."""
    from fairaudit import Auditor, Metric
    from fairaudit.groups import get_intersections

    in_b = (PEOPLE.group == "B").astype(int).reshape(-1, 1)
    groups = get_intersections(in_b.copy())
    audit = Auditor(in_b, PEOPLE.y_true, (PEOPLE.y_score > 0.3).astype(int), Metric("statistical_parity"))
    settings = {"alpha": 0.05, "type": "interval", "groups": groups, "bootstrap_params": {"seed": 0}}
    seconds, _ = timed(lambda: audit.calibrate_groups(**settings))
    bounds = {group: np.round(audit.query_group(number)[0][0], 3).tolist() for number, group in enumerate("AB")}
    return {"seconds": seconds, "bounds": bounds}


def equipy(draws: int = 20) -> dict[str, Any]:
    """Repair with both, fitted to 2,500 people, on 2,500 others: mean AUC, absolute xAUC and parity gap over draws."""
    import pandas
    from equipy.fairness import FairWasserstein

    found: dict[str, list[list[float]]] = {}
    swapped = []
    for draw in range(draws):
        old, new = (xorder.datasets.simulate_population(2500, random_state=2 * draw + half) for half in (0, 1))
        theirs = FairWasserstein()
        theirs.fit(old.y_score, pandas.DataFrame({"group": old.group}))
        scores = {"none": new.y_score, "equipy": theirs.transform(new.y_score, pandas.DataFrame({"group": new.group}))}
        for metric in ("xauc", "parity"):
            repair = xorder.XOrder(metric=metric).fit(old.y_score, old.y_true, sensitive_features=old.group)
            scores[f"xorder, {metric}"] = repair.transform(new.y_score, sensitive_features=new.group)
        for name, score in scores.items():
            result = xorder.audit(new.y_true, score, sensitive_features=new.group)
            gaps = [abs(result.gap(metric).value) for metric in ("xauc", "parity")]
            found.setdefault(name, []).append([result.auc, *gaps])
        for group in "AB":
            ranked = np.argsort(new.y_score[new.group == group])
            swapped.append(np.mean(np.diff(scores["equipy"][new.group == group][ranked]) < 0))
    means = {name: np.round(np.mean(rows, axis=0), 4).tolist() for name, rows in found.items()}
    return {"auc, xauc gap, parity gap": means, "neighbours_swapped": round(float(np.mean(swapped)), 4)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    peers = {"faircare": faircare, "fairscope": fairscope, "fairaudit": fairaudit, "equipy": equipy}
    print(json.dumps({"xorder": ours(), sys.argv[1]: peers[sys.argv[1]]()}, indent=1))
