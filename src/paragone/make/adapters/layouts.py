"""The folder layouts in which published programs leave their results, each under a name.

A layout says how a result's path is written, which other files of the folder belong to it without being results, and
where to look when the name alone does not say which cell it is. Patterns are read by known ids (see `names`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

__all__ = ["LAYOUTS", "Layout", "Telling"]

Telling = Callable[[Path, PurePosixPath], Mapping[str, tuple[str, ...]]]
"""tells(root, path of the picture below it) -> factor -> texts that name its level; factor '' for whichever it fits."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One way of naming results."""

    name: str
    patterns: tuple[str, ...]
    """How the end of a result's path reads, without its ending."""
    summary: str
    """What the files are called, in one line."""
    source: str
    """The repository, and the file of it that writes the names."""
    loose: tuple[str, ...] = ()
    """Patterns that are tried where none of the others reads a file; they leave factors open."""
    anchored: bool = False
    """The pattern is the whole path below root, not its end."""
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Factor -> (part of the path, what stands in its place): where a copy of that reference lies, whose pixels tell
    which one it is."""
    tells: Telling | None = None
    """Reads a file beside the picture that names the references."""
    told: tuple[str, ...] = ()
    """Factors that such a file can name; '*' for any."""
    skip: str = ""
    """Regular expression of paths, without ending, that belong to the layout and are no results."""
    part: Literal["whole", "right_third"] = "whole"
    """Which part of the picture is the result."""
    cut_at_dots: bool = False
    """Names are cut at their first dot."""
    keeps_endings: bool = False
    """Names keep the ending of the reference's file."""
    padded: bool = False
    """Numbers have zeros before them."""
    own: bool = False
    """A user's own pattern: a slip in it is told, where a layout's pattern that does not fit is left out."""


def _json(path: Path) -> Any:
    """What a JSON file holds; None where it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None


def _beside_uso(root: Path, picture: PurePosixPath) -> dict[str, tuple[str, ...]]:
    """Content and style out of the `image_paths` of the settings that USO saves beside each picture."""
    held = _json(root / picture.with_suffix(".json"))
    paths = held.get("image_paths") if isinstance(held, dict) else None
    if not isinstance(paths, list) or len(paths) != 2:
        return {}
    return {factor: (str(path),) for factor, path in zip(("content", "style"), paths, strict=True) if path}


def _beside_imagenhub(root: Path, picture: PurePosixPath) -> dict[str, tuple[str, ...]]:
    """What `dataset_lookup.json`, in the folder or one above, says about a picture's name."""
    name = picture.name.rpartition("\\")[2]
    for folder in (root.parent, *(root / parent for parent in picture.parents)):
        held = _json(folder / "dataset_lookup.json")
        entry = held.get(name) if isinstance(held, dict) else None
        if isinstance(entry, dict):
            said = {str(key): (str(value),) for key, value in entry.items()}
            return {**said, "": (*(text for texts in said.values() for text in texts), name.removeprefix("sample_"))}
    return {}


def _beside_geneval(root: Path, picture: PurePosixPath) -> dict[str, tuple[str, ...]]:
    """The prompt out of the `metadata.jsonl` beside the folder of samples."""
    held = _json(root / picture.parent.parent / "metadata.jsonl")
    prompt = held.get("prompt") if isinstance(held, dict) else None
    return {"prompt": (str(prompt),)} if prompt else {}


_PAIRS = ("{content}{sep}{style}{tail}", "{style}{sep}{content}{tail}")


def _in(folder: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{pattern}" for pattern in _PAIRS)


_TABLE = (
    Layout(
        name="content_stylized_style",
        patterns=("{content}_stylized_{style}",),
        summary="`cat_stylized_great_wave.jpg`: AdaIN, SANet, StyTr2, StyleID; ids may be cut at their first dot",
        source="naoto0804/pytorch-AdaIN test.py; GlebSBrykin/SANET Eval.py; diyiiyiii/StyTR-2 test.py; "
        "jiwoogit/StyleID run_styleid.py",
        cut_at_dots=True,
    ),
    Layout(
        name="adaattn",
        patterns=("{style}_{content}_cs",),
        summary="`great_wave_cat_cs.png`, style first; the `_c` and `_s` beside it are the inputs",
        source="Huage001/AdaAttN data/unaligned_dataset.py, util/visualizer.py",
        skip=r".*_[cs]",
    ),
    Layout(
        name="cast",
        patterns=("{content}_fake_B", "fake_B/{content}"),
        summary="`cat_fake_B.png`; the style is found by comparing `cat_real_B.png` to the style pictures",
        source="zyxElsa/CAST_pytorch util/visualizer.py",
        beside={"style": ("fake_B", "real_B")},
        skip=r".*_(?:real_[AB]|fake_A|rec_[AB]|idt_[AB])|(?:.*/)?(?:real_[AB]|fake_A|rec_[AB]|idt_[AB])/[^/]*",
    ),
    Layout(
        name="omnistyle",
        patterns=("{content}@{style}",),
        summary="`cat@great_wave.jpg`: content, style and result side by side; the right third is taken",
        source="StyleX-Research/OmniStyle inference_img_guided.py",
        part="right_third",
        keeps_endings=True,
    ),
    Layout(
        name="wct",
        patterns=_in("samples"),
        loose=("samples/*",),
        summary="`content/x.jpg`, `style/x.jpg`, `samples/x.jpg`: equal names; x names both, or their pixels tell",
        source="sunshineatnoon/PytorchWCT Loader.py, WCT.py",
        beside={"content": ("samples/", "content/"), "style": ("samples/", "style/")},
        skip=r"(?:.*/)?(?:content|style)/[^/]*",
    ),
    Layout(
        name="content_id_style_size",
        patterns=("content_{content}___style_{style}___{n}", "content_{content}___style_{style}___{size}"),
        summary="`content_1___style_12___512.jpg`: ids and a size; two sizes of one cell are a duplicate",
        source="victorkitov/style-transfer-dataset README",
        padded=True,
    ),
    Layout(
        name="inst",
        patterns=("{content}-{style}-{n}", "{style}/{content}-*-{n}"),
        loose=("{content}-*-{n}",),
        summary="`cat-great_wave-0003.png` (content, prompt, number), or in a folder named by the style; else say "
        "`fixed.style`",
        source="zyxElsa/InST InST.ipynb",
    ),
    Layout(
        name="uso",
        patterns=("*",),
        summary="`{save_dir}_0.png` with `{save_dir}_0.json` beside it, whose `image_paths` name content and style",
        source="bytedance/USO inference.py",
        tells=_beside_uso,
        told=("content", "style"),
    ),
    Layout(
        name="imagenhub",
        patterns=(
            "sample_{prompt}",
            "{method}/sample_{prompt}",
            "*/{method}/sample_{prompt}",
            *(f"{folder}sample_{pair}" for folder in ("", "{method}/", "*/{method}/") for pair in _PAIRS),
        ),
        loose=("sample_*", "{method}/sample_*", "*/{method}/sample_*"),
        summary="`{experiment}/{Model}/sample_{id}.jpg`: the folder is the method; `dataset_lookup.json` explains ids",
        source="TIGER-AI-Lab/ImagenHub src/imagen_hub/benchmark, loader/benchmark_loader.py",
        anchored=True,
        tells=_beside_imagenhub,
        told=("*",),
        skip=r"(?:.*/)?input/[^/]*",
    ),
    Layout(
        name="paired_folders",
        patterns=_in("stylized"),
        loose=("stylized/*",),
        summary="flat folders `content`, `style`, `stylized` with equal stems (never paired by their order)",
        source="matthias-wright/art-fid README; jiwoogit/StyleID util/copy_inputs.py",
        beside={"content": ("stylized/", "content/"), "style": ("stylized/", "style/")},
        skip=r"(?:.*/)?(?:content|style)/[^/]*",
    ),
    Layout(
        name="geneval",
        patterns=("{prompt}/samples/{n}", "{prompt}/samples/{replicate}"),
        loose=("*/samples/{n}", "*/samples/{replicate}"),
        summary="`00012/samples/0000.png`: number of the prompt, 4 or 5 digits; `metadata.jsonl` holds its text",
        source="djghosh13/geneval generation/diffusers_generate.py",
        tells=_beside_geneval,
        told=("prompt",),
        padded=True,
    ),
    Layout(
        name="prompt_number",
        patterns=("{prompt}_{n}", "{prompt}-{n}", "{prompt}_{replicate}", "{prompt}-{replicate}"),
        summary="`a red car_000003.png` (T2I-CompBench), `a red car-3.png` (VBench): the prompt, or its id, and a number",
        source="Karine-Huang/T2I-CompBench GORS_finetune/inference_eval.py; Vchitect/VBench README",
        padded=True,
    ),
    Layout(
        name="agiqa",
        patterns=(
            "{prompt}",
            "{method}_{prompt}",
            "{method}_{word}_{prompt}",
            "{method}/{prompt}",
            "{method}/{prompt}-{n}",
            "{method}/{prompt}-{replicate}",
        ),
        summary="`deepai_0_0_0_0.jpg`, `AttnGAN_normal_000.jpg`, `Controlnet\\000-1.png`: the id of the label file, never "
        "decoded; backslashes count as folders",
        source="AGIQA-1K, AGIQA-3K and AIGCIQA2023 label files",
        anchored=True,
    ),
    Layout(
        name="pair",
        patterns=_PAIRS,
        summary="`tubingen_starry.png`: both ids in either order with a separator; iterates (`_100`) are skipped",
        source="ProGamerGov/neural-style-pt README, neural_style.py",
    ),
)

LAYOUTS: Mapping[str, Layout] = {layout.name: layout for layout in _TABLE}
"""name -> layout."""
