"""Statements: an audit as a Markdown text with an item for each thing that reviewers and the law ask for.

Each item is a record: what its source asks for, in our words; what is known of it, which a function writes; and the
questions that only people can answer. A table is shown where it is first needed, and referred to by its number after.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xorder._metric import check_metric
from xorder._parameters import check_number
from xorder._present import level, one_line
from xorder.exceptions import InputError
from xorder.metrics._cuts import cut_text
from xorder.reporting._report import source_facts, versions
from xorder.reporting._statement_numbers import (
    THRESHOLDS,
    Known,
    RunFacts,
    auc_text,
    calibration_table,
    clear_pairs_text,
    counts_table,
    differences_table,
    fairness,
    gap_tables,
    heterogeneity,
    limits,
    measures,
    net_benefit_table,
    performance_table,
    plain,
    rates_table,
    scores_table,
    tolerance_text,
    verdict_text,
)

if TYPE_CHECKING:
    from xorder.metrics import Audit

NO_CLAIM = "This file states numbers. It does not claim that any law or guideline is complied with."

# What columns may be called, in the order that they are listed.
_COLUMNS = ("score", "label", "group", "weight", "cluster")


def statements(
    audit: Audit,
    *,
    title: str | None = None,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    names: Mapping[str, str] | None = None,
    repair: Any = None,
    reference: Hashable | None = None,
    thresholds: Sequence[float] | None = None,
    suppress: int | None = None,
    metric: str = "xauc",
    tolerance: float | None = None,
    tolerance_cut: float | None = None,
    command: str | None = None,
    made: datetime | None = None,
) -> str:
    """Write what an audit knows on the items of TRIPOD+AI and of the EU AI Act about performance and fairness.

    What only people can answer is left open, with a box to tick. The wording of each item is ours, its source [1]_
    [2]_ and number are cited. The text states numbers; it does not claim that anything is complied with.

    Parameters
    ----------
    audit : Audit
        The audit, from :func:`xorder.audit` or :func:`xorder.audit_frame`.
    title : str, default=None
        Title of the text.
    source : str, path-like or sequence of these, default=None
        The files that the rows come from; their names, sizes and SHA-256 are noted.
    names : mapping, default=None
        What the columns are called, by the keys ``"score"``, ``"label"``, ``"group"``, ``"weight"`` and ``"cluster"``.
    repair : XOrder, FairRanker or another fitted repair, default=None
        State what it changes, too.
    reference : group label, default=None
        Group that scores are compared to; by default the largest.
    thresholds : sequence of float, default=None
        Thresholds of net benefit; by default .05, .1, .2, .3 and .5.
    suppress : int, default=None
        Do not show rows of tables with a count from 1 up to less than this.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        The gap that the tolerance is about.
    tolerance : float, default=None
        Widest gap that was declared to be tolerated; by default that of the audit.
    tolerance_cut : float, default=None
        Widest difference of sensitivities tolerated at any cut, besides ``tolerance``.
    command : str, default=None
        The command that was run, to be noted.
    made : datetime, default=None
        Date and time of the text; by default now.

    Returns
    -------
    str
        The text, as Markdown.

    Raises
    ------
    InputError
        If a file cannot be read, or an argument is not what it must be.

    References
    ----------
    .. [1] Collins et al. (2024), TRIPOD+AI statement: updated guidance for reporting clinical prediction models that
       use regression or machine learning methods, BMJ 385, e078378.
    .. [2] Regulation (EU) 2024/1689 (Artificial Intelligence Act), Annex IV.

    Examples
    --------
    >>> import xorder
    >>> people = xorder.datasets.simulate_population(1000)
    >>> audit = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group, tolerance=0.05)
    >>> text = statements(audit, title="Readmission score, version 3")
    >>> [line for line in text.splitlines() if line.startswith(("# ", "- **Declared tolerance"))]
    ['# Readmission score, version 3', '- **Declared tolerance:** 0.05 for xAUC gaps; verdict: beyond']
    """
    from xorder.metrics._sheet import checked_thresholds  # Not needed before.

    columns = {str(key): str(name) for key, name in (names or {}).items()}
    if not set(columns) <= set(_COLUMNS):
        raise InputError(f"names must have keys among {', '.join(_COLUMNS)}; got {', '.join(columns)}.")
    paths = [] if source is None else [source] if isinstance(source, str | os.PathLike) else list(source)
    if tolerance is None and metric == "xauc":
        tolerance = audit.tolerance
    if tolerance is None and tolerance_cut is not None:
        raise InputError("tolerance_cut comes besides tolerance=; give both.")
    for name, limit in (("tolerance", tolerance), ("tolerance_cut", tolerance_cut)):
        if limit is not None:
            check_number(name, limit, at_least=0)
    run = RunFacts(
        title="How the score ranks each group: statements" if title is None else str(title),
        made=datetime.now(UTC) if made is None else made.astimezone(UTC),
        versions=versions("xorder", "numpy", "scipy"),
        files=[source_facts(Path(path)) | {"name": os.fspath(path)} for path in paths],
        columns=columns,
        command=command,
        metric=check_metric(metric).name,
        tolerance=tolerance,
        tolerance_cut=tolerance_cut,
        repair=repair,
        reference=reference,
        thresholds=checked_thresholds(THRESHOLDS if thresholds is None else thresholds),
        suppress=suppress,
    )
    return statements_text(audit, run)


def statements_text(audit: Audit, run: RunFacts) -> str:
    """Lay out the header, the items of each source, and the line to sign."""
    known = Known(audit, run)
    parts = [_header(known)]
    for source, items in _SOURCES.items():
        parts.append(f"## {source}")
        parts += [_item_text(item, known) for item in items]
    parts.append(_FOOTER)
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that a source asks for.

    ``known`` writes what the audit has on it, paragraph by paragraph.
    """

    number: str
    title: str
    asked: str
    known: Callable[[Known], list[str]]
    questions: tuple[str, ...]


def _item_text(item: _Item, known: Known) -> str:
    known.item = item.number
    boxes = "\n".join(f"- [ ] {question}" for question in item.questions)
    found = "\n\n".join(item.known(known))
    return (
        f"### {item.number}: {item.title}\n\n*Asked:* {item.asked}\n\n*Known to xorder:*\n\n{found}\n\n"
        f"*For people to answer:*\n\n{boxes}"
    )


def _header(known: Known) -> str:
    audit, run = known.audit, known.run
    tables = audit._tables
    rows = sum(audit.positives.values()) + sum(audit.negatives.values())
    if tables is not None and tables.rows is not None:
        rows = tables.rows
    notes = () if tables is None else tables.notes
    missing = [known.note(note) for note in notes if "without a group" in note]
    facts = {
        "Date": f"{run.made:%Y-%m-%d %H:%M} UTC",
        "Made with": ", ".join(
            f"{name if name != 'python' else 'Python'} {version}"
            for name, version in sorted(run.versions.items(), key=lambda item: item[0] != "xorder")
        ),
        "Made by": "the command below" if run.command else "`xorder.statements`, in Python",
        "Rows": known.total(rows) + (", counts are sums of weights" if tables is not None and tables.weighted else ""),
        "Columns": ", ".join(f"{key}: {plain(run.columns[key])}" for key in _COLUMNS if key in run.columns)
        or "not named",
        "Groups": ", ".join(map(plain, audit.groups)),
        "Rows without a group": " ".join(missing) or "none left out",
        "Confidence of intervals": level(audit.confidence),
        "Clusters": "none: each row counts by itself"
        if audit.clusters is None
        else f"{known.total(audit.clusters)}, which errors allow for",
        "Declared tolerance": tolerance_text(known),
        "Small counts": "all are shown"
        if run.suppress is None
        else f"rows of tables with a count of 1 to {run.suppress - 1} are not shown, nor those from which they could "
        "be told; other numbers have two digits",
    }
    lines = [f"- **{name}:** {text}" for name, text in facts.items()]
    files = [f"- {plain(file['name'])}: {file['bytes']:,} bytes, SHA-256 {file['sha256']}" for file in run.files] or [
        "- none named"
    ]
    parts = [
        f"# {plain(run.title)}",
        "Numbers that xorder knows are filled in; questions that only people can answer have a box. The wording of "
        f"each item is ours: read its source. {NO_CLAIM}",
        "\n".join(lines),
        "Files read:\n\n" + "\n".join(files),
    ]
    if run.command:
        parts.append(f"Command:\n\n    {one_line(run.command)}")
    others = [known.note(note) for note in notes if "without a group" not in note]
    if others:
        parts.append("Notes on the rows:\n\n" + "\n".join(f"- {note}" for note in others))
    return "\n\n".join(parts)


_FOOTER = f"""## Signature

| Name | Role | Date | Signature |
|------|------|------|-----------|
|      |      |      |           |

{NO_CLAIM}"""


_TRIPOD = (
    _Item(
        "12e",
        "Measures of performance",
        "Which measures and plots the model is judged by (discrimination, calibration, clinical utility), and why.",
        measures,
        (
            "Why these measures, for this use of the score?",
            "Who chose the thresholds of net benefit, and what harm and benefit do they stand for?",
            "Which plots go with these numbers, and where are they?",
            "Is the model compared with others, or with care as it is?",
        ),
    ),
    _Item(
        "14",
        "Fairness",
        "What was done about the fairness of the model, and why.",
        fairness,
        (
            "Who chose the groups, and which groups are missing here?",
            "Who declared the tolerance, when, and why this much?",
            "Which gap matters for this use, and why?",
            "What was done in data, training or use besides, and why?",
            "If scores are adjusted by group: who decided that, is it lawful here, and were these rows used to fit the "
            "map?",
        ),
    ),
    _Item(
        "15",
        "Output and thresholds",
        "What the model gives out and, if people are classified by it, how the thresholds were found, and why.",
        lambda known: [f"Cuts reported: {', '.join(map(cut_text, known.audit.cuts))}.", scores_table(known)],
        ("Who chose the cut, and why?", "Is the score used as a list, as a probability, or at a threshold?"),
    ),
    _Item(
        "20a and 20b",
        "Participants",
        "How many took part, with and without the outcome, and how groups differ.",
        lambda known: [counts_table(known)],
        (
            "From where and from when are these people, and who was left out on the way?",
            "How do the groups differ in age, illness, treatment and follow-up?",
            "How much is missing, of what, and for whom?",
        ),
    ),
    _Item(
        "21",
        "Numbers in each analysis",
        "How many participants and outcome events are in each analysis.",
        lambda known: [counts_table(known), "These are of the evaluation alone."],
        ("How many were in development and in tuning, and is anybody of them among these?",),
    ),
    _Item(
        "23a",
        "Performance, with intervals, in key subgroups",
        "Performance with confidence intervals, in subgroups that matter, too.",
        lambda known: [
            auc_text(known),
            performance_table(known),
            *gap_tables(known),
            clear_pairs_text(known),
            rates_table(known),
            differences_table(known),
            calibration_table(known),
            net_benefit_table(known),
        ],
        (
            "Which further subgroups matter, such as combinations of these?",
            "Are the intervals narrow enough to decide by?",
        ),
    ),
    _Item(
        "23b",
        "Heterogeneity",
        "How performance varies between clusters such as hospitals, if that was examined.",
        heterogeneity,
        ("Does performance differ between hospitals, countries or years, and was that looked at?",),
    ),
    _Item(
        "25",
        "Interpretation",
        "What the results mean, fairness included, beside the aims and earlier studies.",
        lambda known: [auc_text(known), verdict_text(known), clear_pairs_text(known)],
        (
            "What do these gaps mean for the people concerned: is a high place a help or a burden?",
            "How do they compare with earlier studies?",
        ),
    ),
    _Item(
        "26",
        "Limitations",
        "What limits the study, and what that does to bias, uncertainty and use elsewhere.",
        limits,
        (
            "Do these people represent those that the score will be used on?",
            "Does the outcome mean the same in all groups, and is it recorded alike?",
            "Was the model trained on any of these rows?",
            "What is missing, and could that hide or make a gap?",
        ),
    ),
)

_AI_ACT = (
    _Item(
        "Annex IV, point 2(g)",
        "Validation and testing",
        "How the system was validated and tested: the data and what they are like; the metrics of accuracy, robustness "
        "and potentially discriminatory impacts; logs and reports of tests, dated and signed.",
        lambda known: [
            "Data: the files and hashes at the top.",
            counts_table(known),
            f"Accuracy. {auc_text(known)}",
            performance_table(known),
            "Potentially discriminatory impacts.",
            *gap_tables(known),
            rates_table(known),
            differences_table(known),
            verdict_text(known),
            "Robustness: not known to xorder.",
        ],
        (
            "How were these data chosen, and what are they like beside those that the system will meet?",
            "How was robustness tested, and with what result?",
            "Which other metrics of discriminatory impact were looked at?",
            "Where are the logs of this test kept, and who signs?",
        ),
    ),
    _Item(
        "Annex IV, point 3",
        "Monitoring, functioning and control",
        "What the system can and cannot do: its accuracy for the persons or groups it is meant for, and overall; "
        "unintended outcomes and risks that can be foreseen, discrimination among them; human oversight; input data.",
        lambda known: [
            auc_text(known),
            performance_table(known),
            clear_pairs_text(known),
            verdict_text(known),
            *limits(known),
        ],
        (
            "What is the system for, and what accuracy is expected of it there?",
            "Which unintended outcomes can be foreseen for the groups named here, and what is done about them?",
            "Who oversees its use, and can they set a score aside?",
            "What must input data be like, and what happens where they are not?",
            "Who looks at these numbers again, how often, and when is it switched off?",
        ),
    ),
)

_SOURCES = {
    "TRIPOD+AI (Collins et al., BMJ 2024;385:e078378)": _TRIPOD,
    "EU AI Act (Regulation (EU) 2024/1689), technical documentation": _AI_ACT,
}
