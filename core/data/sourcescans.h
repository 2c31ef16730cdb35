// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/archivefile.h"
#include "core/data/datasetscan.h"

namespace tw {

/// The kinds of input that scanDataset() tells apart. Errors as there.
Result<ScanResult> scanFolder(const fs::path &root, const ScanOptions &options, const StopToken *stop,
                              const std::function<void(std::int64_t)> &progress);
Result<ScanResult> scanIdx(const fs::path &imagesFile, const ScanOptions &options, const StopToken *stop);
Result<ScanResult> scanArchive(const fs::path &file, ArchiveKind kind, const ScanOptions &options,
                               const StopToken *stop, const std::function<void(std::int64_t)> &progress);
/// Rows of path and label. A picture that is not there stays in the list with 0 bytes: verifying it
/// says so, and on_unreadable decides.
Result<ScanResult> scanCsv(const fs::path &file, const ScanOptions &options, const StopToken *stop,
                           const std::function<void(std::int64_t)> &progress);

/// InvalidDatasetError at the parameter `subfolder`.
Error missingSubfolder(const fs::path &data, const std::string &subfolder);

} // namespace tw
