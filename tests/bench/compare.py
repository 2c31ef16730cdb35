#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainwright's command line and peers on the same synthetic work, in turns.

    tests/bench/compare.py --bin build/release/bin --peers FOLDER [--rounds 5] [--case NAME]...

FOLDER holds one program per peer and kind of work, named <peer>-train or <peer>-loader (any suffix),
executable, that takes the options given here and prints one JSON object on its last line with the
keys of `trainwright-cli bench`. Contestants run in turns, never at once, so that a busy machine is
busy for all; the table shows the median and the range of the rounds and the ratio of ours to each peer.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

TRAIN = {
    "resnet18-fp32": ["--model", "resnet18", "--image-size", "224", "--classes", "1000", "--batch", "16", "--steps", "8"],
    "resnet18-bf16": ["--model", "resnet18", "--image-size", "224", "--classes", "1000", "--batch", "16", "--steps", "8",
                      "--precision", "bf16"],
    "resnet50-fp32": ["--model", "resnet50", "--image-size", "224", "--classes", "1000", "--batch", "16", "--steps", "4"],
    "small_cnn": ["--model", "small_cnn", "--image-size", "28", "--classes", "10", "--batch", "128", "--steps", "60"],
}
LOADER = {
    "loader-train": ["--transform", "train", "--size", "224", "--batch", "32", "--seconds", "10"],
    "loader-val": ["--transform", "val", "--size", "224", "--batch", "32", "--seconds", "10"],
}


def contestants(arguments, kind):
    """Name -> command without options; ours first."""
    found = {"trainwright": [str(arguments.bin / "trainwright-cli"), "bench", kind, "--json"]}
    if arguments.peers:
        for program in sorted(arguments.peers.iterdir()):
            stem = program.name.split(".")[0]
            if program.is_file() and os.access(program, os.X_OK) and stem.endswith("-" + kind):
                found[stem[: -len(kind) - 1]] = [str(program)]
    return found


def measure(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("compare: %s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-500:]))
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_case(name, options, kind, arguments):
    programs = contestants(arguments, kind)
    results = {peer: [] for peer in programs}
    for _ in range(arguments.rounds):
        for peer, command in programs.items():
            results[peer].append(measure(command + options))
    ours = statistics.median(r["images_per_second"] for r in results["trainwright"])
    for peer, rounds in results.items():
        speeds = [r["images_per_second"] for r in rounds]
        speed = statistics.median(speeds)
        memory = statistics.median(r["peak_rss_mb"] for r in rounds)
        first = "%.2f" % statistics.median(r["first_step_s"] for r in rounds) if "first_step_s" in rounds[0] else "–"
        print("| %s | %s | %.1f | %.1f – %.1f | %.2f | %s | %.0f |"
              % (name, peer, speed, min(speeds), max(speeds), ours / speed, first, memory), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with trainwright-cli")
    parser.add_argument("--peers", type=pathlib.Path, help="folder with the peers' programs")
    parser.add_argument("--data", help="a class-per-folder set or an IDX pair, for the loader cases")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", choices=[*TRAIN, *LOADER])
    arguments = parser.parse_args()
    wanted = arguments.case or [*TRAIN, *(LOADER if arguments.data else {})]
    print("| case | program | images/s (median) | min – max | ours ÷ it | first step, s | peak MB |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    for name in wanted:
        if name in TRAIN:
            run_case(name, TRAIN[name], "train", arguments)
        elif arguments.data:
            run_case(name, [arguments.data, *LOADER[name]], "loader", arguments)
        else:
            sys.exit("compare: %s needs --data" % name)


if __name__ == "__main__":
    main()
