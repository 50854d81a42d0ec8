"""pwcmp's prior on distances: a compared pair is expected to lie as far apart as the counts of all pairs suggest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import log_ndtr

from paragone.errors import BadConfig
from paragone.estimate.arrays import Floats

__all__ = ["Belief", "DistancePrior", "mills"]

_FLOOR = (
    0.1  # added to the density before its logarithm, so that a distance no other pair shares is not pulled in (pwcmp)
)
_LARGEST_TABLE = 40_000_000  # cells: distinct counts x ordered pairs; 320 MB for each of the few tables


def mills(x: Floats) -> Floats:
    """phi(x) / Phi(x), the first derivative of log Phi: about -x far below 0, where both parts underflow."""
    ratio: Floats = np.exp(-0.5 * x * x - 0.5 * np.log(2.0 * np.pi) - log_ndtr(x))
    return ratio


class Belief(NamedTuple):
    """The log-prior at one place, as a function of the E pairs' standardised differences x."""

    value: float
    """Half the sum of log(prior + 0.1) over both orders of every pair: each pair once, as in the likelihood."""
    slope: Floats
    """(E,) first derivatives in x."""
    bend: Floats
    """(E,) the diagonal part of minus the second derivatives; `coupled` gives the rest."""
    pi: Floats
    """(C, M) how each of the C distinct counts spreads over the M entries (pairs in both orders, self-pairs)."""
    leaning: Floats
    """(C, M) pi times the first derivative of the log of the count's kernel."""
    many: Floats
    """(C,) how many entries have this count."""
    pull: Floats
    """(M,) 1 / (prior + 0.1)."""

    def coupled(self, v: Floats) -> Floats:
        """Minus the second derivatives in x, without `bend`, times v (E,).

        With J = d density / dz = diag(rise) - pi' diag(many) leaning over the entries z, rise = leaning' many, that is
        (J' diag(pull^2) J + sum_c many_c leaning_cf leaning_cg (pull_f + pull_g - 2 pi_c' pull)) / 2, folded from
        entries to pairs.
        """
        size = v.size
        z = np.concatenate([v, -v, np.zeros(self.pull.size - 2 * size)])
        rise = self.many @ self.leaning
        leant = self.many * (self.leaning @ z)
        change = self.pull**2 * (rise * z - leant @ self.pi)
        out = rise * change - (self.many * (self.pi @ change)) @ self.leaning
        out += self.pull * (leant @ self.leaning) + (self.many * (self.leaning @ (self.pull * z))) @ self.leaning
        out -= 2.0 * ((self.pi @ self.pull) * leant) @ self.leaning
        folded: Floats = (out[:size] - out[size : 2 * size]) / 2.0
        return folded

    def coupled_diagonal(self) -> Floats:
        """(E,) the part of `coupled` that is a diagonal over pairs: that of diag(rise) diag(pull^2) diag(rise)."""
        own = (self.pull * (self.many @ self.leaning)) ** 2
        size = self.slope.size
        diagonal: Floats = (own[:size] + own[size : 2 * size]) / 2.0
        return diagonal

    def coupled_rest(self, incidence: sparse.csr_array) -> Floats:
        """`coupled` less its diagonal part as a dense (n, n) matrix over items, for x = incidence @ scores.

        The C counts are few beside the pairs, so all products pass through (C, n).
        """
        size = self.slope.size

        def at_items(rows: Floats) -> Floats:
            return np.asarray((rows[:, :size] - rows[:, size : 2 * size]) @ incidence)

        many = self.many[:, None]
        rise, pull2 = self.many @ self.leaning, self.pull**2
        leant = many * at_items(self.leaning)
        mixed = at_items(self.pi * (rise * pull2)).T @ leant
        tugged = at_items(self.leaning * self.pull).T @ leant
        own = (self.pi * pull2) @ self.pi.T - np.diag(2.0 * (self.pi @ self.pull) / self.many)
        dense: Floats = (leant.T @ own @ leant - mixed - mixed.T + tugged + tugged.T) / 2.0
        return dense


class DistancePrior(NamedTuple):
    """The counts of all compared pairs, which say what distances to expect."""

    k: Floats
    """(C,) answers for the first item; unanimous counts moved by one (or by all there are, below one)."""
    n: Floats
    """(C,) answers."""
    many: Floats
    """(C,) how many entries have this count."""
    still: int
    """Number of items that were compared with themselves: entries that stay at distance 0."""

    @classmethod
    def of(cls, won: Floats, lost: Floats, alone: Floats) -> DistancePrior:
        """Gather the counts.

        Args:
            won: (E,) answers for the first item of each pair, ties half.
            lost: (E,) answers for the second.
            alone: (S,) answers about items shown against themselves.

        Raises:
            BadConfig: there are so many different counts and pairs that the tables would not fit into memory.
        """
        first, second = np.concatenate([won, lost, alone]), np.concatenate([lost, won, alone])
        n = first + second
        moved = np.minimum(1.0, n)
        k = np.where(second == 0.0, n - moved, np.where(first == 0.0, moved, first))
        counts, many = np.unique(np.stack([k, n]).round(9), axis=1, return_counts=True)
        if counts.shape[1] * n.size > _LARGEST_TABLE:
            raise BadConfig(
                f"the JOD prior would need a table of {counts.shape[1]} different counts x {n.size} ordered pairs; "
                "use prior = false, or weights that take fewer different values"
            )
        return cls(counts[0], counts[1], many.astype(np.float64), alone.size)

    def at(self, x: Floats) -> Belief:
        """The log-prior and its derivatives at the pairs' standardised differences, (E,)."""
        size = x.size
        z = np.concatenate([x, -x, np.zeros(self.still)])
        up, down = mills(z), mills(-z)
        rest = self.n - self.k
        kernel = np.outer(self.k, log_ndtr(z)) + np.outer(rest, log_ndtr(-z))
        pi = np.exp(kernel - kernel.max(axis=1, keepdims=True))
        pi /= pi.sum(axis=1, keepdims=True)
        density = self.many @ pi
        pull = 1.0 / (density + _FLOOR)
        leaning = pi * (self.k[:, None] * up - rest[:, None] * down)
        # pi (L'^2 + L'') of the kernel's log L, in which L'' = -k up (z + up) - rest down (down - z)
        curving = leaning * (self.k[:, None] * up - rest[:, None] * down)
        curving -= pi * (self.k[:, None] * (up * (z + up)) + rest[:, None] * (down * (down - z)))
        tug = self.many * (pi @ pull)  # a count's share at entry f moves the sum by many (pull_f - pi' pull)
        slope = pull * (self.many @ leaning) - tug @ leaning
        bend = tug @ curving - pull * (self.many @ curving)
        return Belief(
            value=float(np.log(density + _FLOOR).sum()) / 2.0,
            slope=(slope[:size] - slope[size : 2 * size]) / 2.0,
            bend=(bend[:size] + bend[size : 2 * size]) / 2.0,
            pi=pi,
            leaning=leaning,
            many=self.many,
            pull=pull,
        )
