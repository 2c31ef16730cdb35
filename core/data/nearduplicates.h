// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw {

/// A picture of the first (0) or second (1) of the sets compared.
struct PictureRef
{
    std::uint32_t index = 0;
    std::uint8_t set = 0;
};
struct CopyGroup
{
    std::vector<PictureRef> pictures; ///< at most ListedPictures of them
    std::int64_t size = 0;
    bool severalLabels = false, acrossSets = false;
};
struct NearPair
{
    PictureRef first, second;
    int bits = 0; ///< of the 64 of PerceptualHash::code
    bool severalLabels = false, acrossSets = false;
};

/// Pictures that are there more than once, in one set or in a training and a validation set. Everything
/// is counted, `groups` and `pairs` list the first ones (leaks before others, contradicting labels first).
struct Duplicates
{
    static constexpr std::size_t Listed = 100, ListedPictures = 20;
    std::int64_t exactGroups = 0, exactSurplus = 0; ///< surplus: pictures less one of each group
    std::int64_t exactSeveralLabels = 0;            ///< groups
    std::int64_t nearPairs = 0, nearSeveralLabels = 0;
    std::int64_t compared = 0, leftOut = 0; ///< pictures with a hash; measured ones without
    std::int64_t exactLeaks = 0;            ///< pictures of the second set that also stand in the first
    std::int64_t nearLeaks = 0;             ///< …that have a near duplicate but no copy there
    bool cutShort = false;                  ///< a very large bunch of alike pictures was compared in part
    std::vector<CopyGroup> groups;
    std::vector<NearPair> pairs;
};

/// Exact copies by content key, near duplicates by perceptual hash within OrdinaryLimits, or SmallLimits
/// where one of them is a SmallPicture; in addition
///  - width : height differs by at most 3 %, and
///  - the tone agrees: per channel the means by 4 levels and the deviations by 20 % (small pictures:
///    6 %), or, no small picture, after multiplying by one factor between 3/4 and 4/3.
/// Found of the copies of 1,079 tiles of 320 × 320 pixels of 40 photographs and drawings (smooth tiles are
/// left out): JPEG of quality 95, 75, 50: 99, 97, 95 %; size × 0.7, 1.5, 0.5: 99, 100, 89 %; brightness
/// × 0.85, 1.15: 97, 81 %; contrast × 0.8: 33 %; 1, 2, 4 % cut from each side: 68, 17, 1 %. Wrongly of
/// these tiles: no pair of 196,000. Of the 70,000 pictures of Fashion-MNIST: 47 pairs of 2.4 · 10⁹,
/// about 40 of them visibly the same article.
/// Of exact copies one stands for all. No step is quadratic: pictures meet in four tables by 16 bits of
/// `code` each (of three differing bits, one of the four parts has none); of a bunch of more than 8,000
/// in one place each meets the 500 next to it in order, and `cutShort` says so.
/// `second` may be null. CanceledError.
Result<Duplicates> findDuplicates(const ImageManifest &first, const ImageManifest *second,
                                  const StopToken *stop = nullptr);

} // namespace tw
