"""References made ready: whatever can be read becomes an upright 8-bit RGB PNG, the rest is refused in one line."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from make_world import drawn, world
from paragone.errors import BadConfig, BadInput, NotFound, TooFew, UnknownName
from paragone.images import read_image, to_uint8, write_image
from paragone.make.making import read_making
from paragone.make.references.prepared import prepare, reference_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return world(tmp_path / "bench")


def _with(folder: Path, **style: object) -> None:
    lines = "".join(f"{key} = {value}\n" for key, value in style.items())
    text = (folder / "make.toml").read_text().replace('"in/styles"\n', f'"in/styles"\n{lines}')
    (folder / "make.toml").write_text(text, encoding="utf-8")


def _gigapixel(path: Path) -> None:
    """A PNG whose header says 40,000 x 40,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def test_every_kind_of_picture_is_prepared_as_8_bit_rgb(folder: Path) -> None:
    styles = folder / "in" / "styles"
    rgb = Image.fromarray(to_uint8(drawn(5)))
    rgb.convert("CMYK").save(styles / "cmyk.jpg", quality=95)
    rgb.convert("P").save(styles / "palette.gif")
    alpha = rgb.convert("RGBA")
    alpha.putalpha(0)
    alpha.save(styles / "clear.png")
    Image.fromarray((drawn(6)[..., 0] * 65535).astype(np.uint16)).save(styles / "wide.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    rgb.save(styles / "turned.jpg", exif=turned, quality=95)
    rgb.save(styles / "moving.webp", save_all=True, append_images=[Image.new("RGB", rgb.size)], duration=100)
    rgb.save(styles / "浮世絵.png")
    ready = prepare(read_making(folder / "make.toml"), folder)
    found = {one.level: one.path for one in ready["style"]}
    assert {"cmyk", "palette", "clear", "wide", "turned", "moving", "浮世絵"} < set(found)
    for path in found.values():
        with Image.open(path) as image:
            assert (image.format, image.mode) == ("PNG", "RGB")
    assert read_image(found["turned"]).shape == (40, 32, 3)
    assert read_image(found["clear"]).min() == 1.0, "what is transparent is shown on white"
    assert np.abs(read_image(found["moving"]) - drawn(5)).mean() < 0.1, "the first frame counts"


def test_large_references_become_smaller_and_small_ones_stay(folder: Path) -> None:
    write_image(drawn(7, 90, 120), folder / "in" / "styles" / "large.png")
    _with(folder, longest=60)
    ready = {one.level: one for one in prepare(read_making(folder / "make.toml"), folder)["style"]}
    assert read_image(ready["large"].path).shape == (45, 60, 3)
    assert read_image(ready["s1"].path).shape == (32, 40, 3)


def test_references_are_kept_until_their_file_changes(folder: Path) -> None:
    making = read_making(folder / "make.toml")
    first = prepare(making, folder)["style"][0].path
    stamp = first.stat().st_mtime_ns
    assert prepare(making, folder)["style"][0].path.stat().st_mtime_ns == stamp
    write_image(drawn(99), folder / "in" / "styles" / "s1.png")
    prepare(making, folder)
    assert np.abs(read_image(first) - drawn(99)).max() < 0.01


def test_all_faults_of_pictures_stand_in_one_line(folder: Path) -> None:
    styles = folder / "in" / "styles"
    (styles / "empty.png").write_bytes(b"")
    (styles / "cut.png").write_bytes((styles / "s1.png").read_bytes()[:200])
    _gigapixel(styles / "huge.png")
    write_image(drawn(8, 8, 60), styles / "thin.png")
    with pytest.raises(BadInput, match=r"4 references cannot be used: .*damaged or cut off.*and 1 more"):
        prepare(read_making(folder / "make.toml"), folder)
    assert not (folder / "references" / "prepared.toml").exists()


@pytest.mark.parametrize(
    ("other", "message"),
    [("s1.jpg", "'s1.jpg' and 's1.png' in .* would both be style 's1'"), ("S1.png", "would both be style 's1'")],
)
def test_two_pictures_of_one_name_are_refused(folder: Path, other: str, message: str) -> None:
    write_image(drawn(9), folder / "in" / "styles" / other)
    with pytest.raises(BadInput, match=message):
        prepare(read_making(folder / "make.toml"), folder)


def test_a_name_too_long_for_a_file_is_refused(folder: Path) -> None:
    write_image(drawn(9), folder / "in" / "styles" / f"{'x' * 90}.png")
    with pytest.raises(BadInput, match="name of more than 80 bytes"):
        prepare(read_making(folder / "make.toml"), folder)


def test_listed_levels_come_in_their_order_and_must_be_there(folder: Path) -> None:
    _with(folder, levels='["s2", "s1"]')
    assert [one.level for one in prepare(read_making(folder / "make.toml"), folder)["style"]] == ["s2", "s1"]
    _with(folder, levels='["s2", "s9"]')
    (folder / "make.toml").write_text((folder / "make.toml").read_text().replace('levels = ["s2", "s1"]\n', ""))
    with pytest.raises(UnknownName, match=r"no style picture in .* 's9'"):
        prepare(read_making(folder / "make.toml"), folder)


def test_a_folder_without_pictures_or_no_folder_is_told(folder: Path) -> None:
    for path in (folder / "in" / "styles").iterdir():
        path.unlink()
    with pytest.raises(TooFew, match="no picture in"):
        prepare(read_making(folder / "make.toml"), folder)
    (folder / "in" / "styles").rmdir()
    with pytest.raises(NotFound, match="no folder of reference pictures 'in/styles'"):
        prepare(read_making(folder / "make.toml"), folder)


def test_drawn_samples_join_the_folder(folder: Path) -> None:
    _with(folder, samples='["mondrian"]', longest=64)
    making = read_making(folder / "make.toml")
    assert reference_files("style", making.reference["style"], folder)["mondrian"] is None
    ready = {one.level: one.path for one in prepare(making, folder)["style"]}
    assert max(read_image(ready["mondrian"]).shape) == 64
    _with(folder, samples='["mondrain"]')
    (folder / "make.toml").write_text(
        (folder / "make.toml").read_text().replace('samples = ["mondrian"]\nlongest = 64\n', "")
    )
    with pytest.raises(UnknownName, match="did you mean 'mondrian'"):
        prepare(read_making(folder / "make.toml"), folder)


def test_originals_are_never_written_over(folder: Path) -> None:
    (folder / "in" / "styles").rename(folder / "references_of_mine")
    (folder / "references").mkdir()
    (folder / "references_of_mine").rename(folder / "references" / "style")
    text = (folder / "make.toml").read_text().replace('"in/styles"', '"references/style"')
    (folder / "make.toml").write_text(text)
    before = (folder / "references" / "style" / "s1.png").read_bytes()
    with pytest.raises(BadConfig, match="lies in references/, where the prepared pictures go"):
        prepare(read_making(folder / "make.toml"), folder)
    assert (folder / "references" / "style" / "s1.png").read_bytes() == before


def test_one_picture_under_two_names_is_refused(folder: Path) -> None:
    write_image(drawn(61), folder / "in" / "styles" / "s1.png")
    write_image(drawn(61), folder / "in" / "styles" / "copy of s1.png")
    with pytest.raises(BadInput, match="style 'copy of s1' and 's1' are the same picture; keep one"):
        prepare(read_making(folder / "make.toml"), folder)
