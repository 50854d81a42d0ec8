"""Which addresses can be a service's, and what is shown of them."""

from __future__ import annotations

import pytest

from paragone.errors import BadConfig
from paragone.remote import Remote


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.com", "is no http or https address"),
        ("example.com/v1", "is no http or https address"),
        ("http://[", "'http://\\[' is no address: Invalid IPv6 URL"),
        ("http://host:99:99/v1", "is no address: Port could not be cast to integer value as '99:99'"),
        ("http://user:hunter2@host:99:99/v1", "is no address: Port could not be cast"),
        ("https://host:99999999/v1", "is no address: Port out of range 0-65535"),
        ("https://host:0/v1", "there is no port 0"),
        ("https://exam ple.com/v1", "holds a space or a character that cannot be seen"),
        ("https://example.com/\0", "holds a space or a character that cannot be seen"),
        ("https://user:hunter2@example.com/v1", "holds a password or query"),
        ("https://example.com/v1?key=hunter2", "holds a password or query"),
        ("http://example.com/v1", "would send the key unencrypted; use https"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(url: str, message: str) -> None:
    with pytest.raises(BadConfig, match=message) as caught:
        Remote(url, key="secret-key")
    assert "hunter2" not in caught.value.message
