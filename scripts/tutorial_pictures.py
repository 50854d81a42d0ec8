"""Make the pictures of the tutorials out of the pictures and stylisers that the package ships.

    python scripts/tutorial_pictures.py            writes them to src/paragone/study/pictures/tutorial
    python scripts/tutorial_pictures.py --check    says which of them have other pixels than a new run gives

Each picture shows one thing clearly; tutorial.toml there says which. All chances are seeded.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from paragone.images import Picture, decode_image, lab, read_image, resize, to_uint8
from paragone.make import demo_pictures
from paragone.make.stylise import stylise
from paragone.study.pictures.sanitise import sanitised_bytes

FOLDER = Path(__file__).resolve().parents[1] / "src" / "paragone" / "study" / "pictures" / "tutorial"
COLOURS = 192  # of each palette
ALIKE = 1.0  # mean difference in CIELAB up to which two runs are the same, for other versions of the libraries


def shipped(name: str) -> Picture:
    """A picture of the package, such as 'contents/cat'."""
    return read_image(demo_pictures() / f"{name}.jpg")


def blurred(image: NDArray[np.float32], sigma: float) -> Picture:
    """Gaussian blur over rows and columns."""
    made: Picture = ndimage.gaussian_filter(image, (sigma, sigma, 0)).astype(np.float32)
    return made


def mixed(one: Picture, other: Picture, share: NDArray[np.float64] | float) -> Picture:
    """`share` of the other picture, for all pixels or each."""
    weight = np.asarray(share)[..., None] if np.ndim(share) else share
    made: Picture = np.clip((1 - weight) * one + weight * other, 0, 1).astype(np.float32)
    return made


def warped(image: Picture, down: NDArray[np.float64], right: NDArray[np.float64]) -> Picture:
    """Every pixel fetched from so many pixels further down and right."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]].astype(float)
    made: Picture = np.stack(
        [ndimage.map_coordinates(image[..., c], [y + down, x + right], order=1, mode="mirror") for c in range(3)],
        axis=2,
    ).astype(np.float32)
    return made


def soft_disc(shape: tuple[int, ...], row: float, column: float, tall: float, wide: float) -> NDArray[np.float64]:
    """1 inside an ellipse, falling to 0 around its edge."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.clip(3.5 * (1 - np.hypot((y - row) / tall, (x - column) / wide)) + 0.5, 0, 1)


def style() -> Picture:
    """The painting, a little smaller."""
    return resize(shipped("styles/cafe_terrace"), 228, 183, resizer="pil-lanczos")


def transfer() -> Picture:
    """Scene and style both there."""
    return stylise(shipped("contents/cat"), shipped("styles/cafe_terrace"), "bristles")


def content_lost() -> Picture:
    """All the style, but whatever stood where has been swept away."""
    cat, rng = shipped("contents/cat"), np.random.default_rng(4)
    height, width = cat.shape[:2]
    field = [ndimage.gaussian_filter(rng.normal(size=(height, width)), 14) for _ in range(2)]
    swept = warped(blurred(cat, 1), *(90 * one / one.std() for one in field))
    return stylise(blurred(swept, 4), shipped("styles/cafe_terrace"), "patches", seed=1)


def style_lost() -> Picture:
    """The photograph with a breath of the style's colour."""
    cat = shipped("contents/cat")
    return mixed(cat, stylise(cat, shipped("styles/cafe_terrace"), "reinhard"), 0.18)


def plain_transfer() -> Picture:
    """A right answer that nobody would frame: scene and style are there, roughly done."""
    return stylise(shipped("contents/cat"), shipped("styles/cafe_terrace"), "strokes")


def appealing() -> Picture:
    """A postcard: another scene, no trace of the style."""
    castle = resize(shipped("contents/castle"), 170, 256, resizer="pil-lanczos")
    y, x = np.mgrid[:170, :256]
    dusk = np.stack(
        [np.interp(y, [0, 80, 170], row) for row in ([0.42, 1.0, 0.62], [0.35, 0.62, 0.36], [0.72, 0.5, 0.5])], 2
    )
    graded = castle * (0.45 + 0.75 * dusk)
    sky = np.clip(3 * (castle[..., 2] - castle[..., 0]) + 0.6 * (castle.min(axis=2) - 0.7), 0, 1) * (y < 84)
    graded = mixed(graded.astype(np.float32), dusk.astype(np.float32), 0.75 * ndimage.gaussian_filter(sky, 1.5))
    sun = np.exp(-np.hypot(y - 72, x - 205) / 34)[..., None] * np.array([1.0, 0.78, 0.4])
    return np.clip(graded + 0.75 * sun, 0, 1).astype(np.float32)


def good() -> Picture:
    """Clear and natural, as its words say."""
    return shipped("contents/coffee")


def blur() -> Picture:
    """Out of focus, and grass that is only green."""
    bison = shipped("contents/bison")
    return blurred(stylise(bison, bison, "kuwahara"), 2.6)


def artifact() -> Picture:
    """A comb of lines, patches from elsewhere, a part that has melted."""
    castle, rng = shipped("contents/castle").copy(), np.random.default_rng(8)
    height, width = castle.shape[:2]
    y, x = np.mgrid[:height, :width]
    melted = soft_disc(castle.shape, 86, 95, 44, 34)
    castle = mixed(castle, warped(castle, 9 * np.sin(x / 4.0), 10 * np.sin(y / 5.0 + x / 17)), melted)
    comb = soft_disc(castle.shape, 40, 215, 46, 70) * ((x // 3 + y // 3) % 2)
    castle = mixed(castle, np.broadcast_to(np.float32([0.75, 0.35, 0.75]), castle.shape), 0.4 * comb)
    for _ in range(9):
        top, left = rng.integers(60, height - 22), rng.integers(0, width - 40)
        fromtop, fromleft = rng.integers(0, height - 22), rng.integers(0, width - 40)
        castle[top : top + 14, left : left + 30] = castle[fromtop : fromtop + 14, fromleft : fromleft + 30][:, ::-1]
    castle[118:122] = np.roll(castle[118:122], 60, axis=1)[..., ::-1]
    return castle


def unnatural() -> Picture:
    """A cat with three eyes, perfectly sharp."""
    cat = shipped("contents/cat")
    eye = np.roll(cat, (-36, 38), axis=(0, 1))
    return mixed(cat, eye, soft_disc(cat.shape, 30, 134, 21, 25))


def mismatch() -> Picture:
    """A fine picture of something else than its words name."""
    return resize(shipped("contents/bison"), 168, 224, resizer="pil-lanczos")


PICTURES = {
    "content": lambda: shipped("contents/cat"),
    "style": style,
    "transfer": transfer,
    "plain-transfer": plain_transfer,
    "content-lost": content_lost,
    "style-lost": style_lost,
    "appealing": appealing,
    "good": good,
    "blur": blur,
    "artifact": artifact,
    "unnatural": unnatural,
    "mismatch": mismatch,
}


def packed(image: Picture) -> bytes:
    """A PNG with a palette, without any words."""
    plain = Image.fromarray(to_uint8(image))
    memory = io.BytesIO()
    plain.quantize(COLOURS, dither=Image.Dither.FLOYDSTEINBERG).save(memory, format="PNG", optimize=True)
    return sanitised_bytes(memory.getvalue()).bytes


def main() -> int:
    """Write or check; the exit status is 1 where a picture differs."""
    check, total, differ = "--check" in sys.argv[1:], 0, []
    for name, make in PICTURES.items():
        raw, path = packed(make()), FOLDER / f"{name}.png"
        if check:
            before, after = (lab(image) for image in (read_image(path), decode_image(raw)))
            if before.shape != after.shape or np.abs(before - after).mean() > ALIKE:
                differ.append(name)
        else:
            path.write_bytes(raw)
        total += len(raw)
        print(f"{name:16} {len(raw):7,} bytes")
    print(f"{total:,} bytes in all" + (f"; other than shipped: {', '.join(differ)}" if differ else ""))
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
