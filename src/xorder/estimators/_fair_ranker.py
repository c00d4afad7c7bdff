"""FairRanker: a classifier and the repair of its scores in one, learnt so that it holds on new people."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted, has_fit_parameter, validate_data

from xorder._arrays import as_column
from xorder._groups import group_labels, groups_in, is_missing, listed, text_columns, without
from xorder._html import NumbersBelowDiagram, repair_html, repair_notes
from xorder._parameters import WeightKind, check_weights_are, check_word
from xorder._repair import check_repair
from xorder._response import gives_probabilities, response
from xorder._table import FloatArray
from xorder._validation import check_groups, check_weights, no_value_error
from xorder.estimators._expected import ExpectedGap, expected_gap, expected_html
from xorder.estimators._folds import Fold, check_both_classes_to_learn_from, make_folds
from xorder.estimators._xorder import XOrder
from xorder.exceptions import InputError, XorderWarning, warn_caller

FINAL_MODELS = ("refit", "folds")

# Log-odds of probabilities of exactly 0 and 1: just beyond those of their nearest neighbours among the floats.
_LOWEST, _HIGHEST = -746.0, 38.0


def _has_probabilities(ranker: FairRanker) -> bool:
    return gives_probabilities(ranker.estimators_[0] if hasattr(ranker, "estimators_") else ranker.estimator)


@dataclass(eq=False, repr=False)
class FairRanker(NumbersBelowDiagram, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit a classifier and, on scores of rows it has not seen, the repair that makes it rank groups on equal terms.

    A repair fitted to a model's own training scores fails as soon as the model knows its training rows by heart. Here
    the rows are cut into folds, each is scored by a model fitted to the others, and the repair is fitted to these
    out-of-fold scores. The classes may be any two labels; the second in sorted order, ``classes_[1]``, is the positive.

    Parameters
    ----------
    estimator : classifier
        What scores rows, with ``predict_proba`` or, failing that, ``decision_function``. A
        ``sklearn.frozen.FrozenEstimator`` is a model that is fitted already: it is left as it is, and the rows given
        to :meth:`fit`, which it should not have been trained on, serve the repair alone.
    repair : XOrder, PostLogit or alike, default=None
        The repair, with ``fit(y_score, y_true, *, sensitive_features, sample_weight)`` and ``transform(y_score, *,
        sensitive_features)``. By default ``XOrder()``.
    cv : int, splitter, or iterable of (train, test) row numbers, default=5
        How rows are cut into folds. An int is a number of folds, dealt out by class and group. For people with several
        rows each, give splits that keep them together, e.g. ``list(GroupKFold().split(X, y, person))``; with metadata
        routing, the splitter itself and ``fit(..., groups=person)``.
    sensitive_columns : column or list of columns of X, default=None
        Where the group is found if a method is not given ``sensitive_features``: names in a DataFrame (pandas, polars
        or pyarrow), positions in an array. Several columns give the groups of their combinations, e.g. ``"female & over
        65"``. With it the ranker works wherever scikit-learn passes nothing but X, such as its scorers.
    drop_sensitive_columns : bool, default=False
        Whether these columns are kept from the estimator.
    final_model : {"folds", "refit"}, default="folds"
        What scores new rows: the models of the folds, as the mean of their adjusted scores, or one more model, fitted
        to all rows. The mean ranks better where models are unstable, as boosted trees are, and alike where they are
        linear (``docs/design/cross-fitting.md``); it takes as many times longer to predict as there are folds.
    random_state : int, RandomState or None, default=0
        How rows are dealt to folds, if ``cv`` is an int.
    n_jobs : int, default=None
        Number of models fitted at a time.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels.
    estimators_ : list
        The fitted classifiers: one, or one per fold.
    repair_ : XOrder or alike
        The fitted repair.
    expected_ : ExpectedGap or None
        AUC, gaps and cuts to expect on new people; None, with a warning, where the rows do not suffice to say.
    out_of_fold_ : ndarray of shape (n_samples,)
        Score of each training row by a model that has not seen it, before the repair.
    n_features_in_ : int
        Number of columns of X as given to fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns of X as given to fit, if they have any.

    See Also
    --------
    XOrder : The repair alone, for scores that are at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> X = np.column_stack([people.y_score, people.group == "B"])
    >>> ranker = FairRanker(LogisticRegression()).fit(X, people.y_true, sensitive_features=people.group)
    >>> before, after = ranker.expected_.before, ranker.expected_.after
    >>> abs(before.gap("xauc").value) > 0.15, abs(after.gap("xauc").value) < 0.02
    (True, True)
    >>> ranker.predict_proba(X[:2], sensitive_features=people.group[:2]).shape
    (2, 2)
    """

    estimator: Any
    _: KW_ONLY
    repair: Any = None
    cv: Any = 5
    sensitive_columns: Any = None
    drop_sensitive_columns: bool = False
    final_model: Literal["refit", "folds"] = "folds"
    random_state: Any = 0
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        weights_are: WeightKind = "counts",
        clusters: Any = None,
        **fit_params: Any,
    ) -> FairRanker:
        """Fit the classifier and its repair.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Inputs of the classifier.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes), default=None
            The group of each row; it comes before the columns named at construction.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, for the repair and, if its ``fit`` takes it, for the estimator.
        weights_are : {"counts", "sampling"}, default="counts"
            What weights mean to the repair, as in :func:`xorder.audit`.
        clusters : array-like of shape (n_samples,), default=None
            Who or what each row belongs to, such as the patient of an encounter: rows of one cluster stay in one fold,
            and the repair and what to expect of it allow for them. For the default repair, and others of XOrder.
        **fit_params : dict
            Passed to the estimator; with metadata routing enabled, it gets what it requests.

        Returns
        -------
        FairRanker
            The fitted ranker itself.
        """
        check_word("final_model", self.final_model, FINAL_MODELS)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise InputError(
                f"estimator must be a classifier of scikit-learn, such as LogisticRegression(); got {self.estimator!r}."
            )
        repair = check_repair(XOrder() if self.repair is None else self.repair)
        check_weights_are(weights_are)
        frozen = isinstance(self.estimator, FrozenEstimator)
        check_table(X)
        validate_data(self, X, skip_check_array=True)
        y, self.classes_ = check_labels(y, self.estimator if frozen else None)
        (X,) = indexable(X)
        groups, inputs = self._groups_and_inputs(X, sensitive_features)
        check_consistent_length(inputs, y)
        for _ in check_groups(groups, len(y), "leave", reserved=False):
            pass
        weight = None if sample_weight is None else check_weights(sample_weight, len(y))
        for_fit, for_split = routed_params(self, sensitive_features, weight, fit_params)
        positive = y == self.classes_[1]
        if weight is not None and not (weight[positive].any() and weight[~positive].any()):
            raise InputError("y must hold two classes with weights above 0; all rows of one class have weight 0.")
        if clusters is not None and not isinstance(repair, XOrder):
            raise InputError(f"clusters are for repairs by XOrder; got repair={type(repair).__name__}.")
        folds = make_folds(
            self.cv, inputs, y, groups, random_state=self.random_state, split_params=for_split, clusters=clusters
        )
        if not frozen:
            check_both_classes_to_learn_from(folds, positive)
        with hints_at_columns(self.estimator, inputs, self._columns(), dropped=self.drop_sensitive_columns):
            if frozen:
                score, models = response(self.estimator, inputs), [self.estimator]
            else:
                score, models = out_of_fold_scores(
                    self.estimator, inputs, y, folds, fit_params=for_fit, n_jobs=self.n_jobs
                )
            if not frozen and self.final_model == "refit":
                models = [clone(self.estimator).fit(inputs, y, **for_fit)]
        meaning = {"weights_are": weights_are, "clusters": clusters} if isinstance(repair, XOrder) else {}
        self.repair_ = clone(repair).fit(score, positive, sensitive_features=groups, sample_weight=weight, **meaning)
        rows = {"sensitive_features": groups, "sample_weight": weight, "weights_are": weights_are, "clusters": clusters}
        self.expected_ = self._expect(repair, score, positive, folds, rows)
        self.out_of_fold_ = score
        self.estimators_ = models
        return self

    def set_params(self, **params: Any) -> FairRanker:
        """Set parameters; ``repair__max_gap`` and the like also where the repair is the default one.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        FairRanker
            The ranker itself.
        """
        if self.repair is None and any(name.startswith("repair__") for name in params):
            self.repair = XOrder()
        super().set_params(**params)
        return self

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return adjusted probabilities of the two classes; there only if the estimator has any.

        They rank rows of all groups on one scale, that of the group whose scores stay; they are not recalibrated.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Inputs of the classifier.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes), default=None
            The group of each row; by default that of the columns named at construction.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of ``classes_``.
        """
        positive = np.clip(self._adjusted(X, sensitive_features), 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> FloatArray:
        """Return adjusted scores, above 0 for the positive class; their order is the ranking.

        Of probabilities these are the log-odds, finite even for 0 and 1; else the adjusted decision function.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Inputs of the classifier.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes), default=None
            The group of each row; by default that of the columns named at construction.

        Returns
        -------
        ndarray of shape (n_samples,)
            Adjusted scores.
        """
        adjusted = self._adjusted(X, sensitive_features)
        if not _has_probabilities(self):
            return adjusted
        return np.asarray(np.clip(logit(np.clip(adjusted, 0.0, 1.0)), _LOWEST, _HIGHEST))

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """Return the positive class where the decision function is above 0: one threshold for all groups.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Inputs of the classifier.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes), default=None
            The group of each row; by default that of the columns named at construction.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` for each row.
        """
        above = self.decision_function(X, sensitive_features=sensitive_features) > 0
        return np.asarray(self.classes_[above.astype(int)])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Return the accuracy of :meth:`predict`; to judge a ranking, use the scorers of :mod:`xorder.metrics`.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Inputs of the classifier.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes), default=None
            The group of each row; by default that of the columns named at construction.

        Returns
        -------
        float
            Share of labels that are predicted.
        """
        right = self.predict(X, sensitive_features=sensitive_features) == column_or_1d(y)
        return float(np.average(right, weights=sample_weight))

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who gets what in ``fit``: the estimator what it requests, a splitter what it requests.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=to_fit)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        with suppress(AttributeError, TypeError):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _numbers_html(self) -> str:
        repair, expected = (getattr(self, name, None) for name in ("repair_", "expected_"))
        return repair_html(repair) if expected is None else expected_html(expected) + repair_notes(repair)

    def _groups_and_inputs(self, X: Any, sensitive_features: Any) -> tuple[NDArray[Any], Any]:
        """Return the group of each row, and what the estimator sees of X."""
        if sensitive_features is None and self.sensitive_columns is None:
            raise InputError(
                "sensitive_features must name the group of each row: pass it along with X, or name the column of X "
                "that holds it with sensitive_columns= when making the FairRanker."
            )
        if isinstance(sensitive_features, str):
            raise InputError(
                f"sensitive_features must hold the group of each row; got the text {sensitive_features!r}. If that is "
                "a column of X, name it with sensitive_columns= when making the FairRanker."
            )
        passed = sensitive_features is not None
        groups = group_labels(sensitive_features) if passed else groups_in(X, self.sensitive_columns)
        columns = self._columns() if self.drop_sensitive_columns else []
        return np.asanyarray(groups), without(X, columns) if columns else X

    def _columns(self) -> list[Any]:
        """List the columns of X that hold a group."""
        return [] if self.sensitive_columns is None else listed(self.sensitive_columns)

    def _expect(
        self, repair: Any, score: FloatArray, positive: Any, folds: Any, rows: dict[str, Any]
    ) -> ExpectedGap | None:
        try:
            # The fit of the repair has said what there is to say of the rows.
            with warnings.catch_warnings(action="ignore", category=XorderWarning):
                expected = expected_gap(repair, score, positive, cv=folds, **rows)
        except InputError as error:
            warn_caller(f"what to expect on new people is not known: {error}")
            return None
        if caution := expected.caution:
            warn_caller(caution)
        return expected

    def _adjusted(self, X: Any, sensitive_features: Any) -> FloatArray:
        check_is_fitted(self, "estimators_")
        check_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        groups, inputs = self._groups_and_inputs(X, sensitive_features)
        # Each model's score is adjusted before the mean is taken: the repair was learnt on scores of single models, and
        # a mean of several is spread less widely.
        scores = [response(model, inputs) for model in self.estimators_]
        adjusted = [self.repair_.transform(score, sensitive_features=groups) for score in scores]
        return np.asarray(np.mean(adjusted, axis=0))


def check_table(X: Any) -> None:
    """Raise for a row of numbers where a table is needed; a column of text may be for a pipeline to make one of."""
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
        raise InputError(
            f"X must have rows and columns; got shape {X.shape}. Reshape your data: each row is one sample."
        )


@contextmanager
def hints_at_columns(estimator: Any, X: Any, group_columns: Sequence[Hashable], *, dropped: bool) -> Iterator[None]:
    """Point out columns that an estimator may be unable to take, if it fails: those of the group, and those of text."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        name = type(estimator).__name__
        if group_columns and not dropped:
            given = group_columns[0] if len(group_columns) == 1 else list(group_columns)
            error.add_note(
                f"{name} was given the column {given!r} too. "
                "If that is what it cannot take: drop_sensitive_columns=True keeps the column from it."
            )
        text = [column for column in text_columns(X) if column not in group_columns]
        if text:
            hint = "encode them in a pipeline, or leave them out"
            if not group_columns:
                hint += (
                    "; if the group is one of them, name it: "
                    f"FairRanker(..., sensitive_columns={text[0]!r}, drop_sensitive_columns=True)"
                )
            columns = ", ".join(map(repr, text))
            error.add_note(f"X has columns that are not numbers: {columns}. If {name} cannot take that: {hint}.")
        raise


def check_labels(y: Any, fitted: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels of two classes, and the two: those found, or those that an estimator fitted already knows."""
    if y is None:
        raise InputError("fit requires y to be passed, but the target y is None.")
    given = as_column(y, "y")
    if given.dtype.kind in "fO":
        lost = [row for row, label in enumerate(given.ravel().tolist()) if is_missing(label)]
        if lost:
            raise no_value_error("y", len(lost), f"row {lost[0]}")
    labels: NDArray[Any] = np.asarray(column_or_1d(y, warn=True))
    check_classification_targets(labels)
    classes = np.unique(labels)
    if fitted is not None:
        check_is_fitted(fitted)
        classes, unknown = np.asarray(fitted.classes_), np.setdiff1d(labels, fitted.classes_)
        if unknown.size:
            raise InputError(f"y must hold classes the fitted estimator knows, {classes}; got also {unknown}.")
    if classes.size != 2:
        kind = type_of_target(labels, input_name="y") if classes.size > 2 else "one class"
        raise InputError(
            f"Only binary classification is supported. The type of the target is {kind}; y must hold two classes, got "
            f"{classes.size}."
        )
    return labels, classes


def out_of_fold_scores(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    folds: Sequence[Fold],
    *,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> tuple[FloatArray, list[Any]]:
    """Fit a clone of the estimator for each fold; return the scores of all rows, held out, and the fitted clones.

    Entries of ``fit_params`` with one value per row are cut to the rows of the fold.
    """
    fits = (delayed(_fit_and_score)(clone(estimator), X, y, fold, dict(fit_params or {})) for fold in folds)
    found = Parallel(n_jobs=n_jobs)(fits)
    score = np.empty(len(y), dtype=np.float64)
    for fold, (_, held_out) in zip(folds, found, strict=True):
        score[fold.test] = held_out
    return score, [model for model, _ in found]


def _fit_and_score(
    model: Any, X: Any, y: NDArray[Any], fold: Fold, fit_params: dict[str, Any]
) -> tuple[Any, FloatArray]:
    params = _check_method_params(X, params=fit_params, indices=fold.train)
    model.fit(_safe_indexing(X, fold.train), y[fold.train], **params)
    held_out = response(model, _safe_indexing(X, fold.test))
    if held_out.shape != fold.test.shape:
        raise InputError(
            f"the estimator must give one score per row; {type(model).__name__} gave shape {held_out.shape} for "
            f"{fold.test.size:,} rows."
        )
    return model, held_out


def routed_params(
    ranker: Any, sensitive_features: Any, sample_weight: Any, fit_params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what goes to the estimator's ``fit`` and to the splitter; say so if weights do not reach the former.

    With metadata routing enabled each gets what it requests. Without it the estimator gets ``fit_params`` and, if its
    ``fit`` takes them, the weights.
    """
    name = type(ranker.estimator).__name__
    if get_config()["enable_metadata_routing"]:
        given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, **fit_params}
        routed = process_routing(ranker, "fit", **{key: value for key, value in given.items() if value is not None})
        for_fit = dict(routed["estimator"]["fit"])
        for_split = dict(routed["splitter"]["split"]) if hasattr(ranker.cv, "get_metadata_routing") else {}
        why = f"{name} requests no sample_weight"
    else:
        for_fit, for_split = dict(fit_params), {}
        if sample_weight is not None and has_fit_parameter(ranker.estimator, "sample_weight"):
            for_fit["sample_weight"] = sample_weight
        why = f"fit of {name} takes no sample_weight"
    unheard = not any(key.endswith("sample_weight") for key in for_fit)
    if sample_weight is not None and unheard and not isinstance(ranker.estimator, FrozenEstimator):
        warn_caller(f"{why}: the weights serve the repair alone.")
    return for_fit, for_split
