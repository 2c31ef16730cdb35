#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the BLAKE2b-256 key of what transformed() of SCORE.PY makes of FOLDER/0.ppm, 1.ppm, …

Standard input: a JSON list of operations a line, one for each picture. torch and torchvision are not
needed for that: stand-ins take their place.
"""
import hashlib
import importlib.util
import json
import pathlib
import sys
import types

from PIL import Image

sys.dont_write_bytecode = True
sys.modules["torch"] = types.SimpleNamespace(nn=types.SimpleNamespace(Module=object, Conv2d=object))
sys.modules["torchvision"] = types.SimpleNamespace()
spec = importlib.util.spec_from_file_location("score", sys.argv[1])
score = importlib.util.module_from_spec(spec)
spec.loader.exec_module(score)

folder = pathlib.Path(sys.argv[2])
for number, line in enumerate(sys.stdin):
    with Image.open(folder / f"{number}.ppm") as image:
        result = score.transformed(image.convert("RGB"), json.loads(line))
    print(hashlib.blake2b(result.tobytes(), digest_size=32).hexdigest())
