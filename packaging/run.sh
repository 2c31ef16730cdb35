#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One command from a fresh clone to a running Trainwright.
#   packaging/run.sh [PIPELINE_FILE]
# With a display: opens the window with the sample pipeline. Without: trains the sample headless, writes
# a model directory and a picture of the training curves, and says where they are.
# TRAINWRIGHT_RESULTS names the folder for the headless results (default: build/results).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=run
. "$root/packaging/build.sh"

pipeline=$(realpath -m -- "${1:-$root/resources/samples/fashion-mnist.pipeline.json}")
[ -f "$pipeline" ] || fail "there is no pipeline file $pipeline."
[ $# -le 1 ] || fail "one pipeline file at most; $# were given."

"$root/packaging/setup.sh"
build_release PROGRAMS
bin="$root/build/release/bin"

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "opening the window with $pipeline"
    exec "$bin/trainwright" "$pipeline"
fi

results=${TRAINWRIGHT_RESULTS:-$root/build/results}
stamp=$(date +%Y%m%d-%H%M%S)
out="$results/$stamp"
number=1
while [ -e "$out" ]; do number=$((number + 1)); out="$results/$stamp-$number"; done
mkdir -p "$out" || fail "cannot write to $results; set TRAINWRIGHT_RESULTS to a folder that can be written."
workspace="$results/workspace"

say "no display: training $(basename "$pipeline") on the command line"
status=0
"$bin/trainwright-cli" run "$pipeline" --workspace "$workspace" --export "train.trained_model=$out/model" || status=$?
case $status in
    0) ;;
    130) fail_with 130 "stopped; what training had reached is in $out." ;;
    *) fail_with $status "the run failed; the lines above say why." ;;
esac

# Job ids begin with their time: the last one is the one that just ran.
job=$(ls -1 "$workspace/jobs" | sort | tail -n 1)
say "drawing the training curves"
# Qt's remarks about having no screen help nobody here; errors of the program come all the same.
QT_LOGGING_RULES="default=false" QT_QPA_PLATFORM=offscreen "$bin/trainwright" --workspace "$workspace" \
    --job "$job" --grab metrics --size 1400x900 \
    --out "$out/metrics.png" || fail "the picture of the training curves could not be drawn; the model is in $out/model."
say "model directory:  $out/model"
say "training curves:  $out/metrics.png"
say "job:              $job in $workspace"
say "score a picture:  $bin/trainwright-cli score $out/model IMAGE"
