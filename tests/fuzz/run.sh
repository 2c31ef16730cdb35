#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the fuzz targets one after the other and prints a line for each.
#   tests/fuzz/run.sh SECONDS [TARGET]...      for example: tests/fuzz/run.sh 300 pickle zip
# Needs them built: cmake --preset fuzz && cmake --build --preset fuzz. What they learn stays in
# build/fuzz/corpus; an input that ends in a fault lies in build/fuzz/findings and makes the exit code 1.
# FUZZ_BUILD names another build folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${FUZZ_BUILD:-$root/build/fuzz}
seconds=${1:?tests/fuzz/run.sh SECONDS [TARGET]...}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(pickle zip legacy safetensors modeljson idx csv pipeline)

mkdir -p "$build/findings" "$build/logs"
/usr/bin/python3 "$root/tests/fuzz/make_seeds.py" "$build"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
export LC_ALL=C.UTF-8
failed=0
printf '%-12s %12s %10s %8s %8s %9s  %s\n' target executions "per second" edges corpus "peak MB" outcome
for target in "${targets[@]}"; do
    log="$build/logs/$target.log"
    outcome="no finding"
    # A reader never asks for more than its budget in one piece, and never takes seconds over a small file.
    "$build/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=300 \
        -max_len=16384 -print_final_stats=1 -dict="$build/dictionaries/$target.dict" \
        -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" "$build/seeds/$target" >"$log" 2>&1 \
        || { outcome="FINDING, see $log"; failed=1; }
    stat() { awk -v name="stat::$1:" '$1 == name {print $2}' "$log" | tail -n 1; }
    edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2)
    printf '%-12s %12s %10s %8s %8s %9s  %s\n' "$target" "$(stat number_of_executed_units)" \
        "$(stat average_exec_per_sec)" "$edges" "$(find "$build/corpus/$target" -type f | wc -l)" \
        "$(stat peak_rss_mb)" "$outcome"
done
exit $failed
