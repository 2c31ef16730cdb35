// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetscan.h"

namespace tw {

using ScanPtr = std::shared_ptr<const ScanResult>;

/// Listings of this process's last data sets, so that a job's preflight and its run list a folder
/// once. Any thread.
///
/// Lists anew and remembers. Errors as scanDataset().
Result<ScanPtr> scanAnew(const fs::path &path, const ScanOptions &options,
                         const StopToken *stop = nullptr);
/// The remembered listing while the modification times of the folder and its class folders are as
/// they were, else scanAnew().
Result<ScanPtr> scanRemembered(const fs::path &path, const ScanOptions &options,
                               const StopToken *stop = nullptr,
                               const std::function<void(std::int64_t found)> &progress = {});
void forgetScans();

} // namespace tw
