"""Networks that come as one TorchScript file, such as FID's Inception: pictures in, one vector each out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadInput, MissingExtra, NotFound

if TYPE_CHECKING:
    import torch

__all__ = ["load_scripted"]


def load_scripted(path: str | Path) -> Callable[[torch.Tensor], torch.Tensor]:
    """Load FID's Inception as TorchScript (the file that is known as inception-2015-12-05.pt), or a module of its kind.

    A module with a part `layers` has that part called on values in [-1, 1): (x - 128) / 128 of pixels x in 0..255, as
    clean-fid does to pictures it has resized itself. Any other is called on pixels in 0..255. Checked with modules made
    for the tests; the real file was not at hand, so compare one known value before you publish with it.

    Args:
        path: the file. TorchScript is a program: take it from a place that you trust.

    Returns:
        A function from (n, 3, h, w) float32 in [0, 1] to (n, d).

    Raises:
        MissingExtra: torch is not installed.
        NotFound: no such file.
        BadInput: it is no TorchScript file; the function raises it where the module does not give one vector a picture.

    Source:
        Parmar, Zhang and Zhu, "On aliased resizing and surprising subtleties in GAN evaluation", CVPR 2022.
    """
    try:
        from torch import Tensor as Made
        from torch import jit, no_grad
    except ModuleNotFoundError as error:
        raise MissingExtra.library("a TorchScript network", "torch", "torch") from error
    path = Path(path)
    if not path.is_file():
        raise NotFound.path(path, "TorchScript file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # torch means to replace the format; the files exist
            load: Any = jit.load
            module = load(str(path), map_location="cpu").eval()
    except (RuntimeError, ValueError) as error:
        raise BadInput(f"{path.name}: not a TorchScript file", where=str(path)) from error
    inner = getattr(module, "layers", None)

    def vectors(batch: torch.Tensor) -> torch.Tensor:
        pixels = batch * 255.0
        try:
            with no_grad():
                made: Any = module(pixels) if inner is None else inner((pixels - 128.0) / 128.0)
        except RuntimeError as error:
            raise BadInput(f"{path.name}: the network does not run on pictures", where=str(path)) from error
        if not isinstance(made, Made) or made.numel() % len(batch) or made.numel() <= len(batch):
            raise BadInput(f"{path.name}: the network gives no vector for each picture", where=str(path))
        flat: torch.Tensor = made.reshape(len(batch), -1).float()
        return flat

    return vectors
