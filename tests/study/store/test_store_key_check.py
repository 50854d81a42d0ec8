"""A store goes on under the key that it was begun with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from paragone.errors import BadInput
from paragone.study.store import Store, events, key_check
from paragone.study.store.keys import Keys
from paragone.study.store.tables import event

ONE, TWO = Keys(b"1" * 32), Keys(b"2" * 32)


def hold(store: Store, keys: Keys, *, anew: bool = False) -> None:
    store.write_now(lambda c: key_check.hold_to(c, keys, 1.0, anew=anew))


def test_the_first_key_is_kept_and_no_other_is_taken(store_url: str) -> None:
    with Store.open(store_url) as store:
        assert not store.read_now(key_check.knows_a_key)
        hold(store, ONE)
        hold(store, ONE)
        assert store.read_now(key_check.knows_a_key)
        with pytest.raises(
            BadInput, match=r"study\.key is not the key that the store was begun with; put that one back"
        ):
            hold(store, TWO)
        told = store.read_now(lambda c: list(c.execute(event.select())))
    assert len(told) == 1
    assert ONE.hmac("x") not in told[0].body


def test_a_lost_key_is_replaced_on_demand_and_the_old_one_is_then_refused(store_url: str) -> None:
    with Store.open(store_url) as store:
        hold(store, ONE)
        hold(store, TWO, anew=True)
        hold(store, TWO)
        with pytest.raises(BadInput, match="not the key"):
            hold(store, ONE)


def test_of_two_keys_at_once_one_wins(store_url: str) -> None:
    def tried(keys: Keys) -> bool:
        try:
            hold(store, keys)
        except BadInput:
            return False
        return True

    with Store.open(store_url) as store, ThreadPoolExecutor(8) as pool:
        told = list(pool.map(tried, [ONE, TWO] * 8))
        assert store.read_now(lambda c: len(c.execute(event.select()).all())) == 1
    assert sum(told) == 8
    assert len(set(told[::2])) == len(set(told[1::2])) == 1


def test_a_browser_cannot_take_its_name(store_url: str) -> None:
    with Store.open(store_url) as store:
        hold(store, ONE)
        again = store.write_now(lambda c: events.append(c, "telemetry", 2.0, client_id="study-key-0"))
    assert again == "conflict"
