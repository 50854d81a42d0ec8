"""One way to fill a template: text is escaped, the look is inside the page, and only our own script may run."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from .. import __version__
from ..errors import MissingExtra
from .svg import printable

__all__ = ["page_of"]


def page_of(template: str, *, script_name: str = "", **values: Any) -> str:
    """Return a page that needs no network: `report.css` and one script inside, everything else text.

    Args:
        template: name of a template of this package.
        script_name: the script that the page may run; empty: none.
        values: what the template asks for. Texts are escaped; markup must be a `markupsafe.Markup`.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra.library("a page", "jinja2", "report") from error
    folder = resources.files(__package__) / "templates"
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    script = (folder / script_name).read_text(encoding="utf-8") if script_name else ""
    return environment.get_template(template).render(
        style=(folder / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        version=__version__,
        **values,
    )
