// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/idxfile.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <charconv>

#include <sys/stat.h>

namespace tw {

namespace {

Error idxPairError(const char *text, const QStringList &args, const char *hint)
{
    return makeError(errors::InvalidDataset, text, args, hint);
}

Result<std::vector<std::uint8_t>> readLabels(const fs::path &imagesFile, std::uint32_t images)
{
    const std::optional<fs::path> file = idxLabelsFor(imagesFile);
    if (!file)
        return idxPairError(
            QT_TRANSLATE_NOOP("Error", "The IDX images file \"%1\" has no labels file beside it."),
            {displayPath(imagesFile)},
            QT_TRANSLATE_NOOP("Error", "Its labels file has the same name with labels-idx1 for images-idx3."));
    TW_ASSIGN(labels, readIdxFile(*file, 1));
    if (labels.values.size() != images)
        return idxPairError(
            QT_TRANSLATE_NOOP("Error", "The IDX pair does not fit: \"%1\" holds %2 images, \"%3\" %4 labels."),
            {displayPath(imagesFile), QString::number(images), displayPath(*file),
             QString::number(labels.values.size())},
            QT_TRANSLATE_NOOP("Error", "Fetch both files again."));
    return std::move(labels.values);
}

Result<std::vector<std::string>> classNames(const fs::path &imagesFile, const std::vector<std::uint8_t> &labels,
                                            const std::vector<std::string> &given)
{
    const std::size_t needed = std::size_t(*std::max_element(labels.begin(), labels.end())) + 1;
    if (!given.empty() && given.size() < needed)
        return idxPairError(
                   QT_TRANSLATE_NOOP("Error", "The labels of \"%1\" go up to %2, but only %3 class names are given."),
                   {displayPath(imagesFile), QString::number(needed - 1), QString::number(given.size())},
                   QT_TRANSLATE_NOOP("Error", "Give a name for every label from 0 on, or none."))
            .atParameter(QStringLiteral("class_names"));
    if (!given.empty()) {
        auto sorted = given;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end() || sorted.front().empty())
            return makeError(twice != sorted.end() ? errors::DuplicateName : errors::NullOrEmpty,
                             QT_TRANSLATE_NOOP("Error", "Class names must be different and not empty; \"%1\" is not."),
                             {twice != sorted.end() ? QString::fromStdString(*twice) : QString()},
                             QT_TRANSLATE_NOOP("Error", "Give every class its own name."));
        return given;
    }
    std::vector<std::string> digits;
    for (std::size_t i = 0; i < needed; ++i)
        digits.push_back(std::to_string(i));
    return digits;
}

void addImages(ImageManifest &manifest, const std::vector<std::uint8_t> &labels, const IdxHeader &header)
{
    struct stat status
    {
    };
    ::stat(manifest.root.c_str(), &status);
    const std::int64_t mtimeNs = std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    const std::int64_t bytes = std::int64_t(header.sizes[1]) * header.sizes[2];
    manifest.reserve(labels.size(), labels.size() * 6);
    char digits[24];
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto end = std::to_chars(digits, digits + sizeof digits, i).ptr;
        manifest.add(std::string_view(digits, std::size_t(end - digits)), labels[i], bytes, mtimeNs);
    }
}

// A label that does not occur is a fact of the file (EMNIST's letters start at 1), not a mistake.
void reportUnused(const ImageManifest &manifest, DataReport &report)
{
    const std::vector<std::int64_t> counts = manifest.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != 0)
            continue;
        report.emptyClasses.push_back(manifest.categories[i]);
        report.warnings.push_back("Class \"" + manifest.categories[i] + "\" has no image.");
    }
}

} // namespace

Result<ScanResult> scanIdx(const fs::path &imagesFile, const ScanOptions &options, const StopToken *stop)
{
    if (stop && stop->cancel)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
    TW_ASSIGN(header, readIdxHeader(imagesFile, 3));
    if (header.sizes[0] == 0)
        return idxPairError(QT_TRANSLATE_NOOP("Error", "No image was found in \"%1\"."), {displayPath(imagesFile)},
                            QT_TRANSLATE_NOOP("Error", "Choose a file that holds images."));
    TW_ASSIGN(labels, readLabels(imagesFile, header.sizes[0]));
    TW_ASSIGN(names, classNames(imagesFile, labels, options.classNames));
    ScanResult scan;
    std::error_code ignored;
    const fs::path absolute = fs::absolute(imagesFile, ignored);
    scan.manifest.storage = ImageManifest::Storage::Idx;
    scan.manifest.root = absolute.empty() ? imagesFile : absolute.lexically_normal();
    scan.manifest.categories = std::move(names);
    addImages(scan.manifest, labels, header);
    scan.manifest.computeFingerprint();
    reportUnused(scan.manifest, scan.report);
    return scan;
}

} // namespace tw
