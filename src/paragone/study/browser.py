"""Simulated participants walk the real pages in headless Chromium, from consent to code, by clicks and keys.

Nobody waits for their thoughts: the page's clock is moved ahead by the time that an answer would have taken, so that the
page measures that time and all of its own code runs. The server knows another clock; breaks and gaps between sessions are
as long as it says, unless whoever serves moves it too.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Lost, NotFound
from .crowd import Crowd, Member
from .headless import chromium, require_playwright
from .server.simulated import PASS

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

__all__ = ["Walked", "walk"]

Rest = Callable[[float], Awaitable[bool]]
"""rest(seconds) -> whether so much time has passed on the server."""

_AT_ONCE = 4  # tabs; our choice: each of them leaves a core idle most of the time
_PATIENCE = 60.0  # seconds for whatever a page does by itself
_POLL = 0.01  # seconds
_LEAST = 0.2  # seconds of thinking: a page takes no input sooner than 0.15 s after the pictures are painted
_BLANK = 0.3  # seconds of grey between two trials
_KEYS = {"left": "1", "right": "2", "tie": "3"}
_LOOK = """() => {
  const [body, main, find] = [document.body, document.querySelector("main"), (what) => document.querySelector(what)];
  const [told, ready, card] = [!!find("main .told"), !!find("main .main"), find("main .count")?.textContent ?? ""];
  return {phase: "loading", ...body?.dataset, told, ready, card, said: main?.innerText.slice(0, 300) ?? ""};
}"""
_STATE = """async () => {
  const headers = {Authorization: `Bearer ${sessionStorage.paragone}`};
  return (await fetch("/api/state", {headers})).json();
}"""
_SHEETS = ("consent", "device", "instructions", "tutorial", "ready", "questionnaire")


class Walked(NamedTuple):
    """What became of one simulated participant."""

    participant: str
    """Their name in the store, 'sim-0001'."""
    phase: str
    """Where they ended: done; wait: a next session opens later; full, paused, closed: the study let them no further."""
    codes: tuple[str, ...]
    """The completion code of each session that they finished."""
    answers: int
    """Questions answered, training aside."""


def walk(
    address: str,
    crowd: Crowd,
    passes: Sequence[str],
    *,
    careless: float = 0.0,
    speed: float = math.inf,
    rest: Rest | None = None,
    told: Callable[[Walked], None] = lambda _one: None,
) -> list[Walked]:
    """Let simulated participants walk a study that is being served.

    Args:
        address: where it is served, with a slash at its end.
        crowd: whom they are drawn from.
        passes: one for each participant; see `server.simulated.passes`.
        careless: share of them who answer at random, in [0, 1]; rounded to whole people.
        speed: how many times faster than people they are, >= 1: so much less is waited for thoughts and breaks.
        rest: lets time pass on the server; None: it cannot be moved, so that breaks last as long as they do.
        told: hears of each one who is through.

    Returns:
        What became of each, in the order of `passes`.

    Raises:
        MissingExtra: Playwright is not installed.
        NotFound: there is no Chromium.
        Lost: a page did not do what it should.
        BadInput: the server serves another plan than the crowd's.
    """
    require_playwright()
    n_careless = round(careless * len(passes))
    flags = [crowd.shuffled(len(passes))[number] < n_careless for number in range(len(passes))]
    with ThreadPoolExecutor(1) as apart:  # the caller's thread may have an event loop of its own, as in a notebook
        return apart.submit(asyncio.run, _walk(address, crowd, passes, flags, speed, rest, told)).result()


async def _walk(
    address: str,
    crowd: Crowd,
    passes: Sequence[str],
    careless: Sequence[bool],
    speed: float,
    rest: Rest | None,
    told: Callable[[Walked], None],
) -> list[Walked]:
    from playwright.async_api import Error, async_playwright

    room = asyncio.Semaphore(_AT_ONCE)
    inside = [asyncio.Event() for _ in passes]

    async def one(browser: Browser, number: int) -> Walked:
        async with room:
            context = await browser.new_context(viewport={"width": 1440, "height": 900}, locale="en")
            try:
                await context.clock.install()
                member = crowd.member(number, careless=careless[number])
                visitor = _Visitor(await context.new_page(), member, f"{address}?{PASS}={passes[number]}", speed, rest)
                found = await visitor.walk(inside[number - 1] if number else None, inside[number])
            except Error as error:
                said = str(error).splitlines()[0].partition("?")[0]  # what follows is a pass
                raise Lost(f"the browser: {said}", where=address) from error
            finally:
                await context.close()
        told(found)
        return found

    async with async_playwright() as playwright:
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # root has none
        try:
            browser = await playwright.chromium.launch(executable_path=chromium(), args=sandbox)
        except Error as error:
            raise NotFound(
                "no Chromium that starts; install chromium, or run: playwright install chromium", where="chromium"
            ) from error
        try:
            tasks = [asyncio.create_task(one(browser, number)) for number in range(len(passes))]
            try:
                return await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            await browser.close()


@dataclass
class _Visitor:
    """One participant in a tab of their own."""

    page: Page
    member: Member
    entry: str
    speed: float
    rest: Rest | None
    codes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Exceptions of the page's script that nobody caught."""
    heard: list[str] = field(default_factory=list)
    """What it wrote to the console as errors."""
    answers: int = 0
    onset: str = ""
    """Of the question that was answered last."""

    async def walk(self, before: asyncio.Event | None, inside: asyncio.Event) -> Walked:
        """From the entry to the code of the last session.

        Args:
            before: the one before has got their sheets: they are handed out in the order of the participants.
            inside: we have got ours.
        """
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.heard.append(said.text) if said.type == "error" else None)
        if before is not None:
            await before.wait()
        await self.page.goto(self.entry)
        look = await self._until(lambda _look: True)
        if look["phase"] == "consent":
            await self._sheet(look)
        seat = await self._sit()
        inside.set()
        phase = await self._phases()
        if self.faults:
            raise Lost(f"the page of {seat['participant']}: {self.faults[0]}", where=self.entry.partition("?")[0])
        return Walked(str(seat["participant"]), phase, tuple(self.codes), self.answers)

    async def _phases(self) -> str:
        """Do what each phase asks for, until nothing more can be done; gives the last phase."""
        while True:
            look = await self._until(lambda look: look["phase"] != "finish")
            phase = look["phase"]
            if phase == "trial":
                await self._trial()
            elif phase == "training":
                await self._training(look)
            elif phase == "break":
                await self._break()
            elif phase in _SHEETS:
                await self._sheet(look)
            elif phase == "done":
                ended = await self._next_session()
                if ended:
                    return ended
            elif phase in ("wait", "full", "paused", "closed", "preview-end"):
                return str(phase)
            else:
                faults = "; ".join([*self.faults, *self.heard[-3:]])
                raise Lost(f"the page stopped ({phase}): {look['said']} {faults}".rstrip(), where=phase)

    async def _sheet(self, look: dict[str, Any]) -> None:
        """A page with a button: tick what must be ticked, and go on."""
        page, phase = self.page, look["phase"]
        look = await self._until(
            lambda look: look["phase"] != phase or look["ready"]
        )  # pictures may have to come first
        if phase == "consent":
            for box in await page.locator("main input[type=checkbox]").all():
                await box.check()
        elif phase == "device":
            await self._screen()
        elif phase == "tutorial":
            sides = page.locator("main [data-side]")
            if await sides.count():
                await sides.first.click()
        await page.locator("main .main").first.click()
        await self._until(lambda after: (after["phase"], after["card"]) != (phase, look["card"]))

    async def _screen(self) -> None:
        """No card at hand, and every plate read."""
        page = self.page
        if await page.locator("main input[name=none]").count():
            await page.locator("main input[name=none]").check()
        for plate in await page.locator("main fieldset.plate").all():
            offered = await plate.locator("input").evaluate_all("all => all.map(one => one.value)")
            right = self.member.plate([value for value in offered if value.isdigit()])
            await plate.locator(f"input[value='{right}']").check()

    async def _training(self, look: dict[str, Any]) -> None:
        if look["told"] or look["page"] == "sheet":
            was = (look["told"], look["page"], look["said"])
            await self.page.locator("main .told .main, main .sheet .main").first.click()
            await self._until(
                lambda look: look["phase"] != "training" or (look["told"], look["page"], look["said"]) != was
            )
            return
        asked = await self._asked("training")
        if asked is None:
            return
        value, seconds = self.member.trained(asked["trial"])
        await self._think(seconds)
        await self._give(asked, {asked["criterion"]: value})
        await self._until(lambda look: look["phase"] != "training" or look["told"])

    async def _trial(self) -> None:
        asked = await self._asked("trial")
        if asked is None:
            return
        public = asked["trial"]
        order = self.member.order(public)
        one_by_one = asked["page"] == "pairs" and not await self.page.locator("main .row").count()
        criteria = [asked["criterion"]] if one_by_one else order
        given = {name: self.member.answer(public, name) for name in criteria}
        await self._think(max(answer.seconds for answer in given.values()))
        if await self._give(asked, {name: answer.value for name, answer in given.items()}):
            self.answers += len(given)

    async def _asked(self, phase: str) -> dict[str, Any] | None:
        """Wait for a question whose pictures are painted; None: something else came."""
        await self.page.context.clock.fast_forward(round(_BLANK * 1000))

        def other(look: dict[str, Any]) -> bool:
            return bool(look["phase"] != phase or look["page"] == "sheet")

        look = await self._until(lambda look: other(look) or look.get("onset", "") not in ("", self.onset))
        if other(look):
            return None
        self.onset = look["onset"]
        return look

    async def _give(self, asked: dict[str, Any], values: dict[str, str]) -> bool:
        """Answer as a person would, by mouse and by keyboard in turn; False: the question is not there any more."""
        page, by_key = self.page, (self.answers + self.member.number) % 2 == 1
        if asked["page"] == "pairs":
            rows = page.locator("main .row")
            for criterion, value in values.items():
                if by_key:
                    await page.keyboard.press(_KEYS[value])
                else:
                    row = page.locator(f"main .row[data-criterion='{criterion}']") if await rows.count() else page
                    await row.locator(f"[data-side={value}]").click()
            if await rows.count():
                await page.locator("main .main").click()
            return True
        if asked["page"] not in ("slider", "acr", "dcr"):
            raise Lost(
                f"no simulated participant knows the page '{asked['page']}' in a browser; simulate without "
                "--through-browser",
                where=str(asked["page"]),
            )
        scales = await page.locator("main .scale").all()
        if len(scales) != len(values):  # the page drew itself anew meanwhile: the question is met again
            self.onset = ""
            return False
        for scale, value in zip(scales, values.values(), strict=True):
            if asked["page"] == "slider":
                await self._slide(scale.locator("input"), value)
            else:
                await scale.locator(f"label:has(input[value='{value}'])").click()
        if by_key:
            await page.keyboard.press("Enter")
        else:
            await page.locator("main .main").click()
        return True

    async def _slide(self, slider: Any, value: str) -> None:
        """Move a slider by its keys; one that stands right already must be touched."""
        stage = self.member.crowd.frozen.stages[self.member.stage]
        low, step = getattr(stage, "low", 0.0), getattr(stage, "step", 1.0)
        away = round((float(value) - low) / step) - round(float(await slider.input_value()))
        await slider.focus()
        pages, arrows = divmod(abs(away), 5)
        up, page_up = ("ArrowUp", "PageUp") if away > 0 else ("ArrowDown", "PageDown")
        presses = [page_up] * pages + [up] * arrows
        top = float(value) >= getattr(stage, "high", 1.0)
        for key in presses or (["ArrowDown", "ArrowUp"] if top else ["ArrowUp", "ArrowDown"]):
            await slider.press(key)

    async def _break(self) -> None:
        state = await self.page.evaluate(_STATE)
        seconds = float(state.get("break", {}).get("seconds", 0.0)) + 0.1
        await self._pass(seconds)
        await self.page.locator("main .main").click(
            timeout=(seconds + _PATIENCE) * 1000
        )  # waits until it may be pressed
        await self._until(lambda look: look["phase"] != "break")

    async def _next_session(self) -> str:
        """Take the code, and go on with the next session where there is one; gives where it ends: '' where it goes on."""
        code = self.page.locator("main .code")
        if await code.count():
            self.codes.append((await code.inner_text()).strip())
        state = await self.page.evaluate(_STATE)
        if state["phase"] in ("done", "wait"):
            told = (state.get("done") or {}).get("next") or {}
            following = state["wait"]["until"] if state["phase"] == "wait" else told.get("at")
            if following is None:
                return "done"
            left = float(following) - float(state["now"])
            if left > 0 and (self.rest is None or not await self._pass(left + 0.1)):
                return "wait"
            state = await self.page.evaluate(_STATE)
            if state["phase"] in ("done", "wait"):
                return str(state["phase"])  # the other stage has nothing left
        await self.page.reload()
        await self._sit()
        return ""

    async def _pass(self, seconds: float) -> bool:
        """Let time pass, on the page and on the server; False: the server's could not be moved."""
        await asyncio.sleep(seconds / self.speed)
        left = seconds - seconds / self.speed
        moved = left <= 0 or (self.rest is not None and await self.rest(left))
        if moved and left > 0:
            await self.page.context.clock.fast_forward(round(left * 1000))
        return moved

    async def _think(self, seconds: float) -> None:
        seconds = max(seconds, _LEAST)
        await asyncio.sleep(seconds / self.speed)
        await self.page.context.clock.fast_forward(round((seconds - seconds / self.speed) * 1000))

    async def _sit(self) -> dict[str, Any]:
        """Ask which sheets the server has given them."""
        answer = await self.page.context.request.get(f"{self.entry}&seat=1")
        seat: dict[str, Any] = await answer.json()
        if seat.get("lease") is not None:
            self.member.sit(int(seat["lease"]), str(seat["stage"]), str(seat["owner"]))
        return seat

    async def _until(self, test: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the page is there and as wanted, and return what can be seen of it."""
        from playwright.async_api import Error

        late = asyncio.get_running_loop().time() + _PATIENCE
        look: dict[str, Any] = {}
        while asyncio.get_running_loop().time() < late:
            try:
                look = await self.page.evaluate(_LOOK)
            except Error as error:
                if "context was destroyed" not in str(error):  # the page loads itself again
                    raise
                look = {"phase": "loading"}
            if look["phase"] != "loading" and test(look):
                return look
            if look["phase"] in ("error", "replaced"):
                break
            await asyncio.sleep(_POLL)
        raise Lost(
            f"the page does not go on (phase {look.get('phase')}): {look.get('said')}", where=str(look.get("phase"))
        )
