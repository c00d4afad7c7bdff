"""The public functions on frames: an audit, a repair and adjusted scores are those of the rows in memory."""

import backends
import numpy as np
import pytest

import xorder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, XorderWarning

PEOPLE = simulate_population(400, random_state=1)
WEIGHT = 1 + np.arange(400) % 3
COLUMNS = {
    "risk": PEOPLE.y_score,
    "died": PEOPLE.y_true,
    "sex": PEOPLE.group.tolist(),
    "weight": WEIGHT,
    "share": WEIGHT / 4,
}
NAMES = {"score": "risk", "label": "died", "group": "sex"}


def in_memory(weight=None, **options):
    return xorder.audit(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, sample_weight=weight, **options
    ).to_dict()


def without_deviation(audit):
    found = audit.to_dict()
    assert set(np.ravel(found.pop("deviation")["gaps"])) == {0.0}
    return found


def close(found, expected):
    """Sums of weights may be added up in another order."""
    assert found.keys() == expected.keys()
    for name in ("auc", "auc_stderr"):
        assert found[name] == pytest.approx(expected[name], abs=1e-12)
    for one, other in zip(found["gaps"], expected["gaps"], strict=True):
        assert one["value"] == pytest.approx(other["value"], abs=1e-12)
        assert one["interval"] == pytest.approx(other["interval"], abs=1e-12)


def test_an_audit_a_repair_and_its_scores(backend):
    frame = backend(COLUMNS)
    assert without_deviation(xorder.audit_frame(frame, **NAMES)) == in_memory()
    repair = xorder.XOrder(max_disparity=0.02).fit_frame(frame, **NAMES)
    expected = xorder.XOrder(max_disparity=0.02).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert repair.summary() == expected.summary()
    assert repair.deviation_.largest == 0
    adjusted = repair.transform_frame(frame, score="risk", group="sex")
    assert type(adjusted) is type(frame) or backend.name.startswith(("parquet", "csv"))
    found = backends.rows_of(adjusted)
    assert list(found) == [*COLUMNS, "adjusted"]
    np.testing.assert_allclose(
        found["adjusted"], expected.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group), rtol=1e-12
    )


def test_what_is_lazy_stays_so():
    lazy = backends.make("polars-lazy", COLUMNS, None)
    repair = xorder.XOrder().fit_frame(lazy, **NAMES)
    unknown = lazy.with_columns(sex=backends.pytest.importorskip("polars").lit("C"))
    adjusted = repair.transform_frame(unknown, score="risk", group="sex")
    with pytest.raises(Exception, match="group 'C' was not seen in fit"):
        adjusted.collect()


@pytest.mark.parametrize("name", ["pandas", "duckdb"])
def test_weights(name, tmp_path):
    frame = backends.make(name, COLUMNS, tmp_path)
    close(without_deviation(xorder.audit_frame(frame, weight="weight", **NAMES)), in_memory(WEIGHT))
    options = {"weights_are": "sampling", "confidence": 0.9}
    close(
        without_deviation(xorder.audit_frame(frame, weight="share", **NAMES, **options)),
        in_memory(WEIGHT / 4, **options),
    )
    with pytest.warns(XorderWarning, match="column 'share' is not whole, yet read as counts"):
        xorder.audit_frame(frame, weight="share", **NAMES)
    repair = xorder.XOrder().fit_frame(frame, weight="weight", **NAMES)
    expected = xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=WEIGHT)
    assert repair.auc_ == pytest.approx(expected.auc_, abs=1e-12)


def test_people_of_unknown_group(tmp_path):
    groups = [None if row % 9 == 0 else group for row, group in enumerate(COLUMNS["sex"])]
    frame = backends.make("pyarrow", COLUMNS | {"sex": groups}, tmp_path)
    with pytest.raises(InputError, match="must name a group for each row"):
        xorder.audit_frame(frame, **NAMES)
    assert xorder.audit_frame(frame, **NAMES, missing_group="group").groups == ("A", "B", "missing")
    with pytest.warns(XorderWarning, match="'missing' are left"):
        repair = xorder.XOrder(missing_group="leave").fit_frame(frame, **NAMES)
    found = repair.transform_frame(frame, score="risk", group="sex")["adjusted"].to_numpy()
    np.testing.assert_array_equal(found[::9], PEOPLE.y_score[::9])


def test_bins_move_nothing_by_more_than_they_say(tmp_path, monkeypatch):
    """With few bins, the true figures lie within the stated deviation of those found."""
    from xorder.engines import frame_audit, tables_of_frame

    def coarse(frame, **options):
        return tables_of_frame(frame, **options | {"bins": 64})

    monkeypatch.setattr(frame_audit, "tables_of_frame", coarse)
    frame = backends.make("polars", COLUMNS, tmp_path)
    with pytest.warns(XorderWarning, match="more than the tolerance"):
        found = xorder.audit_frame(frame, **NAMES, tolerance=1e-9)
    exact = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert 0 < abs(found.auc - exact.auc) <= found.deviation.auc
    for gap, true in zip(found.gaps, exact.gaps, strict=True):
        assert abs(gap.value - true.value) <= found.deviation.gap(gap.metric, gap.pair) + 1e-12 < 0.1
    assert "Scores were binned, which moved AUC and gaps by at most" in str(found)
    assert found.to_dict()["deviation"]["auc"] == found.deviation.auc


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"weights_are": "rows"}, "weights_are must be"),
        ({"score": "rsk"}, "did you mean 'risk'"),
    ],
)
def test_wrong_options(options, words, tmp_path):
    with pytest.raises(InputError, match=words):
        xorder.audit_frame(backends.make("pandas", COLUMNS, tmp_path), **NAMES | options)


def test_a_repair_by_rank_is_for_batches_only(tmp_path):
    frame = backends.make("pandas", COLUMNS, tmp_path)
    with pytest.raises(InputError, match="knows no weights"):
        xorder.XOrder(transfer="rank").fit_frame(frame, weight="weight", **NAMES)
    repair = xorder.XOrder(transfer="rank").fit_frame(frame, **NAMES)
    with pytest.raises(InputError, match="by rank in a batch, which a frame is not"):
        repair.transform_frame(frame, score="risk", group="sex")
