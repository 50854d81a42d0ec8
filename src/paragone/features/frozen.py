"""`Frozen`: what every network with fixed weights answers, whoever made it: pictures in, maps at several depths out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import torch

__all__ = ["Frozen", "Precision"]

Precision: TypeAlias = Literal["float32", "bfloat16"]
"""What a network computes in; feature maps come out as float32 in either."""


class Frozen(Protocol):
    """A network whose weights do not change. Results that used it must carry `label`, `source` and `sha256`."""

    @property
    def name(self) -> str:
        """Name that `load_backbone` knows, for example 'vgg16'."""

    @property
    def label(self) -> str:
        """How results must name it, for example 'vgg16 (fallback)' or 'vgg11 (random weights, seed 0)'."""

    @property
    def source(self) -> str:
        """Where the weights came from."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the weight file in hex; '' for random weights. What was trained on it must refuse another."""

    @property
    def channels(self) -> tuple[int, ...]:
        """Channels of the map at each tap, shallow first."""

    @property
    def side(self) -> int:
        """Side of the square pictures that it was trained at, in pixels."""

    @property
    def smallest(self) -> int:
        """Shortest side of a picture that it reads, in pixels."""

    @property
    def multiple(self) -> int:
        """Both sides of a picture must be a multiple of this, in pixels; 1: any size will do."""

    @property
    def device(self) -> str:
        """Where it computes, for example 'cpu' or 'cuda'."""

    @property
    def precision(self) -> Precision:
        """What it computes in."""

    def to(self, device: str, precision: Precision = "float32") -> Frozen:
        """Give the same network on another device or in another precision; this one stays usable on the CPU.

        Raises:
            BadConfig: torch has no such device here, or no such precision.
        """

    def __call__(self, batch: torch.Tensor, /) -> list[torch.Tensor]:
        """Give the feature maps of a batch of pictures.

        Args:
            batch: (n, 3, h, w) float32 in [0, 1], on any device; the network's own normalisation is done inside.
                Gradients pass through to it: wrap the call in `torch.inference_mode()` where none is wanted.

        Returns:
            One (n, c, h', w') float32 tensor for each tap, shallow first, on the network's device.

        Raises:
            BadImage: the pictures are too small, or their sides are no multiple of `multiple`.
        """
