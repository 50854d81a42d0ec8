"""Leaks are planted and must be found; an honest learner must pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from crossval_world import Linear, World, learner
from installed import needed
from paragone.errors import BadInput
from paragone.evaluators import LEARNERS
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.exams import Refit
from paragone.evaluators.protocol.leaks import CHECKS, audit
from paragone.evaluators.task import Fitted, Predicted, Task
from paragone.features.described import Features
from paragone.scores import Scores
from paragone.splits import leave_one_out

WORLD = World()
LEVELS = WORLD.level_of("method")
FOLD = leave_one_out(WORLD.levels("method"), "method")[1]
HONEST = Entrant(name="ridge", learner=learner())


def _checks(entrant: Any = HONEST, **changed: Any) -> list[str]:
    given: dict[str, Any] = {"features": WORLD.features, "people": WORLD.people, "fold": FOLD} | changed
    found = audit(given.pop("features"), given.pop("people"), given.pop("fold"), entrant, levels=LEVELS, **given)
    return [own.check for own in found]


def _votes(*, honest: bool) -> Callable[[frozenset[str]], Refit]:
    """Votes as a table of wins; scores are mean wins against the items that are left. A dishonest refit leaves none out."""
    value = WORLD.truth["style"]
    wins = (value[:, None] > value[None, :]).astype(float)

    def votes(changed: frozenset[str]) -> Refit:
        table = wins.copy()
        at = [row for row, item in enumerate(WORLD.items) if item in changed]
        table[at] = 1.0 - table[at]
        table[:, at] = 1.0 - table[:, at]

        def refit(held: frozenset[str]) -> Scores:
            out = held if honest else frozenset()
            kept = np.array([item not in out for item in WORLD.items])
            score = np.where(kept, table[:, kept].mean(axis=1), np.nan)
            frame = pl.DataFrame({"item": WORLD.items, "score": score, "criterion": "style"}).fill_nan(None)
            return Scores(frame, name="human")

        return refit

    return votes


def test_an_honest_learner_passes() -> None:
    assert _checks() == []


def test_a_scaler_that_saw_held_out_rows_is_caught() -> None:
    def leaking(features: Features, people: Scores) -> Entrant:
        mean = features.values.mean(axis=0)

        def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
            return [Linear(task._replace(x=np.tanh(task.x - mean)), 1.0) for task in tasks]

        return Entrant(name="leaking scaler", learner=learner(fit))

    found = audit(WORLD.features, WORLD.people, FOLD, leaking, levels=LEVELS)
    assert [own.check for own in found] == ["features"]
    assert found[0].predictor == "leaking scaler"
    assert "other features of held-out items gave another model (predictions moved by up to" in found[0].message


def test_a_scaler_before_the_split_is_caught() -> None:
    def standardised(features: Features) -> Features:
        values = (features.values - features.values.mean(axis=0)) / features.values.std(axis=0)
        return replace(features, values=np.tanh(values).astype(np.float32))

    assert _checks(prepare=standardised) == ["features"]
    assert _checks(prepare=lambda features: replace(features, values=np.tanh(features.values))) == []


def test_a_learner_that_chose_its_column_by_all_scores_is_caught() -> None:
    def leaking(features: Features, people: Scores) -> Entrant:
        y = people.of_criterion("style").sort("item")["score"].to_numpy()
        order = np.argsort([-abs(np.corrcoef(column, y)[0, 1]) for column in features.values.T.astype(np.float64)])

        def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
            return [_Columns(task, order) for task in tasks]

        return Entrant(name="chosen before", learner=learner(fit))

    assert "scores" in _checks(leaking)


class _Columns(Linear):
    """Weights columns by a rank that was found before the split."""

    def __init__(self, task: Task, order: NDArray[np.int64]) -> None:
        self.rank = (1.0 + np.argsort(order)).astype(np.float32)
        super().__init__(task, 1.0)
        self.w = self.w / self.rank


def test_votes_on_held_out_items_are_caught_in_the_targets() -> None:
    people = _votes(honest=True)(frozenset())(frozenset())
    assert _checks(people=people, votes=_votes(honest=True), targets="refit") == []
    assert _checks(people=people, votes=_votes(honest=False), targets="refit") == ["votes"]
    assert _checks(people=people, votes=_votes(honest=True), targets="all") == ["votes"]


def test_a_model_that_scales_by_the_items_it_is_asked_about_is_caught() -> None:
    class Transductive(Linear):
        def predict(self, x: NDArray[np.float32]) -> Predicted:
            return super().predict((x - x.mean(axis=0) + self.mean).astype(np.float32))

    def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        return [Transductive(task, 1.0) for task in tasks]

    assert _checks(Entrant(name="batch norm", learner=learner(fit))) == ["neighbours"]


def test_a_learner_without_a_seed_is_caught() -> None:
    rng = np.random.default_rng()

    def fit(tasks: Sequence[Task], *, seed: int, quiet: bool = True) -> list[Fitted]:
        return [Linear(task, float(rng.uniform(1, 50))) for task in tasks]

    assert _checks(Entrant(name="restless", learner=learner(fit))) == ["repeat"]


def test_a_split_that_overlaps_or_knows_the_level_is_caught() -> None:
    both = FOLD._replace(train=tuple(sorted((*FOLD.train, FOLD.test[0]))))
    assert {"overlap", "level", "features", "scores"} <= set(_checks(fold=both))
    slipped = FOLD._replace(train=tuple(sorted((*FOLD.train, FOLD.test[0]))), test=FOLD.test[1:])
    assert _checks(fold=slipped) == ["level"]


def test_a_picture_that_stands_on_both_sides_is_caught() -> None:
    values = WORLD.features.values.copy()
    place = {item: at for at, item in enumerate(WORLD.items)}
    values[place[FOLD.test[3]], :6] = values[place[FOLD.train[0]], :6]
    values[place[FOLD.test[3]], 6:] = values[place[FOLD.train[0]], 6:]
    found = audit(replace(WORLD.features, values=values), WORLD.people, FOLD, HONEST, levels=LEVELS)
    assert [(own.check, own.items) for own in found] == [("twin", (FOLD.test[3],))]


def test_every_check_has_a_test_and_refit_needs_votes() -> None:
    assert set(CHECKS) == {"overlap", "level", "twin", "repeat", "features", "scores", "votes", "neighbours"}
    with pytest.raises(BadInput, match="targets = 'refit' needs votes"):
        _checks(targets="refit")


def test_nothing_that_was_handed_in_is_changed() -> None:
    before: Mapping[str, Any] = {"values": WORLD.features.values.copy(), "frame": WORLD.people.frame.clone()}
    _checks()
    np.testing.assert_array_equal(WORLD.features.values, before["values"])
    assert WORLD.people.frame.equals(before["frame"])


@pytest.mark.parametrize("name", sorted(LEARNERS.builtin))
def test_every_learner_that_is_shipped_passes(name: str) -> None:
    made = LEARNERS.get(name)
    if made.extra == "learn":
        needed("sklearn")
    options = {"epochs": 2, "seeds": 2} if name == "astra-score" else {}
    assert _checks(Entrant(name=name, learner=made, options=options)) == []
