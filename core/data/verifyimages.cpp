// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/data/datasetscan.h"
#include "core/data/decoders.h"
#include "core/data/folderrules.h"
#include "core/data/idxfile.h"
#include "core/data/imagereader.h"
#include "core/data/parallel.h"
#include "core/data/picturefacts.h"
#include "core/data/verifiedfiles.h"

#include <QCoreApplication>

#include <algorithm>
#include <chrono>

#include <sys/stat.h>

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

/// Identities of the pictures and which of them need no decoding.
struct Known
{
    std::vector<FileIdentity> identities; ///< empty: nothing is remembered
    std::vector<char> isKnown;
};

class Verifier
{
public:
    Verifier(const ImageManifest &manifest, const PictureBytes &pictures, VerifyMode mode, const Known &known,
             std::vector<std::string> &keys, std::vector<PictureFacts> &facts)
        : m_manifest(manifest), m_pictures(pictures), m_mode(mode), m_known(known), m_keys(keys), m_facts(facts)
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
        ReadScratch &scratch = worker.scratch;
        if (m_mode == VerifyMode::Header) {
            TW_ASSIGN(header, m_pictures.header(index, scratch.file));
            m_facts[index].format = header.format;
            m_facts[index].width = std::uint32_t(header.width);
            m_facts[index].height = std::uint32_t(header.height);
            return {};
        }
        if (!m_known.isKnown.empty() && m_known.isKnown[index])
            return {};
        TW_TRY(m_pictures.read(index, scratch.file));
        TW_TRY(decodeImageInto(scratch.file, m_manifest.displayName(index), {}, scratch.image));
        const QByteArrayView bytes(reinterpret_cast<const char *>(scratch.file.data()), qsizetype(scratch.file.size()));
        m_keys[index] = contentKey(bytes).toStdString();
        m_facts[index] = worker.measurer.measure(viewOf(scratch.image), detectFormat(scratch.file));
        return {};
    }

    const ImageManifest &m_manifest;
    const PictureBytes &m_pictures;
    VerifyMode m_mode;
    const Known &m_known;
    std::vector<std::string> &m_keys;
    std::vector<PictureFacts> &m_facts;
};

FileIdentity identityOf(const fs::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
        return {-1, 0, 0};
    return {std::int64_t(status.st_size), std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec,
            std::int64_t(status.st_ino)};
}

std::vector<FileIdentity> identitiesOf(const ImageManifest &manifest, int workers, const StopToken *stop)
{
    std::vector<FileIdentity> out(manifest.size());
    const bool isFile = manifest.storage == ImageManifest::Storage::Files;
    const FileIdentity archive = isFile ? FileIdentity() : identityOf(manifest.root);
    parallelFor(out.size(), workers, stop, [&](std::size_t i, std::size_t) {
        out[i] = isFile ? identityOf(manifest.displayName(i))
                        : FileIdentity{manifest.bytes(i), archive.mtimeNs, archive.inode};
    });
    return out;
}

Known recall(const ImageManifest &manifest, VerifiedFiles &memory, int workers, const StopToken *stop,
             std::vector<std::string> &keys, std::vector<PictureFacts> &facts)
{
    Known known;
    std::string packed;
    if (!memory.isOpen())
        return known;
    known.identities = identitiesOf(manifest, workers, stop);
    known.isKnown.assign(manifest.size(), 0);
    for (std::size_t i = 0; i < manifest.size() && !(stop && stop->cancel); ++i)
        if (auto key = memory.keyOf(manifest.displayName(i), known.identities[i], &packed)) {
            facts[i] = unpackedFacts(packed);
            known.isKnown[i] = facts[i].hasPixels;
            keys[i] = std::move(*key);
        }
    return known;
}

/// Those decoded now. A file that changed within the clock's last step may change again unseen.
void rememberNew(const ImageManifest &manifest, const Known &known, const std::vector<std::string> &keys,
                 const std::vector<PictureFacts> &facts, VerifiedFiles &memory)
{
    constexpr std::int64_t restNs = 2'000'000'000;
    const auto nowNs =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    std::vector<VerifiedFile> files;
    for (std::size_t i = 0; i < known.identities.size(); ++i)
        if (!known.isKnown[i] && !keys[i].empty() && known.identities[i].mtimeNs < nowNs - restNs)
            files.push_back({manifest.displayName(i), known.identities[i], keys[i], packedFacts(facts[i])});
    memory.remember(files);
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
    TW_ASSIGN(reader, ImageReader::open(std::make_shared<const ImageManifest>(scan.manifest)));
    auto facts = std::make_shared<std::vector<PictureFacts>>(count);
    std::vector<std::string> keys(count);
    std::vector<VerifyWorker> states(std::size_t(std::max(workers, 1)));
    const auto work = [&](std::size_t index, std::size_t worker) {
        const Result<PixelView> view = reader->view(index, states[worker].scratch); // in memory: cannot fail
        if (!view.ok())
            return;
        (*facts)[index] = states[worker].measurer.measure(*view, ImageFormat::Unknown);
        const auto *bytes = reinterpret_cast<const char *>(view->data);
        keys[index] = contentKey(QByteArrayView(bytes, qsizetype(view->stride) * view->height)).toStdString();
    };
    if (!parallelFor(count, workers, stop, work, progress))
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Verifying the images was canceled."));
    for (std::size_t i = 0; i < count; ++i)
        scan.manifest.setKey(i, keys[i]);
    scan.manifest.facts = std::move(facts);
    addCopyWarnings(scan.manifest, scan.report);
    return {};
}

} // namespace

Result<void> verifyImages(ScanResult &scan, VerifyMode mode, bool skip, int workers, const StopToken *stop,
                          const std::function<void(std::int64_t, std::int64_t)> &progress, const fs::path &remembered)
{
    const std::size_t count = scan.manifest.size();
    if (scan.manifest.storage == ImageManifest::Storage::Idx)
        return verifyIdx(scan, mode, workers, stop, progress);
    TW_ASSIGN(pictures, PictureBytes::open(scan.manifest, stop));
    std::vector<std::string> keys(mode == VerifyMode::Full ? count : 0);
    VerifiedFiles memory(mode == VerifyMode::Full ? remembered : fs::path());
    auto facts = std::make_shared<std::vector<PictureFacts>>(count);
    const Known known = recall(scan.manifest, memory, workers, stop, keys, *facts);
    const Verifier verifier(scan.manifest, *pictures, mode, known, keys, *facts);
    std::vector<VerifyWorker> states(std::size_t(std::max(workers, 1)));
    const bool whole = parallelFor(
        count, workers, stop, [&](std::size_t index, std::size_t worker) { verifier.verify(index, states[worker]); },
        progress);
    if (!whole)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Verifying the images was canceled."));
    rememberNew(scan.manifest, known, keys, *facts, memory);
    scan.manifest.facts = std::move(facts);
    for (std::size_t i = 0; i < keys.size(); ++i)
        scan.manifest.setKey(i, keys[i]);
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
