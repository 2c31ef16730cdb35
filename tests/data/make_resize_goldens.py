#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes resize_goldens.inc: what Pillow's BILINEAR and BICUBIC resizes give for the pattern of the tests.

The pattern is patternImage(width, height, 7) of tests/core/data/datasamples.cpp.
"""
import hashlib
import pathlib

from PIL import Image

SHAPES = [
    (1, 1, 7, 5), (5, 1, 3, 4), (1, 9, 2, 3), (28, 28, 32, 32), (28, 28, 224, 224), (97, 61, 20, 48),
    (97, 61, 97, 20), (97, 61, 20, 61), (500, 375, 341, 256), (33, 17, 100, 100), (1000, 3, 10, 300),
    (1, 40, 1, 7), (40, 1, 90, 1), (2, 2, 50, 50), (640, 480, 1, 1),
]


def pattern(width, height, seed):
    state = (seed * 2654435761 + 12345) & 0xFFFFFFFF
    out = bytearray()
    for _ in range(width * height * 3):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return Image.frombytes("RGB", (width, height), bytes(out))


lines = []
for name, resample in (("Bilinear", Image.BILINEAR), ("Bicubic", Image.BICUBIC)):
    for width, height, to_width, to_height in SHAPES:
        pixels = pattern(width, height, 7).resize((to_width, to_height), resample).tobytes()
        key = hashlib.blake2b(pixels, digest_size=32).hexdigest()
        lines.append(f'    {{{{{width}, {height}, {to_width}, {to_height}}}, Interpolation::{name}, "{key}"}},\n')
pathlib.Path(__file__).with_name("resize_goldens.inc").write_text("".join(lines))
