#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads model directories as their users do, for tst_filesinterop: PyTorch 1.13 or 2.x, torchvision, PIL.

Prints a line when ready: the versions. Then, for each line "FOLDER<TAB>PICTURE<TAB>…" one JSON object: the
logits that the folder's own score.py gives (weights.pth, weights_only, strict) and what weights.safetensors
holds beside it.
"""
import importlib.util
import json
import pathlib
import struct
import sys

import torch
import torchvision

try:
    from safetensors.torch import load_file
except ImportError:
    load_file = None

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
         "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
         "BOOL": torch.bool}


def read_safetensors(path):
    """By the published format; in the order of the header."""
    data = bytearray(path.read_bytes())
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(data, dtype=TYPES[entry["dtype"]], count=(end - begin) // TYPES_SIZE[entry["dtype"]],
                                offset=begin) if end > begin else torch.empty(0, dtype=TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


TYPES_SIZE = {name: torch.empty(0, dtype=kind).element_size() for name, kind in TYPES.items()}


def equal(ours, theirs):
    return (set(ours) == set(theirs)
            and all(ours[name].dtype == theirs[name].dtype and torch.equal(ours[name], theirs[name]) for name in ours))


def own_script(folder):
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(folder, pictures):
    score = own_script(folder)
    name = json.loads((folder / "model.json").read_text(encoding="utf-8"))["architecture"]
    if name not in score.OWN_NETWORKS and not hasattr(torchvision.models, name):
        return {"lacks": name}
    description, network = score.load_model(str(folder))
    logits = [score.score(picture, description, network) for picture in pictures]
    weights = torch.load(str(folder / "weights.pth"), map_location="cpu", weights_only=True)
    second = read_safetensors(folder / "weights.safetensors")
    result = {"logits": logits, "names": list(weights), "equal": equal(weights, second),
              "strict": str(network.load_state_dict(second, strict=True)),
              "classes": [score.class_name(entry) for entry in description["classes"]]}
    if load_file:
        result["equal"] = result["equal"] and equal(weights, load_file(str(folder / "weights.safetensors")))
    return result


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    torch.set_num_threads(2)
    print("ready %s %s" % (torch.__version__, torchvision.__version__), flush=True)
    for line in sys.stdin:
        place, *images = line.rstrip("\n").split("\t")
        try:
            reply = answer(pathlib.Path(place), images)
        except Exception as error:  # told to the test, which goes on with the next network
            reply = {"error": repr(error)}
        print(json.dumps(reply), flush=True)
