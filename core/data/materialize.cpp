// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/materialize.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/data/imagereader.h"
#include "core/data/parallel.h"
#include "core/data/pngwriter.h"

#include <QCoreApplication>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::size_t LongestFolderName = 200; // bytes; file systems take 255
constexpr std::size_t LongestStem = 100;

struct Worker
{
    ReadScratch read;
    TransformScratch transform;
    std::vector<std::uint8_t> png;
    std::vector<std::pair<std::uint32_t, Error>> skipped;
};

struct Written
{
    std::int64_t bytes = -1; // not written
    std::int64_t mtimeNs = 0;
};

void percentEncode(std::string &out, unsigned char byte)
{
    constexpr char Digits[] = "0123456789ABCDEF";
    out += '%';
    out += Digits[byte >> 4];
    out += Digits[byte & 15];
}

// The name without folders and suffix, cut before a character that would not fit whole.
std::string stemOf(std::string_view path)
{
    std::string stem = fs::path(std::string(path)).stem().native();
    if (stem.size() > LongestStem) {
        std::size_t end = LongestStem;
        while (end > 0 && (static_cast<unsigned char>(stem[end]) & 0xC0) == 0x80)
            --end;
        stem.resize(end);
    }
    return stem;
}

class Materializer
{
public:
    Materializer(const ManifestPtr &manifest, const fs::path &folder, const MaterializeOptions &options)
        : m_manifest(manifest), m_folder(folder), m_options(options), m_written(manifest->size()),
          m_workers(std::size_t(std::max(options.workers, 1)))
    {
    }

    Result<MaterializedImages> run();

private:
    Result<void> makeClassFolders();
    void treat(std::size_t index, Worker &worker);
    Result<void> writeOne(std::size_t index, Worker &worker);
    void noteUnreadable(std::size_t index, const Error &cause, Worker &worker);
    void fail(std::size_t index, Error error);
    std::string pathOf(std::size_t index) const;
    Result<MaterializedImages> result() const;

    const ManifestPtr &m_manifest;
    const fs::path &m_folder;
    const MaterializeOptions &m_options;
    std::unique_ptr<ImageReader> m_reader;
    std::vector<std::string> m_classFolders;
    std::vector<Written> m_written;
    std::vector<Worker> m_workers;
    std::atomic<std::size_t> m_lost{0};
    std::atomic<bool> m_failed{false};
    std::mutex m_mutex;
    std::optional<std::pair<std::size_t, Error>> m_error;
};

Result<void> Materializer::makeClassFolders()
{
    const std::vector<std::int64_t> counts = m_manifest->counts();
    for (std::size_t c = 0; c < counts.size(); ++c) {
        m_classFolders.push_back(classFolderName(m_manifest->categories[c]));
        // An empty folder would be a class without pictures to whoever lists this one.
        if (counts[c] > 0)
            TW_TRY(makeFolder(m_folder / m_classFolders.back()));
    }
    return {};
}

// Numbers in the manifest's order keep names apart and the order of the images.
std::string Materializer::pathOf(std::size_t index) const
{
    std::string name = std::to_string(index);
    name.insert(0, std::max<std::size_t>(name.size(), 6) - name.size(), '0');
    if (m_manifest->storage != ImageManifest::Storage::Idx)
        name += '_' + stemOf(m_manifest->path(index));
    name += ".png";
    const int category = m_manifest->category(index);
    return category < 0 ? name : m_classFolders[std::size_t(category)] + '/' + name;
}

void Materializer::fail(std::size_t index, Error error)
{
    const std::lock_guard lock(m_mutex);
    if (!m_error || index < m_error->first)
        m_error = std::pair(index, std::move(error));
    m_failed = true;
}

void Materializer::noteUnreadable(std::size_t index, const Error &cause, Worker &worker)
{
    Error error = cause;
    error.name = QLatin1String(errors::InvalidDataset);
    if (!m_manifest->skipUnreadable)
        return fail(index, std::move(error));
    worker.skipped.emplace_back(std::uint32_t(index), std::move(error));
    const std::size_t lost = ++m_lost, total = m_manifest->size();
    if (lost * 10 > total)
        fail(index,
             makeError(
                 errors::InvalidDataset,
                 QT_TRANSLATE_NOOP("Error", "%1 of %2 images cannot be read, more than 10 %. The last: %3"),
                 {QString::number(lost), QString::number(total), cause.sentence()},
                 QT_TRANSLATE_NOOP("Error", "Check that the disk or network folder with the images is still there.")));
}

Result<void> Materializer::writeOne(std::size_t index, Worker &worker)
{
    const Result<PixelView> image = m_reader->view(index, worker.read);
    if (!image.ok()) {
        noteUnreadable(index, image.error(), worker);
        return {};
    }
    SampleRandom random(m_options.seed, RandomPurpose::Augment, 0, std::uint32_t(index));
    TW_ASSIGN(out,
              transformView(*image, m_options.transforms, random, m_manifest->displayName(index), worker.transform));
    const fs::path file = m_folder / pathOf(index);
    TW_TRY(writePng(file, out, worker.png));
    struct stat status
    {
    };
    if (::stat(file.c_str(), &status) != 0)
        return writeError(file, errno);
    m_written[index] = {std::int64_t(status.st_size),
                        std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
    return {};
}

void Materializer::treat(std::size_t index, Worker &worker)
{
    if (m_failed.load(std::memory_order_relaxed))
        return;
    try {
        Result<void> outcome = writeOne(index, worker);
        if (!outcome.ok())
            fail(index, outcome.error());
    } catch (const std::bad_alloc &) {
        fail(index, makeError(errors::ModuleOutOfMemory,
                              QT_TRANSLATE_NOOP("Error", "There is not enough memory to write the image \"%1\"."),
                              {QString::fromStdString(m_manifest->displayName(index))},
                              QT_TRANSLATE_NOOP("Error", "Let the transformation give smaller pictures.")));
    }
}

Result<MaterializedImages> Materializer::result() const
{
    MaterializedImages out;
    for (const Worker &worker : m_workers)
        for (const auto &[index, error] : worker.skipped)
            out.skipped.emplace_back(index, error.sentence());
    std::sort(out.skipped.begin(), out.skipped.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    ImageManifest &manifest = out.manifest;
    manifest.root = m_folder;
    manifest.categories = m_manifest->categories;
    manifest.skipUnreadable = m_manifest->skipUnreadable;
    for (std::size_t i = 0; i < m_written.size(); ++i)
        if (m_written[i].bytes >= 0)
            manifest.add(pathOf(i), m_manifest->category(i), m_written[i].bytes, m_written[i].mtimeNs);
    manifest.computeFingerprint();
    return out;
}

Result<MaterializedImages> Materializer::run()
{
    TW_ASSIGN(reader, ImageReader::open(m_manifest));
    m_reader = std::move(reader);
    TW_TRY(makeClassFolders());
    const bool whole = parallelFor(
        m_manifest->size(), m_options.workers, m_options.stop,
        [this](std::size_t index, std::size_t worker) { treat(index, m_workers[worker]); }, m_options.progress);
    if (m_error)
        return m_error->second;
    if (!whole)
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Writing the images was canceled."));
    return result();
}

} // namespace

std::string classFolderName(const std::string &category)
{
    std::string out;
    for (const char c : category) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || c == '/' || c == '%' || (c == '.' && out.empty()))
            percentEncode(out, byte);
        else
            out += c;
    }
    // A percent sign alone stands for no class name that is written otherwise.
    if (out.empty())
        return "%";
    if (out == "image_directory.json" || out == "images.jsonl")
        return "%69" + out.substr(1);
    if (out.size() > LongestFolderName) {
        const QByteArray key = blake2b(QByteArray::fromStdString(category));
        out = out.substr(0, LongestFolderName - 20) + "%~" + key.left(16).toStdString();
    }
    return out;
}

Result<MaterializedImages> materializeImages(const ManifestPtr &manifest, const fs::path &folder,
                                             const MaterializeOptions &options)
{
    Result<MaterializedImages> outcome = Materializer(manifest, folder, options).run();
    if (!outcome.ok()) {
        std::error_code ignored;
        for (const auto &entry : fs::directory_iterator(folder, ignored))
            fs::remove_all(entry.path(), ignored);
    }
    return outcome;
}

} // namespace tw
