"""Exported networks of every layout and range are run as they want, and refused in one line where nothing can tell."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from installed import needed
from paragone.errors import BadConfig, BadInput, NotFound, UnknownName
from paragone.make.stylise import stylise
from paragone.make.stylise.networks import ONNX, open_network
from tiny_onnx import Values, node, write_onnx

needed("onnxruntime")
Make = Callable[..., NDArray[np.float32]]
NCHW, NHWC = (1, 3, "h", "w"), (1, "h", "w", 3)


@pytest.fixture
def negative(tmp_path: Path) -> Callable[..., str]:
    """A network that gives `white` minus its input: 1 - x in [0, 1], whatever the range it works in."""

    def make(shape: Values = NCHW, *, white: float = 1.0, **more: Any) -> str:
        nodes = [node("Sub", ["white", "image"], "made")]
        return str(write_onnx(tmp_path / "n.onnx", nodes, {"image": shape}, shape, constants={"white": white}, **more))

    return make


@pytest.mark.parametrize("shape", [NCHW, NHWC, ("n", 3, "h", "w")])
@pytest.mark.parametrize(("values", "white"), [("0..1", 1.0), ("0..255", 255.0), ("-1..1", 0.0)])
def test_layout_is_read_from_the_input_and_the_range_is_kept(
    shape: Values, values: str, white: float, negative: Callable[..., str], picture: Make
) -> None:
    content = picture(37, 50)
    made = stylise(content, picture(), ONNX, options={"network": negative(shape, white=white), "values": values})
    assert np.abs(made - (1.0 - content)).max() < 1e-5


def test_a_range_that_the_file_states_needs_no_option(negative: Callable[..., str], picture: Make) -> None:
    stated = negative(white=255.0, says={"Image.NominalPixelRange": "NominalRange_0_255"})
    assert np.abs(stylise(picture(), picture(), ONNX, options={"network": stated}) - (1.0 - picture())).max() < 1e-5


def test_a_range_that_nothing_states_is_not_guessed(negative: Callable[..., str], picture: Make) -> None:
    with pytest.raises(
        BadConfig, match=r"network 'n.onnx' does not say in which range its pixels are; give the option"
    ):
        stylise(picture(), picture(), ONNX, options={"network": negative()})
    bgr = negative(says={"Image.BitmapPixelFormat": "Bgr8"})
    with pytest.raises(BadInput, match=r"network 'n.onnx' wants Bgr8 pixels, not RGB"):
        stylise(picture(), picture(), ONNX, options={"network": bgr, "values": "0..1"})


def test_eight_bit_inputs_are_whole_numbers_up_to_255(tmp_path: Path, picture: Make) -> None:
    path = write_onnx(tmp_path / "u.onnx", [node("Identity", ["x"], "made")], {"x": NHWC}, NHWC, kind="uint8")
    made = stylise(picture(), picture(), ONNX, options={"network": str(path)})
    assert np.array_equal(made, np.floor(picture() * 255 + 0.5).astype(np.float32) / 255)


def test_a_network_of_a_fixed_size_gives_back_the_size_of_the_content(
    negative: Callable[..., str], picture: Make
) -> None:
    flat = np.full((40, 70, 3), 0.3, dtype=np.float32)
    made = stylise(flat, picture(), ONNX, options={"network": negative((1, 3, 24, 32)), "values": "0..1"})
    assert made.shape == flat.shape
    assert np.abs(made - 0.7).max() < 1e-5


def test_a_network_of_any_size_can_be_run_smaller(negative: Callable[..., str], picture: Make) -> None:
    content = picture(60, 90)
    options = {"network": negative(), "values": "0..1"}
    small = stylise(content, picture(), ONNX, options={**options, "size": 30})
    assert small.shape == content.shape
    fine = [np.abs(np.diff(one, axis=1)).mean() for one in (small, stylise(content, picture(), ONNX, options=options))]
    assert fine[0] < 0.6 * fine[1]  # the noise of the content is gone


def test_content_and_style_go_where_their_names_say(tmp_path: Path, picture: Make) -> None:
    fixed = (1, 3, 32, 32)
    nodes = [node("Sub", ["content", "the_style"], "gap"), node("Mul", ["gap", "half"], "part")]
    nodes.append(node("Add", ["the_style", "part"], "made"))
    inputs = {"the_style": fixed, "content": fixed}
    path = write_onnx(tmp_path / "two.onnx", nodes, inputs, fixed, constants={"half": 0.25})
    black, grey = np.zeros((32, 32, 3), dtype=np.float32), np.full((48, 40, 3), 0.8, dtype=np.float32)
    options = {"network": str(path), "values": "0..1"}
    assert stylise(black, grey, ONNX, options=options)[0, 0] == pytest.approx([0.6] * 3, abs=1e-5)
    turned = stylise(black, grey, ONNX, options={**options, "style_input": "content"})
    assert turned[0, 0] == pytest.approx([0.2] * 3, abs=1e-5)
    with pytest.raises(UnknownName, match=r"no input of network 'two.onnx' 'stile'"):
        stylise(black, grey, ONNX, options={**options, "style_input": "stile"})


def test_inputs_that_are_no_pictures_or_not_told_apart_are_refused(tmp_path: Path, picture: Make) -> None:
    nodes = [node("Add", ["a", "b"], "made")]
    both = write_onnx(tmp_path / "both.onnx", nodes, {"a": NCHW, "b": NCHW}, NCHW)
    with pytest.raises(BadConfig, match=r"network 'both.onnx' takes a, b; it must take one or two pictures"):
        stylise(picture(), picture(), ONNX, options={"network": str(both), "values": "0..1"})
    rows = write_onnx(tmp_path / "rows.onnx", [node("Identity", ["x"], "made")], {"x": (1, 26)}, (1, 26))
    with pytest.raises(BadInput, match=r"wants 'x', tensor\(float\) of shape \[1, 26\]; only pictures"):
        stylise(picture(), picture(), ONNX, options={"network": str(rows), "values": "0..1"})
    free = write_onnx(tmp_path / "free.onnx", [node("Identity", ["x"], "made")], {"x": (1, 3, "h", 3)}, (1, 3, "h", 3))
    with pytest.raises(BadConfig, match=r"does not say which axis holds the channels; give the option layout"):
        stylise(picture(), picture(), ONNX, options={"network": str(free), "values": "0..1"})


def test_an_output_that_is_no_picture_is_refused(tmp_path: Path, picture: Make) -> None:
    flat = write_onnx(tmp_path / "flat.onnx", [node("Flatten", ["x"], "made", axis=1)], {"x": NCHW}, (1, "n"))
    with pytest.raises(BadInput, match=r"network 'flat.onnx' gives \[1, 9216\], which is no nchw picture"):
        stylise(picture(48, 64), picture(), ONNX, options={"network": str(flat), "values": "0..1"})


def test_files_that_are_no_networks_are_refused_in_one_line(tmp_path: Path, picture: Make) -> None:
    with pytest.raises(BadConfig, match=r"styliser 'onnx' needs the option network = path of an .onnx file"):
        stylise(picture(), picture(), ONNX)
    with pytest.raises(NotFound, match="no network"):
        stylise(picture(), picture(), ONNX, options={"network": str(tmp_path / "none.onnx")})
    for number, content in enumerate((b"", b"nothing of the kind", os.urandom(200))):
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(content)
        with pytest.raises(BadInput, match="not a network that onnxruntime can open") as caught:
            open_network(path)
        assert "\n" not in caught.value.message


def test_a_file_that_changed_is_opened_anew(negative: Callable[..., str], picture: Make) -> None:
    options = {"network": negative(), "values": "0..1"}
    first = stylise(picture(), picture(), ONNX, options=options)
    negative(white=0.5, says={"changed": "yes"})
    assert np.abs(stylise(picture(), picture(), ONNX, options=options) - first).max() > 0.4
