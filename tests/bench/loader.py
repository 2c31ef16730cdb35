#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loader against peers on the same pictures, in turns.

    tests/bench/loader.py --bin build/release/bin --photos FOLDER --large FOLDER
        --peer 'default=PYTHON loader.py --backend pil' --peer 'best=PYTHON loader.py --backend tvio' [--rounds 5]

A peer is a command that takes `--data FOLDER --mode train|val --workers N --batch N --epochs N` and prints
one JSON object with "ips" (median images/s of the passes after the first), "cpu_ms_per_image" and
"rss_main_mb" (peak memory of its main process alone). Peers of the name "best" given more than once are
candidates: the quickest of them in a case counts. Every run waits until the machine is idle; the table
gives medians, ranges, ratios and, of ours, the processor time a picture.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

# Name, data, our options, the peers' mode.
CASES = [
    ("train transform, exact", "photos", ["--transform", "train"], "train"),
    ("train transform, fast", "photos", ["--transform", "train", "--pixel-path", "fast"], "train"),
    ("validation transform", "photos", ["--transform", "val"], "val"),
    ("3000×2000, exact", "large", ["--transform", "train"], "train"),
    ("3000×2000, fast", "large", ["--transform", "train", "--pixel-path", "fast"], "train"),
    ("later epochs, cache memory", "photos", ["--transform", "train", "--cache", "memory"], "train"),
    ("later epochs, cache disk", "photos", ["--transform", "train", "--cache", "disk"], "train"),
    ("later epochs, compact cache", "photos", ["--transform", "train", "--cache", "memory", "--cache-detail", "compact"],
     "train"),
]


def busy(seconds=0.4):
    def sample():
        values = [int(v) for v in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(values), values[3] + values[4]
    before = sample()
    time.sleep(seconds)
    after = sample()
    return 1 - (after[1] - before[1]) / max(1, after[0] - before[0])


def measure(command):
    limit = time.time() + 60
    while busy() > 0.12 and time.time() < limit:
        pass
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit("loader: %s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-500:]))
    return json.loads(lines[-1])


def run_case(case, arguments, peers):
    name, data, options, mode = case
    folder = str(getattr(arguments, data))
    epochs = "3" if data == "photos" else "2"
    shared = ["--workers", str(arguments.workers), "--batch", "32"]
    results = {peer: [] for peer in ["ours"] + [label for label, _ in peers]}
    with tempfile.TemporaryDirectory() as cache:
        ours = [str(arguments.bin / "trainwright-cli"), "bench", "loader", folder, "--json", "--seconds",
                str(arguments.seconds), *shared, *options]
        if "disk" in options:
            ours += ["--workspace", cache]
        for _ in range(arguments.rounds):
            results["ours"].append(measure(ours))
            for label, command in peers:
                results[label].append(measure([*command, "--data", folder, "--mode", mode, "--epochs", epochs, *shared]))
    report(name, results)


def report(name, results):
    ours = [r["images_per_second"] for r in results["ours"]]
    memory = statistics.median(r["peak_rss_mb"] for r in results["ours"])
    speed = statistics.median(ours)
    print("| %s | ours | %.0f | %.0f – %.0f | | %.2f | %.0f | |"
          % (name, speed, min(ours), max(ours), statistics.median(r["cpu_ms_per_image"] for r in results["ours"]), memory))
    best = {}
    for label, rounds in results.items():
        kind = label.split("#")[0]
        if label != "ours" and statistics.median(r["ips"] for r in rounds) > best.get(kind, (0, None))[0]:
            best[kind] = (statistics.median(r["ips"] for r in rounds), rounds)
    for kind, (median, rounds) in best.items():
        speeds = [r["ips"] for r in rounds]
        main = statistics.median(r["rss_main_mb"] for r in rounds)
        print("| | %s (%s) | %.0f | %.0f – %.0f | %.2f | %.2f | %.0f | %.2f |"
              % (kind, rounds[0].get("backend", ""), median, min(speeds), max(speeds), speed / median,
                 statistics.median(r["cpu_ms_per_image"] for r in rounds), main, memory / main), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with trainwright-cli")
    parser.add_argument("--photos", type=pathlib.Path, required=True, help="class folders of usual JPEG pictures")
    parser.add_argument("--large", type=pathlib.Path, required=True, help="class folders of large JPEG pictures")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--case", action="append", choices=[case[0] for case in CASES])
    arguments = parser.parse_args()
    peers = []
    for number, peer in enumerate(arguments.peer):
        label, command = peer.split("=", 1)
        peers.append(("%s#%d" % (label, number), shlex.split(command)))
    print("| case | program | images/s (median) | min – max | ours ÷ it | CPU ms/image | peak MB | our memory ÷ its |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    for case in CASES:
        if not arguments.case or case[0] in arguments.case:
            run_case(case, arguments, peers)


if __name__ == "__main__":
    main()
