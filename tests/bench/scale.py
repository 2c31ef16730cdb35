#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scan of a large class-per-folder tree against find(1), in turns on the same tree.

Makes the tree of empty files in a temporary folder, or takes one that is there, and prints a table of
medians in seconds: find by names only, find that asks size and time as a scan must, and our scan.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time


def make_tree(root, classes, each):
    for number in range(classes):
        folder = os.path.join(root, f"class_{number:06d}")
        os.mkdir(folder)
        descriptor = os.open(folder, os.O_RDONLY)
        for picture in range(each):
            name = f"image_{number:06d}_{picture:05d}.jpg"
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        os.close(descriptor)


def timed(command):
    start = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - start, done.stdout


def measure(program, tree, rounds):
    contestants = {
        "find -type f": ["find", tree, "-type", "f"],
        "find -printf size, time": ["find", tree, "-type", "f", "-printf", "%s %T@ %p\n"],
        "scan": [program, "scan", tree],
    }
    seconds = {name: [] for name in contestants}
    facts = {}
    for command in contestants.values():  # warm the caches
        timed(command)
    for _ in range(rounds):
        for name, command in contestants.items():
            took, output = timed(command)
            if name == "scan":
                step, facts = (json.loads(line) for line in output.splitlines())
                facts.update(step)
            seconds[name].append(took)
    return seconds, facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", help="folder with bench_datascale")
    parser.add_argument("--tree", help="a tree that is there; else one is made and removed again")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--each", type=int, default=1000, help="pictures a class")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = os.path.join(options.bin, "bench_datascale")
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        tree = options.tree or folder
        if not options.tree:
            make_tree(tree, options.classes, options.each)
        seconds, facts = measure(program, tree, options.rounds)
    scan = statistics.median(seconds["scan"])
    print("| program | median s | min - max | scan's speed / its |\n|---|---|---|---|")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.2f} | {min(values):.2f} - {max(values):.2f} | {median / scan:.2f} |")
    per_image = facts["manifest_bytes"] / facts["images"]
    print(f"\n{facts['images']} images, {per_image:.0f} bytes an image in the manifest, "
          f"peak {facts['peak_mb']:.0f} MB, afterwards {facts['after_mb']:.0f} MB")


if __name__ == "__main__":
    main()
