"""Instructed checks: what to choose is drawn into the picture itself, for those who look.

The sign has a part without words and a part with them. For a pair: two frames side by side, the one to choose filled and
ticked; below it the words. For a rating: the number, large, and above it a word. Latin words are set in the small font
that Pillow carries; it knows neither umlauts nor Chinese. So the German words do without umlauts, and the Chinese ones
are four characters drawn from strokes of our own (`strokes`): a Chinese font has megabytes, and ours to ship it would
be for four characters. The question line beside the pictures repeats the whole sentence in any case.

A sign covers the same part of a picture of any size, so it stays legible where large pictures are shown reduced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ...design.pages import LANGUAGES
from ...errors import BadImage, BadInput, UnknownName
from .sanitise import png_bytes, rgb
from .strokes import distance, laid_out

__all__ = ["MIN_SIDE", "instructed"]

MIN_SIDE = 128
"""Smallest side of a picture that takes a sign, in pixels: small letters are then 8 pixels high."""

_WORDS = {
    "en": {"left": "Choose the left picture", "right": "Choose the right picture", "value": "Set the score to"},
    "de": {
        "left": "Bitte das linke Bild nehmen",
        "right": "Bitte das rechte Bild nehmen",
        "value": "Bitte einstellen:",
    },
    "zh": {"left": "选左边", "right": "选右边", "value": "选"},
}
_DARK, _LIGHT = 17, 255  # grey levels of sign and writing
_MASTER = 1024  # pixels; longer side at which the sign is drawn, then fitted to the picture
_STROKE = 0.045  # half width of a stroke, in heights of a character
_CHARACTER = 160  # pixels; height at which characters are drawn, then fitted
_GAP = 0.12  # between characters, in heights


class _Box(NamedTuple):
    left: float
    top: float
    width: float
    height: float


def instructed(png: bytes, expected: str, language: str, *, where: str = "picture") -> bytes:
    """Return a picture with the instruction of a check drawn over its middle.

    Args:
        png: a sanitised picture, both sides at least `MIN_SIDE`.
        expected: 'left', 'right', or the value to set, as the plan says it.
        language: en, zh or de.
        where: name of the picture, for messages.

    Returns:
        PNG of the same size and colour information, 8 bits a channel.

    Raises:
        BadImage: the picture is too small, or cannot be decoded.
        BadInput: `expected` is neither a side nor a number.
        UnknownName: no such language.
    """
    if language not in LANGUAGES:
        raise UnknownName.among(language, LANGUAGES, "language")
    pixels = rgb(png, where=where)
    height, width = pixels.shape[:2]
    if min(height, width) < MIN_SIDE:
        raise BadImage(
            f"{where}: {width} x {height} pixels are too few to draw an instruction on; it takes {MIN_SIDE} a side, or "
            'check = "broken"',
            where=where,
        )
    grain = _MASTER / max(height, width)
    size = (round(width * grain), round(height * grain))
    sign, box = _sign(size, expected, language)
    corner = tuple(round(value / grain) for value in (box.left, box.top, box.left + box.width, box.top + box.height))
    fitted = sign.resize((corner[2] - corner[0], corner[3] - corner[1]), Image.Resampling.LANCZOS)
    made = pixels.copy()
    made[corner[1] : corner[3], corner[0] : corner[2]] = np.asarray(fitted)[..., None]
    return png_bytes(made, like=png)


def _sign(size: tuple[int, int], expected: str, language: str) -> tuple[Image.Image, _Box]:
    """The sign for a picture of a size, grey, and where it goes."""
    width, height = 0.94 * size[0], 0.86 * size[1]
    width, height = min(width, 2.4 * height), min(height, 0.8 * width)
    sign = Image.new("L", (round(width), round(height)), _DARK)
    draw = ImageDraw.Draw(sign)
    edge = 0.02 * min(width, height)
    draw.rectangle((0, 0, sign.width - 1, sign.height - 1), outline=_LIGHT, width=max(1, round(edge)))
    inside = _Box(3 * edge, 3 * edge, width - 6 * edge, height - 6 * edge)
    words = _WORDS[language]
    if expected in ("left", "right"):
        above, below = _split(inside, 0.5)
        _frames(draw, above, expected)
        _write(sign, below, words[expected])
    else:
        above, below = _split(inside, 0.36)
        _write(sign, above, words["value"])
        _write(sign, below, _number(expected, language))
    return sign, _Box((size[0] - width) / 2, (size[1] - height) / 2, width, height)


def _number(expected: str, language: str) -> str:
    try:
        value = float(expected)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(f"expected '{expected}' cannot be drawn as an instruction; give left, right or a number")
    return f"{value:g}".replace(".", "," if language == "de" else ".")


def _split(box: _Box, share: float) -> tuple[_Box, _Box]:
    """Two boxes, one above the other, with a little air between."""
    air = 0.06 * box.height
    upper = share * (box.height - air)
    return (
        _Box(box.left, box.top, box.width, upper),
        _Box(box.left, box.top + upper + air, box.width, box.height - upper - air),
    )


def _frames(draw: ImageDraw.ImageDraw, box: _Box, side: str) -> None:
    """Two frames side by side, the one to choose filled and ticked."""
    frame = min(box.height, 0.42 * box.width)
    line = max(1, round(0.05 * frame))
    middle, top = box.left + box.width / 2, box.top + (box.height - frame) / 2
    for name, left in (("left", middle - 1.15 * frame), ("right", middle + 0.15 * frame)):
        chosen = name == side
        corners = (left, top, left + frame, top + frame)
        draw.rectangle(corners, fill=_LIGHT if chosen else None, outline=_LIGHT, width=line)
        if chosen:
            tick = [(0.2, 0.55), (0.42, 0.77), (0.82, 0.26)]
            points = [(left + x * frame, top + y * frame) for x, y in tick]
            draw.line(points, fill=_DARK, width=3 * line, joint="curve")


def _write(sign: Image.Image, box: _Box, text: str) -> None:
    """The text as large as the box allows, in its middle."""
    if not text.isascii():
        _draw_characters(sign, box, text)
        return
    draw = ImageDraw.Draw(sign)
    low, high = 4, max(5, int(1.4 * box.height))
    while high - low > 1:  # the largest font with which the text fits
        middle = (low + high) // 2
        low, high = (middle, high) if _wrapped(text, box, middle) else (low, middle)
    lines = _wrapped(text, box, low) or [text]
    draw.multiline_text(
        (box.left + box.width / 2, box.top + box.height / 2),
        "\n".join(lines),
        font=_font(low),
        fill=_LIGHT,
        anchor="mm",
        align="center",
        spacing=0.2 * low,
    )


def _wrapped(text: str, box: _Box, size: int) -> list[str] | None:
    """The text in lines that fit into the box, or None."""
    font = _font(size)
    words = text.split(" ")
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if font.getlength(longer) <= box.width:
            lines[-1] = longer
        else:
            lines.append(word)
    wide = max(font.getlength(line) for line in lines) <= box.width
    return lines if wide and 1.2 * size * len(lines) <= box.height else None


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _draw_characters(sign: Image.Image, box: _Box, text: str) -> None:
    strokes, width = laid_out(text, gap=_GAP)
    tall = min(0.92 * box.height, 0.96 * box.width / width)
    left, top = box.left + (box.width - tall * width) / 2, box.top + (box.height - tall) / 2
    ink = Image.fromarray(_inked(strokes, width, _CHARACTER)).resize((round(tall * width), round(tall)))
    place = (round(left), round(top))
    sign.paste(_LIGHT, (*place, place[0] + ink.width, place[1] + ink.height), ink)


def _inked(strokes: Sequence[NDArray[np.float64]], width: float, tall: int) -> NDArray[np.uint8]:
    """How much of each pixel the strokes cover, 0 to 255, at so many pixels a character."""
    columns = max(1, round(width * tall))
    y, x = np.mgrid[:tall, :columns]
    away = distance(np.stack([x.ravel() + 0.5, y.ravel() + 0.5], axis=1) / tall, list(strokes))
    return np.round(255 * np.clip((_STROKE - away) * tall + 0.5, 0, 1)).astype(np.uint8).reshape(tall, columns)
