"""measure and compare: pictures to numbers, numbers against people."""

from __future__ import annotations

import shutil
import struct
import tomllib
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from command_line import Cli


def test_measure_json_is_the_promised_document(cli: Cli, votes_here: Path) -> None:
    said = cli("measure", "light", "ssim", ".", "--json")
    document = said.document
    assert said.err == ""
    assert set(document) == {"scores", "metrics"}
    assert len(document["scores"]) == 24
    assert {frozenset(row) for row in document["scores"]} == {frozenset({"item", "metric", "score", "status"})}
    assert set(document["metrics"]) == {"light", "ssim"}
    for facts in document["metrics"].values():
        assert {"definition", "better", "range", "source"} <= set(facts)
    assert document["metrics"]["ssim"]["better"] == "higher"
    assert document["metrics"]["light"]["range"] == [0.0, 255.0]


def test_in_a_benchmark_each_metric_has_its_file(cli: Cli, votes_here: Path) -> None:
    said = cli("measure", "all")
    assert said.code == 0
    assert said.out == ""
    written = [line for line in said.err.splitlines() if line.startswith("scores/")]
    assert {"scores/ssim.csv", "scores/light.csv", "scores/colour-transport.csv"} <= set(written)
    assert all(Path(name).is_file() for name in written)
    assert pl.read_csv("scores/ssim.csv").height == 12
    outside = cli("measure", "light", "../bench", "--quiet")
    assert outside.code == 0
    assert Path("../bench/scores/light.csv").is_file()


def test_bare_pictures_are_measured_against_bare_references(cli: Cli, voted: Path, here: Path) -> None:
    said = cli("measure", "light", "psnr", voted / "results" / "alpha", "--content", voted / "contents" / "boat.png")
    assert said.code == 0
    frame = pl.read_csv(said.out.encode())
    assert frame.columns == ["item", "light", "psnr"]
    assert frame.height == 4
    assert list(here.iterdir()) == []
    one = cli("measure", "light", voted / "contents" / "boat.png", "--json").document
    assert [row["item"] for row in one["scores"]] == ["boat"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_one_metric_may_have_a_file_name(cli: Cli, votes_here: Path, ending: str) -> None:
    assert cli("measure", "light", "-o", f"made/l.{ending}").code == 0
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    assert read(f"made/l.{ending}").height == 12
    assert cli("measure", "light", "ssim", "-o", "made/two").code == 0
    assert sorted(path.name for path in Path("made/two").glob("*.csv")) == ["light.csv", "ssim.csv"]


def test_what_all_leaves_out_is_named_with_the_reason(cli: Cli, voted: Path, here: Path) -> None:
    said = cli("measure", "all", voted / "results" / "alpha", "--style", voted / "styles" / "ink.png")
    assert said.code == 0
    (line,) = [line for line in said.err.splitlines() if line.startswith("not measured: ")]
    assert line == (
        "not measured: mse, psnr, psnr-y, ssim, ssim-uniform, ssim-y; there are no content references; name them by "
        "--content FOLDER (in a benchmark: --reference of `paragone new`)"
    )
    assert "colour-transport" in said.out.splitlines()[0]
    assert "not measured" not in cli("measure", "light", voted / "results" / "alpha").err


def _png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def test_bad_pictures_have_a_status_and_stop_nothing(cli: Cli, here: Path) -> None:
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (16, 16, 3)).astype(np.uint8)).save("good.png")
    whole = Path("good.png").read_bytes()
    Path("half.png").write_bytes(whole[: len(whole) // 2])
    Path("empty.png").write_bytes(b"")
    Path("words.jpg").write_bytes(b"no picture at all")
    Path("huge.png").write_bytes(_png(60_000, 60_000))
    Image.fromarray(np.zeros((2, 2, 3), np.uint8)).save("tiny.png")
    Path("notes.txt").write_text("x")
    said = cli("measure", "light", "blur", ".", "--json")
    assert said.code == 0
    status = {(row["item"], row["metric"]): (row["status"], row["score"]) for row in said.document["scores"]}
    assert status["good", "light"][0] == "ok"
    for name in ("half", "empty", "words", "huge"):
        for metric in ("light", "blur"):
            word, score = status[name, metric]
            assert (word != "ok", score) == (True, None), name
    assert status["tiny", "light"] == ("ok", 0.0)
    assert status["tiny", "blur"][0] != "ok"
    talk = cli("measure", "light", ".")
    assert "1 file is no picture and was skipped: notes.txt\n" in talk.err
    assert "light: 4 pictures have no score (broken)" in talk.err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["lihgt", "."], "no metric 'lihgt'; did you mean 'light'?"),
        (["."], "name a metric before '.'"),
        (["light", "nowhere.png"], "no file or folder 'nowhere.png'"),
        (["light", "nowhere/there"], "no file or folder 'nowhere/there'"),
        (["light", "ssim", "-o", "x.csv"], "'x.csv' is one file, and 2 metrics were asked for; name a folder"),
        (["ssim", "../results", "--content", "nowhere"], "nowhere"),
        (["light", ".", "--content", "../contents"], "a benchmark names its own references"),
        (["light", "../bench/scores"], "picture"),
        (["light", ".", "--jobs", "0"], "jobs is 0"),
        (["light", ".", "--cache", "votes.csv"], "votes.csv"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(
    cli: Cli, votes_here: Path, words: list[str], line: str
) -> None:
    said = cli("measure", *words, "--json")
    assert line in said.refusal
    assert said.document["error"]["message"] in said.refusal
    assert not Path("scores/light.csv").exists()


def test_pictures_without_a_reference_say_so(cli: Cli, votes_here: Path) -> None:
    said = cli("measure", "ssim", "../results")
    assert said.code == 0
    assert said.err.splitlines() == [
        "ssim: 12 pictures have no score (no_reference); there are no content references; name them by --content FOLDER "
        "(in a benchmark: --reference of `paragone new`)"
    ]
    assert set(pl.read_csv(said.out.encode())["ssim status"]) == {"no_reference"}


def test_a_metric_without_a_picture_is_a_fault_of_usage(cli: Cli, here: Path) -> None:
    assert cli("measure").code == 2
    assert cli("compare", "only-human.csv").code == 2


def test_a_name_that_is_not_utf8_is_refused_in_one_line(cli: Cli, here: Path) -> None:
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save("good.png")
    try:
        Path("bad\udcff.png").write_bytes(Path("good.png").read_bytes())
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    said = cli("measure", "light", ".", "--json")
    assert "bad\\udcff" in said.refusal
    assert "rename it" in said.refusal


@pytest.fixture
def compared(cli: Cli, votes_here: Path) -> Path:
    assert cli("score", "--replicates", "100", "--quiet").code == 0
    assert cli("measure", "ssim", "psnr", "si", "--quiet").code == 0
    return votes_here


FILES = ["scores/human.csv", "scores/ssim.csv", "scores/psnr.csv"]


def test_compare_json_is_the_promised_document(cli: Cli, compared: Path) -> None:
    document = cli("compare", *FILES, "--replicates", "100", "--group", "method", "--json").document
    assert {"agreement", "tests"} <= set(document)
    row = {"predictor", "criterion", "statistic", "value", "low", "high", "n", "group"}
    assert {frozenset(found) for found in document["agreement"]} == {frozenset(row)}
    assert {found["predictor"] for found in document["agreement"]} == {"ssim", "psnr"}
    groups = {found["group"] for found in document["agreement"]}
    assert {None, "method=alpha", "method=beta", "method=gamma"} <= groups
    for found in document["agreement"]:
        if found["statistic"] in ("srcc", "krcc", "plcc_raw") and found["value"] is not None:
            assert -1 <= found["value"] <= 1
        if found["low"] is not None:
            assert found["low"] <= found["value"] <= found["high"]
    tests = [test for test in document["tests"] if test["statistic"] == "srcc"]
    assert tests
    assert {"predictor_a", "predictor_b", "p", "p_holm", "method"} <= set(tests[0])


def test_agreement_goes_to_the_benchmark_and_can_be_redirected(cli: Cli, compared: Path) -> None:
    said = cli("compare", *FILES, "--replicates", "100")
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines()[-1] == "agreement.csv"
    assert Path("agreement.tests.csv").is_file()
    assert cli("compare", *FILES, "--replicates", "100", "-o", "a.parquet").code == 0
    assert pl.read_parquet("a.parquet").height == pl.read_csv("agreement.csv").height


def test_of_a_glob_what_cannot_be_compared_is_left_out_and_told(cli: Cli, compared: Path) -> None:
    assert cli("score", "--by", "method", "--replicates", "100", "--quiet").code == 0
    files = sorted(str(path) for path in Path("scores").glob("*.csv"))
    assert {"scores/human-by-method.csv", "scores/human.csv", "scores/simulated-truth.csv"} < set(files)
    said = cli("compare", "scores/human.csv", *files, "--replicates", "100")
    assert said.code == 0
    for line in (
        "scores/human.csv holds the scores of people themselves and is left out of the predictors",
        "scores/human-by-method.csv scores levels of method, scores/human.csv items; it is left out",
        "scores/simulated-truth.csv holds what was true in a simulation and is left out; to compare it, name it alone",
    ):
        assert said.err.splitlines().count(line) == 1
    assert set(pl.read_csv("agreement.csv")["predictor"]) == {"ssim", "psnr", "si"}
    assert "human-by-method" not in str(tomllib.loads(Path("agreement.toml").read_text())["notes"]["made"])
    assert cli("compare", "scores/human.csv", "scores/simulated-truth.csv", "--replicates", "100").code == 0
    refused = cli("compare", "scores/human.csv", "scores/human.csv", "scores/human-by-method.csv").refusal
    assert "nothing is left to compare with people: scores/human.csv holds" in refused
    assert "scores/human-by-method.csv scores levels of method" in refused
    refused = cli("compare", "scores/human.csv", "scores/human.csv", "scores/simulated-truth.csv").refusal
    assert "scores/simulated-truth.csv holds what was true in a simulation" in refused, "a glob before any metric"


def test_a_clash_of_names_names_both_files(cli: Cli, compared: Path) -> None:
    shutil.copytree("scores", "older")
    refused = cli("compare", *FILES, "older/ssim.csv").refusal
    assert "two predictors are called 'ssim', in scores/ssim.csv and in older/ssim.csv; leave one out" in refused


def test_a_wide_table_gives_one_predictor_a_column(cli: Cli, here: Path) -> None:
    rng = np.random.default_rng(1)
    human = rng.standard_normal(20)
    pl.DataFrame({"item": [f"i{k}" for k in range(20)], "mos": human}).write_csv("human.csv")
    wide = {"item": [f"i{k}" for k in range(20)], "good": human + 0.1 * rng.standard_normal(20), "bad": -human}
    pl.DataFrame(wide).write_csv("metrics.csv")
    said = cli("compare", "human.csv", "metrics.csv", "--better", "bad=lower,good=higher", "--replicates", "100")
    assert said.code == 0
    frame = pl.read_csv(said.out.encode()).filter(pl.col("statistic") == "srcc")
    values = dict(frame.select("predictor", "value").iter_rows())
    assert values["bad"] == pytest.approx(1.0)
    assert values["good"] > 0.9


def test_undefined_figures_are_told_in_few_lines(cli: Cli, compared: Path) -> None:
    said = cli("compare", *FILES, "--replicates", "100", "--group", "method")
    assert "{" not in said.err, "no Python on stderr"
    assert len(said.err.splitlines()) < 12


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["human.csv", "none.csv"], "no file"),
        (["metrics.csv", "human.csv"], "metrics.csv holds 2 score columns"),
        (
            ["human.csv", "other.csv"],
            "human shares no item with niqe: human has 'i0' and 'i1' (8 in all); niqe has 'a' and 'b'",
        ),
        (["human.csv", "metrics.csv", "--better", "niqe=down"], "--better niqe='down' is not higher or lower"),
        (["human.csv", "metrics.csv", "--better", "niqq=lower"], "no predictor 'niqq'; did you mean 'niqe'?"),
        (["human.csv", "metrics.csv", "--better", "lower"], "--better 'lower' is not of the form name=value"),
        (["human.csv", "metrics.csv", "--group", "method"], "factor 'method' needs a table of items (--items)"),
        (["human.csv", "metrics.csv", "--group", "method", "--items", "none.csv"], "no file"),
        (["human.csv", "metrics.csv", "--group", "niqq", "--items", "metrics.csv"], "did you mean 'niqe'?"),
        (["human.csv", "metrics.csv", "metrics.csv"], "niqe"),
        (["human.csv", "metrics.csv", "-o", "human.csv/a.csv"], "human.csv"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(cli: Cli, here: Path, words: list[str], line: str) -> None:
    items = [f"i{k}" for k in range(8)]
    pl.DataFrame({"item": items, "mos": range(8)}).write_csv("human.csv")
    pl.DataFrame({"item": items, "niqe": range(8), "ssim": range(8, 0, -1)}).write_csv("metrics.csv")
    pl.DataFrame({"item": ["a", "b"], "niqe": [1, 2]}).write_csv("other.csv")
    before = {path: path.read_bytes() for path in here.iterdir()}
    said = cli("compare", *words, "--replicates", "100", "--json")
    assert line in said.refusal
    assert said.document["error"]["message"] in said.refusal
    assert {path: path.read_bytes() for path in here.iterdir()} == before
