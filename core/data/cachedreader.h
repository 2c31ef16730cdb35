// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/imagereader.h"
#include "core/data/picturecache.h"

namespace tw {

/// Gives the pictures of `inner` as the cache's plan keeps them, from the cache where it has them;
/// others are read, brought into that form and stored. Errors of `inner` as without a cache, never
/// stored; those of the plan's operations (see applyTransforms()) set ReadScratch::transformFailed.
std::unique_ptr<ImageReader> cachedReader(std::unique_ptr<ImageReader> inner, ManifestPtr manifest,
                                          std::shared_ptr<PictureCache> cache);

} // namespace tw
