"""A real browser shows a sanitised picture exactly as it shows the original, colour management and all."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from installed import lacking
from paragone.study.pictures.png import packed, read_png
from paragone.study.pictures.sanitise import sanitised_bytes

pytestmark = pytest.mark.browser

_RAMP = np.add.outer(np.arange(24) * 9, np.arange(32) * 7).astype(np.uint8)
COLOUR = np.stack([_RAMP, _RAMP[::-1], _RAMP[:, ::-1]], axis=-1)
SCRIPT = """<script>
const pixels = image => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return [canvas.width, canvas.height, ...context.getImageData(0, 0, canvas.width, canvas.height).data];
};
addEventListener("load", () => {
  const told = {};
  for (const pair of document.querySelectorAll("p")) {
    const [a, b] = [...pair.children].map(pixels);
    told[pair.title] = a.length !== b.length ? 999 : Math.max(...a.map((value, i) => Math.abs(value - b[i])));
  }
  document.body.dataset.told = JSON.stringify(told);
});
</script>"""


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    memory = io.BytesIO()
    image.save(memory, format=kind, **options)
    return memory.getvalue()


def _coded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def swapped() -> bytes:
    """An ICC profile whose red and blue primaries have changed places: nobody can miss whether it is used."""
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    head, rest = srgb[:128], srgb[128:]
    return head + rest.replace(b"rXYZ", b"????", 1).replace(b"bXYZ", b"rXYZ", 1).replace(b"????", b"bXYZ", 1)


def tagged(*chunks: tuple[bytes, bytes], words: bool = True) -> bytes:
    """COLOUR as PNG with colour chunks and some words."""
    plain = read_png(saved(Image.fromarray(COLOUR)), where="")
    extra = ((b"tEXt", b"parameters\0a prompt"),) if words else ()
    return packed(plain, colour=(*chunks, *extra))


GAMMA = (b"gAMA", struct.pack(">I", 60000))
WIDE = (b"cHRM", struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000))
ICC = (b"iCCP", b"Secret\0\0" + zlib.compress(swapped()))
P3 = (b"cICP", bytes((12, 13, 0, 1)))
ORIGINALS = {
    "plain": tagged(),
    "srgb": tagged((b"sRGB", b"\0"), GAMMA),
    "gamma": tagged(GAMMA),
    "gamma and primaries": tagged(GAMMA, WIDE),
    "profile": tagged(ICC, GAMMA),
    "code points": tagged(P3),
    "sixteen bits": saved(Image.fromarray(_RAMP.astype(np.uint16) * 251)),
    "palette": saved(Image.fromarray(COLOUR).quantize(40)),
    "significant bits": tagged(
        (b"sBIT", b"\4\4\4"), (b"bKGD", b"\0\1\0\2\0\3"), (b"pHYs", struct.pack(">IIB", 9, 3, 1))
    ),
    "profile turned": saved(
        Image.fromarray(COLOUR),
        exif=b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0",
        icc_profile=swapped(),
    ),
}
USED = ("gamma", "gamma and primaries", "profile", "code points")
JPEGS = {
    "jpeg": saved(Image.fromarray(COLOUR), "JPEG", quality=95, subsampling=0),
    "jpeg with profile": saved(Image.fromarray(COLOUR), "JPEG", quality=95, subsampling=0, icc_profile=swapped()),
}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Largest difference, in 8-bit steps, between what the browser shows of each original and of its sanitised form."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        lacking("no Chromium on this machine")
    png = "image/png"
    pairs = [(name, (png, raw), (png, sanitised_bytes(raw).bytes)) for name, raw in ORIGINALS.items()]
    pairs += [(name, ("image/jpeg", raw), (png, sanitised_bytes(raw).bytes)) for name, raw in JPEGS.items()]
    # the same pixels with and without each kind of colour information: must differ, else the rest shows nothing
    pairs += [(f"without {name}", (png, ORIGINALS[name]), (png, ORIGINALS["plain"])) for name in USED]
    folder = tmp_path_factory.mktemp("browser")
    shown = [
        f'<p title="{name}">' + "".join(f'<img src="data:{kind};base64,{_coded(raw)}">' for kind, raw in two) + "</p>"
        for name, *two in pairs
    ]
    page = folder / "page.html"
    page.write_text(f"<!doctype html><title>pairs</title><body>{''.join(shown)}{SCRIPT}", encoding="utf-8")
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-gpu")
    command = [chromium, "--headless", "--no-sandbox", f"--user-data-dir={folder / 'profile'}"]
    command += [*(f"--{flag}" for flag in quiet), "--virtual-time-budget=5000", "--dump-dom", page.as_uri()]
    seen = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    told = re.search(r'data-told="([^"]*)"', seen)
    assert told, seen[-500:]
    return dict(json.loads(told[1].replace("&quot;", '"')))


def test_colour_information_is_used_by_this_browser(apart: dict[str, int]) -> None:
    for name in USED:
        assert apart[f"without {name}"] > 10, name


@pytest.mark.parametrize("name", list(ORIGINALS))
def test_a_sanitised_png_is_shown_as_the_original(apart: dict[str, int], name: str) -> None:
    assert apart[name] == 0


@pytest.mark.parametrize("name", list(JPEGS))
def test_a_jpeg_is_shown_as_the_original_but_for_rounding(apart: dict[str, int], name: str) -> None:
    assert apart[name] <= 3
