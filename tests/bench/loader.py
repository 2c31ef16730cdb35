#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loader against peers on the same pictures, in turns.

    tests/bench/loader.py --bin build/release/bin --photos FOLDER --large FOLDER
        --peer 'default=PYTHON loader.py --backend pil' --peer 'best=PYTHON loader.py --backend tvio' [--rounds 5]

A peer is a command that takes `--data FOLDER --mode train|val --workers N --batch N --epochs N` and prints
one JSON object with "ips" (median images/s of the passes after the first) and "cpu_ms_per_image". Peers of
the name "best" given more than once are candidates: the quickest of them in a case counts. Every run waits
until the machine is idle. The table gives medians, ranges and ratios; memory is the peak of the process and
all below it, shared pages counted once.
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

# Data, the peers' mode, and our ways to do the same.
GROUPS = [
    ("photos", "train", [
        ("train transform, exact", []),
        ("train transform, fast", ["--pixel-path", "fast"]),
        ("later epochs, exact cache in memory", ["--cache", "memory"]),
        ("later epochs, exact cache on disk", ["--cache", "disk"]),
        ("later epochs, compact cache in memory", ["--cache", "memory", "--cache-detail", "compact"]),
    ]),
    ("photos", "val", [("validation transform", [])]),
    ("large", "train", [("large pictures, exact", []), ("large pictures, fast", ["--pixel-path", "fast"])]),
]


def busy(seconds=0.4):
    def sample():
        values = [int(v) for v in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(values), values[3] + values[4]
    before = sample()
    time.sleep(seconds)
    after = sample()
    return 1 - (after[1] - before[1]) / max(1, after[0] - before[0])


def tree_megabytes(root):
    """Memory of a process and all below it, shared pages counted once."""
    children, total = {}, 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        try:
            for line in pathlib.Path("/proc/%d/smaps_rollup" % pid).read_text().splitlines():
                total += int(line.split()[1]) / 1024 if line.startswith("Pss:") else 0
        except OSError:
            pass
    return total


def measure(command):
    limit = time.time() + 60
    while busy() > 0.12 and time.time() < limit:
        pass
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors)
        peak = 0
        while process.poll() is None:
            peak = max(peak, tree_megabytes(process.pid))
            time.sleep(0.5)
        out.seek(0)
        errors.seek(0)
        lines = [line for line in out.read().splitlines() if line.startswith("{")]
        if process.returncode != 0 or not lines:
            sys.exit("loader: %s ended with %d: %s" % (" ".join(command), process.returncode, errors.read().strip()[-500:]))
    result = json.loads(lines[-1])
    result["tree_mb"] = peak
    return result


def run_group(group, arguments, peers):
    data, mode, ways = group
    folder = str(getattr(arguments, data))
    epochs = "3" if data == "photos" else "2"
    shared = ["--workers", str(arguments.workers), "--batch", "32"]
    ours = {name: [] for name, _ in ways}
    theirs = {label: [] for label, _ in peers}
    with tempfile.TemporaryDirectory() as workspace:
        program = [str(arguments.bin / "trainwright-cli"), "bench", "loader", folder, "--json", "--seconds",
                   str(arguments.seconds), "--transform", mode, "--workspace", workspace, *shared]
        for _ in range(arguments.rounds):
            for name, options in ways:
                ours[name].append(measure([*program, *options]))
            for label, command in peers:
                theirs[label].append(measure([*command, "--data", folder, "--mode", mode, "--epochs", epochs, *shared]))
    peer_rows = quickest(theirs)
    for name, rounds in ours.items():
        report(name, rounds, peer_rows)


def quickest(theirs):
    """Per kind of peer the candidate with the best median."""
    best = {}
    for label, rounds in theirs.items():
        kind = label.split("#")[0]
        if kind not in best or median(rounds, "ips") > median(best[kind], "ips"):
            best[kind] = rounds
    return best


def median(rounds, key):
    return statistics.median(r[key] for r in rounds)


def spread(rounds, key):
    return "%.0f – %.0f" % (min(r[key] for r in rounds), max(r[key] for r in rounds))


def report(name, rounds, peer_rows):
    speed = median(rounds, "images_per_second")
    print("| %s | ours | %.0f | %s | | %.2f | %.0f | |" % (name, speed, spread(rounds, "images_per_second"),
                                                      median(rounds, "cpu_ms_per_image"), median(rounds, "tree_mb")))
    for kind, peer in peer_rows.items():
        print("| | %s (%s) | %.0f | %s | **%.2f** | %.2f | %.0f | %.2f |"
              % (kind, peer[0].get("backend", ""), median(peer, "ips"), spread(peer, "ips"), speed / median(peer, "ips"),
                 median(peer, "cpu_ms_per_image"), median(peer, "tree_mb"),
                 median(rounds, "tree_mb") / median(peer, "tree_mb")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with trainwright-cli")
    parser.add_argument("--photos", type=pathlib.Path, required=True, help="class folders of usual JPEG pictures")
    parser.add_argument("--large", type=pathlib.Path, required=True, help="class folders of large JPEG pictures")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--group", type=int, action="append", choices=range(len(GROUPS)))
    arguments = parser.parse_args()
    peers = []
    for number, peer in enumerate(arguments.peer):
        label, command = peer.split("=", 1)
        peers.append(("%s#%d" % (label, number), shlex.split(command)))
    print("| case | program | images/s (median) | min – max | ours ÷ it | CPU ms/image | peak MB | our memory ÷ its |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    for number, group in enumerate(GROUPS):
        if not arguments.group or number in arguments.group:
            run_group(group, arguments, peers)


if __name__ == "__main__":
    main()
