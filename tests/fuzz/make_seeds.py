#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the first inputs and the dictionaries of the fuzz targets, from small valid files.

    tests/fuzz/make_seeds.py FOLDER      makes FOLDER/seeds, FOLDER/corpus and FOLDER/dictionaries
"""
import base64
import gzip
import io
import json
import pathlib
import re
import struct
import sys
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(sys.argv[1])


def put(target, name, data):
    (OUT / "seeds" / target / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def samples():
    """Name and bytes of tests/data/weights_samples.inc."""
    text = (ROOT / "tests/data/weights_samples.inc").read_text()
    for name, file in re.findall(r'\{"([^"]+)",\n((?:\s+"[^"]*"\n?)+),', text):
        packed = base64.b64decode("".join(re.findall(r'"([^"]*)"', file)))
        yield name.replace(" ", "-").replace(",", ""), zlib.decompress(packed[4:])


def weights():
    for name, data in samples():
        if data.startswith(b"PK"):
            put("zip", name, data)
            archive = zipfile.ZipFile(io.BytesIO(data))
            member = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            put("pickle", name, b"\0" + archive.read(member))
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
                for n in archive.namelist():
                    out.writestr(n, archive.read(n))
                out.writestr(member.replace("data.pkl", "byteorder"), "big")
            put("zip", name + "-deflated", packed.getvalue())
        else:
            put("legacy", name, data)
            put("zip", name, data)
            put("pickle", name, b"\1" + data[data.find(b"ccollections") - 2:] if name == "tar" else b"\0" + data)


def safetensors():
    def file(header, data):
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    one = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    put("safetensors", "one", file({"w": one}, b"\0" * 24))
    put("safetensors", "metadata", file({"__metadata__": {"format": "pt", "classes": '["a","b"]'}, "w\u5c42\n": one},
                                        b"\1" * 24))
    sizes = dict(F64=8, F32=4, F16=2, BF16=2, I64=8, I32=4, I16=2, I8=1, U8=1, BOOL=1)
    header, at = {}, 0
    for name, size in sizes.items():
        header[name] = {"dtype": name, "shape": [3], "data_offsets": [at, at + 3 * size]}
        at += 3 * size
    header["none"] = {"dtype": "F32", "shape": [0, 7], "data_offsets": [at, at]}
    header["scalar"] = {"dtype": "U8", "shape": [], "data_offsets": [at, at + 1]}
    put("safetensors", "types", file(header, b"\x7f" * (at + 1)))


def modeljson():
    model = {"format": "trainwright-model", "version": 1, "architecture": "resnet18", "arguments": {"num_classes": 2},
             "classes": ["a", {"path": "b%FF", "raw": True}],
             "input": {"channels": 3, "height": 224, "width": 224, "resize": 256, "crop": 224,
                       "interpolation": "bilinear", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
                       "transforms": [{"op": "resize", "size": 256}, {"op": "center_crop", "size": 224}]},
             "weights": {"pth": "0" * 64, "safetensors": None}, "training": {"epochs": 3}, "provenance": {}}
    put("modeljson", "model", json.dumps(model))
    model["input"].update(channels=1, height=28, width=28, resize=None, crop=None, mean=[0.5], std=[0.5],
                          transforms=[{"op": "grayscale"}, {"op": "pad", "padding": 2}, {"op": "resize", "size": 28}])
    model["classes"] = ["x", "\u5c42"]
    put("modeljson", "gray", json.dumps(model, indent=1))


def idx():
    images = bytes([0, 0, 8, 3]) + struct.pack(">III", 2, 3, 4) + bytes(range(24))
    labels = bytes([0, 0, 8, 1]) + struct.pack(">I", 5) + b"\0\1\2\1\0"
    for name, data in (("images", images), ("labels", labels)):
        put("idx", name, data)
        put("idx", name + "-gz", gzip.compress(data, mtime=0))


def csv():
    put("csv", "plain", "path,label\na/1.png,cat\nb.png,dog\n")
    put("csv", "quoted", 'path;label\r\n"a;""1"".png";"one\r\ntwo"\r\n\r\n  b.png ; x \r\n')
    put("csv", "tab", "\ufeffsep=\t\npath\tlabel\na\tb\r")
    put("csv", "open", 'a,"b\n')


def pipelines():
    for file in list((ROOT / "resources").rglob("*.pipeline.json")) + list((ROOT / "tests/data/pipelines").glob("*.json")):
        put("pipeline", file.name, file.read_bytes())


def dictionary(target, words):
    escaped = ("".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\x%02x" % b for b in word) for word in words)
    (OUT / "dictionaries" / (target + ".dict")).write_text("".join('"%s"\n' % word for word in escaped))


def dictionaries():
    names = re.findall(r'"((?:torch|collections|numpy|argparse|_codecs)[\w.]*\.\w+)"',
                       (ROOT / "core/model/picklenames.cpp").read_text())
    opcodes = [b"c%s\n%s\n" % tuple(n.rsplit(".", 1)[i].encode() for i in (0, 1)) for n in names]
    opcodes += [b"\x80\x02", b"R", b"Q", b"t", b"(", b"\x81", b"b", b"]", b"}", b"(K\x01t", b"h\0", b"q\0", b"\x85",
                b"\x86", b"\x87", b"X\x07\0\0\0storage", b"ctorch\nFloatStorage\n", b"ctorch\nLongStorage\n", b"U\3cpu",
                b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", b"I-1\n", b"N", b"\x88", b"."]
    keys = [b"state_dict", b"model", b"ema", b"module", b"classes", b"n_averaged"]
    opcodes += [b"U" + bytes([len(k)]) + k for k in keys]
    marks = [b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"archive/data.pkl", b"archive/data/0", b"byteorder",
             b"big", b"little", b"/constants.pkl"]
    dictionary("pickle", opcodes)
    dictionary("zip", opcodes + marks)
    dictionary("legacy", opcodes + [b"ustar\0", b"storages", b"tensors", b"pickle", b"M\xe9\3", b" size="])
    dictionary("safetensors", [b'"dtype":"F32"', b'"shape":[', b'"data_offsets":[', b'"__metadata__":{', b"BF16", b"BOOL",
                               b"\\ud83d\\ude00", b"9223372036854775807", b"\xff\xff\xff\xff\xff\xff\xff\x7f"])
    operations = re.findall(r'"(\w+)"', (ROOT / "core/data/transformsjson.cpp").read_text())
    dictionary("modeljson", [b'"%s":' % k.encode() for k in sorted(set(operations))] + [b"null", b"1e308", b"-1", b"[]", b"{}"])
    dictionary("idx", [b"\0\0\x08\3", b"\0\0\x08\1", b"\x1f\x8b\x08", b"\xff\xff\xff\xff", b"\x80\0\0\0"])
    dictionary("csv", [b'"', b'""', b"\r\n", b"sep=", b"\xef\xbb\xbf", b";", b"\t", b'","'])
    dictionary("pipeline", [b'"format":"trainwright-pipeline"', b'"version":1', b'"nodes":[', b'"connections":[',
                            b'"parameters":{', b'"component":', b'"component_version":', b'"from":', b'"to":', b'"id":',
                            b'"position":[', b'"comment":', b"train-pytorch-model", b"1e999", b"null", b'"raw":true'])


for part in ("seeds", "corpus"):
    for name in ("pickle", "zip", "legacy", "safetensors", "modeljson", "idx", "csv", "pipeline"):
        (OUT / part / name).mkdir(parents=True, exist_ok=True)
(OUT / "dictionaries").mkdir(exist_ok=True)
for make in (weights, safetensors, modeljson, idx, csv, pipelines, dictionaries):
    make()
