"""What a demo made in its folder, so that the next one may replace that and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import WouldOverwrite
from ..provenance import digest
from ..tables import whole_file

__all__ = ["MARKER", "begin", "clear", "record"]

MARKER = ".paragone-demo"
_FOLDERS = ("checks", "contents", "figures", "results", "scores", "styles")
_FILES = (
    "agreement.csv", "agreement.tests.csv", "agreement.toml", "answers.csv", "benchmark.toml", "consistency.csv",
    "items.csv", "plan.csv", "references.csv", "report.html", "screening.csv", "study.toml", "votes.csv",
)  # fmt: skip


def begin(place: Path) -> None:
    """Write the marker into an empty folder, before anything else of the demo."""
    place.mkdir(parents=True, exist_ok=True)
    _write(place, finished=False)


def record(place: Path, *, finished: bool) -> None:
    """Note every file that lies in the folder with its digest; nothing but the demo has written there since `begin`.

    Args:
        place: the demo's folder.
        finished: the demo ran to its end.
    """
    _write(place, finished=finished)


def _write(place: Path, *, finished: bool) -> None:
    made = {name: digest(place / name) for name in _files(place)}
    with whole_file(place / MARKER) as aside:
        aside.write_text(json.dumps({"format": 1, "finished": finished, "made": made}, indent=1), encoding="utf-8")


def clear(place: Path, *, force: bool) -> None:
    """Remove what a demo made in a folder, file by file; without `force` only if there is nothing else.

    Where a demo was cut off before it could note its files, those that bear the names of its own count as made by it.

    Raises:
        WouldOverwrite: the folder holds a file that no demo made or that was changed since, and `force` is off; or it is
            not a demo's at all. Nothing is removed then.
    """
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    made = _made(place)
    if made is None:
        if not force:
            raise WouldOverwrite(
                f"'{place}' is not empty; --force makes the demo anew, or name another folder", where=str(place)
            )
        card = place / "benchmark.toml"
        if not card.is_file() or 'name = "demo"' not in card.read_text(encoding="utf-8"):
            raise WouldOverwrite(f"'{place}' holds something that no demo made; name another folder", where=str(place))
        made = {}
    known, there = made, _files(place)
    strange = [name for name in there if not _is_own(place, name, known)]
    if strange and not force:
        raise WouldOverwrite(
            f"'{place / strange[0]}' was not made by the demo, or was changed since; --force makes the demo anew, or name "
            "another folder",
            where=str(place),
        )
    for name in there:
        (place / name).unlink()
    (place / MARKER).unlink(missing_ok=True)
    for folder in sorted((one for one in place.rglob("*") if one.is_dir() and not one.is_symlink()), reverse=True):
        folder.rmdir()


def _made(place: Path) -> dict[str, str | None] | None:
    """File -> digest as the marker has it, null for any where the demo was cut off; None: there is no such marker."""
    try:
        said = json.loads((place / MARKER).read_text(encoding="utf-8"))
        made: dict[str, str | None] = dict(said["made"])
        finished = bool(said["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not finished:
        for name in _files(place):
            if name not in made and _named_as_ours(name):
                made[name] = None
    return made


def _named_as_ours(name: str) -> bool:
    parts = Path(name).parts
    aside = parts[-1].startswith(".") and parts[-1].endswith(".part")
    return aside or (len(parts) > 1 and parts[0] in _FOLDERS) or name in _FILES


def _is_own(place: Path, name: str, made: dict[str, str | None]) -> bool:
    if name not in made or (place / name).is_symlink():
        return False
    return made[name] is None or made[name] == digest(place / name)


def _files(place: Path) -> list[str]:
    """Files and links below the folder, the marker left out, sorted."""
    found = (one for one in place.rglob("*") if one.is_symlink() or not one.is_dir())
    return sorted(name for one in found if (name := one.relative_to(place).as_posix()) != MARKER)
