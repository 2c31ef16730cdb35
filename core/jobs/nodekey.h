// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/planner.h"

namespace tw {

/// Node key (contracts.md › Keys and reuse), lower-case hex: component id and version, effective
/// values of the parameters that affect the result, fingerprints that preflight reported for the
/// outputs (PortFacts::extra["fingerprint"]), and `inputKeys` (input port → key of the producing
/// node) and, for every path that is set, the identity of the files there (fileIdentity()): the
/// fingerprint of the manifest alone would take a swapped picture of the same size and time for the
/// old one. Of an address only the file name counts: its sha256 is a parameter too. Empty when `stop` was set meanwhile
/// or the path is not readable.
QByteArray nodeKey(const PlanNode &node, const PreflightReply &facts, const QMap<QString, QByteArray> &inputKeys,
                   const StopToken *stop = nullptr);

/// Such a node always runs, which costs little once the file is in the cache: its output names that
/// file, and the cache may have been emptied since. Nodes behind it are reused as usual.
bool readsAddress(const PlanNode &node);

} // namespace tw
