"""What a learned evaluator can learn: a simulated study of the published size on a benchmark of real pictures.

    python benchmarks/study_evaluators.py people FOLDER      # simulated participants answer; scores/human.csv
    python benchmarks/study_evaluators.py ablation FOLDER    # backbones x protocols x criteria, into FOLDER/ablation.csv

FOLDER is a benchmark with factors method, content and style, as `paragone stylise` makes it, and a study.toml of two
stages, as examples/style-transfer has it. Participants are SIMULATED, and every table says so. What they like follows
from the pictures by arithmetic that no network took part in:

- content: how well the luminance gradients of the result follow those of the content, coarse (32 px) and fine (128 px),
  and how much of its local contrast is left;
- style: how near the 3 x 3 patches of the result (CIELAB, 48 px and 96 px) are to those of the style, as a sliced
  Wasserstein distance: colours and strokes together, positions apart;
- overall: both, with a weight that each style draws for itself (.25 to .75), less a penalty for clipped and noisy
  pixels that neither the content nor the style has;
- on top of each, what no picture shows: a taste for each method (.3 standard deviations) and for each item (.4).

Each criterion is then spread within the groups of one content and style as the kappas of the published study imply:
3.10, 2.16 and 2.16 logits, with stage 2 noisier by 1.5.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from scipy.ndimage import convolve1d, gaussian_filter, uniform_filter
from scipy.stats import rankdata

from paragone.benchmark import BROKEN, Benchmark
from paragone.errors import NotFound
from paragone.images import lab, read_image, resize
from paragone.loop.described import Network
from paragone.loop.evaluated import crossval_folder
from paragone.parallel import track
from paragone.scores import Scores
from paragone.tables import write_table

SPREAD = {"content": 3.10, "style": 2.16, "overall": 2.16}  # logits within a group of one content and style
METHOD_TASTE, ITEM_TASTE = 0.3, 0.4  # standard deviations, beside 1 for what the pictures show
DIRECTIONS = 64  # of the sliced distance
PATCHES = 2000  # drawn from each picture and scale


def luminance(picture: np.ndarray) -> np.ndarray:
    return picture @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def gradients(gray: np.ndarray) -> np.ndarray:
    """(2, h, w) derivatives of a slightly smoothed picture."""
    smooth = gaussian_filter(gray, 0.7)
    return np.stack([convolve1d(smooth, [0.5, 0.0, -0.5], axis=axis, mode="nearest") for axis in (0, 1)])


def follows(result: np.ndarray, content: np.ndarray) -> float:
    """Correlation of two gradient fields, sign of contrast apart: a negative keeps the shapes."""
    a, b = (np.abs(gradients(one)).ravel() for one in (result, content))
    return float(np.corrcoef(a, b)[0, 1])


def local_contrast(gray: np.ndarray) -> float:
    mean = uniform_filter(gray, 9)
    return float(np.sqrt(np.maximum(uniform_filter(gray**2, 9) - mean**2, 0.0)).mean())


def patches(picture: np.ndarray, side: int, rng: np.random.Generator) -> np.ndarray:
    """(PATCHES, 27) 3 x 3 patches in CIELAB / 100 of the picture at `side` pixels."""
    colours = lab(resize(picture, side, side, resizer="pil-bicubic")) / 100.0
    y, x = rng.integers(0, side - 2, (2, PATCHES))
    return np.concatenate([colours[y + dy, x + dx] for dy in range(3) for dx in range(3)], axis=1)


def sliced(a: np.ndarray, b: np.ndarray, directions: np.ndarray) -> float:
    """Mean distance of the sorted projections: the sliced 1-Wasserstein distance."""
    return float(np.abs(np.sort(a @ directions, axis=0) - np.sort(b @ directions, axis=0)).mean())


def faults(picture: np.ndarray) -> float:
    """Share of clipped pixels, and energy of what a median-free smoothing takes away."""
    gray = luminance(picture)
    clipped = float(((picture <= 0.002) | (picture >= 0.998)).all(axis=-1).mean())
    return clipped + 4.0 * float(np.abs(gray - gaussian_filter(gray, 1.0)).mean())


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def latent(benchmark: Benchmark, *, seed: int, quiet: bool = False) -> Scores:
    """What is true for the simulated participants: one score an item and criterion, in logits."""
    rng = np.random.default_rng(seed)
    items = benchmark.items.filter(pl.col(BROKEN).is_null()) if BROKEN in benchmark.factors else benchmark.items
    shown = {
        (factor, level): read_image(benchmark.folder / image)
        for factor, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    directions = rng.standard_normal((27, DIRECTIONS))
    directions /= np.linalg.norm(directions, axis=0)

    def small(picture: np.ndarray, side: int) -> np.ndarray:
        return luminance(resize(picture, side, side, resizer="pil-bicubic"))

    contents = {level: [small(p, 32), small(p, 128)] for (factor, level), p in shown.items() if factor == "content"}
    styles = {
        level: [patches(p, side, np.random.default_rng(seed)) for side in (48, 96)]
        for (factor, level), p in shown.items()
        if factor == "style"
    }
    flaws = {key: faults(picture) for key, picture in shown.items()}
    rows = []
    for row in track(list(items.iter_rows(named=True)), "looking at pictures", quiet=quiet):
        picture = read_image(benchmark.folder / row["image"])
        own, content, style = [small(picture, 32), small(picture, 128)], row["content"], row["style"]
        kept = [follows(a, b) for a, b in zip(own, contents[content], strict=True)]
        contrast = np.log(local_contrast(own[1]) / local_contrast(contents[content][1]))
        far = [
            sliced(patches(picture, side, np.random.default_rng(seed)), there, directions)
            for side, there in zip((48, 96), styles[style], strict=True)
        ]
        fault = max(0.0, faults(picture) - max(flaws["content", content], flaws["style", style]))
        rows.append([kept[0], kept[1], -abs(contrast), -far[0], -far[1], fault])
    seen = np.array(rows)
    seen = np.stack([standard(rankdata(column)) for column in seen.T], axis=1)  # ranks: no picture stands far out
    content_shown = standard(0.8 * seen[:, 0] + seen[:, 1] + 0.5 * seen[:, 2])
    style_shown = standard(seen[:, 3] + seen[:, 4])
    levels = items["style"].unique().sort().to_list()
    weight = dict(zip(levels, rng.uniform(0.25, 0.75, len(levels)), strict=True))
    w = np.array([weight[style] for style in items["style"]])
    overall_shown = standard(w * style_shown + (1 - w) * content_shown - 0.4 * seen[:, 5])
    methods = items["method"].rank("dense").to_numpy().astype(int) - 1
    groups = items.select(pl.struct("content", "style").rank("dense")).to_series().to_numpy()
    table = []
    for name, values in (("content", content_shown), ("style", style_shown), ("overall", overall_shown)):
        taste = METHOD_TASTE * rng.standard_normal(methods.max() + 1)[methods]
        whole = values + taste + ITEM_TASTE * rng.standard_normal(len(values))
        inside = np.sqrt(np.mean([whole[groups == g].var() for g in np.unique(groups)]))
        whole = whole * SPREAD[name] / inside
        table.append(pl.DataFrame({"item": items["item"], "criterion": name, "score": whole - whole.mean()}))
    made = {"verb": "simulate", "simulated": True, "seed": seed, "weights_of_style": weight, "spread": SPREAD}
    return Scores(pl.concat(table), name="simulated", made=made)


def people(folder: Path, seed: int) -> None:
    """Write simulated answers, votes and scores into the folder, and what was true beside them."""
    from dataclasses import replace

    from paragone.loop.main_job import run
    from paragone.loop.study import collect_folder, make_plan
    from paragone.observers import Observers, simulate

    benchmark = Benchmark.read(folder)
    truth = latent(benchmark, seed=seed)
    planned, _ = make_plan(folder)
    planned.write(folder / "plan.csv")
    observers = Observers(stage_temperature={"across": 1.5}, taste_sd=0.3, careless=0.04)
    write_table(simulate(planned, truth, seed=seed, observers=observers), folder / "answers.csv")
    replace(benchmark, simulated=True).write(folder)
    truth.write(folder / "scores" / "simulated-truth.csv")
    collect_folder(folder)
    run(folder, quiet=False, say=print)


BACKBONES = {
    "vgg16": Network(backbone="vgg16"),
    "alexnet": Network(backbone="alexnet"),
    "efficientnet-lite0": Network(backbone="efficientnet-lite0"),
    "vgg16 (random weights)": Network(backbone="vgg16", random=0),
    "vgg11": Network(backbone="vgg11"),
    "vgg19": Network(backbone="vgg19"),
    "mobilenetv3": Network(backbone="mobilenetv3"),
    "resnet18": Network(backbone="resnet18"),
    "resnet50": Network(backbone="resnet50"),
    "vit-b-16": Network(backbone="vit-b-16"),
    "dinov2-s": Network(backbone="dinov2-s"),
}
LEARNERS = ("astra-score:components=256", "astra-compared:components=256", "astra-scalars", "ridge", "ridge-all", "svr")


def ablation(folder: Path, seed: int, names: list[str]) -> None:
    """Write crossval tables of every backbone whose weights are here, and one table of all of them."""
    rows = []
    for name in names or list(BACKBONES):
        try:
            found = crossval_folder(
                folder,
                ["method", "content", "style"],
                BACKBONES[name],
                learners=LEARNERS,
                output=folder / "ablation" / name.replace(" ", "-"),
                seed=seed,
                quiet=False,
                say=print,
            )
        except NotFound as error:
            print(f"left out: {error.message[:120]}")
            continue
        for factor, one in found.items():
            kept = one.table.filter(pl.col("statistic").is_in(["srcc", "krcc"]))
            rows.append(kept.with_columns(backbone=pl.lit(name), held_out=pl.lit(factor)))
    table = pl.concat(rows)
    write_table(table, folder / "ablation.csv")
    learned = table.filter((pl.col("kind") == "learner") & (pl.col("statistic") == "srcc"))
    text = pl.format("{} ± {}", pl.col("mean").round(3), pl.col("sd").round(3))
    shown = learned.with_columns(text=text, column=pl.format("{} {}", "held_out", "criterion"))
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200, fmt_str_lengths=40):
        print(shown.pivot("column", index=["backbone", "predictor"], values="text"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["people", "ablation"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backbone", action="append", default=[], help="of the ablation; default: all that are here")
    asked = parser.parse_args()
    if asked.what == "people":
        people(asked.folder, asked.seed)
    else:
        ablation(asked.folder, asked.seed, asked.backbone)


if __name__ == "__main__":
    main()
