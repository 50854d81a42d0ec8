"""The numbers made of feature maps are what their definitions say, against a slow second writing in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from installed import needed
from paragone.errors import UnknownName
from paragone.features.described import Features
from paragone.features.featuresets import FEATURES, features_named, from_maps
from paragone.features.layers import Lpips
from paragone.features.nets import ALEXNET
from paragone.features.triplet import (
    cosine,
    distance,
    gram_cosine,
    perceptual_distance,
    similarity_distance,
    summarise,
)

torch: Any = needed("torch")

Maps = np.ndarray[Any, np.dtype[np.float64]]
ALL = ("directions", "similarity", "gram")
SIDES = ((5, 120, 118), (7, 57, 56), (6, 15, 13), (40, 3, 4))  # channels, height, width; the last has few positions


def maps(seed: int, n: int = 2) -> list[Any]:
    """Random maps at four depths, half of the activations zero as after a ReLU."""
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(np.maximum(rng.standard_normal((n, *one)), 0).astype(np.float32)) for one in SIDES]


def blocks_mean(one: Maps, most: int) -> Maps:
    """Mean over square blocks, counted cell by cell."""
    c, h, w = one.shape
    tall, wide = -(-h // most), -(-w // most)
    rows, columns = -(-h // tall), -(-w // wide)
    made = np.zeros((c, rows, columns))
    for i in range(rows):
        for j in range(columns):
            cell = one[:, i * tall : (i + 1) * tall, j * wide : (j + 1) * wide]
            made[:, i, j] = cell.reshape(c, -1).mean(axis=1)
    return made


def angle(one: Maps, other: Maps) -> float:
    return float(one.ravel() @ other.ravel() / np.sqrt((one**2).sum() * (other**2).sum()))


def gram(one: Maps) -> Maps:
    c, h, w = one.shape
    made = np.zeros((c, c))
    for i in range(h):
        for j in range(w):
            made += np.outer(one[:, i, j], one[:, i, j])
    return made / (h * w)


def likeness(one: Maps) -> Maps:
    cells = blocks_mean(one, 14).reshape(one.shape[0], -1).T
    made = np.zeros((len(cells), len(cells)))
    for p, a in enumerate(cells):
        for q, b in enumerate(cells):
            lengths = np.linalg.norm(a) * np.linalg.norm(b)
            made[p, q] = a @ b / lengths if lengths else 0.0
    return made


def perceptual(one: Maps, other: Maps) -> float:
    def units(x: Maps) -> Maps:
        lengths = np.sqrt((x**2).sum(axis=0))
        return blocks_mean(np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0), 56)

    return float(((units(one) - units(other)) ** 2).sum(axis=0).mean())


def naive_triplet(r: list[Maps], c: list[Maps], s: list[Maps]) -> Maps:
    g_r, g_c, g_s = (x[-1].mean(axis=(1, 2)) for x in (r, c, s))
    parts = [g_c, g_s, g_r, abs(g_r - g_c), abs(g_r - g_s), g_r * g_c, g_r * g_s]
    for x, y, z in zip(r, c, s, strict=True):
        means = [one.mean(axis=(1, 2)) for one in (x, y, z)]
        parts.append(
            np.array(
                [
                    angle(means[0], means[1]),
                    perceptual(x, y),
                    np.linalg.norm(means[0] - means[2]),
                    np.linalg.norm(x.std(axis=(1, 2)) - z.std(axis=(1, 2))),
                    angle(gram(x), gram(z)),
                    np.abs(likeness(x) - likeness(y)).mean(),
                ]
            )
        )
    return np.concatenate(parts)


def of_one(some: list[Any], place: int) -> list[Maps]:
    return [one[place].double().numpy() for one in some]


def test_the_triplet_is_what_a_slow_second_writing_gives() -> None:
    r, c, s = maps(0), maps(1), maps(2)
    made = from_maps(FEATURES["triplet-v1"], {"image": r, "content": c, "style": s})
    assert made.shape == (2, 7 * 40 + 6 * 4)
    for i in range(2):
        expected = naive_triplet(of_one(r, i), of_one(c, i), of_one(s, i))
        np.testing.assert_allclose(made[i].numpy(), expected, rtol=2e-5, atol=2e-6)


def test_the_pair_of_references_is_compared_by_the_same_numbers() -> None:
    c, s = maps(1), maps(2)
    made = from_maps(FEATURES["references-v1"], {"content": c, "style": s})
    assert made.shape == (2, 4 * 40 + 6 * 4)
    g_c, g_s = (x[-1].mean(dim=(2, 3)).numpy() for x in (c, s))
    np.testing.assert_allclose(made[:, :160].numpy(), np.hstack([g_c, g_s, abs(g_c - g_s), g_c * g_s]), atol=2e-6)
    x, y = of_one(c, 1)[1], of_one(s, 1)[1]
    expected = [perceptual(x, y), angle(gram(x), gram(y)), np.abs(likeness(x) - likeness(y)).mean()]
    np.testing.assert_allclose(made[1, 166:172].numpy()[[1, 4, 5]], expected, rtol=2e-5)


def test_the_numbers_of_one_picture_are_what_the_table_says() -> None:
    r = maps(3)
    features = FEATURES["image-v1"]
    made = from_maps(features, {"image": r})[0].numpy()
    blocks = {block.name: made[block.start : block.stop] for block in features.blocks([5, 7, 6, 40])}
    for tap, one in enumerate(of_one(r, 0), start=1):
        energy = (one**2).sum(axis=0).mean()
        alike = likeness(one)
        expected = {
            "mean of channels": one.mean(axis=(1, 2)),
            "deviation of channels": one.std(axis=(1, 2)),
            "root mean square of activations": np.sqrt((one**2).mean()),
            "share of the energy that varies with position": one.var(axis=(1, 2)).sum() / energy,
            "trace of the Gram matrix over its norm": np.trace(gram(one)) / np.sqrt((gram(one) ** 2).sum()),
            "mean self-similarity": alike.mean(),
            "deviation of self-similarity": alike.std(),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(blocks[f"{name}, tap {tap}"], value, rtol=3e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("place", range(4))
def test_a_picture_compared_with_itself_has_no_distance_and_every_cosine_is_1(place: int) -> None:
    tap = summarise(maps(0)[place], ALL)
    assert perceptual_distance(tap, tap).tolist() == [0.0, 0.0]
    assert similarity_distance(tap, tap).tolist() == [0.0, 0.0]
    assert distance(tap.mean, tap.mean).tolist() == [0.0, 0.0]
    assert distance(tap.deviation, tap.deviation).tolist() == [0.0, 0.0]
    assert cosine(tap.mean, tap.mean).tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
    assert gram_cosine(tap, tap).tolist() == pytest.approx([1.0, 1.0], abs=1e-6)


def test_the_perceptual_distance_is_lpips_with_all_weights_1() -> None:
    """On AlexNet at 224 pixels no map has more than 55 positions a side, so nothing is averaged."""
    network = ALEXNET.at_random(seed=0)
    plain = Lpips(backbone=network, heads=tuple(torch.ones(c) for c in network.channels), heads_source="ones")
    rng = np.random.default_rng(0)
    one, other = (torch.from_numpy(rng.random((2, 3, 224, 224), dtype=np.float32)) for _ in range(2))
    with torch.inference_mode():
        pairs = zip(network(one), network(other), strict=True)
        taps = [(summarise(a, ["directions"]), summarise(b, ["directions"])) for a, b in pairs]
        ours = sum(perceptual_distance(a, b) for a, b in taps)
        torch.testing.assert_close(ours, plain(one, other), rtol=1e-5, atol=1e-6)


def test_gram_matrices_of_two_styles_differ_though_their_energies_are_equal() -> None:
    """A Gram 'matrix' of one number, the energy, would give the cosine 1 for any two pictures."""
    one = maps(0)[1]
    other = maps(5)[1] * torch.linspace(0.2, 3.0, 7)[:, None, None]  # another mixture of channels
    other = other * (one.square().sum() / other.square().sum()).sqrt()
    level = torch.zeros_like(one)
    level[:, 0] = one.square().sum(dim=1).sqrt()  # all energy in the first channel
    result, spread, flat = (summarise(x, ["gram"]) for x in (one, other, level))
    assert max(gram_cosine(result, spread).tolist()) < 0.95
    assert max(gram_cosine(result, flat).tolist()) < 0.7


def test_a_gram_matrix_knows_what_stands_where_in_no_picture() -> None:
    one = maps(0)[1]
    turned = one.flip(2)
    assert gram_cosine(summarise(one, ["gram"]), summarise(turned, ["gram"])).tolist() == pytest.approx(
        [1, 1], abs=1e-6
    )
    assert min(similarity_distance(*(summarise(x, ["similarity"]) for x in (one, turned))).tolist()) > 1e-3


def test_the_gram_cosine_is_the_same_by_matrices_and_by_positions() -> None:
    one, other = maps(0)[3], maps(1)[3]  # 12 positions of 40 channels: kept as they are
    assert tuple(summarise(one, ["gram"]).gram.shape) == (2, 12, 40)
    twice = [torch.cat([x] * 10, dim=3) for x in (one, other)]  # the same matrices out of 120 positions
    assert tuple(summarise(twice[0], ["gram"]).gram.shape) == (2, 40, 40)
    few = gram_cosine(*(summarise(x, ["gram"]) for x in (one, other)))
    many = gram_cosine(*(summarise(x, ["gram"]) for x in twice))
    assert few.tolist() == pytest.approx(many.tolist(), abs=1e-6)


def test_maps_without_any_activation_give_zeros_and_no_nan() -> None:
    dark, some = [torch.zeros_like(one) for one in maps(0)], maps(1)
    made = from_maps(FEATURES["triplet-v1"], {"image": dark, "content": some, "style": dark})
    assert bool(torch.isfinite(made).all())
    alone = from_maps(FEATURES["image-v1"], {"image": dark})
    assert float(alone.abs().max()) == 0.0


def test_nothing_is_written_into_the_maps() -> None:
    some = maps(0)
    before = [one.clone() for one in some]
    from_maps(FEATURES["triplet-v1"], {"image": some, "content": some, "style": some})
    assert all(torch.equal(a, b) for a, b in zip(some, before, strict=True))


def test_one_reference_stands_for_all_results() -> None:
    r, c, s = maps(0), maps(1, n=1), maps(2, n=1)
    together = from_maps(FEATURES["triplet-v1"], {"image": r, "content": c, "style": s})
    many = {"image": r, "content": [x.expand(2, -1, -1, -1) for x in c], "style": [x.expand(2, -1, -1, -1) for x in s]}
    torch.testing.assert_close(together, from_maps(FEATURES["triplet-v1"], many), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_every_kind_states_its_columns_truly(name: str) -> None:
    features = FEATURES[name]
    channels = [5, 7, 6, 40]
    made = from_maps(features, {one: maps(i) for i, one in enumerate(features.inputs)})
    blocks = features.blocks(channels)
    assert blocks[-1].stop == made.shape[1]
    assert features.name == name
    assert len({block.name for block in blocks}) == len(blocks)
    assert {one for block in blocks for one in block.reads} == set(features.inputs)
    assert all((block.stop - block.start == 1) == (block.kind == "scalar") for block in blocks)
    assert any(char.isdigit() for char in features.source)  # a year
    assert features.definition.startswith(name)


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_a_block_moves_only_with_the_pictures_that_it_says_it_reads(name: str) -> None:
    features = FEATURES[name]
    given = {one: maps(i) for i, one in enumerate(features.inputs)}
    before = from_maps(features, given)
    for picture in features.inputs:
        moved = (from_maps(features, given | {picture: maps(9)}) != before).any(dim=0).numpy()
        for block in features.blocks([5, 7, 6, 40]):
            assert bool(moved[block.start : block.stop].any()) == (picture in block.reads), (picture, block.name)


def test_vgg_gives_3614_columns_and_the_ablations_leave_a_picture_out() -> None:
    blocks = FEATURES["triplet-v1"].blocks((64, 128, 256, 512, 512))
    features = Features(
        items=("a",),
        values=np.zeros((1, 3614), dtype=np.float32),
        blocks=blocks,
        definition="",
        backbone="",
        sha256="",
        source="",
    )
    assert len(features.columns()) == 7 * 512 + 5 * 6
    assert len(features.columns(kind="scalar")) == 30
    assert len(features.columns(without=("style",))) == 4 * 512 + 5 * 3
    assert len(features.columns(without=("content",))) == 4 * 512 + 5 * 3
    assert len(features.columns(without=("content", "style"))) == 512


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no kind of features 'triplet-v2'; did you mean 'triplet-v1'"):
        features_named("triplet-v2")


def test_the_triplet_can_be_exported_and_gives_the_same_elsewhere(tmp_path: Any) -> None:
    needed("onnx")
    needed("onnxscript")
    runtime = needed("onnxruntime")

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(3, 8, 3, stride=1, padding=1)
            self.second = torch.nn.Conv2d(8, 40, 3, stride=8)

        def taps(self, picture: Any) -> list[Any]:
            first = torch.relu(self.first(picture))
            return [first, torch.relu(self.second(first))]

        def forward(self, image: Any, content: Any, style: Any) -> Any:
            seen = {"image": self.taps(image), "content": self.taps(content), "style": self.taps(style)}
            return from_maps(FEATURES["triplet-v1"], seen)

    torch.manual_seed(0)
    whole = Whole().eval()
    given = [torch.rand(2, 3, 64, 64) for _ in range(3)]
    batch = torch.export.Dim.DYNAMIC
    names = ("image", "content", "style")
    program = torch.onnx.export(
        whole, tuple(given), dynamo=True, dynamic_shapes={name: {0: batch} for name in names}, input_names=names
    )
    program.save(tmp_path / "whole.onnx")
    session = runtime.InferenceSession(str(tmp_path / "whole.onnx"))
    three = [torch.rand(3, 3, 64, 64) for _ in range(3)]
    got = session.run(None, {name: one.numpy() for name, one in zip(names, three, strict=True)})[0]
    with torch.inference_mode():
        expected = whole(*three).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
