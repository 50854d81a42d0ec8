"""Broken files, strange names and impossible settings: one line each, exit code 1, and nothing that stood there changes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from broken_files import BROKEN, Broken
from command_line import Cli

ALSO = {
    "votes": [["screen", "{file}"], ["consistency", "{file}"], ["import", "table", "{file}"]],
    "ratings": [["screen", "{file}"], ["consistency", "{file}"], ["import", "table", "{file}"]],
    "scores": [["import", "table", "{file}", "--set", "kind=scores"]],
}

# Columns of every table that a verb writes: each of them may replace this file, so what stops it is the broken input.
STOOD_HERE = b"item,score,status,participant,kept,reasons,statistic,value,n,predictor\n"


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_file_is_one_line_in_every_verb_that_reads_it(cli: Cli, broken: Broken, here: Path) -> None:
    path = broken.make(here)
    kept = here / "out.csv"
    kept.write_bytes(STOOD_HERE)
    for verb in [list(broken.verb), *ALSO[broken.reader]]:
        output = here / "study" if verb[0] == "import" else kept
        words = [word.format(file=path) for word in verb]
        said = cli(*words, "-o", output, "--json")
        assert re.search(broken.message, said.refusal.removeprefix("paragone: ")), verb
        error = said.document["error"]
        assert error["kind"] == broken.error
        assert error["message"] == said.refusal.removeprefix("paragone: ")
        assert kept.read_bytes() == STOOD_HERE
        assert not (here / "study").exists()


STRANGE = [
    "plain",
    'say "cheese"',
    "it's",
    "two\nlines",
    "a,b",
    "../../../up",
    "/etc/passwd",
    "..",
    "NA",
    "null",
    "nan",
    "-1",
    "001",
    "1e3",
    "criterion",
    "replicate",
    "item",
    "score",
    "<b>&amp;</b>",
    "名前 ñ 🎨",
    "e\u0301",
    "\u00e9",
    "x" * 500,
    "=SUM(A1)",
    "#comment",
    "{item}",
    "%s",
    "a\\b",
    "$HOME",
    "tab\there",
]


def _voted(participants: list[str], items: list[str]) -> pl.DataFrame:
    rows = [
        {"participant": who, "left": a, "right": b, "choice": "left" if (i + j + k) % 3 else "right", "criterion": "q"}
        for k, who in enumerate(participants)
        for i, a in enumerate(items)
        for j, b in enumerate(items)
        if a != b and (i - j) % len(items) <= 3
    ]
    return pl.DataFrame(rows)


def test_strange_item_ids_pass_through_every_verb(cli: Cli, here: Path) -> None:
    _voted(["NA", "null", "001", "p,q", 'r"s', "t\nu"], STRANGE).write_csv("votes.csv")
    scored = cli("score", "votes.csv", "--replicates", "100", "-o", "scores/human.csv")
    assert scored.code == 0, scored.err
    rows = cli("score", "votes.csv", "--intervals", "none", "--json").document["scores"]
    assert sorted(row["item"] for row in rows) == sorted(STRANGE)
    screened = cli("screen", "votes.csv", "--json").document["participants"]
    assert {person["participant"] for person in screened} == {"NA", "null", "001", "p,q", 'r"s', "t\nu"}
    assert cli("consistency", "votes.csv", "--replicates", "100", "--json").code == 0
    metric = pl.DataFrame({"item": STRANGE, "niqe": range(len(STRANGE))})
    metric.write_csv("niqe.csv")
    compared = cli("compare", "scores/human.csv", "niqe.csv", "--replicates", "100", "--json")
    assert compared.code == 0, compared.err
    assert {row["n"] for row in compared.document["agreement"] if row["statistic"] == "srcc"} == {len(STRANGE)}
    metric.with_columns(score="niqe").drop("niqe").write_csv("scores/niqe.csv")
    assert cli("report").code == 0
    page = Path("report.html").read_text()
    assert "<b>&amp;</b>" not in page
    assert "&lt;b&gt;" in page
    assert sorted(path.name for path in here.parent.iterdir() if path.name.startswith("up")) == []


def test_a_participant_named_na_is_a_participant(cli: Cli, here: Path) -> None:
    Path("r.csv").write_text("participant,item,value\nNA,x,3\nNA,y,1\nnone,x,4\nnone,y,2\n")
    document = cli("screen", "r.csv", "--json").document
    assert [person["participant"] for person in document["participants"]] == ["NA", "none"]
    left = cli("score", "r.csv", "--reliability", "NA=0", "--intervals", "none", "--json").document["scores"]
    assert [row["score"] for row in left] == [4.0, 2.0]


def test_words_of_ours_may_be_criteria_stages_and_factors(cli: Cli, here: Path) -> None:
    frame = _voted(["p", "q", "r"], ["a", "b", "c"])
    pl.concat([frame.with_columns(criterion=pl.lit(word)) for word in ("score", "item", "../x", "")]).with_columns(
        stage=pl.lit("criterion")
    ).write_csv("votes.csv")
    said = cli("score", "votes.csv", "--replicates", "100", "-o", "scores/human.csv")
    assert said.code == 0, said.err
    assert set(pl.read_csv("scores/human.csv", infer_schema=False)["criterion"]) == {"score", "item", "../x", None}
    pl.DataFrame({"item": ["a", "b", "c"], "../f": ["u", "v", "u"]}).write_csv("items.csv")
    levels = cli("score", "votes.csv", "--by", "../f", "--items", "items.csv", "--intervals", "none", "--json")
    assert {row["of"] for row in levels.document["scores"]} == {"../f"}
    assert cli("report").code == 0
    assert sorted(path.name for path in here.iterdir()) == [
        "figures",
        "items.csv",
        "report.html",
        "scores",
        "votes.csv",
    ]


def test_a_picture_path_in_a_table_may_lead_nowhere(cli: Cli, votes_here: Path) -> None:
    items = Path("items.csv").read_text()
    for place in ("", "/dev/zero", "../../../../../../etc/hostname", ".", "a\\b.png", "http://example.org/x.png"):
        Path("items.csv").write_text(items.replace("../results/alpha/boat_ink.png", place))
        said = cli("measure", "light", "-o", "l.csv")
        assert said.code == 0, place
        row = pl.read_csv("l.csv").filter(pl.col("item") == "alpha/boat/ink").row(0, named=True)
        assert row["score"] is None
        assert row["status"] != "ok"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("benchmark.toml", "nmae = 'x'\n", "benchmark.toml: no key 'nmae'; did you mean 'name'?"),
        ("benchmark.toml", "name = 3\n", "benchmark.toml: name: expected `str`, got `int`"),
        ("benchmark.toml", "name = 'x'\ncriteria = 'overall'\n", "benchmark.toml: criteria: expected `array`"),
        ("benchmark.toml", "name = \n", "benchmark.toml: not valid TOML"),
        ("benchmark.toml", "", "benchmark.toml: "),
        ("benchmark.toml", "name = 'x'\nfactors = ['methods']\n", "'methods'"),
        ("items.csv", "item,image\n", "items.csv"),
        ("items.csv", "image,method\nx.png,a\n", "items.csv: column 'item' is missing"),
        ("items.csv", "item,image,method,content,style\na,,m,c,s\na,,m,c,s\n", "'a'"),
        ("references.csv", "factor,level\ncontent,boat\n", "references.csv: column 'image' is missing"),
    ],
)
def test_a_benchmark_that_cannot_be_is_refused_by_every_verb_that_reads_it(
    cli: Cli, votes_here: Path, name: str, text: str, line: str
) -> None:
    Path(name).write_text(text)
    Path("plan.csv").write_text("trial,sheet,stage,kind\n")
    for words in (["plan"], ["measure", "light"], ["report"], ["simulate"]):
        assert line in cli(*words).refusal, words
    checked = cli("check", "--json")
    assert checked.code == 1
    assert any(line.removeprefix(f"{name}: ") in fault for fault in checked.document["faults"])
    assert Path("plan.csv").read_text() == "trial,sheet,stage,kind\n"
    assert not Path("report.html").exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("scores/human.csv", "item,score\na,1\na,2\n", ["report"]),
        ("scores/human.csv", "item\na\n", ["compare", "scores/human.csv", "scores/light.csv"]),
        ("scores/human.toml", "better = 'up'\n", ["report"]),
        ("scores/human.toml", "better = \n", ["report"]),
        ("scores/human.draws.parquet", "words", ["report"]),
        ("scores/human.draws.parquet", "words", ["compare", "scores/human.csv", "scores/light.csv"]),
        ("agreement.csv", "predictor,statistic,value\nssim,srcc,high\n", ["report"]),
        ("agreement.tests.csv", "a,b\n1,2\n", ["report"]),
        ("consistency.csv", "statistic,value\nkappa,much\n", ["report"]),
        ("screening.csv", "participant\np\n", ["report"]),
        ("screening.csv", "participant\np\n", ["score"]),
        ("plan.csv", "trial,sheet\n1,2\n", ["simulate"]),
        ("plan.csv", "", ["collect"]),
        ("answers.csv", "participant,trial\np,1\n", ["collect"]),
        ("rules.toml", "reject = 'checks'\n", ["screen", "votes.csv", "--rules", "rules.toml"]),
        ("rules.toml", "[speed]\nmedian = 'fast'\n", ["screen", "votes.csv", "--rules", "rules.toml"]),
        ("rules.toml", "[sped]\nmedian = 1.0\n", ["screen", "votes.csv", "--rules", "rules.toml"]),
    ],
)
def test_a_file_of_ours_that_was_broken_is_refused_by_name(
    cli: Cli, votes_here: Path, name: str, text: str, words: list[str]
) -> None:
    assert cli("score", "--replicates", "100").code == 0
    assert cli("measure", "light").code == 0
    assert cli("compare", "scores/human.csv", "scores/light.csv", "--replicates", "100").code == 0
    Path(name).write_text(text)
    assert Path(name).name.partition(".")[0] in cli(*words).refusal
    assert Path(name).read_text() == text


def test_people_who_are_all_left_out_leave_nothing_to_score(cli: Cli, votes_here: Path) -> None:
    Path("screening.csv").write_text("participant,kept,reasons\nsim-0001,false,checks\n")
    assert cli("score", "--json").document["error"]["kind"] == "TooFew"


@contextmanager
def _not_as_root() -> Iterator[None]:
    """Root may read every file, so another user reads."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_that_may_not_be_read_is_refused(cli: Cli, here: Path) -> None:
    Path("votes.csv").write_text("left,right,choice\na,b,left\n")
    here.chmod(0o755)
    cli("score", "votes.csv", "--json")  # what the verb imports is loaded, should another user not reach it
    Path("votes.csv").chmod(0)
    with _not_as_root():
        refusal = cli("score", "votes.csv").refusal
    assert "votes.csv" in refusal
    assert "Permission denied" in refusal


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["score", "vots.csv"], "no file 'vots.csv'; did you mean 'votes.csv'?"),
        (["screen", "votes.csv", "--rules", "rule.toml"], "no file 'rule.toml'; check the spelling"),
        (["consistency", "../bench/ratngs.csv"], "no file '../bench/ratngs.csv'; check the spelling"),
        (["compare", "vots.csv", "votes.csv"], "did you mean 'votes.csv'?"),
        (["import", "table", "vots.csv", "-o", "x"], "no file 'vots.csv'; did you mean 'votes.csv'?"),
        (["plan", "../benhc"], "no folder '../benhc'; did you mean '../bench'?"),
        (["measure", "ssim", "../results", "--content", "../content"], "did you mean '../contents'?"),
    ],
)
def test_a_file_that_is_not_there_is_refused_with_the_nearest_that_is(
    cli: Cli, votes_here: Path, words: list[str], line: str
) -> None:
    assert line in cli(*words).refusal


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 100_000, "xxx...xxx"),
        ("word " * 20_000, "word word"),
        (r"\u001b[31mred\u0007\u202e", r"\x1b[31mred\x07\u202e"),
    ],
    ids=["endless word", "endless line", "terminal codes"],
)
def test_what_a_refusal_quotes_is_short_and_steers_no_terminal(
    cli: Cli, votes_here: Path, value: str, shown: str
) -> None:
    path = votes_here / "study.toml"
    path.write_text(path.read_text() + f'\n[platform]\nprofile = "{value}"\n', encoding="utf-8")
    said = cli("plan", ".", "--json")
    assert shown in said.refusal
    assert len(said.refusal) < 5000
    assert said.refusal.isprintable()
    assert said.document["error"]["message"] == said.refusal.removeprefix("paragone: ")
