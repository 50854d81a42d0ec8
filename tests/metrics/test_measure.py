"""The one loop: statuses, references, jobs, cache, provenance."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadInput, BadTable, MissingExtra, TooFew, UnknownName
from paragone.images import as_picture, read_image, resize, write_image
from paragone.metric import Metric
from paragone.metrics import METRICS, STATUSES, describe, from_files, measure
from paragone.scores import Scores


def noise(height: int = 24, width: int = 30, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)


def level_of(image: np.ndarray) -> float:
    return float(image.mean())


def metric(compute: Callable[..., float], **facts: object) -> Metric:
    record = Metric(
        name="mine",
        compute=compute,
        inputs=("image",),
        better="higher",
        low=-math.inf,
        high=math.inf,
        unit="",
        summary="a metric of the tests",
        definition="mine/1",
        source="nobody, 2024",
    )
    return replace(record, **facts)


def outcome(scores: Scores, item: str) -> tuple[float | None, str]:
    row = scores.frame.row(by_predicate=pl.col("item") == item, named=True)
    return row["score"], row["status"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Six pictures and a broken one, with a content reference that has their size and one that has not."""
    for place in range(6):
        write_image(as_picture(noise(seed=place)), tmp_path / "out" / f"cat_{place}.png")
    (tmp_path / "out" / "cat_bad.png").write_bytes((tmp_path / "out" / "cat_0.png").read_bytes()[:400])
    write_image(as_picture(noise(seed=100)), tmp_path / "content" / "cat.png")
    write_image(as_picture(noise(60, 40, seed=100)), tmp_path / "wide" / "cat.png")
    write_image(as_picture(noise(48, 62, seed=100)), tmp_path / "near" / "cat.png")
    return tmp_path


def test_every_picture_has_a_score_or_a_status(results: Path) -> None:
    (scores,) = measure("light", from_files(results / "out").benchmark)
    assert scores.frame.height == 7
    assert outcome(scores, "cat_bad") == (None, "broken")
    assert outcome(scores, "cat_3")[0] == pytest.approx(METRICS.get("light").compute(noise(seed=3)))
    assert scores.frame["n"].to_list() == [1, 1, 1, 1, 1, 1, 0]


def test_the_scores_say_how_they_were_made(results: Path, tmp_path: Path) -> None:
    (scores,) = measure(["blur"], from_files(results / "out").benchmark)
    made = scores.made
    assert (scores.name, scores.better, scores.criteria) == ("blur", "lower", [None])
    assert made["verb"] == "measure"
    assert made["definition"] == METRICS.get("blur").definition
    assert made["range"] == [0.0, 1.0]
    assert made["statuses"] == {"broken": 1, "ok": 6}
    assert "cat_bad.png: damaged or cut off" in made["reasons"]["cat_bad"]
    again = Scores.read(scores.write(tmp_path / "scores" / "blur.csv"))
    assert again.frame.equals(scores.frame)
    assert again.made["pictures_sha256"] == made["pictures_sha256"]


def test_the_digest_changes_with_any_picture_that_was_read(results: Path) -> None:
    def digests() -> list[str]:
        made = from_files(results / "out", content=results / "content").benchmark
        return [scores.made["pictures_sha256"] for scores in measure(["light", "psnr"], made)]

    before = digests()
    write_image(as_picture(noise(seed=200)), results / "content" / "cat.png")
    after = digests()
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_an_attribute_has_no_good_end(results: Path) -> None:
    (scores,) = measure("contrast", from_files(results / "out").benchmark)
    assert scores.better == "unknown"


def test_references_of_a_benchmark_are_found_by_factor(results: Path) -> None:
    items = pl.DataFrame(
        {
            "item": ["a", "b", "c", "d"],
            "image": ["out/cat_0.png", None, "out/gone.png", "out/cat_1.png"],
            "content": ["cat", "cat", "cat", "dog"],
        }
    )
    references = pl.DataFrame({"factor": ["content"], "level": ["cat"], "image": ["content/cat.png"]})
    (scores,) = measure("psnr", Benchmark(items, references, folder=results))
    expected = METRICS.get("psnr").compute(noise(seed=0), noise(seed=100))
    assert outcome(scores, "a") == (pytest.approx(expected), "ok")
    assert outcome(scores, "b") == (None, "missing")
    assert outcome(scores, "c") == (None, "missing")
    assert outcome(scores, "d") == (None, "no_reference")
    assert "gone.png" in scores.made["reasons"]["c"]


def test_a_benchmark_without_the_factor_has_no_references(results: Path) -> None:
    (scores,) = measure("ssim", from_files(results / "out" / "cat_0.png").benchmark)
    assert outcome(scores, "cat_0") == (None, "no_reference")


def test_a_reference_file_that_is_broken_or_gone_has_its_own_status(results: Path) -> None:
    bad = results / "out" / "cat_bad.png"
    items = {"a": noise(), "b": noise(), "c": noise()}
    (scores,) = measure("mse", images=items, references={"content": {"a": bad, "b": results / "gone.png"}})
    assert [outcome(scores, item)[1] for item in "abc"] == ["broken_reference", "no_reference", "no_reference"]


def test_a_reference_of_another_size_is_resized_by_the_named_resizer(results: Path) -> None:
    (scores,) = measure("ssim", from_files(results / "out" / "cat_0.png", content=results / "near").benchmark)
    reference = resize(read_image(results / "near" / "cat.png"), 24, 30, resizer="pil-bicubic")
    assert outcome(scores, "cat_0")[0] == METRICS.get("ssim").compute(noise(seed=0), reference)
    assert "pil-bicubic" in scores.made["definition"]
    assert scores.made["references_resized"] == scores.made["references_stretched"] == 1


def test_a_reference_of_the_same_shape_is_resized_but_not_stretched() -> None:
    (scores,) = measure("mse", images=[noise(20, 30)], references={"content": noise(40, 60)})
    assert (scores.made["references_resized"], scores.made["references_stretched"]) == (1, 0)


@pytest.mark.parametrize(
    ("picture", "reference", "status"),
    [
        ((1, 5000), (64, 64), "other_shape"),  # gave 56.7 dB
        ((64, 64), (1, 5000), "other_shape"),
        ((30, 20), (20, 30), "other_shape"),  # turned by a quarter
        ((100, 106), (100, 100), "other_shape"),
        ((100, 104), (100, 100), "ok"),
        ((512, 512), (512, 540), "other_shape"),
        ((256, 256), (1024, 1024), "ok"),
        ((683, 1024), (1365, 2048), "ok"),  # rounded to whole pixels
        ((5, 8), (683, 1024), "ok"),  # 7 % off, and still the nearest whole number of pixels
        ((3, 8), (683, 1024), "other_shape"),
    ],
)
def test_a_reference_of_another_shape_is_not_squashed(
    picture: tuple[int, int], reference: tuple[int, int], status: str
) -> None:
    images, references = [noise(*picture)], {"content": noise(*reference, seed=1)}
    for scores in measure(["mse", "psnr"], images=images, references=references):
        assert outcome(scores, "0")[1] == status
        assert scores.made["statuses"] == {status: 1}
        if status == "other_shape":
            assert outcome(scores, "0")[0] is None
            sizes = f"{picture[1]} x {picture[0]} pixels and the content {reference[1]} x {reference[0]}"
            assert sizes in scores.made["reasons"]["0"]


def test_metrics_that_do_not_compare_point_with_point_take_any_shape() -> None:
    record = metric(lambda a, b: float(b.shape[1]), inputs=("image", "content"))
    (scores,) = measure(record, images=[noise(20, 20)], references={"content": noise(20, 90)})
    assert outcome(scores, "0") == (90.0, "ok")


def test_what_is_no_benchmark_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput, match="measure takes a Benchmark, not DataFrame"):
        measure("si", pl.DataFrame({"item": ["a"]}))  # type: ignore[arg-type]


def test_an_identical_picture_has_an_infinite_psnr_and_says_so() -> None:
    picture = noise()
    psnr, ssim = measure(["psnr", "ssim"], images={"same": picture}, references={"content": picture})
    assert outcome(psnr, "same") == (None, "infinite")
    assert outcome(ssim, "same") == (1.0, "ok")


def test_a_picture_that_is_too_small_says_what_is_needed() -> None:
    (scores,) = measure("blur", images={"tiny": noise(10, 40)})
    assert outcome(scores, "tiny") == (None, "too_small")
    assert scores.made["reasons"] == {"tiny": "a side has 10 pixels, 11 are needed"}


def test_nan_is_undefined_and_an_error_of_the_metric_is_its_own_status() -> None:
    def moody(image: np.ndarray) -> float:
        if image.shape[0] == 8:
            raise ValueError("no eigenvalue\nat all")
        return math.nan

    (scores,) = measure(metric(moody), images={"a": noise(8), "b": noise(9)})
    assert outcome(scores, "a") == (None, "failed")
    assert outcome(scores, "b") == (None, "undefined")
    assert scores.made["reasons"]["a"] == "ValueError: no eigenvalue"


def test_a_fault_in_the_metrics_own_code_is_not_hidden() -> None:
    with pytest.raises(TypeError):
        measure(metric(lambda: 1.0), images=[noise()])


def test_a_metric_may_read_a_prompt() -> None:
    words = metric(lambda image, prompt: float(len(prompt.split())), inputs=("image", "prompt"))
    (scores,) = measure(words, images={"a": noise(), "b": noise()}, prompts={"a": "a red cat"})
    assert outcome(scores, "a") == (3.0, "ok")
    assert outcome(scores, "b") == (None, "no_prompt")
    items = pl.DataFrame(
        {"item": ["x"], "image": [None], "prompt": ["two words"]}, schema_overrides={"image": pl.String}
    )
    (scores,) = measure(
        words, Benchmark(items, pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String)))
    )
    assert outcome(scores, "x") == (None, "missing")


def test_all_statuses_that_can_occur_are_explained() -> None:
    assert {
        "ok", "undefined", "infinite", "too_small", "missing", "broken",
        "no_reference", "broken_reference", "no_prompt", "failed", "other_shape",
    } == set(STATUSES)  # fmt: skip


def test_arrays_and_files_give_the_same_bits(results: Path) -> None:
    path = results / "out" / "cat_2.png"
    by_file = measure(["si", "psnr"], images={"x": path}, references={"content": results / "content" / "cat.png"})
    by_array = measure(["si", "psnr"], images={"x": noise(seed=2)}, references={"content": noise(seed=100)})
    for one, other in zip(by_file, by_array, strict=True):
        assert one.frame.equals(other.frame)


def test_one_picture_alone_is_enough(results: Path) -> None:
    (scores,) = measure("light", images=noise())  # type: ignore[arg-type]
    assert scores.frame.select("item", "status").rows() == [("0", "ok")]
    (scores,) = measure("light", images=results / "out" / "cat_1.png")  # type: ignore[arg-type]
    assert scores.frame["item"].to_list() == ["cat_1"]


def test_pictures_without_names_keep_their_order() -> None:
    pictures = [np.full((4, 4), level, np.uint8) for level in range(12)]
    (scores,) = measure("light", images=pictures)
    assert scores.frame["score"].round(3).to_list() == list(range(12))


def test_the_order_of_items_changes_nothing(results: Path) -> None:
    made = from_files(results / "out", content=results / "content").benchmark
    turned = Benchmark(made.items.reverse(), made.references)
    for one, other in zip(measure(["si", "ssim"], made), measure(["si", "ssim"], turned), strict=True):
        assert one.frame.equals(other.frame)
        assert one.made == other.made


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, -1])
def test_any_number_of_jobs_gives_the_same_bits(results: Path, jobs: int) -> None:
    made = from_files(results / "out", content=results / "content", style=results / "wide").benchmark
    for one, other in zip(measure(METRICS.names(), made), measure(METRICS.names(), made, jobs=jobs), strict=True):
        assert one.frame.equals(other.frame)
        assert one.made == other.made


def test_each_picture_is_decoded_once_for_all_metrics(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paragone.metrics import worker

    read = []
    decode = worker.decode_image
    monkeypatch.setattr(worker, "decode_image", lambda raw, where: read.append(where) or decode(raw, where=where))
    made = from_files(results / "out", content=results / "content", style=results / "content").benchmark
    measure(METRICS.names(), made)
    assert len(read) == len(set(read)) == 8


class Counted:
    """A metric that counts its calls, under a name that does not change."""

    __module__ = "tests"
    __qualname__ = "counted"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, image: np.ndarray) -> float:
        self.calls += 1
        return float(image.mean())


def test_a_second_run_costs_nothing(results: Path) -> None:
    counted = Counted()
    made = from_files(results / "out").benchmark
    first = measure(metric(counted), made, cache=results / "cache")
    second = measure(metric(counted), made, cache=results / "cache")
    assert counted.calls == 6
    assert first[0].frame.equals(second[0].frame)
    assert first[0].made == second[0].made


def test_the_cache_goes_by_content_not_by_name(results: Path) -> None:
    counted = Counted()
    measure(metric(counted), images=[results / "out" / "cat_0.png"], cache=results / "cache")
    shutil.copy(results / "out" / "cat_0.png", results / "other.png")
    write_image(as_picture(noise(seed=9)), results / "out" / "cat_0.png")
    measure(metric(counted), images=[results / "other.png"], cache=results / "cache")
    assert counted.calls == 1
    measure(metric(counted), images=[results / "out" / "cat_0.png"], cache=results / "cache")
    assert counted.calls == 2


def test_another_definition_or_reference_is_asked_anew(results: Path) -> None:
    counted = Counted()
    for definition in ("mine/1", "mine/2", "mine/1"):
        measure(metric(counted, definition=definition), images=[noise()], cache=results / "cache")
    assert counted.calls == 2
    scores = [
        measure("mse", images={"x": noise()}, references={"content": noise(seed=seed)}, cache=results / "cache")[0]
        for seed in (1, 2, 1)
    ]
    assert scores[0].frame.equals(scores[2].frame)
    assert not scores[0].frame.equals(scores[1].frame)


def test_a_folder_that_is_no_cache_is_named(results: Path) -> None:
    measure("light", images=[results / "out" / "cat_0.png"], cache=results / "cache")
    (file,) = (results / "cache").rglob("*.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(file)
    with pytest.raises(BadTable, match="not a cache of measure; delete it"):
        measure("light", images=[results / "out" / "cat_0.png"], cache=results / "cache")


# shared/data/metrics/README.md: gray8, gray8_as_rgb and gray16 must agree; flat and black pictures have a documented
# status or a defined score
def test_the_edge_pictures_have_a_score_or_one_clear_status(shared: Callable[[str], Path]) -> None:
    folder = shared("metrics/edge")
    edge = from_files(folder, content=folder, style=folder).benchmark
    flat = {("blur", "black_rgb"), ("blur", "flat128_rgb")}
    for scores in measure(METRICS.names(), edge):
        good = "infinite" if scores.name.startswith("psnr") else "ok"  # each picture against itself
        for item, status in scores.frame.select("item", "status").rows():
            assert status == ("undefined" if (scores.name, item) in flat else good), (scores.name, item)
        grey = {outcome(scores, f"{name}_256") for name in ("gray8", "gray8_as_rgb", "gray16")}
        assert len(grey) == 1, scores.name
        if scores.name.startswith("ssim"):
            assert scores.frame["score"].unique().to_list() == [1.0]


PICTURES = [noise()]


@pytest.mark.parametrize(
    ("metrics", "given", "error", "said"),
    [
        ("sism", {"images": PICTURES}, UnknownName, "no metric 'sism'; did you mean 'ssim'"),
        ([], {"images": PICTURES}, BadInput, "no metric was named"),
        ("light", {}, BadInput, "needs a benchmark or images, one of the two"),
        ("light", {"images": []}, TooFew, "there is no picture to measure"),
        ("light", {"images": ["a/x.png", "b/x.png"]}, BadInput, "two pictures are named 'x'"),
        ("light", {"images": PICTURES, "references": {"stlye": "x.png"}}, BadInput, "no metric here reads 'stlye'"),
        (["light", metric(level_of, name="light")], {"images": PICTURES}, BadInput, "two different metrics"),
        (metric(level_of, level="set"), {"images": PICTURES}, BadInput, "scores sets of pictures"),
        (metric(level_of, inputs=("style", "image")), {"images": PICTURES}, BadInput, "must read 'image' first"),
        (metric(level_of, extra="nothere"), {"images": PICTURES}, MissingExtra, "metric 'mine' needs nothere"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(metrics, given, error, said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        measure(metrics, **given)
    assert "\n" not in caught.value.message


def test_references_do_not_go_with_a_benchmark(results: Path) -> None:
    with pytest.raises(BadInput, match="references and prompts come with images"):
        measure("light", from_files(results / "out").benchmark, references={"content": noise()})


def test_an_extra_that_is_missing_is_described_not_raised() -> None:
    described = describe(metric(level_of, extra="nothere"))
    assert (described["available"], described["reason"]) == (False, "pip install 'paragone[nothere]'")


def test_a_metric_in_a_file_of_ones_own_is_measured(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warmth.py").write_text(
        "from paragone.metric import Metric\n"
        "def warmth(image):\n"
        "    return float(image[..., 0].mean() - image[..., 2].mean())\n"
        "WARMTH = Metric(name='warmth', compute=warmth, inputs=('image',), better='neither', low=-1.0, high=1.0,\n"
        "    unit='', summary='red minus blue', definition='warmth/1', source='us, 2024')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from warmth import WARMTH

    (scores,) = measure(WARMTH, images={"red": np.array([[[255, 0, 0]]], np.uint8)})
    assert outcome(scores, "red") == (1.0, "ok")
