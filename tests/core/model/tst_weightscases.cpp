// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/model/weightsfile.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/memorypeak.h"
#include "tests/support/testsupport.h"

#include <QDir>
#include <QDirIterator>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;

/// The shared hard weights files: right tensors, a clear refusal, never anything executed.
class WeightsCasesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cases_data();
    void cases();

private:
    fs::path m_folder;
    QString m_marker;
    QJsonArray m_cases;
};

static bool exists(const QString &folder, const QString &name)
{
    QDirIterator all(folder, {name}, QDir::AllEntries | QDir::Hidden, QDirIterator::Subdirectories);
    return all.hasNext();
}

static QString compare(const StateDict &weights, const QJsonArray &expected, bool partial)
{
    if (!partial && weights.size() != static_cast<std::size_t>(expected.size()))
        return QStringLiteral("%1 tensors instead of %2").arg(weights.size()).arg(expected.size());
    for (const QJsonValue &value : expected) {
        const QJsonObject want = value.toObject();
        const std::string name = want["name"].toString().toStdString();
        const auto found =
            std::find_if(weights.begin(), weights.end(), [&](const TensorBlob &b) { return b.name == name; });
        if (found == weights.end())
            return QStringLiteral("lacks ") + want["name"].toString();
        QJsonArray shape;
        for (const std::int64_t edge : found->shape)
            shape += static_cast<qint64>(edge);
        if (shape != want["shape"].toArray() || want["dtype"].toString() != QLatin1String(elementTypeName(found->type)))
            return QStringLiteral("shape or type of ") + want["name"].toString();
        const auto count = static_cast<std::size_t>(found->elements());
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i)
            sum += test::element(*found, i);
        const auto equal = [](double got, const QJsonValue &wanted) {
            const double number = doubleFromJson(wanted, 0);
            return got == number || (std::isnan(got) && std::isnan(number));
        };
        if (!equal(sum, want["sum"]) || (count > 0 && !equal(test::element(*found, 0), want["first"]))
            || (count > 0 && !equal(test::element(*found, count - 1), want["last"])))
            return QStringLiteral("values of ") + want["name"].toString();
    }
    return {};
}

void WeightsCasesTest::initTestCase()
{
    const auto folder = test::casesFolder();
    if (!folder)
        QSKIP("shared cases: not found");
    m_folder = *folder;
    const auto json = readJsonObject(m_folder / "expected.json", errors::Library);
    TW_VERIFY(json);
    m_marker = (*json)["marker"].toString();
    m_cases = (*json)["cases"].toArray();
}

void WeightsCasesTest::cases_data()
{
    QTest::addColumn<QJsonObject>("item");
    for (const QJsonValue &value : m_cases) {
        const QJsonObject item = value.toObject();
        const QString path = item["path"].toString();
        if (item["kind"] == QLatin1String("files") && (path.endsWith(u".pth") || path.endsWith(u".safetensors")))
            QTest::newRow(qPrintable(item["id"].toString() + u' ' + path)) << item;
    }
}

void WeightsCasesTest::cases()
{
    QFETCH(QJsonObject, item);
    QTemporaryDir work;
    QVERIFY(QDir::setCurrent(work.path()));
    const QString path = item["path"].toString();
    const fs::path copy =
        fs::path(work.path().toStdString()) / ("case" + fs::path(path.toStdString()).extension().string());
    fs::copy_file(m_folder / path.toStdString(), copy);
    const QJsonObject expect = item["expect"].toObject();
    const test::MemoryPeak peak;
    WeightsReport report;
    Result<StateDict> weights = readWeights(copy, &report);
    if (expect.contains(u"max_extra_memory_mib"))
        QVERIFY(peak.mib() <= expect["max_extra_memory_mib"].toInt());
    QVERIFY(!exists(work.path(), m_marker));
    QVERIFY(!fs::exists(fs::temp_directory_path() / m_marker.toStdString()));
    QCOMPARE(QDir(work.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
    QDir::setCurrent(QDir::rootPath());

    const QString outcome = expect["outcome"].toString();
    if (!weights.ok()) {
        QVERIFY2(outcome != u"accept", qPrintable(weights.error().toString()));
        QCOMPARE(weights.error().name, QString::fromLatin1(errors::InvalidModelDirectory));
        QVERIFY2(weights.error().sentence().contains(displayPath(copy)), qPrintable(weights.error().sentence()));
        QVERIFY(!weights.error().hintSentence().isEmpty());
        return;
    }
    QVERIFY2(outcome != u"reject", "a file that must be refused was read");
    const QJsonArray tensors = expect[expect.contains(u"tensors") ? u"tensors" : u"tensors_if_accepted"].toArray();
    const QString difference = compare(*weights, tensors, expect["partial_listing"].toBool() || tensors.isEmpty());
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
    if (outcome == u"accept")
        QCOMPARE(report.weightsUnder, expect["weights_under"].toString());
    QVERIFY(!expect["must_warn"].toBool() || !report.warnings.isEmpty());
    if (expect.contains(u"strip_prefix"))
        QCOMPARE(stripNamePrefix(*weights), expect["strip_prefix"].toString().toStdString());
    if (expect.contains(u"metadata_keys")) {
        QStringList keys = report.extras;
        keys.sort();
        QCOMPARE(keys, expect["metadata_keys"].toVariant().toStringList());
    }
}

QTEST_GUILESS_MAIN(WeightsCasesTest)
#include "tst_weightscases.moc"
