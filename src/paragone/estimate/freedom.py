"""What is left to estimate errors from, at each item, after participants' biases were fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from paragone.estimate.arrays import Floats, Ints, Opinions
from paragone.estimate.incidence import groups

__all__ = ["Freedom", "freedom"]

_NOTHING = 1e-9  # share of an item's ratings; less is rounding


class Freedom(NamedTuple):
    """How sure least squares on scores and biases leave each item, from the design alone."""

    expected: Floats
    """(n,) what the sum of squared residuals is expected to be, in units of the error variance; 0 where scores and
    biases take up every rating. Sums to ratings - items - participants + groups."""
    df: Floats
    """(n,) degrees of freedom of that sum; 0 where `expected` is."""
    variance: Floats
    """(n,) variance of the score at mean bias 0, in units of the error variance: 1 / ratings, and what the raters'
    uncertain biases add. NaN for items without ratings; of use where all hang together."""


class _Design(NamedTuple):
    """Who rated what, how often: one row for each pair of item and participant that occurs, by item."""

    item: Ints
    who: Ints
    weight: Floats
    n: int
    p: int


def freedom(opinions: Opinions) -> Freedom:
    """Count what each item's residuals are worth after least squares on scores and biases.

    Residuals are M e, M the projection off scores and biases. At item j their sum of squares has the expectation
    trace(M_jj) error variances, and the chi-square with its first two moments has trace(M_jj)^2 / trace(M_jj^2) degrees
    of freedom. Where all p rated all n once these are (p - 1)(n - 1) / n and, from two items on, p - 1.

    Args:
        opinions: k ratings, as `usable` returns them; a weight is how often a rating counts.

    Source:
        Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2(6), 1946.
    """
    design = _design(opinions)
    shown: Floats = np.bincount(design.item, design.weight, design.n).astype(np.float64)
    full = _full(design, shown)
    expected, square, variance = full or _item_by_item(design, shown, _bias_errors(opinions, design, shown))
    some = expected > _NOTHING * np.maximum(shown, 1.0)
    df = np.where(some, expected**2 / np.where(some, square, 1.0), 0.0)
    return Freedom(np.where(some, expected, 0.0), df, np.where(shown > 0, variance, np.nan))


def _design(opinions: Opinions) -> _Design:
    key, inverse = np.unique(opinions.item * opinions.p + opinions.participant, return_inverse=True)
    weight = np.bincount(inverse, opinions.weight).astype(np.float64)
    return _Design(key // opinions.p, key % opinions.p, weight, opinions.n, opinions.p)


def _full(design: _Design, shown: Floats) -> tuple[Floats, Floats, Floats] | None:
    """The closed form where everybody rated everything equally often; None elsewhere."""
    items, people = np.count_nonzero(shown), np.unique(design.who).size
    if design.weight.size != items * people or np.ptp(design.weight) > 0:
        return None
    seen, cost = shown > 0, (people - 1) / items
    expected = np.where(seen, shown - 1 - cost, 0.0)
    square = np.where(seen, shown - 1 - 2 * cost + cost / items, 0.0)
    return expected, square, 1 / np.where(seen, shown, 1.0)


Errors = Callable[[Ints], tuple[Floats, Floats]]
"""Participants (m,) -> covariance (m, m) of their fitted biases, and (m,) that with the mean bias less half the mean's
variance. Both in units of the error variance and up to a constant a group, which centring takes out."""


def _item_by_item(design: _Design, shown: Floats, errors: Errors) -> tuple[Floats, Floats, Floats]:
    expected, square, variance = np.zeros(design.n), np.zeros(design.n), np.zeros(design.n)
    starts = np.searchsorted(design.item, np.arange(design.n + 1))
    for j in np.flatnonzero(shown > 0):
        rows = slice(starts[j], starts[j + 1])
        w, (c, everybody) = design.weight[rows], errors(design.who[rows])
        mean = w @ c / shown[j]
        middle = float(mean @ w) / shown[j]
        c = c - mean[None, :] - mean[:, None] + middle
        cost = float(w @ np.diag(c))
        expected[j] = shown[j] - 1 - cost
        square[j] = shown[j] - 1 - 2 * cost + float(w @ (c * c) @ w)
        variance[j] = 1 / shown[j] + max(middle - 2 * float(w @ everybody) / shown[j], 0.0)
    return expected, square, variance


def _bias_errors(opinions: Opinions, design: _Design, shown: Floats) -> Errors:
    """The covariance of the fitted biases, by inverting the shorter side's normal equations."""
    table = sparse.csr_array((design.weight, (design.who, design.item)), shape=(design.p, design.n))
    given: Floats = np.bincount(opinions.participant, opinions.weight, design.p).astype(np.float64)
    rows = np.bincount(opinions.participant, minlength=design.p)
    share = given / np.maximum(rows, 1)
    share /= share.sum()
    _, of_people, of_items = groups(opinions)
    per_person, per_item = 1 / np.where(given > 0, given, 1.0), 1 / np.where(shown > 0, shown, 1.0)
    if design.p <= design.n:
        inverse = _inverse(given, table @ sparse.diags_array(per_item) @ table.T, of_people)
        mean = share @ inverse
        mean = mean - float(mean @ share) / 2
        return lambda who: (inverse[np.ix_(who, who)], mean[who])
    through = (sparse.diags_array(per_person) @ table).tocsr()
    inverse = _inverse(shown, table.T @ through, of_items)
    mean = per_person * share + through @ (inverse @ (through.T @ share))
    mean = mean - float(mean @ share) / 2

    def errors(who: Ints) -> tuple[Floats, Floats]:
        own = through[who]
        return np.diag(per_person[who]) + (own @ inverse) @ own.T.toarray(), mean[who]

    return errors


def _inverse(own: Floats, across: sparse.csr_array, group: Ints) -> Floats:
    """Generalised inverse of diag(own) - across, a Laplacian of which each group is a component."""
    laplacian = np.diag(np.where(own > 0, own, 1.0)) - across.toarray()
    here = np.flatnonzero(group >= 0)
    sizes = np.bincount(group[here])
    same = group[:, None] == group[None, :]
    same[group < 0] = False
    laplacian += same * (own[here].mean() / sizes[np.maximum(group, 0)])
    return np.asarray(linalg.inv(laplacian), dtype=np.float64)
