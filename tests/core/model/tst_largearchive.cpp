// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of more than 4 GiB and of more than 65,535 tensors: zip64. The files have holes where the tensors
// are zero, so that they take little of the disk and of the memory.
#include "core/model/mappedfile.h"
#include "core/model/outputfile.h"
#include "core/model/weightsfile.h"
#include "core/model/zipreader.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/memorypeak.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tw;
using test::tensor;

namespace {

constexpr std::size_t largeBytes = (std::size_t(1) << 32) + 12'345; ///< over what 32 bits count

/// Leaves a hole in the file for every page of zeros.
class SparseSink final : public ByteSink
{
public:
    explicit SparseSink(const fs::path &file) : m_fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {}
    ~SparseSink() override { ::close(m_fd); }
    Result<void> write(const void *data, std::size_t bytes) override
    {
        constexpr std::size_t page = 4096;
        static const std::byte zeros[page] = {};
        const auto *from = static_cast<const std::byte *>(data);
        for (std::size_t done = 0; done < bytes;) {
            const std::size_t count = std::min(bytes - done, page - m_position % page);
            if (std::memcmp(from + done, zeros, count) != 0
                && ::pwrite(m_fd, from + done, count, off_t(m_position)) != ssize_t(count))
                return makeError(errors::FailedToWriteOutputs, "%1", {QString::fromLocal8Bit(std::strerror(errno))});
            done += count;
            m_position += count;
        }
        return {};
    }
    std::uint64_t position() const override { return m_position; }
    /// A file that ends with a hole gets its length.
    bool finish() { return ::ftruncate(m_fd, off_t(m_position)) == 0; }

private:
    int m_fd;
    std::uint64_t m_position = 0;
};

/// Zeros without memory, with a byte at both ends.
TensorBlob largeTensor()
{
    void *memory =
        ::mmap(nullptr, largeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return {};
    ::madvise(memory, largeBytes, MADV_NOHUGEPAGE); // zeros that are only read then share one small page
    auto *bytes = static_cast<std::byte *>(memory);
    bytes[0] = std::byte(7);
    bytes[largeBytes - 1] = std::byte(9);
    TensorBlob blob;
    blob.name = "large";
    blob.type = ElementType::U8;
    blob.shape = {std::int64_t(largeBytes)};
    blob.data = bytes;
    blob.bytes = largeBytes;
    blob.owner = std::shared_ptr<void>(memory, [](void *old) { ::munmap(old, largeBytes); });
    return blob;
}

StateDict largeWeights()
{
    return {tensor<float>("before", ElementType::F32, {3}, {1, -2, 3.5F}), largeTensor(),
            tensor<float>("behind", ElementType::F32, {2, 1}, {-4, 0.25F})};
}

} // namespace

class LargeArchiveTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void largeTensors_data();
    void largeTensors();
    void sizesOfTheList();
    void cutLargeFiles();
    void manyTensors();
    void archiveOfAnotherWriter();

private:
    fs::path path(const char *name) const { return fs::path(m_dir.path().toStdString()) / name; }
    static void write(const fs::path &file);
    static void compare(const StateDict &weights);
    QTemporaryDir m_dir;
};

void LargeArchiveTest::initTestCase()
{
    if (fs::space(m_dir.path().toStdString()).available < 3 * largeBytes)
        QSKIP("skipped: not found: 13 GB of room for temporary files, should they have no holes");
    write(path("large.pth"));
    write(path("large.safetensors"));
}

void LargeArchiveTest::write(const fs::path &file)
{
    const StateDict weights = largeWeights();
    QVERIFY(weights[1].data);
    SparseSink out(file);
    TW_VERIFY(file.extension() == ".pth" ? writePth(out, weights) : writeSafetensors(out, weights));
    QVERIFY(out.finish());
    QVERIFY(fs::file_size(file) > largeBytes);
}

void LargeArchiveTest::compare(const StateDict &weights)
{
    QCOMPARE(weights.size(), 3U);
    QCOMPARE(weights[0].name, std::string("before"));
    QCOMPARE(test::element(weights[0], 2), 3.5);
    QCOMPARE(weights[1].shape, std::vector<std::int64_t>{std::int64_t(largeBytes)});
    QVERIFY(weights[1].mapped);
    QCOMPARE(test::element(weights[1], 0), 7.0);
    QCOMPARE(test::element(weights[1], largeBytes / 2), 0.0);
    QCOMPARE(test::element(weights[1], largeBytes - 1), 9.0);
    QCOMPARE(weights[2].shape, (std::vector<std::int64_t>{2, 1}));
    QCOMPARE(test::element(weights[2], 0), -4.0);
    QCOMPARE(test::element(weights[2], 1), 0.25);
}

void LargeArchiveTest::largeTensors_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("pth") << QByteArray("large.pth");
    QTest::newRow("safetensors") << QByteArray("large.safetensors");
}

void LargeArchiveTest::largeTensors()
{
    QFETCH(QByteArray, name);
    const fs::path file = path(name.constData());
    const test::MemoryPeak peak;
    WeightsReport report;
    const auto weights = readWeights(file, &report);
    TW_VERIFY(weights);
    QVERIFY2(peak.mib() < 256, qPrintable(QString::number(peak.mib())));
    QVERIFY(report.warnings.isEmpty());
    compare(*weights);
}

void LargeArchiveTest::sizesOfTheList()
{
    const auto zip = ZipReader::open(path("large.pth"));
    TW_VERIFY(zip);
    QCOMPARE((*zip)->statedBytes("archive/data/1"), largeBytes);
    QCOMPARE((*zip)->statedBytes("archive/data/2"), 8U); // its place is over 4 GiB, its size is not
    const auto member = (*zip)->read("archive/data/2", 8);
    TW_VERIFY(member);
    QVERIFY(member->mapped);
    QCOMPARE(std::uintptr_t(member->bytes.data()) % 64, 0U);
    QVERIFY(!(*zip)->read("archive/data/1", largeBytes - 1).ok());
}

void LargeArchiveTest::cutLargeFiles()
{
    for (const char *name : {"cut.pth", "cut.safetensors"}) {
        const fs::path file = path(name);
        write(file);
        if (QTest::currentTestFailed())
            return;
        const auto whole = fs::file_size(file);
        for (const std::uintmax_t less : {std::uintmax_t(1), std::uintmax_t(21), std::uintmax_t(200), whole / 2}) {
            fs::resize_file(file, whole - less);
            const auto weights = readWeights(file);
            QVERIFY2(!weights.ok(), qPrintable(QString::number(less)));
            QCOMPARE(weights.error().name, QLatin1String(errors::InvalidModelDirectory));
        }
        fs::remove(file);
    }
}

/// More records than 16 bits count, in a small file.
void LargeArchiveTest::manyTensors()
{
    constexpr int count = 70'000;
    StateDict weights;
    for (int i = 0; i < count; ++i)
        weights.push_back(tensor<std::int16_t>(std::to_string(i), ElementType::I16, {1}, {std::int16_t(i)}));
    const fs::path file = path("many.pth");
    TW_VERIFY(writePth(file, weights));
    const auto read = readWeights(file);
    TW_VERIFY(read);
    QCOMPARE(read->size(), std::size_t(count));
    QCOMPARE(read->back().name, std::to_string(count - 1));
    QCOMPARE(test::element(read->back(), 0), double(std::int16_t(count - 1)));
}

/// Python's zipfile marks its records as zip64 by other means than we do: it reads ours and we read its.
void LargeArchiveTest::archiveOfAnotherWriter()
{
    const QString python = QStringLiteral("/usr/bin/python3");
    if (!fs::exists(python.toStdString()))
        QSKIP("skipped: not found: /usr/bin/python3");
    const fs::path theirs = path("theirs.pth");
    const auto outcome = test::runProcess(
        python, {"-", displayPath(path("large.pth")), displayPath(theirs), QString::number(largeBytes)}, 110000, R"(
import sys, zipfile

class Sparse:
    """Leaves holes for pieces of zeros."""
    def __init__(self, path):
        self.file = open(path, "wb")
    def write(self, data):
        if data is not zeros:
            return self.file.write(data)
        return self.file.seek(len(data), 1) and len(data)
    def __getattr__(self, name):
        return getattr(self.file, name)

size = int(sys.argv[3])
zeros = bytes(1 << 22)
with zipfile.ZipFile(sys.argv[1]) as ours, zipfile.ZipFile(Sparse(sys.argv[2]), "w") as theirs:
    for record in ours.infolist():
        with theirs.open(record.filename, "w", force_zip64=True) as out:
            if record.filename != "archive/data/1":
                out.write(ours.read(record))  # which looks at its CRC
                continue
            assert record.file_size == record.compress_size == size
            out.write(b"\x07")
            left = size - 2
            while left > len(zeros):
                out.write(zeros)
                left -= len(zeros)
            out.write(bytes(left) + b"\x09")
)");
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const auto weights = readWeights(theirs);
    TW_VERIFY(weights);
    compare(*weights);
}

QTEST_GUILESS_MAIN(LargeArchiveTest)
#include "tst_largearchive.moc"
