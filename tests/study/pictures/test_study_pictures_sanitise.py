"""What goes to a browser has the picture's pixels and colour, and not a word."""

from __future__ import annotations

import hashlib
import io
import itertools
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from paragone.errors import BadImage, NotFound
from paragone.images import decode_image, to_uint8
from paragone.study.pictures import sanitise
from paragone.study.pictures.icc import colour_only, described
from paragone.study.pictures.png import SIGNATURE, read_png
from paragone.study.pictures.sanitise import look, png_bytes, rgb, sanitised, sanitised_bytes

NOISE = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
PROMPT = "a portrait of Ada, oil on canvas Steps: 20, Model: secret-diffusion-v9"
P3_CHRM = struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    memory = io.BytesIO()
    image.save(memory, format=kind, **options)
    return memory.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(
    *before: tuple[bytes, bytes],
    after: tuple[tuple[bytes, bytes], ...] = (),
    late: tuple[tuple[bytes, bytes], ...] = (),
    tail: bytes = b"",
    pixels: np.ndarray = NOISE,
    parts: int = 1,
) -> bytes:
    """An RGB PNG by hand, with chunks before and after its pixels and bytes behind its end."""
    height, width = pixels.shape[:2]
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
    cuts = np.linspace(0, len(packed), parts + 1).astype(int)
    data = [(b"IDAT", packed[a:b]) for a, b in itertools.pairwise(cuts)]
    head = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    everything = [head, *before, *data, *after, *late, (b"IEND", b"")]
    return SIGNATURE + b"".join(chunk(name, body) for name, body in everything) + tail


def names(raw: bytes) -> list[bytes]:
    found, at = [], 8
    while at < len(raw):
        (length,) = struct.unpack_from(">I", raw, at)
        found.append(raw[at + 4 : at + 8])
        at += 12 + length
    return found


def shown(raw: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(raw)))


def profile(description: str = "Someone's Camera") -> bytes:
    """An sRGB-like profile whose description is ours, of the same length as the built-in one."""
    made = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    old, new = "sRGB built-in".encode("utf-16-be"), description.ljust(13)[:13].encode("utf-16-be")
    assert old in made
    return made.replace(old, new)


def test_a_stable_diffusion_png_loses_its_prompt_and_keeps_its_pixels(tmp_path: Path) -> None:
    words = PngImagePlugin.PngInfo()
    words.add_text("parameters", PROMPT)
    words.add_text("prompt", PROMPT, zip=True)
    words.add_itxt("workflow", PROMPT)
    exif = Image.Exif()
    exif[0x010E] = PROMPT
    path = tmp_path / "secret-diffusion-v9_0001.png"
    Image.fromarray(NOISE).save(path, pnginfo=words, exif=exif, dpi=(72, 72))
    assert b"secret-diffusion" in path.read_bytes()

    picture = sanitised(path)

    assert names(picture.bytes) == [b"IHDR", b"IDAT", b"IEND"]
    for word in (b"secret", b"Ada", b"parameters", b"workflow", b"Steps"):
        assert word not in picture.bytes
    np.testing.assert_array_equal(shown(picture.bytes), NOISE)
    assert picture.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (picture.width, picture.height, picture.media_type, picture.profile) == (32, 24, "image/png", "untagged")


def test_compressed_pixels_are_kept_byte_for_byte() -> None:
    raw = png((b"tEXt", b"Title\0x"), parts=3)
    picture = sanitised_bytes(raw)
    assert read_png(picture.bytes, where="").data == read_png(raw, where="").data
    assert names(picture.bytes) == [b"IHDR", b"IDAT", b"IDAT", b"IDAT", b"IEND"]


def test_what_follows_the_end_is_dropped() -> None:
    assert b"hidden" not in sanitised_bytes(png(tail=b"hidden behind the end")).bytes


def test_bytes_hidden_behind_the_compressed_pixels_go_too() -> None:
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in NOISE))
    head = struct.pack(">IIBBBBB", 32, 24, 8, 2, 0, 0, 0)
    raw = SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", rows + b"hidden words") + chunk(b"IEND", b"")
    picture = sanitised_bytes(raw)
    assert b"hidden" not in picture.bytes
    np.testing.assert_array_equal(shown(picture.bytes), NOISE)


_WORD = b"SECRET-METHOD"
_CHUNKS = {
    b"gAMA": struct.pack(">I", 45455),
    b"cHRM": P3_CHRM,
    b"sRGB": b"\0",
    b"iCCP": _WORD + b"\0\0" + zlib.compress(profile("SECRET-METHOD")),
    b"cICP": bytes((12, 13, 0, 1)),
    b"sBIT": b"\5\6\5",
    b"bKGD": b"\0\1\0\2\0\3",
    b"pHYs": struct.pack(">IIB", 2835, 2835, 1),
    b"tEXt": b"Software\0" + _WORD,
    b"zTXt": b"Comment\0\0" + zlib.compress(_WORD * 5),
    b"iTXt": b"Author\0\0\0\0\0" + _WORD,
    b"eXIf": b"MM\0*\0\0\0\x08\0\0\0\0\0\0" + _WORD,
    b"tIME": struct.pack(">HBBBBB", 2026, 11, 29, 1, 2, 3),
    b"prVt": _WORD,
    b"hIST": _WORD,
}
_KEPT = [b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM"]


@given(
    before=st.lists(st.sampled_from(sorted(_CHUNKS)), max_size=8),
    after=st.lists(st.sampled_from(sorted({*_CHUNKS} - {*_KEPT})), max_size=4),
    parts=st.integers(1, 5),
    tail=st.binary(max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_any_mix_of_chunks_comes_out_as_pixels_and_colour(
    before: list[bytes], after: list[bytes], parts: int, tail: bytes
) -> None:
    raw = png(
        *((name, _CHUNKS[name]) for name in before),
        after=tuple((name, _CHUNKS[name]) for name in after),
        parts=parts,
        tail=tail,
    )
    picture = sanitised_bytes(raw)
    kept = [name for name in _KEPT if name in before]
    assert names(picture.bytes) == [b"IHDR", *kept, *[b"IDAT"] * parts, b"IEND"]
    np.testing.assert_array_equal(shown(picture.bytes), NOISE)
    icc = Image.open(io.BytesIO(picture.bytes)).info.get("icc_profile")
    for hidden in (picture.bytes, icc or b""):
        assert _WORD not in hidden
        assert _WORD.decode().encode("utf-16-be") not in hidden
    again = sanitised_bytes(picture.bytes)
    assert again.bytes == picture.bytes


@given(name=st.sampled_from(_KEPT), body=st.binary(max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_malformed_colour_chunk_carries_nothing_through(name: bytes, body: bytes) -> None:
    picture = sanitised_bytes(png((name, body + b"words in disguise that are too long for numbers")))
    assert names(picture.bytes) == [b"IHDR", b"IDAT", b"IEND"]
    assert picture.profile == "untagged"


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([], "untagged"),
        ([b"gAMA"], "gAMA 0.45455"),
        ([b"gAMA", b"cHRM"], "gAMA 0.45455 with cHRM"),
        ([b"cHRM"], "cHRM"),
        ([b"gAMA", b"sRGB"], "sRGB"),
        ([b"iCCP", b"gAMA"], "ICC 'SECRET-METHOD'"),
        ([b"iCCP", b"cICP"], "cICP 12/13/0/1"),
    ],
)
def test_the_profile_says_what_browsers_go_by(chunks: list[bytes], said: str) -> None:
    assert sanitised_bytes(png(*((name, _CHUNKS[name]) for name in chunks))).profile.startswith(said)


def test_a_profile_without_words_computes_the_same_colours() -> None:
    given_profile = profile()
    clean = colour_only(given_profile, grey=False)
    assert clean is not None
    assert len(clean) < len(given_profile)
    srgb, lab_space = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    results = []
    for icc in (given_profile, clean):
        source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        for target, mode in ((srgb, "RGB"), (lab_space, "LAB")):
            transform = ImageCms.buildTransform(source, target, "RGB", mode)
            results.append(np.asarray(ImageCms.applyTransform(Image.fromarray(NOISE), transform)))
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], results[3])


def test_a_profile_for_other_channels_or_cut_short_is_none() -> None:
    whole = profile()
    assert colour_only(whole, grey=True) is None
    assert colour_only(whole[:200], grey=False) is None
    assert colour_only(b"no profile", grey=False) is None


def test_profiles_that_say_srgb_count_as_srgb() -> None:
    assert described(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()) == "sRGB"


@pytest.mark.parametrize("mode", ["1", "L", "P", "I;16", "RGB", "LA", "RGBA"])
def test_every_mode_of_png_is_the_same_picture(mode: str) -> None:
    grey = NOISE[..., 0]
    deep = Image.fromarray(grey.astype(np.uint16) * 256 + 7)
    _kept_as_it_is(saved(deep if mode == "I;16" else Image.fromarray(grey).convert(mode)))


@pytest.mark.parametrize(
    "pixels", [NOISE, NOISE[..., 0], NOISE[:3, :2], NOISE[:1, :1]], ids=["rgb", "grey", "3x2", "1x1"]
)
def test_an_interlaced_picture_stays_interlaced(pixels: np.ndarray) -> None:
    _kept_as_it_is(_interlaced(pixels))


def _kept_as_it_is(raw: bytes) -> None:
    picture = sanitised_bytes(raw)
    assert read_png(picture.bytes, where="").data == read_png(raw, where="").data
    np.testing.assert_array_equal(decode_image(picture.bytes), decode_image(raw))


def _interlaced(pixels: np.ndarray) -> bytes:
    rows = b""
    for x, y, dx, dy in (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ):
        rows += b"".join(b"\0" + row.tobytes() for row in pixels[y::dy, x::dx] if row.size)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0 if pixels.ndim == 2 else 2, 0, 0, 1)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_transparent_pixels_are_laid_over_white_as_metrics_see_them() -> None:
    rgba = np.dstack([NOISE, np.full((24, 32), 128, np.uint8)])
    raw = saved(Image.fromarray(rgba))
    picture = sanitised_bytes(raw)
    np.testing.assert_array_equal(shown(picture.bytes), to_uint8(decode_image(raw)))


def test_a_transparent_colour_is_laid_over_white_in_8_and_16_bits() -> None:
    raw = saved(Image.fromarray(NOISE[..., 0]).convert("P"), transparency=3)
    np.testing.assert_array_equal(shown(sanitised_bytes(raw).bytes), to_uint8(decode_image(raw)))
    key = tuple(int(value) * 257 for value in NOISE[3, 3])
    head = struct.pack(">IIBBBBB", 32, 24, 16, 2, 0, 0, 0)
    rows = b"".join(b"\0" + (row.astype(">u2") * 257).tobytes() for row in NOISE)
    deep = SIGNATURE + chunk(b"IHDR", head) + chunk(b"tRNS", struct.pack(">3H", *key))
    deep += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    over = shown(sanitised_bytes(deep).bytes)
    assert tuple(over[3, 3]) == (255, 255, 255)
    np.testing.assert_array_equal(over[0], NOISE[0])


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_picture_comes_out_upright(kind: str, turn: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = turn
    raw = saved(Image.fromarray(NOISE), kind, exif=exif)
    picture = sanitised_bytes(raw)
    np.testing.assert_array_equal(shown(picture.bytes), to_uint8(decode_image(raw)))
    assert (picture.height, picture.width) == shown(picture.bytes).shape[:2]
    assert look(raw)[:2] == (picture.width, picture.height)
    assert names(picture.bytes) == [b"IHDR", b"IDAT", b"IEND"]


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "TIFF", "BMP", "GIF", "PPM", "AVIF", "JPEG2000"])
@pytest.mark.parametrize("grey", [False, True])
def test_other_formats_come_as_png_with_the_pixels_that_metrics_read(kind: str, grey: bool) -> None:
    raw = saved(Image.fromarray(NOISE[..., 0] if grey else NOISE), kind)
    picture = sanitised_bytes(raw)
    assert picture.bytes.startswith(SIGNATURE)
    seen = shown(picture.bytes)
    np.testing.assert_array_equal(np.dstack([seen] * 3) if seen.ndim == 2 else seen, to_uint8(decode_image(raw)))


def test_a_jpeg_keeps_its_colour_profile_and_no_word() -> None:
    exif = Image.Exif()
    exif[0x010E] = PROMPT
    raw = saved(Image.fromarray(NOISE), "JPEG", exif=exif, icc_profile=profile("SECRET-METHOD"), comment=_WORD)
    picture = sanitised_bytes(raw)
    assert names(picture.bytes) == [b"IHDR", b"iCCP", b"IDAT", b"IEND"]
    inside = Image.open(io.BytesIO(picture.bytes)).info["icc_profile"]
    assert inside == colour_only(profile("SECRET-METHOD"), grey=False)
    assert _WORD not in picture.bytes + inside
    assert picture.profile.startswith("ICC 'SECRET-METHOD' ")


def test_sixteen_bits_stay_sixteen_bits_in_png() -> None:
    deep = np.random.default_rng(1).integers(0, 65536, (9, 11), dtype=np.uint16)
    raw = saved(Image.fromarray(deep))
    np.testing.assert_array_equal(decode_image(sanitised_bytes(raw).bytes), decode_image(raw))


def _flipped(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


_BAD_FILTER = zlib.compress(b"".join(b"\x09" + row.tobytes() for row in NOISE))
_HEAD = chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 24, 8, 2, 0, 0, 0))
_END = chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not a picture|empty"),
        (b"hello", "not a picture that can be read"),
        (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "SVG may carry scripts"),
        (png()[:-20], "damaged PNG, it is cut off"),
        (_flipped(png(), 60), "the checksum of its IDAT chunk does not hold"),
        (_flipped(png((b"tEXt", b"a\0b")), 8 + 25 + 9), "the checksum of its tEXt chunk does not hold"),
        (SIGNATURE + _HEAD + _END, "damaged PNG, it has no pixels"),
        (SIGNATURE + _END, "damaged PNG, its header is missing"),
        (png((b"CrIT", b"")), "it needs the unknown chunk CrIT"),
        (png(after=((b"tEXt", b"a\0b"), (b"IDAT", b"")), late=()), "its pixels stand in two places"),
        (png((b"tRNS", b"abc")), "its tRNS chunk is wrong"),
        (SIGNATURE + _HEAD + chunk(b"IDAT", _BAD_FILTER) + _END, "damaged or cut off"),
        (SIGNATURE + _HEAD + chunk(b"IDAT", zlib.compress(b"short")) + _END, "damaged or cut off"),
        (SIGNATURE + _HEAD + chunk(b"IDAT", b"no zlib") + _END, "damaged or cut off"),
        (saved(Image.fromarray(NOISE), "JPEG")[:400], "damaged or cut off"),
        (saved(Image.fromarray(NOISE).convert("CMYK"), "JPEG"), "CMYK has no defined look"),
        (png((b"acTL", struct.pack(">II", 2, 0))), "several frames or pages"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_one_line(raw: bytes, message: str) -> None:
    with pytest.raises(BadImage, match=message) as caught:
        sanitised_bytes(raw, where="folder/a.png")
    assert caught.value.message.startswith("folder/a.png: ")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF"])
def test_animations_and_pages_are_refused(kind: str) -> None:
    frames = [Image.fromarray(NOISE), Image.fromarray(255 - NOISE)]
    with pytest.raises(BadImage, match="several frames or pages"):
        sanitised_bytes(saved(frames[0], kind, save_all=True, append_images=frames[1:]))


def test_too_many_pixels_or_bytes_are_refused_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    with pytest.raises(BadImage, match=r"60000 x 60000 pixels are more than the 64 million"):
        sanitised_bytes(SIGNATURE + head + chunk(b"IDAT", zlib.compress(b"")) + _END)
    monkeypatch.setattr(sanitise, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadImage, match=r"3 MiB is more than the 1 MiB"):
        sanitised_bytes(bytes(3 << 20))


def test_a_compression_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(200 << 20), 9)
    picture = sanitised_bytes(SIGNATURE + _HEAD + chunk(b"IDAT", bomb) + _END)
    assert not shown(picture.bytes).any()
    assert len(picture.bytes) < 1000


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no picture"):
        sanitised(tmp_path / "none.png")


@given(at=st.integers(0, 10_000), value=st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_a_damaged_byte_is_refused_or_harmless(at: int, value: int) -> None:
    raw = bytearray(png((b"tEXt", b"Title\0words"), (b"gAMA", struct.pack(">I", 45455))))
    at %= len(raw)
    raw[at] = value
    try:
        picture = sanitised_bytes(bytes(raw))
    except BadImage:
        return
    np.testing.assert_array_equal(shown(picture.bytes), NOISE)


def test_written_pixels_take_the_colour_of_another_picture() -> None:
    like = sanitised_bytes(png((b"gAMA", _CHUNKS[b"gAMA"]), (b"cHRM", P3_CHRM))).bytes
    made = png_bytes(NOISE, like=like)
    assert names(made)[:3] == [b"IHDR", b"gAMA", b"cHRM"]
    np.testing.assert_array_equal(shown(made), NOISE)
    assert names(png_bytes(NOISE)) == [b"IHDR", b"IDAT", b"IEND"]


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
def test_a_sanitised_picture_decodes_to_colour(mode: str) -> None:
    image = Image.fromarray(NOISE[..., 0].astype(np.uint16) * 257) if mode == "I;16" else Image.fromarray(NOISE)
    raw = saved(image if mode == "I;16" else image.convert("L").convert(mode) if mode == "LA" else image.convert(mode))
    np.testing.assert_array_equal(rgb(sanitised_bytes(raw).bytes), to_uint8(decode_image(raw)))


def test_of_a_phone_picture_with_a_preview_the_first_is_shown() -> None:
    image = Image.fromarray(NOISE)
    raw = saved(image, "MPO", save_all=True, append_images=[Image.fromarray(255 - NOISE)], quality=95)
    np.testing.assert_array_equal(shown(sanitised_bytes(raw).bytes), to_uint8(decode_image(raw)))
