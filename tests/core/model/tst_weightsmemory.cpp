// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"
#include "tests/support/memorypeak.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>

using namespace tw;

/// Files that claim much or hold very many small things: refused, with little memory and at once.
class WeightsMemoryTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void largeHeaders_data();
    void largeHeaders();
    void checkpointsInCircles_data();
    void checkpointsInCircles();

private:
    QTemporaryDir m_dir;
    fs::path put(const QByteArray &bytes) const
    {
        const fs::path file = fs::path(m_dir.path().toStdString()) / "file";
        std::ofstream(file, std::ios::binary).write(bytes.constData(), bytes.size());
        return file;
    }
};

void WeightsMemoryTest::largeHeaders_data()
{
    QTest::addColumn<QByteArray>("begin");
    QTest::addColumn<QByteArray>("repeated");
    QTest::addColumn<int>("times");
    QTest::addColumn<QByteArray>("end");
    QTest::addColumn<QString>("says");
    QTest::newRow("tensors") << QByteArray("{")
                             << QByteArray(R"("%1":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)") << 250'000
                             << QByteArray("}") << "more than 200,000 tensors";
    QTest::newRow("dimensions") << QByteArray(R"({"w":{"dtype":"F32","shape":[1)") << QByteArray(",1") << 5'000'000
                                << QByteArray(R"(],"data_offsets":[0,0]}})") << "more than 64 dimensions";
    QTest::newRow("name") << QByteArray("{\"") << QByteArray("abcdefgh") << 3'000'000 << QByteArray("\"")
                          << "not valid JSON";
    QTest::newRow("metadata") << QByteArray(R"({"__metadata__":{)") << QByteArray(R"("%1":"",)") << 250'000
                              << QByteArray("}}") << "too many keys";
}

void WeightsMemoryTest::largeHeaders()
{
    QFETCH(QByteArray, begin);
    QFETCH(QByteArray, repeated);
    QFETCH(int, times);
    QFETCH(QByteArray, end);
    QFETCH(QString, says);
    fs::path file;
    {
        QByteArray bytes(8, '\0');
        bytes += begin;
        for (int i = 0; i < times; ++i)
            bytes += repeated.contains("%1") ? QByteArray(repeated).replace("%1", QByteArray::number(i)) : repeated;
        bytes += end;
        const qint64 header = bytes.size() - 8;
        std::memcpy(bytes.data(), &header, 8);
        file = put(bytes);
    }
    const test::MemoryPeak peak;
    const auto weights = readSafetensors(file);
    QVERIFY(!weights.ok());
    QVERIFY2(weights.error().sentence().contains(says), qPrintable(weights.error().sentence()));
    QVERIFY(peak.mib() < 256);
}

void WeightsMemoryTest::checkpointsInCircles_data()
{
    QTest::addColumn<QByteArray>("pickle");
    const QByteArray begin = "\x80\x02}q" + QByteArray(1, '\0') + '(';
    QByteArray many = begin, deep = "\x80\x02";
    for (int i = 0; i < 20'000; ++i)
        many += "U\x05modelh" + QByteArray(1, '\0') + "U\x03" + "emah" + QByteArray(1, '\0');
    QTest::newRow("one that holds itself") << many + "u.";
    for (int i = 0; i < 5'000; ++i)
        deep += "}U\x05model";
    deep += '}' + QByteArray(5'000, 's') + '.';
    QTest::newRow("one in another in another") << deep;
}

/// As the object of a file in the format before PyTorch 1.6.
void WeightsMemoryTest::checkpointsInCircles()
{
    QFETCH(QByteArray, pickle);
    const QByteArray file = QByteArray("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")
                            + "\x80\x02M\xe9\x03." + "\x80\x02}." + pickle + "\x80\x02].";
    const auto weights = readWeights(put(file));
    QVERIFY(!weights.ok());
    QVERIFY2(weights.error().sentence().contains(u"holds no state_dict"), qPrintable(weights.error().sentence()));
}

QTEST_GUILESS_MAIN(WeightsMemoryTest)
#include "tst_weightsmemory.moc"
