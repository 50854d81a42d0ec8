"""One head: its gradients are those of autograd, its steps those of torch's AdamW, its start that of `torch.nn.Linear`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from installed import needed
from paragone.errors import TooFew
from paragone.evaluators.learners.training import (
    HeadSettings,
    Layers,
    adamw_steps,
    gradients,
    output,
    smooth_l1,
    split_flat,
    train,
)

D, HIDDEN = 5, 8


def some_layers(seed: int = 0) -> Layers:
    flat = np.random.default_rng(seed).normal(size=D * HIDDEN + 2 * HIDDEN + 1).astype(np.float32)
    return split_flat(flat, D, HIDDEN)


def rows(n: int = 11, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)).astype(np.float32), (3 * rng.normal(size=n)).astype(np.float32)


def by_autograd(x: Any, y: Any, layers: Layers, kept: Any, scale: float) -> tuple[float, list[Any]]:
    torch = needed("torch")
    first, first_bias, second, second_bias = (torch.tensor(part, requires_grad=True) for part in layers)
    a = torch.relu(torch.from_numpy(x) @ first + first_bias)
    if kept is not None:
        a = a * torch.from_numpy(kept) * scale
    loss = torch.nn.functional.smooth_l1_loss(a @ second + second_bias, torch.from_numpy(y), beta=1.0)
    loss.backward()
    return loss.item(), [part.grad.numpy() for part in (first, first_bias, second, second_bias)]


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("n", [1, 11])
def test_gradients_are_those_of_autograd(dropped: bool, n: int) -> None:
    x, y = rows(n)
    layers = some_layers()
    kept = np.random.default_rng(2).random((n, HIDDEN)) > 0.3 if dropped else None
    into = split_flat(np.full(D * HIDDEN + 2 * HIDDEN + 1, np.nan, dtype=np.float32), D, HIDDEN)
    gradients(x, y, layers, into, kept=kept, scale=1.25 if dropped else 1.0)
    loss, expected = by_autograd(x, y, layers, kept, 1.25)
    for ours, theirs in zip(into, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    if not dropped:
        assert smooth_l1(output(x, layers) - y) == pytest.approx(loss, rel=1e-6)


def test_gradients_write_into_nothing_but_their_place() -> None:
    x, y = rows()
    layers = some_layers()
    kept = np.ones((11, HIDDEN), dtype=np.bool_)
    before = [part.copy() for part in (x, y, kept, *layers)]
    gradients(x, y, layers, some_layers(3), kept=kept, scale=1.0)
    assert all(np.array_equal(a, b) for a, b in zip((x, y, kept, *layers), before, strict=True))


def test_smooth_l1_is_a_parabola_inside_one_and_a_line_outside() -> None:
    assert smooth_l1(np.array([0.5], np.float32)) == 0.125
    assert smooth_l1(np.array([-3.0], np.float32)) == 2.5
    assert smooth_l1(np.array([0.5, -3.0], np.float32)) == pytest.approx(2.625 / 2)


def test_steps_are_those_of_torchs_adamw() -> None:
    torch = needed("torch")
    rng = np.random.default_rng(0)
    weights = rng.normal(size=37).astype(np.float32)
    theirs = torch.tensor(weights, requires_grad=True)
    rival = torch.optim.AdamW([theirs], lr=3e-3, weight_decay=0.1)
    slopes = np.empty_like(weights)
    step = adamw_steps(weights, slopes, rate=3e-3, weight_decay=0.1)
    for _ in range(50):
        slopes[:] = rng.normal(size=37)
        theirs.grad = torch.tensor(slopes)
        rival.step()
        step()
        np.testing.assert_allclose(weights, theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_without_dropout_training_follows_torchs_own() -> None:
    """The whole loop against a network of torch with the same start and order of rows."""
    torch = needed("torch")
    x, y = rows(40)
    settings = HeadSettings(hidden=HIDDEN, dropout=0.0, epochs=5, batch=16, rate=1e-2, weight_decay=0.05)
    ours = train(x, y, np.arange(40), settings, np.random.default_rng(7), name="t")

    rng = np.random.default_rng(7)  # the initial weights come first, then the order of each epoch
    start = split_flat(2 * rng.random(D * HIDDEN + 2 * HIDDEN + 1, dtype=np.float32) - 1, D, HIDDEN)
    net = torch.nn.Sequential(torch.nn.Linear(D, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1))
    with torch.no_grad():
        for parameter, value, inputs in zip(
            net.parameters(), (start.first.T, *start[1:]), (D, D, HIDDEN, HIDDEN), strict=True
        ):
            parameter.copy_(torch.tensor(value * inputs**-0.5).reshape(parameter.shape))
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.05)
    for _ in range(5):
        order = rng.permutation(40)
        for at in range(0, 40, 16):
            part = order[at : at + 16]
            optimiser.zero_grad()
            torch.nn.functional.smooth_l1_loss(net(torch.tensor(x[part]))[:, 0], torch.tensor(y[part])).backward()
            optimiser.step()
    with torch.no_grad():
        expected = net(torch.tensor(x))[:, 0].numpy()
    np.testing.assert_allclose(output(x, ours.layers), expected, rtol=1e-3, atol=1e-4)
    assert ours.loss == pytest.approx(smooth_l1(expected - y), rel=1e-4)


@pytest.mark.parametrize(("n", "steps"), [(64, 2), (65, 3), (20, 1)])
def test_an_epoch_takes_every_row_once(n: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("torch")
    seen: list[Any] = []
    from paragone.evaluators.learners import training

    def spy(x: Any, *rest: Any, **named: Any) -> None:
        seen.append(x[:, 0].copy())
        gradients(x, *rest, **named)

    monkeypatch.setattr(training, "gradients", spy)
    x, y = rows(n)
    train(x, y, np.arange(n), HeadSettings(hidden=4, epochs=2), np.random.default_rng(0), name="t")
    assert len(seen) == 2 * steps
    for epoch in (seen[:steps], seen[steps:]):
        assert sorted(np.concatenate(epoch)) == sorted(x[:, 0])
    assert not np.array_equal(np.concatenate(seen[:steps]), np.concatenate(seen[steps:]))


def test_dropout_leaves_out_its_share_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    needed("torch")
    masks: list[Any] = []
    scales: set[float] = set()
    from paragone.evaluators.learners import training

    def spy(*parts: Any, kept: Any, scale: float) -> None:
        masks.append(kept)
        scales.add(scale)
        gradients(*parts, kept=kept, scale=scale)

    monkeypatch.setattr(training, "gradients", spy)
    x, y = rows(320)
    train(x, y, np.arange(320), HeadSettings(hidden=64, epochs=10), np.random.default_rng(0), name="t")
    kept = np.concatenate(masks)
    assert kept.shape == (3200, 64)
    assert abs(kept.mean() - 0.8) < 4 * np.sqrt(0.16 / kept.size)
    assert np.abs(kept.mean(axis=0) - 0.8).max() < 5 * np.sqrt(0.16 / 3200)  # no unit is favoured
    assert list(scales) == [pytest.approx(1.25, rel=1e-4)]


def test_early_stopping_sets_whole_groups_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    needed("torch")
    trained: set[float] = set()
    from paragone.evaluators.learners import training

    def spy(x: Any, *rest: Any, **named: Any) -> None:
        trained.update(x[:, 0].tolist())
        gradients(x, *rest, **named)

    monkeypatch.setattr(training, "gradients", spy)
    x, y = rows(60)
    groups = np.repeat(np.arange(10), 6)
    train(x, y, groups, HeadSettings(hidden=4, epochs=3, patience=1), np.random.default_rng(0), name="t")
    used = np.array([value in trained for value in x[:, 0].tolist()]).reshape(10, 6)
    assert set(used.sum(axis=1).tolist()) == {0, 6}
    assert (used.sum(axis=1) == 0).sum() == 2  # 15 % of ten groups of one size


def test_a_group_that_is_nearly_everything_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    needed("torch")
    x, y = rows(30)
    groups = (np.arange(30) < 3).astype(np.int64)
    seen: list[int] = []
    from paragone.evaluators.learners import training

    def spy(x: Any, *rest: Any, **named: Any) -> None:
        seen.append(len(x))
        gradients(x, *rest, **named)

    monkeypatch.setattr(training, "gradients", spy)
    train(x, y, groups, HeadSettings(hidden=4, epochs=1, patience=1), np.random.default_rng(0), name="t")
    assert seen == [27]


def test_one_group_cannot_be_set_aside() -> None:
    needed("torch")
    x, y = rows(30)
    with pytest.raises(TooFew, match="task 't': early stopping sets whole groups aside, and all rows are of one group"):
        train(x, y, np.zeros(30, np.int64), HeadSettings(patience=1), np.random.default_rng(0), name="t")


def test_weights_start_as_those_of_a_linear_layer() -> None:
    """A step of next to nothing shows them: uniform within 1 / sqrt(inputs)."""
    needed("torch")
    x, y = rows(32)
    settings = HeadSettings(hidden=4000, epochs=1, rate=1e-12, weight_decay=0.0)
    layers = train(x, y, np.arange(32), settings, np.random.default_rng(0), name="t").layers
    for part, inputs in ((layers.first, D), (layers.first_bias, D), (layers.second, 4000)):
        bound = inputs**-0.5
        assert np.abs(part).max() <= bound * 1.0001
        assert part.std() == pytest.approx(bound / np.sqrt(3), rel=0.03)
        assert abs(part.mean()) < 0.05 * bound
