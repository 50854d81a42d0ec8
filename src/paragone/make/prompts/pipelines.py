"""Diffusion pipelines: found without the network, known by the digest of their weights, asked one picture at a time."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadConfig, BadInput, MissingExtra, NotFound
from ...provenance import digest
from .generation import DiffusionModel

__all__ = ["Drawn", "Painter", "folder_digests", "locate", "open_pipeline"]

_INDEX = "model_index.json"
_WEIGHTS = (".safetensors", ".bin", ".ckpt", ".pt", ".pth", ".msgpack", ".onnx")
_SETTINGS = (".json", ".txt", ".model")
_LIBRARIES = ("diffusers", "transformers", "torch")
_WHAT = "generating pictures"


class Drawn(NamedTuple):
    """What a pipeline gave for one prompt and seed."""

    values: NDArray[np.float32]
    """(h, w, 3), sRGB; in [0, 1], or not finite where the model broke down."""
    flagged: bool | None
    """The safety checker blanked the picture; None: there is no checker."""


@dataclass(frozen=True, kw_only=True)
class Painter:
    """A loaded pipeline."""

    draw: Callable[[str, int], Drawn]
    """(prompt, seed) -> picture; a new CPU generator for every picture, batches of one."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Pipeline, scheduler with its settings, effective steps and guidance, device, versions."""
    tokens: Callable[[str], int] | None = None
    """Tokens of a text, start and end among them; None: the pipeline has no tokenizer that counts."""


def locate(model: DiffusionModel, *, beside: Path = Path(), download: bool = False) -> Path:
    """Return the folder of a model.

    Args:
        model: its `path` is a folder, or a hub id.
        beside: where relative folders start.
        download: fetch a hub id that is not in the local cache.

    Raises:
        NotFound: there is no such folder, and the cache does not hold it; nothing is fetched unless asked for.
        MissingExtra: a hub id, and the library that keeps the cache is not installed.
        BadInput: the download failed.
    """
    folder = beside / model.path
    if folder.is_dir():
        if not (folder / _INDEX).is_file():
            raise NotFound(f"'{model.path}' holds no {_INDEX}; give a folder as diffusers saves it", where=model.path)
        return folder
    if model.path.count("/") != 1 or model.path.startswith((".", "/", "~")):
        raise NotFound.path(model.path, "folder of a model")
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError as error:
        raise MissingExtra.library(f"model '{model.path}'", "huggingface_hub", "generate") from error
    found = try_to_load_from_cache(model.path, _INDEX, revision=model.revision or None)
    if isinstance(found, str):
        return Path(found).parent
    if not download:
        raise NotFound(
            f"no folder '{model.path}', nor is that model in the local cache; give a folder, or download = true",
            where=model.path,
        )
    return _fetched(model)


def folder_digests(folder: str | Path) -> dict[str, str]:
    """Return the digests by which a model is known.

    Args:
        folder: as diffusers saves it.

    Returns:
        `digest`: SHA-256 over paths and SHA-256 of all weight files; `settings`: the same over configurations, scheduler
        and tokenizer.

    Raises:
        NotFound: the folder holds no weights.
    """
    folder = Path(folder)
    found = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix())
    weights = [path for path in found if path.suffix in _WEIGHTS]
    if not weights:
        raise NotFound(f"'{folder.name}' holds no weights ({', '.join(_WEIGHTS)})", where=str(folder))
    return {
        "digest": _joint(folder, weights),
        "settings": _joint(folder, [path for path in found if path.suffix in _SETTINGS]),
    }


def open_pipeline(model: DiffusionModel, folder: Path) -> Painter:
    """Load a pipeline; its own scheduler is kept.

    Args:
        model: how it is asked.
        folder: where `locate` found it; nothing else is read.

    Raises:
        MissingExtra: diffusers, transformers or torch is not installed.
        BadInput: the folder cannot be loaded.
        BadConfig: the pipeline does not take a setting that was given, or there is no such device.
    """
    torch, diffusers = _libraries()
    inpainting = model.pipeline == "inpainting"
    kind = diffusers.AutoPipelineForInpainting if inpainting else diffusers.AutoPipelineForText2Image
    off = {} if model.safety else {"safety_checker": None, "requires_safety_checker": False}
    sparing = importlib.util.find_spec("accelerate") is not None  # loads without a second copy of the weights
    try:
        with _without_bars():
            pipeline = kind.from_pretrained(
                str(folder),
                local_files_only=True,
                dtype=getattr(torch, model.dtype),
                low_cpu_mem_usage=sparing,
                **off,
            )
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, ImportError, TypeError) as error:
        raise BadInput(
            f"model '{model.path}' cannot be loaded for {model.pipeline}: {_line(error)}", where=model.path
        ) from error
    _check_channels(model, pipeline)
    try:
        pipeline = pipeline.to(model.device)
    except (RuntimeError, AssertionError) as error:
        raise BadConfig(f"device '{model.device}' cannot be used: {_line(error)}", where="device") from error
    pipeline.set_progress_bar_config(disable=True)
    asked = _asked(model, pipeline)
    scheduler = getattr(pipeline, "scheduler", None)  # pipelines made of several have none of their own
    facts = {
        "pipeline": type(pipeline).__name__,
        "scheduler": None if scheduler is None else type(scheduler).__name__,
        "scheduler_config": None if scheduler is None else _plain(scheduler.config),
        "steps": asked.get("num_inference_steps", _default(pipeline, "num_inference_steps")),
        "guidance": asked.get("guidance_scale", _default(pipeline, "guidance_scale")),
        "negative": model.negative,
        "dtype": model.dtype,
        "device": model.device,
        "threads": torch.get_num_threads(),
        "safety": getattr(pipeline, "safety_checker", None) is not None,
        "versions": {name: metadata.version(name) for name in _LIBRARIES},
    }

    def draw(prompt: str, seed: int) -> Drawn:
        extra = _blank(model, pipeline) if inpainting else {}
        with np.errstate(invalid="ignore"):  # a picture of NaN goes through the safety checker's 8 bits first
            made = pipeline(
                prompt=prompt, generator=torch.Generator("cpu").manual_seed(seed), output_type="np", **asked, **extra
            )
        flags = getattr(made, "nsfw_content_detected", None)
        return Drawn(np.asarray(made.images[0], dtype=np.float32), None if flags is None else bool(flags[0]))

    return Painter(draw=draw, facts=facts, tokens=_counter(pipeline))


@contextmanager
def _without_bars() -> Iterator[None]:
    """No bars of diffusers and transformers on stderr while a model is loaded; afterwards as before."""
    from diffusers.utils import logging as ours
    from transformers.utils import logging as theirs

    parts = [part for part in (ours, theirs) if part.is_progress_bar_enabled()]
    for part in parts:
        part.disable_progress_bar()
    try:
        yield
    finally:
        for part in parts:
            part.enable_progress_bar()


def _fetched(model: DiffusionModel) -> Path:
    _, diffusers = _libraries()
    try:
        return Path(diffusers.DiffusionPipeline.download(model.path, revision=model.revision or None))
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(f"model '{model.path}' cannot be fetched: {_line(error)}", where=model.path) from error


def _libraries() -> tuple[Any, Any]:
    try:
        import diffusers
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra.library(_WHAT, error.name or "diffusers", "generate") from error
    if importlib.util.find_spec("transformers") is None:  # pipelines load their text encoders with it
        raise MissingExtra.library(_WHAT, "transformers", "generate")
    return torch, diffusers


def _asked(model: DiffusionModel, pipeline: Any) -> dict[str, Any]:
    """The settings that were given, under the pipeline's own names."""
    given = {
        "num_inference_steps": model.steps,
        "guidance_scale": model.guidance,
        "negative_prompt": model.negative or None,
        "width": model.width,
        "height": model.height,
    }
    given = {name: value for name, value in given.items() if value is not None}
    known = inspect.signature(type(pipeline).__call__).parameters
    for name in given:
        if name not in known:
            raise BadConfig(f"{type(pipeline).__name__} of '{model.path}' takes no {name}; leave it out", where=name)
    return given


def _check_channels(model: DiffusionModel, pipeline: Any) -> None:
    """An inpainting network reads mask and masked picture beside the latent one, so it cannot draw from text alone."""
    network, decoder = getattr(pipeline, "unet", None), getattr(pipeline, "vae", None)
    if network is None or decoder is None or model.pipeline == "inpainting":
        return
    reads, has = network.config.in_channels, decoder.config.latent_channels
    if reads != has:
        raise BadConfig(
            f"model '{model.path}' reads {reads} channels where text to image has {has}; if it is an inpainting model, "
            "give pipeline = 'inpainting'",
            where="pipeline",
        )


def _default(pipeline: Any, name: str) -> Any:
    known = inspect.signature(type(pipeline).__call__).parameters
    return known[name].default if name in known else None


def _blank(model: DiffusionModel, pipeline: Any) -> dict[str, Any]:
    """A grey picture and a mask over all of it."""
    from PIL import Image

    side = pipeline.unet.config.sample_size * pipeline.vae_scale_factor if hasattr(pipeline, "unet") else 512
    size = (model.width or side, model.height or side)
    return {"image": Image.new("RGB", size, (128, 128, 128)), "mask_image": Image.new("L", size, 255)}


def _counter(pipeline: Any) -> Callable[[str], int] | None:
    tokenizer = getattr(pipeline, "tokenizer", None)
    if tokenizer is None:
        return None

    def count(text: str) -> int:
        return len(tokenizer(text, truncation=False, verbose=False).input_ids)

    return count


def _joint(folder: Path, paths: list[Path]) -> str:
    lines = [f"{path.relative_to(folder).as_posix()}\0{digest(path)}\n" for path in paths]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(dict(config), default=str))
    return made


def _line(error: Exception) -> str:
    """The first line of a message, shortened."""
    text = (str(error) or type(error).__name__).strip().splitlines()[0]
    return text if len(text) <= 160 else f"{text[:157]}..."
