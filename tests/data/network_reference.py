#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward and backward passes of torchvision's networks for tst_networkinterop, in float64.

Each line of standard input is "NAME SIZE"; weights and pictures are filled by a formula that the test
has too. Prints one JSON object a line: logits in evaluation and in training, and for each gradient and
each buffer after the training pass its sum, root of squares and product with the formula.
Needs torch and torchvision.
"""
import functools
import json
import sys

import torch
import torchvision

CLASSES = 5
PICTURES = 2


def formula(count, number):
    """Values in [-1, 1) that look random and are the same in every language."""
    i = torch.arange(count, dtype=torch.int64)
    return ((i * i * 31 + i * 7919 + number * 104729) % 2003).double() / 1001.5 - 1


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


def digest(tensor, number):
    flat = tensor.detach().double().flatten()
    return [flat.sum().item(), flat.square().sum().sqrt().item(), (flat * formula(flat.numel(), number)).sum().item()]


@functools.lru_cache()
def passes(name, size):
    options = {"image_size": size} if name.startswith("vit") else {}
    network = getattr(torchvision.models, name)(num_classes=CLASSES, **options).double()
    fill(network)
    for module in network.modules():  # nothing may be drawn
        if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0
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
