#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what `trainwright-cli inspect` says of every weights file of the shared cases, as one Markdown table.

    tests/data/inspect_cases.py PROGRAM CASES_FOLDER
"""
import json
import pathlib
import subprocess
import sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
cases = [c for c in json.loads((folder / "expected.json").read_text())["cases"]
         if c["kind"] == "files" and c["path"].endswith((".pth", ".safetensors"))]
run = subprocess.run([program, "inspect", "--json", "--values", "--"] + [str(folder / c["path"]) for c in cases],
                     capture_output=True, text=True)
found = {line["path"]: line for line in map(json.loads, run.stdout.splitlines())}
refusals = run.stderr.splitlines()


def said(path):
    for i, line in enumerate(refusals):
        if str(path) in line:
            return line.split(": ", 1)[1].replace(str(path), "the file") + " " + refusals[i + 1]
    return "nothing was said"


print("| case | file | wanted | inspect |\n|---|---|---|---|")
for case in cases:
    path = folder / case["path"]
    if str(path) in found:
        seen = found[str(path)]
        answer = "%s, %d tensors%s" % (seen["format"], len(seen["tensors"]), "".join(
            "; " + w for w in seen["warnings"] + ["beside: " + ", ".join(seen["extras"])] * bool(seen["extras"])))
    else:
        answer = "refused: " + said(path)
    print("| %s | %s | %s | %s |" % (case["id"], case["path"], case["expect"]["outcome"], answer.replace("|", "\\|")))
