"""Results as JSON and as lines."""

from __future__ import annotations

import numpy as np
import polars as pl

from paragone.estimate import Question, estimate
from paragone.judgements import Votes
from paragone.loop.documents import score_document, score_warnings


def _votes(pairs: str, criterion: str | None = None) -> pl.DataFrame:
    rows = [
        (f"p{k}", a, b, "left" if (k + i) % 3 else "right", criterion)
        for k in range(6)
        for i, (a, b) in enumerate(pair.split("-") for pair in pairs.split())
    ]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("participant", "left", "right", "choice", "criterion"), pl.String), orient="row"
    )


def test_one_criterion_has_its_notes_at_the_top() -> None:
    notes = score_document(estimate(Votes(_votes("x-y y-z"))))["notes"]
    assert notes["components"] == 1
    assert notes["spectral_gap"] > 0
    assert notes["settings"]["intervals"] == "bootstrap"
    assert "criteria" not in notes


def test_several_criteria_show_the_worst_of_their_graphs() -> None:
    votes = Votes(pl.concat([_votes("x-y y-z z-x", "one"), _votes("x-y y-z", "two")]))
    notes = score_document(estimate(votes, question=Question(intervals="none")))["notes"]
    assert set(notes["criteria"]) == {"one", "two"}
    assert notes["spectral_gap"] == min(said["spectral_gap"] for said in notes["criteria"].values())


def test_groups_scored_apart_are_counted_as_components() -> None:
    votes = Votes(_votes("x-y u-v"))
    for name in ("rank-centrality", "bradley-terry-ridge"):
        made = estimate(votes, name, question=Question(intervals="none", apart=True))
        document = score_document(made)
        assert document["notes"]["components"] == 2
        assert {"strong_components", "spectral_gap"} <= set(document["notes"])
        assert {row["connected_group"] for row in document["scores"]} == {1, 2}


def test_what_a_reader_must_know_is_said_for_each_criterion() -> None:
    frame = _votes("x-y y-z z-x")
    one_sided = frame.with_columns(choice=pl.when(pl.col("left") == "z").then(pl.lit("right")).otherwise("choice"))
    one_sided = one_sided.with_columns(choice=pl.when(pl.col("right") == "z").then(pl.lit("left")).otherwise("choice"))
    lines = score_warnings(estimate(Votes(one_sided.with_columns(criterion=pl.lit("style")))))
    assert any(
        line.startswith("1 item never won; plain maximum likelihood has no finite score for it")
        and line.endswith("(style)")
        for line in lines
    )
    nameless = estimate(Votes(frame.drop("participant")), question=Question(replicates=100))
    assert any(line.startswith("intervals: bootstrap by answer") for line in score_warnings(nameless))


def test_numbers_of_arrays_and_what_is_no_number_leave_as_plain_json() -> None:
    from paragone.cli.options import plain

    assert plain({"a": np.float64("nan"), "b": [np.int64(3), float("inf")], "c": np.arange(2), 4: None}) == {
        "a": None,
        "b": [3, None],
        "c": [0, 1],
        "4": None,
    }
