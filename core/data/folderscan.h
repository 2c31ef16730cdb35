// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetscan.h"

namespace tw {

/// The two kinds of input that scanDataset() tells apart.
Result<ScanResult> scanFolder(const fs::path &root, const ScanOptions &options, const StopToken *stop,
                              const std::function<void(std::int64_t)> &progress);
Result<ScanResult> scanIdx(const fs::path &imagesFile, const ScanOptions &options, const StopToken *stop);

/// Class names that people and other systems take for one another, and folders that look like
/// splits.
void addNameWarnings(const ImageManifest &manifest, DataReport &report);

} // namespace tw
