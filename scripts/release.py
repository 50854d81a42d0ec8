"""Build the wheel and the source archive, and check that they hold what users need and nothing else.

    python scripts/release.py            build into dist/ and check
    python scripts/release.py --tag      also require a clean tree, then tag v<version>

Steps: the version has its section in CHANGELOG.md; the wheel is built; its content is compared with the source tree; it
is installed into a fresh virtual environment, away from the checkout, where `paragone --version` and `paragone list
estimators` must run, and `paragone serve` must show a new study's page and its script.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PICTURES = """
from pathlib import Path
from PIL import Image
for number, method in enumerate(("a", "b", "c")):
    Path("results", method).mkdir(parents=True)
    for content in ("x", "y"):
        Image.new("RGB", (256, 256), (40 + 60 * number,) * 3).save(Path("results", method, content + ".png"))
"""
_STUDY = """
[[stage]]
kind = "pairs"
pairs = "within"
group = ["content"]
compare = "method"
participants = 2
trials = 6
checks = 0
repeats = 0
break_seconds = 0
[training]
auto = 0
[consent]
who = "Nobody: the release is checked"
contact = "nobody@example.org"
"""
LARGEST_WHEEL = 2_500_000  # bytes; the shipped pictures are most of it


def main() -> None:
    """Run all steps; leaves with one line when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", action="store_true", help="tag the commit after all checks")
    options = parser.parse_args()
    version = _version()
    _changelog(version)
    wheel = _build(version)
    _content(wheel)
    _installs(wheel, version)
    if options.tag:
        _tag(version)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, all checks passed")


def _version() -> str:
    text = (ROOT / "src/paragone/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    return found[1] if found else sys.exit("src/paragone/__init__.py: no __version__")


def _changelog(version: str) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## {version}" not in text:
        sys.exit(f"CHANGELOG.md: no section '## {version}'; say what changed before releasing it")


def _build(version: str) -> Path:
    dist = ROOT / "dist"
    for old in dist.glob("paragone-*"):
        old.unlink()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(dist), str(ROOT)]
    subprocess.run(command, check=True)
    wheels = list(dist.glob(f"paragone-{version}-*.whl"))
    return wheels[0] if wheels else sys.exit(f"dist: no wheel of version {version}")


def _content(wheel: Path) -> None:
    package = ROOT / "src/paragone"
    wanted = {
        f"paragone/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        has_licence = any(name.endswith("LICENSE") for name in archive.namelist())
    if names != wanted:
        sys.exit(f"{wheel.name}: differs from src: {sorted(names ^ wanted)[:5]}")
    if not has_licence:
        sys.exit(f"{wheel.name}: the licence is missing")
    if wheel.stat().st_size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name}: {wheel.stat().st_size} bytes, more than {LARGEST_WHEEL}")


def _installs(wheel: Path, version: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[serve]"], check=True)
        tool = str(Path(folder) / "bin" / "paragone")
        said = subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout
        if version not in said:
            sys.exit(f"the installed command says '{said.strip()}', not {version}")
        subprocess.run([tool, "list", "estimators"], check=True, stdout=subprocess.DEVNULL)
        _serves(python, tool, Path(folder) / "away")


def _quietly(command: list[str], folder: Path) -> None:
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _serves(python: str, tool: str, away: Path) -> None:
    """A study of six grey pictures, served by the installed command."""
    away.mkdir()
    subprocess.run([python, "-c", _PICTURES], check=True, cwd=away)
    named = ["--images", "{method}/{content}.png", "--criteria", "overall"]
    _quietly([tool, "new", "bench", "--root", "results", *named], away)
    (away / "bench" / "study.toml").write_text(_STUDY)
    _quietly([tool, "plan", "bench"], away)
    command = [tool, "serve", "bench", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=away, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        decoder, told = json.JSONDecoder(), ""
        try:
            while True:
                told += process.stdout.readline() or sys.exit("the installed server does not start")
                try:
                    address = decoder.raw_decode(told)[0]["participants"]
                    break
                except json.JSONDecodeError:
                    continue
            for path, needed in (("", b"<script"), ("static/study.js", b"import"), ("healthz", b'"ok"')):
                with urllib.request.urlopen(address + path, timeout=30) as answer:
                    if needed not in answer.read():
                        sys.exit(f"the installed server's {address}{path} lacks {needed.decode()}")
        finally:
            process.terminate()


def _tag(version: str) -> None:
    status = subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, text=True, cwd=ROOT)
    if status.stdout:
        sys.exit("the working tree has changes; commit them before tagging")
    subprocess.run(["git", "tag", f"v{version}"], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
