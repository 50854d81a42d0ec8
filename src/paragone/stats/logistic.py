"""The curve that carries a metric's scores to people's scale: 4- and 5-parameter logistic, without a start to guess."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import rankdata

from paragone.errors import BadInput

from .sigmoid import MIN_SLOPE, STEEP, fit_sigmoid
from .statistic import Floats, paired_floats

__all__ = ["Curve", "Form", "LogisticFit", "fit_logistic", "out_of_fold"]

Form = Literal["logistic5", "logistic4", "line"]


@dataclass(frozen=True)
class Curve:
    """A mapping x -> y in the unit of x; call it."""

    form: Form
    """logistic5: b1 (1/2 - 1/(1 + exp(b2 (x - b3)))) + b4 x + b5. logistic4: (b1 - b2)/(1 + exp(-(x - b3)/|b4|)) + b2.
    line: b1 x + b2."""
    parameters: tuple[float, ...]
    """b1, b2, ... in the unit of x and y."""

    def __call__(self, x: ArrayLike) -> Floats:
        """Predicted y, the shape of x; NaN where x is."""
        v, b = np.asarray(x, dtype=np.float64), self.parameters
        if self.form == "logistic5":
            return np.asarray(b[0] * (expit(b[1] * (v - b[2])) - 0.5) + b[3] * v + b[4])
        if self.form == "logistic4":
            return np.asarray((b[0] - b[1]) * expit((v - b[2]) / abs(b[3])) + b[1])
        return np.asarray(b[0] * v + b[1])

    def turned(self, sign: float) -> Curve:
        """The same mapping for x times `sign` (1 or -1): turned(-1)(-x) equals self(x)."""
        if sign > 0:
            return self
        b = self.parameters
        if self.form == "logistic5":
            return Curve(self.form, (b[0], -b[1], -b[2], -b[3], b[4]))
        if self.form == "logistic4":
            return Curve(self.form, (b[1], b[0], -b[2], b[3]))
        return Curve(self.form, (-b[0], b[1]))


@dataclass(frozen=True)
class LogisticFit:
    """A fitted curve and how well it does."""

    curve: Curve
    monotone: bool
    """True where the curve never turns over the observed range of x."""
    converged: bool
    """False where a line had to stand in, because there were too few distinct scores (`note` says so)."""
    steep: bool
    """True where the sigmoid is steeper than STEEP: the curve is close to a step, which flatters a weak metric."""
    plcc_raw: float
    """Pearson's r of x and y without a curve; NaN where a side is constant."""
    plcc: float
    """Pearson's r of the curve and y; NaN where the curve or y is constant."""
    rmse: float
    """sqrt(sum e^2 / n), in the unit of y."""
    rmse_unbiased: float
    """sqrt(sum e^2 / (n - d)), d parameters; NaN where n <= d."""
    sse: float
    """Sum of squared errors."""
    n: int
    """Items fitted."""
    note: str = ""
    """What a reader must know; empty where nothing."""
    residuals: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    """(n,) y - curve(x), in the order of the items fitted."""


def fit_logistic(
    x: ArrayLike,
    y: ArrayLike,
    *,
    form: Literal["logistic5", "logistic4"] = "logistic5",
    monotone: bool = True,
    max_slope: float = math.inf,
) -> LogisticFit:
    """Fit the logistic by least squares, the best fit within its bounds rather than the one near some start.

    Where the error falls without end as the sigmoid becomes a step between two items (weak metrics), the step is found
    exactly, returned as a finite, very large slope, and flagged `steep`; `max_slope` forbids it. A monotone fit rises
    or falls, as Spearman's rho does, over the whole observed range of x: a metric may not be praised for a curve that
    turns. (For the five parameters: b4 + b1 times the sigmoid's derivative keeps its sign there.)

    Args:
        x: (n,) scores of the metric; positions where x or y is NaN are left out.
        y: (n,) scores of people.
        form: logistic5 (VQEG; used by nearly all papers on image quality) or logistic4.
        monotone: keep the curve monotone; False allows any shape of the same formula.
        max_slope: largest slope of the sigmoid, per standard deviation of x, > 0.05; STEEP keeps steps out.

    Returns:
        The fit. With no more items than parameters, or below 4 distinct scores, a line stands in and `converged` is
        False; where x or y is constant the correlations are NaN.

    Raises:
        BadInput: shapes that do not fit, an infinity, no item at all, an unknown form, or a limit that is too low.

    Source:
        Sheikh, Sabir and Bovik, "A statistical evaluation of recent full reference image quality assessment
        algorithms", IEEE TIP 15(11), 2006 (five parameters); VQEG FR-TV Phase I final report, 2000 (four).
    """
    if form not in ("logistic5", "logistic4"):
        raise BadInput(f"no form '{form}'; there is logistic4, logistic5")
    if not max_slope > MIN_SLOPE:
        raise BadInput(
            f"largest slope {max_slope} leaves no sigmoid; give more than {MIN_SLOPE} per standard deviation"
        )
    a, b = paired_floats(x, y)
    if not len(a):
        raise BadInput("no item has both scores; there is nothing to fit")
    d = 5 if form == "logistic5" else 4
    spread = float(a.std())
    if len(a) <= d or len(np.unique(a)) < 4 or not spread > 1e-13 * max(float(np.abs(a).max()), 1e-300):
        return _line(a, b, f"{len(a)} items with {len(np.unique(a))} distinct scores are too few for the curve: a line")
    sign = -1.0 if _direction(a, b) < 0 else 1.0
    mean = float(a.mean())
    straight = form == "logistic5"
    fit = fit_sigmoid(sign * (a - mean) / spread, b, straight=straight, monotone=monotone, max_slope=max_slope)
    b3 = mean + sign * spread * fit.centre
    if straight:
        b4 = sign * fit.straight / spread
        b5 = fit.shift - b4 * mean + 0.5 * fit.rise
        curve = Curve("logistic5", (fit.rise, sign * fit.slope / spread, b3, b4, b5))
    else:
        ends = (fit.shift + fit.rise, fit.shift) if sign > 0 else (fit.shift, fit.shift + fit.rise)
        curve = Curve("logistic4", (*ends, b3, spread / fit.slope))
    steep = fit.slope >= STEEP * (1.0 - 1e-6)
    note = "the curve is close to a step between two groups of items" if steep else ""
    return _judged(curve, a, b, d, monotone=not fit.turns, converged=True, steep=steep, note=note)


def out_of_fold(
    x: ArrayLike,
    y: ArrayLike,
    *,
    form: Literal["logistic5", "logistic4"] = "logistic5",
    monotone: bool = True,
    max_slope: float = math.inf,
    folds: int = 5,
) -> float:
    """Pearson's r of y with predictions from curves that did not see the item: `plcc` without its flattery.

    Folds are every `folds`-th item in the order of x (turned so that it rises with y), then y: neither the order of the
    rows nor chance nor the sign of the metric matters.

    Args:
        x: as in `fit_logistic`.
        y: as there.
        form: as there.
        monotone: as there.
        max_slope: as there.
        folds: parts, >= 2.

    Returns:
        r in [-1, 1]; NaN where there are fewer than 2 * folds items or a side is constant.

    Raises:
        BadInput: as `fit_logistic`, or fewer than two folds.
    """
    a, b = paired_floats(x, y)
    if folds < 2:
        raise BadInput(f"{folds} folds; two or more are needed")
    if len(a) < 2 * folds:
        return math.nan
    part = np.empty(len(a), dtype=np.int64)
    part[np.lexsort((b, -a if _direction(a, b) < 0 else a))] = np.arange(len(a)) % folds
    predicted = np.empty(len(a))
    for k in range(folds):
        held = part == k
        fit = fit_logistic(a[~held], b[~held], form=form, monotone=monotone, max_slope=max_slope)
        predicted[held] = fit.curve(a[held])
    return _correlation(predicted, b)


def _direction(x: Floats, y: Floats) -> float:
    rho = _correlation(rankdata(x), rankdata(y))
    return _correlation(x, y) if abs(rho) < 1e-12 or math.isnan(rho) else rho


def _line(x: Floats, y: Floats, note: str) -> LogisticFit:
    x0 = x - x.mean()
    size = float(x0 @ x0)
    slope = float(x0 @ (y - y.mean())) / size if size > 0 else 0.0
    curve = Curve("line", (slope, float(y.mean()) - slope * float(x.mean())))
    return _judged(curve, x, y, 2, monotone=True, converged=False, steep=False, note=note)


def _judged(
    curve: Curve, x: Floats, y: Floats, d: int, *, monotone: bool, converged: bool, steep: bool, note: str
) -> LogisticFit:
    fitted = curve(x)
    residuals = y - fitted
    sse, n = float(residuals @ residuals), len(x)
    return LogisticFit(
        curve=curve,
        monotone=monotone,
        converged=converged,
        steep=steep,
        plcc_raw=_correlation(x, y),
        plcc=_correlation(fitted, y),
        rmse=math.sqrt(sse / n),
        rmse_unbiased=math.sqrt(sse / (n - d)) if n > d else math.nan,
        sse=sse,
        n=n,
        note=note,
        residuals=residuals,
    )


def _correlation(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    size_a, size_b = float(a @ a), float(b @ b)
    flat = 1e-24 * len(x)
    if size_a <= flat * max(float((x * x).max()), 1e-300) or size_b <= flat * max(float((y * y).max()), 1e-300):
        return math.nan
    return float(np.clip(a @ b / math.sqrt(size_a * size_b), -1.0, 1.0))
