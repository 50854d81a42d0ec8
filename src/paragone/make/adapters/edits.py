"""Pictures from a service that edits images over HTTP, in the form that OpenAI's `/images/edits` has.

A refusal is a status with its reason, never a picture. What a request may cost is counted before it is sent.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec
from PIL import Image

from ...errors import BadConfig, BadImage, BadInput
from ...images import decode_image, read_bytes
from ...parallel import track
from ...provenance import digest
from ...remote import Answer, Budget, Remote
from ..cells import Job, Outcome, record_of
from .method import Method

__all__ = ["HttpMethod", "http_outcomes"]

_PROMPT = "Redraw the first image in the style of the second image. Keep the composition of the first."
_SIZE = re.compile(r"auto|content|\d+x\d+")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_REFUSALS = (
    "content_policy_violation",
    "moderation_blocked",
    "content_filter",
    "safety_violation",
    "safety system",
    "content policy",
    "content moderation",
)
_GIVEN_UP = (401, 402, 403, 404)  # a wrong key, account or address: every other cell would fail alike
_LEDGER = ".spent.json"
_DEEPEST = 40  # levels of an answer that the record keeps; our choice
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}


class HttpMethod(Method, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="http"):
    """A service that edits images: `kind = "http"`."""

    base_url: str
    """Address below which `images/edits` lies, for example "https://api.example.com/v1". No default: it costs money."""
    model: str
    """Name of the model, as the service calls it. No default: names change, and the record keeps it."""
    key_env: str = ""
    """Environment variable that holds the key; empty: none is sent. The key itself is never written anywhere."""
    prompt: str = _PROMPT
    """What is asked; may hold {content}, {style} (and other factors) and what the references' cards say, as {manner}."""
    size: str = "auto"
    """"auto", "1024x1024" or another that the model makes, or "content" for the content's own."""
    image_field: str = "image[]"
    """Name of the form field of each input picture."""
    fields: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)
    """Other form fields, for example {quality = "high"}."""
    timeout_s: float = 180.0
    """Longest time for one request, in seconds."""
    tries: int = 5
    """Most requests for one cell."""
    concurrency: int = 2
    """Requests at a time, 1 to 16."""
    price_per_request: float = 0.0
    """What one request may cost at most, in any currency."""
    max_cost: float | None = None
    """Cap on what all runs together may cost, in the same currency; left out: none. Needs `price_per_request`."""
    max_requests: int | None = None
    """Cap on the requests of one run; left out: none."""

    idle: ClassVar[tuple[str, ...]] = (
        "key_env",
        "timeout_s",
        "tries",
        "concurrency",
        "price_per_request",
        "max_cost",
        "max_requests",
    )


def http_outcomes(
    settings: HttpMethod, jobs: Sequence[Job], *, folder: Path, known: Sequence[Job] = (), quiet: bool = True
) -> Iterator[tuple[Job, Outcome]]:
    """Ask a service for each cell.

    Args:
        settings: which service, and how much it may cost.
        jobs: the cells that are wanted.
        folder: has no effect.
        known: every cell of the method; the prompt is checked for these too. What earlier runs cost is read beside the
            jobs' targets.
        quiet: show no bar.

    Returns:
        Each cell as soon as its answer is there. Status missing where a cap kept it from being asked.

    Raises:
        BadConfig: an impossible value, a placeholder that the cells do not have, or no key in the environment.
        MissingExtra: httpx is not installed.
    """
    del folder
    key = _checked(settings, [*known, *jobs])
    before = {job.item: _cost_before(job) for job in jobs}
    places = {job.target.parent for job in jobs}
    ledger = jobs[0].target.parent / _LEDGER if jobs and settings.price_per_request else None
    budget = Budget(
        max_cost=float("inf") if settings.max_cost is None else settings.max_cost,
        max_requests=settings.max_requests,
        spent=sum(_spent_in(place) for place in places),
        ledger=ledger,
    )
    remote = Remote(
        settings.base_url,
        key=key,
        timeout_s=settings.timeout_s,
        tries=settings.tries,
        budget=budget,
        seed=jobs[0].seed if jobs else 0,
    )
    return _outcomes(settings, jobs, remote, before, quiet=quiet)


def _checked(settings: HttpMethod, jobs: Sequence[Job]) -> str:
    """The key, after a look at every value."""
    if not _SIZE.fullmatch(settings.size):
        raise BadConfig(f"size '{settings.size}' is not auto, content or such as 1024x1024", where="size")
    if not 1 <= settings.concurrency <= 16:
        raise BadConfig(f"concurrency is {settings.concurrency}; give 1 to 16", where="concurrency")
    for name in ("price_per_request", "max_cost", "max_requests"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value < math.inf:
            raise BadConfig(f"{name} is {value}; give a number that is 0 or above", where=name)
    for name, value in settings.fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadConfig(f"fields: '{name}' is {value}, which is no number", where="fields")
    if settings.max_cost is not None and settings.price_per_request == 0:
        raise BadConfig("max_cost needs price_per_request, else nothing can be counted", where="max_cost")
    taken = {"model", "prompt", "size", "n", settings.image_field} & set(settings.fields)
    if taken:
        raise BadConfig(f"fields: '{sorted(taken)[0]}' has a key of its own", where="fields")
    for job in jobs:
        _filled(settings.prompt, job)
    if not settings.key_env:
        return ""
    key = os.environ.get(settings.key_env, "").strip()
    if not key:
        raise BadConfig(f"no key in the environment: set {settings.key_env}", where="key_env")
    if not (key.isascii() and key.isprintable()):
        raise BadConfig(f"the key in {settings.key_env} holds characters that no header can carry", where="key_env")
    return key


def _filled(prompt: str, job: Job) -> str:
    words = {**job.hints, **job.levels}
    for name in _PLACEHOLDER.findall(prompt):
        if name not in words:
            raise BadConfig(
                f"prompt holds {{{name}}}, which {job.item} does not have; there is "
                f"{', '.join(f'{{{word}}}' for word in sorted(words))}",
                where="prompt",
            )
    return _PLACEHOLDER.sub(lambda found: words[found.group(1)], prompt)


def _cost_before(job: Job) -> float:
    """What a cell has cost until now; a cell that is asked again keeps its old cost in its record."""
    record = record_of(job.target)
    return _cost(record) if record else 0.0


def _cost(record: Mapping[str, Any]) -> float:
    facts = record.get("facts")
    cost = facts.get("cost") if isinstance(facts, dict) else None
    return float(cost) if isinstance(cost, (int, float)) and 0 < cost < math.inf else 0.0


def _spent_in(place: Path) -> float:
    """What all records of a method say was spent."""
    spent = 0.0
    for path in sorted(place.glob("*.json")):
        record = record_of(path)
        spent += _cost(record) if record else 0.0
    return spent


def _outcomes(
    settings: HttpMethod, jobs: Sequence[Job], remote: Remote, before: Mapping[str, float], *, quiet: bool
) -> Iterator[tuple[Job, Outcome]]:
    stop = ""
    waiting = iter(track(jobs, "asking the service", quiet=quiet))
    running: dict[Future[tuple[Outcome, str]], Job] = {}
    with remote, ThreadPoolExecutor(settings.concurrency) as pool:
        try:
            while True:
                while len(running) < settings.concurrency and (job := next(waiting, None)) is not None:
                    if stop:
                        yield job, Outcome(status="missing", reason=f"not asked: {stop}", facts=_kept(before[job.item]))
                    else:
                        running[pool.submit(_one, settings, job, remote, before[job.item])] = job
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    outcome, final = future.result()
                    stop = stop or final
                    yield running.pop(future), outcome
        finally:
            remote.stop()  # who stops listening need not wait for pauses
            pool.shutdown(wait=False, cancel_futures=True)


def _one(settings: HttpMethod, job: Job, remote: Remote, before: float) -> tuple[Outcome, str]:
    """The outcome of one cell, and why no other need be asked, where that is so."""
    try:
        fields, files, asked = _request(settings, job)
    except BadInput as error:
        return Outcome(status="failed", reason=error.message, facts=_kept(before)), ""
    answer = remote.post("images/edits", fields=fields, files=files, price=settings.price_per_request)
    facts: dict[str, Any] = {
        "request": {"url": f"{remote.base_url}/images/edits", **asked},
        "response": _told(answer, remote),
        "asked": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "tries": answer.tries,
        "model": settings.model,
        **_kept(before + answer.cost),
    }
    if answer.capped:
        return Outcome(status="missing", reason=answer.reason, facts=_kept(before + answer.cost)), answer.reason
    try:
        return _judged(answer, facts, job, remote)
    except (RecursionError, ValueError) as error:  # what was paid for is in the record, whatever else came
        reason = f"the answer cannot be read ({type(error).__name__})"
        return Outcome(status="failed", reason=reason, seconds=answer.seconds, facts=facts), ""


def _judged(answer: Answer, facts: Mapping[str, Any], job: Job, remote: Remote) -> tuple[Outcome, str]:
    """What an answer means for its cell, and why no other need be asked, where that is so."""
    held = answer.json()
    refusal = _refused(answer, held, remote)
    if refusal:
        return Outcome(status="refused", reason=refusal, seconds=answer.seconds, facts=facts), ""
    if not answer.ok:
        final = answer.reason if answer.status in _GIVEN_UP or "insufficient_quota" in answer.reason else ""
        return Outcome(status="failed", reason=answer.reason, seconds=answer.seconds, facts=facts), final
    picture, fault = _picture(held, remote)
    if picture is None:
        return Outcome(status="failed", reason=fault, seconds=answer.seconds, facts=facts), ""
    try:
        decode_image(picture, where=job.item)
    except BadImage as error:
        return Outcome(status="invalid", reason=error.message, seconds=answer.seconds, facts=facts), ""
    return Outcome(picture=picture, seconds=answer.seconds, facts=facts), ""


def _kept(cost: float) -> dict[str, float]:
    return {"cost": round(cost, 9)} if cost else {}


def _request(
    settings: HttpMethod, job: Job
) -> tuple[dict[str, str], list[tuple[str, tuple[str, bytes, str]]], dict[str, Any]]:
    """Form fields, files, and what the record keeps of them."""
    files, kept = [], []
    sizes = []
    for factor, path in job.inputs.items():
        raw = read_bytes(path)
        try:
            with Image.open(path) as image:
                kind, size = image.format or "PNG", image.size
        except (OSError, SyntaxError, ValueError) as error:
            raise BadImage(f"{path.name}: not a picture that can be sent", where=str(path)) from error
        sizes.append(size)
        name = f"{factor}{path.suffix.lower() or '.png'}"
        files.append((settings.image_field, (name, raw, _TYPES.get(kind, "application/octet-stream"))))
        kept.append({"factor": factor, "level": job.levels[factor], "sha256": digest(path)})
    size_text = settings.size
    if settings.size == "content":
        size_text = f"{sizes[0][0]}x{sizes[0][1]}" if sizes else "auto"
    fields = {"model": settings.model, "prompt": _filled(settings.prompt, job), "size": size_text, "n": "1"}
    fields |= {name: _as_text(value) for name, value in settings.fields.items()}
    return fields, files, {**fields, "images": kept}


def _as_text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refused(answer: Answer, held: Any, remote: Remote) -> str:
    """Why the service declined to make the picture; '' where it did not."""
    error = held.get("error") if isinstance(held, dict) else None
    if not answer.ok and answer.status in (400, 403, 422, 451):
        said = f"{_dumped(error) if error else ''} {answer.reason}".lower()
        return answer.reason if any(word in said for word in _REFUSALS) else ""
    for entry in _data(held):
        filtered = entry.get("finish_reason") in ("content_filter", "CONTENT_FILTERED")
        if filtered or entry.get("respect_moderation") is False:
            return "the service made a picture and withheld it (content filter)"
    if answer.ok and isinstance(error, dict):
        text = remote.without_key(_dumped(error))[:300]
        return text if any(word in text.lower() for word in _REFUSALS) else ""
    return ""


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _data(held: Any) -> list[Mapping[str, Any]]:
    data = held.get("data") if isinstance(held, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _picture(held: Any, remote: Remote) -> tuple[bytes | None, str]:
    """The bytes of the picture in an answer, or why there are none."""
    if not isinstance(held, dict):
        return None, "the answer is no JSON"
    entries = _data(held)
    if len(entries) != 1:
        return None, f"the answer holds {len(entries)} pictures instead of 1"
    coded, url = entries[0].get("b64_json"), entries[0].get("url")
    if isinstance(coded, str) and coded:
        try:
            return base64.b64decode(coded.partition(",")[2] if coded.startswith("data:") else coded, validate=True), ""
        except (binascii.Error, ValueError):
            return None, "the answer's b64_json is not base64"
    if isinstance(url, str) and url:
        fetched = remote.get(url)
        return (fetched.body, "") if fetched.ok else (None, f"its picture could not be fetched: {fetched.reason}")
    return None, "the answer holds neither b64_json nor url"


def _told(answer: Answer, remote: Remote) -> dict[str, Any]:
    """What the record keeps of an answer: everything but pictures and the key."""
    kept = ("date", "x-request-id", "openai-processing-ms", "openai-version", "content-type")
    return {
        "status": answer.status,
        "headers": {name: answer.headers[name] for name in kept if name in answer.headers},
        "body": _pruned(answer.json(), remote),
    }


def _pruned(value: Any, remote: Remote, name: str = "", depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return "[nested deeper]"
    if isinstance(value, dict):
        return {
            remote.without_key(str(key)): _pruned(inner, remote, str(key), depth + 1) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_pruned(inner, remote, name, depth + 1) for inner in value[:100]]
    if isinstance(value, str):
        if name == "b64_json" or len(value) > 2000:
            return f"[{len(value)} characters]"
        return remote.without_key(_bare(value) if name == "url" else value)
    return value


def _bare(url: str) -> str:
    """An address without its query, which may be a signature, and without a password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "[no address]"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
