"""The report: all that a study found out, as one HTML page that needs no network, and every figure as SVG and CSV.

`Material` holds what there is to tell; `report` writes it. Inside, one module per section (`answer`, `scored`, `agreed`
with `scattered`, `validated` for learned evaluators, `people`, `compared`, `methods`) turns material into `blocks`;
`charts` and `dots` draw figures from the very frames that are written beside the page; `page` puts blocks into the
template. `tables` writes scores and agreement as Markdown or LaTeX for papers; `leaderboard` is a page of its own.
"""

from __future__ import annotations

from .material import Answers, Material, Shown, answers_of
from .page import report
from .tables import table_text

__all__ = ["Answers", "Material", "Shown", "answers_of", "report", "table_text"]
