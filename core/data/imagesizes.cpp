// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagesizes.h"

#include "core/data/idxfile.h"
#include "core/data/parallel.h"
#include "core/data/picturebytes.h"

#include <QCoreApplication>

#include <algorithm>
#include <new>

namespace tw {

namespace {

// Looked at in order after each part, so that the images named do not depend on the threads.
constexpr std::size_t PartSize = 1024;

using Size = std::pair<int, int>;

struct FirstSize
{
    std::string name;
    Size size;
};

Error unequalSizes(const QString &role, const FirstSize &first, const std::string &name, const Size &size)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The images of the %1 dataset come out of its transformation in "
                                                "unequal sizes: \"%2\" with %3 × %4 pixels, \"%5\" with %6 × %7."),
                     {role, QString::fromStdString(first.name), QString::number(first.size.first),
                      QString::number(first.size.second), QString::fromStdString(name), QString::number(size.first),
                      QString::number(size.second)},
                     QT_TRANSLATE_NOOP("Error", "Switch the center crop of that transformation on, so that all "
                                                "come out equal."));
}

Result<void> checkIdx(const ImageManifest &manifest, const TransformList &transforms)
{
    TW_ASSIGN(header, readIdxHeader(manifest.root, 3));
    TW_TRY(outputSize(transforms, int(header.sizes[2]), int(header.sizes[1]), manifest.displayName(0)));
    return {};
}

/// Sizes of the images from `begin` on; nothing where a header cannot be read.
std::vector<std::optional<Size>> sizesOf(const PictureBytes &pictures, std::size_t begin, std::size_t count,
                                         const SizeCheck &check)
{
    std::vector<std::optional<Size>> sizes(count);
    std::vector<std::vector<std::uint8_t>> bytes(std::size_t(std::max(1, check.workers)));
    parallelFor(count, check.workers, check.stop, [&](std::size_t i, std::size_t worker) {
        try {
            const auto header = pictures.header(begin + i, bytes[worker]);
            if (header.ok())
                sizes[i] = Size(header->width, header->height);
        } catch (const std::bad_alloc &) {
            sizes[i].reset(); // the loader says so
        }
    });
    return sizes;
}

Result<void> checkFiles(const ImageManifest &manifest, const TransformList &transforms, const SizeCheck &check)
{
    const auto pictures = PictureBytes::open(manifest, check.stop);
    if (!pictures.ok() && pictures.error().name == QLatin1String(errors::Canceled))
        return pictures.error();
    if (!pictures.ok()) { // the loader says so
        if (check.progress)
            check.progress(std::int64_t(manifest.size()), std::int64_t(manifest.size()));
        return {};
    }
    std::optional<FirstSize> first;
    for (std::size_t begin = 0; begin < manifest.size(); begin += PartSize) {
        const std::size_t count = std::min(PartSize, manifest.size() - begin);
        const auto sizes = sizesOf(**pictures, begin, count, check);
        if (check.stop && check.stop->cancel.load(std::memory_order_relaxed))
            return makeError(errors::Canceled,
                             QT_TRANSLATE_NOOP("Error", "Comparing the sizes of the images was canceled."));
        for (std::size_t i = 0; i < count; ++i) {
            if (!sizes[i])
                continue;
            const std::string name = manifest.displayName(begin + i);
            TW_ASSIGN(size, outputSize(transforms, sizes[i]->first, sizes[i]->second, name));
            if (!first)
                first = FirstSize{name, size};
            else if (check.oneSize && size != first->size)
                return unequalSizes(check.role, *first, name, size);
        }
        if (check.progress)
            check.progress(std::int64_t(begin + count), std::int64_t(manifest.size()));
    }
    return {};
}

} // namespace

Result<void> checkImageSizes(const ImageManifest &manifest, const TransformList &transforms, const SizeCheck &check)
{
    const bool known = !check.oneSize || fixedOutputSize(transforms);
    if (manifest.size() == 0 || (known && fitsEveryImage(transforms)))
        return {};
    if (manifest.storage == ImageManifest::Storage::Idx)
        return checkIdx(manifest, transforms);
    return checkFiles(manifest, transforms, check);
}

} // namespace tw
