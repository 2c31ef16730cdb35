#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything that must hold: set-up, a build (warnings are errors where CI is set), and all tests.
#   packaging/test.sh [--sanitize] [--fuzz] [CTEST_OPTION]...      for example: packaging/test.sh -L interop
# --sanitize, which .ci/run gives, first runs the tests of core that need no LibTorch under the address
# and undefined-behaviour sanitizers. --fuzz first runs each fuzz target for 20 seconds (tests/fuzz/run.sh).
# The last lines are ctest's summary; its exit code is this script's.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=test
. "$root/packaging/build.sh"

sanitize=false fuzz=false
while :; do
    case ${1:-} in
        --sanitize) sanitize=true ;;
        --fuzz) fuzz=true ;;
        *) break ;;
    esac
    shift
done

fuzz_option=()
$fuzz && fuzz_option=(--fuzz)
"$root/packaging/setup.sh" --tests "${fuzz_option[@]}"
# Warnings are errors in CI only: the same objects then serve run.sh, and other compilers may warn differently.
build_release ALL -DTRAINWRIGHT_TESTS=ON ${CI:+-DTRAINWRIGHT_WERROR=ON}
if $sanitize; then
    build_preset asan torch_free_tests -DTRAINWRIGHT_TESTS=ON
    say "running the tests of core under sanitizers"
    ctest --test-dir "$root/build/asan" --output-on-failure --no-tests=error -j "$(nproc)" -L torch-free
fi
if $fuzz; then
    build_preset fuzz fuzz_all
    say "running each fuzz target for 20 seconds"
    "$root/tests/fuzz/run.sh" 20
fi
say "running the tests"
exec ctest --test-dir "$root/build/release" --output-on-failure --no-tests=error -j "$(($(nproc) + 1))" "$@"
