#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Downloads Debian's qcustomplot source with apt's own client and a private source list made from the
# package sources this machine already has; the machine's own lists stay untouched. Usage: FOLDER
set -euo pipefail
out=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
file="qcustomplot_2.1.0+dfsg1.orig.tar.gz"
sum=$(cut -d' ' -f1 "$here/qcustomplot.sha256")
check() { [ -f "$out/$file" ] && echo "$sum  $out/$file" | sha256sum --check --status; }
check && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/download"
apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null \
    | sort -u | sed 's/^/deb-src /' >"$work/sources.list" || true
[ -s "$work/sources.list" ] || { echo "fetch_qcustomplot: apt knows no Debian repository; run apt-get update first." >&2; exit 1; }
options=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
         -o "Dir::State::Lists=$work/lists" -o "Dir::Cache::SrcPkgCache=" -o "Dir::Cache::PkgCache="
         -o APT::Sandbox::User=root)
apt-get "${options[@]}" update >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
(cd "$work/download" && apt-get "${options[@]}" source --download-only qcustomplot=2.1.0+dfsg1-3.1 >"$work/log" 2>&1) \
    || { tail -n 5 "$work/log" >&2; exit 1; }
mv "$work/download/$file" "$out/$file"
check || { echo "fetch_qcustomplot: $out/$file has another SHA-256 than packaging/qcustomplot.sha256 says." >&2; exit 1; }
