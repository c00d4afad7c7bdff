"""A simulated population whose score under-ranks one group: for the demo, examples and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xorder._parameters import check_number, check_seed, check_whole
from xorder._table import FloatArray


@dataclass(frozen=True, slots=True)
class Population:
    """Rows of a simulated population.

    Parameters
    ----------
    y_score : ndarray of shape (n_samples,)
        Score of each row, between 0 and 1.
    y_true : ndarray of shape (n_samples,)
        Outcome, 0 or 1.
    group : ndarray of shape (n_samples,)
        ``"A"`` or ``"B"``.
    """

    y_score: FloatArray
    y_true: NDArray[np.int8]
    group: NDArray[np.str_]


def simulate_population(
    n_samples: int = 5000, *, share_b: float = 0.35, penalty: float = 0.5, noise_b: float = 0.6, random_state: int = 0
) -> Population:
    r"""Draw people of groups A and B, and a score that reads B too low.

    Each person has a latent risk, :math:`z \sim N(-0.8, 1.5^2)` in A and :math:`N(-1.4, 1.5^2)` in B, and an outcome
    of 1 with probability :math:`1 / (1 + e^{-z})`. The score of a member of A is that probability after noise of
    deviation 0.4 on :math:`z`. For members of B the latent risk is read too low, as by a model that was fitted to
    records in which B was seen less often, and with more noise: their positives end up below A's negatives too often.
    As B's risks are lower too, closing the gap has a price.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    share_b : float, default=0.35
        Expected share of group B, from 0 to 1.
    penalty : float, default=0.5
        How much too low the latent risk of B is read.
    noise_b : float, default=0.6
        Deviation of the noise in B beyond the 0.4 that A has.
    random_state : int, default=0
        Seed; the same one gives the same rows.

    Returns
    -------
    Population
        Scores, outcomes and groups.

    Examples
    --------
    >>> people = simulate_population(3, random_state=1)
    >>> people.y_score.round(3), people.y_true, people.group
    (array([0.067, 0.639, 0.335]), array([0, 1, 0], dtype=int8), array(['A', 'A', 'B'], dtype='<U1'))
    """
    from scipy.special import expit  # Imported here, as it is slow to load.

    check_number("n_samples", check_whole("n_samples", n_samples), at_most=1e12)
    for name, value in (("penalty", penalty), ("noise_b", noise_b)):
        check_number(name, value)
    check_number("share_b", share_b, at_least=0, at_most=1)
    rng = np.random.default_rng(check_seed(random_state))
    in_b = rng.random(n_samples) < share_b
    risk = rng.normal(np.where(in_b, -1.4, -0.8), 1.5)
    outcome = rng.random(n_samples) < expit(risk)
    seen = risk + rng.normal(size=n_samples) * np.where(in_b, 0.4 + noise_b, 0.4) - penalty * in_b
    return Population(expit(seen), outcome.astype(np.int8), np.where(in_b, "B", "A"))
