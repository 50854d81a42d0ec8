"""Pictures are prepared once, kept within bounds, and never swapped under a running study."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from paragone.errors import BadImage, BadTable, NotFound
from paragone.study.pictures.cache import PictureCache, digest_table, profile_warnings, profiles
from paragone.study.pictures.sanitise import sanitised


@pytest.fixture
def picture(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, *, width: int = 20, height: int = 10, gamma: bool = False, **options: object) -> Path:
        path = tmp_path / name
        pixels = np.random.default_rng(len(name)).integers(0, 256, (height, width, 3), dtype=np.uint8)
        info = PngImagePlugin.PngInfo()
        info.add_text("parameters", "a prompt")
        if gamma:
            info.add(b"gAMA", (45455).to_bytes(4, "big"))
        given = {"pnginfo": info} if name.endswith(".png") else {}
        Image.fromarray(pixels).save(path, **given, **options)
        return path

    return make


def test_the_table_has_digest_and_size_of_every_file(picture: Callable[..., Path]) -> None:
    one, two = picture("a.png"), picture("b.jpg", width=7)
    table = digest_table([one, two, one])
    assert list(table) == [one, two]
    sha, width, height = table[two]
    assert (sha, width, height) == (hashlib.sha256(two.read_bytes()).hexdigest(), 7, 10)
    assert table == digest_table([one, two], decode=True)
    made = sanitised(two)
    assert table[two] == (made.sha256, made.width, made.height)


def test_keys_are_the_paths_as_they_were_given(picture: Callable[..., Path], tmp_path: Path) -> None:
    picture("a.png")
    assert list(digest_table(["a.png"], folder=tmp_path)) == ["a.png"]


def test_all_faults_are_told_at_once(picture: Callable[..., Path], tmp_path: Path) -> None:
    good = picture("a.png")
    cut = picture("cut.png")
    cut.write_bytes(cut.read_bytes()[:-30])
    drawing = tmp_path / "b.svg"
    drawing.write_text("<svg/>")
    with pytest.raises(BadTable, match=r"pictures: .*cut off.*; .*SVG.*; no picture '.*none.png'") as caught:
        digest_table([good, cut, drawing, tmp_path / "none.png"])
    assert len(caught.value.faults) == 3


def test_decoding_finds_damage_inside_the_pixels(picture: Callable[..., Path]) -> None:
    path = picture("a.jpg", width=200, height=200)
    path.write_bytes(path.read_bytes()[:3000])
    assert digest_table([path])[path].width == 200
    with pytest.raises(BadTable, match="damaged or cut off"):
        digest_table([path], decode=True)


def test_a_picture_comes_from_memory_the_second_time(picture: Callable[..., Path]) -> None:
    path = picture("a.png")
    cache, digest = PictureCache(), digest_table([path])[path]
    first = cache.picture(path, digest.sha256)
    assert first == sanitised(path).bytes
    path.unlink()
    assert cache.picture(path, digest.sha256) is first
    with pytest.raises(NotFound, match="no picture"):
        PictureCache().picture(path, digest.sha256)


def test_a_file_that_changed_is_refused(picture: Callable[..., Path]) -> None:
    path = picture("a.png")
    sha = digest_table([path])[path].sha256
    picture("a.png", width=21)
    with pytest.raises(BadImage, match="changed since the study was frozen"):
        PictureCache().picture(path, sha)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 12)), max_size=40))
def test_the_cache_never_holds_more_than_it_may_and_drops_the_oldest(calls: list[tuple[str, int]]) -> None:
    cache = PictureCache(max_bytes=30)
    model: dict[str, bytes] = {}
    for name, size in calls:
        key = f"{name}{size}"
        made = cache.made(key, lambda size=size: bytes(size))
        assert made == bytes(size)
        model.pop(key, None)
        model[key] = made
        while sum(map(len, model.values())) > 30:
            model.pop(next(iter(model)))
        assert cache.size == sum(map(len, model.values())) <= 30


def test_what_is_larger_than_the_cache_is_made_and_not_kept() -> None:
    cache = PictureCache(max_bytes=4)
    assert cache.made("a", lambda: b"123") == b"123"
    assert cache.made("b", lambda: b"12345") == b"12345"
    assert cache.size == 3


def test_a_failure_is_passed_on_and_not_kept() -> None:
    cache = PictureCache()

    def broken() -> bytes:
        raise BadImage("no")

    with pytest.raises(BadImage, match="no"):
        cache.made("a", broken)
    assert cache.made("a", lambda: b"yes") == b"yes"


def test_many_threads_make_a_picture_once() -> None:
    cache, start = PictureCache(), threading.Barrier(8)
    made: list[int] = []
    given: list[bytes] = []

    def make() -> bytes:
        made.append(1)
        return b"x" * 1000

    def ask() -> None:
        start.wait()
        given.extend(cache.made("a", make) for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert given == [b"x" * 1000] * 400
    assert cache.size == 1000


def test_pictures_of_one_profile_need_no_warning(picture: Callable[..., Path]) -> None:
    assert profiles([picture("a.png"), picture("b.jpg")]) == []


def test_a_gamma_without_srgb_and_mixed_profiles_are_warned_of(picture: Callable[..., Path]) -> None:
    mixed, gamma = profiles([picture("a.png"), picture("b.png"), picture("c.png", gamma=True)])
    assert mixed.startswith("pictures have 2 different colour profiles (2 sRGB, 1 gAMA 0.45455);")
    assert gamma.startswith("1 of 3 pictures, for example '")
    assert "c.png', have a gAMA or cHRM chunk and no sRGB one;" in gamma


def test_each_kind_of_colour_is_counted_and_srgb_is_the_same_as_none() -> None:
    assert profile_warnings({"a": "untagged", "b": "sRGB"}) == []
    assert profile_warnings({}) == []
    said = {f"{n}.png": f"ICC 'Camera {n}' 0000000{n}" for n in range(8)}
    (line,) = profile_warnings(said)
    assert line.startswith("pictures have 8 different colour profiles (1 ICC 'Camera 0' 00000000, ")
    assert ", and 2 more kinds); browsers show each in its own way" in line
    assert profile_warnings({"a": "cICP 9/16/0/1"})[-1].startswith(
        "1 of 1 pictures, for example 'a', have a cICP chunk"
    )
