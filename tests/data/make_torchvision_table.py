#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes torchvision_table.json beside this file: what torchvision says of its networks.

For each: parameters, multiply-adds of one 224x224 picture (convolutions and dense layers), number of
state_dict entries and the SHA-256 of their lines "name<TAB>size,size"; resnet18 with the lines
themselves. Needs torch and torchvision (made with 0.14).
"""
import hashlib
import json
import pathlib

import torch
import torchvision

NAMES = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
         "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2",
         "densenet121", "densenet161", "densenet169", "densenet201"]


def multiply_adds(model):
    total = 0

    def count(module, inputs, output):
        nonlocal total
        total += output.numel() * (module.weight.numel() // module.weight.shape[0])

    for module in model.modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
            module.register_forward_hook(count)
    with torch.no_grad():
        model.eval()(torch.zeros(1, 3, 224, 224))
    return total


def describe(name):
    model = getattr(torchvision.models, name)()
    lines = [f"{key}\t{','.join(map(str, value.shape))}" for key, value in model.state_dict().items()]
    entry = {"parameters": sum(p.numel() for p in model.parameters()), "multiply_adds": multiply_adds(model),
             "entries": len(lines), "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest()}
    if name == "resnet18":
        entry["lines"] = lines
    return entry


if __name__ == "__main__":
    table = {name: describe(name) for name in NAMES if hasattr(torchvision.models, name)}
    target = pathlib.Path(__file__).with_name("torchvision_table.json")
    target.write_text(json.dumps(table, indent=1) + "\n")
