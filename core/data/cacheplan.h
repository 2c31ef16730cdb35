// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/decode.h"
#include "core/data/imagemanifest.h"

#include <QByteArray>

#include <optional>
#include <utility>

namespace tw {

enum class CacheMode { None, Memory, Disk };
/// Exact: the same bits as without a cache. Compact: pictures are kept smaller than they are.
enum class CacheDetail { Exact, Compact };

/// What of a list of operations is done once, before a picture is kept, and what anew at every
/// reading. The random draws are those of the whole list on the picture that is kept.
struct CachePlan
{
    /// The longest start of the list without a random operation.
    TransformList kept;
    TransformList rest;
    /// Compact: a longer shorter side is first brought down to this many pixels (exact resize,
    /// aspect kept); 0: never. 256, or the largest edge that an operation asks for if that is more,
    /// so that every crop still fits and no resize enlarges what was made smaller. 0 too for a list
    /// that begins with a resize.
    int shorterSide = 0;
};
CachePlan planCache(const TransformList &list, CacheDetail detail);

/// Names the kept form of a picture: two plans with the same key keep the same bits of it.
QByteArray planKey(const CachePlan &plan, const DecodeOptions &decode);

/// Width and height of what is kept of a picture of this size; nothing where an operation refuses it.
std::optional<std::pair<int, int>> keptSize(const CachePlan &plan, int width, int height);

/// What a cache of all pictures takes.
struct CacheEstimate
{
    std::int64_t pictures = 0;
    std::int64_t bytes = 0;
    bool isSampled = false; ///< of some pictures' sizes only: say "about"
};
/// Reads the headers of at most 400 pictures, evenly spread, where the plan does not fix the size
/// itself; they are remembered for the process. Pictures without a readable header count as the
/// others. Nothing where no header can be read. No pictures for IDX, which need no cache. Any thread.
std::optional<CacheEstimate> estimateCache(const ImageManifest &manifest, const CachePlan &plan,
                                           const StopToken *stop = nullptr);

} // namespace tw
