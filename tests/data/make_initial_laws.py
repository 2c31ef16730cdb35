#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes initial_laws.json: how torchvision draws the first weights, for tst_initialdistribution.

    python3 make_initial_laws.py

Every network is built with 7 classes while each operation that draws is watched, so the laws are those of
torchvision's code itself. "laws": ["constant", value], ["uniform", bound], ["normal", deviation],
["truncated", deviation], a normal law with the bounds +-2, many deviations away; "networks": number of the law
of each floating tensor, in the order of the state_dict. The lite networks, which torchvision lacks, are drawn by
torchvision's code for EfficientNet.
"""
import json
import math
import pathlib

import torch
import torchvision
from torch.utils._python_dispatch import TorchDispatchMode

from make_network_goldens import FOLDER, is_basic, names, score
from network_reference import LITE, EfficientNetLite

CLASSES = 7
FARTHEST = 6  # deviations; a bound nearer than that would change the deviation


class Watch(TorchDispatchMode):
    """The last law that was drawn into each piece of memory."""

    def __init__(self):
        super().__init__()
        self.laws = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.name()
        if name not in ("aten::uniform_", "aten::normal_", "aten::erfinv_", "aten::mul_.Tensor", "aten::mul_.Scalar"):
            return result
        place, values = args[0].data_ptr(), [*args[1:], *(kwargs or {}).values()]
        before = self.laws.get(place)
        if name == "aten::uniform_":
            low, high = (values + [0.0, 1.0][len(values):])[:2]
            assert low == -high
            self.laws[place] = ["uniform", high]
        elif name == "aten::normal_":
            mean, deviation = (values + [0.0, 1.0][len(values):])[:2]
            assert mean == 0
            self.laws[place] = ["normal", deviation]
        elif name == "aten::erfinv_":
            assert before[0] == "uniform" and before[1] > math.erf(FARTHEST / 2 ** 0.5)
            self.laws[place] = ["inverted", 1.0]
        elif before and before[0] == "inverted":
            self.laws[place] = ["truncated", float(values[0]) / 2 ** 0.5]
        return result


def lite(name):
    """Its modules in torchvision's loop of EfficientNet.__init__."""
    network = EfficientNetLite(*LITE[name], num_classes=CLASSES)
    for module in network.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_out")
        elif isinstance(module, torch.nn.Linear):
            bound = 1.0 / math.sqrt(module.out_features)
            torch.nn.init.uniform_(module.weight, -bound, bound)
            torch.nn.init.zeros_(module.bias)
    return network


def build(name):
    if name in LITE:
        return lite(name)
    if is_basic(name):
        return score.OWN_NETWORKS[name](num_classes=CLASSES)
    return getattr(torchvision.models, name)(num_classes=CLASSES)


def law_of(tensor, watch):
    if tensor.min() == tensor.max():
        return ["constant", float("%.9g" % tensor.flatten()[0].item())]
    kind, value = watch.laws[tensor.data_ptr()]
    return [kind, float("%.9g" % value)]


def main():
    laws, networks = [], {}
    for name in names():
        with Watch() as watch:
            network = build(name)
        numbers = []
        for tensor in network.state_dict().values():
            if tensor.is_floating_point():
                law = law_of(tensor, watch)
                laws += [] if law in laws else [law]
                numbers.append(laws.index(law))
        networks[name] = numbers
    lines = ",\n".join("  %s: %s" % (json.dumps(key), json.dumps(value, separators=(",", ":")))
                       for key, value in networks.items())
    pathlib.Path(FOLDER / "initial_laws.json").write_text(
        '{\n "laws": %s,\n "networks": {\n%s\n }\n}\n' % (json.dumps(laws), lines))


if __name__ == "__main__":
    main()
