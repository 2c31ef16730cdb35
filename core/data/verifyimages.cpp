// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/data/datasetscan.h"
#include "core/data/decoders.h"
#include "core/data/folderrules.h"
#include "core/data/idxfile.h"
#include "core/data/imagereader.h"
#include "core/data/parallel.h"
#include "core/data/picturememory.h"

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
    PictureMeasurer measurer;
    std::vector<Finding> findings;
};

class Verifier
{
public:
    Verifier(const ImageManifest &manifest, const PictureBytes &pictures, VerifyMode mode, PictureMemory &memory)
        : m_manifest(manifest), m_pictures(pictures), m_mode(mode), m_memory(memory)
    {
    }

    void verify(std::size_t index, VerifyWorker &worker) const
    {
        try {
            const Result<void> outcome = verifyOne(index, worker);
            if (!outcome.ok())
                worker.findings.push_back({std::uint32_t(index), outcome.error()});
        } catch (const std::exception &exception) {
            worker.findings.push_back({std::uint32_t(index), imageError(m_manifest.displayName(index),
                                                                        QString::fromLocal8Bit(exception.what()))});
        }
    }

private:
    Result<void> verifyOne(std::size_t index, VerifyWorker &worker) const
    {
        if (m_memory.known(index))
            return {};
        ReadScratch &scratch = worker.scratch;
        if (m_mode == VerifyMode::Header) {
            TW_ASSIGN(header, m_pictures.header(index, scratch.file));
            PictureFacts facts;
            facts.format = header.format;
            facts.width = std::uint32_t(header.width);
            facts.height = std::uint32_t(header.height);
            m_memory.found(index, {}, facts);
            return {};
        }
        TW_TRY(m_pictures.read(index, scratch.file));
        TW_TRY(decodeImageInto(scratch.file, m_manifest.displayName(index), {}, scratch.image));
        const QByteArrayView bytes(reinterpret_cast<const char *>(scratch.file.data()), qsizetype(scratch.file.size()));
        const QByteArray key = contentKey(bytes);
        m_memory.found(index, std::string_view(key.constData(), std::size_t(key.size())),
                       worker.measurer.measure(viewOf(scratch.image), detectFormat(scratch.file)));
        return {};
    }

    const ImageManifest &m_manifest;
    const PictureBytes &m_pictures;
    VerifyMode m_mode;
    PictureMemory &m_memory;
};

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
Result<void> verifyIdxHeader(const ImageManifest &manifest)
{
    TW_ASSIGN(header, readIdxHeader(manifest.root, 3));
    if (header.sizes[0] < manifest.size())
        return makeError(
            errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "\"%1\" holds %2 images, %3 were listed."),
            {displayPath(manifest.root), QString::number(header.sizes[0]), QString::number(manifest.size())},
            QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
    return {};
}

/// The pixels stand for the encoded picture; nothing is decoded, so nothing is remembered.
Result<void> verifyIdx(ScanResult &scan, VerifyMode mode, int workers, const StopToken *stop,
                       const std::function<void(std::int64_t, std::int64_t)> &progress)
{
    const std::size_t count = scan.manifest.size();
    TW_TRY(verifyIdxHeader(scan.manifest));
    if (mode == VerifyMode::Header) {
        if (progress)
            progress(std::int64_t(count), std::int64_t(count));
        return {};
    }
    struct FactsAndPixels // unpacked once: the loader finds them while the manifest is in use
    {
        std::vector<PictureFacts> facts;
        std::shared_ptr<const IdxFile> pixels;
    };
    const auto both = std::make_shared<FactsAndPixels>();
    TW_ASSIGN(pixels, sharedIdxImages(scan.manifest.root));
    both->pixels = std::move(pixels);
    both->facts.resize(count);
    TW_ASSIGN(reader, ImageReader::open(std::make_shared<const ImageManifest>(scan.manifest)));
    std::vector<std::string> keys(count);
    std::vector<VerifyWorker> states(std::size_t(std::max(workers, 1)));
    const auto work = [&](std::size_t index, std::size_t worker) {
        const Result<PixelView> view = reader->view(index, states[worker].scratch); // in memory: cannot fail
        if (!view.ok())
            return;
        both->facts[index] = states[worker].measurer.measure(*view, ImageFormat::Unknown);
        const auto *bytes = reinterpret_cast<const char *>(view->data);
        keys[index] = contentKey(QByteArrayView(bytes, qsizetype(view->stride) * view->height)).toStdString();
    };
    if (!parallelFor(count, workers, stop, work, progress))
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Verifying the images was canceled."));
    for (std::size_t i = 0; i < count; ++i)
        scan.manifest.setKey(i, keys[i]);
    scan.manifest.facts = PictureFactsPtr(both, &both->facts);
    addCopyWarnings(scan.manifest, scan.report);
    return {};
}

struct Watch
{
    const StopToken *stop;
    const std::function<void(std::int64_t, std::int64_t)> &progress;
};

// In parts, so that a run that is stopped or killed leaves what it has done to the next one.
Result<void> verifyAll(const Verifier &verifier, std::size_t count, PictureMemory &memory,
                       std::vector<VerifyWorker> &states, const Watch &watch)
{
    constexpr std::size_t partSize = 1 << 15;
    for (std::size_t begin = 0; begin < count; begin += partSize) {
        const bool whole = parallelFor(
            std::min(partSize, count - begin), int(states.size()), watch.stop,
            [&](std::size_t i, std::size_t worker) { verifier.verify(begin + i, states[worker]); },
            [&](std::int64_t done, std::int64_t) {
                if (watch.progress)
                    watch.progress(std::int64_t(begin) + done, std::int64_t(count));
            });
        memory.save();
        if (!whole)
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Verifying the images was canceled."));
    }
    return {};
}

Error closedFolder(const ImageManifest &manifest, const UnreadableImage &folder)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The folder \"%1\" cannot be read: %2."),
                     {displayPath(manifest.root / folder.path), QString::fromStdString(folder.reason)},
                     QT_TRANSLATE_NOOP("Error", "Check that you may read it, or skip what cannot be read."));
}

} // namespace

Result<void> verifyImages(ScanResult &scan, VerifyMode mode, bool skip, int workers, const StopToken *stop,
                          const std::function<void(std::int64_t, std::int64_t)> &progress, const fs::path &remembered)
{
    const std::size_t count = scan.manifest.size();
    if (scan.manifest.storage == ImageManifest::Storage::Idx)
        return verifyIdx(scan, mode, workers, stop, progress);
    if (!skip && !scan.report.unreadable.empty()) // folders, found by the scan
        return closedFolder(scan.manifest, scan.report.unreadable.front());
    TW_ASSIGN(pictures, PictureBytes::open(scan.manifest, stop));
    std::vector<VerifyWorker> states(std::size_t(std::max(workers, 1)));
    {
        PictureMemory memory(scan.manifest, mode, remembered);
        memory.recall(workers, stop);
        TW_TRY(verifyAll(Verifier(scan.manifest, *pictures, mode, memory), count, memory, states, {stop, progress}));
        if (mode == VerifyMode::Full)
            scan.manifest.setKeys(memory.takeKeys());
        scan.manifest.facts = std::make_shared<const std::vector<PictureFacts>>(memory.takeFacts());
    }
    addCopyWarnings(scan.manifest, scan.report);
    const std::vector<Finding> findings = inOrder(states);
    for (const Finding &finding : findings)
        scan.report.unreadable.push_back({std::string(scan.manifest.path(finding.index)), reasonOf(finding.error)});
    if (findings.empty())
        return {};
    for (const Finding &finding : findings)
        if (finding.error.name == QLatin1String(errors::InvalidDataset)) // the archive lies: no policy for that
            return finding.error;
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
