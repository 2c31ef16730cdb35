// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"

#include <functional>

namespace tw {

struct SizeCheck
{
    QString role;        ///< "training", "validation": for the sentence
    bool oneSize = true; ///< false: only that every crop fits
    int workers = 1;
    const StopToken *stop = nullptr;
    std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Before a long work: whether all images come out of `transforms` in one size. Where the list does
/// not say so by itself the files' headers are read, up to the first that differs; images without a
/// readable header are left to the loader. InvalidDatasetError naming two images and their sizes,
/// or an image that a crop does not fit into. CanceledError.
Result<void> checkImageSizes(const ImageManifest &manifest, const TransformList &transforms, const SizeCheck &check);

} // namespace tw
