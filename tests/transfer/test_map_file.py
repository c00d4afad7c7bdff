import json
import os
import re

import numpy as np
import pytest

import xorder
from xorder import ScoreMap, XOrder
from xorder.datasets import simulate_population
from xorder.estimators import METHODS
from xorder.exceptions import InputError, MapFileError
from xorder.transfer import read_maps, write_maps
from xorder.transfer._map_file import _checksum

SCORES = [0.9, 0.7, 0.4, 0.2, 0.8, 0.6, 0.5, 0.1]
LABELS = [1, 1, 0, 0, 1, 0, 1, 0]
GROUPS = ["a", "a", "a", "a", "b", "b", "b", "b"]


def fitted(groups=GROUPS, **options):
    options = {"method": "dp", "tradeoff": 1.0, "small_groups": "repair"} | options
    return XOrder(**options).fit(SCORES, LABELS, sensitive_features=groups)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "map.json"
    fitted().save(path)
    return path


def refused(path):
    """Load must fail with one sentence on one line that names the file."""
    with pytest.raises(MapFileError) as caught:
        xorder.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert message.endswith(".")
    assert len(message) < 500 + len(str(path))
    return message


def rewrite(path, change, *, sign=True):
    """Alter the content; with a fresh checksum, so that the check behind it is what refuses."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content.pop("checksum")
    change(content)
    path.write_text(json.dumps(content | ({"checksum": _checksum(content)} if sign else {})), encoding="utf-8")


def test_what_is_loaded_adjusts_as_what_was_saved(saved):
    repair, again = fitted(), xorder.load(saved)
    rng = np.random.default_rng(0)
    scores, groups = rng.random(200), rng.choice(["a", "b"], 200)
    np.testing.assert_array_equal(
        again.transform(scores, sensitive_features=groups), repair.transform(scores, sensitive_features=groups)
    )
    assert again.get_params() == repair.get_params()
    assert (again.reference_, again.moved_) == (repair.reference_, repair.moved_)
    assert again.to_dict() == repair.to_dict()


def test_saving_what_was_loaded_gives_the_same_file(saved, tmp_path):
    xorder.load(saved).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_saved(tmp_path, method):
    people = simulate_population(300)
    repair = XOrder(method=method).fit(people.y_score, people.y_true, sensitive_features=people.group)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert again.method == method
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    assert not np.array_equal(adjusted, people.y_score)
    np.testing.assert_array_equal(again.transform(people.y_score, sensitive_features=people.group), adjusted)


@pytest.mark.parametrize(
    ("one", "two"),
    [("a", "b"), ("é ü", 'quote " and \\'), ("", "b"), (0, 1), (-7, 10**12), (False, True), (0.5, 1.25), (1, "1")],
)
def test_group_labels_survive_with_their_type(tmp_path, one, two):
    groups = np.array([one] * 4 + [two] * 4, dtype=object)
    repair = fitted(groups=groups, reference=one)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert [(label, type(label)) for label in again.maps_] == [(label, type(label)) for label in repair.maps_]
    assert [(label, type(label)) for label in again.moved_] == [(two, type(two))]
    assert [(label, type(label)) for label in (again.reference, again.reference_)] == [(one, type(one))] * 2
    np.testing.assert_array_equal(
        again.transform(SCORES, sensitive_features=groups), repair.transform(SCORES, sensitive_features=groups)
    )


def test_numpy_labels_are_saved_as_plain_ones(tmp_path):
    kinds = (np.array(GROUPS), np.repeat([3, 5], 4), np.repeat([True, False], 4), np.repeat([0.5, 2.5], 4))
    for number, labels in enumerate(kinds):
        repair = fitted(groups=labels)
        repair.save(tmp_path / f"map{number}.json")
        assert xorder.load(tmp_path / f"map{number}.json").maps_.keys() == repair.maps_.keys()


def test_labels_that_json_cannot_hold_are_refused(tmp_path):
    labels = np.empty(8, dtype=object)
    labels[:] = [("x", 1)] * 4 + [("x", 2)] * 4
    with pytest.raises(InputError, match="cannot be saved: labels must be text, numbers or booleans; got tuple"):
        write_maps(tmp_path / "map.json", {("x", 1): ScoreMap.identity()}, params={}, summary={})
    assert list(tmp_path.iterdir()) == []


def test_the_file_says_what_it_is(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["format"] == "xorder-map"
    assert content["version"] == 3
    assert content["checksum"].startswith("sha256:")
    assert content["params"]["method"] == "dp"
    assert {record["group"] for record in content["groups"]} == {"a", "b"}


def test_a_file_is_overwritten_only_if_that_is_said(saved):
    before = saved.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        fitted(metric="prf").save(saved)
    assert saved.read_bytes() == before
    fitted(metric="prf").save(saved, overwrite=True)
    assert saved.read_bytes() != before


def test_saving_before_fit_is_refused(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        XOrder().save(tmp_path / "map.json")


# What is refused


def test_every_cut_of_the_file_is_refused(saved, tmp_path):
    whole = saved.read_bytes().rstrip()
    cut = tmp_path / "cut.json"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        refused(cut)


def test_every_changed_digit_is_refused(saved, tmp_path):
    text = saved.read_text(encoding="utf-8")
    changed = tmp_path / "changed.json"
    places = [match.start() for match in re.finditer(r"\d", text)]
    assert len(places) > 100
    for place in places:
        digit = str((int(text[place]) + 1) % 10)
        changed.write_text(text[:place] + digit + text[place + 1 :], encoding="utf-8")
        if json.loads(changed.read_text(encoding="utf-8")) != json.loads(text):
            refused(changed)


def test_a_changed_label_or_setting_is_refused(saved):
    rewrite(saved, lambda content: content["params"].update(method="frontier"), sign=False)
    assert "changed after it was saved" in refused(saved)


@pytest.mark.parametrize("version", [0, 1, 2, 4, 99, None, "3", 3.5, [3], True])
def test_unknown_versions_are_refused(saved, version):
    rewrite(saved, lambda content: content.update(version=version))
    assert "format version" in refused(saved)


def test_a_map_of_an_earlier_xorder_is_to_be_fitted_again(saved):
    rewrite(saved, lambda content: content.update(version=1))
    assert refused(saved).endswith(
        "its format version is 1, of an earlier xorder; this one reads version 3. Fit again."
    )


def set_knots(name, values):
    def change(content):
        record = next(record for record in content["groups"] if record["raw"])
        record[name] = values

    return change


@pytest.mark.parametrize("name", ["raw", "adjusted"])
@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.4],
        [0.5, 0.5],
        [0.1],
        [],
        "0.5",
        None,
        5,
        {"0": 1},
        ["0.1", "0.2"],
        [True, False],
        [None],
        [[0.1, 0.2]],
        [0.1, 10**400],
    ],
)
def test_knots_that_are_no_map_are_refused(saved, name, values):
    rewrite(saved, set_knots(name, values))
    assert "score map" in refused(saved)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(saved, word):
    text = saved.read_text(encoding="utf-8")
    number = re.search(r'"raw": \[\s*([\d.]+)', text)
    saved.write_text(text[: number.start(1)] + word + text[number.end(1) :], encoding="utf-8")
    refused(saved)


def test_wrong_shapes_are_refused(saved):
    original = saved.read_bytes()
    changes = [
        lambda content: content.update(format="other"),
        lambda content: content.pop("format"),
        lambda content: content.pop("version"),
        lambda content: content.pop("params"),
        lambda content: content.pop("summary"),
        lambda content: content.pop("groups"),
        lambda content: content.update(groups={}),
        lambda content: content.update(groups=[]),
        lambda content: content.update(groups=[1, 2]),
        lambda content: content.update(groups=["a"]),
        lambda content: content.update(params=[]),
        lambda content: content.update(params={}),
        lambda content: content.update(summary={}),
        lambda content: content["params"].update(more=1),
        lambda content: content["summary"].pop("moved"),
        lambda content: content["summary"].update(moved="nobody"),
        lambda content: content["summary"].update(moved=["a"]),
        lambda content: content["summary"].update(reference={}),
        lambda content: content["summary"].update(moved="a", reference="a"),
        lambda content: content["groups"][0].pop("group"),
        lambda content: content["groups"][0].update(group=None),
        lambda content: content["groups"][0].update(group=["a"]),
        lambda content: content["groups"][0].update(group="somebody else"),
        lambda content: content["groups"][1].update(group=content["groups"][0]["group"]),
        lambda content: content["groups"].append(dict(content["groups"][0])),
        lambda content: content["groups"].append({"group": "c", "raw": [0.1, 0.2], "adjusted": [0.1, 0.3]}),
        lambda content: content["summary"].update(moved="b"),
        lambda content: content["summary"].update(moved=[]),
        lambda content: content["summary"].update(left=["b"]),
        lambda content: content["summary"].update(merged=["c"]),
        lambda content: content["summary"].update(pair=["a"]),
        lambda content: content["groups"].pop(),
    ]
    for number, change in enumerate(changes):
        saved.write_bytes(original)
        rewrite(saved, change)
        try:
            refused(saved)
        except BaseException as error:
            raise AssertionError(f"change {number} was not refused well: {error!r}") from error


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"\x00" * 100,
        bytes(range(256)) * 4,
        b"\xff\xfe{\x00}\x00",
        b"{\xff}",
        b"[]",
        b"{}",
        b"null",
        b"1",
        b'"xorder-map"',
        b"score,label\n0.5,1\n",
        b"[" * 1_000_000,
        b"{" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"a":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
        b'{"a":' + b"[" * 1_000_000,
        b'{"format": "xorder-map", "version": ' + b"9" * 100_000 + b"}",
        b'{"format": "xorder-map", "version": 1' + b"0" * 3000 + b"}",
        b"{" + b" " * 1_000_000,
    ],
    ids=lambda content: f"{content[:12]!r} and more, {len(content)} bytes",
)
def test_junk_is_refused(tmp_path, content):
    path = tmp_path / "junk.json"
    path.write_bytes(content)
    refused(path)


def test_nesting_inside_a_real_file_is_refused(saved):
    text = saved.read_text(encoding="utf-8")
    number = re.search(r'"raw": \[\s*([\d.]+)', text)
    deep = "[" * 1_000_000 + "]" * 1_000_000
    saved.write_text(text[: number.start(1)] + deep + text[number.end(1) :], encoding="utf-8")
    refused(saved)


def test_very_long_numbers_are_refused(saved):
    text = saved.read_text(encoding="utf-8")
    number = re.search(r'"raw": \[\s*([\d.]+)', text)
    for digits in ("1" * 100_000, "0." + "1" * 100_000):
        saved.write_text(text[: number.start(1)] + digits + text[number.end(1) :], encoding="utf-8")
        refused(saved)


def test_a_folder_is_refused(tmp_path):
    assert "it is a folder" in refused(tmp_path)


def test_a_missing_file_is_refused(tmp_path):
    assert "there is no map file" in refused(tmp_path / "none.json")
    assert "there is no map file" in refused(tmp_path / "no folder" / "none.json")
    refused(tmp_path / ("long" * 100))


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_file_that_may_not_be_read_is_refused(saved):
    saved.chmod(0)
    user = os.geteuid()
    if user == 0:  # whom permissions do not stop
        os.seteuid(65534)
    try:
        assert "ermission" in refused(saved)
    finally:
        os.seteuid(user)


def test_read_maps_gives_maps_settings_and_summary(tmp_path):
    maps = {"x": ScoreMap([0.25, 0.5], [0.1, 0.9]), 3: ScoreMap.identity()}
    write_maps(tmp_path / "map.json", maps, params={"p": 1}, summary={"s": [1.5]})
    again, params, summary = read_maps(tmp_path / "map.json")
    assert list(again) == ["x", 3]
    np.testing.assert_array_equal(again["x"].adjusted, [0.1, 0.9])
    assert (params, summary) == ({"p": 1}, {"s": [1.5]})
