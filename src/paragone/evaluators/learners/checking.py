"""What every learner asks of its tasks and options before it starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...errors import BadConfig, BadInput, TooFew, UnknownName
from ..task import Task

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["FEWEST_ROWS", "check_grid", "check_option", "check_tasks", "settings_of"]

Settings = TypeVar("Settings", bound="DataclassInstance")

FEWEST_ROWS = 3  # our choice: two rows fix a line, and nothing is left to judge it by


def check_tasks(tasks: Sequence[Task]) -> None:
    """Refuse tasks that nothing can be learned from, before any is trained.

    Raises:
        TooFew: a task has fewer than `FEWEST_ROWS` rows.
        BadInput: shapes do not fit, features or targets hold what is no finite number, or all targets are equal.
    """
    seen: set[int] = set()  # one array serves several criteria and is looked through once
    for task in tasks:
        x, y = task.x, task.y
        if x.ndim != 2 or y.shape != (len(x),) or task.groups.shape != (len(x),):
            raise BadInput(
                f"task '{task.name}': features are {x.shape}, targets {y.shape}, groups {task.groups.shape}; they must be "
                f"(n, d), (n,) and (n,)",
                where=task.name,
            )
        if len(x) < FEWEST_ROWS:
            raise TooFew(
                f"task '{task.name}' has {len(x)} training rows; {FEWEST_ROWS} are the fewest to learn from",
                where=task.name,
            )
        if x.shape[1] == 0:
            raise BadInput(f"task '{task.name}': the features have no columns", where=task.name)
        if not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise BadInput(
                f"task '{task.name}': the target of row {row} is {y[row]}; leave items without a score out",
                where=task.name,
            )
        if id(x) not in seen and not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x).all(axis=1))[0])
            raise BadInput(
                f"task '{task.name}': the features of row {row} hold what is no finite number", where=task.name
            )
        seen.add(id(x))
        if y.min() == y.max():
            raise BadInput(
                f"task '{task.name}': all {len(y)} targets are {y[0]:g}; equal scores teach nothing", where=task.name
            )


def check_option(
    learner: str,
    option: str,
    value: float,
    *,
    least: float,
    most: float = np.inf,
    above: bool = False,
    below: bool = False,
    whole: bool = False,
) -> None:
    """Refuse an option that is out of its range.

    Args:
        learner: whose option it is.
        option: its name.
        value: what was given.
        least: smallest value that will do; with `above`, values must be larger than it.
        most: largest value that will do; with `below`, values must be smaller than it.
        above: `least` itself will not do.
        below: `most` itself will not do.
        whole: it must be a whole number.

    Raises:
        BadConfig: it is outside, or no number of the kind.
    """
    numbers: tuple[type, ...] = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    fits = isinstance(value, numbers) and not isinstance(value, bool) and np.isfinite(value)
    if fits and (value > least if above else value >= least) and (value < most if below else value <= most):
        return
    kind = "a whole number" if whole else "a number"
    floor = f"above {least:g}" if above else f"of at least {least:g}"
    limit = "" if most == np.inf else f" and below {most:g}" if below else f" and at most {most:g}"
    raise BadConfig(f"{learner}: {option} is {value!r}; it must be {kind} {floor}{limit}", where=option)


def check_grid(learner: str, option: str, values: Collection[float]) -> None:
    """Refuse a grid that is empty or holds what is not above 0.

    Raises:
        BadConfig: so it is.
    """
    if not values:
        raise BadConfig(f"{learner}: {option} holds no value to choose from", where=option)
    for value in values:
        check_option(learner, option, value, least=0, above=True)


def settings_of(kind: type[Settings], learner: str, options: Mapping[str, Any]) -> Settings:
    """The settings that these options give.

    Args:
        kind: a dataclass; its fields are the options that there are.
        learner: whose options they are.
        options: name -> value; what is not named keeps its default.

    Raises:
        BadConfig: no such option, or a value out of its range.
    """
    fields = dataclasses.fields(kind)
    known = [field.name for field in fields]
    for option in options:
        if option not in known:
            nearest = UnknownName.among(option, known, f"option of '{learner}'")
            raise BadConfig(nearest.message, where=option)
    grids = {field.name for field in fields if isinstance(field.default, tuple)}
    given = {option: value if option not in grids else _grid(value) for option, value in options.items()}
    return kind(**given)


def _grid(value: Any) -> tuple[Any, ...]:
    """One value is a grid of one: on a command line, options are single values."""
    return tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else (value,)
