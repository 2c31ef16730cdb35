# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by run.sh and test.sh: messages, and the release build. Needs $root and $script.

say() { printf '%s: %s\n' "$script" "$*"; }
fail_with() { local code=$1; shift; printf '%s: %s\n' "$script" "$*" >&2; exit "$code"; }
fail() { fail_with 1 "$@"; }

# As many compilers at once as there are cores and 1.5 GB of memory for each.
build_jobs() {
    local cores memory
    cores=$(nproc)
    memory=$(awk '/^MemAvailable:/ {print int($2 / 1500000)}' /proc/meminfo)
    [ "$memory" -ge 1 ] || memory=1
    echo $((cores < memory ? cores : memory))
}

# build_preset PRESET TARGETS [CONFIGURE_OPTION]... configures and builds; TARGETS is a list in one word.
build_preset() {
    local preset=$1 targets=$2 log="$root/build/configure.log"
    shift 2
    mkdir -p "$root/build" || fail "cannot write to $root/build."
    say "configuring build/$preset"
    (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 \
        || { tail -n 20 "$log" >&2; fail "configuring failed; the whole log is $log."; }
    say "building $preset (the first time takes several minutes)"
    # shellcheck disable=SC2086
    cmake --build "$root/build/$preset" -j "$(build_jobs)" --target $targets || fail "the build failed; the lines above say where."
}

# build_release PROGRAMS|ALL [CONFIGURE_OPTION]... configures and builds the release preset.
build_release() {
    local targets=all
    [ "$1" = ALL ] || targets="trainwright trainwright-cli"
    shift
    build_preset release "$targets" "$@"
}
