// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <cstdint>

namespace tw {

/// Upper bound of what <workspace>/cache may take on disk, bytes: TRAINWRIGHT_CACHE_LIMIT_GB (10^9
/// bytes; 0: nothing is kept), by default 50 GB.
std::int64_t cacheLimitBytes();

/// Decoded pictures (decoded/*.pictures) and unpacked archives (archives/*/archive.tar) below a
/// workspace's cache folder share one limit. Those used longest ago (access time, which every user
/// sets by markUsed()) are removed until `wanted` more bytes fit under `limit`; never one that is in
/// use, nor `keep`. Returns the bytes that are left under the limit, negative when even that did not
/// help. Any thread, any number of processes.
std::int64_t makeRoomInCache(const fs::path &cacheFolder, std::int64_t wanted, std::int64_t limit = cacheLimitBytes(),
                             const fs::path &keep = {});

/// Says that an open file of the cache is in use as long as the descriptor is open (a shared flock),
/// and was used now. False when it is just being removed.
bool markUsed(int descriptor);

/// Bytes that may still be written to the file system of `folder` (or of the nearest folder above it
/// that exists) if the last 5 %, at most 512 MB, are left to others.
std::int64_t freeDiskBytes(const fs::path &folder);

} // namespace tw
