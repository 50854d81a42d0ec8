"""The one place that fetches a weight file, and only when it was asked to: from the Hugging Face hub into its cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, NotFound

__all__ = ["DEFAULT_ENDPOINT", "download_file"]

DEFAULT_ENDPOINT = "https://huggingface.co"
"""Taken where HF_ENDPOINT names no other."""

_YES = ("1", "ON", "YES", "TRUE")  # as huggingface_hub reads it
_PATIENCE = 10.0  # seconds to wait for the first answer of the hub


def download_file(repository: str, file: str, *, cache: str | Path, what: str) -> Path:
    """Fetch a file of the main revision of a repository into the cache of the Hugging Face hub.

    Args:
        repository: 'owner/name'.
        file: its path inside, for example 'model.safetensors'.
        cache: folder of the cache.
        what: what the file is for, in messages.

    Returns:
        Its path inside the cache. The caller compares its SHA-256 with what the hub said.

    Raises:
        MissingExtra: huggingface_hub is not installed.
        NotFound: the hub did not give the file; one line says why.
    """
    try:
        import httpx
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, HFValidationError, OfflineModeIsEnabled
    except ModuleNotFoundError as error:
        raise MissingExtra.library(f"downloading the weights of {what}", "huggingface_hub", "torch") from error
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or DEFAULT_ENDPOINT
    start = f"could not download {file} of {repository} for {what} from {endpoint}"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in _YES:
        raise NotFound(f"{start}: HF_HUB_OFFLINE forbids it", where=repository)
    fetch: Any = hf_hub_download
    try:
        httpx.head(endpoint, timeout=_PATIENCE)  # any answer will do; the library itself would try for half a minute
        made = fetch(repository, file, cache_dir=str(cache), endpoint=endpoint, etag_timeout=_PATIENCE)
    except (OSError, EntryNotFoundError, HFValidationError, OfflineModeIsEnabled, httpx.HTTPError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise NotFound(f"{start}: {said[:200]}", where=repository) from error
    return Path(made)
