#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes pretrained_table.json beside this file: what torchvision says of its weights.

For each network its DEFAULT weights: address, size in MiB, accuracy on ImageNet-1K's validation pictures
in per cent, and how pictures are prepared for them. Needs torchvision (made with 0.26).
"""
import json
import pathlib

import torchvision

NAMES = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
         "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2",
         "densenet121", "densenet161", "densenet169", "densenet201",
         "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
         "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large",
         "convnext_tiny", "convnext_small", "vit_b_16", "vit_b_32"]


def describe(name):
    weights = torchvision.models.get_model_weights(name).DEFAULT
    given, metrics = weights.transforms(), weights.meta["_metrics"]["ImageNet-1K"]
    return {"weights": weights.name, "url": weights.url, "mebibytes": weights.meta["_file_size"],
            "top1": metrics["acc@1"], "top5": metrics["acc@5"], "resize": given.resize_size[0],
            "crop": given.crop_size[0], "interpolation": given.interpolation.value,
            "mean": list(given.mean), "std": list(given.std)}


if __name__ == "__main__":
    lines = [json.dumps(name) + ": " + json.dumps(describe(name)) for name in NAMES]
    target = pathlib.Path(__file__).with_name("pretrained_table.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
