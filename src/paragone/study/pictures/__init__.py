"""Pictures as participants get them: without words in them, under names that tell nothing."""

from .opaque import picture_etag, public_id, same
from .sanitise import Picture, sanitised, sanitised_bytes

__all__ = ["Picture", "picture_etag", "public_id", "same", "sanitised", "sanitised_bytes"]
