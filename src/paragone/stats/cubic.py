"""The mapping that ITU-T P.1401 suggests: a third-order polynomial that never turns over the range of the scores."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from paragone.errors import BadInput, TooFew

from .statistic import Floats, paired_floats

__all__ = ["CubicFit", "fit_monotone_cubic"]

_ANGLES = 360


class CubicFit(NamedTuple):
    """A fitted polynomial y = c0 + c1 x + c2 x^2 + c3 x^3, monotone over the observed x."""

    coefficients: tuple[float, float, float, float]
    """c0 to c3, in the unit of x and y."""
    sse: float
    """Sum of squared errors."""
    rising: bool
    """True where the curve rises."""
    n: int
    """Items fitted."""

    def predict(self, x: ArrayLike) -> Floats:
        """Predicted y, the shape of x; NaN where x is."""
        c0, c1, c2, c3 = self.coefficients
        v = np.asarray(x, dtype=np.float64)
        return np.asarray(c0 + v * (c1 + v * (c2 + v * c3)))


def fit_monotone_cubic(x: ArrayLike, y: ArrayLike) -> CubicFit:
    """Least squares over all cubics that are monotone on [min x, max x].

    A quadratic that is nowhere negative on [-1, 1] is (a + b t)^2 + g (1 - t^2) with g >= 0 (Lukacs). For a fixed ratio
    of a and b the derivative is linear in two non-negative numbers, so the error is profiled over one angle.

    Args:
        x: (n,) scores of the metric; positions where x or y is NaN are left out.
        y: (n,) scores of people.

    Returns:
        The best rising or falling cubic, whichever has the smaller error.

    Raises:
        TooFew: fewer than five items or four distinct scores.
        BadInput: shapes that do not fit, or an infinity.

    Source:
        ITU-T P.1401 (2020), section 7.3; Szego, "Orthogonal Polynomials", theorem 1.21.1 (Lukacs).
    """
    a, b = paired_floats(x, y)
    if len(a) < 5 or len(np.unique(a)) < 4:
        raise TooFew(f"{len(a)} items with {len(np.unique(a))} distinct scores; a cubic needs five and four")
    middle, half = (float(a.max()) + float(a.min())) / 2.0, float(np.ptp(a)) / 2.0
    if not half > 0:
        raise BadInput("all scores are the same; nothing can be fitted")
    t, y0 = (a - middle) / half, b - b.mean()
    fits = [(*_rising(t, sign * y0), sign) for sign in (1.0, -1.0)]
    sse, slope, sign = min(fits, key=lambda fit: fit[0])
    # Integrate sign * (s0 + s1 t + s2 t^2), then put t = (x - middle) / half.
    in_t = np.polynomial.Polynomial([0.0, *(sign * slope / [1.0, 2.0, 3.0])])
    in_x = in_t(np.polynomial.Polynomial([-middle / half, 1.0 / half]))
    c = np.zeros(4)
    c[: len(in_x.coef)] = in_x.coef
    c[0] += float(b.mean()) - float(in_t(t).mean())
    return CubicFit((float(c[0]), float(c[1]), float(c[2]), float(c[3])), sse, sign > 0, len(a))


def _rising(t: Floats, y0: Floats) -> tuple[float, Floats]:
    """Error and coefficients of the derivative of the best rising cubic in t in [-1, 1], y centred."""
    powers = np.column_stack([t, t**2 / 2.0, t**3 / 3.0])
    powers = powers - powers.mean(axis=0)
    gram, right, total = powers.T @ powers, powers.T @ y0, float(y0 @ y0)
    hump = np.array([1.0, 0.0, -1.0])

    def solved(angle: float) -> tuple[float, Floats]:
        u, v = math.cos(angle), math.sin(angle)
        square = np.array([u * u, 2.0 * u * v, v * v])
        best = (total, np.zeros(3))
        for shape in ((square, hump), (square,), (hump,)):
            basis = np.column_stack(shape)
            weight = np.linalg.lstsq(basis.T @ gram @ basis, basis.T @ right, rcond=None)[0]
            if (weight >= 0).all():
                slope = basis @ weight
                error = total - 2.0 * float(slope @ right) + float(slope @ gram @ slope)
                if error < best[0]:
                    best = (error, slope)
        return best

    angles = np.arange(_ANGLES) * math.pi / _ANGLES
    start = angles[int(np.argmin([solved(angle)[0] for angle in angles]))]
    step = math.pi / _ANGLES
    found = minimize_scalar(
        lambda angle: solved(angle)[0], bounds=(start - step, start + step), method="bounded", options={"xatol": 1e-12}
    )
    return min((solved(float(found.x)), solved(float(start))), key=lambda fit: fit[0])
