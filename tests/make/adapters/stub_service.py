"""A service on this machine that answers as it is told: good pictures, errors, silence, nonsense."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

from PIL import Image

from make.adapters.adapter_world import smooth
from paragone.images import to_uint8

__all__ = ["Said", "Service", "good", "picture_bytes", "refusal", "serving"]


@dataclass
class Said:
    """One answer."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False
    """No answer until the service is closed."""
    cut: bool = False
    """The connection ends in the middle of the body."""


@dataclass
class Service:
    """What the service has heard, and what it says: the answers in order, the last one again and again."""

    answers: list[Said | Callable[[], Said]]
    url: str = ""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)

    def next(self, path: str, headers: dict[str, str], body: bytes) -> Said:
        with self._lock:
            said = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append((path, headers, body))
        return said() if callable(said) else said


def picture_bytes(seed: int = 5, height: int = 24, width: int = 32) -> bytes:
    buffer = BytesIO()
    Image.fromarray(to_uint8(smooth(seed, height, width))).save(buffer, format="PNG")
    return buffer.getvalue()


def good(seed: int = 5, **more: int) -> Said:
    coded = base64.b64encode(picture_bytes(seed, **more)).decode()
    held = {"created": 1, "data": [{"b64_json": coded, "revised_prompt": "a cat"}], "usage": {"total_tokens": 9}}
    return Said(body=json.dumps(held).encode(), headers={"x-request-id": "req_7"})


def refusal() -> Said:
    error = {
        "message": "Your request was rejected by the safety system.",
        "type": "image_generation_user_error",
        "code": "moderation_blocked",
    }
    return Said(status=400, body=json.dumps({"error": error}).encode())


@contextmanager
def serving(*answers: Said | Callable[[], Said]) -> Iterator[Service]:
    """Run the service in a thread; its address is `url`."""
    service = Service(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            with service._lock:
                service._now += 1
                service.most_at_once = max(service.most_at_once, service._now)
            said = service.next(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            if said.silent:
                service._over.wait(20)
            with service._lock:
                service._now -= 1
            self.send_response(said.status)
            for name, value in {"content-type": "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body[: len(said.body) // 2] if said.cut else said.body)

        def do_POST(self) -> None:
            self._guarded()

        def do_GET(self) -> None:
            self._guarded()

        def _guarded(self) -> None:
            with suppress(OSError):  # the client went away, which some tests want
                self._answer()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield service
    finally:
        service._over.set()
        server.shutdown()
        server.server_close()
        thread.join()
