"""The network: SSDLite heads with a small feature pyramid on a MobileNetV2, in plain torch.

The input is red, green and blue from 0 to 1, without a mean taken off, so that the zeros around the image are black and
dividing by 255 can become part of the first layer. Any size of image will do; a map has one cell for each 8, 16 or 32
px.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from skyloop_detect.anchors import PER_CELL

STEM = 24
STAGES = (
    # channels, factor of the inner width, blocks, stride of the first
    (32, 3, 2, 2),
    (56, 4, 4, 2),
    (96, 4, 4, 2),
    (128, 4, 3, 1),
    (176, 4, 3, 2),
)
TAPPED = (1, 3, 4)
"""The stages whose maps have strides 8, 16 and 32."""
PYRAMID = 96
"""Channels of each map of the pyramid."""
USUAL_SHARE = 0.01
"""The score that an untrained network gives: nearly every anchor is background (Lin et al., 2017)."""


class ConvNorm(nn.Module):
    """A convolution without bias, a normalisation, and a rectifier if asked for."""

    def __init__(self, before: int, after: int, size: int, stride: int = 1, groups: int = 1, rectify: bool = True):
        super().__init__()
        self.conv = nn.Conv2d(before, after, size, stride, size // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after, momentum=0.1)
        self.rectify = rectify

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x))
        return functional.relu(x) if self.rectify else x


class Block(nn.Module):
    """MobileNetV2's inverted residual."""

    def __init__(self, before: int, after: int, factor: int, stride: int) -> None:
        super().__init__()
        inner = before * factor
        self.widen = ConvNorm(before, inner, 1)
        self.depthwise = ConvNorm(inner, inner, 3, stride, groups=inner)
        self.narrow = ConvNorm(inner, after, 1, rectify=False)
        self.adds = stride == 1 and before == after
        if self.adds:
            # at first it adds nothing (Goyal et al., 2017): otherwise half a level of noise in an untrained network's
            # images turns its gradient by a right angle
            nn.init.zeros_(self.narrow.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.narrow(self.depthwise(self.widen(x)))
        return x + y if self.adds else y


class Separable(nn.Module):
    """A depthwise convolution and one of single pixels."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.depthwise = ConvNorm(before, before, 3, groups=before)
        self.pointwise = ConvNorm(before, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.pointwise(self.depthwise(x))
        return y


class Head(nn.Module):
    """SSDLite: a depthwise layer, then one of single pixels that answers for each anchor of the cell."""

    def __init__(self, answers: int, bias: float) -> None:
        super().__init__()
        self.depthwise = ConvNorm(PYRAMID, PYRAMID, 3, groups=PYRAMID)
        self.answer = nn.Conv2d(PYRAMID, PER_CELL * answers, 1)
        nn.init.normal_(self.answer.weight, std=0.01)
        nn.init.constant_(self.answer.bias, bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.answer(self.depthwise(x))
        return y


class Network(nn.Module):
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.stem = ConvNorm(3, STEM, 3, 2)
        self.stages = nn.ModuleList()
        before = STEM
        for channels, factor, count, stride in STAGES:
            blocks = [
                Block(before if k == 0 else channels, channels, factor, stride if k == 0 else 1) for k in range(count)
            ]
            self.stages.append(nn.Sequential(*blocks))
            before = channels
        self.laterals = nn.ModuleList(ConvNorm(STAGES[k][0], PYRAMID, 1, rectify=False) for k in TAPPED)
        self.smoothers = nn.ModuleList(Separable(PYRAMID, PYRAMID) for _ in TAPPED)
        bias = -math.log((1.0 - USUAL_SHARE) / USUAL_SHARE)
        self.class_heads = nn.ModuleList(Head(n_classes, bias) for _ in TAPPED)
        self.box_heads = nn.ModuleList(Head(4, 0.0) for _ in TAPPED)
        for module in self.modules():
            if isinstance(module, nn.Conv2d) and module.bias is None:
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """(b, n, classes) logits and (b, n, 4) offsets of the anchors, from (b, 3, height, width) images."""
        x, taps = self.stem(images), []
        for number, stage in enumerate(self.stages):
            x = stage(x)
            if number in TAPPED:
                taps.append(x)
        maps = self._pyramid(taps)
        logits = [_by_anchor(head(m), self.n_classes) for head, m in zip(self.class_heads, maps, strict=True)]
        offsets = [_by_anchor(head(m), 4) for head, m in zip(self.box_heads, maps, strict=True)]
        return torch.cat(logits, 1), torch.cat(offsets, 1)

    def _pyramid(self, taps: list[Tensor]) -> list[Tensor]:
        """Maps of equal width, each with what the coarser ones know."""
        maps = [lateral(tap) for lateral, tap in zip(self.laterals, taps, strict=True)]
        for k in range(len(maps) - 2, -1, -1):
            rows, columns = maps[k].shape[-2:]
            # a map of odd size was rounded up, so that its double is too large by one
            maps[k] = maps[k] + functional.interpolate(maps[k + 1], scale_factor=2.0)[..., :rows, :columns]
        return [smoother(m) for smoother, m in zip(self.smoothers, maps, strict=True)]


def placed(network: Network, device: torch.device) -> Network:
    """On a device, with the channels of a pixel side by side, which convolutions prefer."""
    network.to(device)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network


def _by_anchor(answers: Tensor, per_anchor: int) -> Tensor:
    batch = answers.shape[0]
    return answers.permute(0, 2, 3, 1).reshape(batch, -1, per_anchor)
