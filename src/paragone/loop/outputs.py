"""Where results may go: never onto what they were made from, nor onto a table of another kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import ParagoneError, UnknownName, WouldOverwrite
from ..tables import column_names

__all__ = [
    "AGREEMENTS",
    "ANSWERS",
    "CONSISTENCIES",
    "PLANS",
    "SCORINGS",
    "SCREENINGS",
    "VALIDATIONS",
    "may_write",
]

SCORINGS = ({"item", "score", "status"}, {"level", "score", "status"})
AGREEMENTS = ({"predictor", "statistic", "value"},)
SCREENINGS = ({"participant", "kept", "reasons"},)
CONSISTENCIES = ({"statistic", "value", "n"},)
PLANS = ({"trial", "sheet", "stage", "kind"},)
VALIDATIONS = ({"predictor", "kind", "statistic", "folds"},)
ANSWERS = ({"left", "right", "choice"}, {"item", "value"})

_ENDINGS = (".csv", ".tsv", ".parquet")


def may_write(output: Path | None, kinds: Iterable[set[str]], *, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse an output before anything is computed, so that nothing is lost and nothing half written.

    Args:
        output: where a table is to go; None: nowhere.
        kinds: columns of the tables that it may replace, one set for each kind.
        inputs: files that the result is made from, and other outputs of the same call.

    Raises:
        UnknownName: the ending is none that tables have.
        WouldOverwrite: the output is one of the inputs, a folder, or a file that holds something else.
    """
    if output is None:
        return
    if output.suffix.lower() not in _ENDINGS:
        raise UnknownName.among(output.suffix or output.name, _ENDINGS, f"table format for '{output}', ending")
    for other in inputs:
        if other is not None and _same(output, other):
            raise WouldOverwrite(
                f"'{output}' is what the result is made from; name another file with -o", where=str(output)
            )
    if output.is_dir():
        raise WouldOverwrite(f"'{output}' is a folder; name a file in it", where=str(output))
    if not output.exists():
        return
    try:
        there = set(column_names(output))
    except ParagoneError:
        there = set()
    if not any(kind <= there for kind in kinds):
        raise WouldOverwrite(
            f"'{output}' holds something else than this command writes; name another file or remove it first",
            where=str(output),
        )


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
