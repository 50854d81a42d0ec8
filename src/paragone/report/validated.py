"""The report's sections on learned evaluators: how far they agree with people on levels that they had not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from ..evaluators.protocol.validation import CrossValidation
from .blocks import Block, Folded, Plates, Prose, Section, Terms
from .digits import count, joined
from .index import Index, slug
from .leaders import leaders_of, verdict_words
from .validated_figures import levels_plate, means_plate, spread_words, validation_badges
from .validated_tables import further_tables, learner_badges, papers_blocks
from .words import capital, criterion_words

__all__ = ["validated_sections", "validation_record", "validation_words"]

_MOST_WHYS = 8


def validated_sections(index: Index) -> list[Section]:
    """One section for each validation; none where there are none."""
    made, taken = [], set[str]()
    for validation in index.material.validations:
        wished = f"validated-{slug(validation.factor)}"
        name = next(name for n in range(1, 1000) if (name := wished if n == 1 else f"{wished}-{n}") not in taken)
        taken.add(name)
        made.append(_section(validation, index, name))
    return made


def validation_words(validation: CrossValidation) -> str:
    """The protocol in a sentence or two, ready to quote."""
    protocol, features = validation.notes.get("protocol", {}), validation.notes.get("features", {})
    learners = validation.table.filter(pl.col("kind") == "learner")["predictor"].unique(maintain_order=True).to_list()
    who = (
        f"The learned {'evaluator' if len(learners) == 1 else 'evaluators'} {joined(learners)}"
        if learners
        else "Metrics"
    )
    folds = len(protocol.get("folds", ())) or validation.per_fold["fold"].n_unique()
    said = f"{who} {'was' if len(learners) == 1 else 'were'} judged on held-out levels of {validation.factor} "
    said += f"({count(folds, 'fold')}) by SRCC and KRCC with the scores of people. "
    if learners:
        said += (
            "Training targets were estimated anew for each fold from answers that touch no held-out item."
            if validation.notes.get("targets") == "refit"
            else "Training targets come from all answers."
        )
    if learners and features:
        said += f" Features {features['definition']} come from the frozen network {_network(features)}."
    return said.strip()


def validation_record(validation: CrossValidation) -> dict[str, Any]:
    """What the provenance says of a validation."""
    method = f"one {validation.factor} held out at a time"
    return {"table": f"crossval-{validation.factor}", "verb": "crossval", "method": method, **validation.notes}


def _section(validation: CrossValidation, index: Index, name: str) -> Section:
    factor, badges = index.factor_words(validation.factor), validation_badges(validation, index)
    place = {criterion: at for at, criterion in enumerate(index.criteria(validation.criteria))}
    leaders = sorted(leaders_of(validation), key=lambda own: place[own.criterion])
    said = verdict_words(leaders)
    blocks: list[Block] = [Prose(" ".join(said), "lead", [*badges, *learner_badges(validation)])]
    blocks.append(Prose(_asked(validation, factor), "small"))
    blocks.append(Plates([means_plate(validation, own.criterion, index) for own in leaders]))
    blocks += [Prose(own.sentence(), "plain", [*badges, *learner_badges(validation)]) for own in leaders]
    blocks += papers_blocks(validation, index)
    strips = [plate for own in leaders if (plate := levels_plate(validation, own, index)) is not None]
    if strips:
        blocks.append(Plates(strips))
    blocks += further_tables(validation, leaders, index)
    blocks += _undefined(validation)
    blocks.append(Folded("How this was done, and how to read it", _notes(validation)))
    return Section(name, f"Learned evaluators on an unseen {factor}", blocks, badges)


def _asked(validation: CrossValidation, factor: str) -> str:
    folds = validation.per_fold["fold"].n_unique()
    return (
        f"Each {factor} was left out in turn ({count(folds, 'fold')}): evaluators learned from the others and were asked "
        "about it; metrics and floors were judged on the same pictures. A floor is what can be foretold from scores of "
        "other pictures alone, such as the mean of the same content."
    )


def _undefined(validation: CrossValidation) -> list[Block]:
    """Folds without a correlation, and why."""
    folds = validation.per_fold["fold"].n_unique()
    rows = validation.table.filter(
        (pl.col("statistic") == "srcc") & (pl.col("kind") != "set") & (pl.col("folds") < folds)
    )
    said = [
        f"{row['predictor']}, {criterion_words(row['criterion'])}: {row['folds']} of {folds} folds defined"
        + (f" ({row['note']})" if row["note"] else "")
        for row in rows.iter_rows(named=True)
        if row["predictor"] != "constant"  # which has no correlation by its nature, as the notes say
    ]
    if not said:
        return []
    more = f"; and {len(said) - _MOST_WHYS} more in the CSV" if len(said) > _MOST_WHYS else ""
    return [Prose(f"Undefined folds are left out of a mean. {'; '.join(said[:_MOST_WHYS])}{more}.", "warn")]


def _notes(validation: CrossValidation) -> list[Block]:
    notes = validation.notes
    protocol, features = notes.get("protocol", {}), notes.get("features", {})
    entries = [("protocol", f"{validation_words(validation)}")]
    sizes = pl.Series(protocol.get("test_items", []), dtype=pl.Int64)
    if sizes.len():
        entries.append(
            ("held out", f"{spread_words(sizes)} items a fold, {count(int(sizes.sum()), 'item')} in all folds")
        )
    if features:
        digest = features.get("sha256") or "none, the weights come from no file"
        entries.append(
            ("backbone", f"{_network(features)}; weights: {features.get('source', 'unknown')}; SHA-256 {digest}")
        )
        entries.append(
            (
                "features",
                f"{features['definition']}, {features.get('columns')} columns of {features.get('items')} items",
            )
        )
    entries += [(name, _learner(own)) for name, own in notes.get("learners", {}).items()]
    if "seed" in notes:
        entries.append(("seed and resamples", f"{notes['seed']}; {count(notes.get('replicates'), 'resample')}"))
    entries += list(_left_out(notes.get("left_out", {})))
    reading = [capital(str(line)).rstrip(".") for line in notes.get("reading", ())]
    return [Terms(entries), *(Prose(f"{line}.", "small") for line in reading)]


def _network(features: Mapping[str, Any]) -> str:
    digest = str(features.get("sha256") or "")
    return f"{features['backbone']}" + (f" (SHA-256 {digest[:12]})" if digest else "")


def _learner(own: Mapping[str, Any]) -> str:
    blind = [f"{criterion} without {joined(list(kinds))}" for criterion, kinds in own.get("without", {}).items()]
    options = [f"{key} = {value}" for key, value in own.get("options", {}).items()]
    reads = {"all": "reads all columns", "compared": "reads the columns that compare pictures"}.get(
        str(own.get("columns")), "reads the scalars"
    )
    return "; ".join([f"{own.get('label')}, {reads}", *blind, *options])


def _left_out(left: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    words = {
        "without_level": "items without a level",
        "without_features": "items without features",
        "scored_in_no_fold": "scored items in no fold",
    }
    for key, told in words.items():
        n = left.get(key, {}).get("n", 0)
        if n:
            yield "left out", f"{n} {told}, for example '{left[key]['items'][0]}'"
    for criterion, lost in left.get("without_score", {}).items():
        if lost.get("n", 0):
            yield "left out", f"{lost['n']} items without a score of people on {criterion_words(criterion)}"
    lost = left.get("without_refitted_target", {})
    if lost:
        yield (
            "left out",
            f"{sum(lost.values())} training targets that could not be estimated anew, in {len(lost)} tasks",
        )
