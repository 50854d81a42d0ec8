"""The card of an evaluator: what it is, what it learned from, how far to trust it, and what it is not for."""

from __future__ import annotations

import math

from .evaluator import Evaluator

__all__ = ["card_of"]


def card_of(evaluator: Evaluator, validation: str) -> str:
    """Return the card as Markdown.

    Args:
        evaluator: what it is about.
        validation: a table, as Markdown, of how it did on what it had not seen; '' where it was not validated.
    """
    read, people = evaluator.read, evaluator.people
    n_items = people["item"].n_unique()
    criteria = ", ".join(name or "one unnamed criterion" for name in evaluator.criteria)
    badges = ", ".join(flag.replace("_", " ") for flag in evaluator.flags)
    source = "simulated participants" if evaluator.simulated else "people"
    lines = [
        f"# {evaluator.name}",
        "",
        f"A learned evaluator: from pictures to what people say about {criteria}."
        + (f" **{badges}**" if badges else ""),
        "",
        "## What it reads",
        "",
        f"- Features: {read.definition}",
        f"- Backbone: {read.label}, frozen; weights: {read.source}"
        + (f", SHA-256 `{read.sha256}`" if read.sha256 else ""),
        "- Features of another definition, or weights of another digest, are refused.",
        "",
        "## What it learned",
        "",
        f"- Scores by {source} of {n_items} items"
        + "".join(f", {people[factor].n_unique()} levels of {factor}" for factor in evaluator.factors())
        + ".",
        *[
            f"- {name or 'Score'}: {evaluator.learner_of(name)}; {head.columns.size} columns."
            for name, head in evaluator.heads.items()
        ],
        "",
        "## How far to trust it",
        "",
        *_errors(evaluator),
        *([validation.strip(), ""] if validation else []),
        "## For what",
        "",
        "To foretell how people would judge further pictures of this kind, before or beside asking them: "
        f"{_new(evaluator)}.",
        "Items that lie further from all that it learned than the items of one level lie from those of the others are",
        "told (`far` beside the scores); what it says about them is a guess.",
        "",
        "## Not for what",
        "",
        "- Not a substitute for people where a decision hangs on small differences: see the errors above.",
        "- Not for optimising pictures against it: a method that was trained to please it is out of its range.",
        "- Not for other references, styles or questions than those it was validated on.",
        "",
        "Score new results: `paragone rate RESULTS --evaluator THIS_FOLDER`",
        "",
    ]
    return "\n".join(lines)


def _new(evaluator: Evaluator) -> str:
    if not evaluator.factor:
        return "further items"
    return f"a new {evaluator.factor}'s results on the references of the benchmark"


def _errors(evaluator: Evaluator) -> list[str]:
    said = []
    for name, head in evaluator.heads.items():
        errors = head.errors
        if math.isnan(errors.item):
            said.append(f"- {name or 'Score'}: not validated; its intervals tell the spread between seeds only.")
            continue
        line = (
            f"- {name or 'Score'} ({errors.protocol}, {errors.n_items} items of {errors.n_levels} levels, each unseen): "
            f"95 % of the scores of people lie within {errors.item:.3g} of what it said"
        )
        if not math.isnan(errors.level):
            line += f"; the mean of an unseen {evaluator.factor or 'level'} within {errors.level:.3g}"
        if not math.isnan(errors.guess):
            line += f", where the mean of the known ones, said of each, would be within {errors.guess:.3g}"
        said.append(f"{line}.")
    return [*said, ""]
