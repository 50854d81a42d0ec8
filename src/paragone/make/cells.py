"""One cell of a benchmark: what is to be made, what became of it, and the record that lies beside its picture.

A cell is one method on one combination of references. Its picture lies at `results/<method>/<content>_stylized_<style>.png`
and its record beside it, with the ending `.json`. The record is written after the picture, both whole or not at all, so a
killed run leaves nothing that looks finished and is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..errors import BadImage, BadInput
from ..images import Picture, decode_image, read_image, to_uint8
from ..provenance import digest
from ..tables import whole_file

__all__ = ["STATUSES", "Job", "Outcome", "finished", "judged", "land", "record_of", "seed_of"]

STATUSES: Mapping[str, str] = {
    "ok": "the picture is there and is what it must be",
    "missing": "nothing was made or found for the cell",
    "failed": "the method stopped with an error or ran out of time",
    "refused": "the method declined, for example a service that filters contents",
    "invalid": "what came is no usable picture: damaged, of one colour, or the content itself",
    "wrong_size": "the picture has another size than the content, and the method's `align` does not mend it",
    "ambiguous": "a file can be read as several cells, so it is none",
}
"""status of a cell -> what it means; only cells that are ok become items."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cell to be made."""

    method: str
    levels: Mapping[str, str]
    """Factor -> level of each reference, for example {'content': 'cat', 'style': 'great_wave'}; in the benchmark's order."""
    inputs: Mapping[str, Path]
    """Factor -> prepared reference picture."""
    target: Path
    """Where the picture goes; ends in .png."""
    seed: int
    """Of this cell; follows from the benchmark's seed, method and levels."""
    key: str
    """Digest of everything that the picture depends on; another key means: make it again."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """What the reference cards say, for example {'manner': 'great-wave'}."""

    @property
    def item(self) -> str:
        """Id of the item: method and levels, joined by '/'."""
        return "/".join((self.method, *self.levels.values()))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a method gave for one cell."""

    status: str = "ok"
    reason: str = ""
    """Why it is not ok, in one line."""
    picture: Picture | bytes | Path | None = None
    """The picture as an array, as the bytes of a picture file, or as a file; None where the status is not ok."""
    seconds: float | None = None
    """Time that the method took, in seconds; None where nobody measured it."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else belongs into the record: the request, the model, the cost, the log; no secrets."""


def seed_of(*parts: object) -> int:
    """Return the seed that follows from some words: the first 8 bytes of their BLAKE2b digest, below 2^63.

    Args:
        parts: the benchmark's seed, the method, the levels; their texts are joined with NUL, so ('a', 'b') and ('ab',)
            differ.
    """
    text = "\0".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") & (2**63 - 1)


def judged(job: Job, outcome: Outcome, *, align: str = "exact") -> tuple[dict[str, Any], Picture | None]:
    """Check what a method gave, and write nothing.

    Args:
        job, outcome, align: as for `land`.

    Returns:
        The record as far as it is known before the picture is written, and the picture in the size it will have.
    """
    record: dict[str, Any] = {
        "item": job.item,
        "method": job.method,
        "levels": dict(job.levels),
        "key": job.key,
        "seed": job.seed,
        "status": outcome.status,
        "reason": outcome.reason,
        "seconds": None if outcome.seconds is None else round(outcome.seconds, 3),
        "facts": dict(outcome.facts),
    }
    picture: Picture | None = None
    if outcome.status == "ok":
        try:
            picture = _decoded(outcome.picture, job.item)
            record["given"] = [picture.shape[1], picture.shape[0]]
            content = read_image(next(iter(job.inputs.values()))) if job.inputs else None
            if content is not None:
                picture, fault = _aligned(picture, content.shape[0], content.shape[1], align)
                record |= fault
            if record["status"] == "ok":
                record |= _invalid(picture, content)
        except BadInput as error:
            record |= {"status": "invalid", "reason": error.message}
    return record, picture


def land(job: Job, outcome: Outcome, *, align: str = "exact") -> dict[str, Any]:
    """Check what a method gave, write picture and record, and return the record.

    Args:
        job: the cell.
        outcome: what the method gave.
        align: what is done where the size is not the content's: 'exact' (status wrong_size), 'resize' (both sides, the
            picture may be stretched), 'crop' (centre, then resize) or 'pad' (resize within, grey borders). The sizes are
            recorded in every case.

    Returns:
        The record: item, method, levels, status, reason, size before and after, seconds, seed, key, digest and facts.
        The picture of a cell that is not ok is kept aside (`rejected/`) where there is one, and never an item.
    """
    record, picture = judged(job, outcome, align=align)
    job.target.parent.mkdir(parents=True, exist_ok=True)
    if picture is not None:
        kept = record["status"] == "ok"
        raw = _coded(picture)
        with whole_file(job.target if kept else _rejected(job.target)) as aside:
            aside.write_bytes(raw)
        record |= {"size": [picture.shape[1], picture.shape[0]], "sha256": hashlib.sha256(raw).hexdigest()}
    if record["status"] != "ok":
        job.target.unlink(missing_ok=True)
    with whole_file(_beside(job.target)) as aside:
        aside.write_text(json.dumps(record, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")
    return record


def record_of(target: Path) -> dict[str, Any] | None:
    """Return the record beside a picture, or None where there is none that can be read."""
    try:
        record = json.loads(_beside(target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("status") in STATUSES else None


def finished(job: Job, *, again: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """Return the record of a cell that need not be made again, else None.

    Args:
        job: the cell.
        again: statuses that are tried again, for example ('failed',).

    Returns:
        The record where its key is the job's, its status is not to be tried again and, if it is ok, the picture has the
        recorded digest.
    """
    record = record_of(job.target)
    if record is None or record.get("key") != job.key or record["status"] in again:
        return None
    if record["status"] == "ok" and (not job.target.is_file() or digest(job.target) != record.get("sha256")):
        return None
    return record


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.stem}.json")


def _rejected(target: Path) -> Path:
    return target.parent / "rejected" / target.name


def _decoded(picture: Picture | bytes | Path | None, item: str) -> Picture:
    if picture is None:
        raise BadImage(f"{item}: the method gave no picture", where=item)
    if isinstance(picture, Path):
        return read_image(picture)
    if isinstance(picture, bytes):
        return decode_image(picture, where=item)
    if not np.isfinite(picture).all():
        raise BadImage(f"{item}: the method gave values that are no colours", where=item)
    return np.clip(picture, 0.0, 1.0).astype(np.float32)


def _aligned(picture: Picture, height: int, width: int, align: str) -> tuple[Picture, dict[str, str]]:
    have = picture.shape[:2]
    if have == (height, width):
        return picture, {}
    told = f"{have[1]} x {have[0]} pixels for a content of {width} x {height}"
    if align == "exact":
        return picture, {"status": "wrong_size", "reason": f'{told}; align = "resize", "crop" or "pad" mends it'}
    shown = Image.fromarray(to_uint8(picture))
    scale = max(width / have[1], height / have[0]) if align == "crop" else min(width / have[1], height / have[0])
    if align == "resize":
        made = shown.resize((width, height), Image.Resampling.LANCZOS)
    else:
        size = (max(1, round(have[1] * scale)), max(1, round(have[0] * scale)))
        fitted = shown.resize(size, Image.Resampling.LANCZOS)
        made = Image.new("RGB", (width, height), (128, 128, 128))
        made.paste(fitted, ((width - size[0]) // 2, (height - size[1]) // 2))
    return np.asarray(made).astype(np.float32) / np.float32(255), {"aligned": f"{align}: {told}"}


def _invalid(picture: Picture, content: Picture | None) -> dict[str, str]:
    """Status and reason where the picture cannot be a result; else nothing."""
    low, high = float(picture.min()), float(picture.max())
    if high - low < 1.5 / 255:
        kind = "black" if high < 1.5 / 255 else "one colour"
        return {"status": "invalid", "reason": f"the picture is all {kind}"}
    if content is not None and content.shape == picture.shape and np.abs(content - picture).max() < 1.5 / 255:
        return {"status": "invalid", "reason": "the picture is the content itself"}
    return {}


def _coded(picture: Picture) -> bytes:
    buffer = BytesIO()
    Image.fromarray(to_uint8(picture)).save(buffer, format="PNG")
    return buffer.getvalue()
