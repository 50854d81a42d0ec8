"""Scores at which a walk over compared pairs is in balance: what leaves every item equals what enters it.

The unknown is s = log of the stationary distribution, never the distribution itself: tiny probabilities keep their full
relative precision, and no range of scores can underflow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from paragone.errors import NotConverged
from paragone.stats.laplacian import Laplacian, Shape

__all__ = ["Balance", "Flows", "balance"]

Floats = NDArray[np.float64]

ELIMINATED_ITEMS = 200
"""Up to here elimination (n^3 / 3 steps) is as quick as iterating (our measurement)."""
DENSE_ITEMS = 2000
DENSE_SHARE = 0.05
"""Up to this size, and from this share of filled cells on, elimination runs dense; else sparse."""
TOLERANCE = 1e-11
"""Largest estimated error of a score, in natural-log units."""
NEWTON_STEPS = 50
KRYLOV_STEPS = 60
FIRST_BENDING = 0.25
LEAST_BENDING = 1e-3
"""Shares of the whole bend by which it is first, and at least, increased."""
ROUNDING = 1e-14
"""An imbalance of this size is rounding."""
SMALLEST_SHARE = 1e-3
PATIENCE = 5
"""Steps are halved down to about this share of Newton's; so many in a row that do not help at all are a stall."""
FARTHEST = 600.0
"""Score differences are cut here inside exp, far beyond any that votes can show."""


@dataclass(frozen=True)
class Flows:
    """A walk between the two ends of every edge; each of the n items is the end of at least one.

    At scores s, e^{s_i} to_j e^{-bend (s_i - s_j)} flows from i to j and e^{s_j} to_i e^{bend (s_i - s_j)} back.
    bend = 0 is an ordinary Markov chain with those rates.
    """

    shape: Shape
    """Where the edges are."""
    to_j: Floats
    """(e,) rate from i to j, >= 0."""
    to_i: Floats
    """(e,) rate from j to i, >= 0."""
    bend: Floats | None = None
    """(e,) in [0, 1/2), or None where it is 0 everywhere."""


class Balance(NamedTuple):
    """The scores at which a walk is in balance."""

    score: Floats
    """(n,) centred to mean 0, natural-log units."""
    iterations: int
    """Newton steps; 0 where elimination alone gave the answer."""
    residual: float
    """max |inflow / outflow - 1| over the items."""


class _State(NamedTuple):
    """The walk around one set of scores, every row i divided by e^{s_i}."""

    outflow: Floats
    residual: Floats
    upper: sparse.csr_array
    lower: sparse.csc_array
    diagonal: Floats


def balance(flows: Flows, *, start: Floats | None = None) -> Balance:
    """Find the scores at which inflow equals outflow at every item.

    Args:
        flows: a walk that leads from every item to every other.
        start: (n,) scores near the answer, for example of a similar walk; None: begin from the shares of wins.

    Returns:
        Scores, steps and the imbalance left.

    Raises:
        NotConverged: the estimated error stays above 1e-11 after 50 Newton steps.

    Source:
        Elimination: Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
        chains", Operations Research 33(5), 1985. Iteration: Newton in s, with GMRES (Saad and Schultz, SIAM J. Sci.
        Stat. Comput. 7(3), 1986) on the walk scaled by its own flows.
    """
    first = _first_guess(flows) if start is None else start
    found = _newton(flows, first, rescue=False)
    if found is None:
        found = _followed(flows)
    if found is None:
        raise NotConverged(
            f"walk over {flows.shape.n} items: no balance within {NEWTON_STEPS} steps; "
            f"the votes barely connect the items, collect more or use a larger prior"
        )
    return found


def _newton(flows: Flows, score: Floats, *, rescue: bool) -> Balance | None:
    """Newton's method, each step halved until the worst imbalance falls; None where it stalls.

    `rescue` solves every step by elimination instead of GMRES. It holds the item where the walk rests longest: the
    system is as well-conditioned as that item is quickly reached from all others.
    """
    score = score - score.mean()
    state = _around(flows, score)
    stalls = 0
    for step in range(NEWTON_STEPS):
        worst = float(np.abs(state.residual).max())
        if worst <= ROUNDING:
            return Balance(score, step, worst)
        change = _direct(state, int(np.argmax(score))) if rescue else _gmres(state)
        if change is None:
            return None
        was, share = _merit(state), 1.0
        while True:
            stretched = np.log(np.maximum(1.0 + share * change, 0.01))
            state = _around(flows, score + stretched)
            if _merit(state) < was or share < SMALLEST_SHARE:
                break
            share /= 2
        score = score + stretched - stretched.mean()
        left = float(np.abs(state.residual).max())
        # The step turned a residual of `worst` into a change of this size, so it will turn what is left alike.
        if left * float(np.ptp(change)) <= TOLERANCE * worst:
            return Balance(score, step + 1, left)
        stalls = stalls + 1 if share < SMALLEST_SHARE else 0
        if stalls == PATIENCE:
            return None
    return None


def _followed(flows: Flows) -> Balance | None:
    """Balance the walk without its bend, then bend it step by step, in shorter steps where Newton's method fails."""
    found = _newton(replace(flows, bend=None), _fitted_odds(flows), rescue=True)
    if flows.bend is None or found is None:
        return found
    reached, step = 0.0, FIRST_BENDING
    while reached < 1.0:
        share = min(1.0, reached + step)
        ahead = _newton(replace(flows, bend=share * flows.bend), found.score, rescue=True)
        if ahead is not None:
            found, reached, step = ahead, share, 2 * step
        elif step < LEAST_BENDING:
            return None
        else:
            step /= 2
    return found


def _merit(state: _State) -> float:
    return float(np.abs(np.log(np.maximum(1.0 + state.residual, 1e-300))).max())


def _first_guess(flows: Flows) -> Floats:
    """The answer itself where the walk is small and has no bend, else each item's log-odds over all its edges."""
    if flows.shape.n <= ELIMINATED_ITEMS:
        return _eliminate(flows)
    inflow = flows.shape.totals(flows.to_i, flows.to_j)
    score: Floats = np.log(inflow / flows.shape.totals(flows.to_j, flows.to_i))
    return score


def _fitted_odds(flows: Flows) -> Floats:
    """Least squares of the score differences on the log-odds of the edges; exact for a tree without bend."""
    shape = flows.shape
    both = flows.to_j + flows.to_i
    share = np.clip(flows.to_i / both, 1e-3, 1.0 - 1e-3)
    odds = np.log(share / (1.0 - share))
    return Laplacian(shape, both).solve(shape.totals(both * odds, -both * odds))


def _around(flows: Flows, score: Floats) -> _State:
    """Flows and their derivative at the given scores."""
    shape = flows.shape
    d = np.clip(score[shape.i] - score[shape.j], -FARTHEST, FARTHEST)
    e = np.exp(d)
    up, down = flows.to_j, flows.to_i
    if flows.bend is None:
        from_j, from_i = down / e, up * e
        right, left = -from_j, -from_i
    else:
        bent = np.exp(flows.bend * d)
        up, down = up / bent, down * bent
        from_j, from_i = down / e, up * e
        right = flows.bend * up - (1.0 - flows.bend) * from_j
        left = flows.bend * down - (1.0 - flows.bend) * from_i
    outflow, inflow = shape.totals(up, down), shape.totals(from_j, from_i)
    # The row sums of the derivative are outflow - inflow, since doubling every e^s doubles every flow.
    diagonal = outflow - inflow - shape.totals(right, left)
    return _State(outflow, inflow / outflow - 1.0, shape.upper(right), shape.lower(left), diagonal)


def _gmres(state: _State, *, drop: float = 1e-6) -> Floats | None:
    """Solve derivative @ change = inflow - outflow, rows divided by the outflow; None if the residual hardly fell."""
    n = state.residual.size
    diagonal = state.diagonal / state.outflow
    basis = np.empty((KRYLOV_STEPS + 1, n))
    norm = float(np.linalg.norm(state.residual))
    basis[0] = state.residual / norm
    columns: list[list[float]] = []
    turns: list[tuple[float, float]] = []
    rest = [norm]
    for k in range(min(KRYLOV_STEPS, n)):
        v = basis[k]
        w = (state.upper @ v + state.lower @ v) / state.outflow + diagonal * v
        known = basis[: k + 1]
        h = known @ w
        w -= h @ known
        again = known @ w
        w -= again @ known
        column = (h + again).tolist()
        length = float(np.linalg.norm(w))
        for at, (c, s) in enumerate(turns):
            column[at], column[at + 1] = c * column[at] + s * column[at + 1], c * column[at + 1] - s * column[at]
        size = float(np.hypot(column[k], length))
        if size == 0.0:
            break
        c, s = column[k] / size, length / size
        turns.append((c, s))
        column[k] = size
        columns.append(column)
        rest[k:] = [c * rest[k], -s * rest[k]]
        if abs(rest[k + 1]) <= drop * norm or length <= 1e-14 * size:
            break
        basis[k + 1] = w / length
    weights = np.zeros(len(columns))
    for at in range(len(columns) - 1, -1, -1):
        known_part = sum(columns[m][at] * weights[m] for m in range(at + 1, len(columns)))
        weights[at] = (rest[at] - known_part) / columns[at][at]
    change: Floats = weights @ basis[: len(columns)]
    return change if abs(rest[-1]) <= 1e-2 * norm else None


def _direct(state: _State, held: int) -> Floats:
    """Solve the same system by elimination, the change of item `held` kept at 0."""
    rows = sparse.diags_array(1.0 / state.outflow)
    matrix = (rows @ (state.upper + state.lower + sparse.diags_array(state.diagonal))).tocsc()
    free = np.delete(np.arange(state.residual.size), held)
    change = np.zeros(state.residual.size)
    if matrix.nnz > DENSE_SHARE * change.size**2 and change.size <= DENSE_ITEMS:
        change[free] = np.linalg.solve(matrix.toarray()[np.ix_(free, free)], state.residual[free])
    else:
        change[free] = splu(matrix[free][:, free]).solve(state.residual[free])
    return change


def _eliminate(flows: Flows) -> Floats:
    """Scores of the walk without bend, by elimination that adds, multiplies and divides positive numbers only."""
    n = flows.shape.n
    a = (flows.shape.upper(flows.to_j) + flows.shape.lower(flows.to_i)).toarray()
    for k in range(n - 1, 0, -1):
        a[:k, k] /= a[k, :k].sum()
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    score = np.zeros(n)
    with np.errstate(divide="ignore"):
        log_a = np.log(a)
    for k in range(1, n):
        score[k] = np.logaddexp.reduce(score[:k] + log_a[:k, k])
    score -= score.mean()
    return score
