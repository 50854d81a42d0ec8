"""Diffusion pipelines, offline, on a random one of 34 thousand parameters that is built here."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed
from paragone.errors import BadConfig, BadInput, MissingExtra, NotFound
from paragone.images import read_image
from paragone.make.prompts.generate import generate
from paragone.make.prompts.generation import DiffusionModel, Generation, seed_of
from paragone.make.prompts.grammar import Grammar, prompts_of
from paragone.make.prompts.pipelines import Drawn, Painter, folder_digests, locate, open_pipeline

SIZE = 64
PROMPTS = prompts_of(Grammar(template="{main}", axis={"main": ["bird", "cat"]})).frame


def asked(path: str | Path, **more: Any) -> DiffusionModel:
    return DiffusionModel(**{"path": str(path), "steps": 2, "width": SIZE, "height": SIZE, **more})


def test_a_hub_id_that_is_not_in_the_cache_gives_one_line_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("huggingface_hub")
    start = time.perf_counter()
    with pytest.raises(NotFound, match="no folder 'nobody/no-model', nor is that model in the local cache") as told:
        locate(DiffusionModel(path="nobody/no-model"), beside=tmp_path)
    assert "\n" not in told.value.message
    assert time.perf_counter() - start < 5


@pytest.mark.slow
def test_a_download_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = needed("huggingface_hub.constants")
    needed("diffusers")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match="model 'nobody/no-model' cannot be fetched") as told:
        locate(DiffusionModel(path="nobody/no-model"), beside=tmp_path, download=True)
    assert "\n" not in told.value.message


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Builds a random pipeline of 34 thousand parameters, without the network."""
    needed("diffusers")
    folder = tmp_path_factory.mktemp("tokenizer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries' own making
        import torch
        from diffusers import (
            AutoencoderKL,
            DDIMScheduler,
            StableDiffusionInpaintPipeline,
            StableDiffusionPipeline,
            UNet2DConditionModel,
        )
        from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    letters = [chr(k) for k in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: k for k, word in enumerate(words)}), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")

    def build(*, inpainting: bool = False) -> Any:
        tokenizer = CLIPTokenizer.from_pretrained(folder, model_max_length=77)
        torch.manual_seed(0)
        unet = UNet2DConditionModel(
            block_out_channels=(4, 8),
            layers_per_block=1,
            sample_size=8,
            in_channels=9 if inpainting else 4,
            out_channels=4,
            norm_num_groups=2,
            cross_attention_dim=8,
            attention_head_dim=2,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        )
        torch.manual_seed(0)
        vae = AutoencoderKL(
            block_out_channels=[4, 8],
            down_block_types=["DownEncoderBlock2D"] * 2,
            up_block_types=["UpDecoderBlock2D"] * 2,
            latent_channels=4,
            norm_num_groups=2,
        )
        torch.manual_seed(0)
        text = CLIPTextModel(
            CLIPTextConfig(
                hidden_size=8,
                intermediate_size=16,
                num_attention_heads=2,
                num_hidden_layers=1,
                max_position_embeddings=77,
                vocab_size=len(tokenizer),
                bos_token_id=len(tokenizer) - 2,
                eos_token_id=len(tokenizer) - 1,
                pad_token_id=len(tokenizer) - 1,
            )
        )
        scheduler = DDIMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            clip_sample=False,
            set_alpha_to_one=False,
            steps_offset=1,
        )
        kind = StableDiffusionInpaintPipeline if inpainting else StableDiffusionPipeline
        return kind(
            unet=unet,
            vae=vae,
            text_encoder=text,
            tokenizer=tokenizer,
            scheduler=scheduler,
            safety_checker=None,
            feature_extractor=None,
            requires_safety_checker=False,
        )

    return build


@pytest.fixture(scope="session")
def tiny(parts: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    parts().save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def painter(tiny: Path) -> Painter:
    return open_pipeline(asked(tiny), tiny)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_and_another_seed_another_picture(painter: Painter) -> None:
    first, again, other = (painter.draw("a bird", seed).values for seed in (5, 5, 6))
    assert first.shape == (SIZE, SIZE, 3)
    assert first.dtype == np.float32
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_what_was_saved_and_loaded_draws_as_before(parts: Callable[..., Any], painter: Painter) -> None:
    import torch

    pipeline = parts()
    pipeline.set_progress_bar_config(disable=True)
    direct = pipeline(
        prompt="a bird",
        generator=torch.Generator("cpu").manual_seed(5),
        num_inference_steps=2,
        width=SIZE,
        height=SIZE,
        output_type="np",
    ).images[0]
    assert np.array_equal(direct, painter.draw("a bird", 5).values)


@pytest.mark.slow
def test_the_largest_seed_is_taken(painter: Painter) -> None:
    assert np.isfinite(painter.draw("a bird", 2**63 - 1).values).all()


@pytest.mark.slow
def test_the_facts_name_pipeline_scheduler_and_what_was_asked(painter: Painter, tiny: Path) -> None:
    facts = painter.facts
    assert (facts["pipeline"], facts["scheduler"]) == ("StableDiffusionPipeline", "DDIMScheduler")
    assert facts["scheduler_config"]["beta_schedule"] == "scaled_linear"
    assert (facts["steps"], facts["guidance"], facts["safety"]) == (2, 7.5, False)
    assert set(facts["versions"]) == {"diffusers", "torch", "transformers"}
    json.dumps(dict(facts))


@pytest.mark.slow
def test_tokens_count_start_and_end(painter: Painter) -> None:
    assert painter.tokens is not None
    assert painter.tokens("ab") == 4
    assert painter.tokens("a" * 200) == 202


@pytest.mark.slow
def test_a_run_is_the_same_after_it_was_killed(tiny: Path, tmp_path: Path) -> None:
    plan = Generation(plan="p", model={"tiny": asked(tiny)})
    stops = iter([False, True])

    def stopping(model: DiffusionModel, folder: Path) -> Painter:
        inner = open_pipeline(model, folder)

        def draw(prompt: str, seed: int) -> Drawn:
            if next(stops, False):
                raise KeyboardInterrupt
            return inner.draw(prompt, seed)

        return Painter(draw=draw, facts=inner.facts, tokens=inner.tokens)

    with pytest.raises(KeyboardInterrupt):
        generate(PROMPTS, plan, tmp_path / "killed", opener=stopping)
    assert len(list((tmp_path / "killed/generated/tiny").glob("*.png"))) == 1
    assert generate(PROMPTS, plan, tmp_path / "killed").text == "2 pictures: 2 ok"
    made = generate(PROMPTS, plan, tmp_path / "whole")
    for name in ("bird", "cat"):
        path = f"generated/tiny/{name}__r1.png"
        assert (tmp_path / "killed" / path).read_bytes() == (tmp_path / "whole" / path).read_bytes()
    row = made.frame.row(0, named=True)
    assert row["digest"] == folder_digests(tiny)["digest"]
    assert row["seed"] == seed_of("p", "bird", "tiny", 1)
    assert (row["pipeline"], row["steps"], row["width"], row["height"]) == ("StableDiffusionPipeline", 2, SIZE, SIZE)


@pytest.mark.slow
def test_an_inpainting_model_makes_a_picture_from_text_alone(parts: Callable[..., Any], tmp_path: Path) -> None:
    parts(inpainting=True).save_pretrained(tmp_path / "inpainting")
    model = asked(tmp_path / "inpainting", pipeline="inpainting")
    painter = open_pipeline(model, tmp_path / "inpainting")
    first, again = (painter.draw("a bird", 5).values for _ in range(2))
    assert painter.facts["pipeline"] == "StableDiffusionInpaintPipeline"
    assert first.shape == (SIZE, SIZE, 3)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, painter.draw("a bird", 6).values)


@pytest.mark.slow
def test_a_safety_checker_that_blanks_gives_the_status_flagged(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diffusers import StableDiffusionPipeline

    def blank(self: Any, image: Any, device: Any, dtype: Any) -> Any:
        return image * 0, [True]

    monkeypatch.setattr(StableDiffusionPipeline, "run_safety_checker", blank)
    drawn = open_pipeline(asked(tiny), tiny).draw("a bird", 5)
    assert drawn.flagged is True
    assert drawn.values.max() == 0
    made = generate(PROMPTS, Generation(plan="p", model={"tiny": asked(tiny)}, retries=1), tmp_path / "out")
    assert made.text == "2 pictures: 2 flagged"
    assert made.frame["tries"].to_list() == [2, 2]
    assert not list((tmp_path / "out").rglob("*.png"))


@pytest.mark.slow
def test_without_a_checker_nothing_is_said_about_safety(painter: Painter) -> None:
    assert painter.draw("a bird", 5).flagged is None


@pytest.mark.slow
def test_a_decoder_that_breaks_down_gives_the_status_invalid(parts: Callable[..., Any], tmp_path: Path) -> None:
    import torch

    pipeline = parts()
    with torch.no_grad():
        pipeline.vae.decoder.conv_out.bias.fill_(float("nan"))
    pipeline.save_pretrained(tmp_path / "broken")
    plan = Generation(plan="p", model={"broken": asked(tmp_path / "broken")})
    made = generate(PROMPTS, plan, tmp_path / "out")
    assert made.text == "2 pictures: 2 invalid"
    assert made.frame["reason"][0] == f"{SIZE * SIZE * 3} of {SIZE * SIZE * 3} values are not finite"
    assert not list((tmp_path / "out").rglob("*.png"))


@pytest.mark.slow
def test_the_same_weights_have_the_same_digest_wherever_they_lie(
    parts: Callable[..., Any], tiny: Path, tmp_path: Path
) -> None:
    parts().save_pretrained(tmp_path / "elsewhere")
    assert folder_digests(tmp_path / "elsewhere")["digest"] == folder_digests(tiny)["digest"]
    other = parts(inpainting=True)
    other.save_pretrained(tmp_path / "other")
    assert folder_digests(tmp_path / "other")["digest"] != folder_digests(tiny)["digest"]


@pytest.mark.slow
def test_an_inpainting_model_is_not_asked_for_text_to_image(parts: Callable[..., Any], tmp_path: Path) -> None:
    parts(inpainting=True).save_pretrained(tmp_path)
    with pytest.raises(BadConfig, match="reads 9 channels where text to image has 4; if it is an inpainting model"):
        open_pipeline(asked(tmp_path), tmp_path)


@pytest.mark.slow
def test_a_pipeline_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text('{"_class_name": "NoSuchPipeline", "_diffusers_version": "0.30.0"}')
    with pytest.raises(BadInput, match="cannot be loaded for text-to-image"):
        open_pipeline(asked(tmp_path), tmp_path)


@pytest.mark.slow
def test_a_device_that_is_not_there_is_named(tiny: Path) -> None:
    with pytest.raises(BadConfig, match="device 'nowhere' cannot be used"):
        open_pipeline(asked(tiny, device="nowhere"), tiny)


@pytest.mark.slow
def test_pictures_are_written_with_the_values_that_were_drawn(painter: Painter, tiny: Path, tmp_path: Path) -> None:
    generate(PROMPTS, Generation(plan="p", model={"tiny": asked(tiny)}), tmp_path)
    drawn = painter.draw("bird", seed_of("p", "bird", "tiny", 1)).values
    written = read_image(tmp_path / "generated/tiny/bird__r1.png")
    assert np.abs(drawn - written).max() <= 0.5 / 255 + 1e-6


@pytest.mark.parametrize("library", ["diffusers", "transformers"])
def test_a_missing_library_names_the_extra(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if library != "diffusers":
        needed("diffusers")  # looks for the others once, when it is imported
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"generating pictures needs {library}: pip install 'paragone\[generate\]'"):
        open_pipeline(asked(tmp_path), tmp_path)
