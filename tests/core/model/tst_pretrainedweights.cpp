// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/pretrainedweights.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QTest>
#include <QUrl>

#include <cmath>

using namespace tw;

/// The table against what torchvision says of itself (tests/data/make_pretrained_table.py).
class TestPretrainedWeights : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalsTorchvision();
    void rowsAreSound();
    void lookUp();
};

namespace {

bool isClose(double one, double other)
{
    return std::abs(one - other) < 1e-6;
}

bool areClose(const std::array<float, 3> &values, const QJsonArray &given)
{
    bool same = given.size() == 3;
    for (int i = 0; same && i < 3; ++i)
        same = isClose(double(values[std::size_t(i)]), given[i].toDouble());
    return same;
}

} // namespace

void TestPretrainedWeights::equalsTorchvision()
{
    QFile file(QString::fromStdString((test::sourceFolder() / "tests/data/pretrained_table.json").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject table = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(table.size(), 26);
    QSet<QString> seen;
    for (auto it = table.begin(); it != table.end(); ++it) {
        const PretrainedWeights *row = pretrainedWeightsOf(it.key());
        QVERIFY2(row, qPrintable(it.key()));
        const QJsonObject given = it.value().toObject();
        const auto wrong = qPrintable(it.key());
        QCOMPARE(row->address, given.value("url").toString());
        // torchvision counts in 2²⁰ bytes, rounded to three digits.
        QVERIFY2(std::abs(row->megabytes - given.value("mebibytes").toDouble() * 1.048576) < 0.002, wrong);
        QVERIFY2(isClose(row->top1, given.value("top1").toDouble()), wrong);
        QVERIFY2(isClose(row->top5, given.value("top5").toDouble()), wrong);
        QCOMPARE(row->preprocessing.resize, given.value("resize").toInt());
        QCOMPARE(row->preprocessing.crop, given.value("crop").toInt());
        QCOMPARE(QString(interpolationId(row->preprocessing.interpolation)), given.value("interpolation").toString());
        QVERIFY2(areClose(row->preprocessing.mean, given.value("mean").toArray()), wrong);
        QVERIFY2(areClose(row->preprocessing.std, given.value("std").toArray()), wrong);
        seen.insert(it.key());
    }
    for (const PretrainedWeights &row : pretrainedWeightsTable())
        QVERIFY2(seen.contains(row.architecture) || row.architecture.startsWith("efficientnet_lite"),
                 qPrintable(row.architecture));
}

void TestPretrainedWeights::rowsAreSound()
{
    QSet<QString> names, files;
    for (const PretrainedWeights &row : pretrainedWeightsTable()) {
        const char *name = qPrintable(row.architecture);
        QVERIFY2(!names.contains(row.architecture) && !files.contains(row.fileName), name);
        names.insert(row.architecture);
        files.insert(row.fileName);
        QVERIFY2(row.fileName.endsWith('-' + row.hashPrefix + ".pth"), name);
        QCOMPARE(row.hashPrefix.size(), 8);
        QVERIFY2(row.hashPrefix == row.hashPrefix.toLower() && QByteArray::fromHex(row.hashPrefix).size() == 4, name);
        QVERIFY2(row.address.isEmpty() != row.package.isEmpty(), name);
        if (!row.address.isEmpty()) {
            const QUrl url(row.address);
            QCOMPARE(url.scheme(), QStringLiteral("https"));
            QCOMPARE(url.fileName(), row.fileName);
        }
        QVERIFY2(row.megabytes > 5 && row.megabytes < 1000, name);
        QVERIFY2(row.top1 > 60 && row.top1 < 90 && (row.top5 == 0 || row.top5 > row.top1), name);
        QVERIFY2(row.preprocessing.crop >= 224 && row.preprocessing.crop <= row.preprocessing.resize, name);
        QVERIFY2(!row.licence.isEmpty(), name);
    }
    QCOMPARE(names.size(), 29);
}

void TestPretrainedWeights::lookUp()
{
    QVERIFY(!pretrainedWeightsOf("small_cnn"));
    QVERIFY(!pretrainedWeightsNamed("resnet18.pth"));
    const PretrainedWeights *lite = pretrainedWeightsNamed("efficientnet-lite0-57934424.pth");
    QVERIFY(lite);
    QCOMPARE(lite, pretrainedWeightsOf("efficientnet_lite0"));
    // (value − 127) / 128 of TensorFlow's lite networks.
    QVERIFY(isClose(double(lite->preprocessing.mean[0]), 127.0 / 255));
    QVERIFY(isClose(double(lite->preprocessing.std[2]), 128.0 / 255));
    QCOMPARE(lite->preprocessing.interpolation, Interpolation::Bicubic);
}

QTEST_GUILESS_MAIN(TestPretrainedWeights)
#include "tst_pretrainedweights.moc"
