// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"

#include <functional>

namespace tw {

struct MaterializeOptions
{
    TransformList transforms;
    std::uint64_t seed = 1; ///< of the one variant that is drawn per image
    int workers = 1;
    const StopToken *stop = nullptr;
    std::function<void(std::int64_t done, std::int64_t total)> progress; ///< the caller's thread
};

struct MaterializedImages
{
    /// Root is the folder; no list of operations; categories and their ids as before.
    ImageManifest manifest;
    /// Images that could not be read and were left out (where the manifest says skip), with reasons.
    std::vector<std::pair<std::uint32_t, QString>> skipped;
};

/// Writes what comes out of every image as `folder`/<class>/<number>_<name>.png: 8 bits, gray where
/// the storage holds gray. The same seed gives the same pixels whatever `workers` is. Random erasing
/// acts on floats and is not carried out. `folder` exists; on an error nothing of this stays in it.
/// InvalidDatasetError: unreadable image (where the manifest says fail), more than 10 % unreadable,
/// none left, a crop larger than an image. FailedToWriteOutputsError, ModuleOutOfMemoryError,
/// CanceledError.
Result<MaterializedImages> materializeImages(const ManifestPtr &manifest, const fs::path &folder,
                                             const MaterializeOptions &options);

/// A folder's name for a class: its bytes where they can stand as one (a slash, a leading dot, a
/// percent sign and control characters become %XX), long names cut and told apart by a hash.
/// Different classes have different folders.
std::string classFolderName(const std::string &category);

} // namespace tw
