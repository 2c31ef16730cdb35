#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes mobile_table.json beside this file: what Python says of EfficientNet, its lite ones and MobileNet.

For each: parameters, edge of its usual picture, multiply-adds of one such picture (convolutions and dense
layers), torchvision's published figure in 1e9, number of state_dict entries, the SHA-256 of their lines
"name<TAB>size,size" and some of the lines. Needs torch, torchvision (made with 0.26) and efficientnet_lite_pytorch.
"""
import hashlib
import json
import pathlib

import torch
import torchvision
from efficientnet_lite_pytorch import EfficientNet
from torchvision.models import get_model, get_model_weights

TORCHVISION = ["efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
               "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"]
LITE = {"efficientnet_lite0": 224, "efficientnet_lite1": 240, "efficientnet_lite2": 260}
EVERY = 16  # lines shown


def multiply_adds(model, size):
    total = 0

    def count(module, inputs, output):
        nonlocal total
        total += output.numel() * (module.weight.numel() // module.weight.shape[0])

    for module in model.modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
            module.register_forward_hook(count)
    with torch.no_grad():
        model.eval()(torch.zeros(1, 3, size, size))
    return total


def describe(model, size, published):
    lines = [f"{key}\t{','.join(map(str, value.shape))}" for key, value in model.state_dict().items()]
    return {"parameters": sum(p.numel() for p in model.parameters()), "size": size,
            "multiply_adds": multiply_adds(model, size), "published": published, "entries": len(lines),
            "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(), "every": EVERY, "lines": lines[::EVERY]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    table = {}
    for name in TORCHVISION:
        weights = get_model_weights(name).IMAGENET1K_V1
        table[name] = describe(get_model(name), weights.transforms().crop_size[0], weights.meta["_ops"])
    for name, size in LITE.items():
        table[name] = describe(EfficientNet.from_name(name.replace("_", "-")), size, None)
    target = pathlib.Path(__file__).with_name("mobile_table.json")
    target.write_text(json.dumps(table, indent=1) + "\n")
