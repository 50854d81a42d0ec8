"""What becomes of one cell: its picture, its record, and when it need not be made again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from make_world import drawn
from paragone.images import read_image, write_image
from paragone.make.cells import Job, Outcome, finished, land, record_of, seed_of


@pytest.fixture
def job(tmp_path: Path) -> Job:
    content = write_image(drawn(1), tmp_path / "content.png")
    return Job(
        method="m",
        levels={"content": "c", "style": "s"},
        inputs={"content": content},
        target=tmp_path / "results" / "m" / "c_stylized_s.png",
        seed=5,
        key="k1",
    )


def test_a_good_picture_lands_with_its_record(job: Job) -> None:
    record = land(job, Outcome(picture=drawn(2), seconds=1.25))
    assert record["status"] == "ok"
    assert record["size"] == [40, 32]
    assert np.abs(read_image(job.target) - drawn(2)).max() <= 0.5 / 255 + 1e-6
    assert record_of(job.target) == json.loads(json.dumps(record))
    assert finished(job) is not None


def test_another_key_or_another_picture_means_make_it_again(job: Job) -> None:
    land(job, Outcome(picture=drawn(2)))
    assert finished(replace(job, key="k2")) is None
    write_image(drawn(3), job.target)
    assert finished(job) is None, "the picture is not the one that was recorded"
    job.target.unlink()
    assert finished(job) is None


def test_a_failed_cell_is_tried_again_only_where_asked(job: Job) -> None:
    land(job, Outcome(status="failed", reason="out of luck"))
    assert finished(job) is not None
    assert finished(job, again=("failed",)) is None
    assert not job.target.exists()


def test_a_record_that_was_cut_off_counts_as_none(job: Job) -> None:
    land(job, Outcome(picture=drawn(2)))
    beside = job.target.with_suffix(".json")
    beside.write_text(beside.read_text()[:40])
    assert record_of(job.target) is None
    assert finished(job) is None


@pytest.mark.parametrize(
    ("picture", "status", "reason"),
    [
        (np.zeros((32, 40, 3), np.float32), "invalid", "all black"),
        (np.full((32, 40, 3), 0.5, np.float32), "invalid", "all one colour"),
        (drawn(1), "invalid", "the content itself"),
        (np.full((32, 40, 3), np.nan, np.float32), "invalid", "no colours"),
        (drawn(2, 16, 20), "wrong_size", "20 x 16 pixels for a content of 40 x 32"),
        (b"", "invalid", "empty"),
        (b"not a picture at all", "invalid", "not a picture"),
        (None, "invalid", "gave no picture"),
        (Path("nowhere.png"), "invalid", "nowhere.png"),
    ],
)
def test_what_is_no_result_says_why_and_leaves_no_item(job: Job, picture: object, status: str, reason: str) -> None:
    record = land(job, Outcome(picture=picture))  # type: ignore[arg-type]
    assert record["status"] == status
    assert reason in record["reason"]
    assert not job.target.exists()


@pytest.mark.parametrize("align", ["resize", "crop", "pad"])
def test_a_declared_rule_mends_the_size_and_is_recorded(job: Job, align: str) -> None:
    record = land(job, Outcome(picture=drawn(2, 64, 64)), align=align)
    assert record["status"] == "ok"
    assert record["given"] == [64, 64]
    assert record["aligned"].startswith(align)
    assert read_image(job.target).shape == (32, 40, 3)


def test_padding_keeps_the_shape_and_cropping_fills_the_frame(job: Job) -> None:
    white = np.ones((64, 64, 3), np.float32)
    white[28:36, 28:36] = 0
    land(job, Outcome(picture=white), align="pad")
    padded = read_image(job.target)
    assert np.allclose(padded[:, :4], 128 / 255, atol=1e-6)  # 32 x 32 within 40 x 32
    assert padded[2, 20].min() > 0.99
    assert padded[16, 20].max() < 0.1
    land(job, Outcome(picture=white), align="crop")
    assert read_image(job.target)[:, :8].min() > 0.99, "no border"


def test_a_picture_file_of_16_bits_or_with_alpha_lands_as_8_bit_rgb(job: Job, tmp_path: Path) -> None:
    grey = (drawn(2)[..., 0] * 65535).astype(np.uint16)
    Image.fromarray(grey).save(tmp_path / "wide.png")
    assert land(job, Outcome(picture=tmp_path / "wide.png"))["status"] == "ok"
    with Image.open(job.target) as landed:
        assert landed.mode == "RGB"


def test_a_rejected_picture_is_kept_aside(job: Job) -> None:
    land(job, Outcome(picture=drawn(2, 16, 20)))
    assert (job.target.parent / "rejected" / "c_stylized_s.png").is_file()


def test_seeds_follow_from_all_words_and_are_no_negative_numbers() -> None:
    assert seed_of("ab", "c") != seed_of("a", "bc")
    assert seed_of(1, "m", "cat") == seed_of(1, "m", "cat")
    assert all(0 <= seed_of(k) < 2**63 for k in range(200))
