// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/model/weightsfile.h"
#include "core/model/zipreader.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>

using namespace tw;
using test::tensor;

static StateDict sample()
{
    StateDict weights;
    weights.push_back(tensor<float>("conv.weight", ElementType::F32, {2, 1, 3}, {1, -2, 3.5f, 4, 5, 6e-8f}));
    weights.push_back(tensor<std::int64_t>("bn.num_batches_tracked", ElementType::I64, {}, {-12345678901}));
    weights.push_back(tensor<std::uint8_t>("flags", ElementType::Bool, {3}, {1, 0, 1}));
    weights.push_back(tensor<std::uint16_t>("层.half", ElementType::F16, {2}, {0x3C00, 0xC000}));
    weights.push_back(tensor<std::uint16_t>("bf", ElementType::BF16, {1, 2}, {0x3F80, 0xBF80}));
    weights.push_back(tensor<float>("none", ElementType::F32, {0, 4}, {}));
    weights.push_back(tensor<double>("d", ElementType::F64, {1}, {0.1}));
    weights.push_back(tensor<std::int32_t>("i32", ElementType::I32, {2}, {-1, 7}));
    weights.push_back(tensor<std::int16_t>("i16", ElementType::I16, {1}, {-300}));
    weights.push_back(tensor<std::int8_t>("i8", ElementType::I8, {3}, {-1, 0, 1}));
    weights.push_back(tensor<std::uint8_t>("u8", ElementType::U8, {1}, {255}));
    return weights;
}

/// Without a sync: these tests write thousands of small files.
static void put(const fs::path &file, const QByteArray &bytes)
{
    fs::remove(file); // a file that is cut and written again is flushed to disk by some file systems
    std::ofstream(file, std::ios::binary).write(bytes.constData(), bytes.size());
}

static void compareAll(const StateDict &got, const StateDict &wanted)
{
    QCOMPARE(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        QCOMPARE(got[i].name, wanted[i].name);
        QCOMPARE(got[i].type, wanted[i].type);
        QCOMPARE(got[i].shape, wanted[i].shape);
        QCOMPARE(got[i].bytes, wanted[i].bytes);
        QVERIFY(got[i].bytes == 0 || std::memcmp(got[i].data, wanted[i].data, got[i].bytes) == 0);
        QCOMPARE(reinterpret_cast<std::uintptr_t>(got[i].data) % elementBytes(got[i].type), 0u);
    }
}

class WeightsFileTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void roundTrip_data();
    void roundTrip();
    void sameBytesEachTime();
    void recordsStartAtMultiplesOf64();
    void tensorsOutliveTheReader();
    void everyCutIsRefused_data() { roundTrip_data(); }
    void everyCutIsRefused();
    void everyFlippedByteIsReadOrRefused_data() { roundTrip_data(); }
    void everyFlippedByteIsReadOrRefused();
    void badTensorsAreNotWritten_data();
    void badTensorsAreNotWritten();
    void unwritableFolder();
    void prefix_data();
    void prefix();
    void notFiniteIsReported();
    void safetensorsHeader_data();
    void safetensorsHeader();
    void missingFile();

private:
    fs::path path(const char *name) const { return fs::path(m_dir.path().toStdString()) / name; }
    QTemporaryDir m_dir;
};

using Writer = Result<void> (*)(const fs::path &, const StateDict &);
Q_DECLARE_METATYPE(Writer)

void WeightsFileTest::roundTrip_data()
{
    QTest::addColumn<Writer>("writer");
    QTest::addColumn<QString>("format");
    QTest::newRow("pth") << Writer(&writePth) << QStringLiteral("pytorch");
    QTest::newRow("safetensors") << Writer(&writeSafetensors) << QStringLiteral("safetensors");
}

void WeightsFileTest::roundTrip()
{
    QFETCH(Writer, writer);
    QFETCH(QString, format);
    const fs::path file = path("round");
    TW_VERIFY(writer(file, sample()));
    WeightsReport report;
    const auto weights = readWeights(file, &report);
    TW_VERIFY(weights);
    compareAll(*weights, sample());
    QCOMPARE(report.format, format);
    QCOMPARE(report.warnings, QStringList());
    QCOMPARE(report.extras, format == u"safetensors" ? QStringList{QStringLiteral("format")} : QStringList());
}

void WeightsFileTest::sameBytesEachTime()
{
    for (const Writer writer : {Writer(&writePth), Writer(&writeSafetensors)}) {
        TW_VERIFY(writer(path("one"), sample()));
        TW_VERIFY(writer(path("two"), sample()));
        QCOMPARE(*readFile(path("one"), errors::Library), *readFile(path("two"), errors::Library));
    }
}

void WeightsFileTest::recordsStartAtMultiplesOf64()
{
    TW_VERIFY(writePth(path("aligned.pth"), sample()));
    const auto mapping = MappedFile::open(path("aligned.pth"));
    auto zip = ZipReader::open(path("aligned.pth"));
    TW_VERIFY(zip);
    const std::vector<std::string> names = (*zip)->names();
    QCOMPARE(names.size(), sample().size() + 3);
    for (const std::string &name : names) {
        const auto member = (*zip)->read(name, 1 << 20);
        TW_VERIFY(member);
        // Stored members are pieces of a mapping, which itself starts at a page.
        QCOMPARE(reinterpret_cast<std::uintptr_t>(member->bytes.data()) % 64, 0u);
    }
}

void WeightsFileTest::tensorsOutliveTheReader()
{
    TW_VERIFY(writeSafetensors(path("kept"), sample()));
    StateDict kept = *readWeights(path("kept"));
    fs::remove(path("kept"));
    compareAll(kept, sample());
}

void WeightsFileTest::everyCutIsRefused()
{
    QFETCH(Writer, writer);
    TW_VERIFY(writer(path("whole"), sample()));
    const QByteArray whole = *readFile(path("whole"), errors::Library);
    // Every length near the end, where a zip says what it holds; prime steps elsewhere.
    for (qsizetype length = 0; length<whole.size(); length += whole.size() - length> 200 ? 7 : 1) {
        put(path("cut"), whole.left(length));
        const auto weights = readWeights(path("cut"));
        QVERIFY2(!weights.ok(), qPrintable(QString::number(length)));
        QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    }
}

/// Damage anywhere ends in values or in a named error. In a .pth file no damage of data goes unseen.
void WeightsFileTest::everyFlippedByteIsReadOrRefused()
{
    QFETCH(Writer, writer);
    TW_VERIFY(writer(path("sound"), sample()));
    const QByteArray sound = *readFile(path("sound"), errors::Library);
    for (qsizetype at = 0; at < sound.size(); at += 3) {
        QByteArray damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0x01 : 0x80));
        put(path("damaged"), damaged);
        const auto weights = readWeights(path("damaged"));
        if (!weights.ok())
            QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
        else if (writer == Writer(&writePth))
            compareAll(*weights, sample());
    }
}

void WeightsFileTest::badTensorsAreNotWritten_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("same name twice") << 0;
    QTest::newRow("no name") << 1;
    QTest::newRow("shape does not fit") << 2;
    QTest::newRow("name is not UTF-8") << 3;
}

void WeightsFileTest::badTensorsAreNotWritten()
{
    QFETCH(int, kind);
    StateDict weights = sample();
    if (kind == 0)
        weights[1].name = weights[0].name;
    else if (kind == 1)
        weights[1].name.clear();
    else if (kind == 2)
        weights[0].shape.push_back(2);
    else
        weights[0].name = "a\xff";
    for (const Writer writer : {Writer(&writePth), Writer(&writeSafetensors)}) {
        const auto written = writer(path("bad"), weights);
        QVERIFY(!written.ok());
        QCOMPARE(written.error().name, QString::fromLatin1(errors::FailedToWriteOutputs));
        QVERIFY(!fs::exists(path("bad")));
    }
}

void WeightsFileTest::unwritableFolder()
{
    for (const Writer writer : {Writer(&writePth), Writer(&writeSafetensors)}) {
        const auto written = writer(path("no such folder") / "weights", sample());
        QVERIFY(!written.ok());
        QCOMPARE(written.error().name, QString::fromLatin1(errors::FailedToWriteOutputs));
        QVERIFY(written.error().sentence().contains(u"no such folder"));
    }
}

void WeightsFileTest::prefix_data()
{
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<QStringList>("stripped");
    QTest::newRow("none") << QStringList{"a", "b"} << QStringList{"a", "b"};
    QTest::newRow("module") << QStringList{"module.a", "module.b"} << QStringList{"a", "b"};
    QTest::newRow("both") << QStringList{"_orig_mod.module.a"} << QStringList{"a"};
    QTest::newRow("not all") << QStringList{"module.a", "b"} << QStringList{"module.a", "b"};
    QTest::newRow("nothing left") << QStringList{"module."} << QStringList{"module."};
    QTest::newRow("empty") << QStringList() << QStringList();
}

void WeightsFileTest::prefix()
{
    QFETCH(QStringList, names);
    QFETCH(QStringList, stripped);
    StateDict weights;
    for (const QString &name : names)
        weights.push_back(tensor<float>(name.toStdString(), ElementType::F32, {1}, {0}));
    stripNamePrefix(weights);
    QStringList got;
    for (const TensorBlob &blob : weights)
        got += QString::fromStdString(blob.name);
    QCOMPARE(got, stripped);
}

void WeightsFileTest::notFiniteIsReported()
{
    StateDict weights{tensor<float>("good", ElementType::F32, {1}, {1}),
                      tensor<float>("bad", ElementType::F32, {2}, {1, NAN}),
                      tensor<std::uint16_t>("worse", ElementType::BF16, {1}, {0x7F80})};
    TW_VERIFY(writePth(path("nan.pth"), weights));
    WeightsReport report;
    TW_VERIFY(readPth(path("nan.pth"), &report));
    QCOMPARE(report.warnings.size(), 1);
    QVERIFY(report.warnings[0].contains(u"bad, worse"));
    QVERIFY(!report.warnings[0].contains(u"good"));
}

void WeightsFileTest::safetensorsHeader_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<bool>("sound");
    const auto row = [](const char *name, const char *json, bool sound) {
        QTest::newRow(name) << QByteArray(json) << sound;
    };
    row("one", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", true);
    row("escapes", R"({"\u5c42\ud83d\ude00\n":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", true);
    row("spaces", R"({ "w" : { "dtype" : "F32" , "shape" : [ ] , "data_offsets" : [ 0 , 4 ] } }   )", true);
    row("metadata", R"({"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", true);
    row("metadata of numbers", R"({"__metadata__":{"a":1},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        false);
    row("twice",
        R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        false);
    row("fraction", R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", false);
    row("negative", R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", false);
    row("three offsets", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", false);
    row("comma", R"({"w":{"dtype":"F32","shape":[1,],"data_offsets":[0,4]}})", false);
    row("key twice", R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", false);
    row("lone surrogate", R"({"\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", false);
    row("goes on", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}x)", false);
    row("array", R"([])", false);
    row("not closed", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", false);
    row("too large", R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999999999999999]}})", false);
}

void WeightsFileTest::safetensorsHeader()
{
    QFETCH(QByteArray, json);
    QFETCH(bool, sound);
    QByteArray bytes(8, '\0');
    bytes[0] = static_cast<char>(json.size());
    bytes += json + QByteArray(4, '\0');
    put(path("header"), bytes);
    const auto weights = readSafetensors(path("header"));
    QVERIFY2(weights.ok() == sound, weights.ok() ? "read" : qPrintable(weights.error().sentence()));
    if (sound)
        QCOMPARE(weights->size(), 1u);
}

void WeightsFileTest::missingFile()
{
    const auto weights = readWeights(path("absent.pth"));
    QVERIFY(!weights.ok());
    QVERIFY(weights.error().sentence().contains(u"absent.pth"));
    QVERIFY(!readWeights(fs::path(m_dir.path().toStdString())).ok());
}

QTEST_GUILESS_MAIN(WeightsFileTest)
#include "tst_weightsfile.moc"
