#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward and backward passes of torchvision's networks for tst_networkinterop, in float64.

Each line of standard input is "NAME SIZE"; weights and pictures are filled by a formula that the test
has too. Prints one JSON object a line: logits in evaluation and in training, and for each gradient and
each buffer after the training pass its sum, root of squares and product with the formula.
Needs torch and torchvision. Random parts (dropout, stochastic depth) are off.
"""
import functools
import json
import math
import sys

import torch
import torchvision
from torch import nn

CLASSES = 5
PICTURES = 2


def formula(count, number):
    """Values in [-1, 1) that look random, repeat after 2003 and are the same in every language."""
    i = torch.arange(min(count, 2003), dtype=torch.int64)
    values = ((i * i * 31 + i * 7919 + number * 104729) % 2003).double() / 1001.5 - 1
    return values.repeat(count // 2003 + 1)[:count]


def fill(network):
    for number, (name, tensor) in enumerate(network.state_dict().items()):
        if not tensor.is_floating_point():
            continue
        values = formula(tensor.numel(), number).reshape(tensor.shape)
        if tensor.dim() > 1:
            values = values * (6.0 / tensor[0].numel()) ** 0.5
        elif name.endswith(("weight", "running_var")):
            values = 1 + values / 4
        else:
            values = values / 8
        tensor.copy_(values)


class SameConv(nn.Conv2d):
    """TensorFlow's padding: size / stride outputs, rounded up; an odd row or column comes after."""

    def forward(self, x):
        kernel, stride = self.kernel_size[0], self.stride[0]
        total = [max(0, (math.ceil(n / stride) - 1) * stride + kernel - n) for n in x.shape[2:]]
        rows, columns = total
        return super().forward(nn.functional.pad(x, (columns // 2, columns - columns // 2,
                                                     rows // 2, rows - rows // 2)))


def lite_norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class LiteBlock(nn.Module):
    """Names and order of PyPI's efficientnet_lite_pytorch."""

    def __init__(self, inputs, outputs, expansion, kernel, stride):
        super().__init__()
        wide = inputs * expansion
        if expansion > 1:
            self._expand_conv, self._bn0 = SameConv(inputs, wide, 1, bias=False), lite_norm(wide)
        self._depthwise_conv = SameConv(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = lite_norm(wide)
        self._project_conv, self._bn2 = SameConv(wide, outputs, 1, bias=False), lite_norm(outputs)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, inputs):
        x = inputs
        if hasattr(self, "_expand_conv"):
            x = nn.functional.relu6(self._bn0(self._expand_conv(x)))
        x = nn.functional.relu6(self._bn1(self._depthwise_conv(x)))
        x = self._bn2(self._project_conv(x))
        return x + inputs if self.residual else x


class EfficientNetLite(nn.Module):
    STAGES = [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
              (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]

    def __init__(self, width, depth, num_classes):
        super().__init__()
        self._conv_stem, self._bn0 = SameConv(3, 32, 3, 2, bias=False), lite_norm(32)
        blocks, inputs = [], 32
        for number, (expansion, kernel, stride, outputs, repeats) in enumerate(self.STAGES):
            outputs = torchvision.models._utils._make_divisible(outputs * width, 8)
            if 0 < number < len(self.STAGES) - 1:
                repeats = math.ceil(repeats * depth)
            for i in range(repeats):
                blocks.append(LiteBlock(inputs, outputs, expansion, kernel, stride if i == 0 else 1))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head, self._bn1 = SameConv(inputs, 1280, 1, bias=False), lite_norm(1280)
        self._fc = nn.Linear(1280, num_classes)

    def forward(self, x):
        x = nn.functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        x = nn.functional.relu6(self._bn1(self._conv_head(x)))
        return self._fc(x.mean((2, 3)))


LITE = {"efficientnet_lite0": (1.0, 1.0), "efficientnet_lite1": (1.0, 1.1), "efficientnet_lite2": (1.1, 1.2)}


def make(name, **options):
    if name in LITE:
        return EfficientNetLite(*LITE[name], num_classes=CLASSES)
    return getattr(torchvision.models, name)(num_classes=CLASSES, **options)


def without_chance(network):
    for module in network.modules():
        if isinstance(module, (nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0


def digest(tensor, number):
    flat = tensor.detach().double().flatten()
    return [flat.sum().item(), flat.square().sum().sqrt().item(), (flat * formula(flat.numel(), number)).sum().item()]


@functools.lru_cache()
def passes(name, size):
    options = {"image_size": size} if name.startswith("vit") else {}
    network = make(name, **options).double()
    fill(network)
    without_chance(network)
    pictures = formula(PICTURES * 3 * size * size, 1).reshape(PICTURES, 3, size, size)
    with torch.no_grad():
        evaluation = network.eval()(pictures)
    logits = network.train()(pictures)
    (logits * formula(logits.numel(), 2).reshape(logits.shape)).sum().backward()
    return {"evaluation": evaluation.flatten().tolist(), "training": logits.flatten().tolist(),
            "gradients": {key: digest(value.grad, 3) for key, value in network.named_parameters()},
            "buffers": {key: digest(value, 3) for key, value in network.named_buffers()}}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("ready", flush=True)
    for line in sys.stdin:
        architecture, edge = line.split()
        print(json.dumps(passes(architecture, int(edge))), flush=True)
