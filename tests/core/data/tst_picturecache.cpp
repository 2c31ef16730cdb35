// SPDX-License-Identifier: GPL-3.0-or-later
// The cache behind a loader: the bits of every batch are those of a loader without one.
#include "core/data/batchloader.h"
#include "core/data/datasetscan.h"
#include "core/data/picturecache.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

constexpr int pictures = 24;

struct Epoch
{
    std::vector<float> values;
    std::vector<std::uint32_t> samples;
    std::int64_t bytesRead = 0;
};

ManifestPtr scanned(const fs::path &path)
{
    Result<ScanResult> scan = scanDataset(path, {});
    return scan.ok() ? std::make_shared<const ImageManifest>(std::move(scan->manifest)) : nullptr;
}

TransformList trainingList()
{
    return {{Kind::Resize, 40}, {Kind::RandomCrop, 32}, {Kind::RandomHorizontalFlip}};
}

Result<Epoch> drain(BatchLoader &loader, std::uint32_t number)
{
    Epoch epoch;
    const std::int64_t before = loader.statistics().bytesRead;
    loader.startEpoch(number);
    while (true) {
        TW_ASSIGN(next, loader.next());
        if (!next)
            break;
        const Batch &batch = **next;
        epoch.values.insert(epoch.values.end(), batch.data,
                            batch.data + batch.count * batch.channels * batch.height * batch.width);
        epoch.samples.insert(epoch.samples.end(), batch.samples.begin(), batch.samples.end());
    }
    epoch.bytesRead = loader.statistics().bytesRead - before;
    return epoch;
}

Result<std::vector<Epoch>> epochsOf(const ManifestPtr &manifest, const TransformList &list, int workers,
                                    const std::shared_ptr<PictureCache> &cache, std::uint32_t count = 2)
{
    LoaderOptions options;
    options.batchSize = 5;
    options.numWorkers = workers;
    options.shuffle = true;
    options.cache = cache;
    TW_ASSIGN(loader, BatchLoader::create(manifest, list, options));
    std::vector<Epoch> epochs;
    for (std::uint32_t number = 1; number <= count; ++number) {
        TW_ASSIGN(epoch, drain(*loader, number));
        epochs.push_back(std::move(epoch));
    }
    return epochs;
}

} // namespace

class PictureCacheTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void sameBits_data();
    void sameBits();
    void hitsAreViewsOfTheKeptForm();
    void compactSizes_data();
    void compactSizes();
    void compactTrainsOnSmallerPictures();
    void theNextRunFindsThem();
    void anotherSetTakesWhatFits();
    void changedPictureIsReadAnew();
    void changeAfterOpeningIsNotKept();
    void damagedPixelsAreReadAnew();
    void memoryIsBounded();
    void diskIsBounded();
    void unreadablePicturesStayUnreadable_data();
    void unreadablePicturesStayUnreadable();
    void operationsThatFailAreErrors();
    void twoProgramsAtOnce();
    void estimates();

private:
    std::shared_ptr<PictureCache> open(CacheMode mode, const TransformList &list,
                                       CacheDetail detail = CacheDetail::Exact, const ManifestPtr &manifest = nullptr);
    /// Both with the same manifest and list; the second with `cache`.
    void compare(const std::shared_ptr<PictureCache> &cache, const TransformList &list, int workers,
                 const ManifestPtr &manifest = nullptr);
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    fs::path set() const { return root() / "set"; }
    fs::path onlyFile() const { return fs::directory_iterator(root() / "cache/decoded")->path(); }
    void writeSet(const fs::path &folder, int first, int last) const;

    std::unique_ptr<QTemporaryDir> m_folder;
    ManifestPtr m_manifest;
    PictureCacheOptions m_options;
};

void PictureCacheTest::writeSet(const fs::path &folder, int first, int last) const
{
    for (int i = first; i < last; ++i)
        writeBytes(folder / (i % 2 ? "a" : "b") / (std::to_string(i) + ".ppm"),
                   ppmOf(patternImage(50 + i, 70 - i, unsigned(i))));
}

void PictureCacheTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    writeSet(set(), 0, pictures);
    m_manifest = scanned(set());
    QVERIFY(m_manifest);
    m_options = {};
    m_options.folder = root() / "cache";
}

std::shared_ptr<PictureCache> PictureCacheTest::open(CacheMode mode, const TransformList &list, CacheDetail detail,
                                                     const ManifestPtr &manifest)
{
    m_options.mode = mode;
    auto cache = PictureCache::open(manifest ? manifest : m_manifest, planCache(list, detail), m_options);
    return cache.ok() ? *cache : nullptr;
}

void PictureCacheTest::compare(const std::shared_ptr<PictureCache> &cache, const TransformList &list, int workers,
                               const ManifestPtr &manifest)
{
    QVERIFY(cache);
    const ManifestPtr &pictureSet = manifest ? manifest : m_manifest;
    const auto plain = epochsOf(pictureSet, list, workers, nullptr);
    const auto cached = epochsOf(pictureSet, list, workers, cache);
    TW_VERIFY(plain);
    TW_VERIFY(cached);
    for (std::size_t i = 0; i < plain->size(); ++i) {
        QVERIFY((*plain)[i].samples == (*cached)[i].samples);
        QVERIFY((*plain)[i].values == (*cached)[i].values);
    }
    QVERIFY((*cached)[0].values != (*cached)[1].values); // crops, flips and order are drawn anew
}

void PictureCacheTest::sameBits_data()
{
    QTest::addColumn<int>("mode");
    QTest::addColumn<int>("workers");
    QTest::addColumn<bool>("resizes");
    for (const int workers : {0, 1, 4})
        for (const bool resizes : {true, false}) {
            const QByteArray tail = QByteArray::number(workers) + (resizes ? " prefix" : " whole pictures");
            QTest::newRow(("memory " + tail).constData()) << int(CacheMode::Memory) << workers << resizes;
            QTest::newRow(("disk " + tail).constData()) << int(CacheMode::Disk) << workers << resizes;
        }
}

void PictureCacheTest::sameBits()
{
    QFETCH(const int, mode);
    QFETCH(const int, workers);
    QFETCH(const bool, resizes);
    const TransformList list =
        resizes ? trainingList() : TransformList{{Kind::RandomResizedCrop, 24}, {Kind::RandomHorizontalFlip}};
    const auto cache = open(CacheMode(mode), list);
    compare(cache, list, workers);
    QCOMPARE(cache->pictures(), std::size_t(pictures));
    QCOMPARE(cache->takeWarning(), QString());
    const auto again = epochsOf(m_manifest, list, workers, cache);
    TW_VERIFY(again);
    QCOMPARE(again->front().bytesRead, std::int64_t(0)); // no file is read any more
}

void PictureCacheTest::hitsAreViewsOfTheKeptForm()
{
    const TransformList list{{Kind::Resize, 40}, {Kind::CenterCrop, 32}};
    for (const CacheMode mode : {CacheMode::Memory, CacheMode::Disk}) {
        const auto cache = open(mode, list);
        QVERIFY(cache);
        QVERIFY(cache->plan().rest.empty()); // only normalisation is left
        QVERIFY(!cache->find(0));
        TW_VERIFY(epochsOf(m_manifest, list, 1, cache, 1));
        const auto first = cache->find(3), second = cache->find(3);
        QVERIFY(first && second);
        QCOMPARE(first->data, second->data);
        QCOMPARE(first->width, 32);
        QCOMPARE(first->stride, std::size_t(96));
        QCOMPARE(reinterpret_cast<std::uintptr_t>(first->data) % 64, std::uintptr_t(0));
        QCOMPARE(cache->bytes(), std::int64_t(pictures) * 32 * 32 * 3);
    }
}

void PictureCacheTest::compactSizes_data()
{
    QTest::addColumn<TransformList>("list");
    QTest::addColumn<QSize>("picture");
    QTest::addColumn<QSize>("kept");
    const TransformOp crop{Kind::RandomResizedCrop, 224};
    QTest::newRow("wide") << TransformList{crop} << QSize(500, 375) << QSize(341, 256);
    QTest::newRow("high") << TransformList{crop} << QSize(300, 900) << QSize(256, 768);
    QTest::newRow("small stays") << TransformList{crop} << QSize(256, 800) << QSize(256, 800);
    QTest::newRow("larger crop") << TransformList{{Kind::RandomCrop, 300}} << QSize(600, 400) << QSize(450, 300);
    QTest::newRow("resized anyway") << TransformList{{Kind::Resize, 100}, crop} << QSize(600, 400) << QSize(150, 100);
}

void PictureCacheTest::compactSizes()
{
    QFETCH(const TransformList, list);
    QFETCH(const QSize, picture);
    QFETCH(const QSize, kept);
    const auto size = keptSize(planCache(list, CacheDetail::Compact), picture.width(), picture.height());
    QVERIFY(size);
    QCOMPARE(QSize(size->first, size->second), kept);
}

void PictureCacheTest::compactTrainsOnSmallerPictures()
{
    const ImageBuffer large = patternImage(400, 300, 5);
    writeBytes(root() / "large/a/1.ppm", ppmOf(large));
    writeBytes(root() / "large/b/2.ppm", ppmOf(patternImage(100, 120, 6)));
    const ManifestPtr manifest = scanned(root() / "large");
    const TransformList list{{Kind::RandomResizedCrop, 32}};
    const auto cache = open(CacheMode::Memory, list, CacheDetail::Compact, manifest);
    TW_VERIFY(epochsOf(manifest, list, 1, cache, 1));
    const auto kept = cache->find(0);
    QVERIFY(kept);
    QVERIFY(bufferOf(*kept) == resizeExact(large, 341, 256));
    QCOMPARE(cache->find(1)->width, 100);
    QVERIFY(planKey(cache->plan(), {}) != planKey(planCache(list, CacheDetail::Exact), {}));
}

void PictureCacheTest::theNextRunFindsThem()
{
    TW_VERIFY(epochsOf(m_manifest, trainingList(), 2, open(CacheMode::Disk, trainingList()), 1));
    const auto plain = epochsOf(m_manifest, trainingList(), 2, nullptr, 1);
    const auto cache = open(CacheMode::Disk, trainingList());
    QCOMPARE(cache->pictures(), std::size_t(pictures));
    const auto second = epochsOf(m_manifest, trainingList(), 2, cache, 1);
    TW_VERIFY(second);
    QCOMPARE(second->front().bytesRead, std::int64_t(0));
    QVERIFY(second->front().values == plain->front().values);
    // Another form of the same pictures is another file.
    QCOMPARE(open(CacheMode::Disk, {{Kind::Resize, 41}})->pictures(), std::size_t(0));
    TransformList bicubic = trainingList();
    bicubic.front().interpolation = Interpolation::Bicubic;
    QCOMPARE(open(CacheMode::Disk, bicubic)->pictures(), std::size_t(0));
    const auto bicubicly = epochsOf(m_manifest, bicubic, 2, nullptr, 1);
    TW_VERIFY(bicubicly);
    QVERIFY(bicubicly->front().values != plain->front().values);
    compare(open(CacheMode::Disk, bicubic), bicubic, 2);
}

void PictureCacheTest::anotherSetTakesWhatFits()
{
    TW_VERIFY(epochsOf(m_manifest, trainingList(), 1, open(CacheMode::Disk, trainingList()), 1));
    writeSet(set(), pictures, pictures + 6);
    const ManifestPtr more = scanned(set());
    QCOMPARE(more->size(), std::size_t(pictures + 6));
    auto cache = open(CacheMode::Disk, trainingList(), CacheDetail::Exact, more);
    QCOMPARE(cache->pictures(), std::size_t(pictures));
    compare(cache, trainingList(), 2, more);
    QCOMPARE(cache->pictures(), more->size());
    cache.reset();
    // Mostly the same pictures: they went into the same file.
    QCOMPARE(std::distance(fs::directory_iterator(root() / "cache/decoded"), fs::directory_iterator()), 1);
    QCOMPARE(open(CacheMode::Disk, trainingList(), CacheDetail::Exact, more)->pictures(), more->size());
}

void PictureCacheTest::changedPictureIsReadAnew()
{
    TW_VERIFY(epochsOf(m_manifest, trainingList(), 1, open(CacheMode::Disk, trainingList()), 1));
    const fs::path changed = m_manifest->displayName(4);
    const auto before = fs::last_write_time(changed);
    QByteArray other;
    {
        std::ifstream in(changed, std::ios::binary);
        other = QByteArray::fromStdString({std::istreambuf_iterator<char>(in), {}});
    }
    other[other.size() - 7] = char(other[other.size() - 7] ^ 0x55); // same size, other pixels
    writeBytes(changed, other);
    fs::last_write_time(changed, before + std::chrono::seconds(2));
    const auto cache = open(CacheMode::Disk, trainingList());
    QCOMPARE(cache->pictures(), std::size_t(pictures - 1));
    compare(cache, trainingList(), 1);
}

void PictureCacheTest::changeAfterOpeningIsNotKept()
{
    const auto cache = open(CacheMode::Disk, trainingList());
    writeBytes(m_manifest->displayName(4), ppmOf(patternImage(64, 64, 99)));
    TW_VERIFY(epochsOf(m_manifest, trainingList(), 1, cache, 1));
    QCOMPARE(cache->pictures(), std::size_t(pictures - 1));
    QVERIFY(!cache->find(4));
}

void PictureCacheTest::damagedPixelsAreReadAnew()
{
    TW_VERIFY(epochsOf(m_manifest, trainingList(), 1, open(CacheMode::Disk, trainingList()), 1));
    std::fstream file(onlyFile(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1000, std::ios::end);
    file.put('\x5a').put('\x5b').put('\x5c');
    file.close();
    for (int run = 0; run < 2; ++run) {
        const auto cache = open(CacheMode::Disk, trainingList());
        const auto epochs = epochsOf(m_manifest, trainingList(), 1, cache);
        TW_VERIFY(epochs);
        // The first run reads one picture anew, the second finds it.
        QCOMPARE(epochs->front().bytesRead > 0, run == 0);
        QVERIFY(epochs->back().values == epochsOf(m_manifest, trainingList(), 1, nullptr)->back().values);
        QCOMPARE(cache->pictures(), std::size_t(pictures));
    }
}

void PictureCacheTest::memoryIsBounded()
{
    std::int64_t left = 40'000; // ten of 40 × 40 would need 48 kB
    m_options.freeMemory = [&left] { return std::exchange(left, 0); };
    const auto cache = open(CacheMode::Memory, trainingList());
    compare(cache, trainingList(), 2);
    QVERIFY(cache->pictures() > 0);
    QVERIFY(cache->bytes() <= 40'000);
    const QString warning = cache->takeWarning();
    QVERIFY2(warning.startsWith(
                 QStringLiteral("The cache holds %1 of 24 pictures: the memory is full").arg(cache->pictures())),
             qPrintable(warning));
    QCOMPARE(cache->takeWarning(), QString());
}

void PictureCacheTest::diskIsBounded()
{
    m_options.diskLimit = 60'000;
    auto cache = open(CacheMode::Disk, trainingList());
    compare(cache, trainingList(), 2);
    QVERIFY(cache->pictures() < std::size_t(pictures));
    QVERIFY(cache->takeWarning().contains(QStringLiteral("the limit of the cache")));
    cache.reset();
    QVERIFY(makeRoomInCache(root() / "cache", 0, 60'000) >= 0);
    m_options.diskLimit = 0;
    const auto none = open(CacheMode::Disk, {{Kind::RandomCrop, 32}});
    compare(none, {{Kind::RandomCrop, 32}}, 1);
    QCOMPARE(none->pictures(), std::size_t(0));
}

void PictureCacheTest::unreadablePicturesStayUnreadable_data()
{
    QTest::addColumn<int>("mode");
    QTest::newRow("memory") << int(CacheMode::Memory);
    QTest::newRow("disk") << int(CacheMode::Disk);
}

void PictureCacheTest::unreadablePicturesStayUnreadable()
{
    QFETCH(const int, mode);
    writeBytes(m_manifest->displayName(7), "P6\n50 50\n255\nshort");
    QVERIFY(fs::remove(m_manifest->displayName(9)));
    const auto cache = open(CacheMode(mode), trainingList());
    std::vector<std::vector<std::pair<std::uint32_t, QString>>> skipped;
    for (const auto &used : {std::shared_ptr<PictureCache>(), cache}) {
        LoaderOptions options;
        options.batchSize = 5;
        options.numWorkers = 1;
        options.cache = used;
        auto loader = BatchLoader::create(m_manifest, trainingList(), options);
        TW_VERIFY(loader);
        for (std::uint32_t epoch = 1; epoch <= 2; ++epoch) {
            const auto values = drain(**loader, epoch);
            TW_VERIFY(values);
            QCOMPARE(values->samples.size(), std::size_t(pictures - 2));
        }
        skipped.push_back((*loader)->takeSkipped());
    }
    QCOMPARE(skipped[0].size(), std::size_t(2));
    QVERIFY(skipped[0] == skipped[1]);
    QCOMPARE(cache->pictures(), std::size_t(pictures - 2));
    QVERIFY(!cache->find(7) && !cache->find(9));
}

void PictureCacheTest::operationsThatFailAreErrors()
{
    const TransformList list{{Kind::CenterCrop, 60}, {Kind::RandomHorizontalFlip}};
    const auto plain = epochsOf(m_manifest, list, 1, nullptr, 1);
    const auto cached = epochsOf(m_manifest, list, 1, open(CacheMode::Memory, list), 1);
    QVERIFY(!plain.ok() && !cached.ok());
    QCOMPARE(cached.error(), plain.error());
}

void PictureCacheTest::twoProgramsAtOnce()
{
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        const auto cache = open(CacheMode::Disk, trainingList());
        const auto epochs = epochsOf(m_manifest, trainingList(), 0, cache);
        ::_exit(epochs.ok() && cache->pictures() == std::size_t(pictures) ? 0 : 1);
    }
    const auto cache = open(CacheMode::Disk, trainingList());
    compare(cache, trainingList(), 0);
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const auto next = open(CacheMode::Disk, trainingList());
    QCOMPARE(next->pictures(), std::size_t(pictures));
    compare(next, trainingList(), 1);
}

void PictureCacheTest::estimates()
{
    const CachePlan whole = planCache({{Kind::RandomCrop, 32}}, CacheDetail::Exact);
    std::int64_t bytes = 0;
    for (int i = 0; i < pictures; ++i)
        bytes += std::int64_t(50 + i) * (70 - i) * 3;
    const auto estimate = estimateCache(*m_manifest, whole);
    QVERIFY(estimate);
    QCOMPARE(estimate->pictures, std::int64_t(pictures));
    QVERIFY(qAbs(estimate->bytes - bytes) <= pictures);
    QVERIFY(!estimate->isSampled);
    const auto fixed =
        estimateCache(*m_manifest, planCache({{Kind::Resize, 40}, {Kind::CenterCrop, 32}}, CacheDetail::Exact));
    QCOMPARE(fixed->bytes, std::int64_t(pictures) * 32 * 32 * 3);
    const auto idx = estimateCache(*scanned(writeIdxPair(root(), 6, 8, 8)), whole);
    QVERIFY(idx);
    QCOMPARE(idx->pictures, std::int64_t(0));
}

QTEST_GUILESS_MAIN(PictureCacheTest)
#include "tst_picturecache.moc"
