// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagereader.h"

#include "core/data/idxfile.h"
#include "core/data/jpegdecoder.h"

#include <QCoreApplication>

#include <atomic>
#include <charconv>
#include <new>

namespace tw {

namespace {

class PictureReader final : public ImageReader
{
public:
    PictureReader(ManifestPtr manifest, std::unique_ptr<PictureBytes> pictures, const DecodeOptions &options)
        : m_manifest(std::move(manifest)), m_pictures(std::move(pictures)), m_options(options),
          m_wholeBytes(m_manifest->size())
    {
        for (std::size_t i = 0; i < m_wholeBytes.size(); ++i)
            if (!m_manifest->key(i).empty())
                m_wholeBytes[i].store(m_manifest->bytes(i), std::memory_order_relaxed);
    }

    Result<ImageSize> begin(std::size_t index, ReadScratch &scratch) const override;
    Result<RegionPixels> pixels(std::size_t index, const PixelRegion &region, int reduce,
                                ReadScratch &scratch) const override;

private:
    Result<RegionPixels> decodeRegion(std::size_t index, const PixelRegion &region, int reduce,
                                      ReadScratch &scratch) const;

    ManifestPtr m_manifest;
    std::unique_ptr<PictureBytes> m_pictures;
    DecodeOptions m_options;
    // Length of each file that was once decoded to its end without a fault: of such a one no more is
    // read than the region needs. 0: not yet.
    mutable std::vector<std::atomic<std::int64_t>> m_wholeBytes;
};

Result<ImageSize> PictureReader::begin(std::size_t index, ReadScratch &scratch) const
{
    TW_TRY(m_pictures->read(index, scratch.file));
    scratch.bytesRead += std::int64_t(scratch.file.size());
    scratch.name = m_manifest->displayName(index);
    scratch.isHeaderOnly = detectFormat(scratch.file) == ImageFormat::Jpeg;
    if (!scratch.isHeaderOnly) {
        TW_TRY(decodeImageInto(scratch.file, scratch.name, m_options, scratch.image));
        scratch.orientation = 1;
        scratch.stored = {scratch.image.width, scratch.image.height};
        return scratch.stored;
    }
    if (!scratch.jpeg)
        scratch.jpeg = std::make_unique<JpegDecoder>();
    TW_ASSIGN(stored, scratch.jpeg->open(scratch.file, scratch.name, m_options));
    scratch.stored = {stored.width, stored.height};
    scratch.orientation = stored.orientation;
    return orientedSize(scratch.stored, scratch.orientation);
}

Result<RegionPixels> PictureReader::pixels(std::size_t index, const PixelRegion &region, int reduce,
                                           ReadScratch &scratch) const
{
    if (!scratch.isHeaderOnly)
        return RegionPixels{viewOf(scratch.image).region(region)};
    try {
        return decodeRegion(index, region, reduce, scratch);
    } catch (const std::bad_alloc &) {
        return imageError(scratch.name, QStringLiteral("there is not enough memory for it"));
    }
}

// The reduced pixels that the region touches.
PixelRegion reducedRegion(const PixelRegion &region, int reduce)
{
    const int x = region.x / reduce, y = region.y / reduce;
    return {x, y, (region.x + region.width + reduce - 1) / reduce - x,
            (region.y + region.height + reduce - 1) / reduce - y};
}

Result<RegionPixels> PictureReader::decodeRegion(std::size_t index, const PixelRegion &region, int reduce,
                                                 ReadScratch &scratch) const
{
    // A picture that is turned starts with the pixels that rounding left over.
    const bool even = scratch.stored.width % reduce == 0 && scratch.stored.height % reduce == 0;
    if (scratch.orientation > 1 && !even)
        reduce = 1;
    std::atomic<std::int64_t> &whole = m_wholeBytes[index];
    const auto length = std::int64_t(scratch.file.size());
    const bool toTheEnd = whole.load(std::memory_order_relaxed) != length;
    const ImageSize reduced = reducedSize(scratch.stored, reduce);
    const PixelRegion part = storedRegion(reducedRegion(region, reduce), reduced, scratch.orientation);
    TW_ASSIGN(view, scratch.jpeg->decode({reduce, part, toTheEnd}, scratch.image));
    if (toTheEnd)
        whole.store(length, std::memory_order_relaxed);
    if (scratch.orientation <= 1)
        return RegionPixels{view, reduce};
    scratch.image = bufferOf(view);
    applyOrientation(scratch.image, scratch.orientation);
    return RegionPixels{viewOf(scratch.image), reduce};
}

class IdxReader final : public ImageReader
{
public:
    IdxReader(std::shared_ptr<const IdxFile> file, std::vector<std::uint32_t> places)
        : m_file(std::move(file)), m_places(std::move(places))
    {
    }

    Result<ImageSize> begin(std::size_t, ReadScratch &) const override
    {
        return ImageSize{int(m_file->header.sizes[2]), int(m_file->header.sizes[1])};
    }

    Result<RegionPixels> pixels(std::size_t index, const PixelRegion &region, int, ReadScratch &scratch) const override
    {
        const std::uint32_t rows = m_file->header.sizes[1], columns = m_file->header.sizes[2];
        const std::size_t bytes = std::size_t(rows) * columns;
        scratch.bytesRead += std::int64_t(bytes);
        const PixelView whole{m_file->values.data() + m_places[index] * bytes, int(columns), int(rows), 1, columns};
        return RegionPixels{whole.region(region)};
    }

private:
    std::shared_ptr<const IdxFile> m_file;
    std::vector<std::uint32_t> m_places;
};

Result<std::unique_ptr<ImageReader>> openIdx(const ImageManifest &manifest)
{
    TW_ASSIGN(file, sharedIdxImages(manifest.root));
    std::vector<std::uint32_t> places(manifest.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string_view text = manifest.path(i);
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), places[i]);
        if (code != std::errc() || end != text.data() + text.size() || places[i] >= file->header.sizes[0])
            return makeError(
                errors::InvalidDataset,
                QT_TRANSLATE_NOOP("Error", "The image directory asks for image %1 of \"%2\", which holds %3 images."),
                {QString::fromStdString(std::string(text)), displayPath(manifest.root),
                 QString::number(file->header.sizes[0])},
                QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
    }
    return std::unique_ptr<ImageReader>(new IdxReader(file, std::move(places)));
}

} // namespace

ReadScratch::ReadScratch() = default;
ReadScratch::~ReadScratch() = default;

Result<PixelView> ImageReader::view(std::size_t index, ReadScratch &scratch) const
{
    TW_ASSIGN(size, begin(index, scratch));
    TW_ASSIGN(whole, pixels(index, {0, 0, size.width, size.height}, 1, scratch));
    return whole.view;
}

Result<ImageBuffer> ImageReader::read(std::size_t index) const
{
    ReadScratch scratch;
    TW_ASSIGN(pixels, view(index, scratch));
    if (pixels.data == scratch.image.pixels.data())
        return std::move(scratch.image);
    return bufferOf(pixels);
}

Result<std::unique_ptr<ImageReader>> ImageReader::open(ManifestPtr manifest, const DecodeOptions &options)
{
    if (manifest->storage == ImageManifest::Storage::Idx)
        return openIdx(*manifest);
    TW_ASSIGN(pictures, PictureBytes::open(*manifest));
    return std::unique_ptr<ImageReader>(new PictureReader(std::move(manifest), std::move(pictures), options));
}

} // namespace tw
