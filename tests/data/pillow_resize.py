#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the BLAKE2b-256 key of Pillow's BILINEAR resize of FOLDER/0.ppm, 1.ppm, …

Standard input: "width height" a line, one for each picture.
"""
import hashlib
import pathlib
import sys

from PIL import Image

folder = pathlib.Path(sys.argv[1])
for number, line in enumerate(sys.stdin):
    width, height = map(int, line.split())
    with Image.open(folder / f"{number}.ppm") as image:
        resized = image.convert("RGB").resize((width, height), Image.BILINEAR)
    print(hashlib.blake2b(resized.tobytes(), digest_size=32).hexdigest())
