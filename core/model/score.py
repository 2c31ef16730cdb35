#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores pictures with the model in this folder: torch, torchvision and PIL, nothing else.

    python3 score.py [--logits] [--model FOLDER] IMAGE...

prints one JSON object a line: {"path", "label", "probabilities": {class: p}[, "logits": [...]]}.
Works with PyTorch 1.13 and every 2.x. Pictures become 8-bit RGB as in training: orientation of the
camera applied, alpha dropped, 16-bit grey scaled by (v + 128) / 257. PIL itself cuts 16-bit *colour*
to 8 bits by dropping the low byte; save such pictures with 8 bits for the very same numbers.
"""
import argparse
import functools
import json
import math
import os
import sys

import torch
import torchvision
from PIL import Image, ImageOps


class SmallCnn(torch.nn.Module):
    """conv 32, pool, conv 64, pool, dense 128, dense classes."""

    def __init__(self, num_classes, in_channels=3, height=28, width=28):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(in_channels, 32, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = torch.nn.Linear(64 * (height // 4) * (width // 4), 128)
        self.fc2 = torch.nn.Linear(128, num_classes)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(torch.relu(self.fc1(torch.flatten(x, 1))))


class Mlp(torch.nn.Module):
    """Dense layers fc1 ... fcN over the flattened picture."""

    def __init__(self, num_classes, in_channels=3, height=28, width=28, hidden_sizes=(10,), activation="relu",
                 dropout=0.0):
        super().__init__()
        sizes = [in_channels * height * width, *hidden_sizes, num_classes]
        for i in range(len(sizes) - 1):
            setattr(self, "fc%d" % (i + 1), torch.nn.Linear(sizes[i], sizes[i + 1]))
        self.layers = len(sizes) - 1
        self.activation = torch.tanh if activation == "tanh" else torch.relu
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.layers):
            x = self.dropout(self.activation(getattr(self, "fc%d" % i)(x)))
        return getattr(self, "fc%d" % self.layers)(x)


class SameConv2d(torch.nn.Conv2d):
    """TensorFlow's padding: as many outputs as strides fit, what is odd goes right and below."""

    def forward(self, x):
        borders = []
        for axis in (1, 0):
            size, stride = x.shape[2 + axis], self.stride[axis]
            border = max((math.ceil(size / stride) - 1) * stride + self.kernel_size[axis] - size, 0)
            borders += [border // 2, border - border // 2]
        return super().forward(torch.nn.functional.pad(x, borders))


def lite_norm(channels):
    return torch.nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class LiteBlock(torch.nn.Module):
    """Inverted bottleneck without squeeze and excitation."""

    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        middle = inputs * expansion
        self.expands, self.adds = expansion != 1, stride == 1 and inputs == outputs
        if self.expands:
            self._expand_conv = SameConv2d(inputs, middle, 1, bias=False)
            self._bn0 = lite_norm(middle)
        self._depthwise_conv = SameConv2d(middle, middle, kernel, stride, groups=middle, bias=False)
        self._bn1 = lite_norm(middle)
        self._project_conv = SameConv2d(middle, outputs, 1, bias=False)
        self._bn2 = lite_norm(outputs)

    def forward(self, x):
        relu6 = torch.nn.functional.relu6
        y = relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        y = self._bn2(self._project_conv(relu6(self._bn1(self._depthwise_conv(y)))))
        return x + y if self.adds else y


class EfficientNetLite(torch.nn.Module):
    """Stem and head are not scaled, nor is the number of blocks in the first and the last stage."""

    STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112),
              (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))  # blocks, kernel, stride, expansion, channels

    def __init__(self, num_classes, width, depth, in_channels=3, **of_training):
        super().__init__()
        self._conv_stem = SameConv2d(in_channels, 32, 3, 2, bias=False)
        self._bn0 = lite_norm(32)
        blocks, inputs = [], 32
        for stage, (count, kernel, stride, expansion, channels) in enumerate(self.STAGES):
            outputs = self.scaled(channels, width)
            if 0 < stage < len(self.STAGES) - 1:
                count = math.ceil(count * depth)
            for block in range(count):
                blocks.append(LiteBlock(inputs, outputs, kernel, stride if block == 0 else 1, expansion))
                inputs = outputs
        self._blocks = torch.nn.ModuleList(blocks)
        self._conv_head = SameConv2d(inputs, 1280, 1, bias=False)
        self._bn1 = lite_norm(1280)
        self._fc = torch.nn.Linear(1280, num_classes)

    @staticmethod
    def scaled(channels, width):
        """To the nearest multiple of 8, at least nine tenths."""
        wanted = channels * width
        rounded = max(8, int(wanted + 4) // 8 * 8)
        return rounded + 8 if rounded < 0.9 * wanted else rounded

    def forward(self, x):
        relu6 = torch.nn.functional.relu6
        x = relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return self._fc(relu6(self._bn1(self._conv_head(x))).mean((2, 3)))


OWN_NETWORKS = {"small_cnn": SmallCnn, "mlp": Mlp,
                "efficientnet_lite0": functools.partial(EfficientNetLite, width=1.0, depth=1.0),
                "efficientnet_lite1": functools.partial(EfficientNetLite, width=1.0, depth=1.1),
                "efficientnet_lite2": functools.partial(EfficientNetLite, width=1.1, depth=1.2)}


def class_name(entry):
    """A name that is not UTF-8 is stored percent-encoded, and shown so."""
    return entry["path"] if isinstance(entry, dict) else entry


def with_input_channels(network, channels):
    """torchvision's networks read 3; another number needs another first convolution."""
    first = next(layer for layer in network.modules() if isinstance(layer, torch.nn.Conv2d))
    if channels != first.in_channels:
        first.weight = torch.nn.Parameter(torch.empty(first.out_channels, channels, *first.kernel_size))
        first.in_channels = channels
    return network


def make_network(description):
    name, arguments = description["architecture"], description["arguments"]
    if name in OWN_NETWORKS:
        return OWN_NETWORKS[name](**arguments)
    size = {"image_size": arguments["image_size"]} if "image_size" in arguments else {}
    network = getattr(torchvision.models, name)(num_classes=arguments["num_classes"], **size)
    return with_input_channels(network, arguments.get("in_channels", 3))


def load_model(folder):
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
        description = json.load(file)
    if description.get("format") != "trainwright-model" or description.get("version") != 1:
        raise ValueError("%s: this score.py reads trainwright-model version 1 only" % folder)
    network = make_network(description)
    weights = torch.load(os.path.join(folder, "weights.pth"), map_location="cpu", weights_only=True)
    network.load_state_dict(weights, strict=True)
    return description, network.eval()


def deep_grey_to_8_bit(image):
    """(v + 128) / 257 in whole numbers; modes I;16, I;16B, I;16L and I as PIL opens 16-bit grey."""
    if image.mode == "F" or (image.mode == "I" and image.format == "TIFF"):
        raise ValueError("float and 32-bit pictures have no defined range; save with 8 or 16 bits")
    if image.mode.startswith("I;16"):
        image = image.convert("I")
    if image.mode != "I":
        return image
    values = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.int32)
    values = torch.div(values + 128, 257, rounding_mode="floor").clamp(0, 255)
    return Image.frombytes("L", image.size, bytes(values.tolist()))


def open_picture(path):
    """8-bit RGB, turned as the camera held it."""
    image = Image.open(path)
    image.load()
    orientation = image.getexif().get(0x0112, 1)
    image = deep_grey_to_8_bit(image).convert("RGB")
    if orientation in (2, 3, 4, 5, 6, 7, 8):
        exif = image.getexif()
        exif[0x0112] = orientation
        image = ImageOps.exif_transpose(image)
    return image


FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


def resize(image, size, interpolation):
    """Shorter edge to size, longer edge int(size * long / short); Pillow's 8-bit antialiased filters."""
    if interpolation not in FILTERS:
        raise ValueError("unknown interpolation '%s' in model.json" % interpolation)
    width, height = image.size
    if width <= height:
        return image.resize((size, int(size * height / width)), FILTERS[interpolation])
    return image.resize((int(size * width / height), size), FILTERS[interpolation])


def center_crop(image, size):
    """round() is half to even, as in torchvision."""
    width, height = image.size
    if size > width or size > height:
        raise ValueError("a crop of %d pixels is larger than the picture (%d x %d)" % (size, width, height))
    left, top = int(round((width - size) / 2.0)), int(round((height - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def transformed(image, operations):
    for operation in operations:
        kind = operation["op"]
        if kind == "resize":
            image = resize(image, operation["size"], operation.get("interpolation", "bilinear"))
        elif kind == "center_crop":
            image = center_crop(image, operation["size"])
        elif kind == "pad":
            image = ImageOps.expand(image, border=operation["padding"], fill=0)
        elif kind == "grayscale":
            image = image.convert("L").convert("RGB")
        else:
            raise ValueError("unknown operation '%s' in model.json" % kind)
    return image


def to_input(image, description):
    """1 x C x H x W, (value / 255 - mean) / std in float32."""
    given = description["input"]
    channels = given["channels"]
    if channels not in (1, 3):
        raise ValueError("the network reads %d channels; pictures have 3" % channels)
    image = image.convert("L" if channels == 1 else "RGB")
    width, height = image.size
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    pixels = pixels.reshape(height, width, channels).permute(2, 0, 1).to(torch.float32)
    mean = torch.tensor(given["mean"], dtype=torch.float32).reshape(channels, 1, 1)
    std = torch.tensor(given["std"], dtype=torch.float32).reshape(channels, 1, 1)
    return ((pixels / 255 - mean) / std).unsqueeze(0)


def softmax(logits):
    highest = max(logits)
    powers = [math.exp(value - highest) for value in logits]
    total = sum(powers)
    return [power / total for power in powers]


def score(path, description, network):
    image = transformed(open_picture(path), description["input"]["transforms"])
    with torch.no_grad():
        return network(to_input(image, description))[0].tolist()


def main():
    parser = argparse.ArgumentParser(description="Scores pictures with the model in this folder.")
    parser.add_argument("images", nargs="+", metavar="IMAGE")
    parser.add_argument("--logits", action="store_true", help="add the network's raw outputs")
    parser.add_argument("--model", default=os.path.dirname(os.path.abspath(__file__)), metavar="FOLDER",
                        help="the model directory (default: the folder of this script)")
    arguments = parser.parse_args()
    description, network = load_model(arguments.model)
    classes = [class_name(entry) for entry in description["classes"]]
    failed = False
    for path in arguments.images:
        try:
            logits = score(path, description, network)
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            print("%s: %s" % (path, error), file=sys.stderr)
            failed = True
            continue
        probabilities = softmax(logits)
        line = {"path": path, "label": classes[logits.index(max(logits))],
                "probabilities": dict(zip(classes, probabilities))}
        if arguments.logits:
            line["logits"] = logits
        print(json.dumps(line), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
