// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagereader.h"

#include "core/data/idxfile.h"

#include <QCoreApplication>

#include <charconv>

namespace tw {

namespace {

class PictureReader final : public ImageReader
{
public:
    PictureReader(ManifestPtr manifest, std::unique_ptr<PictureBytes> pictures, const DecodeOptions &options)
        : m_manifest(std::move(manifest)), m_pictures(std::move(pictures)), m_options(options)
    {
    }

    Result<PixelView> view(std::size_t index, ReadScratch &scratch) const override
    {
        TW_TRY(m_pictures->read(index, scratch.file));
        scratch.bytesRead += std::int64_t(scratch.file.size());
        TW_TRY(decodeImageInto(scratch.file, m_manifest->displayName(index), m_options, scratch.image));
        return viewOf(scratch.image);
    }

private:
    ManifestPtr m_manifest;
    std::unique_ptr<PictureBytes> m_pictures;
    DecodeOptions m_options;
};

class IdxReader final : public ImageReader
{
public:
    IdxReader(std::shared_ptr<const IdxFile> file, std::vector<std::uint32_t> places)
        : m_file(std::move(file)), m_places(std::move(places))
    {
    }

    Result<PixelView> view(std::size_t index, ReadScratch &scratch) const override
    {
        const std::uint32_t rows = m_file->header.sizes[1], columns = m_file->header.sizes[2];
        const std::size_t bytes = std::size_t(rows) * columns;
        scratch.bytesRead += std::int64_t(bytes);
        return PixelView{m_file->values.data() + m_places[index] * bytes, int(columns), int(rows), 1, columns};
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
