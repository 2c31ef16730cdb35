#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the BLAKE2b-256 key of Pillow's resize of FOLDER/0.ppm, 1.ppm, …, colour or gray as they are.

Standard input: "width height bilinear|bicubic" a line, one for each picture.
"""
import hashlib
import pathlib
import sys

from PIL import Image

FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
folder = pathlib.Path(sys.argv[1])
for number, line in enumerate(sys.stdin):
    width, height, resample = line.split()
    with Image.open(folder / f"{number}.ppm") as image:
        resized = image.resize((int(width), int(height)), FILTERS[resample])
    print(hashlib.blake2b(resized.tobytes(), digest_size=32).hexdigest())
