"""`Method`: the keys that every `[method.<name>]` table may have, whatever makes the pictures."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from ...settings import Settings

__all__ = ["Method"]


class Method(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of the records that a method's table becomes; the key `kind` says which."""

    align: Literal["exact", "resize", "crop", "pad"] = "exact"
    """What is done with a picture of another size than the content: exact: nothing, its status is wrong_size; resize:
    both sides, which may stretch it; crop: the centre, then resized; pad: resized to fit, with grey borders."""

    rereads: ClassVar[bool] = False
    """Whether every run looks at all cells again, since what they are made of may have changed unseen."""
    idle: ClassVar[tuple[str, ...]] = ()
    """Keys on which no picture depends: patience, prices, logs."""

    def bearing(self) -> dict[str, Any]:
        """Return the settings on which a picture depends; a change of any other is no reason to make it again."""
        return {key: value for key, value in msgspec.to_builtins(self).items() if key not in self.idle}
