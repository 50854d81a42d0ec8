"""The prompts and file names of AGIQA-1K, written anew from its grammar: 720 pictures of deepai, 360 of dreamStudio.

Every name is `<model>_<main>_<second>_<place>_<style>.jpg` with indices into that model's own words. The published key
of the indices is deepai's; dreamStudio has 9 of the 12 main and 10 of the 15 second objects and numbers them anew.
The published table of scores lacks dreamStudio_8_5_0_0.jpg and has dreamStudio_8_9_1_1.jpg twice; here every name
stands once.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from .grammar import Grammar, prompts_of

__all__ = ["AGIQA1K", "agiqa1k_prompts"]

_MAIN = ["bird", "cat", "dog", "batman", "snoppy", "teddy bear", "kid", "man", "woman", "alien", "demon", "witch"]
_SECOND = [
    "driving aircraft",
    "driving bike",
    "driving car",
    "having hamburger",
    "having icecream",
    "having pizza",
    "playing baseball",
    "playing football",
    "playing yoga",
    "using CD",
    "using laptop",
    "using phone",
    "wearing coat",
    "wearing hat",
    "wearing shirt",
]
_LEFT_OUT = ("kid", "demon", "witch")  # of dreamStudio, whose second objects are the last ten


def _grammar(main: list[str], second: list[str]) -> Grammar:
    return Grammar(
        template="{main}, {second}, {place}, {style}",
        axis={
            "main": main,
            "second": second,
            "place": ["city", "wild"],
            "style": {"anime": "anime style", "realistic": "realistic style"},
        },
    )


AGIQA1K: Mapping[str, Grammar] = {
    "deepai": _grammar(_MAIN, _SECOND),
    "dreamStudio": _grammar([word for word in _MAIN if word not in _LEFT_OUT], _SECOND[5:]),
}
"""Model, as in the file names, -> its grammar; 'snoppy' is spelt as published. deepai is Stable Diffusion v2, dreamStudio
Stable Diffusion inpainting v1.

Source: Zhang, Li, Sun, Liu, Min and Zhai, "A Perceptual Quality Assessment Exploration for AIGC Images", 2023, and the
table AIGC_MOS_Zscore.xlsx of its repository.
"""


def agiqa1k_prompts() -> pl.DataFrame:
    """Return the 1,080 pictures of the set.

    Returns:
        Columns `image` (file name), `model`, `id`, `prompt`, `main`, `second`, `place`, `style` (keys of the levels); 720
        rows of deepai, then 360 of dreamStudio, in the order of the indices.
    """
    parts = []
    for model, grammar in AGIQA1K.items():
        frame = prompts_of(grammar).frame
        places = {axis: {key: str(k) for k, key in enumerate(grammar.levels(axis))} for axis in grammar.axis}
        index = [pl.col(axis).replace_strict(numbers, return_dtype=pl.String) for axis, numbers in places.items()]
        name = pl.concat_str(pl.lit(model), *index, separator="_") + ".jpg"
        parts.append(frame.select(name.alias("image"), pl.lit(model).alias("model"), *frame.columns))
    return pl.concat(parts)
