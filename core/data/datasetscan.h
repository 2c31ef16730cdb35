// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"

#include <functional>

namespace tw {

struct ScanOptions
{
    bool allowEmptyClasses = false;
    std::vector<std::string> classNames; ///< IDX only; empty: the digits
    std::string subfolder{};             ///< a path inside the folder or archive; empty: the whole
    std::string labelColumn = "label";   ///< csv only; empty: the pictures have no label
    bool operator==(const ScanOptions &) const = default;
};

struct UnreadableImage
{
    std::string path;
    std::string reason;
};

/// What the scan noticed; stands in data_report.json (datasetreport.h).
struct DataReport
{
    std::vector<std::string> ignoredFiles;   ///< by name: stray root files, other suffixes
    std::vector<std::string> skippedFolders; ///< hidden and tool folders
    std::vector<std::string> emptyClasses;
    std::vector<UnreadableImage> unreadable;
    std::vector<std::string> warnings;
};

struct ScanResult
{
    ImageManifest manifest;
    DataReport report;
};

/// Lists a class-per-folder tree or an unlabelled folder, on disk or in an archive (zip, tar, compressed
/// tar), an IDX pair, or a csv of path and label (contracts.md, folder rules). Byte order of names
/// everywhere. InvalidDatasetError: path missing or unreadable, no image, empty class (unless
/// allowed), more than one IDX pair, archive or csv broken, no such subfolder or column (with the
/// parameter), class names for anything but an IDX pair. CanceledError within 200 ms of a stop.
Result<ScanResult> scanDataset(const fs::path &path, const ScanOptions &options, const StopToken *stop = nullptr,
                               const std::function<void(std::int64_t found)> &progress = {});

enum class VerifyMode { Full, Header };
/// Decodes every picture once with `workers` threads; unreadable ones go to report.unreadable and,
/// with `skip`, out of the manifest. With Full, content keys and facts (picturefacts.h) go into the manifest, and
/// pictures that the file `remembered` (see verifiedfiles.h; empty: none) knows as readable are not decoded again.
/// InvalidDatasetError: one is unreadable and skip is false; none is left; an archive is broken.
Result<void> verifyImages(ScanResult &scan, VerifyMode mode, bool skip, int workers, const StopToken *stop,
                          const std::function<void(std::int64_t done, std::int64_t total)> &progress,
                          const fs::path &remembered = {});

struct SplitResult
{
    ImageManifest first, second;
    QStringList warnings; ///< classes of one image, clamped quotas
};
/// Split Image Directory (components.md). NotInRangeValueError / InvalidDatasetError.
Result<SplitResult> splitManifest(const ImageManifest &manifest, double fraction, std::uint64_t seed, bool stratified);

} // namespace tw
