"""An image-edit service: what is sent, what is kept, refusals, caps, and runs that go on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from make.adapters.adapter_world import Jobs
from make.adapters.stub_service import Said, good, picture_bytes, refusal, serving
from paragone.errors import BadConfig
from paragone.make.adapters import HttpMethod, http_outcomes
from paragone.make.cells import Job, Outcome, land, record_of
from paragone.remote import patience


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("STUB_KEY", "sk-very-secret")
    monkeypatch.setattr(patience, "_FIRST_PAUSE", 0.001)


def _method(url: str, **more: object) -> HttpMethod:
    given = {"kind": "http", "base_url": url, "model": "gpt-image-x", "key_env": "STUB_KEY", "concurrency": 1} | more
    return msgspec.convert(given, HttpMethod)


def _one(jobs: list[Job], *answers: Said, **more: object) -> tuple[Outcome, list[tuple[str, dict[str, str], bytes]]]:
    with serving(*answers) as service:
        [(_, outcome)] = http_outcomes(_method(service.url, **more), jobs[:1], folder=Path("."))
    return outcome, service.requests


def test_both_pictures_the_prompt_and_the_model_are_sent_in_order(jobs_of: Jobs) -> None:
    jobs = jobs_of(hints={"manner": "great-wave"})
    outcome, requests = _one(
        jobs, good(), prompt="{content} as {manner}", size="content", fields={"quality": "high", "moderation": True}
    )
    path, headers, body = requests[0]
    assert (path, headers["authorization"]) == ("/v1/images/edits", "Bearer sk-very-secret")
    named = re.findall(rb'; name="([^"]+)"', body)
    assert named == [b"model", b"prompt", b"size", b"n", b"quality", b"moderation", b"image[]", b"image[]"]
    assert re.findall(rb'filename="([^"]+)"', body) == [b"content.png", b"style.png"]
    for text in (b"cat as great-wave", b"32x24", b"\r\n\r\ntrue\r\n", b"gpt-image-x"):
        assert text in body
    for picture in jobs[0].inputs.values():
        assert picture.read_bytes() in body
    assert (outcome.status, outcome.picture) == ("ok", picture_bytes())
    assert land(jobs[0], outcome)["status"] == "ok"


def test_the_record_keeps_request_and_answer_without_key_and_picture(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    echoed = Said(body=good().body[:-1] + b', "echo": "sk-very-secret"}', headers={"x-request-id": "req_7"})
    outcome, _ = _one(jobs, echoed, price_per_request=0.04)
    text = json.dumps(land(jobs[0], outcome))
    assert "sk-very-secret" not in text
    assert "[key]" in text
    facts = outcome.facts
    assert facts["request"]["prompt"].startswith("Redraw the first image")
    assert [image["level"] for image in facts["request"]["images"]] == ["cat", "wave"]
    assert facts["response"]["body"]["usage"] == {"total_tokens": 9}
    assert facts["response"]["body"]["data"][0]["b64_json"].endswith("characters]")
    assert facts["response"]["headers"]["x-request-id"] == "req_7"
    assert (facts["cost"], facts["model"], facts["tries"]) == (0.04, "gpt-image-x", 1)


def test_patience_then_a_picture(jobs_of: Jobs) -> None:
    outcome, requests = _one(jobs_of(), Said(status=429), Said(status=502), good())
    assert (outcome.status, outcome.facts["tries"], len(requests)) == ("ok", 3, 3)


def test_a_refusal_is_a_status_with_its_reason_and_no_picture(jobs_of: Jobs) -> None:
    outcome, requests = _one(jobs_of(), refusal())
    assert (outcome.status, outcome.picture, len(requests)) == ("refused", None, 1)
    assert outcome.reason == "HTTP 400: moderation_blocked: Your request was rejected by the safety system."


@pytest.mark.parametrize(
    "held",
    [
        {"data": [{"respect_moderation": False}]},
        {"data": [{"finish_reason": "content_filter"}]},
        {"error": {"code": "content_policy_violation", "message": "no"}},
    ],
)
def test_a_picture_that_is_withheld_without_an_error_is_a_refusal(held: object, jobs_of: Jobs) -> None:
    outcome, _ = _one(jobs_of(), Said(body=json.dumps(held).encode()))
    assert outcome.status == "refused"


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        (Said(body=b"<html>"), "failed", "the answer is no JSON"),
        (Said(body=b'{"data": []}'), "failed", "the answer holds 0 pictures instead of 1"),
        (Said(body=b'{"data": [{}, {}]}'), "failed", "the answer holds 2 pictures instead of 1"),
        (Said(body=b'{"data": [{}]}'), "failed", "the answer holds neither b64_json nor url"),
        (Said(body=b'{"data": [{"b64_json": "?"}]}'), "failed", "the answer's b64_json is not base64"),
        (Said(body=b'{"data": [{"b64_json": "AAAA"}]}'), "invalid", "adain/cat/wave: not a picture that can be read"),
        (Said(body=b'{"data": [{"url": "http://192.0.2.1/x.png"}]}'), "failed", "on another host, 192.0.2.1"),
        (Said(status=400, body=b'{"error": {"message": "bad size"}}'), "failed", "HTTP 400: bad size"),
        (Said(status=500, body=b""), "failed", "HTTP 500 (after 5 tries)"),
    ],
)
def test_what_is_no_picture_says_why(said: Said, status: str, reason: str, jobs_of: Jobs) -> None:
    outcome, _ = _one(jobs_of(), said)
    assert (outcome.status, outcome.picture) == (status, None)
    assert reason in outcome.reason
    assert "\n" not in outcome.reason


def test_silence_fails_one_cell(jobs_of: Jobs) -> None:
    outcome, _ = _one(jobs_of(), Said(silent=True), timeout_s=0.1, tries=1)
    assert (outcome.status, outcome.reason) == ("failed", "no answer in 0.1 s")


def test_a_picture_can_be_an_address_on_the_same_host(jobs_of: Jobs) -> None:
    named = Said(body=b'{"data": [{"url": "/files/x.png?signature=abc"}]}')
    outcome, requests = _one(jobs_of(), named, Said(body=picture_bytes(), headers={"content-type": "image/png"}))
    assert (outcome.status, requests[1][0]) == ("ok", "/files/x.png?signature=abc")
    assert "signature" not in json.dumps(outcome.facts)


def test_a_picture_of_another_size_is_landed_as_such(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    outcome, _ = _one(jobs, good(height=16, width=16))
    record = land(jobs[0], outcome)
    assert record["status"] == "wrong_size"
    assert record["reason"].startswith("16 x 16 pixels for a content of 32 x 24; align = ")


def test_every_cell_is_given_once_though_some_fail(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    with serving(good(), refusal(), Said(status=400), good(), refusal(), good()) as service:
        given = list(http_outcomes(_method(service.url), jobs, folder=Path(".")))
    assert [job.item for job, _ in given] == [job.item for job in jobs]
    assert [outcome.status for _, outcome in given] == ["ok", "refused", "failed", "ok", "refused", "ok"]


def test_no_more_than_so_many_are_asked_at_once(jobs_of: Jobs) -> None:
    def slow() -> Said:
        time.sleep(0.15)
        return good()

    jobs = jobs_of()
    with serving(slow) as service:
        given = list(http_outcomes(_method(service.url, concurrency=3), jobs, folder=Path(".")))
    assert {job.item for job, _ in given} == {job.item for job in jobs}
    assert 2 <= service.most_at_once <= 3


def test_a_wrong_key_is_told_once_and_nothing_more_is_sent(jobs_of: Jobs) -> None:
    with serving(Said(status=401, body=b'{"error": {"message": "wrong key"}}')) as service:
        given = [outcome for _, outcome in http_outcomes(_method(service.url), jobs_of(), folder=Path("."))]
    assert [outcome.status for outcome in given] == ["failed"] + ["missing"] * 5
    assert given[1].reason == "not asked: HTTP 401: wrong key"
    assert len(service.requests) == 1


def test_the_cap_holds_over_runs_that_go_on(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    priced = {"price_per_request": 0.3, "max_cost": 1.0}
    with serving(good(), Said(status=500), good()) as service:
        for _ in range(3):
            todo = [job for job in jobs if (record_of(job.target) or {}).get("status") != "ok"]
            for job, outcome in http_outcomes(_method(service.url, tries=1, **priced), todo, folder=Path(".")):
                land(job, outcome)
        records = [record_of(job.target) or {} for job in jobs]
    assert [record["status"] for record in records] == ["ok", "missing", "ok", "ok", "missing", "missing"]
    assert sum(record["facts"].get("cost", 0) for record in records) == pytest.approx(0.9)
    assert len(service.requests) == 4
    assert "max_cost 1 is reached: 0.9 spent, 0.3 a request" in records[5]["reason"]


def test_what_a_killed_run_has_paid_still_counts(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    priced = {"price_per_request": 0.4, "max_cost": 1.0}
    with serving(good()) as service:
        run = http_outcomes(_method(service.url, **priced), jobs, folder=Path("."))
        next(iter(run))  # killed before the outcome was landed
        del run
        assert not any(record_of(job.target) for job in jobs)
        given = [o.status for _, o in http_outcomes(_method(service.url, **priced), jobs, folder=Path("."))]
    assert given.count("ok") == 1
    assert len(service.requests) == 2


def test_a_cell_that_is_asked_again_keeps_what_it_has_cost(jobs_of: Jobs) -> None:
    jobs = jobs_of()[:1]
    with serving(Said(body=b"nonsense"), good()) as service:
        for _ in range(2):
            for job, outcome in http_outcomes(_method(service.url, price_per_request=0.1), jobs, folder=Path(".")):
                land(job, outcome)
    assert (record_of(jobs[0].target) or {})["facts"]["cost"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"size": "big"}, "size 'big' is not auto, content or such as 1024x1024"),
        ({"concurrency": 0}, "concurrency is 0; give 1 to 16"),
        ({"max_cost": 1.0}, "max_cost needs price_per_request"),
        ({"price_per_request": -1.0}, r"price_per_request is -1.0; give a number that is 0 or above"),
        ({"price_per_request": float("nan"), "max_cost": 1.0}, r"price_per_request is nan; give a number"),
        ({"price_per_request": float("inf")}, r"price_per_request is inf; give a number"),
        ({"price_per_request": 0.1, "max_cost": float("nan")}, r"max_cost is nan; give a number"),
        ({"max_requests": -1}, r"max_requests is -1; give a number"),
        ({"timeout_s": 1e300}, r"timeout_s is 1e\+300; give above 0 to 86400 seconds"),
        ({"timeout_s": float("nan")}, r"timeout_s is nan; give above 0"),
        ({"fields": {"quality": float("nan")}}, "fields: 'quality' is nan, which is no number"),
        ({"base_url": "http://["}, "is no address"),
        ({"fields": {"model": "x"}}, "fields: 'model' has a key of its own"),
        (
            {"prompt": "like {stile}"},
            r"prompt holds \{stile\}, which adain/cat/wave does not have; there is \{content\}",
        ),
        ({"key_env": "NO_SUCH_KEY"}, "no key in the environment: set NO_SUCH_KEY"),
        ({"base_url": "http://example.com"}, "would send the key unencrypted"),
    ],
)
def test_values_that_cannot_be_right_are_refused_before_anything_is_sent(
    more: dict[str, object], message: str, jobs_of: Jobs
) -> None:
    settings = _method("http://127.0.0.1:1/v1", **more)
    with pytest.raises(BadConfig, match=message):
        http_outcomes(settings, jobs_of(), folder=Path("."))


def test_a_prompt_is_checked_when_nothing_is_left_to_make(jobs_of: Jobs) -> None:
    settings = _method("http://127.0.0.1:1/v1", prompt="like {stile}")
    with pytest.raises(BadConfig, match="prompt holds"):
        http_outcomes(settings, [], folder=Path("."), known=jobs_of())


@pytest.mark.parametrize("key", ["sk-a\nsecret", "sk-сecret"])
def test_a_key_that_no_header_can_carry_is_named_and_not_quoted(
    key: str, jobs_of: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_KEY", key)
    with pytest.raises(BadConfig, match=r"^the key in STUB_KEY holds characters that no header can carry$"):
        http_outcomes(_method("http://127.0.0.1:1/v1"), jobs_of(), folder=Path("."))


def _held(**more: object) -> Said:
    return Said(body=json.dumps(more).encode())


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (_held(data=[{"url": "http://[bad"}]), "failed"),
        (_held(data=[{"url": "http://127.0.0.1:99999999/sk-very-secret"}]), "failed"),
        (_held(data=[{"url": "http://sk-very-secret/sk-very-secret"}]), "failed"),
        (Said(body=good().body[:-1] + b', "deep": ' + b"[" * 300 + b"]" * 300 + b"}"), "ok"),
        (Said(body=b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}"), "failed"),
        (Said(status=400, body=b'{"error": ' + b'{"a": ' * 900 + b"1" + b"}" * 901), "failed"),
        (Said(body=good().body[:-1] + b', "\\udcff": "\\udcff"}'), "ok"),
        (Said(status=400, body=b'{"error": {"code": "\\udcff", "message": "content policy \\ud800"}}'), "refused"),
        (_held(echo="c2stdmVyeS1zZWNyZXQ= %73k-very-secret", data=[]), "failed"),
    ],
)
def test_a_strange_answer_ends_in_a_record_of_its_cell_without_the_key(said: Said, status: str, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    outcome, _ = _one(jobs, said, price_per_request=0.04, tries=1)
    assert outcome.status == status
    record = land(jobs[0], outcome)
    assert record["facts"].get("cost", 0.0) == (0.0 if said.status == 400 else 0.04)
    text = jobs[0].target.with_suffix(".json").read_text(encoding="utf-8")
    for form in ("sk-very-secret", "c2stdmVyeS1zZWNyZX", "%73k"):
        assert form not in text


def test_a_reference_that_is_gone_fails_its_cell_unasked(jobs_of: Jobs) -> None:
    jobs = jobs_of()
    jobs[0].inputs["style"].unlink()
    outcome, requests = _one(jobs, good())
    assert (outcome.status, requests) == ("failed", [])
    assert outcome.reason.startswith("no picture")


KILLED = """
import sys
from pathlib import Path
from paragone.images import read_image
from paragone.make.adapters import HttpMethod, http_outcomes
from paragone.make.cells import Job, finished, land
folder, url = Path(sys.argv[1]), sys.argv[2]
shown = {factor: folder / "references" / factor / "000.png" for factor in ("content", "style")}
jobs = [
    Job(method="m", levels={"content": c, "style": s}, inputs=shown, seed=1, key="k",
        target=folder / "results" / "m" / f"{c}_{s}.png")
    for c in "abc" for s in "uvwx"
]
settings = HttpMethod(base_url=url, model="m", price_per_request=0.1, max_cost=1.0, concurrency=2)
todo = [job for job in jobs if not finished(job, again=("missing",))]
for job, outcome in http_outcomes(settings, todo, folder=folder):
    land(job, outcome)
print(sorted((finished(job) or {}).get("status", "none") for job in jobs))
"""


@pytest.mark.slow
def test_a_run_killed_twice_never_spends_more_than_its_cap(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs_of()

    def slow() -> Said:
        time.sleep(0.15)
        return good()

    with serving(slow) as service:
        for stop_at in (3, 6, None):
            child = subprocess.Popen(
                [sys.executable, "-c", KILLED, str(tmp_path), service.url], stdout=subprocess.PIPE, text=True
            )
            while stop_at is not None and len(service.requests) < stop_at:
                assert child.poll() is None
                time.sleep(0.01)
            if stop_at is not None:
                child.kill()
            said, _ = child.communicate(timeout=60)
    assert len(service.requests) <= 10
    # Two runs were killed with at most two requests under way each: those were paid and are not there.
    assert said.count("'ok'") >= len(service.requests) - 4
    assert said.count("'ok'") + said.count("'missing'") == 12
