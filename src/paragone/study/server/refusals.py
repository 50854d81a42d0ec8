"""What is said when something cannot be done: JSON to the page's script, a calm page to a person, nothing of the inside."""

from __future__ import annotations

import html
import json
import logging
import math
from collections.abc import Mapping
from typing import Any, Self

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from ...design.pages import LANGUAGES
from ...errors import StoreError
from ..texts import Texts, load

__all__ = ["Refusal", "calm_page", "install_refusals", "language_for", "refused", "with_refusals"]

_log = logging.getLogger("paragone.study")
_MACHINES = ("/api/", "/i/", "/healthz", "/admin/api/", "/openapi.json")
_KINDS = {
    400: "bad-request", 401: "bad-token", 403: "forbidden", 404: "not-found", 405: "bad-method", 408: "too-slow",
    409: "conflict", 410: "gone", 413: "too-large", 415: "bad-request", 421: "unknown-host", 422: "bad-request",
    425: "too-early", 429: "too-many", 500: "server", 503: "paused",
}  # fmt: skip


class Refusal(HTTPException):
    """A request that is not done.

    Args:
        status: HTTP status, 4xx or 5xx.
        kind: one word for the script, such as 'too-early'; with a text 'error.<kind>' where people may see it.
        message: what is said; None: the text of the kind in the visitor's language.
        headers: further headers.
    """

    def __init__(
        self, status: int, kind: str, message: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail=message or kind, headers=dict(headers or {}))
        self.kind = kind
        self.message = message

    @classmethod
    def too_many(cls, seconds: float) -> Self:
        """The refusal of one who comes too often; says when to come again."""
        return cls(429, "too-many", headers={"retry-after": str(max(1, math.ceil(seconds)))})

    @classmethod
    def too_large(cls, most: int) -> Self:
        """The refusal of a body above the limit."""
        return cls(413, "too-large", f"A request holds at most {most:,} bytes.", headers={"connection": "close"})

    @classmethod
    def unknown_host(cls, host: str, origin: str | None) -> Self:
        """The refusal of a host name that is not ours; tells the person who runs the server what to do."""
        named = f"'{host[:100]}'" if host else "no host name"
        known = f"This server was started for {origin}" if origin else "This server knows no public address"
        return cls(
            421,
            "unknown-host",
            f"The request asks for {named}. {known}. If you run it: start it with --public-url and the address that "
            "participants use, for example --public-url https://study.example",
        )

    @classmethod
    def other_origin(cls, why: str, own: str, *, public: bool) -> Self:
        """The refusal of a request that another site may have sent; tells the person who runs the server what to do."""
        known = f"This server was started for {own}" if public else f"This server was asked as {own}"
        return cls(
            403,
            "other-origin",
            f"The request was not sent by a page of this server: {why}. {known}. If you run it behind a proxy: start it "
            "with --public-url and the address that participants use; scheme and port count.",
        )


def refused(refusal: HTTPException, *, path: str, accept: str = "") -> Response:
    """Return the answer that a refusal is: JSON below /api, a calm page elsewhere.

    Args:
        refusal: what happened.
        path: of the request.
        accept: the request's Accept-Language.
    """
    kind = refusal.kind if isinstance(refusal, Refusal) else _KINDS.get(refusal.status_code, "bad-request")
    texts = load(language_for("", accept, LANGUAGES))
    fallback = "server" if refusal.status_code >= 500 else "bad-request"
    said = refusal.message if isinstance(refusal, Refusal) and refusal.message else None
    message = said or texts.get(f"error.{kind}") or texts[f"error.{fallback}"]
    if path.startswith(_MACHINES) or refusal.status_code == 204:
        body = json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False).encode()
        return Response(body, refusal.status_code, refusal.headers, "application/json")
    return calm_page(texts, message, status=refusal.status_code, headers=refusal.headers)


def calm_page(
    texts: Texts,
    *paragraphs: str,
    head: str = "",
    body: str = "",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """Return a page without script that says something.

    Args:
        texts: words of the visitor's language.
        paragraphs: plain text; escaped here.
        head: heading, plain; empty: the entry's.
        body: HTML that follows, made by us.
        status: of the answer.
        headers: further headers.
    """
    title = html.escape(head or texts["entry.head"])
    said = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
    page = (
        f'<!doctype html><html lang="{texts.language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="robots" content="noindex"><title>{title}</title>'
        '<link rel="stylesheet" href="/static/study.css"></head>'
        f'<body class="plain"><main><h1>{title}</h1>{said}{body}</main></body></html>'
    )
    return HTMLResponse(page, status, dict(headers or {}))


def language_for(wanted: str, accept: str, offered: tuple[str, ...] | list[str]) -> str:
    """Return the language of a visitor.

    Args:
        wanted: what the address asked for; empty: nothing.
        accept: the Accept-Language header.
        offered: languages of the study, the first by default.
    """
    if wanted in offered:
        return wanted
    ranked = []
    for place, part in enumerate(accept[:500].split(",")):
        name, _, parameters = part.strip().partition(";")
        quality = parameters.strip().removeprefix("q=") if parameters.strip().startswith("q=") else "1"
        try:
            weight = float(quality)
        except ValueError:
            continue
        if 0 < weight <= 1:
            ranked.append((-weight, place, name.strip().lower().partition("-")[0]))
    return next((name for _, _, name in sorted(ranked) if name in offered), offered[0])


def install_refusals(app: FastAPI, headers: Mapping[str, str]) -> None:
    """Give every error of an application its form.

    Args:
        app: the application.
        headers: what every answer carries. An answer to a failure of ours is made outside all middleware, so it gets them
            here.
    """

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return refused(error, path=request.url.path, accept=request.headers.get("accept-language", ""))

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        refusal = Refusal(422, "bad-request", f"The request is not what it must be: {_places(error.errors())}.")
        return await on_http(request, refusal)

    async def on_failure(request: Request, _error: Exception) -> Response:
        response = await on_http(request, Refusal(500, "server"))
        for name, value in headers.items():
            response.headers[name] = value
        return response

    async def on_store(request: Request, error: Exception) -> Response:
        _log.error("%s", error)
        return await on_http(request, Refusal(503, "server", headers={"retry-after": "2"}))

    describe = app.openapi
    app.openapi = lambda: with_refusals(describe())  # type: ignore[method-assign]
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(StoreError, on_store)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(Exception, on_failure)


def with_refusals(described: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI description in which every operation may be refused, in the one form that refusals have.

    Args:
        described: the description; changed in place, twice is as once.
    """
    schemas = described.setdefault("components", {}).setdefault("schemas", {})
    schemas["Refused"] = _REFUSED
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Refused"}}}
    for operations in described.get("paths", {}).values():
        for operation in operations.values():
            responses = operation.setdefault("responses", {})
            for status, said in _ALWAYS.items():
                responses.setdefault(str(status), {"description": said, "content": content})
            if "422" in responses or "requestBody" in operation:
                responses["422"] = {"description": "bad-request: a field is not what it must be.", "content": content}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return described


_REFUSED: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "additionalProperties": False,
            "properties": {
                "kind": {"type": "string", "description": "One word for programs."},
                "message": {"type": "string", "description": "A sentence for people."},
            },
        }
    },
}
_ALWAYS = {
    400: "bad-request: no text, or no request at all.",
    403: "other-origin: another site sent it.",
    404: "not-found: there is nothing here, or not for you.",
    405: "bad-method.",
    408: "too-slow: the body did not come.",
    413: "too-large: the body has more than 64 KB.",
    421: "unknown-host: the server does not know the name that it was asked by.",
    429: "too-many: wait for Retry-After seconds.",
    503: "paused or server: not at this moment; wait for Retry-After seconds.",
}


def _places(errors: Any) -> str:
    """Where a request is wrong and how, without anything that it said: that may be a secret."""
    said = []
    for error in list(errors)[:3]:
        place, kind = error.get("loc", ())[1:2], error.get("type", "invalid")
        unknown = kind == "extra_forbidden" and len(error.get("loc", ())) == 2  # its place is what was sent
        said.append(f"{place[0] if place and not unknown else 'body'}: {kind}")
    return "; ".join(said)
