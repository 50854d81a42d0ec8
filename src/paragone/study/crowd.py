"""Simulated participants of a study that is being served: what each of them answers to what their page shows.

A page tells nobody which items it shows. Whoever holds the study's key can tell, because public ids follow from it; so a
simulated participant recognises the trial, feels what `paragone.observers` would have them feel, and answers by the page
kind's own `simulate`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from ..benchmark import shown_reference
from ..design import PairStage, RatingStage
from ..errors import BadInput, UnknownName
from ..observers import Observers
from ..scores import Scores
from .flow import criteria_order
from .frozen import Frozen, Sheet, Trial
from .pages import PAGES, Person, Simulated
from .pictures import choices, plate_set, public_id
from .practice import PracticeQuestion
from .server.desk import PRACTICE

__all__ = ["Crowd", "Member"]

_AT_TRAINING = 5.0  # seconds at a question; our choice


class Crowd:
    """Everybody who is simulated in one study.

    Args:
        frozen: the version that is served.
        key: the secret from which public ids follow, `Keys.derived("public ids")`.
        latent: what is true: a score for every item that is shown, on each criterion of the study. A hidden reference
            without one is as good as the best item.
        seed: every random choice follows from it, >= 0.
        observers: how participants answer; None: the defaults.

    Raises:
        BadInput: an item that is shown, checks aside, has no latent score.
        UnknownName: `stage_temperature` names a stage that the study does not have.
    """

    def __init__(
        self, frozen: Frozen, key: bytes, latent: Scores, *, seed: int, observers: Observers | None = None
    ) -> None:
        self.frozen = frozen
        self.key = key
        self.seed = seed
        self.look = observers or Observers()
        unknown = sorted(set(self.look.stage_temperature) - set(frozen.stages))
        if unknown:
            raise UnknownName.among(unknown[0], list(frozen.stages), "stage")
        truth = _truth(frozen, latent)
        scored = {name: np.array(list(items.values())) for name, items in truth.items()}
        self._means = {name: float(values.mean()) if values.size else 0.0 for name, values in scored.items()}
        spread = float(np.mean([values.std() for values in scored.values() if values.size] or [1.0]))
        self._spread = spread if spread > 0 else 1.0
        self._truth = _all_scored(frozen, truth, latent.name)

    def member(self, number: int, *, careless: bool | None = None) -> Member:
        """Return a simulated participant, the same one for the same number.

        Args:
            number: which, >= 0.
            careless: whether they answer at random; None: drawn with the chance that the observers have.
        """
        person = Person.drawn(np.random.default_rng([self.seed, number]), self.look, careless=careless)
        return Member(self, number, person)

    def shuffled(self, n: int) -> list[int]:
        """Return the numbers below n in an order that follows from the seed."""
        order: list[int] = np.random.default_rng([self.seed, n, 0xCA1]).permutation(n).tolist()
        return order

    def latent(self, item: str, criterion: str, *, centred: bool) -> float:
        """How good an item is, or how much better than the mean; 0 for one without a score, which only checks show."""
        score = self._truth[criterion].get(item)
        return 0.0 if score is None else score - centred * self._means[criterion]

    def rating(self, stage: RatingStage, person: Person) -> Person:
        """The person as they rate on a stage's scale: a fifth of it for a standard deviation of the latent scores."""
        if person.look.gain is not None:
            return person
        gain = (stage.high - stage.low) / 5 / self._spread
        return replace(person, look=msgspec.structs.replace(person.look, gain=gain))


class Member:
    """One simulated participant; made by `Crowd.member`.

    Args:
        crowd: whom they belong to.
        number: which of them.
        person: how they feel and answer.
    """

    def __init__(self, crowd: Crowd, number: int, person: Person) -> None:
        self.crowd = crowd
        self.number = number
        self.person = person
        self.lease = 0
        self.stage = ""
        self._trials: Mapping[str, tuple[Sheet, Trial]] = {}
        self._questions: Mapping[str, PracticeQuestion] = {}

    def sit(self, lease: int, stage: str, owner: str) -> None:
        """Take the sheets that the server has given them.

        Args:
            lease: id of the lease.
            stage, owner: whose sheets of the plan it is.

        Raises:
            UnknownName: the plan has no such stage or owner.
        """
        frozen, key = self.crowd.frozen, self.crowd.key
        sheets = frozen.sheets(stage, owner)
        self.lease, self.stage = lease, stage
        self._trials = {public_id(key, lease, t.trial): (sheet, t) for sheet in sheets for t in sheet.trials}
        asked = frozen.practice.get(stage, ())
        self._questions = {public_id(key, lease, f"{PRACTICE}{n}"): question for n, question in enumerate(asked)}

    def answer(self, public: str, criterion: str) -> Simulated:
        """Return what they answer to a trial, and after how many seconds.

        The same question always gets the same answer. Where criteria are asked one by one, they share the time of the
        trial evenly.

        Args:
            public: public id of the trial.
            criterion: what is asked.

        Raises:
            BadInput: the trial is not theirs.
        """
        _, trial = self._found(public)
        frozen = self.crowd.frozen
        stage = frozen.stages[trial.stage]
        page = PAGES.get(stage.page)
        centred = isinstance(stage, RatingStage)
        person = self.crowd.rating(stage, self.person) if isinstance(stage, RatingStage) else self.person
        shown = [key for key in (trial.left, trial.right, trial.item) if key is not None]
        felt = [person.felt(self.crowd.latent(key, criterion, centred=centred), key, criterion) for key in shown]
        rng = self._rng(trial.trial, criterion)
        value = page.simulate(felt, stage, person, rng, expected=trial.expected, stage_name=trial.stage).value
        seconds = person.seconds(self._rng(trial.trial, ""))
        one_by_one = isinstance(stage, PairStage) and stage.ask == "one"
        return Simulated(value, round(seconds / len(frozen.criteria), 3) if one_by_one else seconds)

    def trained(self, public: str) -> Simulated:
        """Return the right answer to a training question.

        Raises:
            BadInput: no training question of theirs has that id.
        """
        question = self._questions.get(public)
        if question is None:
            raise _unknown(public)
        return Simulated(question.expected, _AT_TRAINING)

    def order(self, public: str) -> list[str]:
        """Return the criteria in the order in which a trial asks them of this participant."""
        sheet, trial = self._found(public)
        frozen = self.crowd.frozen
        return criteria_order(frozen.study, frozen.stages[trial.stage], self.lease, sheet.session, frozen.criteria)

    def plate(self, offered: Sequence[str]) -> str:
        """Return the number that a colour-vision plate shows, by the numbers that are offered with it."""
        display, seed = self.crowd.frozen.study.display, self.crowd.frozen.study.seed
        right = {tuple(choices(plate)): plate.digits for plate in plate_set(seed, display.plates)}
        return right[tuple(offered)]

    def _found(self, public: str) -> tuple[Sheet, Trial]:
        found = self._trials.get(public)
        if found is None:
            raise _unknown(public)
        return found

    def _rng(self, trial: str, criterion: str) -> np.random.Generator:
        digest = hashlib.sha256(f"{self.stage}\0{trial}\0{criterion}".encode()).digest()
        return np.random.default_rng([self.crowd.seed, self.number, int.from_bytes(digest[:8])])


def _unknown(public: str) -> BadInput:
    return BadInput(
        f"the page shows '{public}', which the plan does not have; simulate with the folder and the study.key of the study "
        "that is served",
        where="--url",
    )


def _truth(frozen: Frozen, latent: Scores) -> dict[str, dict[str, float]]:
    """Criterion -> item -> score, larger is better."""
    sign = -1.0 if latent.better == "lower" else 1.0
    truth: dict[str, dict[str, float]] = {}
    for name in frozen.criteria:
        rows = latent.of_criterion(name if name in latent.criteria else None).select("item", "score").drop_nulls()
        truth[name] = {item: sign * score for item, score in rows.iter_rows()}
    return truth


def _all_scored(frozen: Frozen, truth: dict[str, dict[str, float]], name: str) -> dict[str, dict[str, float]]:
    """The same with hidden references, once every item that is shown has a score."""
    main = frozen.plan.filter(frozen.plan["expected"].is_null())
    shown = sorted({item for side in ("left", "right", "item") for item in main[side].drop_nulls()})
    for criterion, scores in truth.items():
        best = max(scores.values(), default=None)
        for item in shown:
            if item not in scores and best is not None and shown_reference(item) is not None:
                scores[item] = best
            if item not in scores:
                raise BadInput(
                    f"{name} has no score for '{item}' on '{criterion}'; give every shown item a latent score",
                    where=item,
                )
    return truth
