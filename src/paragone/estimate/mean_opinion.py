"""Mean opinion scores: of the ratings themselves, and of their differences from a hidden reference."""

from __future__ import annotations

import contextlib
from typing import Any, Literal

import numpy as np

from paragone.errors import BadConfig, TooFew
from paragone.estimate.arrays import Estimate, Estimator, Floats, Ints, Opinions
from paragone.estimate.incidence import averaged, item_means, picked, usable
from paragone.estimate.limits import require_within
from paragone.estimate.zscore import dropped, rescaled, standardise

__all__ = ["DMOS", "MOS", "dmos", "mos"]

Against = Literal["own", "mean"]
Standardised = Literal["no", "participant", "session"]

_FARTHEST_ANCHOR = 1e9  # beyond it, adding the anchor rounds the ratings away


def mos(opinions: Opinions) -> Estimate:
    """Score items by the mean of their ratings.

    Every rating counts once, so a participant who rated an item twice counts twice there.

    Args:
        opinions: k ratings; a weight says how often a rating counts.

    Returns:
        Means (n,) on the rating scale, NaN for an item never rated. Standard errors are sd / sqrt(ratings) with n - 1
        in sd, NaN for an item with one rating; the half-width of an interval is the t quantile at `df` times that.
        Notes: `ratings`, `sd`, `df` (n,), `items_not_rated`, `items_with_one_rating`.

    Raises:
        TooFew: there are no ratings.

    Source:
        ITU-R BT.500-15, Annex 1, section 2.2.
    """
    data = usable(opinions)
    return averaged(data, data.value, {})


def _mos_replicate(opinions: Opinions, weights: Floats) -> Floats:
    data = usable(opinions)
    return item_means(data, data.value, weights)


def dmos(
    opinions: Opinions, *, against: Against = "own", anchor: float = 5.0, standardised: Standardised = "no"
) -> Estimate:
    """Score items by how far their ratings lie from those of their hidden reference.

    Each rating becomes rating - reference + anchor, larger being better, so that an item as good as its reference gets
    `anchor`. An item that others are compared with and that has no reference itself is its own reference.

    Args:
        opinions: k ratings; `reference` gives the index of each item's reference, -1 for none.
        against: 'own' takes the participant's own rating of the reference, from the same session or, where that has
            none, the mean over their other sessions; 'mean' takes the reference's mean over everybody.
        anchor: what an item equal to its reference gets, in the unit of the ratings: the best rating of the scale (5 on
            five points); 0 gives plain differences; within +-1e9. Without effect on standardised differences.
        standardised: 'no', or whose mean and standard deviation the differences are divided by: 'participant' or
            'session'; the result is then 100 (z + 3) / 6.

    Returns:
        Means (n,), NaN for an item without a reference or without a usable pair of ratings; standard errors as for
        'mos' (against = 'mean' treats the reference's mean as known). Notes, beside those of 'mos':
        `items_without_reference`, `ratings_without_reference` (own: dropped because the participant never rated the
        reference), `reference_from_other_session` (ratings), `participants_dropped`.

    Raises:
        BadConfig: an option has another word, or the anchor is out of its range.
        TooFew: no item has a reference that was rated.

    Source:
        ITU-T P.910 (2023), ACR with hidden reference: DV = V(PVS) - V(REF) + 5. against = 'mean' is SUREAL's DMOS (Li
        and Bampis, 2017) and, standardised, its LIVE_DMOS after Seshadrinathan et al., IEEE TIP 19(6), 2010, section
        II-D (there reference minus item).
    """
    kept, values, notes = _differences(usable(opinions), against, anchor, standardised)
    return averaged(kept, values, notes)


def _differences(
    data: Opinions, against: Against, anchor: float, standardised: Standardised
) -> tuple[Opinions, Floats, dict[str, Any]]:
    if against not in ("own", "mean"):
        raise BadConfig(f"against = '{against}' is not one of own, mean", where="against")
    if standardised not in ("no", "participant", "session"):
        raise BadConfig(f"standardised = '{standardised}' is not one of no, participant, session", where="standardised")
    require_within("anchor", anchor, -_FARTHEST_ANCHOR, _FARTHEST_ANCHOR, where="dmos")
    reference = _references(data)
    kept = picked(data, reference[data.item] >= 0)
    if against == "own":
        hidden, elsewhere = _own(data, kept, reference[kept.item])
    else:
        hidden, elsewhere = averaged(data, data.value, {}).score[reference[kept.item]], 0
    found = ~np.isnan(hidden)
    if not found.any():
        raise TooFew("no item has a reference that was rated; use 'mos', or name the references")
    values = kept.value[found] - hidden[found] + anchor
    rows = picked(kept, found)
    if standardised != "no":
        z = standardise(rows, values=values, per=standardised)
        if np.isnan(z).all():
            raise TooFew("no participant gave two different differences; they cannot be standardised")
        values, rows = rescaled(z[~np.isnan(z)], "0-100"), picked(rows, ~np.isnan(z))
    notes = {
        "items_without_reference": np.flatnonzero(reference < 0).tolist(),
        "ratings_without_reference": int(np.count_nonzero(~found)),
        "reference_from_other_session": elsewhere,
        **dropped(data, rows),
    }
    return rows, values, notes


def _references(data: Opinions) -> Ints:
    """(n,) each item's reference; items that serve as one and have none are their own."""
    used = np.zeros(data.n, dtype=bool)
    used[data.reference[data.reference >= 0]] = True
    return np.where(used & (data.reference < 0), np.arange(data.n), data.reference)


def _own(data: Opinions, kept: Opinions, reference: Ints) -> tuple[Floats, int]:
    """The participant's own rating of the reference for each row of `kept`, and how many came from another session."""
    sessions = int(data.session.max(initial=0)) + 1
    there = _lookup((data.participant * sessions + data.session) * data.n + data.item, data)
    anywhere = _lookup(data.participant * data.n + data.item, data)
    same = there((kept.participant * sessions + kept.session) * data.n + reference)
    other = anywhere(kept.participant * data.n + reference)
    elsewhere = np.isnan(same) & ~np.isnan(other)
    return np.where(np.isnan(same), other, same), int(np.count_nonzero(elsewhere))


def _lookup(keys: Ints, data: Opinions) -> Any:
    """A function from keys to the mean rating under that key, NaN where there is none."""
    known, inverse = np.unique(keys, return_inverse=True)
    mean = np.bincount(inverse, data.weight * data.value) / np.bincount(inverse, data.weight)

    def find(wanted: Ints) -> Floats:
        place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
        return np.where(known[place] == wanted, mean[place], np.nan)

    return find


def _dmos_replicate(
    opinions: Opinions,
    weights: Floats,
    *,
    against: Against = "own",
    anchor: float = 5.0,
    standardised: Standardised = "no",
) -> Floats:
    data = usable(opinions)
    if against == "own":
        rows, values, _ = _differences(data, against, anchor, standardised)
        return item_means(rows, values, weights)
    if standardised == "no":
        mean, reference = item_means(data, data.value, weights), _references(data)
        return np.where(reference >= 0, mean - mean[:, reference] + anchor, np.nan)
    scores = np.full((len(weights), data.n), np.nan)
    for r, copies in enumerate(np.asarray(weights, dtype=np.float64)):  # the reference's mean changes with the people
        again = data._replace(weight=data.weight * copies[data.participant])
        with contextlib.suppress(TooFew):
            rows, values, notes = _differences(usable(again), against, anchor, standardised)
            scores[r] = averaged(rows, values, notes).score
    return scores


MOS = Estimator(
    name="mos",
    model=mos,
    reads="ratings",
    summary="mean opinion score: the mean of the ratings",
    unit="rating scale",
    source="ITU-R BT.500-15, Annex 1, section 2.2",
    replicate=_mos_replicate,
)

DMOS = Estimator(
    name="dmos",
    model=dmos,
    reads="ratings",
    summary="difference mean opinion score: ratings measured from those of the hidden reference",
    unit="rating scale, the anchor being 'as good as the reference'",
    source="ITU-T P.910 (2023), ACR with hidden reference",
    replicate=_dmos_replicate,
    options={
        "against": "own (the participant's own rating of the reference; default) or mean (the reference's mean)",
        "anchor": "score of an item equal to its reference, in the unit of the ratings, within +-1e9; default 5",
        "standardised": "no (default), participant or session: differences divided by whose spread, as 100(z+3)/6",
    },
)
