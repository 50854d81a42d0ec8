"""The key is nowhere in what is kept."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

from make.adapters.stub_service import Said, serving
from paragone.remote import Remote
from remote.asking import ask


def test_the_key_is_struck_out_of_what_the_service_says() -> None:
    body = json.dumps({"error": {"message": "Incorrect API key provided: sk-very-secret."}}).encode()
    with serving(Said(status=401, body=body, headers={"x-request-id": "sk-very-secret"})) as service:
        answer = ask(service.url, key="sk-very-secret")
    assert "sk-very-secret" not in answer.reason + str(answer.headers)
    assert "[key]" in answer.reason


def test_the_key_is_struck_out_in_every_coding() -> None:
    key = "sk-very/secret+key"
    with Remote("https://example.com", key=key) as asked:
        for text in (
            key,
            quote(key, safe=""),
            quote(key, safe="").lower(),
            "".join(f"%{ord(c):02X}" for c in key),
            key.encode().hex(),
        ):
            assert asked.without_key(f"a {text} b") == "a [key] b"
        for before in ("", "u", "me", "user:", "Bearer "):
            for code in (base64.b64encode, base64.urlsafe_b64encode):
                said = asked.without_key(code(f"{before}{key}".encode()).decode())
                assert "[key]" in said
                assert len(said) < 5 + 2 + len(before) * 2 + 4
        assert asked.without_key("plain \udcff") == "plain ?"
