#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes transform_goldens.inc: what Pillow and torchvision give for given parameters.

Each line is a step with its parameters and the BLAKE2b key of its results for all pictures of
PICTURES, one after the other (goldenPictures() of tests/core/data/tst_transformsteps.cpp), gray ones
as three equal channels. transform_magnitudes.inc holds the magnitudes of both augment policies,
transform_perspectives.inc whole pictures of torchvision's perspective, transform_moments.inc means of
what torchvision draws.
"""
import hashlib
import math
import pathlib
from fractions import Fraction

import torch
from PIL import Image
from torchvision.transforms import InterpolationMode, RandomErasing, RandomResizedCrop, autoaugment
from torchvision.transforms import functional as F

FOLDER = pathlib.Path(__file__).parent
PICTURES = [("noise", 20, 17), ("narrow", 33, 33), ("gray", 20, 17), ("noise", 1, 1), ("noise", 2, 5),
            ("noise", 64, 7), ("narrow", 3, 3), ("grayNarrow", 16, 16), ("hues", 48, 32)]
DRAWS = 100000
NEAREST = InterpolationMode.NEAREST


def pattern(count, seed):
    state = (seed * 2654435761 + 12345) & 0xFFFFFFFF
    out = bytearray()
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return bytes(out)


def picture(kind, width, height):
    """Noise, noise from 40 to 103, both in gray, and slopes of each channel."""
    if kind == "hues":
        return Image.frombytes("RGB", (width, height), bytes(
            value for y in range(height) for x in range(width)
            for value in (x * 5 % 256, y * 8 % 256, (x * 3 + y * 11) % 256)))
    gray = kind.startswith("gray")
    values = pattern(width * height * (1 if gray else 3), 7)
    if kind in ("narrow", "grayNarrow"):
        values = bytes(40 + (value >> 2) for value in values)
    return Image.frombytes("L" if gray else "RGB", (width, height), values)


def affine(angle=0.0, x=0, y=0, scale=1.0, shear_x=0.0, shear_y=0.0, origin=False):
    fields = [repr(float(angle)), str(x), str(y), repr(float(scale)), repr(float(shear_x)), repr(float(shear_y)),
              "true" if origin else "false"]
    step = "{.kind = Step::Affine, .affine = {%s}}" % ", ".join(fields)
    return step, lambda image: F.affine(image, float(angle), [x, y], float(scale), [shear_x, shear_y], NEAREST, 0,
                                        [0, 0] if origin else None)


def valued(kind, value, function):
    return "{.kind = Step::%s, .value = %s}" % (kind, repr(float(value))), lambda image: function(image, float(value))


def sized(kind, size, function):
    return "{.kind = Step::%s, .size = %d}" % (kind, size), lambda image: function(image, size)


def plain(kind, function):
    return "{.kind = Step::%s}" % kind, function


def solved(corners, width, height):
    """The mapping from the corners back to those of the picture, exact; nothing where there is none."""
    start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
    rows = []
    for (x, y), (u, v) in zip(zip(corners[::2], corners[1::2]), start):
        rows.append([Fraction(n) for n in (x, y, 1, 0, 0, 0, -u * x, -u * y, u)])
        rows.append([Fraction(n) for n in (0, 0, 0, x, y, 1, -v * x, -v * y, v)])
    for column in range(8):
        pivot = next((row for row in range(column, 8) if rows[row][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(8):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column])]
    return [float(rows[i][8] / rows[i][i]) for i in range(8)]


def perspective(corners):
    step = "{.kind = Step::Perspective, .corners = {%s}}" % ", ".join(map(str, corners))

    def run(image):
        mapping = solved(corners, *image.size)
        return image if mapping is None else image.transform(image.size, Image.PERSPECTIVE, mapping, Image.BILINEAR)
    return step, run


def augmented(name, magnitude):
    """The step that a policy makes of an operation, through torchvision's own _apply_op."""
    made = {
        "ShearX": lambda: affine(shear_x=math.degrees(math.atan(magnitude)), origin=True)[0],
        "ShearY": lambda: affine(shear_y=math.degrees(math.atan(magnitude)), origin=True)[0],
        "TranslateX": lambda: affine(x=int(magnitude))[0],
        "TranslateY": lambda: affine(y=int(magnitude))[0],
    }[name]()
    return made, lambda image: autoaugment._apply_op(image, name, magnitude, NEAREST, None)


def steps():
    yield from (valued("Rotate", angle, F.rotate) for angle in
                (0, 15, -15, 90, 180, -180, 270, -90, 45, 33.25, -133.7, 179.99, 1e-3, 359.999, 89.99999))
    yield from (affine(*given) for given in (
        (0,), (10,), (-10, 3, -2), (180,), (45, 0, 0, 0.5), (45, 0, 0, 2), (0, 0, 0, 0.5), (0, 5, -4, 1.7), (0, -7, 2),
        (0, 0, 0, 1, 20), (0, 0, 0, 1, -45.5, 30), (30, -5, 4, 0.8, 15, -10), (0, 0, 0, 1, 89.9), (7, 0, 0, 1e-6),
        (7, 0, 0, 900), (0, 0, 0, 1, 0, 25), (90,), (0, 0, 0, 1e-9)))
    for name, most in (("ShearX", 0.99), ("ShearX", 0.3), ("ShearY", 0.99), ("TranslateX", 32), ("TranslateY", 32)):
        for place in (7, 30):
            magnitude = float(torch.linspace(0.0, most, 31)[place].item())
            yield augmented(name, magnitude)
            yield augmented(name, -magnitude)
    yield from (perspective(corners) for corners in (
        (0, 0, 19, 0, 19, 16, 0, 16), (3, 2, 18, 1, 15, 14, 2, 16), (5, 4, 14, 4, 19, 16, 0, 16),
        (0, 0, 12, 3, 16, 9, 4, 15), (2, 2, 60, 0, 50, 6, 9, 5)))
    for kind, function in (("Brightness", F.adjust_brightness), ("Contrast", F.adjust_contrast),
                           ("Saturation", F.adjust_saturation), ("Sharpness", F.adjust_sharpness)):
        yield from (valued(kind, factor, function) for factor in (0, 0.01, 0.5, 0.8, 1, 1.2, 1.99, 3.7, 250))
    yield from (valued("Hue", turn, F.adjust_hue) for turn in
                (0, 0.1, -0.1, 0.5, -0.5, 0.25, -0.33, 0.001, 1 / 255, -1 / 255))
    yield from (sized("Posterize", bits, F.posterize) for bits in range(1, 9))
    yield from (valued("Solarize", threshold, F.solarize) for threshold in (0, 8.5, 127.5, 128, 200, 255))
    yield plain("AutoContrast", F.autocontrast)
    yield plain("Equalize", F.equalize)
    yield plain("Grayscale", lambda image: F.to_grayscale(image, len(image.getbands())))
    yield plain("FlipHorizontally", F.hflip)
    yield plain("FlipVertically", F.vflip)
    yield from (sized("Pad", border, F.pad) for border in (0, 1, 7))


def goldens():
    pictures = [picture(*given) for given in PICTURES]
    for step, function in steps():
        hasher = hashlib.blake2b(digest_size=32)
        for image in pictures:
            hasher.update(function(image).convert("RGB").tobytes())
        yield f'    {{{step}, "{hasher.hexdigest()}"}},\n'


def magnitudes():
    for policy, make in (("trivial", lambda width, height: autoaugment.TrivialAugmentWide()._augmentation_space(31)),
                         ("rand", lambda width, height: autoaugment.RandAugment()._augmentation_space(31, (height, width)))):
        for width, height in ((20, 17), (224, 299)):
            for kind, (values, signed) in make(width, height).items():
                row = [float(value) for value in values] if values.ndim else []
                if policy == "rand" or width == 20:
                    numbers = ", ".join(repr(value) for value in row)
                    yield (f'    {{"{policy}", AugmentKind::{kind}, {width}, {height}, '
                           f'{"true" if signed else "false"}, {{{numbers}}}}},\n')


def perspectives():
    image = picture("noise", 20, 17)
    start = [[0, 0], [19, 0], [19, 16], [0, 16]]
    for end in ([[2, 1], [17, 3], [18, 15], [1, 13]], [[0, 4], [19, 0], [15, 16], [4, 12]]):
        corners = ", ".join(str(value) for point in end for value in point)
        pixels = F.perspective(image, start, end, InterpolationMode.BILINEAR, 0).tobytes().hex()
        yield f'    {{{{{corners}}}, "{pixels}"}},\n'


def moments(draws):
    """Means of x, y, width and height, and of the area."""
    numbers = torch.tensor([(x, y, width, height, width * height) for y, x, height, width in draws], dtype=torch.float64)
    return ", ".join("%.4f" % value for value in numbers.mean(0))


def drawn_moments():
    torch.manual_seed(1)
    for width, height in ((64, 48), (20, 90)):
        image = torch.zeros(3, height, width)
        crops = [RandomResizedCrop.get_params(image, [0.08, 1.0], [0.75, 4 / 3]) for _ in range(DRAWS)]
        yield f'    {{Kind::RandomResizedCrop, {width}, {height}, {{{moments(crops)}}}}},\n'
        erased = [RandomErasing.get_params(image, (0.02, 0.33), (0.3, 3.3), [0])[:4] for _ in range(DRAWS)]
        yield f'    {{Kind::RandomErasing, {width}, {height}, {{{moments(erased)}}}}},\n'


for name, lines in (("goldens", goldens()), ("magnitudes", magnitudes()), ("perspectives", perspectives()),
                    ("moments", drawn_moments())):
    (FOLDER / f"transform_{name}.inc").write_text("".join(lines))
