"""The votes in a study's store at this moment, those of sheets under way too: what adaptive dealing looks at."""

from __future__ import annotations

import io

import polars as pl
import sqlalchemy as sa

from ..judgements import Votes
from .store import versions
from .store.tables import answer, lease, participant

__all__ = ["voted"]

_COUNTS = ("leased", "complete", "accepted")
_GIVEN = {
    "version": pl.Int64, "lease": pl.Int64, "participant": pl.String, "trial": pl.String, "criterion": pl.String,
    "choice": pl.String,
}  # fmt: skip
_SHOWN = ("trial", "stage", "kind", "left", "right")


def voted(c: sa.Connection) -> Votes | None:
    """Return the choices that count, of every version, each with the trial of its own plan; None: there are none.

    Answers of sheets that were excluded or abandoned do not count, nor do checks.

    Args:
        c: a connection on one snapshot.
    """
    columns = (
        lease.c.version_id, answer.c.lease_id, participant.c.name, answer.c.trial, answer.c.criterion, answer.c.value,
    )  # fmt: skip
    rows = (
        sa.select(*columns)
        .select_from(answer.join(lease, lease.c.id == answer.c.lease_id).join(
            participant, participant.c.id == answer.c.participant_id
        ))
        .where(lease.c.state.in_(_COUNTS))
        .order_by(answer.c.lease_id, answer.c.revision, answer.c.id)
    )  # fmt: skip
    given = pl.DataFrame([tuple(row) for row in c.execute(rows)], schema=_GIVEN, orient="row")
    given = given.unique(["lease", "trial", "criterion"], keep="last", maintain_order=True)
    parts = []
    for number in given["version"].unique().sort().to_list():
        version = versions.get(c, number)
        assert version is not None, "a lease names a version that the store does not have"
        shown = pl.read_csv(io.BytesIO(version.plan), infer_schema=False).select(_SHOWN)
        pairs = shown.filter(pl.col("left").is_not_null() & pl.col("kind").is_in(["main", "repeat"]))
        here = given.filter(pl.col("version") == number).drop("version", "lease")
        parts.append(here.join(pairs, on="trial", how="inner", maintain_order="left"))
    votes = pl.concat(parts) if parts else None
    return None if votes is None or votes.height == 0 else Votes(votes)
