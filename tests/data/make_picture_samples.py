#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes picture_samples.inc: small TIFF, WebP and GIF files and the RGB pixels each must give.

The pixels are Pillow's convert("RGB") of the first page or frame, turned by the orientation, but where Pillow
reads a kind wrongly or not at all (16 bits, tiles of some kinds, planes): there the script gives the rule itself.
"""
import base64
import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import GifImagePlugin, Image, ImageOps

WIDTH, HEIGHT = 21, 18
SAMPLES = []


def pattern(channels, seed=3):
    """Planes of slow ramps with a noisy corner; every channel of its own."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [(x // 7 * (31 + c) + y // 6 * (60 - 7 * c) + 60 * c + seed) % 256 for c in range(channels)]
    out = np.stack(planes, -1).astype(np.uint8)
    out[-5:, -6:] = np.random.default_rng(seed).integers(0, 256, (5, 6, channels))
    return out


def add(name, data, pixels=None, tolerance=0):
    if pixels is None:
        picture = Image.open(io.BytesIO(data))
        turned = ImageOps.exif_transpose(picture) if picture.format == "WEBP" else picture
        pixels = np.asarray(turned.convert("RGB"))
    SAMPLES.append((name, data, np.ascontiguousarray(pixels, np.uint8), tolerance))


def gray3(levels):
    return np.repeat(np.asarray(levels)[..., None], 3, -1)


def to8(values):
    return ((values.astype(np.int64) + 128) // 257).astype(np.uint8)


# ---- TIFF written here: what Pillow cannot write
def packed(samples, bits, order):
    """Rows of (height, width, channels) as bytes."""
    rows = samples.reshape(samples.shape[0], -1)
    if bits == 8:
        return [row.astype(np.uint8).tobytes() for row in rows]
    if bits in (16, 32):
        return [row.astype(order + "u" + str(bits // 8)).tobytes() for row in rows]
    out = []
    for row in rows:
        text = "".join(format(int(value), "0%db" % bits) for value in row)
        text += "0" * (-len(text) % 8)
        out.append(int(text, 2).to_bytes(len(text) // 8, "big"))
    return out


def tiff(samples, photometric, bits=8, order="<", big=False, tile=None, rows=5, separate=False, deflate=False,
         extra=None, colormap=None, orientation=1, sample_format=None, more=()):
    height, width, channels = samples.shape
    planes = [samples[..., c:c + 1] for c in range(channels)] if separate else [samples]
    pieces = []
    for plane in planes:
        if tile:
            for top in range(0, height, tile):
                for left in range(0, width, tile):
                    block = np.zeros((tile, tile, plane.shape[2]), plane.dtype)
                    part = plane[top:top + tile, left:left + tile]
                    block[:part.shape[0], :part.shape[1]] = part
                    pieces.append(b"".join(packed(block, bits, order)))
        else:
            for top in range(0, height, rows):
                pieces.append(b"".join(packed(plane[top:top + rows], bits, order)))
    if deflate:
        pieces = [zlib.compress(piece) for piece in pieces]
    out = bytearray((b"II" if order == "<" else b"MM") + struct.pack(order + "H", 43 if big else 42))
    out += struct.pack(order + "HHQ", 8, 0, 0) if big else struct.pack(order + "I", 0)
    offsets = []
    for piece in pieces:
        offsets.append(len(out))
        out += piece + b"\0" * (len(piece) % 2)
    entries = {256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * channels), 259: (3, [8 if deflate else 1]),
               262: (3, [photometric]), 274: (3, [orientation]), 277: (3, [channels]),
               284: (3, [2 if separate else 1])}
    sizes = [len(piece) for piece in pieces]
    if tile:
        entries.update({322: (3, [tile]), 323: (3, [tile]), 324: (4, offsets), 325: (4, sizes)})
    else:
        entries.update({278: (3, [rows]), 273: (4, offsets), 279: (4, sizes)})
    if extra is not None:
        entries[338] = (3, extra)
    if colormap is not None:
        entries[320] = (3, colormap)
    if sample_format:
        entries[339] = (3, [sample_format] * channels)
    entries.update(more)
    room = 8 if big else 4
    listed = []
    for tag in sorted(entries):
        kind, values = entries[tag]
        data = b"".join(struct.pack(order + {3: "H", 4: "I"}[kind], value) for value in values)
        if len(data) > room:
            at = len(out)
            out += data + b"\0" * (len(data) % 2)
            data = struct.pack(order + ("Q" if big else "I"), at)
        listed.append(struct.pack(order + ("HHQ" if big else "HHI"), tag, kind, len(values)) + data.ljust(room, b"\0"))
    at = len(out)
    out += struct.pack(order + ("Q" if big else "H"), len(listed)) + b"".join(listed) + b"\0" * room
    out[8 if big else 4:16 if big else 8] = struct.pack(order + ("Q" if big else "I"), at)
    return bytes(out)


def saved(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def tiff_samples():
    rgb, rgba, gray = pattern(3), pattern(4), pattern(1)
    deep = pattern(3).astype(np.uint16) * 251 + pattern(3, 9)
    picture = Image.fromarray(rgb)
    for compression in ("tiff_lzw", "packbits", "tiff_adobe_deflate", "zstd", "lzma"):
        add("tiff " + compression, saved(picture, "TIFF", compression=compression))
    add("tiff lzw with predictor", saved(picture, "TIFF", compression="tiff_lzw", tiffinfo={317: 2}))
    add("tiff webp", saved(picture, "TIFF", compression="webp"), tolerance=3)
    add("tiff jpeg", saved(picture, "TIFF", compression="jpeg"), tolerance=3)
    add("tiff jpeg ycbcr", saved(picture.convert("YCbCr"), "TIFF", compression="jpeg"), tolerance=3)
    add("tiff jpeg gray", saved(picture.convert("L"), "TIFF", compression="jpeg"), tolerance=3)
    bilevel = picture.convert("1")
    for compression in ("raw", "group3", "group4", "tiff_lzw"):
        add("tiff bilevel " + compression, saved(bilevel, "TIFF", compression=compression))
    for order in "<>":
        sign = "little" if order == "<" else "big"
        add("tiff rgb " + sign, tiff(rgb, 2, order=order))
        add("tiff rgb big file " + sign, tiff(rgb, 2, order=order, big=True), rgb)
        add("tiff gray 16 " + sign, tiff(deep[..., :1], 1, 16, order), gray3(to8(deep[..., 0])))
        add("tiff rgb 16 " + sign, tiff(deep, 2, 16, order), to8(deep))
    add("tiff gray", tiff(gray, 1))
    add("tiff gray, 0 white", tiff(gray, 0))
    add("tiff gray 16, 0 white", tiff(deep[..., :1], 0, 16), 255 - gray3(to8(deep[..., 0])))
    for bits in (1, 2, 4):
        small = gray >> (8 - bits)
        add("tiff gray %d bit" % bits, tiff(small, 1, bits))
        add("tiff gray %d bit, 0 white" % bits, tiff(small, 0, bits))
    twelve = deep[..., :1] >> 4
    add("tiff gray 12 bit", tiff(twelve, 1, 12), gray3((twelve[..., 0].astype(int) * 255 + 2047) // 4095))
    for bits in (1, 4, 8):
        colours = np.random.default_rng(5).integers(0, 256, 3 << bits)
        index = gray >> (8 - bits)
        right = colours.reshape(3, -1).T[index[..., 0]]
        add("tiff palette %d bit" % bits, tiff(index, 3, bits, colormap=list(colours * 257)))
        add("tiff palette %d bit, old map" % bits, tiff(index, 3, bits, colormap=list(colours)), right)
    add("tiff alpha", tiff(rgba, 2, extra=[2]))
    add("tiff alpha not named", tiff(rgba, 2))
    add("tiff premultiplied", tiff(rgba, 2, extra=[1]))
    add("tiff alpha 16", tiff(deep[..., [0, 1, 2, 0]], 2, 16, extra=[2]), to8(deep))
    add("tiff gray alpha", tiff(rgba[..., :2], 1, extra=[2]))
    add("tiff five channels", tiff(rgba[..., [0, 1, 2, 3, 0]], 2, extra=[2, 0]))
    add("tiff cmyk", tiff(rgba, 5))
    add("tiff cmyk 16", tiff(rgba.astype(np.uint16) * 257, 5, 16),
        np.asarray(Image.fromarray(rgba, "CMYK").convert("RGB")))
    for deflate in (False, True):
        add("tiff tiles" + " deflate" * deflate, tiff(rgb, 2, tile=16, deflate=deflate), rgb)
        add("tiff planes" + " deflate" * deflate, tiff(rgb, 2, separate=True, deflate=deflate), rgb)
        add("tiff tiles of planes" + " deflate" * deflate, tiff(rgb, 2, tile=16, separate=True, deflate=deflate), rgb)
    add("tiff one large tile", tiff(rgb, 2, tile=32), rgb)
    add("tiff tiles of 4 bit", tiff(gray >> 4, 1, 4, tile=16), gray3((gray[..., 0] >> 4) * 17))
    add("tiff planes 16 bit premultiplied", tiff(rgba.astype(np.uint16) * 257, 2, 16, separate=True, extra=[1]),
        np.asarray(Image.open(io.BytesIO(tiff(rgba, 2, extra=[1]))).convert("RGB")))
    for orientation in range(1, 9):
        turned = [lambda a: a, np.fliplr, lambda a: np.rot90(a, 2), np.flipud, lambda a: a.transpose(1, 0, 2),
                  lambda a: np.rot90(a, 3), lambda a: np.rot90(a, 2).transpose(1, 0, 2), np.rot90][orientation - 1](rgb)
        add("tiff orientation %d" % orientation, tiff(rgb, 2, orientation=orientation), turned)
    add("tiff pages", saved(picture, "TIFF", save_all=True, append_images=[picture.rotate(90)]))
    ycbcr = np.asarray(picture.convert("YCbCr"))
    add("tiff ycbcr without jpeg", tiff(ycbcr, 6, deflate=True, more={530: (3, [1, 1])}), tolerance=2)


# ---- GIF written here: screens and frames of other sizes, tables too short or missing
def lzw(index):
    """Codes of 9 bits without strings: a clear code before the table could grow."""
    codes, bits, count = [256], 0, 0
    for value in index.ravel():
        if count == 200:
            codes.append(256)
            count = 0
        codes.append(int(value))
        count += 1
    codes.append(257)
    store, out = 0, bytearray()
    for code in codes:
        store |= code << bits
        bits += 9
        while bits >= 8:
            out.append(store & 255)
            store >>= 8
            bits -= 8
    out.append(store & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return b"\x08" + blocks + b"\0"


def table(colours):
    bits = max(1, (len(colours) - 1).bit_length())
    return bits - 1, b"".join(bytes(c) for c in colours) + b"\0" * (3 * ((1 << bits) - len(colours)))


def gif(index, screen, at=(0, 0), shared=None, own=None, transparent=None, interlaced=False, between=b"", end=b";"):
    out = b"GIF89a" + struct.pack("<HH", *screen)
    size, colours = table(shared) if shared else (0, b"")
    out += bytes([(0x80 | size) if shared else 0, 0, 0]) + colours
    if transparent is not None:
        out += b"!\xf9\x04" + bytes([1, 0, 0, transparent]) + b"\0"
    size, colours = table(own) if own else (0, b"")
    out += between + b"," + struct.pack("<HHHH", *at, index.shape[1], index.shape[0])
    out += bytes([(0x80 | size if own else 0) | (0x40 if interlaced else 0)]) + colours
    if interlaced:
        order = [y for start, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(start, index.shape[0], step)]
        index = index[order]
    return out + lzw(index) + end


def gif_samples():
    rng = np.random.default_rng(11)
    colours = [tuple(int(v) for v in rng.integers(0, 256, 3)) for _ in range(8)]
    others = [tuple(int(v) for v in rng.integers(0, 256, 3)) for _ in range(8)]
    index = rng.integers(0, 8, (11, 13), dtype=np.uint8)
    whole = (13, 11)
    add("gif", gif(index, whole, shared=colours))
    add("gif interlaced", gif(index, whole, shared=colours, interlaced=True))
    add("gif own table", gif(index, whole, shared=colours, own=others))
    add("gif no table", gif(index * 30, whole))
    add("gif table that counts", gif(index, whole, shared=[(i, i, i) for i in range(4)]))
    add("gif table too short", gif(index, whole, shared=colours[:4]))
    add("gif transparent", gif(index, whole, shared=colours, transparent=5))
    add("gif smaller than its screen", gif(index, (20, 17), (3, 2), colours))
    add("gif smaller, transparent", gif(index, (20, 17), (3, 2), colours, transparent=6))
    add("gif larger than its screen", gif(index, (5, 20), (2, 3), colours))
    add("gif without a screen", gif(index, (0, 0), shared=colours))
    add("gif bytes between blocks", gif(index, whole, shared=colours, between=b"\0\0"))
    add("gif without an end", gif(index, whole, shared=colours, end=b""))
    add("gif 87a", gif(index, whole, shared=colours).replace(b"GIF89a", b"GIF87a"))
    frames = [Image.fromarray(pattern(3, seed)).quantize(16) for seed in (1, 2, 3)]
    add("gif animation", saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=50))


def webp_samples():
    picture, clear = Image.fromarray(pattern(3)), Image.fromarray(pattern(4), "RGBA")
    add("webp lossless", saved(picture, "WEBP", lossless=True))
    add("webp lossy", saved(picture, "WEBP", quality=70), tolerance=2)
    add("webp lossless alpha", saved(clear, "WEBP", lossless=True, exact=True))
    add("webp lossy alpha", saved(clear, "WEBP", quality=70, exact=True), tolerance=2)
    second = Image.fromarray(pattern(4, 8), "RGBA")
    add("webp animation", saved(clear, "WEBP", save_all=True, append_images=[second], lossless=True, duration=40))
    add("webp animation lossy", saved(picture, "WEBP", save_all=True, append_images=[picture.rotate(180)]), tolerance=2)
    for orientation in (3, 6):
        exif = Image.Exif()
        exif[0x0112] = orientation
        add("webp orientation %d" % orientation, saved(picture, "WEBP", lossless=True, exif=exif.tobytes()))
    # a first frame that does not fill the canvas
    still = saved(picture, "WEBP", lossless=True)
    chunk = still[12:]

    def u24(value):
        return struct.pack("<I", value)[:3]

    frame = u24(2) + u24(3) + u24(WIDTH - 1) + u24(HEIGHT - 1) + u24(40) + b"\0" + chunk
    body = (b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + u24(WIDTH + 9) + u24(HEIGHT + 11)
            + b"ANIM" + struct.pack("<I", 6) + b"\x20\x40\x60\xff\0\0"
            + b"ANMF" + struct.pack("<I", len(frame)) + frame)
    add("webp frame smaller than the canvas", b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body)


def text(data):
    """As QByteArray's qUncompress takes it, in base64."""
    lines = base64.b64encode(struct.pack(">I", len(data)) + zlib.compress(data, 9)).decode()
    return "\n".join('     "%s"' % lines[i:i + 108] for i in range(0, len(lines), 108))


GifImagePlugin.LOADING_STRATEGY = GifImagePlugin.LoadingStrategy.RGB_AFTER_FIRST
tiff_samples()
gif_samples()
webp_samples()
with pathlib.Path(__file__).with_name("picture_samples.inc").open("w") as out:
    for name, data, pixels, tolerance in SAMPLES:
        out.write('    {"%s", %d, %d, %d,\n%s,\n%s},\n'
                  % (name, pixels.shape[1], pixels.shape[0], tolerance, text(data), text(pixels.tobytes())))
