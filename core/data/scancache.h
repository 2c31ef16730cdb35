// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetscan.h"

#include <chrono>

namespace tw {

using ScanPtr = std::shared_ptr<const ScanResult>;

/// Listings of this process's last data sets, so that edits of a pipeline, a job's preflight and
/// its run list a folder once. A listing is remembered while the modification times of every folder
/// with pictures (of an IDX pair: of its files) are as they were. Any thread. Errors as
/// scanDataset().

/// The remembered listing when it is not older than `age`: a picture that was overwritten in place
/// changes no folder and would else never be noticed.
Result<ScanPtr> scanRecent(const fs::path &path, const ScanOptions &options, std::chrono::milliseconds age,
                           const StopToken *stop = nullptr);
/// The remembered listing of any age.
Result<ScanPtr> scanRemembered(const fs::path &path, const ScanOptions &options, const StopToken *stop = nullptr,
                               const std::function<void(std::int64_t found)> &progress = {});
void forgetScans();

} // namespace tw
