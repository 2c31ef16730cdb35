// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/cachedreader.h"

#include "core/data/transformdraws.h"

#include <algorithm>

namespace tw {

namespace {

class CachedReader final : public ImageReader
{
public:
    CachedReader(std::unique_ptr<ImageReader> inner, ManifestPtr manifest, std::shared_ptr<PictureCache> cache)
        : m_inner(std::move(inner)), m_manifest(std::move(manifest)), m_cache(std::move(cache))
    {
    }

    Result<ImageSize> begin(std::size_t index, ReadScratch &scratch) const override
    {
        scratch.transformFailed = false;
        if (const std::optional<PixelView> hit = m_cache->find(index)) {
            scratch.held = *hit;
        } else {
            TW_ASSIGN(made, make(index, scratch));
            scratch.held = made;
        }
        return ImageSize{scratch.held.width, scratch.held.height};
    }

    Result<RegionPixels> pixels(std::size_t, const PixelRegion &region, int, ReadScratch &scratch) const override
    {
        return RegionPixels{scratch.held.region(region)};
    }

private:
    Result<PixelView> make(std::size_t index, ReadScratch &scratch) const
    {
        TW_ASSIGN(decoded, m_inner->view(index, scratch));
        Result<PixelView> kept = prepared(index, decoded, scratch);
        scratch.transformFailed = !kept.ok();
        if (kept.ok())
            m_cache->store(index, *kept);
        return kept;
    }

    Result<PixelView> prepared(std::size_t index, PixelView image, ReadScratch &scratch) const
    {
        const CachePlan &plan = m_cache->plan();
        if (plan.shorterSide > 0 && std::min(image.width, image.height) > plan.shorterSide) {
            const ImageSize size = shorterEdgeSize({image.width, image.height}, plan.shorterSide);
            PixelStep step;
            step.kind = PixelStep::Kind::Resize;
            step.width = size.width;
            step.height = size.height;
            image = applyStep(image, step, scratch.kept);
        }
        if (plan.kept.empty())
            return image;
        SampleRandom none(0, RandomPurpose::Augment, 0, std::uint32_t(index)); // nothing is drawn
        return transformView(image, plan.kept, none, m_manifest->displayName(index), scratch.kept);
    }

    std::unique_ptr<ImageReader> m_inner;
    ManifestPtr m_manifest;
    std::shared_ptr<PictureCache> m_cache;
};

} // namespace

std::unique_ptr<ImageReader> cachedReader(std::unique_ptr<ImageReader> inner, ManifestPtr manifest,
                                          std::shared_ptr<PictureCache> cache)
{
    return std::make_unique<CachedReader>(std::move(inner), std::move(manifest), std::move(cache));
}

} // namespace tw
