"""Asking before an act, and doing it."""

from __future__ import annotations

from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...errors import BadInput, UnknownName
from ..server.refusals import Refusal
from .auth import Who
from .deeds import ACTS, Act, Order, done
from .gate import form_of
from .moment import Moment
from .office import Office
from .pages import shown
from .told import after

__all__ = ["ask_page", "carry_out", "do"]


async def ask_page(office: Office, request: Request, who: Who) -> Response:
    """Ask once before an act."""
    name, target = request.path_params["act"], request.path_params.get("target", "")
    return await _ask(office, request, who, name, target)


async def do(office: Office, request: Request, who: Who) -> Response:
    """Do what was asked for and confirmed."""
    name, target = request.path_params["act"], request.path_params.get("target", "")
    act = _act(name)
    given = await form_of(request)
    why = given.get("why", "").strip()
    if name == "forget" and given.get("confirm", "").strip() != target:
        return await _ask(office, request, who, name, target, why=why, said="The name that was typed is another one.")
    try:
        await carry_out(office, name, target, who.name, why)
    except (BadInput, UnknownName) as error:
        said = error.message[:1].upper() + error.message[1:] + "."
        return await _ask(office, request, who, name, target, why=why, said=said)
    return RedirectResponse(after(_back(act, target), name, target), 303)


async def carry_out(office: Office, name: str, target: str, who: str, why: str) -> str:
    """Do an act, and let this process know at once.

    Args:
        office: the desk.
        name: one of `ACTS`.
        target: participant, number of a sheet, or ''.
        who: the admin.
        why: the reason.

    Returns:
        What was done, in a sentence.

    Raises:
        UnknownName, BadInput: as `deeds.done`.
    """
    order = Order(target, who, why, office.desk.clock(), office.frozen.study.people.replace)
    said = await office.store.write(lambda c: done(c, name, order))
    await office.store.read(office.desk.news)
    await office.moment(fresh=True)
    return said


def _act(name: str) -> Act:
    act = ACTS.get(name)
    if act is None:
        raise Refusal(404, "not-found", "There is no such act.")
    return act


def _back(act: Act, target: str) -> str:
    if act.on == "person":
        return f"/admin/people/{target}"
    if act.on == "sheet":
        return "/admin/sheets"
    return "/admin/scores" if "names" in act.title or "letters" in act.title else "/admin/settings"


async def _ask(
    office: Office, request: Request, who: Who, name: str, target: str, *, why: str = "", said: str = ""
) -> Response:
    act = _act(name)
    at = await office.moment(fresh=True)
    if (act.on == "study") == bool(target):
        raise Refusal(404, "not-found", "There is nothing of that name to act on.")
    back = _back(act, target)
    page = await shown(
        office, request, who, "ask.html.j2", back.partition("/people/")[0] + ("/people" if act.on == "person" else ""),
        at=at, act=act, name=name, target=target, what=_what(act, target), facts=_facts(at, act, target), back=back,
        why=why, said=said,
    )  # fmt: skip
    return HTMLResponse(bytes(page.body), 400) if said else page


def _what(act: Act, target: str) -> str:
    return f"sheet {target}" if act.on == "sheet" else target


def _facts(at: Moment, act: Act, target: str) -> list[str]:
    """What it is about, as far as the store knows it."""
    rows = at.leases.filter(
        pl.col("participant") == target if act.on == "person" else pl.col("lease").cast(pl.String) == target
    )
    if act.on == "study":
        return []
    made: list[str] = []
    row: dict[str, Any]
    for row in rows.to_dicts():
        of = f" of {row['asked']}" if row["asked"] else ""
        whose = f", {row['participant']}" if act.on == "sheet" and row["participant"] else ""
        made.append(f"sheet {row['lease']}, stage {row['stage']}, {row['state']}: {row['answered']}{of} answers{whose}")
    return made or ["nothing of that name is stored"]
