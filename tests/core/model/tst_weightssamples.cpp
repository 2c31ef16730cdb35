// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;

namespace {

struct Sample
{
    const char *name, *file, *tensors, *under, *beside;
};

const Sample samples[] = {
#include "tests/data/weights_samples.inc"
};

QByteArray bytesOf(const char *name)
{
    for (const Sample &sample : samples) {
        if (QByteArray(sample.name) == name)
            return qUncompress(QByteArray::fromBase64(sample.file));
    }
    qFatal("no sample %s", name);
}

/// As weights_samples.inc lists them.
QStringList listing(const StateDict &weights)
{
    QStringList lines;
    for (const TensorBlob &blob : weights) {
        QStringList shape;
        for (const std::int64_t edge : blob.shape)
            shape += QString::number(edge);
        const auto count = static_cast<std::size_t>(blob.elements());
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i)
            sum += test::element(blob, i);
        const auto at = [&](std::size_t i) {
            return count == 0 ? QStringLiteral("null") : QString::number(test::element(blob, i), 'g', 17);
        };
        lines +=
            QStringLiteral("%1 %2 %3 %4 %5 %6")
                .arg(QString::fromStdString(blob.name), shape.isEmpty() ? QStringLiteral("-") : shape.join(u','),
                     QLatin1String(elementTypeName(blob.type)), QString::number(sum, 'g', 17), at(0), at(count - 1));
    }
    return lines;
}

/// The same numbers, however they are written.
bool sameLine(const QString &got, const QString &wanted)
{
    const QStringList a = got.split(u' '), b = wanted.split(u' ');
    if (a.size() != b.size() || a.mid(0, 3) != b.mid(0, 3))
        return false;
    for (qsizetype i = 3; i < a.size(); ++i) {
        if (a[i] != b[i] && (a[i] == u"null" || a[i].toDouble() != b[i].toDouble()))
            return false;
    }
    return true;
}

} // namespace

/// Files as torch.save of every time has written them, beside which torch.load was asked what is in them.
class WeightsSamplesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sample_data();
    void sample();
    void averagesAreNamed_data();
    void averagesAreNamed();
    void everyCutIsRefused_data();
    void everyCutIsRefused();
    void everyFlippedByteIsReadOrRefused_data() { everyCutIsRefused_data(); }
    void everyFlippedByteIsReadOrRefused();
    void changedFilesAreRefused_data();
    void changedFilesAreRefused();
    void plainTarIsNoWeights();

private:
    fs::path put(const QByteArray &bytes) const
    {
        const fs::path file = fs::path(m_dir.path().toStdString()) / "weights.pth";
        fs::remove(file); // a file that is cut and written again is flushed to disk by some file systems
        std::ofstream(file, std::ios::binary).write(bytes.constData(), bytes.size());
        return file;
    }
    QTemporaryDir m_dir;
};

void WeightsSamplesTest::sample_data()
{
    QTest::addColumn<int>("number");
    for (int i = 0; i < int(std::size(samples)); ++i)
        QTest::newRow(samples[i].name) << i;
}

void WeightsSamplesTest::sample()
{
    QFETCH(int, number);
    const Sample &wanted = samples[number];
    WeightsReport report;
    const auto weights = readWeights(put(bytesOf(wanted.name)), &report);
    TW_VERIFY(weights);
    const QStringList got = listing(*weights), lines = QString::fromUtf8(wanted.tensors).split(u'|');
    QCOMPARE(got.size(), lines.size());
    for (qsizetype i = 0; i < lines.size(); ++i)
        QVERIFY2(sameLine(got[i], lines[i]), qPrintable(got[i] + QStringLiteral(" / ") + lines[i]));
    QCOMPARE(report.weightsUnder, QString::fromLatin1(wanted.under));
    QCOMPARE(report.extras, QString::fromLatin1(wanted.beside).split(u' ', Qt::SkipEmptyParts));
    const QString name = QString::fromLatin1(wanted.name);
    QCOMPARE(report.format, name == u"tar"               ? QStringLiteral("pytorch-tar")
                            : name.startsWith(u"legacy") ? QStringLiteral("pytorch-legacy")
                                                         : QStringLiteral("pytorch"));
}

void WeightsSamplesTest::averagesAreNamed_data()
{
    QTest::addColumn<QString>("says");
    QTest::newRow("EMA beside") << "stands beside them under 'state_dict_ema'; the plain weights were read";
    QTest::newRow("EMA first") << "stands beside them under 'ema'; the plain weights were read";
    QTest::newRow("EMA only") << "Only a moving average of the weights (EMA) was found, under 'model_ema'";
    QTest::newRow("EMA only, nested") << "was found, under 'ema/module'; it was read";
    QTest::newRow("model") << "";
}

void WeightsSamplesTest::averagesAreNamed()
{
    QFETCH(QString, says);
    WeightsReport report;
    TW_VERIFY(readWeights(put(bytesOf(QTest::currentDataTag())), &report));
    QCOMPARE(report.warnings.size(), says.isEmpty() ? 0 : 1);
    QVERIFY2(says.isEmpty() || report.warnings[0].contains(says), qPrintable(report.warnings.join(u' ')));
}

void WeightsSamplesTest::everyCutIsRefused_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"legacy", "legacy of Python 2", "legacy checkpoint", "tar"})
        QTest::newRow(name) << name;
}

void WeightsSamplesTest::everyCutIsRefused()
{
    QFETCH(QString, name);
    QByteArray whole = bytesOf(name.toLatin1());
    while (whole.endsWith('\0')) // a tar's padding
        whole.chop(1);
    for (qsizetype length = 0; length<whole.size(); length += whole.size() - length> 60 ? 41 : 1) {
        const auto weights = readWeights(put(whole.left(length)));
        QVERIFY2(!weights.ok(), qPrintable(QString::number(length)));
        QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
        QVERIFY(weights.error().sentence().contains(u"weights.pth"));
    }
}

/// Damage anywhere ends in values or in a named error.
void WeightsSamplesTest::everyFlippedByteIsReadOrRefused()
{
    QFETCH(QString, name);
    const QByteArray sound = bytesOf(name.toLatin1());
    int refused = 0;
    for (qsizetype at = 0; at < sound.size(); at += 5) {
        QByteArray damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0x01 : 0x80));
        WeightsReport report;
        const auto weights = readWeights(put(damaged), &report);
        refused += !weights.ok();
        if (!weights.ok())
            QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    }
    QVERIFY(refused > 20);
}

void WeightsSamplesTest::changedFilesAreRefused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("says");
    const auto row = [](const char *tag, const char *name, QByteArray from, QByteArray to, const char *says) {
        QTest::newRow(tag) << name << from << to << says;
    };
    row("version", "legacy of Python 2", "M\xe9\x03", "M\xea\x03", "its version is not 1001");
    row("storage that no tensor has", "legacy of Python 2", QByteArray("X\x0b\0\0\0", 5) + "94023984003",
        QByteArray("X\x0b\0\0\0", 5) + "94023984009", "94023984009");
    row("part outside", "legacy of Python 2", "K\x04K\x06", "K\x04K\x07", "reaches outside its storage");
    row("part before", "legacy of Python 2", "K\x04K\x06", "NK\x06", "is not known");
    row("size of a storage", "legacy of Python 2",
        "U\x03"
        "cpuK\x02N",
        "U\x03"
        "cpuK\x03N",
        "another size");
    row("code", "legacy", "torch._utils\n_rebuild_tensor_v2", "torch._utils\n_rebuild_tensor_v9",
        "torch._utils._rebuild_tensor_v9");
    row("sparse", "legacy", "torch._utils\n_rebuild_tensor_v2", "torch._utils\n_rebuild_sparse_tensor",
        "_rebuild_sparse_tensor");
    row("complex", "legacy of Python 2", "torch\nLongStorage", "torch\nComplexFloatStorage",
        "an element type that is not known");
}

void WeightsSamplesTest::changedFilesAreRefused()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, says);
    QByteArray bytes = bytesOf(name.toLatin1());
    const qsizetype at = bytes.indexOf(from);
    QVERIFY(at >= 0);
    bytes.replace(at, from.size(), to);
    const auto weights = readWeights(put(bytes));
    QVERIFY(!weights.ok());
    QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
    QVERIFY2(weights.error().sentence().contains(says), qPrintable(weights.error().sentence()));
    QVERIFY(!weights.error().hintSentence().isEmpty());
}

void WeightsSamplesTest::plainTarIsNoWeights()
{
    QByteArray tar = bytesOf("tar");
    tar.replace("tensors\0", "tensorx\0");
    const auto weights = readWeights(put(tar));
    QVERIFY(!weights.ok());
    QVERIFY2(weights.error().sentence().contains(u"is a tar archive"), qPrintable(weights.error().sentence()));
}

QTEST_GUILESS_MAIN(WeightsSamplesTest)
#include "tst_weightssamples.moc"
