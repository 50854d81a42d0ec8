"""Bradley-Terry: scores whose differences are the log-odds of winning, by maximum likelihood or with a Gaussian prior.

One answer at temperature t: P(i over j) = 1 / (1 + exp(-(s_i - s_j) / t)); a tie is half a win for each side. Both
models take Newton steps on edges and stop on the gradient of their likelihood, which the notes report.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from paragone.errors import BadConfig, NotConverged, TooFew
from paragone.estimate.arrays import Comparisons, Estimate, Estimator, Floats
from paragone.estimate.bootstrap_pairs import under_weights
from paragone.estimate.edges import Edges, aggregate, check_connected, compacted, tally
from paragone.estimate.limits import require_within
from paragone.stats.laplacian import Laplacian, Shape, shape_of

__all__ = [
    "BRADLEY_TERRY",
    "BRADLEY_TERRY_RIDGE",
    "bradley_terry",
    "bradley_terry_covariance",
    "bradley_terry_likelihood",
    "bradley_terry_ridge",
    "bradley_terry_ridge_covariance",
    "replicate_bradley_terry",
    "replicate_bradley_terry_ridge",
]

Covariance = Literal["fisher", "robust"]

TOLERANCE = 1e-9
"""Largest estimated error of a score, in logits."""
ROUNDING = 1e-14
"""Share of the terms of a gradient that rounding may leave."""
GRADIENT = 1e-9
"""Largest |gradient| of an item per vote on it that an answer may have."""
FARTHEST = 700.0
"""Log-odds are cut here inside exp, which would overflow soon after."""
STEPS = 100
_SPREADS = (1e-3, 1e3)  # logits; below, the votes say nothing, above, the prior does not
STDERR_ITEMS = 500
"""Up to here an (n, n) inverse costs about as little as the fit, so standard errors come with the scores."""


class _Fit(NamedTuple):
    score: Floats
    iterations: int
    gradient: float
    """max |d log-likelihood / d s_i| / votes on i."""


def bradley_terry(comparisons: Comparisons, *, covariance: Covariance = "fisher") -> Estimate:
    """Score items by maximum likelihood under the Bradley-Terry model.

    Args:
        comparisons: m judged pairs over n items; weights and temperatures enter the likelihood.
        covariance: where the standard errors come from: the Fisher information, or the participants (see
            `bradley_terry_covariance`).

    Returns:
        Scores in logits, centred to mean 0: (n,), larger is better; NaN for items without a comparison. Standard errors
        of the centred scores for up to 500 items. Notes: `components`, `strong_components`, `self_pairs` (dropped),
        `unseen`, `iterations`, `max_gradient` (largest |gradient| of an item per vote on it), `log_likelihood`.

    Raises:
        BadConfig: an unknown covariance.
        NotConnected: the pairs leave the items in several groups, or the wins do not lead from every item to every
            other (an item that never lost would score infinity).
        NotConverged: the gradient did not vanish.
        TooFew: no two different items were compared.

    Source:
        Bradley and Terry, "Rank analysis of incomplete block designs I", Biometrika 39, 1952; existence: Ford, American
        Mathematical Monthly 64(8), 1957.
    """
    return _estimate(comparisons, ridge=0.0, covariance=covariance)


def bradley_terry_ridge(comparisons: Comparisons, *, sd: float = 3.0, covariance: Covariance = "fisher") -> Estimate:
    """Score items by the Bradley-Terry model with a Gaussian prior on every score (maximum a posteriori).

    The scores are finite also where an item never lost. The prior could join groups that were never compared, each
    around its own mean; that would be a guess, so separate groups are refused here too.

    Args:
        comparisons: as in `bradley_terry`.
        sd: standard deviation of the prior around 0, in logits, 0.001 to 1000. The default, 3, lets two items
            differ by 4 logits (50 : 1) without much pull.
        covariance: as in `bradley_terry`.

    Returns:
        As `bradley_terry`; `log_likelihood` leaves the prior out, `max_gradient` includes it. Notes also hold `sd`.

    Raises:
        BadConfig: sd is out of its range, or an unknown covariance.
        NotConnected: the pairs leave the items in several groups.
        NotConverged: the gradient did not vanish.
        TooFew: no two different items were compared.

    Source:
        Bradley and Terry as in `bradley_terry`; the prior as in Caron and Doucet, "Efficient Bayesian inference for
        generalized Bradley-Terry models", J. Comput. Graph. Stat. 21(1), 2012, with a Gaussian in place of their gamma.
    """
    estimate = _estimate(comparisons, ridge=_ridge(sd), covariance=covariance)
    return estimate._replace(notes={**estimate.notes, "sd": sd})


def bradley_terry_likelihood(comparisons: Comparisons, score: Floats) -> float:
    """Log-likelihood of the answers, a natural log, <= 0.

    Args:
        comparisons: the votes.
        score: (n,) in logits.
    """
    return _log_likelihood(aggregate(comparisons), score)


def bradley_terry_covariance(comparisons: Comparisons, score: Floats, *, covariance: Covariance = "fisher") -> Floats:
    """Covariance of the centred maximum-likelihood scores.

    "fisher" trusts every answer to be independent. "robust" takes each participant as one draw: with the gradients
    g of k participants it is H+ (sum g g') H+ k / (k - 1), so tastes that differ between people widen the intervals.

    Args:
        comparisons: the votes.
        score: (n,) the scores fitted to them.
        covariance: "fisher" or "robust".

    Returns:
        (n, n), rows and columns sum to 0; NaN for items without a comparison. Memory grows as n^2.

    Raises:
        BadConfig: an unknown covariance.
        TooFew: "robust" with fewer than two participants.

    Source:
        Huber, "The behavior of maximum likelihood estimates under nonstandard conditions", Berkeley Symposium 5, 1967;
        summed over participants as in Liang and Zeger, Biometrika 73(1), 1986.
    """
    return _covariance(comparisons, aggregate(comparisons), score, 0.0, covariance)


def bradley_terry_ridge_covariance(
    comparisons: Comparisons, score: Floats, *, sd: float = 3.0, covariance: Covariance = "fisher"
) -> Floats:
    """As `bradley_terry_covariance`, with the prior in H: the curvature of the posterior around its mode."""
    return _covariance(comparisons, aggregate(comparisons), score, _ridge(sd), covariance)


def replicate_bradley_terry(comparisons: Comparisons, weights: Floats, *, covariance: Covariance = "fisher") -> Floats:
    """Score items under many reweightings of the participants at once.

    Args:
        comparisons: as in `bradley_terry`.
        weights: (r, participants) how often each participant counts, >= 0; columns follow `comparisons.participant`.
        covariance: checked, but replicates need none.

    Returns:
        (r, n) scores, each row centred over the items seen in it; NaN for items unseen in a replicate, and a whole row
        of NaN where the replicate has no finite scores.

    Raises:
        NotConnected, NotConverged, TooFew: the full sample already cannot be scored.
    """
    _known(covariance)
    return _replicate(comparisons, weights, 0.0)


def replicate_bradley_terry_ridge(
    comparisons: Comparisons, weights: Floats, *, sd: float = 3.0, covariance: Covariance = "fisher"
) -> Floats:
    """As `replicate_bradley_terry`, with the prior in every replicate; only separate groups make a row of NaN."""
    _known(covariance)
    return _replicate(comparisons, weights, _ridge(sd))


def _ridge(sd: float) -> float:
    require_within("sd", sd, *_SPREADS, where="bradley-terry-ridge", advice="give the prior's spread in logits")
    return 1.0 / sd**2


def _known(covariance: str) -> None:
    if covariance not in ("fisher", "robust"):
        raise BadConfig(f"bradley-terry: covariance = '{covariance}' is not one of fisher, robust")


def _estimate(comparisons: Comparisons, *, ridge: float, covariance: Covariance) -> Estimate:
    _known(covariance)
    edges = aggregate(comparisons)
    notes = check_connected(edges, strongly=ridge == 0)
    fit = _fit(edges, ridge)
    stderr = None
    if edges.n <= STDERR_ITEMS and (covariance == "fisher" or np.unique(comparisons.participant).size > 1):
        stderr = np.sqrt(np.diag(_covariance(comparisons, edges, fit.score, ridge, covariance)))
    return Estimate(
        score=fit.score,
        stderr=stderr,
        notes={
            **notes,
            "iterations": fit.iterations,
            "max_gradient": fit.gradient,
            "log_likelihood": _log_likelihood(edges, fit.score),
        },
    )


def _log_likelihood(edges: Edges, score: Floats) -> float:
    x = (score[edges.i] - score[edges.j]) / edges.temperature
    either = np.log(1.0 + np.exp(-np.abs(x)))
    return -float(np.sum(edges.wins_i * (either + np.maximum(-x, 0.0)) + edges.wins_j * (either + np.maximum(x, 0.0))))


def _fit(edges: Edges, ridge: float, start: Floats | None = None, *, steps: int = STEPS, strict: bool = True) -> _Fit:
    """Newton's method with step halving; `strict` raises where `steps` did not suffice."""
    small, seen = compacted(edges)
    shape = shape_of(small.n, small.i, small.j)
    votes = shape.totals(small.votes, small.votes)
    score = _start(shape, small) if start is None else start[seen] - start[seen].mean()
    slope, curve = _derivatives(shape, small, score, ridge)
    first, gradient = float(np.abs(slope).max()), float(np.abs(slope / votes).max())
    done, taken = first == 0.0, 0
    while not done and taken < steps:
        taken += 1
        system = Laplacian(shape, curve, ridge)
        was = float(np.abs(slope / system.diagonal).max())
        change = system.solve(slope, drop=float(np.clip(np.abs(slope).max() / first, 1e-6, 0.1)))
        rise = float(slope @ change)
        while True:
            after, curve = _derivatives(shape, small, score + change, ridge)
            # On a concave likelihood a slope that points back this far means that the step went past the top.
            if float(after @ change) >= -0.25 * rise or float(np.abs(change).max()) < TOLERANCE:
                break
            change, rise = change / 2, rise / 2
        score, slope = score + change, after
        left = float(np.abs(slope / system.diagonal).max())
        gradient = float(np.abs(slope / votes).max())
        done = left * float(np.ptp(change)) <= TOLERANCE * was or (
            gradient < GRADIENT and _is_rounding(shape, small, score, slope)
        )
    if strict and (not done or gradient > GRADIENT):
        raise NotConverged(
            f"bradley-terry: after {taken} steps a gradient of {gradient:.1e} per vote is left; "
            f"the votes barely bound some scores, collect more or use bradley-terry-ridge"
        )
    full = np.full(edges.n, np.nan)
    full[seen] = score - score.mean()
    return _Fit(full, taken, gradient)


def _is_rounding(shape: Shape, edges: Edges, score: Floats, slope: Floats) -> bool:
    """Whether the slope is what rounding leaves of terms that cancel."""
    p, q = _chances(edges, score)
    terms = (edges.wins_i * q + edges.wins_j * p) / edges.temperature
    return bool(np.all(np.abs(slope) <= ROUNDING * shape.totals(terms, terms)))


def _start(shape: Shape, edges: Edges) -> Floats:
    """The log-odds of each item's wins, half a vote added to both sides: already the right order of magnitude."""
    wins = shape.totals(edges.wins_i, edges.wins_j)
    losses = shape.totals(edges.wins_j, edges.wins_i)
    score: Floats = np.log((wins + 0.5) / (losses + 0.5))
    score -= score.mean()
    return score


def _chances(edges: Edges, score: Floats) -> tuple[Floats, Floats]:
    """P(i wins) and P(j wins) on every edge, both to full relative precision however near to 0."""
    # In place throughout: on a million edges, fresh arrays cost more than the arithmetic.
    odds: Floats = score[edges.j]
    odds -= score[edges.i]
    odds /= edges.temperature
    np.exp(np.clip(odds, -FARTHEST, FARTHEST, out=odds), out=odds)
    p = odds + 1.0
    np.reciprocal(p, out=p)
    odds *= p
    return p, odds


def _derivatives(shape: Shape, edges: Edges, score: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Gradient (n,) of the (penalised) log-likelihood, and minus its second derivative along each edge (e,)."""
    p, q = _chances(edges, score)
    # wins_i q - wins_j p keeps the small difference of a one-sided edge, which wins_i - votes p would round away.
    surprise = edges.wins_i * q
    curve = edges.wins_j * p
    surprise -= curve
    surprise /= edges.temperature
    np.add(edges.wins_i, edges.wins_j, out=curve)
    for factor in (p, q):
        curve *= factor
        curve /= edges.temperature
    return shape.net(surprise) - ridge * score, curve


def _covariance(comparisons: Comparisons, edges: Edges, score: Floats, ridge: float, covariance: Covariance) -> Floats:
    _known(covariance)
    small, seen = compacted(edges)
    shape = shape_of(small.n, small.i, small.j)
    _, curve = _derivatives(shape, small, score[seen], ridge)
    matrix = Laplacian(shape, curve, ridge).pseudo_inverse()
    if covariance == "robust":
        spread = _participant_gradients(comparisons, edges, score)[:, seen]
        k = spread.shape[0]
        if k < 2:
            raise TooFew(f"bradley-terry: covariance = 'robust' needs two participants or more, not {k}; use fisher")
        moved = spread @ matrix
        matrix = moved.T @ moved * (k / (k - 1))
    full = np.full((edges.n, edges.n), np.nan)
    full[np.ix_(seen, seen)] = matrix
    return full


def _participant_gradients(comparisons: Comparisons, edges: Edges, score: Floats) -> Floats:
    """(k, n) each voting participant's part of the likelihood's gradient."""
    wins_i, wins_j = tally(comparisons, edges)
    p, q = _chances(edges, score)
    surprise = wins_i.multiply(q / edges.temperature) - wins_j.multiply(p / edges.temperature)
    everything = np.arange(edges.i.size)
    ends = sparse.csr_array(
        (
            np.concatenate([np.ones(edges.i.size), -np.ones(edges.i.size)]),
            (np.concatenate([everything, everything]), np.concatenate([edges.i, edges.j])),
        ),
        shape=(edges.i.size, edges.n),
    )
    voted = np.asarray((wins_i + wins_j).sum(axis=1)).ravel() > 0
    gradients: Floats = (sparse.csr_array(surprise) @ ends).toarray()[voted]
    return gradients


def _replicate(comparisons: Comparisons, weights: Floats, ridge: float) -> Floats:
    return under_weights(
        comparisons, weights, lambda edges, start: _fit(edges, ridge, start).score, strongly=ridge == 0
    )


_SOURCE = "Bradley and Terry, Rank analysis of incomplete block designs I, Biometrika 39, 1952"
_COVARIANCE = (
    "standard errors from the information (fisher) or from differences between participants (robust); default fisher"
)

BRADLEY_TERRY = Estimator(
    name="bradley-terry",
    model=bradley_terry,
    reads="votes",
    summary="Bradley-Terry by maximum likelihood; needs a chain of wins from every item to every other",
    unit="logit",
    source=_SOURCE,
    covariance=bradley_terry_covariance,
    replicate=replicate_bradley_terry,
    connected="strongly",
    likelihood=bradley_terry_likelihood,
    options={"covariance": _COVARIANCE},
)
"""Maximum likelihood."""

BRADLEY_TERRY_RIDGE = Estimator(
    name="bradley-terry-ridge",
    model=bradley_terry_ridge,
    reads="votes",
    summary="Bradley-Terry with a Gaussian prior on every score; finite also where an item never lost",
    unit="logit",
    source=_SOURCE + "; Gaussian prior, maximum a posteriori",
    covariance=bradley_terry_ridge_covariance,
    replicate=replicate_bradley_terry_ridge,
    shrinks=True,
    connected="weakly",
    options={
        "sd": "standard deviation of the prior around 0, in logits, 0.001 to 1000; default 3",
        "covariance": _COVARIANCE,
    },
)
"""Maximum a posteriori."""
