// SPDX-License-Identifier: GPL-3.0-or-later
// Weights files put together byte by byte: those that would take much memory or time are refused, odd ones
// that PyTorch reads are read.
#include "core/model/weightsfile.h"
#include "tests/core/data/archivesamples.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/memorypeak.h"
#include "tests/support/testsupport.h"

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using test::Packed;

namespace {

QByteArray little(quint64 value, int bytes)
{
    QByteArray out;
    for (int i = 0; i < bytes; ++i)
        out += char(value >> (8 * i) & 0xFF);
    return out;
}

QByteArray text(const QByteArray &words)
{
    return 'X' + little(quint64(words.size()), 4) + words;
}

/// A one-dimensional tensor of all of a storage; -1: a scalar.
QByteArray tensorOf(const char *type, const QByteArray &key, int elements)
{
    const bool isScalar = elements < 0;
    const QByteArray count = 'J' + little(quint64(std::abs(elements)), 4);
    const QByteArray storage =
        '(' + text("storage") + "ctorch\n" + type + "Storage\n" + text(key) + text("cpu") + count + "NtQ";
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K" + little(0, 1)
           + (isScalar ? QByteArray("))") : count + "\x85K\x01\x85") + "\x89" + "ccollections\nOrderedDict\n)RtR";
}

QByteArray entry(const QByteArray &name, const QByteArray &value)
{
    return text(name) + value + 's';
}

/// The format before PyTorch 1.6; each storage is (key, bytes of an element, elements).
QByteArray legacyFile(const QByteArray &object, const QList<std::tuple<QByteArray, int, int>> &storages)
{
    QByteArray file("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
    file += "\x80\x02M\xe9\x03." + QByteArray("\x80\x02}.") + "\x80\x02" + object + '.';
    QByteArray keys("\x80\x02]");
    for (const auto &[key, size, elements] : storages)
        keys += text(key) + 'a';
    file += keys + '.';
    for (const auto &[key, size, elements] : storages)
        file += little(quint64(elements), 8) + QByteArray(qsizetype(size) * elements, '\0');
    return file;
}

Packed stored(const char *name, const QByteArray &bytes)
{
    Packed record{name, bytes};
    record.deflated = false;
    return record;
}

} // namespace

class WeightsLimitsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanup() { qunsetenv("TRAINWRIGHT_MEMORY_LIMIT_MB"); }
    void viewsOfOneStorage_data();
    void viewsOfOneStorage();
    void longKeysOfTar();
    void averageBesideFigures();
    void storagesOfOtherTypes();
    void recordsThatShareBytes();
    void packedStorages();
    void packedClaims();
    void longLists();
    void manyExtras();

private:
    fs::path put(const QByteArray &bytes) const
    {
        const fs::path file = fs::path(m_dir.path().toStdString()) / "file";
        fs::remove(file);
        std::ofstream(file, std::ios::binary).write(bytes.constData(), bytes.size());
        return file;
    }
    fs::path putZip(const std::vector<Packed> &records) const
    {
        const fs::path file = fs::path(m_dir.path().toStdString()) / "file";
        test::writeZip(file, records);
        return file;
    }
    QTemporaryDir m_dir;
};

void WeightsLimitsTest::viewsOfOneStorage_data()
{
    QTest::addColumn<int>("views");
    QTest::addColumn<bool>("isRead");
    QTest::newRow("tied") << 2 << true;
    QTest::newRow("many") << 16 << true;
    QTest::newRow("too many") << 40 << false;
}

/// Each is looked through for NaN: a hundred thousand of them would take days.
void WeightsLimitsTest::viewsOfOneStorage()
{
    QFETCH(int, views);
    constexpr int elements = 1'000'000;
    QByteArray object("}");
    for (int i = 0; i < views; ++i)
        object += entry("layer" + QByteArray::number(i) + ".weight", tensorOf("Float", "1", elements));
    WeightsReport report;
    const auto weights = readWeights(put(legacyFile(object, {{"1", 4, elements}})), &report);
    QTEST(weights.ok(), "isRead");
    if (weights.ok()) {
        QCOMPARE(weights->size(), std::size_t(views));
        QCOMPARE(weights->back().elements(), elements);
        return;
    }
    QVERIFY2(weights.error().sentence().contains(u"repeats its storage"), qPrintable(weights.error().sentence()));
}

/// A key is copied for each that names it.
void WeightsLimitsTest::longKeysOfTar()
{
    const QByteArray key(1 << 20, 'k'), float32 = "ctorch\nFloatStorage\n";
    const auto tar = [&](const QByteArray &storageKey) {
        const QByteArray storages = "\x80\x02K\x01." + ("\x80\x02(" + text(storageKey)) + text("cpu") + float32 + "t."
                                    + little(1, 8) + QByteArray(4, '\0') + "\x80\x02].";
        const QByteArray tensors = "\x80\x02K\x01." + ("\x80\x02(" + text("7")) + text(storageKey)
                                   + "ctorch\nFloatTensor\nt." + little(1, 4) + little(0, 4) + little(1, 8)
                                   + little(1, 8) + little(0, 8);
        return test::tarOf({{"storages", storages},
                            {"tensors", tensors},
                            {"pickle", "\x80\x02}" + entry("w", text("7") + 'Q') + '.'}});
    };
    const auto weights = readWeights(put(tar("5")));
    TW_VERIFY(weights);
    QCOMPARE(weights->front().name, std::string("w"));
    const auto refused = readWeights(put(tar(key)));
    QVERIFY(!refused.ok());
    QVERIFY2(refused.error().sentence().contains(u"a storage has no key"), qPrintable(refused.error().sentence()));
    const test::MemoryPeak peak;
    QByteArray many = "\x80\x02}U\x01wU\xff" + QByteArray(255, 'k') + QByteArray("q\0", 2) + "Qs](";
    for (int i = 0; i < 1'000'000; ++i)
        many += QByteArray("h\0Q", 3);
    const QByteArray file = test::tarOf({{"storages", "\x80\x02K" + little(0, 1) + ".\x80\x02]."},
                                         {"tensors", "\x80\x02K" + little(0, 1) + '.'},
                                         {"pickle", many + "e."}});
    const auto repeated = readWeights(put(file));
    QVERIFY(!repeated.ok());
    QVERIFY2(repeated.error().sentence().contains(u"more values beside its tensors"),
             qPrintable(repeated.error().sentence()));
#ifdef __SANITIZE_ADDRESS__
    constexpr double most = 384; // with what the sanitizer keeps around each value
#else
    constexpr double most = 256;
#endif
    QVERIFY2(peak.mib() < most, qPrintable(QString::number(peak.mib())));
}

void WeightsLimitsTest::averageBesideFigures()
{
    const QByteArray average = '}' + entry("conv.weight", tensorOf("Float", "2", 3));
    const QByteArray object = '}' + entry("best_acc1", tensorOf("Float", "1", -1)) + entry("state_dict_ema", average);
    WeightsReport report;
    const auto weights = readWeights(put(legacyFile(object, {{"1", 4, 1}, {"2", 4, 3}})), &report);
    TW_VERIFY(weights);
    QCOMPARE(weights->size(), 1U);
    QCOMPARE(weights->front().name, std::string("conv.weight"));
    QCOMPARE(report.weightsUnder, QStringLiteral("state_dict_ema"));
    QVERIFY(report.warnings.join(u' ').contains(u"Only a moving average"));
    // A network of one layer whose tensors have no dot in their names is still one.
    const QByteArray plain = '}' + entry("weight", tensorOf("Float", "1", -1));
    const auto single = readWeights(put(legacyFile(plain, {{"1", 4, 1}})));
    TW_VERIFY(single);
    QCOMPARE(single->front().name, std::string("weight"));
}

/// Of values that are left out: their place in the file must be known all the same.
void WeightsLimitsTest::storagesOfOtherTypes()
{
    const QByteArray state = '}' + entry("conv.weight", tensorOf("Float", "2", 3));
    const QByteArray object = '}' + entry("spectrum", tensorOf("ComplexFloat", "1", 5)) + entry("state_dict", state);
    WeightsReport report;
    const auto weights = readWeights(put(legacyFile(object, {{"1", 8, 5}, {"2", 4, 3}})), &report);
    TW_VERIFY(weights);
    QCOMPARE(weights->size(), 1U);
    QCOMPARE(report.extras, QStringList{"spectrum"});
    const QByteArray inside = '}' + entry("spectrum", tensorOf("ComplexFloat", "1", 5));
    const auto refused = readWeights(put(legacyFile(inside, {{"1", 8, 5}})));
    QVERIFY(!refused.ok());
    QVERIFY2(refused.error().sentence().contains(u"'spectrum' has a storage or an element type that is not known"),
             qPrintable(refused.error().sentence()));
}

static QByteArray pickleOfTwo(int elements)
{
    QByteArray pickle = "\x80\x02}" + entry("a.weight", tensorOf("Float", "0", elements))
                        + entry("b.weight", tensorOf("Float", "1", elements)) + '.';
    return pickle.replace("NtQ", "tQ"); // torch.save has named no part of a storage since it writes zips
}

void WeightsLimitsTest::recordsThatShareBytes()
{
    const QByteArray zeros(4096, '\0');
    std::vector<Packed> records{stored("archive/data.pkl", pickleOfTwo(1024)), stored("archive/data/0", zeros),
                                stored("archive/data/1", zeros)};
    TW_VERIFY(readWeights(putZip(records)));
    records[2].recordOf = 1;
    const auto shared = readWeights(putZip(records));
    QVERIFY(!shared.ok());
    QVERIFY2(shared.error().sentence().contains(u"damaged"), qPrintable(shared.error().sentence()));
}

void WeightsLimitsTest::packedStorages()
{
    constexpr int elements = 5'000'000;
    QByteArray values(elements * 4, '\0');
    for (int i = 0; i < elements; ++i) {
        const auto value = float(i % 1000);
        std::memcpy(values.data() + 4 * qsizetype(i), &value, 4);
    }
    const fs::path file = putZip(
        {stored("archive/data.pkl", pickleOfTwo(elements)), {"archive/data/0", values}, {"archive/data/1", values}});
    QVERIFY(fs::file_size(file) < 2'000'000);
    const auto weights = readWeights(file);
    TW_VERIFY(weights);
    QCOMPARE(test::element((*weights)[1], elements - 1), double((elements - 1) % 1000));
    QVERIFY(!(*weights)[1].mapped);
    // 20 MB each, where 30 are free.
    const qint64 resident = qint64(test::MemoryPeak::residentMib() * 1.048576);
    qputenv("TRAINWRIGHT_MEMORY_LIMIT_MB", QByteArray::number(resident + 10));
    const auto refused = readWeights(file);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(refused.error().sentence().contains(u"needs 20 MB of memory"), qPrintable(refused.error().sentence()));
}

/// What is packed is looked at before memory is taken for what it claims to be.
void WeightsLimitsTest::packedClaims()
{
    constexpr int elements = 50'000'000;
    QByteArray random(2'000'000, '\0'); // as large when it is packed: no ratio gives the claim away
    QRandomGenerator(1).generate(reinterpret_cast<quint32 *>(random.begin()),
                                 reinterpret_cast<quint32 *>(random.end()));
    std::vector<Packed> records{
        stored("archive/data.pkl", pickleOfTwo(elements)), {"archive/data/0", random}, {"archive/data/1", random}};
    records[1].claimedBytes = records[2].claimedBytes = elements * 4;
    const fs::path file = putZip(records);
    const test::MemoryPeak peak;
    const auto weights = readWeights(file);
    QVERIFY(!weights.ok());
    QVERIFY2(peak.mib() < 64, qPrintable(QString::number(peak.mib())));
}

void WeightsLimitsTest::longLists()
{
    const QByteArray list = "\x80\x02}" + entry("history", text(QByteArray(40'000'000, 'x'))) + '.';
    const auto weights = readWeights(putZip({stored("archive/data.pkl", list)}));
    QVERIFY(!weights.ok());
    QVERIFY2(weights.error().sentence().contains(u"is larger than the 32 MB"), qPrintable(weights.error().sentence()));
}

void WeightsLimitsTest::manyExtras()
{
    QByteArray object("}");
    object += entry("conv.weight", tensorOf("Float", "1", 3));
    for (int i = 0; i < 2000; ++i)
        object += entry("figure" + QByteArray::number(i), "K\x01");
    WeightsReport report;
    const auto weights = readWeights(put(legacyFile(object, {{"1", 4, 3}})), &report);
    TW_VERIFY(weights);
    QCOMPARE(weights->size(), 1U);
    QCOMPARE(report.extras.size(), 500);
}

QTEST_GUILESS_MAIN(WeightsLimitsTest)
#include "tst_weightslimits.moc"
