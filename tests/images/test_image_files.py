"""Files of every kind become the same kind of array, or one line says why not."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from installed import needed
from paragone.errors import BadImage, NotFound, UnknownName
from paragone.images import MAX_PIXELS, as_picture, decode_image, read_image, to_uint8, write_image

RAMP = np.add.outer(np.arange(24) * 7, np.arange(32) * 3).astype(np.uint8)
NOISE = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
COLOUR = np.stack([RAMP, RAMP[::-1], RAMP[:, ::-1]], axis=-1)


def png(values: np.ndarray, kind: int, *, extra: bytes = b"") -> bytes:
    """A PNG by hand: `values` are the rows' big-endian bytes, kind the colour type; bit depth 16."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    height, width = values.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    head = struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    memory = io.BytesIO()
    image.save(memory, format=kind, **options)
    return memory.getvalue()


@pytest.fixture
def deep() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 65536, (9, 11, 4)).astype(np.uint16)


def test_a_colour_file_gives_its_values() -> None:
    picture = decode_image(saved(Image.fromarray(COLOUR)))
    assert picture.dtype == np.float32
    assert picture.flags.c_contiguous
    np.testing.assert_array_equal(picture, COLOUR.astype(np.float32) / np.float32(255))


@pytest.mark.parametrize("mode", ["L", "P", "LA", "PA", "RGBA", "I;16", "RGB"])
def test_grey_is_the_same_picture_in_every_mode(mode: str) -> None:
    grey = Image.fromarray(RAMP)
    if mode == "I;16":
        image = Image.fromarray(RAMP.astype(np.uint16) * 257)
    elif mode == "PA":
        image = grey.convert("P").convert("PA")
    else:
        image = grey.convert(mode)
    raw = saved(image.convert("RGBA") if mode == "PA" else image)
    np.testing.assert_array_equal(decode_image(raw), as_picture(RAMP))


def test_one_bit_is_black_and_white() -> None:
    picture = decode_image(saved(Image.fromarray(RAMP).convert("1", dither=Image.Dither.NONE)))
    assert set(np.unique(picture)) == {0.0, 1.0}


def test_what_is_transparent_is_laid_over_white() -> None:
    alpha = np.full((24, 32, 1), 51, dtype=np.uint8)
    picture = decode_image(saved(Image.fromarray(np.concatenate([COLOUR, alpha], axis=2))))
    np.testing.assert_allclose(picture, 0.2 * COLOUR / 255 + 0.8, atol=1e-6)


def test_a_transparent_palette_entry_is_white() -> None:
    image = Image.fromarray(np.repeat([[0, 1]], 4, axis=0).astype(np.uint8)).convert("P")
    image.putpalette([200, 0, 0, 0, 200, 0])
    picture = decode_image(saved(image, transparency=0))
    np.testing.assert_allclose(picture[0], [[1, 1, 1], [0, 200 / 255, 0]], atol=1e-6)


@pytest.mark.parametrize(("kind", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_sixteen_bits_are_kept_in_grey_colour_and_alpha(kind: int, channels: int, deep: np.ndarray) -> None:
    values = deep[..., :channels]
    shown = values / 65535
    if channels in (2, 4):
        shown = shown[..., :-1] * shown[..., -1:] + 1 - shown[..., -1:]
    expected = np.broadcast_to(shown, (9, 11, 3))
    np.testing.assert_allclose(decode_image(png(values, kind)), expected, atol=1e-6)  # 8 bits would be off by 2e-3


def test_a_sixteen_bit_colour_named_transparent_is_white(deep: np.ndarray) -> None:
    body = deep[2, 3, :3].astype(">u2").tobytes()
    key = struct.pack(">I", 6) + b"tRNS" + body + struct.pack(">I", zlib.crc32(b"tRNS" + body))
    picture = decode_image(png(deep[..., :3], 2, extra=key))
    np.testing.assert_array_equal(picture[2, 3], [1, 1, 1])
    np.testing.assert_allclose(picture[0, 0], deep[0, 0, :3] / 65535, atol=1e-6)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_sixteen_bit_tiff_keeps_its_bits(order: str, compression: str | None, deep: np.ndarray, tmp_path: Path) -> None:
    tifffile = needed("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", deep[..., :3], photometric="rgb", byteorder=order, compression=compression)
    np.testing.assert_allclose(read_image(tmp_path / "a.tif"), deep[..., :3] / 65535, atol=1e-6)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_is_turned_upright(orientation: int) -> None:
    stored = Image.fromarray(COLOUR)
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = decode_image(saved(stored, exif=exif))
    how = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    upright = stored.transpose(how[orientation]) if orientation in how else stored
    np.testing.assert_array_equal(to_uint8(picture), np.asarray(upright))


def test_damaged_exif_counts_as_none() -> None:
    raw = saved(Image.fromarray(COLOUR), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\x01\x12")
    assert decode_image(raw).shape == (24, 32, 3)


def test_cmyk_is_converted() -> None:
    cmyk = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    np.testing.assert_allclose(decode_image(saved(cmyk, "TIFF"))[0, 0], [1, 0, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "TIFF", "MPO"])
def test_of_several_frames_the_first_is_taken(kind: str) -> None:
    frames = [Image.new("L", (8, 8), value) for value in (10, 240)]
    raw = saved(frames[0], kind, save_all=True, append_images=frames[1:])
    np.testing.assert_allclose(decode_image(raw), 10 / 255, atol=1e-6)


def test_the_grey_edge_files_are_one_picture(shared: Callable[[str], Path]) -> None:
    first, second, third = (
        read_image(shared(f"metrics/edge/{name}_256.png")) for name in ("gray8", "gray8_as_rgb", "gray16")
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


def test_the_rotated_edge_file_stands_upright(shared: Callable[[str], Path]) -> None:
    assert read_image(shared("metrics/edge/exif_rot6_256x200.jpg")).shape == (256, 200, 3)


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("empty", b"", "the file is empty"),
        ("text", b"item,image\na,b\n", "not a picture"),
        ("cut off", saved(Image.fromarray(NOISE))[:-900], "damaged or cut off"),
        ("head only", saved(Image.fromarray(COLOUR))[:30], "damaged or cut off|not a picture"),
        ("cut jpeg", saved(Image.fromarray(COLOUR), "JPEG")[:-200], "damaged or cut off"),
        ("floating point", saved(Image.fromarray(RAMP.astype(np.float32)), "TIFF"), "no defined white"),
        ("32 bit", saved(Image.fromarray(RAMP.astype(np.int32)), "TIFF"), "no defined white"),
        ("postscript", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_line(name: str, raw: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(raw)
    with pytest.raises(BadImage, match=said) as caught:
        read_image(path)
    assert "x.png" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.where == str(path)


def _bomb(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    return b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


@pytest.mark.parametrize("side", [9_000, 12_000, 40_000])
def test_a_gigapixel_header_is_refused_before_it_is_decoded(side: int) -> None:
    assert side**2 > MAX_PIXELS
    with pytest.raises(BadImage, match="more than the 80 million that are read"):
        decode_image(_bomb(side, side), where="bomb.png")


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no picture"):
        read_image(tmp_path / "none.png")


def test_a_folder_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(BadImage, match="not a file but a folder"):
        read_image(tmp_path)


def test_a_file_of_half_a_gigabyte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sparse.png"
    with path.open("wb") as file:
        file.truncate((1 << 29) + 1)
    with pytest.raises(BadImage, match="512 MiB is more than"):
        read_image(path)


@pytest.mark.parametrize("ending", ["png", "tif", "webp"])
def test_written_then_read_is_the_same_eight_bits(ending: str, tmp_path: Path) -> None:
    picture = as_picture(COLOUR)
    np.testing.assert_array_equal(read_image(write_image(picture, tmp_path / f"a.{ending}")), picture)


def test_an_unknown_ending_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no picture format '\.pgn'; did you mean '\.png'"):
        write_image(as_picture(COLOUR), tmp_path / "a.pgn")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_bytes_changed_at_random_end_in_a_picture_or_one_line() -> None:
    rng = np.random.default_rng(20)
    sources = [
        saved(Image.fromarray(COLOUR), kind, **options)
        for kind, options in [("PNG", {}), ("JPEG", {}), ("WEBP", {}), ("GIF", {}), ("TIFF", {}), ("BMP", {})]
    ]
    sources.append(png(np.random.default_rng(1).integers(0, 65536, (9, 11, 3)).astype(np.uint16), 2))
    outcomes = {_outcome(_changed(raw, rng)) for _ in range(300) for raw in sources}
    assert outcomes == {"(h, w, 3)", "one line"}


def _changed(raw: bytes, rng: np.random.Generator) -> bytes:
    values = np.frombuffer(raw, dtype=np.uint8).copy()
    where = rng.integers(0, len(values), rng.integers(1, 6))
    values[where] = rng.integers(0, 256, len(where))
    return values.tobytes()


def _outcome(raw: bytes) -> str:
    try:
        picture = decode_image(raw)
    except BadImage as error:
        return "one line" if "\n" not in error.message else error.message
    return "(h, w, 3)" if picture.ndim == 3 and picture.shape[2] == 3 else str(picture.shape)
