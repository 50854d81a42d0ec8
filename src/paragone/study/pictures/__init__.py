"""Pictures as participants get them: without words in them, under names that tell nothing.

`sanitise` makes the bytes that may go to a browser, `cache` keeps them and says what a study's files are, `opaque` names
trials and pictures. `instructed` draws what to choose into the pictures of a check, `plates` makes colour-vision plates
and judges their answers, `cards` holds the examples of the tutorials.
"""

from .cache import Digest, PictureCache, digest_table, profile_warnings, profiles
from .cards import Card, tutorial_cards, tutorial_picture
from .opaque import picture_etag, public_id, same
from .plates import Plate, Vision, choices, plate, plate_set, score
from .sanitise import Looks, Picture, look, sanitised, sanitised_bytes

__all__ = [
    "Card",
    "Digest",
    "Looks",
    "Picture",
    "PictureCache",
    "Plate",
    "Vision",
    "choices",
    "digest_table",
    "look",
    "picture_etag",
    "plate",
    "plate_set",
    "profile_warnings",
    "profiles",
    "public_id",
    "same",
    "sanitised",
    "sanitised_bytes",
    "score",
    "tutorial_cards",
    "tutorial_picture",
]
