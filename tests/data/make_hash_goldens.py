#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes hash_goldens.inc: the perceptual hash of core/data/perceptualhash.h, computed a second time from
its definition, of patternImage(w, h, 7) of tests/core/data/datasamples.cpp enlarged to W × H by its nearest pixels."""
import math
import pathlib

import numpy as np
SHAPES = [(8, 8, 8, 8), (13, 9, 13, 9), (31, 90, 31, 90), (32, 32, 32, 32), (40, 34, 40, 34), (8, 6, 320, 240), (16, 12, 333, 251),
          (12, 12, 1200, 700), (20, 15, 97, 611), (1, 1, 50, 50), (9, 1, 90, 60), (300, 300, 300, 300)]


def pattern(width, height, seed):
    state = (seed * 2654435761 + 12345) & 0xFFFFFFFF
    out = bytearray()
    for _ in range(width * height * 3):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return np.frombuffer(bytes(out), dtype=np.uint8).reshape(height, width, 3)


def enlarged(image, width, height):
    rows = (2 * np.arange(height) + 1) * image.shape[0] // (2 * height)
    columns = (2 * np.arange(width) + 1) * image.shape[1] // (2 * width)
    return image[rows][:, columns]


def overlaps(extent):
    """How much of pixel p lies in cell c, in 1/32 pixels."""
    return np.array([[max(0, min((c + 1) * extent, (p + 1) * 32) - max(c * extent, p * 32)) for p in range(extent)]
                     for c in range(32)], dtype=np.int64)


def perceptual_hash(image):
    rgb = image.astype(np.int64)
    luma = rgb @ np.array([19595, 38470, 7471], dtype=np.int64)
    height, width = luma.shape
    if min(height, width) < 32:
        return 0, 0, False
    sums = overlaps(height) @ luma @ overlaps(width).T
    unit = width * height * 256
    cells = (sums + unit // 2) // unit
    if cells.std() < 5 * 256:
        return 0, 0, False
    table = np.array([[math.floor(4096 * math.cos(math.pi * (2 * k + 1) * u / 64) + 0.5) for k in range(32)]
                      for u in range(12)], dtype=object)
    values = table @ cells.astype(object) @ table.T
    places = sorted(((u, v) for u in range(12) for v in range(12) if (u, v) != (0, 0)), key=lambda p: (p[0] + p[1], p[0]))
    picked = [values[u][v] for u, v in places[:128]]
    strong = sum(abs(value) >= 0.2 * 256 * 256 * 4096 * 4096 for value in picked[:64])
    if strong < 40:
        return 0, 0, False
    return (sum(1 << i for i, value in enumerate(picked[:64]) if value > 0),
            sum(1 << i for i, value in enumerate(picked[64:]) if value > 0), True)


lines = []
for width, height, to_width, to_height in SHAPES:
    code, check, known = perceptual_hash(enlarged(pattern(width, height, 7), to_width, to_height))
    lines.append(f"    {{{{{width}, {height}, {to_width}, {to_height}}}, 0x{code:016x}ULL, 0x{check:016x}ULL, "
                 f"{str(known).lower()}}},\n")
pathlib.Path(__file__).with_name("hash_goldens.inc").write_text("".join(lines))
