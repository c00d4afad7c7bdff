"""Constrained training: the stand-ins and their slopes, what is counted, and that the limit is kept."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from support.effort import LONG
from support.needs import package
from support.real_data import stored_problem
from xorder import baselines
from xorder.exceptions import InputError, MissingExtraError, XorderWarning
from xorder.metrics import prf_difference, xauc_difference
from xorder.models import PairwiseLinearScorer, pairwise_squared_hinge

torch, cooper = package("torch", "torch"), package("cooper", "torch")

from support.shifted_rows import shifted  # noqa: E402
from xorder.baselines import ConstrainedRanker, FairRankingProblem, PairBatch, pair_batches  # noqa: E402
from xorder.baselines._constrained import Iterate, _best, in_order, squared_hinge  # noqa: E402

pytestmark = pytest.mark.slow

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference}


def whole(X, y, in_first):
    """All rows as one batch, and how many rows each part has."""
    parts = [torch.from_numpy(X[label & side]) for label in (y, ~y) for side in (in_first, ~in_first)]
    counts = tuple(len(part) for part in parts)
    return PairBatch((parts[0], parts[1]), (parts[2], parts[3])), (counts[:2], counts[2:])


def linear(coefficients):
    scorer = torch.nn.Linear(len(coefficients), 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        scorer.weight[:] = torch.tensor(coefficients, dtype=torch.float64)
    return scorer


@pytest.mark.parametrize("surrogate", [squared_hinge, torch.sigmoid])
def test_slopes_of_the_stand_ins_are_those_of_finite_differences(surrogate):
    margin = torch.linspace(-3.0, 3.0, 24, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(surrogate, (margin,), eps=1e-6, atol=1e-7)


def test_the_stand_ins_bound_and_follow_what_is_counted():
    margin = torch.linspace(-3.0, 3.0, 61, dtype=torch.float64)
    assert (squared_hinge(margin) >= 1 - in_order(margin)).all()
    assert (torch.sigmoid(20 * margin) - in_order(margin)).abs()[margin.abs() > 0.4].max() < 1e-3
    assert in_order(torch.tensor([-2.0, 0.0, 1e-9])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_slopes_of_loss_and_gap_in_the_coefficients(metric):
    X, y, group = shifted(80)
    batch, counts = whole(X, y, group)

    def value_and_slope(what):
        def run(coefficients):
            scorer = linear(coefficients)
            problem = FairRankingProblem(scorer, counts, metric=metric)
            margins = batch.margins(scorer)
            value = problem.loss(margins) if what == "loss" else problem.gap(margins, torch.sigmoid)
            value.backward()
            return float(value.detach()), scorer.weight.grad.numpy()[0].copy()

        return (lambda w: run(w)[0]), (lambda w: run(w)[1])

    start = np.array([0.3, -0.2, 0.5])
    for what in ("loss", "gap"):
        value, slope = value_and_slope(what)
        assert check_grad(value, slope, start) < 1e-5
        assert np.abs(slope(start)).max() > 1e-3


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_over_all_pairs_the_figures_are_the_metrics_of_the_package(metric):
    X, y, group = shifted(300)
    batch, counts = whole(X, y, group)
    scorer = linear([0.5, 0.2, -0.4])
    problem = FairRankingProblem(scorer, counts, metric=metric)
    margins = batch.margins(scorer)
    score = X @ np.array([0.5, 0.2, -0.4])
    assert float(problem.gap(margins)) == pytest.approx(GAP_OF[metric](y, score, sensitive_features=~group), abs=1e-12)
    share = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    assert float(problem.loss(margins).detach()) == pytest.approx(pairwise_squared_hinge(score, y, share)[0], rel=1e-9)
    wrong = 1 - sum(share * float(in_order(margins[cell]).mean()) for cell, share in problem.share_of_pairs.items())
    assert 1 - wrong == pytest.approx(roc_auc_score(y, score), abs=1e-12)


def test_the_scorer_follows_the_stand_in_and_the_multipliers_what_is_counted():
    X, y, group = shifted(200)
    batch, counts = whole(X, y, group)
    problem = FairRankingProblem(linear([0.5, 0.2, -0.4]), counts, epsilon=0.05)
    (state,) = problem.compute_cmp_state(batch).observed_constraints.values()
    gap = float(problem.gap(batch.margins(problem.scorer)))
    np.testing.assert_allclose(state.strict_violation, [gap - 0.05, -gap - 0.05])
    assert state.violation.requires_grad
    assert not state.strict_violation.requires_grad
    (state,) = problem.compute_cmp_state(batch, strict_gap=0.4).observed_constraints.values()
    np.testing.assert_allclose(state.strict_violation, [0.35, -0.45])


def test_any_network_can_be_trained_with_it():
    """A network in single precision, Cooper's own loop, minibatches of pairs: the gap goes down to the limit."""
    X, y, group = shifted()
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    counts = whole(X, y, group)[1]
    gaps = {}
    for epsilon in (1.0, 0.02):
        problem = FairRankingProblem(network, counts, epsilon=epsilon)
        optimiser = cooper.optim.SimultaneousOptimizer(
            cmp=problem,
            primal_optimizers=torch.optim.Adam(network.parameters(), lr=0.01),
            dual_optimizers=torch.optim.SGD(problem.dual_parameters(), lr=0.3, maximize=True),
        )
        batches = pair_batches(X.astype(np.float32), y, group, size=32, random_state=0)
        for batch in itertools.islice(batches, 600):
            optimiser.roll(compute_cmp_state_kwargs={"batch": batch})
        score = network(torch.from_numpy(X).float()).detach().numpy()[:, 0]
        gaps[epsilon] = abs(xauc_difference(y, score, sensitive_features=group))
    assert gaps[1.0] > 0.15
    assert gaps[0.02] < 0.06


def test_batches_are_drawn_by_weight_and_repeat():
    X = np.arange(40.0)[:, None]
    y, group = np.arange(40) % 2 == 0, np.arange(40) < 20
    weight = np.where(np.arange(40) % 4 < 2, 3.0, 1.0)
    weight[:4] = 0.0
    drawn = list(itertools.islice(pair_batches(X, y, group, size=50, random_state=3, sample_weight=weight), 200))
    again = next(pair_batches(X, y, group, size=50, random_state=3, sample_weight=weight))
    assert torch.equal(drawn[0].positives[0], again.positives[0])
    rows = torch.cat([batch.positives[0] for batch in drawn]).numpy().ravel().astype(int)
    assert set(rows) == {4, 6, 8, 10, 12, 14, 16, 18}
    heavy = np.isin(rows, [4, 8, 12, 16]).mean()
    assert heavy == pytest.approx(0.75, abs=0.02)
    assert all(set(batch.negatives[1].numpy().ravel() % 2) == {1.0} for batch in drawn)


@pytest.mark.parametrize(
    ("label", "first", "kind"),
    [(True, True, "positives of the first group"), (False, False, "negatives of the second group")],
)
def test_batches_need_both_classes_of_both_groups(label, first, kind):
    X, y, group = shifted(60)
    left = (y != label) | (group != first)
    with pytest.raises(InputError, match=f"there are no {kind}"):
        pair_batches(X[left], y[left], group[left], size=4, random_state=0)
    with pytest.raises(InputError, match=f"there are no {kind}"):
        pair_batches(X, y, group, size=4, random_state=0, sample_weight=left.astype(float))
    counts = [[float((left & (y == one) & (group == side)).sum()) for side in (True, False)] for one in (True, False)]
    with pytest.raises(InputError, match=f"there are no {kind}"):
        FairRankingProblem(linear([0.0] * 3), counts)


@pytest.mark.parametrize("counts", [((1, 2), (3, -4)), ((1, 2), (3, float("nan"))), (1, 2), None, "ab"])
def test_counts_of_another_form_are_told(counts):
    with pytest.raises(InputError, match="counts must be"):
        FairRankingProblem(linear([0.0]), counts)


def test_batches_take_labels_as_numbers_and_tell_what_they_cannot_use():
    X, y, group = shifted(60)
    plain = next(pair_batches(X, y, group, size=4, random_state=0))
    numbers = next(
        pair_batches(torch.from_numpy(X), y.astype(int), torch.from_numpy(group).float(), size=4, random_state=0)
    )
    for name in ("positives", "negatives"):
        assert all(map(torch.equal, getattr(plain, name), getattr(numbers, name)))
    good = {"positive": y, "in_first": group, "size": 4, "random_state": 0}
    for wrong, words in (
        ({"positive": y[:-1]}, "positive must have one value per row, 60 in all"),
        ({"in_first": group + 1}, "in_first must hold only 0 and 1"),
        ({"size": 0}, "size must be a whole number from 1 up; got 0"),
        ({"sample_weight": np.ones(59)}, "sample_weight must have .* got 59 for 60"),
        ({"random_state": -1}, "random_state must be a whole number from 0 up; got -1"),
        ({"random_state": "a"}, "random_state must be a whole number from 0 up; got 'a'"),
    ):
        with pytest.raises(InputError, match=words):
            pair_batches(X, **{**good, **wrong})


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_a_tighter_limit_is_kept_and_costs_more(metric):
    X, y, group = shifted()
    aucs = []
    for epsilon in (1.0, 0.05, 0.01):
        ranker = ConstrainedRanker(metric=metric, epsilon=epsilon, max_steps=300).fit(X, y, sensitive_features=group)
        score = ranker.decision_function(X)
        # Of True and False the first is False.
        assert ranker.gap_ == pytest.approx(GAP_OF[metric](y, score, sensitive_features=group), abs=1e-12)
        assert ranker.auc_ == pytest.approx(roc_auc_score(y, score), abs=1e-12)
        assert ranker.feasible_
        assert abs(ranker.gap_) <= epsilon
        assert ranker.history_.shape == (61, 2)
        aucs.append(ranker.auc_)
    assert aucs[0] >= ranker.auc_before_ > aucs[-1] + 0.01
    assert all(later <= earlier + 1e-3 for earlier, later in itertools.pairwise(aucs))


def test_where_there_is_no_limit_it_starts_at_the_unconstrained_scorer():
    X, y, group = shifted(500)
    ranker = ConstrainedRanker(epsilon=1.0, max_steps=1).fit(X, y, sensitive_features=group)
    score = PairwiseLinearScorer().fit(X, y).decision_function(X)
    assert ranker.auc_before_ == pytest.approx(roc_auc_score(y, score), abs=1e-12)


def test_it_says_when_no_step_kept_the_limit():
    X, y, group = shifted(500)
    with pytest.warns(
        XorderWarning, match=r"no count in 3 steps found the gap within 0\.0001 .* the smallest, 0\.\d{4}, is kept"
    ) as told:
        ranker = ConstrainedRanker(epsilon=0.0001, max_steps=3).fit(X, y, sensitive_features=group)
    assert told[0].filename == __file__
    assert not ranker.feasible_
    assert abs(ranker.gap_) == np.abs(ranker.history_[:, 1]).min()


def test_the_best_step_within_the_limit_is_kept():
    steps = [Iterate(np.zeros(1), auc, gap) for auc, gap in [(0.9, 0.3), (0.8, -0.04), (0.85, 0.05), (0.7, 0.0)]]
    assert _best(steps, 0.05) is steps[2]
    assert _best(steps, 0.04) is steps[1]
    assert _best(steps[:3], 0.01) is steps[1]


def test_the_same_state_gives_the_same_ranker_and_another_another():
    X, y, group = shifted(800)

    def fit(random_state):
        return ConstrainedRanker(max_steps=40, epsilon=0.5, random_state=random_state).fit(
            X, y, sensitive_features=group
        )

    first, second, other = fit(0), fit(0), fit(1)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.history_, second.history_)
    assert not np.array_equal(first.history_, other.history_)


def test_weights_count_in_what_is_measured():
    X, y, group = shifted(600)
    weight = np.random.default_rng(1).integers(0, 3, 600).astype(float)
    ranker = ConstrainedRanker(epsilon=0.05, max_steps=400).fit(X, y, sensitive_features=group, sample_weight=weight)
    score = ranker.decision_function(X)
    assert ranker.auc_ == pytest.approx(roc_auc_score(y, score, sample_weight=weight), abs=1e-12)
    gap = xauc_difference(y, score, sensitive_features=group, sample_weight=weight)
    assert ranker.gap_ == pytest.approx(gap, abs=1e-12)
    assert abs(gap) <= 0.05


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": -0.1}, "epsilon must be a number from 0 to 1; got -0.1"),
        ({"metric": "parity"}, "metric must be one of xauc, prf; got 'parity'"),
        ({"max_steps": 0}, "max_steps must be a whole number from 1 up; got 0"),
        ({"count_every": 0}, "count_every must be a whole number from 1 up; got 0"),
        ({"epsilon": "0.1"}, r"epsilon must be a number from 0 to 1; got '0\.1'"),
        ({"epsilon": float("nan")}, "epsilon must be a number from 0 to 1; got nan"),
        ({"max_steps": 2.5}, r"max_steps must be a whole number from 1 up; got 2\.5"),
        ({"batch_size": None}, "batch_size must be a whole number from 1 up; got None"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above 0; got 0"),
        ({"dual_rate": float("inf")}, "dual_rate must be a finite number above 0; got inf"),
        ({"alpha": -1}, "alpha must be a finite number from 0 up; got -1"),
        ({"random_state": "a"}, "random_state must be a whole number from 0 up; got 'a'"),
    ],
)
def test_what_cannot_be_used_is_told(settings, words):
    X, y, group = shifted(200)
    with pytest.raises(InputError, match=words):
        ConstrainedRanker(**settings).fit(X, y, sensitive_features=group)


def test_a_failed_fit_leaves_no_trace():
    X, y, group = shifted(200)
    ranker = ConstrainedRanker(epsilon=1.0, max_steps=1)
    before = ranker.fit(X, y, sensitive_features=group).decision_function(X)
    for wrong in ({"random_state": "a"}, {"max_steps": 0}):
        with pytest.raises(InputError):
            ranker.set_params(**wrong).fit(X[:, :2], y, sensitive_features=~group)
        np.testing.assert_array_equal(ranker.decision_function(X), before)


# The tightest limit of the table of docs/design/constrained.md, with what it says of gap and cost; each data set and
# each metric once.
@pytest.mark.parametrize(
    ("name", "split", "metric", "left", "cost"),
    [
        ("compas", 0, "prf", 0.0195, 0.0201),
        # The largest of all takes as long as all other tests here; xAUC also has its limit in test_subset.py.
        *[("adult", 0, "xauc", 0.0198, 0.0018)] * LONG,
    ],
)
def test_the_limit_is_kept_on_the_training_parts_of_real_data(name, split, metric, left, cost):
    epsilon = 0.02
    problem = stored_problem(name)
    train = problem.splits[split].train
    X = StandardScaler().fit_transform(problem.X.to_numpy()[train])
    y, member = problem.y[train], problem.sensitive_features[train]
    ranker = ConstrainedRanker(metric=metric, epsilon=epsilon).fit(X, y, sensitive_features=member)
    assert ranker.feasible_
    gap = abs(GAP_OF[metric](y, ranker.decision_function(X), sensitive_features=member))
    assert gap <= epsilon + 1e-12
    # Sums in another order, on another processor, lead to other steps.
    assert gap == pytest.approx(left, abs=0.002)
    assert ranker.auc_before_ - ranker.auc_ == pytest.approx(cost, abs=0.001)


NEED_COOPER = ("ConstrainedRanker", "FairRankingProblem")
NEED_TORCH = (*NEED_COOPER, "CorrelationRegularized", "PairBatch", "pair_batches", "pairwise_correlation")


@pytest.mark.parametrize(("missing", "names"), [("torch", NEED_TORCH), ("cooper", NEED_COOPER)])
def test_without_the_extra_one_line_says_what_to_install(missing, names, monkeypatch):
    # As an import sees a package that is not installed, and modules that were not loaded yet.
    monkeypatch.setitem(sys.modules, missing, None)
    for module in ("_constrained", "_correlation", "_pairs"):
        monkeypatch.setattr(baselines, module, None, raising=False)
        monkeypatch.delitem(sys.modules, f"xorder.baselines.{module}", raising=False)
    for name in names:
        monkeypatch.delitem(vars(baselines), name, raising=False)
        with pytest.raises(MissingExtraError) as error:
            getattr(baselines, name)
        assert str(error.value) == (
            f"Training a fair ranker needs {missing}, which is not installed. "
            "Install it with: pip install 'xorder[train]'"
        )
    for name in {*baselines.__all__} - {*names}:
        assert callable(getattr(baselines, name))


def test_names_are_listed_before_torch_is_loaded():
    code = "import sys, xorder.baselines as b; print('torch' in sys.modules, {*b.__all__} <= {*dir(b)})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False True\n"
