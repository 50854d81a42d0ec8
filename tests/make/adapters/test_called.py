"""Python callables: found, checked, called, and what they may do wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import lacking
from make.adapters.adapter_world import Jobs
from make.adapters.stub_service import picture_bytes
from paragone.errors import BadConfig, MissingExtra, UnknownName
from paragone.images import read_image
from paragone.make.adapters import PythonMethod, called, python_outcomes
from paragone.make.cells import Job, Outcome, land

Module = Callable[[str], str]


@pytest.fixture
def module(tmp_path: Path) -> Module:
    """Writes a module beside the settings; its name is new for every test, since Python keeps what it has imported."""

    def write(code: str) -> str:
        name = f"their_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text("import numpy as np\n" + code)
        return name

    return write


def _call(target: str, jobs: list[Job], folder: Path, **params: Any) -> list[tuple[Job, Outcome]]:
    settings = PythonMethod(target=target, params=params)
    return list(python_outcomes(settings, jobs, folder=folder))


def _one(target: str, jobs: list[Job], folder: Path, **params: Any) -> Outcome:
    return _call(target, jobs[:1], folder, **params)[0][1]


def test_a_callable_gets_pictures_seed_and_parameters(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module("def f(content, style, *, seed, w: float = 0.0):\n    return content * (1 - w) + style * w\n")
    given = _call(f"{name}:f", jobs_of(), tmp_path, w=1)
    for job, outcome in given:
        assert np.abs(np.asarray(outcome.picture) - read_image(job.inputs["style"])).max() < 1e-6
        assert land(job, outcome)["status"] == "ok"
        assert outcome.facts == {"target": f"{name}:f"}
        assert outcome.seconds is not None


def test_the_seed_is_the_cells_own(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module(
        "def f(content, style, *, seed):\n    return np.random.default_rng(seed).random(content.shape).astype('float32')\n"
    )
    runs = [[np.asarray(o.picture) for _, o in _call(f"{name}:f", jobs_of(), tmp_path)] for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*runs, strict=True))
    assert not np.array_equal(runs[0][0], runs[0][1])


def test_what_a_callable_raises_fails_its_cell_alone(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module(
        "calls = []\ndef f(content, style, *, seed):\n    calls.append(seed)\n"
        "    if len(calls) == 1: raise KeyError('layer\\n7')\n    if len(calls) == 2: raise SystemExit(2)\n"
        "    return style\n"
    )
    given = [outcome for _, outcome in _call(f"{name}:f", jobs_of(), tmp_path)]
    assert [outcome.status for outcome in given] == ["failed", "failed", "ok", "ok", "ok", "ok"]
    assert given[0].reason == "KeyError: 'layer\\n7'"
    assert given[1].reason == "SystemExit: 2"
    assert given[0].facts["place"] == f"{name}.py:5"


def test_an_interrupt_from_the_keyboard_still_ends_the_run(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module("def f(content, style, *, seed):\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        _call(f"{name}:f", jobs_of(), tmp_path)


def test_a_callable_that_writes_into_its_pictures_harms_no_other_cell(
    tmp_path: Path, jobs_of: Jobs, module: Module
) -> None:
    name = module("def f(content, style, *, seed):\n    style[:] = style * 0.5\n    return style\n")
    for job, outcome in _call(f"{name}:f", jobs_of(), tmp_path):
        assert np.abs(np.asarray(outcome.picture) - 0.5 * read_image(job.inputs["style"])).max() < 1e-6


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("(style * 255).astype('uint8')", "ok", ""),
        ("style.astype('float64') * 1.0002", "ok", ""),
        ("Image.fromarray((style * 255).astype('uint8'))", "ok", ""),
        ("style * 255", "invalid", "are not in [0, 1]"),
        ("style * np.nan", "invalid", "are not in [0, 1]"),
        ("style.transpose(2, 0, 1)", "invalid", "shape (3, 24, 32) is not (height, width, 3)"),
        ("None", "invalid", "it gave NoneType, which is no picture, bytes or path"),
        ("'nowhere.png'", "failed", "it gave no file 'nowhere.png'"),
        ("'a' * 5000", "failed", "it gave no file 'aaaa"),
        ("'\\udcff'", "failed", "it gave no file '?'"),
        ("Image.new('F', (32, 24))", "invalid", "mode F has no defined white"),
        ("Image.new('I', (32, 24))", "invalid", "mode I has no defined white"),
        ("Image.new('LAB', (32, 24))", "invalid", "mode LAB has no defined white"),
        ("Image.new('HSV', (32, 24))", "invalid", "mode HSV has no defined white"),
        ("Image.new('CMYK', (32, 24))", "ok", ""),
        (
            "np.broadcast_to(style[:1, :1], (200000, 200000, 3))",
            "invalid",
            "200000 x 200000 pixels are more than the 80",
        ),
        ("np.broadcast_to(np.float32(0), (10, 200000, 200000))", "invalid", "is not (height, width, 3)"),
        ("style.view(type('Odd', (np.ndarray,), {'min': lambda self: 1 / 0}))", "ok", ""),
        ("type('Odd', (str,), {'__str__': lambda self: 1 / 0})('x')", "invalid", "cannot be read: ZeroDivisionError"),
    ],
)
def test_what_it_gives_is_held_to_be_a_picture(
    code: str, status: str, reason: str, tmp_path: Path, jobs_of: Jobs, module: Module
) -> None:
    name = module(f"from PIL import Image\ndef f(content, style, *, seed):\n    return {code}\n")
    outcome = _one(f"{name}:f", jobs_of(), tmp_path)
    assert outcome.status == status
    assert reason in outcome.reason


def test_sixteen_bits_of_an_image_are_kept_and_alpha_lies_over_white(
    tmp_path: Path, jobs_of: Jobs, module: Module
) -> None:
    name = module(
        "from PIL import Image\n"
        "def a(content, style, *, seed):\n"
        "    return Image.fromarray((np.arange(768).reshape(24, 32) * 85).astype('uint16'))\n"
        "def b(content, style, *, seed):\n    return Image.new('RGBA', (32, 24), (255, 0, 0, 51))\n"
    )
    wide = np.asarray(_one(f"{name}:a", jobs_of(), tmp_path).picture)
    assert np.allclose(wide[..., 1], np.arange(768).reshape(24, 32) * 85 / 65535, atol=1e-7)
    clear = np.asarray(_one(f"{name}:b", jobs_of(), tmp_path).picture)
    assert np.allclose(clear[0, 0], [1.0, 0.8, 0.8], atol=1e-6)


def test_an_image_of_a_cut_file_fails_its_cell(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    (tmp_path / "cut.png").write_bytes(picture_bytes()[:-300])
    name = module(
        f"from PIL import Image\ndef f(content, style, *, seed):\n    return Image.open({str(tmp_path / 'cut.png')!r})\n"
    )
    outcome = _one(f"{name}:f", jobs_of(), tmp_path)
    assert outcome.status == "invalid"
    assert "the image cannot be read" in outcome.reason


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('\\udcff')", "ValueError: ?"),
        ("raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()", "Mute"),
        ("raise type('Harsh', (BaseException,), {})('no')", "Harsh: no"),
    ],
)
def test_whatever_is_raised_becomes_a_record(
    code: str, reason: str, tmp_path: Path, jobs_of: Jobs, module: Module
) -> None:
    name = module(f"def f(content, style, *, seed):\n    {code}\n")
    jobs = jobs_of()
    outcome = _one(f"{name}:f", jobs, tmp_path)
    assert (outcome.status, outcome.reason) == ("failed", reason)
    assert land(jobs[0], outcome)["reason"] == reason


def test_what_a_callable_prints_goes_to_stderr(
    tmp_path: Path, jobs_of: Jobs, module: Module, capsys: pytest.CaptureFixture[str]
) -> None:
    name = module(
        "import sys\nprint('at import')\ndef f(content, style, *, seed):\n"
        "    print('at work', flush=True)\n    sys.stdout.close()\n    return style\n"
    )
    assert [outcome.status for _, outcome in _call(f"{name}:f", jobs_of(), tmp_path)] == ["ok"] * 6
    print("still open")
    said = capsys.readouterr()
    assert said.out == "still open\n"
    assert said.err.splitlines() == ["at import", *["at work"] * 6]


def test_bytes_and_paths_are_results_too(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    (tmp_path / "made.png").write_bytes(picture_bytes())
    name = module(
        "from pathlib import Path\ndef a(content, style, *, seed):\n    return 'made.png'\n"
        f"def b(content, style, *, seed):\n    return Path({str(tmp_path / 'made.png')!r}).read_bytes()\n"
    )
    for function in "ab":
        jobs = jobs_of()[:1]
        assert land(jobs[0], _one(f"{name}:{function}", jobs, tmp_path))["status"] == "ok"


def test_what_a_card_says_is_handed_to_a_callable_that_asks(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module("def f(content, style, *, seed, manner=''):\n    raise ValueError(manner)\n")
    assert _one(f"{name}:f", jobs_of(hints={"manner": "ink"}), tmp_path).reason == "ValueError: ink"
    assert _one(f"{name}:f", jobs_of(hints={"manner": "ink"}), tmp_path, manner="oil").reason == "ValueError: oil"


def test_objects_and_nested_names_can_be_called(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module(
        "class Model:\n    def __call__(self, content, style, *, seed, n: int = 1):\n        return style\n"
        "class Box:\n    model = Model()\n"
    )
    assert _one(f"{name}:Box.model", jobs_of(), tmp_path).status == "ok"
    with pytest.raises(BadConfig, match="n = 'x' is not a whole number"):
        _call(f"{name}:Box.model", jobs_of(), tmp_path, n="x")


def test_a_styliser_of_the_catalogue_is_called_by_name(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()[:2]
    for job, outcome in _call("reinhard", jobs, tmp_path):
        assert land(job, outcome)["status"] == "ok"
    with pytest.raises(UnknownName, match="no styliser 'reinhart'; did you mean 'reinhard'"):
        _call("reinhart", jobs, tmp_path)
    with pytest.raises(UnknownName, match="no option of styliser"):
        _call("reinhard", jobs, tmp_path, nothing=1)


@pytest.mark.parametrize(
    ("code", "name", "params", "error", "message"),
    [
        ("raise RuntimeError('no GPU')", "f", {}, BadConfig, "cannot be imported: RuntimeError: no GPU"),
        ("import no_such_library", "f", {}, BadConfig, "cannot be imported: ModuleNotFoundError: No module named"),
        ("def f(:", "f", {}, BadConfig, "cannot be imported: SyntaxError"),
        ("raise SystemExit(1)", "f", {}, BadConfig, "cannot be imported: SystemExit: 1"),
        ("def make(c, s, *, seed): ...", "mkae", {}, UnknownName, "did you mean 'make'"),
        ("f = 3", "f", {}, BadConfig, "is no callable"),
        ("def f(c, s): ...", "f", {}, BadConfig, "takes no 'seed'; it is called as"),
        ("def f(c, s, *, seed, steps: int = 1): ...", "f", {"step": 1}, UnknownName, "did you mean 'steps'"),
        (
            "def f(c, s, *, seed, steps: int = 1): ...",
            "f",
            {"steps": "many"},
            BadConfig,
            "steps = 'many' is not a whole",
        ),
        ("def f(c, s, *, seed): ...", "f", {"seed": 1}, BadConfig, "'seed' is each cell's own"),
    ],
)
def test_a_target_that_cannot_be_called_is_told_before_anything_runs(
    code: str,
    name: str,
    params: dict[str, Any],
    error: type[Exception],
    message: str,
    tmp_path: Path,
    jobs_of: Jobs,
    module: Module,
) -> None:
    with pytest.raises(error, match=message):
        python_outcomes(PythonMethod(target=f"{module(code)}:{name}", params=params), jobs_of(), folder=tmp_path)


def test_a_missing_library_of_ours_ends_the_run(tmp_path: Path, jobs_of: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object, **__: object) -> None:
        raise MissingExtra.library("styliser 'x'", "skimage", "demo")

    monkeypatch.setattr(called, "stylise", without)
    with pytest.raises(MissingExtra, match="needs skimage"):
        _call("reinhard", jobs_of(), tmp_path)


def test_the_search_path_is_as_it_was(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    import sys

    before = list(sys.path)
    name = module("def f(content, style, *, seed):\n    return style\n")
    _call(f"{name}:f", jobs_of(), tmp_path)
    assert sys.path == before


def test_a_damaged_file_whose_name_is_no_text_still_has_a_record(tmp_path: Path, jobs_of: Jobs, module: Module) -> None:
    name = module("def f(content, style, *, seed):\n    return 'odd\\udcff.png'\n")
    try:
        (tmp_path / "odd\udcff.png").write_bytes(b"no picture")
    except OSError:
        lacking("this disk takes no name that is no UTF-8")
    jobs = jobs_of()
    assert land(jobs[0], _one(f"{name}:f", jobs, tmp_path))["status"] == "invalid"
