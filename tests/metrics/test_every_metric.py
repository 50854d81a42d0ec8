"""What holds for every metric in the catalogue; a new one is covered by being listed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from paragone.errors import BadImage
from paragone.metric import Metric
from paragone.metrics import METRICS, describe
from paragone.metrics.describe import available
from paragone.metrics.worker import REFERENCE_RESIZER

RECORDS = [METRICS.get(name) for name in METRICS.builtin]
READY = [record for record in RECORDS if available(record) and record.level == "item" and "prompt" not in record.inputs]
every = pytest.mark.parametrize("metric", READY, ids=lambda record: record.name)


def noise(height: int = 48, width: int = 56, seed: int = 0) -> np.ndarray:
    rough = np.random.default_rng(seed).random((height, width, 3))
    return np.clip(0.7 * ndimage.gaussian_filter(rough, (1, 1, 0)) + 0.3 * rough, 0, 1).astype(np.float32)


def pictures(metric: Metric, height: int = 48, width: int = 56) -> list[np.ndarray]:
    return [noise(height, width, seed) for seed in range(len(metric.inputs))]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_record_says_everything(record: Metric) -> None:
    assert METRICS.get(record.name) is record
    assert record.inputs[0] == "image"
    assert record.low < record.high
    assert record.smallest >= 1
    for text in (record.summary, record.definition, record.source):
        assert len(text) > 10
    assert not record.summary.endswith(".")
    assert " " not in record.definition
    assert any(character.isdigit() for character in record.source), "a source has a year"
    told = str(record.compute.__doc__)
    assert "Returns:" in told or "ame arguments" in told  # a family is documented once
    assert len(told) > 60


@pytest.mark.parametrize("record", [one for one in RECORDS if one.same_size], ids=lambda record: record.name)
def test_the_resizer_of_references_stands_in_the_definition(record: Metric) -> None:
    assert f"ref-{REFERENCE_RESIZER}" in record.definition.split("/")


def test_definitions_are_unique() -> None:
    definitions = [record.definition for record in RECORDS]
    assert len(set(definitions)) == len(definitions)


@every
def test_it_gives_one_python_float_in_its_range(metric: Metric) -> None:
    value = metric.compute(*pictures(metric))
    assert type(value) is float
    assert metric.low <= value <= metric.high


@every
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_small_picture_is_in_range_or_undefined(metric: Metric, data: st.DataObject) -> None:
    sides = st.integers(metric.smallest, metric.smallest + 9)
    height, width = data.draw(sides), data.draw(sides)
    levels = data.draw(st.sampled_from([1, 2, 3, 256]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    drawn = [
        (rng.integers(0, levels, (height, width, 3)) * (255 // max(1, levels - 1))).astype(np.uint8)
        for _ in metric.inputs
    ]
    value = metric.compute(*drawn)
    slack = 1e-9 * max(1, abs(metric.low), metric.high if math.isfinite(metric.high) else 1)
    assert math.isnan(value) or metric.low - slack <= value <= metric.high + slack


@every
def test_the_same_pictures_give_the_same_bits(metric: Metric) -> None:
    given_pictures = pictures(metric)
    value = metric.compute(*given_pictures)
    assert metric.compute(*given_pictures) == value
    assert metric.compute(*[np.asfortranarray(array) for array in given_pictures]) == value
    assert metric.compute(*[array.astype(np.float64) for array in given_pictures]) == value
    assert metric.compute(*[np.pad(array, ((3, 2), (1, 4), (0, 0)))[3:-2, 1:-4] for array in given_pictures]) == value
    for array in given_pictures:
        array.flags.writeable = False
    assert metric.compute(*given_pictures) == value


@every
def test_eight_and_sixteen_bits_and_grey_are_one_picture(metric: Metric) -> None:
    grey = [np.random.default_rng(seed).integers(0, 256, (40, 44)).astype(np.uint8) for seed in range(2)]
    grey = grey[: len(metric.inputs)]
    value = metric.compute(*grey)
    assert metric.compute(*[array.astype(np.uint16) * 257 for array in grey]) == value
    assert metric.compute(*[np.repeat(array[..., None], 3, axis=2) for array in grey]) == value
    assert metric.compute(*[array / 255 for array in grey]) == value


@every
def test_values_up_to_255_are_refused(metric: Metric) -> None:
    with pytest.raises(BadImage, match=r"are not in \[0, 1\]; divide by the value of white"):
        metric.compute(*[array * 255 for array in pictures(metric)])


@pytest.mark.parametrize("metric", [one for one in READY if len(one.inputs) > 1], ids=lambda record: record.name)
def test_a_reference_that_equals_the_picture_is_best(metric: Metric) -> None:
    picture, other = pictures(metric)[:2]
    same, different = metric.compute(picture, picture), metric.compute(picture, other)
    if metric.better == "higher":
        assert different < same == metric.high
    else:
        assert different > same == metric.low


@pytest.mark.parametrize("metric", [one for one in READY if one.better != "neither"], ids=lambda record: record.name)
def test_its_declared_direction_is_that_of_heavy_blur(metric: Metric) -> None:
    picture = noise()
    blurred = ndimage.gaussian_filter(picture, (4, 4, 0))
    good, bad = (metric.compute(one, *[picture] * (len(metric.inputs) - 1)) for one in (picture, blurred))
    assert good > bad if metric.better == "higher" else good < bad


@every
def test_its_smallest_size_is_enough(metric: Metric) -> None:
    side = metric.smallest
    value = metric.compute(*pictures(metric, max(side, 2), max(side, 2)))
    assert math.isfinite(value)


@pytest.mark.parametrize("name", sorted(METRICS.builtin))
def test_it_is_described_for_machines(name: str) -> None:
    import json

    described = describe(name)
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert {"name", "level", "inputs", "better", "range", "source", "needs", "available", "reconstruction"} <= set(
        described
    )
