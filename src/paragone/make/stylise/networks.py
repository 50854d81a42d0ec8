"""Run a network that somebody exported as ONNX: 'onnx', and the one place where such files are opened."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadConfig, BadInput, MissingExtra, NotFound, UnknownName
from ...images import Picture, resize
from .styliser import Styliser

__all__ = ["ONNX", "Port", "exported", "open_network", "port_of", "run_network"]

Layout = Literal["auto", "nchw", "nhwc"]
Values = Literal["auto", "0..1", "0..255", "-1..1"]

_SCALES = {"0..1": (1.0, 0.0), "0..255": (255.0, 0.0), "-1..1": (2.0, -1.0)}  # what [0, 1] is multiplied by and moved
_STATED = {"NominalRange_0_255": "0..255", "Normalized_0_1": "0..1", "Normalized_1_1": "-1..1"}
_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}
_MULTIPLE = 16  # pixels; networks that halve up to four times give back the size they got


class Port(NamedTuple):
    """A picture-like input of a network."""

    name: str
    layout: str
    """'nchw' or 'nhwc'."""
    size: tuple[int, int] | None
    """Height and width that it must have; None: any."""
    dtype: type[Any]


def open_network(path: str | Path) -> Any:
    """Open an ONNX file for one thread of the CPU, so that results do not depend on the machine's load; kept open.

    Raises:
        NotFound: no such file.
        BadInput: it is no network that onnxruntime can run.
        MissingExtra: onnxruntime is not installed.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFound.path(path, "network")
    state = path.stat()
    return _opened(str(path.resolve()), state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=4)
def _opened(path: str, changed: int, size: int) -> Any:
    del changed, size  # only part of the key
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except _faults() as error:
        raise BadInput(
            f"{Path(path).name}: not a network that onnxruntime can open: {_short(error)}", where=path
        ) from error


def run_network(session: Any, given: Mapping[str, NDArray[Any]], *, where: str) -> NDArray[Any]:
    """Give the first output of an opened network.

    Args:
        session: what `open_network` gave.
        given: input name -> array.
        where: name of the network, for messages.

    Raises:
        BadInput: the network cannot be run on them.
    """
    try:
        return np.asarray(session.run([session.get_outputs()[0].name], dict(given))[0])
    except _faults() as error:
        raise BadInput(f"network '{where}' does not run: {_short(error)}", where=where) from error


def _runtime() -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise MissingExtra.library("running an exported network", "onnxruntime", "make") from error
    return onnxruntime


def _faults() -> tuple[type[Exception], ...]:
    """onnxruntime's errors, which share no class of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = (
        "EPFail",
        "Fail",
        "InvalidArgument",
        "InvalidGraph",
        "InvalidProtobuf",
        "NotImplemented",
        "RuntimeException",
    )
    return tuple(getattr(state, name) for name in names)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0].rpartition(" : ")[2][:160]


def port_of(entry: Any, layout: Layout, *, where: str) -> Port:
    """Read how an input of a network takes a picture.

    Args:
        entry: an element of `session.get_inputs()`.
        layout: order of its axes; 'auto': by which of them has 3 entries.
        where: name of the network, for messages.

    Raises:
        BadInput: it takes no picture of three channels.
        BadConfig: its axes do not say which are the channels.
    """
    dims = list(entry.shape)
    known = [one if isinstance(one, int) and one > 0 else None for one in dims]
    if len(dims) != 4 or known[0] not in (None, 1) or entry.type not in _TYPES:
        raise BadInput(
            f"network '{where}' wants '{entry.name}', {entry.type} of shape {dims}; only pictures (1, 3, height, width) or "
            "(1, height, width, 3) can be handed in",
            where=where,
        )
    fits = [name for name, axis in (("nchw", 1), ("nhwc", 3)) if known[axis] == 3]
    if layout == "auto" and len(fits) != 1:
        raise BadConfig(
            f"network '{where}': shape {dims} of '{entry.name}' does not say which axis holds the channels; "
            "give the option layout = 'nchw' or 'nhwc'",
            where="layout",
        )
    chosen = fits[0] if layout == "auto" else layout
    if known[1 if chosen == "nchw" else 3] not in (None, 3):
        raise BadInput(f"network '{where}': '{entry.name}' of shape {dims} has no 3 channels as {chosen}", where=where)
    height, width = known[2:] if chosen == "nchw" else known[1:3]
    return Port(entry.name, chosen, (height, width) if height and width else None, _TYPES[entry.type])


def exported(
    content: Picture,
    style: Picture,
    *,
    seed: int = 0,
    network: str = "",
    layout: Layout = "auto",
    values: Values = "auto",
    style_input: str = "",
    size: int = 0,
) -> Picture:
    """Return what an exported network makes of the content, or of content and style.

    A network of a fixed size gets the pictures at that size and its result is brought back to the content's; one of any
    size gets the content mirrored at its borders up to a multiple of 16 pixels, which are cut off again.

    Args:
        content: the content picture.
        style: the style picture; handed in where the network takes two pictures.
        seed: not used.
        network: path of the .onnx file.
        layout: order of its axes; 'auto': read from its inputs.
        values: range of its pixels; 'auto': 0..255 where they are 8-bit integers, or what the file's metadata entry
            Image.NominalPixelRange says; else refused, since nothing else can tell.
        style_input: name of the input that takes the style; '': the one of two whose name contains 'style'.
        size: longest side, in pixels, at which a network of any size runs; 0: the content's own.

    Raises:
        BadConfig: no network is named, or something has to be said that its file does not say.
        NotFound: no such file.
        BadInput: it is no network, or none that takes pictures.
        UnknownName: it has no input of the name `style_input`.
        MissingExtra: onnxruntime is not installed.
    """
    del seed  # nothing here is random
    _ready(network=network)
    where = Path(network).name
    session = open_network(network)
    entries = {entry.name: entry for entry in session.get_inputs()}
    roles = _roles(list(entries), style_input, where)
    ports = {role: port_of(entries[name], layout, where=where) for role, name in roles.items()}
    scale = _scale(session, ports["content"], values, where)
    shown = content
    if ports["content"].size is None and 0 < size < max(content.shape[:2]):
        factor = size / max(content.shape[:2])
        height, width = (max(1, round(side * factor)) for side in content.shape[:2])
        shown = resize(content, height, width, resizer="pil-bicubic")
    given = {"content": _framed(shown, ports["content"])}
    if "style" in ports:
        given["style"] = _framed(style, ports["style"])
    made = run_network(session, {roles[r]: _coded(given[r], ports[r], scale) for r in given}, where=where)
    result = _decoded(made, ports["content"], scale, where)
    result = resize(result, *given["content"].shape[:2], resizer="pil-bicubic")
    if ports["content"].size is None:
        result = np.ascontiguousarray(result[: shown.shape[0], : shown.shape[1]])
    return resize(result, *content.shape[:2], resizer="pil-bicubic")


def _ready(*, network: str = "", **others: object) -> None:
    del others
    if not network:
        raise BadConfig("styliser 'onnx' needs the option network = path of an .onnx file", where="network")
    open_network(network)


def _roles(names: list[str], style_input: str, where: str) -> dict[str, str]:
    """Which input takes the content, and which the style."""
    if style_input and style_input not in names:
        raise UnknownName.among(style_input, names, f"input of network '{where}'")
    if len(names) == 1:
        return {"content": names[0]}
    styles = [style_input] if style_input else [name for name in names if "style" in name.lower()]
    if len(names) != 2 or len(styles) != 1:
        raise BadConfig(
            f"network '{where}' takes {', '.join(names)}; it must take one or two pictures, and the option "
            "style_input = NAME says which of two is the style",
            where="style_input",
        )
    return {"content": next(name for name in names if name != styles[0]), "style": styles[0]}


def _scale(session: Any, port: Port, values: Values, where: str) -> tuple[float, float]:
    stated = session.get_modelmeta().custom_metadata_map
    if not stated.get("Image.BitmapPixelFormat", "Rgb8").lower().startswith("rgb"):
        raise BadInput(f"network '{where}' wants {stated['Image.BitmapPixelFormat']} pixels, not RGB", where=where)
    if port.dtype is np.uint8:
        return _SCALES["0..255"]
    name = _STATED.get(stated.get("Image.NominalPixelRange", ""), "") if values == "auto" else values
    if not name:
        raise BadConfig(
            f"network '{where}' does not say in which range its pixels are; give the option values = '0..1', '0..255' "
            "or '-1..1'",
            where="values",
        )
    return _SCALES[name]


def _framed(image: Picture, port: Port) -> Picture:
    """The picture at the size that the input wants."""
    if port.size is not None:
        return resize(image, *port.size, resizer="pil-bicubic")
    below, right = (-side % _MULTIPLE for side in image.shape[:2])
    return np.pad(image, ((0, below), (0, right), (0, 0)), mode="symmetric")


def _coded(image: Picture, port: Port, scale: tuple[float, float]) -> NDArray[Any]:
    values = image * np.float32(scale[0]) + np.float32(scale[1])
    if port.dtype is np.uint8:
        values = np.floor(values + 0.5)
    batch = values[None] if port.layout == "nhwc" else values.transpose(2, 0, 1)[None]
    return np.ascontiguousarray(batch, dtype=port.dtype)


def _decoded(made: NDArray[Any], port: Port, scale: tuple[float, float], where: str) -> Picture:
    axis = 1 if port.layout == "nchw" else 3
    if made.ndim != 4 or made.shape[0] != 1 or made.shape[axis] != 3:
        raise BadInput(f"network '{where}' gives {list(made.shape)}, which is no {port.layout} picture", where=where)
    image = made[0].transpose(1, 2, 0) if port.layout == "nchw" else made[0]
    coded = (255.0, 0.0) if made.dtype == np.uint8 else scale
    values = (image.astype(np.float32) - np.float32(coded[1])) / np.float32(coded[0])
    if not np.isfinite(values).all():
        raise BadInput(f"network '{where}' gives values that are no numbers", where=where)
    clipped: Picture = np.clip(values, 0.0, 1.0).astype(np.float32, order="C")
    return clipped


ONNX = Styliser(
    name="onnx",
    run=exported,
    summary="whatever the exported network does that the option 'network' names",
    source="ONNX: Open Neural Network Exchange, version 1, 2017; the network is the user's",
    strategy="a network given as a file; the style picture is handed in where it takes two pictures",
    extra="make",
    exact=False,
    ready=_ready,
    files=("network",),
)
