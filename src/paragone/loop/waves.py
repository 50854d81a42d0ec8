"""The next wave of an adaptive study's folder, from the answers so far."""

from __future__ import annotations

from pathlib import Path

from ..benchmark import Benchmark
from ..design import Cost, cost, read_study
from ..errors import BadTable, NotFound, WouldOverwrite
from ..judgements import Votes
from ..plan import Plan
from ..study.waves import Wave, adaptive_stage, grown, wave
from .serving import store_address

__all__ = ["deal_wave", "no_wave_lost"]


def deal_wave(folder: Path, stage: str = "", *, store: str | None = None) -> tuple[Wave, Plan, Cost]:
    """Deal the next wave of a folder's study; nothing is written.

    Args:
        folder: holds the benchmark, study.toml, plan.csv and the answers.
        stage: an adaptive stage; empty: the first one that has sheets left to deal.
        store: URL of the store; None: study.db of the folder, else votes.csv, else nothing is known yet.

    Returns:
        The wave, the whole plan with it, and what that asks of people.

    Raises:
        NotFound: a file is missing, or the store that is named.
        UnknownName: no such stage.
        BadConfig: the stage is not adaptive, or has all its sheets.
        CannotScore: the answers cannot be scored.
    """
    benchmark, study = Benchmark.read(folder), read_study(folder / "study.toml")
    path = folder / "plan.csv"
    if not path.is_file():
        raise NotFound(f"no plan.csv in '{folder}'; deal the first wave by: paragone plan {folder}", where=str(path))
    plan = Plan.read(path)
    dealt = wave(plan, study, benchmark, _votes(folder, store), adaptive_stage(study, plan, stage))
    whole = grown(plan, dealt.plan)
    return dealt, whole, cost(whole, benchmark, study)


def _votes(folder: Path, store: str | None) -> Votes | None:
    if store or (folder / "study.db").is_file():
        address = store_address(folder, store)
        from ..study.store.store import snapshot
        from ..study.voted import voted

        with snapshot(address) as c:
            return voted(c)
    path = folder / "votes.csv"
    return Votes.read(path) if path.is_file() else None


def no_wave_lost(path: Path, made: Plan) -> None:
    """Hold back before a plan that waves were added to is made anew.

    Args:
        path: where the new plan goes.
        made: the new plan.

    Raises:
        WouldOverwrite: the plan there goes on from the new one by further sheets.
    """
    if not path.is_file():
        return
    try:
        there = Plan.read(path).frame
    except BadTable:
        return
    shown = ["trial", "left", "right", "item"]
    kept = there.select(shown).join(made.frame.select(shown), on=shown, how="semi", nulls_equal=True).height
    if kept == made.frame.height and there.height > kept:
        raise WouldOverwrite(
            f"'{path}' holds this plan and further waves, dealt from answers; add the next one by --wave, or remove the "
            "file to begin anew",
            where=str(path),
        )
