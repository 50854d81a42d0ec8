"""StairIQA: a ResNet50 whose early maps climb to the last one by stairs of small convolutions."""

from __future__ import annotations

import torch
from torch import nn

from .architecture import Architecture
from .networks import Normalised, linear_head, resnet50_backbone, resnet50_pretrained, resnet_maps

__all__ = ["STAIRIQA", "Stair", "StairNetwork"]


class Stair(nn.Sequential):
    """One hyper block: 1 x 1 to a quarter of the channels, 3 x 3 among them, 1 x 1 to the channels of the next stage.

    No bias, no normalisation and no activation: it is linear.
    """

    def __init__(self, channels: int, wanted: int, *, stride: int) -> None:
        """Give a block with torch's default random weights.

        Args:
            channels: of the maps that come in; a multiple of 4.
            wanted: channels of the maps that go out.
            stride: of the 3 x 3; 2 halves the sides, an odd one rounds up.
        """
        narrow = channels // 4
        super().__init__(
            nn.Conv2d(channels, narrow, 1, bias=False),
            nn.Conv2d(narrow, narrow, 3, stride=stride, padding=1, bias=False),
            nn.Conv2d(narrow, wanted, 1, bias=False),
        )


class StairNetwork(nn.Module):
    """ResNet50, ten hyper blocks on four stairs, and a linear head on the mean of what arrives at the top."""

    def __init__(self, n_criteria: int) -> None:
        """Give the network with random weights.

        Raises:
            MissingExtra: timm is not installed.
        """
        super().__init__()
        self.normalised = Normalised()
        self.backbone = resnet50_backbone()
        widths = (64, 256, 512, 1024, 2048)
        self.stairs = nn.ModuleList(
            nn.ModuleList(
                Stair(widths[stage], widths[stage + 1], stride=1 if stage == 0 else 2) for _ in range(stage + 1)
            )
            for stage in range(4)
        )
        """`stairs[s][k]` lifts the k-th map that is on its way from stage s to stage s + 1; the youngest comes last."""
        self.head = linear_head(2048, 128, n_criteria)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, n_criteria) scores of (n, 3, h, w) pictures in [0, 1]."""
        return torch.as_tensor(self.head(self.top(pictures).mean(dim=(2, 3))))

    def top(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, 2048, h / 32, w / 32): the last map plus the four that climbed to it."""
        climbing: list[torch.Tensor] = []
        maps = resnet_maps(self.backbone, self.normalised(pictures))
        for stage, blocks in enumerate(self.stairs):
            # the map of this stage is added to every one that climbs, and then starts to climb itself
            arrived = [below + maps[stage] for below in climbing] + [maps[stage]]
            climbing = [block(one) for block, one in zip(blocks.children(), arrived, strict=True)]
        return torch.stack([maps[-1], *climbing]).sum(dim=0)


STAIRIQA = Architecture(
    name="stairiqa",
    label="StairIQA",
    summary="ResNet50 whose maps of every stage climb to the last one through ten linear hyper blocks",
    source="Sun, Min, Tu, Ma and Zhai, 'Blind quality assessment for in-the-wild images via hierarchical feature fusion "
    "and iterative mixed database training', IEEE JSTSP 2023",
    build=StairNetwork,
    pretrained=resnet50_pretrained,
    uncertainty=False,
    smallest=32,
)
