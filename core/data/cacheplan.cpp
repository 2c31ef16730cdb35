// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/cacheplan.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/data/archivefile.h"
#include "core/data/picturebytes.h"
#include "core/data/transformdraws.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace tw {

namespace {

using Kind = TransformOp::Kind;
using Size = std::pair<int, int>;
using SizesPtr = std::shared_ptr<const std::vector<Size>>;

// Raised whenever a decoder gives other bits than before.
constexpr int decodeVersion = 1;
constexpr int compactSide = 256;
constexpr std::size_t sampledPictures = 400;
constexpr std::size_t rememberedSets = 8;

int largestEdge(const TransformList &list)
{
    int edge = 0;
    for (const TransformOp &op : list)
        if (op.kind == Kind::Resize || op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop
            || op.kind == Kind::RandomResizedCrop)
            edge = std::max(edge, op.size);
    return edge;
}

std::vector<Size> readSizes(const ImageManifest &manifest, const StopToken *stop)
{
    std::vector<Size> sizes;
    // Too long a work for an estimate.
    std::error_code unknown;
    if (manifest.storage == ImageManifest::Storage::Tar && !fs::exists(manifest.unpacked, unknown)
        && archiveKindOf(manifest.root) == ArchiveKind::PackedTar)
        return sizes;
    const auto pictures = PictureBytes::open(manifest, stop);
    if (!pictures.ok())
        return sizes;
    const std::size_t count = std::min(sampledPictures, manifest.size());
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < count; ++i) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return {};
        const auto header = (*pictures)->header(i * manifest.size() / count, bytes);
        if (header.ok())
            sizes.emplace_back(header->width, header->height);
    }
    return sizes;
}

SizesPtr sampledSizes(const ImageManifest &manifest, const StopToken *stop)
{
    static std::mutex mutex;
    static std::deque<std::pair<std::string, SizesPtr>> remembered;

    const std::string name =
        manifest.fingerprint.empty() ? std::string() : manifest.root.native() + '\0' + manifest.fingerprint;
    if (!name.empty()) {
        const std::lock_guard lock(mutex);
        for (const auto &[known, sizes] : remembered)
            if (known == name)
                return sizes;
    }
    auto sizes = std::make_shared<const std::vector<Size>>(readSizes(manifest, stop));
    if (name.empty() || sizes->empty())
        return sizes;
    const std::lock_guard lock(mutex);
    remembered.emplace_front(name, sizes);
    if (remembered.size() > rememberedSets)
        remembered.pop_back();
    return sizes;
}

std::int64_t bytesOf(const Size &size)
{
    return std::int64_t(size.first) * size.second * 3;
}

} // namespace

CachePlan planCache(const TransformList &list, CacheDetail detail)
{
    CachePlan plan;
    const auto random = std::find_if(list.begin(), list.end(), isRandom);
    plan.kept.assign(list.begin(), random);
    plan.rest.assign(random, list.end());
    // A list that begins with a resize keeps small pictures anyway, and then exact ones.
    const bool resizes = !plan.kept.empty() && plan.kept.front().kind == Kind::Resize;
    if (detail == CacheDetail::Compact && !resizes)
        plan.shorterSide = std::max(compactSide, largestEdge(list));
    return plan;
}

QByteArray planKey(const CachePlan &plan, const DecodeOptions &decode)
{
    const QJsonObject json{{QStringLiteral("decode"), decodeVersion},
                           {QStringLiteral("max_pixels"), qint64(decode.maxPixels)},
                           {QStringLiteral("shorter_side"), plan.shorterSide},
                           {QStringLiteral("transforms"), transformsToJson(plan.kept)}};
    return contentKey(jsonCompact(json));
}

std::optional<Size> keptSize(const CachePlan &plan, int width, int height)
{
    ImageSize size{width, height};
    if (plan.shorterSide > 0 && std::min(width, height) > plan.shorterSide)
        size = shorterEdgeSize(size, plan.shorterSide);
    const auto out = outputSize(plan.kept, size.width, size.height, {});
    return out.ok() ? std::optional(*out) : std::nullopt;
}

std::optional<CacheEstimate> estimateCache(const ImageManifest &manifest, const CachePlan &plan, const StopToken *stop)
{
    if (manifest.storage == ImageManifest::Storage::Idx)
        return CacheEstimate{};
    CacheEstimate estimate;
    estimate.pictures = std::int64_t(manifest.size());
    if (const auto fixed = fixedOutputSize(plan.kept)) {
        estimate.bytes = estimate.pictures * bytesOf(*fixed);
        return estimate;
    }
    const SizesPtr sizes = sampledSizes(manifest, stop);
    double sum = 0;
    std::size_t counted = 0;
    for (const Size &size : *sizes) {
        const std::optional<Size> kept = keptSize(plan, size.first, size.second);
        sum += kept ? double(bytesOf(*kept)) : 0;
        counted += kept ? 1 : 0;
    }
    if (counted == 0)
        return std::nullopt;
    estimate.bytes = std::int64_t(sum / double(counted) * double(estimate.pictures));
    estimate.isSampled = counted < manifest.size();
    return estimate;
}

} // namespace tw
