"""list, report and demo: what there is, and the page about all of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from command_line import Cli
from paragone.cli.show import first_words

METRIC = {"name", "level", "inputs", "better", "range", "source", "needs", "available", "reconstruction"}


def test_metrics_are_listed_with_every_promised_fact(cli: Cli, here: Path) -> None:
    rows = cli("list", "metrics", "--json").document
    assert isinstance(rows, list)
    assert len(rows) >= 10
    for row in rows:
        assert set(row) >= METRIC
        assert row["better"] in ("higher", "lower", "neither")
        assert len(row["range"]) == 2


@pytest.mark.parametrize("what", ["estimators", "layouts", "metrics", "sources", "stylisers"])
def test_every_catalogue_is_listed_for_people_and_machines(cli: Cli, here: Path, what: str) -> None:
    rows = cli("list", what, "--json").document
    assert {"name", "summary", "available"} <= set(rows[0])
    table = cli("list", what)
    assert (table.code, table.err) == (0, "")
    assert table.out.startswith("name,summary,")
    assert len(table.out.splitlines()) == len(rows) + 1
    assert all(row["name"] in table.out for row in rows)


def test_reasons_are_short_on_a_terminal_and_whole_in_the_document(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(here / "empty"))
    whole = {row["name"]: row["reason"] for row in cli("list", "backbones", "--json").document}
    shown = first_words(pl.DataFrame({"reason": [whole["vgg19"], ""]}))["reason"].to_list()
    assert shown == [whole["vgg19"].partition(":")[0], ""]
    assert len(shown[0]) < 120 < len(whole["vgg19"])


def test_no_other_catalogue_is_listed(cli: Cli, here: Path) -> None:
    said = cli("list", "methods")
    assert said.code == 2
    assert "'methods' is not one of" in said.err


def test_a_report_is_one_page_with_its_figures(cli: Cli, votes_here: Path) -> None:
    for verb in (
        ["screen", "-o", "screening.csv"],
        ["consistency", "--replicates", "100", "-o", "consistency.csv"],
        ["score", "--replicates", "100"],
        ["score", "--by", "method", "--replicates", "100"],
        ["measure", "ssim", "light"],
        ["compare", "scores/human.csv", "scores/ssim.csv", "scores/light.csv", "--replicates", "100"],
    ):
        assert cli(*verb, "--quiet").code == 0
    said = cli("report")
    assert (said.code, said.out, said.err) == (0, "report.html\n", "")
    page = Path("report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "simulated" in page.lower()
    assert not re.search(r"""(?:src|href)=["']https?://""", page), "the page loads nothing from a network"
    assert list(Path("figures").glob("*.svg"))
    assert cli("report", ".", "-o", "pages/other.html", "--title", "Ours & <theirs>", "--json").document == {
        "report": "pages/other.html"
    }
    assert "Ours &amp; &lt;theirs&gt;" in Path("pages/other.html").read_text()


def test_a_report_of_answers_alone_names_the_verbs_that_add_the_rest(cli: Cli, votes_here: Path) -> None:
    for name in ("benchmark.toml", "items.csv", "references.csv", "study.toml", "plan.csv", "answers.csv"):
        Path(name).unlink()
    shutil.rmtree("scores")
    assert cli("report").code == 0
    page = Path("report.html").read_text()
    assert "paragone score" in page
    assert "paragone measure" in page


def test_a_report_of_nothing_is_refused(cli: Cli, here: Path) -> None:
    assert "holds no benchmark, answers or scores" in cli("report").refusal
    assert "no folder 'nowhere'" in cli("report", "nowhere").refusal
    assert list(here.iterdir()) == []


def test_a_broken_part_is_named_and_the_old_page_stays(cli: Cli, votes_here: Path) -> None:
    Path("report.html").write_text("old")
    Path("screening.csv").write_text("participant,kept\np,maybe,1\n")
    assert "screening.csv" in cli("report").refusal
    assert Path("report.html").read_text() == "old"


def test_a_demo_replaces_nothing_that_it_did_not_make(cli: Cli, here: Path) -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("keep")
    assert "'mine' is not empty" in cli("demo", "mine").refusal
    assert "'mine' holds something that no demo made" in cli("demo", "mine", "--force").refusal
    assert Path("mine/notes.txt").read_text() == "keep"


@pytest.mark.slow
def test_the_demo_ends_by_naming_its_report(cli: Cli, here: Path) -> None:
    said = cli("demo", "d", "--quiet")
    assert (said.code, said.out, said.err) == (0, "d/report.html\n", "")
    page = Path("d/report.html").read_text()
    assert "simulated" in page.lower()
    assert cli("check", "d", "--json").document["faults"] == []
    Path("d/notes.txt").write_text("mine")
    assert "'d/notes.txt' was not made by the demo" in cli("demo", "d").refusal
    assert Path("d/report.html").read_text() == page
    Path("d/notes.txt").unlink()
    again = cli("demo", "d", "--quiet")
    assert (again.code, again.out) == (0, "d/report.html\n"), "a demo may replace a demo"
