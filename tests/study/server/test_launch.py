"""`serve`: one process or several, started, used, stopped, started again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import people_of
from study_folder import HEAD, PAIRS, study_folder

from paragone.errors import BadConfig, BadInput, NotFound
from paragone.study.client import Walker
from paragone.study.server.backups import keeps_backups, pruned
from paragone.study.server.launch import address_of, serve, worker
from paragone.study.server.several import stream_socket
from paragone.study.store import Store, answers, backup, claims
from paragone.study.store.keys import read_keys

SMALL = HEAD + "[training]\nauto = 0\n"
PROGRAM = """
import json, sys
from paragone.study.server.launch import serve
serve(sys.argv[1], told=lambda told: print(json.dumps(told), flush=True), **json.loads(sys.argv[2]))
print("ended")
"""


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """`serve` in a process of its own, and what it told."""
    sent = [sys.executable, "-c", PROGRAM, str(folder), json.dumps({"port": 0, **options})]
    with subprocess.Popen(sent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                assert process.stderr is not None
                raise AssertionError(process.stderr.read())
            yield process, json.loads(line)
        finally:
            if process.poll() is None:
                process.kill()


def stopped(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    """Stop it as an operator would; return the rest of what it said."""
    os.kill(process.pid, number)
    said, _ = process.communicate(timeout=60)
    return said


def answer(trial: dict[str, Any], _criterion: str) -> tuple[str, float]:
    return "left", 1.0


def walker_of(client: httpx.Client, **options: Any) -> Walker:
    return Walker(client, answer, faults=(httpx.TransportError,), tries=60, **options)


def test_a_study_is_served_stopped_and_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS.replace("break_seconds = 30", "break_seconds = 0"), head=SMALL)
    with running(folder) as (process, told):
        address = told["participants"].rstrip("/")
        assert told["admin"].startswith(f"{address}/admin/setup?token=")
        with people_of(address) as (client,):
            walker = walker_of(client)
            state = walker.walk(walker.enter(), until="trial")
            walker.give(state["trials"][0])
            token, cookies = walker.token, client.cookies
        assert stopped(process) == "ended\n"
    with running(folder, port=int(address.rsplit(":", 1)[1])) as (process, _), people_of(address) as (client,):
        client.cookies = cookies
        again = walker_of(client, token=token)
        state = again.state()
        assert (state["phase"], state["progress"]["done"]) == ("trial", 1)
        assert again.walk(state)["done"]["outcome"] == "completed"
        assert stopped(process, signal.SIGINT) == "ended\n"
    assert (folder / "study.key").stat().st_mode & 0o077 == 0


def test_a_store_is_not_served_under_another_key(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS, head=SMALL)
    with running(folder) as (process, _):
        stopped(process)
    lost = (folder / "study.key").read_bytes()
    (folder / "study.key").unlink()
    with pytest.raises(NotFound, match="and its store was begun with one; put it back"):
        serve(folder, port=0)
    assert not (folder / "study.key").exists()
    read_keys(folder / "study.key")
    with pytest.raises(BadInput, match="not the key that the store was begun with"):
        serve(folder, port=0)
    with running(folder, new_key=True) as (process, _):
        stopped(process)
    with running(folder) as (process, _):
        stopped(process)
    (folder / "study.key").write_bytes(lost)
    with pytest.raises(BadInput, match="not the key"):
        serve(folder, port=0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": ""}, "--host is empty"),
        ({"host": " "}, "--host is empty"),
        ({"public_url": ""}, "--public-url '' is no address"),
        ({"public_url": "https://[::1"}, "is no address such as https://study.example"),
        ({"public_url": "https://study.example/path"}, "is no address such as https://study.example"),
        ({"forwarded_allow": ["nobody"]}, "'nobody' is no address or network of a proxy"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_anything_is_made(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    with pytest.raises(BadConfig, match=re.escape(said)):
        serve(folder, port=0, **options)
    assert not list(folder.glob("study.[dk]*"))


def test_a_preview_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS, head='name = "n"\n')
    before = sorted(path.name for path in folder.iterdir())
    with running(folder, preview=True) as (process, told):
        assert told["store"] is None
        with people_of(told["participants"]) as (client,):
            state = walker_of(client).enter()
            assert state["study"]["preview"] is True
        stopped(process)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_answers_of_the_server_are_sent_at_once() -> None:
    """asyncio turns TCP_NODELAY on only for a socket that names its protocol; without it each answer takes 40 ms."""
    for host in ("127.0.0.1", "::1"):
        with stream_socket(host) as made:
            assert made.proto == socket.IPPROTO_TCP
    seen = []

    class Asked(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted = transport.get_extra_info("socket")
            seen.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def ask() -> None:
        made = stream_socket("127.0.0.1")
        made.bind(("127.0.0.1", 0))
        async with await asyncio.get_running_loop().create_server(Asked, sock=made):
            _, writer = await asyncio.open_connection(*made.getsockname())
            while not seen:
                await asyncio.sleep(0.01)
            writer.close()

    asyncio.run(ask())
    assert seen[0]


def test_other_machines_of_the_network_are_told_an_address(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    with running(folder, host="0.0.0.0") as (process, told):
        assert told["participants"].startswith("http://localhost:")
        port = told["participants"].rpartition(":")[2]
        assert told["network"] is None or re.fullmatch(rf"http://[0-9.]+:{port}", told["network"])
        stopped(process)
    with running(folder) as (process, told):
        assert told["network"] is None
        stopped(process)


def test_who_serves_a_simulated_benchmark_is_told(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    path = folder / "benchmark.toml"
    path.write_text("simulated = true\n" + path.read_text())
    with running(folder) as (process, _told):
        os.kill(process.pid, signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert "simulated: " in said
    assert "set simulated = false there" in said


def test_a_lab_asks_for_a_code(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    with running(folder, lab=True) as (process, told), people_of(told["participants"]) as (client,):
        assert 'name="code"' in client.get("/").text
        stopped(process)


def test_the_admin_of_a_password_file_can_sign_in(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    (tmp_path / "password").write_text("a rather long sentence\n")
    with running(folder, admin_password_file=str(tmp_path / "password")) as (process, told):
        assert told["admin"].endswith("/admin")
        with people_of(told["participants"]) as (client,):
            form = {"name": "admin", "password": "a rather long sentence"}
            origin = told["participants"].rstrip("/")
            headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
            assert client.post("/admin/login", data=form, headers=headers).status_code == 303
        stopped(process)


@pytest.mark.slow
def test_several_processes_on_postgresql_are_one_study(
    tmp_path: Path, postgres: Callable[[], AbstractContextManager[str]]
) -> None:
    folder = study_folder(tmp_path / "study", PAIRS.replace("break_seconds = 30", "break_seconds = 0"), head=SMALL)
    with postgres() as url:
        with (
            running(folder, store_url=url, workers=2) as (process, told),
            people_of(told["participants"], 4) as clients,
        ):
            address = told["participants"]
            until = time.monotonic() + 60
            while time.monotonic() < until:
                try:
                    httpx.get(f"{address}healthz")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            for client in clients:
                client.headers["connection"] = "close"  # so that requests go to either process
                walker = walker_of(client)
                assert walker.walk(walker.enter())["done"]["outcome"] == "completed"
                assert len(walker.acknowledged) == 16
            stopped(process)
        with Store.open(url) as store:
            rows = [store.read_now(lambda c, n=n: answers.of_lease(c, n)) for n in range(1, 5)]
            assert [len(each) for each in rows] == [16] * 4
            assert {store.read_now(lambda c, n=n: claims.get(c, n)).state for n in range(1, 5)} == {"complete"}


def test_several_processes_need_postgresql(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="--workers 2 needs PostgreSQL"):
        serve(study_folder(tmp_path / "study", PAIRS), workers=2, port=0)


def test_a_store_without_an_address_is_refused_and_none_is_made_instead(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study", PAIRS)
    with pytest.raises(BadInput, match="the store's address is no URL"):
        serve(folder, store_url="", port=0)
    assert not (folder / "study.db").exists()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadConfig, match=f"cannot listen on 127.0.0.1, port {port}"):
            serve(study_folder(tmp_path / "study", PAIRS), port=port, preview=True)


def test_a_password_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no file with the admin's password"):
        serve(study_folder(tmp_path / "study", PAIRS), admin_password_file=tmp_path / "none", port=0)


def test_a_worker_is_not_started_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARAGONE_WORKER", raising=False)
    with pytest.raises(BadConfig, match="a worker is started by paragone serve --workers"):
        worker()


@pytest.mark.parametrize(
    ("host", "public", "address"),
    [
        ("127.0.0.1", None, "http://localhost:8000/"),
        ("0.0.0.0", None, "http://localhost:8000/"),
        ("::", None, "http://localhost:8000/"),
        ("fd00::1", None, "http://[fd00::1]:8000/"),
        ("study.lab", None, "http://study.lab:8000/"),
        ("127.0.0.1", "https://study.example", "https://study.example/"),
    ],
)
def test_the_address_is_one_that_can_be_opened(host: str, public: str | None, address: str) -> None:
    assert address_of(host, 8000, public) == address


def test_copies_are_made_and_the_newest_are_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Store.open(url), keeps_backups(url, tmp_path / "backups", every=0.05):
        until = time.monotonic() + 30
        while not list((tmp_path / "backups").glob("*.zip")) and time.monotonic() < until:
            time.sleep(0.02)
    (first, *_) = sorted((tmp_path / "backups").glob("*.zip"))
    assert "participant" in backup.check(first).tables
    for day in range(10, 40):
        (tmp_path / "backups" / f"201901{day % 28 + 1:02d}T{day:02d}0000Z.zip").touch()
    (tmp_path / "backups" / "mine.zip").touch()
    pruned(tmp_path / "backups", 3)
    left = sorted(path.name for path in (tmp_path / "backups").iterdir())
    assert len(left) == 4
    assert "mine.zip" in left
    assert first.name in left
