// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"
#include "core/data/decoders.h"
#include "core/data/idxfile.h"
#include "core/data/imagereader.h"
#include "core/data/parallel.h"

#include <QCoreApplication>

#include <algorithm>

namespace tw {

namespace {

struct Finding
{
    std::uint32_t index;
    Error error;
};
struct VerifyWorker
{
    ReadScratch scratch;
    std::vector<Finding> findings;
};

Result<void> verifyOne(const ImageManifest &manifest, std::size_t index, VerifyMode mode, ReadScratch &scratch)
{
    const std::string name = manifest.displayName(index);
    TW_TRY(readPictureFile(name, scratch.file));
    if (mode == VerifyMode::Full)
        return decodeImageInto(scratch.file, name, {}, scratch.image);
    TW_TRY(readImageHeader(scratch.file, name));
    return {};
}

void verifyInto(const ImageManifest &manifest, std::size_t index, VerifyMode mode, VerifyWorker &worker)
{
    try {
        const Result<void> outcome = verifyOne(manifest, index, mode, worker.scratch);
        if (!outcome.ok())
            worker.findings.push_back({std::uint32_t(index), outcome.error()});
    } catch (const std::exception &exception) {
        worker.findings.push_back(
            {std::uint32_t(index), imageError(manifest.displayName(index), QString::fromLocal8Bit(exception.what()))});
    }
}

std::vector<Finding> inOrder(std::vector<VerifyWorker> &workers)
{
    std::vector<Finding> all;
    for (VerifyWorker &worker : workers)
        std::move(worker.findings.begin(), worker.findings.end(), std::back_inserter(all));
    std::sort(all.begin(), all.end(), [](const Finding &a, const Finding &b) { return a.index < b.index; });
    return all;
}

// The reason without the name that the report gives beside it.
std::string reasonOf(const Error &error)
{
    return (error.args.isEmpty() ? error.sentence() : error.args.mid(1).join(QLatin1Char(' '))).toStdString();
}

void leaveOut(ScanResult &scan, const std::vector<Finding> &findings)
{
    std::vector<std::uint32_t> keep;
    keep.reserve(scan.manifest.size());
    auto bad = findings.begin();
    for (std::uint32_t i = 0; i < scan.manifest.size(); ++i) {
        if (bad != findings.end() && bad->index == i)
            ++bad;
        else
            keep.push_back(i);
    }
    const std::vector<std::int64_t> before = scan.manifest.counts();
    scan.manifest = scan.manifest.subset(keep);
    const std::vector<std::int64_t> after = scan.manifest.counts();
    for (std::size_t c = 0; c < after.size(); ++c)
        if (before[c] > 0 && after[c] == 0)
            scan.report.warnings.push_back("No image of class \"" + scan.manifest.categories[c] + "\" can be read.");
}

Error unreadable(const Error &cause)
{
    Error error = cause;
    error.name = QLatin1String(errors::InvalidDataset);
    return error;
}

// Lengths and labels were checked by the scan; here the file is looked at once more.
Result<void> verifyIdx(const ImageManifest &manifest)
{
    TW_ASSIGN(header, readIdxHeader(manifest.root, 3));
    if (header.sizes[0] < manifest.size())
        return makeError(
            errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "\"%1\" holds %2 images, %3 were listed."),
            {displayPath(manifest.root), QString::number(header.sizes[0]), QString::number(manifest.size())},
            QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
    return {};
}

} // namespace

Result<void> verifyImages(ScanResult &scan, VerifyMode mode, bool skip, int workers, const StopToken *stop,
                          const std::function<void(std::int64_t, std::int64_t)> &progress)
{
    const std::size_t count = scan.manifest.size();
    if (scan.manifest.storage == ImageManifest::Storage::Idx) {
        TW_TRY(verifyIdx(scan.manifest));
        if (progress)
            progress(std::int64_t(count), std::int64_t(count));
        return {};
    }
    std::vector<VerifyWorker> states(std::size_t(std::max(workers, 1)));
    const bool whole = parallelFor(
        count, workers, stop,
        [&](std::size_t index, std::size_t worker) { verifyInto(scan.manifest, index, mode, states[worker]); },
        progress);
    if (!whole)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Verifying the images was canceled."));
    const std::vector<Finding> findings = inOrder(states);
    for (const Finding &finding : findings)
        scan.report.unreadable.push_back({std::string(scan.manifest.path(finding.index)), reasonOf(finding.error)});
    if (findings.empty())
        return {};
    if (!skip)
        return unreadable(findings.front().error);
    if (findings.size() == count)
        return makeError(errors::InvalidDataset,
                         QT_TRANSLATE_NOOP("Error", "None of the %1 images in \"%2\" can be read. The first: %3"),
                         {QString::number(count), displayPath(scan.manifest.root), findings.front().error.sentence()},
                         QT_TRANSLATE_NOOP("Error", "Choose a folder with pictures that can be read."));
    leaveOut(scan, findings);
    return {};
}

} // namespace tw
