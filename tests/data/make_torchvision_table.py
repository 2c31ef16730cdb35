#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes torchvision_table.json beside this file: what torchvision says of its networks.

For each: parameters, multiply-adds of one picture of the usual size (convolutions, dense layers and
attention), the published GFLOPS, number of state_dict entries and the SHA-256 of their lines
"name<TAB>size,size". "listing" has a line a module, to find a difference with: its name, then its own
tensors as "name size,size"; "BatchNorm 64" stands for the five tensors of a batch norm.
Needs torch and torchvision (made with 2.11 and 0.26).
"""
import hashlib
import json
import pathlib

import torch
import torchvision

NAMES = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
         "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2",
         "densenet121", "densenet161", "densenet169", "densenet201",
         "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
         "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large",
         "convnext_tiny", "convnext_small", "vit_b_16", "vit_b_32"]
# Edges that the published figures are for, where it is not 224.
SIZES = {"efficientnet_b1": 240, "efficientnet_b2": 288, "efficientnet_b3": 300, "efficientnet_b4": 380}


def multiply_adds(model, size):
    total = 0

    def count(module, inputs, output):
        nonlocal total
        total += output.numel() * (module.weight.numel() // module.weight.shape[0])

    def attention(module, inputs, output):
        nonlocal total
        pictures, tokens, width = inputs[0].shape
        total += pictures * tokens * (4 * width * width + 2 * tokens * width)

    inner = {id(m.out_proj) for m in model.modules() if isinstance(m, torch.nn.MultiheadAttention)}
    for module in model.modules():
        if isinstance(module, torch.nn.MultiheadAttention):
            module.register_forward_hook(attention)
        elif isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)) and id(module) not in inner:
            module.register_forward_hook(count)
    with torch.no_grad():
        model.eval()(torch.zeros(1, 3, size, size))
    return total


def listing(model):
    lines = []
    for name, module in model.named_modules():
        own = [(key, value) for key, value in module.state_dict().items() if "." not in key]
        if not own:
            continue
        if isinstance(module, torch.nn.BatchNorm2d):
            lines.append(f"{name} BatchNorm {module.num_features}")
        else:
            lines.append(" ".join([name or "-"] + [f"{key} {','.join(map(str, value.shape))}" for key, value in own]))
    return lines


def describe(name):
    size = SIZES.get(name, 224)
    model = getattr(torchvision.models, name)()
    lines = [f"{key}\t{','.join(map(str, value.shape))}" for key, value in model.state_dict().items()]
    published = torchvision.models.get_model_weights(name).DEFAULT.meta["_ops"]
    # The default weights of mobilenet_v2 and wide_resnet are for 224, too.
    return {"size": size, "parameters": sum(p.numel() for p in model.parameters()),
            "multiply_adds": multiply_adds(model, size), "gflops": published, "entries": len(lines),
            "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(), "listing": listing(model)}


if __name__ == "__main__":
    table = {name: describe(name) for name in NAMES}
    target = pathlib.Path(__file__).with_name("torchvision_table.json")
    target.write_text(json.dumps(table, indent=0, separators=(",", ":")) + "\n")
    for name, entry in table.items():
        print(name, entry["size"], entry["parameters"], entry["multiply_adds"] / entry["gflops"] / 1e9 - 1)
