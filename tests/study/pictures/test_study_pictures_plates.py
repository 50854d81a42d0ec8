"""A plate's number is gone for the simulated dichromat and clear for others; the score claims no more than it may."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from PIL import Image

from paragone.errors import BadInput, UnknownName
from paragone.images import lab
from paragone.study.pictures import plates as room
from paragone.study.pictures.plates import KINDS, NOTHING, SIDE, Plate, choices, plate, plate_set, score, seen_by

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG
# 15(6), 2009, table 1, severity 1.0: another model than the one by which the plates are made.
MACHADO = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
DIGITS = ["7", "29", "58", "64"]


def light(coded: np.ndarray) -> np.ndarray:
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def coded(linear: np.ndarray) -> np.ndarray:
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def dots(digits: str, kind: str, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Colours in the middle of every dot, read from the PNG itself, and which dots make the number."""
    image = np.asarray(Image.open(io.BytesIO(plate(seed, digits, kind)))) / 255
    rng = np.random.default_rng([seed, KINDS.index(kind), int(digits), len(digits)])
    places = room._packed(rng)[:, :2]
    rows, columns = (places[:, 1] - 0.5).astype(int), (places[:, 0] - 0.5).astype(int)
    return image[rows, columns], room._in_number(places, digits)


def as_seen(colours: np.ndarray, observer: str) -> np.ndarray:
    """CIELAB of colours as an observer sees them."""
    if observer != "normal":
        model, kind = observer.split()
        seen = seen_by(light(colours), kind) if model == "vienot" else light(colours) @ np.array(MACHADO[kind]).T
        colours = coded(seen)
    return lab(colours[None].astype(np.float32))[0]


def contrast(digits: str, kind: str, observer: str) -> float:
    """Distance between the mean colours of number and ground, in CIELAB."""
    colours, number = dots(digits, kind)
    seen = as_seen(colours, observer)
    return float(np.linalg.norm(seen[number].mean(axis=0) - seen[~number].mean(axis=0)))


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_the_number_is_gone_for_whom_it_is_made(digits: str, kind: str) -> None:
    assert contrast(digits, kind, "normal") > 30
    assert contrast(digits, kind, f"vienot {kind}") < 1.5
    assert contrast(digits, kind, f"machado {kind}") < 3


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_no_single_dot_stands_out_for_whom_it_is_made(kind: str) -> None:
    colours, number = dots("58", kind)
    seen = as_seen(colours, f"vienot {kind}")
    nearest = np.linalg.norm(seen[number][:, None] - seen[~number][None], axis=2).min(axis=1)
    assert nearest.max() < 1.5
    plain = as_seen(colours, "normal")
    assert np.linalg.norm(plain[number][:, None] - plain[~number][None], axis=2).min() > 20


@pytest.mark.parametrize("observer", ["normal", "vienot protan", "vienot deutan", "machado protan", "machado deutan"])
def test_everybody_reads_the_control(observer: str) -> None:
    assert contrast("29", "control", observer) > 60
    colours, number = dots("29", "control")
    lightness = as_seen(colours, observer)[:, 0]
    assert lightness[number].min() > lightness[~number].max() + 10


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_lightness_tells_a_normal_observer_little_and_dot_sizes_nothing(kind: str) -> None:
    rng = np.random.default_rng([1, KINDS.index(kind), 58, 2])
    packed = room._packed(rng)
    number = room._in_number(packed[:, :2], "58")
    assert abs(packed[number, 2].mean() - packed[~number, 2].mean()) < 0.5
    colours, _ = dots("58", kind)
    lightness = as_seen(colours, "normal")[:, 0]
    assert lightness[number].min() < lightness[~number].max()
    assert lightness[number].max() > lightness[~number].min()


def test_a_simulated_dichromat_keeps_greys_and_confuses_along_one_line() -> None:
    grey = np.full((1, 3), 0.4)
    for kind in ("protan", "deutan"):
        np.testing.assert_allclose(seen_by(grey, kind), grey, atol=2e-3)
        seen = seen_by(np.random.default_rng(0).random((50, 3)), kind)
        np.testing.assert_allclose(seen_by(seen, kind), seen, atol=1e-9)
        assert np.linalg.matrix_rank(seen, tol=1e-6) == 2


def test_dots_do_not_touch_and_stay_in_the_disc() -> None:
    packed = room._packed(np.random.default_rng(5))
    assert len(packed) > 400
    gaps = np.linalg.norm(packed[:, None, :2] - packed[None, :, :2], axis=2) - packed[:, None, 2] - packed[None, :, 2]
    assert gaps[~np.eye(len(packed), dtype=bool)].min() > 0.5
    assert (np.hypot(*(packed[:, :2] - SIDE / 2).T) + packed[:, 2]).max() < SIDE / 2


def test_the_same_plate_is_the_same_file_and_another_seed_another_one() -> None:
    assert plate(3, "42", "protan") == plate(3, "42", "protan")
    assert len({plate(seed, digits, kind) for seed in (3, 4) for digits in ("42", "24") for kind in KINDS}) == 12
    image = Image.open(io.BytesIO(plate(3, "42", "protan")))
    assert image.size == (SIDE, SIDE)


def test_the_control_comes_first_and_kinds_take_turns() -> None:
    assert plate_set(7, 0) == []
    chosen = plate_set(7, 8)
    assert [one.kind for one in chosen] == ["control", *["protan", "deutan"] * 3, "protan"]
    assert len({one.digits for one in chosen}) == 8
    assert chosen == plate_set(7, 8)
    assert chosen != plate_set(8, 8)


def test_choices_hold_the_right_number_once() -> None:
    for shown in [*plate_set(1, 8), Plate(4, "7", "protan")]:
        offered = choices(shown)
        assert offered == sorted(set(offered))
        assert len(offered) == 5
        assert shown.digits in offered
        assert {len(number) for number in offered} == {len(shown.digits)}
        assert offered == choices(shown)


def answered(*, protan: str, deutan: str, control: str = "r") -> tuple[str, tuple[str, ...], int, int]:
    """The score for plates answered right (r), wrong (w), with nothing (n), or not at all (-)."""
    kinds = ["control"] * len(control) + ["protan"] * len(protan) + ["deutan"] * len(deutan)
    shown = [Plate(place, f"{place + 20}", kind) for place, kind in enumerate(kinds)]
    said = {"r": None, "w": "99", "n": NOTHING, "-": None}
    answers = [
        one.digits if how == "r" else said[how] for one, how in zip(shown, control + protan + deutan, strict=True)
    ]
    return tuple(score(shown, answers))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("protan", "deutan", "control", "outcome", "failed"),
    [
        ("rr", "rr", "r", "passed", ()),
        ("rrr", "rwr", "r", "passed", ()),
        ("rr", "rw", "r", "unknown", ()),
        ("rr", "ww", "r", "failed", ("deutan",)),
        ("nn", "rr", "r", "failed", ("protan",)),
        ("nn", "nn", "r", "failed", ("protan", "deutan")),
        ("nn", "nn", "w", "unknown", ("control", "protan", "deutan")),
        ("nn", "nn", "-", "unknown", ("protan", "deutan")),
        ("rr", "rr", "w", "unknown", ("control",)),
        ("rr", "rr", "-", "unknown", ()),
        ("--", "--", "-", "unknown", ()),
        ("rr", "--", "r", "unknown", ()),
        ("r", "w", "r", "failed", ("deutan",)),
    ],
)
def test_the_score_says_failed_only_where_the_control_was_read(
    protan: str, deutan: str, control: str, outcome: str, failed: tuple[str, ...]
) -> None:
    assert answered(protan=protan, deutan=deutan, control=control)[:2] == (outcome, failed)


def test_the_score_counts_plates_that_were_read() -> None:
    assert answered(protan="rw-", deutan="rn")[2:] == (2, 4)
    assert score([], []) == ("unknown", (), 0, 0)
    with pytest.raises(BadInput, match="0 answers for 1 colour plates"):
        score([Plate(0, "7", "control")], [])


@pytest.mark.parametrize(("n", "past"), [(2, 0.04), (3, 0.104)])
def test_few_dichromats_get_past_by_guessing(n: int, past: float) -> None:
    share = 0.0
    for guesses in itertools.product("rw", repeat=n):
        chance = np.prod([0.2 if guess == "r" else 0.8 for guess in guesses])
        share += chance * (answered(protan="".join(guesses), deutan="r" * n)[0] == "passed")
    assert share == pytest.approx(past)


def test_what_is_no_plate_is_refused() -> None:
    with pytest.raises(UnknownName, match="no kind of plate 'tritan'"):
        plate(1, "12", "tritan")
    for digits in ("", "123", "a", "１"):
        with pytest.raises(BadInput, match="a plate shows one or two digits"):
            plate(1, digits, "protan")
