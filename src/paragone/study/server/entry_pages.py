"""The pages of the entry, written by the server and working without script: the lab's code form, a panel's preview."""

from __future__ import annotations

import html
from collections.abc import Sequence

from starlette.responses import HTMLResponse

from ..texts import Texts, load
from .refusals import calm_page

__all__ = ["code_page", "language_links", "preview_page"]


def code_page(language: str, offered: Sequence[str], title: str, *, wrong: bool = False) -> HTMLResponse:
    """Return the form for a lab's code.

    Args:
        language: of the page.
        offered: every language of the study.
        title: of the study.
        wrong: the code that was given is unknown.
    """
    texts = load(language)
    label, help_, button = (html.escape(texts[f"entry.{name}"]) for name in ("code", "code-help", "code-button"))
    body = (
        f'<form method="post" action="/enter"><input type="hidden" name="lang" value="{language}">'
        f'<label for="code">{label}</label><p id="code-help">{help_}</p>'
        '<input id="code" name="code" type="text" required autofocus autocomplete="off" autocapitalize="characters" '
        f'spellcheck="false" maxlength="20" aria-describedby="code-help"{wrong * " aria-invalid=true"}>'
        f'<div class="bar"><button type="submit">{button}</button></div></form>{language_links(texts, offered)}'
    )
    said = [texts["entry.code-wrong"]] if wrong else []
    headers = {"referrer-policy": "same-origin"}  # under no-referrer browsers send "Origin: null" with a form
    return calm_page(texts, *said, head=title, body=body, status=422 if wrong else 200, headers=headers)


def language_links(texts: Texts, offered: Sequence[str]) -> str:
    """Return links to the entry in the other languages, as HTML; '' where there is one language only.

    Args:
        texts: words of the page's language.
        offered: every language of the study.
    """
    links = " ".join(
        f'<a href="/?lang={name}" lang="{name}" hreflang="{name}">{html.escape(load(name)["page.name"])}</a>'
        for name in offered
        if name != texts.language
    )
    return f'<nav aria-label="{html.escape(texts["entry.language"])}">{links}</nav>' if links else ""


def preview_page(language: str, title: str, consent: Sequence[tuple[str, Sequence[str]]]) -> HTMLResponse:
    """Return the consent text alone, for who only looks at the study from within the panel.

    Args:
        language: of the page.
        title: of the study.
        consent: heads and paragraphs, plain.
    """
    parts = "".join(
        f"<h2>{html.escape(head)}</h2>" + "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
        for head, paragraphs in consent
    )
    texts = load(language)
    return calm_page(texts, texts["client.preview"], head=title, body=parts)
