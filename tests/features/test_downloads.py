"""Files are fetched when that was asked for, from the place that was named, and checked; otherwise nothing leaves."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from installed import needed
from paragone.errors import NotFound
from paragone.features import Sought, find_weights, load_backbone

needed("huggingface_hub")
CONTENT = b"weights of a network" * 50
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REVISION = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers as the Hugging Face hub does, for a file of its main revision."""

    etag = DIGEST
    asked: list[str]

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        type(self).asked.append(self.path)
        there = self.path == "/owner/net/resolve/main/model.safetensors"
        self.send_response(200 if there else 404)
        if there:
            self.send_header("ETag", f'"{type(self).etag}"')
            self.send_header("X-Repo-Commit", REVISION)
        else:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(CONTENT) if there else 0))
        self.end_headers()
        if there and with_body:
            self.wfile.write(CONTENT)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    kind = type("Hub", (Hub,), {"asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield kind
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_file_is_fetched_once_checked_and_found_again_without_the_hub(hub: type[Hub]) -> None:
    sought = Sought(name="net", repository="owner/net")
    found = find_weights(sought, download=True)
    assert found.path.read_bytes() == CONTENT
    assert (found.sha256, found.source) == (DIGEST, "hugging face cache: owner/net@01234567")
    n_asked = len(hub.asked)
    assert n_asked > 0
    assert find_weights(sought, download=True).path == found.path
    assert find_weights(sought).path == found.path
    assert len(hub.asked) == n_asked


def test_nothing_is_fetched_unasked(hub: type[Hub]) -> None:
    with pytest.raises(NotFound, match=r"no weights of net: .* or allow a download"):
        find_weights(Sought(name="net", repository="owner/net"))
    for name in ("vgg11", "resnet18", "dinov2-s"):
        needed("timm")
        with pytest.raises(NotFound, match=f"no weights of {name}"):
            load_backbone(name)
        load_backbone(name, seed=0)
    assert hub.asked == []


def test_a_file_that_is_not_what_the_hub_said_is_refused(hub: type[Hub]) -> None:
    hub.etag = "0" * 64
    with pytest.raises(NotFound, match=rf"is damaged \(its SHA-256 begins {DIGEST[:8]}, not 00000000\)"):
        find_weights(Sought(name="net", repository="owner/net"), download=True)


def test_what_the_hub_does_not_have_is_said_in_one_line(hub: type[Hub]) -> None:
    with pytest.raises(
        NotFound, match=r"could not download model.safetensors of timm/vgg11.tv_in1k for vgg11"
    ) as caught:
        load_backbone("vgg11", download=True)
    assert "\n" not in caught.value.message
    assert any("/timm/vgg11.tv_in1k/" in path for path in hub.asked)


def test_a_hub_that_cannot_be_reached_is_given_up_at_once(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NotFound, match=r"from http://127.0.0.1:9: .*refused"):
        find_weights(Sought(name="net", repository="owner/net"), download=True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NotFound, match="HF_HUB_OFFLINE forbids it"):
        find_weights(Sought(name="net", repository="owner/net"), download=True)
    assert hub.asked == []
