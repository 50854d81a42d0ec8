"""Mean opinion after each participant's ratings were put on a common scale."""

from __future__ import annotations

from typing import Literal

import numpy as np

from paragone.errors import BadConfig, TooFew
from paragone.estimate.arrays import Estimate, Estimator, Floats, Ints, Opinions
from paragone.estimate.incidence import averaged, item_means, picked, usable

__all__ = ["ZSCORE_MOS", "dropped", "rescaled", "standardise", "zscore_mos"]

Per = Literal["participant", "session"]
Scale = Literal["0-5", "0-100", "none"]

_TOPS = {"0-5": 5.0, "0-100": 100.0}


def standardise(opinions: Opinions, *, values: Floats | None = None, per: Per = "participant") -> Floats:
    """z-scores of each participant's ratings.

    Mean and standard deviation (n - 1) are the participant's own, over all rows they gave. How often a participant
    counts does not change them: somebody who counts twice is two people with the same habits, not one with twice the
    ratings.

    Args:
        opinions: k ratings.
        values: (k,) what is standardised; None: the ratings themselves.
        per: 'participant' takes all sessions of a participant together, 'session' each by itself.

    Returns:
        (k,) z-scores; NaN in rows of a participant (or session) with one rating or without spread.

    Raises:
        BadConfig: `per` is another word.
    """
    if per not in ("participant", "session"):
        raise BadConfig(f"per = '{per}' is not one of participant, session", where="per")
    value = opinions.value if values is None else values
    group, size = _habits(opinions, per)
    rows = np.bincount(group, minlength=size)
    weight = np.bincount(group, opinions.weight, size)
    mean = np.bincount(group, opinions.weight * value, size) / np.where(weight > 0, weight, 1)
    away = value - mean[group]
    share = np.bincount(group, opinions.weight * away**2, size) / np.where(weight > 0, weight, 1)
    sd = np.sqrt(share * rows / np.maximum(rows - 1, 1))
    spread = (rows > 1) & (sd > 1e-12 * np.abs(mean))
    return np.where(spread[group], away / np.where(spread, sd, 1)[group], np.nan)


def _habits(opinions: Opinions, per: Per) -> tuple[Ints, int]:
    """The group of rows that shares a mean and a deviation, from 0, and how many there are."""
    if per == "participant":
        return opinions.participant, opinions.p
    sessions = int(opinions.session.max(initial=0)) + 1
    _, group = np.unique(opinions.participant * sessions + opinions.session, return_inverse=True)
    return group.astype(np.int64), int(group.max(initial=-1)) + 1


def rescaled(z: Floats, scale: Scale) -> Floats:
    """Map z-scores so that -3 ... 3 fills the scale: 5 (z + 3) / 6, 100 (z + 3) / 6 or z itself.

    Raises:
        BadConfig: another scale.
    """
    if scale == "none":
        return z
    if scale not in _TOPS:
        raise BadConfig(f"scale = '{scale}' is not one of 0-5, 0-100, none", where="scale")
    return _TOPS[scale] * (z + 3) / 6


def zscore_mos(opinions: Opinions, *, per: Per = "participant", scale: Scale = "0-5", clip: bool = False) -> Estimate:
    """Score items by the mean of their z-scored ratings.

    Rescaling takes out how high and how widely each participant rates. In a sparse design it also takes out real
    differences between the items that participants happened to see, and the grand mean is the scale's middle only if
    everybody rated everything.

    Args:
        opinions: k ratings; a weight says how often a rating counts.
        per: whose mean and standard deviation: 'participant' (all sessions together) or 'session'.
        scale: '0-5' is 5 (z + 3) / 6, '0-100' is 100 (z + 3) / 6, 'none' is z.
        clip: pull single ratings with abs(z) > 3 to the end of the scale before the mean; they are counted either way.

    Returns:
        Means (n,) on the named scale; NaN for items without a usable rating. Notes, beside those of 'mos':
        `ratings_outside` (abs(z) > 3), `participants_dropped` (one rating or no spread, in every session),
        `sessions_dropped` as [participant, session] and `scale`.

    Raises:
        TooFew: no participant has two different ratings.

    Source:
        Zhang et al., "A Perceptual Quality Assessment Exploration for AIGC Images", arXiv 2303.12618, 2023; n - 1 as in
        Seshadrinathan et al., "Study of Subjective and Objective Quality Assessment of Video", IEEE TIP 19(6), 2010.
    """
    data = usable(opinions)
    kept, z = _standardised(data, per)
    values = rescaled(np.clip(z, -3, 3) if clip else z, scale)
    outside = int(np.count_nonzero(np.abs(z) > 3))
    notes = {"ratings_outside": outside, "clipped": clip, "scale": scale, "per": per}
    return averaged(kept, values, {**notes, **dropped(data, kept, per)})


def dropped(before: Opinions, after: Opinions, per: Per = "participant") -> dict[str, list[int] | list[list[int]]]:
    """Notes on who lost all their ratings between two stages of a calculation.

    Returns:
        `participants_dropped` and, where `per` is 'session', `sessions_dropped` as [participant, session].
    """
    lost = set(before.participant.tolist()) - set(after.participant.tolist())
    sessions = {(i, s) for i, s in zip(before.participant.tolist(), before.session.tolist(), strict=True)}
    sessions -= {(i, s) for i, s in zip(after.participant.tolist(), after.session.tolist(), strict=True)}
    return {
        "participants_dropped": sorted(lost),
        "sessions_dropped": [list(pair) for pair in sorted(sessions)] if per == "session" else [],
    }


def _standardised(data: Opinions, per: Per) -> tuple[Opinions, Floats]:
    z = standardise(data, per=per)
    kept = ~np.isnan(z)
    if not kept.any():
        raise TooFew("no participant gave two different ratings; z-scores need some spread, use 'mos'")
    return picked(data, kept), z[kept]


def _replicate(
    opinions: Opinions, weights: Floats, *, per: Per = "participant", scale: Scale = "0-5", clip: bool = False
) -> Floats:
    data = usable(opinions)
    kept, z = _standardised(data, per)
    return item_means(kept, rescaled(np.clip(z, -3, 3) if clip else z, scale), weights)


ZSCORE_MOS = Estimator(
    name="zscore-mos",
    model=zscore_mos,
    reads="ratings",
    summary="mean of the ratings after each participant's own mean and spread were taken out",
    unit="the named scale (0-5)",
    source="Zhang et al., A Perceptual Quality Assessment Exploration for AIGC Images, arXiv 2303.12618, 2023",
    replicate=_replicate,
    options={
        "per": "whose mean and standard deviation: participant (all sessions together; default) or session",
        "scale": "0-5 (5(z+3)/6; default), 0-100 (100(z+3)/6) or none (z)",
        "clip": "true: single ratings beyond 3 standard deviations go to the end of the scale; default false",
    },
)
