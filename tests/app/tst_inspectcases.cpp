// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "tests/support/commandline.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;
using namespace tw::test;

/// `inspect --json --values` on the shared hard weights files: one call for all, a data row each.
class InspectCasesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cases_data();
    void cases();
    void nothingWasExecuted();

private:
    fs::path m_folder;
    QString m_marker;
    QTemporaryDir m_work;
    QJsonArray m_cases;
    QHash<QString, QJsonObject> m_found; ///< by path
    ProcessOutcome m_outcome;
};

static bool isWeights(const QJsonObject &item)
{
    const QString path = item["path"].toString();
    return item["kind"] == QLatin1String("files") && (path.endsWith(u".pth") || path.endsWith(u".safetensors"));
}

void InspectCasesTest::initTestCase()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("skipped: not found: the shared cases");
    m_folder = *folder;
    const auto json = readJsonObject(m_folder / "expected.json", errors::Library);
    TW_VERIFY(json);
    m_marker = (*json)["marker"].toString();
    m_cases = (*json)["cases"].toArray();
    QStringList arguments{"inspect", "--json", "--values", "--"};
    for (const QJsonValue &item : m_cases)
        if (isWeights(item.toObject()))
            arguments += QString::fromStdString((m_folder / item["path"].toString().toStdString()).native());
    QVERIFY(arguments.size() > 50);
    QVERIFY(QDir::setCurrent(m_work.path()));
    m_outcome = cli(arguments, 30000);
    QCOMPARE(m_outcome.exitCode, 1); // some are to be refused
    for (const QJsonObject &line : jsonLines(m_outcome.out))
        m_found.insert(line["path"].toString(), line);
}

void InspectCasesTest::cases_data()
{
    QTest::addColumn<QJsonObject>("item");
    for (const QJsonValue &item : m_cases)
        if (isWeights(item.toObject()))
            QTest::newRow(qPrintable(item["id"].toString() + u' ' + item["path"].toString())) << item.toObject();
}

/// What is said of the tensors that are expected, in the order of the file where all are listed.
static QString difference(const QJsonArray &found, const QJsonArray &expected, bool partial)
{
    if (!partial && found.size() != expected.size())
        return QStringLiteral("%1 tensors instead of %2").arg(found.size()).arg(expected.size());
    for (const QJsonValue &wanted : expected) {
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const QJsonValue &one) { return one["name"] == wanted["name"]; });
        if (same == found.end())
            return QStringLiteral("lacks ") + wanted["name"].toString();
        for (const char *key : {"shape", "dtype", "sum", "first", "last"})
            if ((*same)[QLatin1String(key)] != wanted[QLatin1String(key)])
                return QLatin1String(key) + QStringLiteral(" of ") + wanted["name"].toString();
    }
    return {};
}

void InspectCasesTest::cases()
{
    QFETCH(QJsonObject, item);
    const QString path = QString::fromStdString((m_folder / item["path"].toString().toStdString()).native());
    const QJsonObject expect = item["expect"].toObject();
    const QString outcome = expect["outcome"].toString();
    if (!m_found.contains(path)) {
        QVERIFY2(outcome != u"accept", "a sound file was refused");
        const QByteArray begin = "InvalidModelDirectoryError: ";
        const QList<QByteArray> lines = m_outcome.err.split('\n');
        const auto said = std::find_if(lines.begin(), lines.end(), [&](const QByteArray &line) {
            return line.startsWith(begin) && line.contains(path.toUtf8());
        });
        QVERIFY(said != lines.end());
        QVERIFY((said + 1)->size() > 10); // the hint
        return;
    }
    QVERIFY2(outcome != u"reject", "a file that must be refused was read");
    const QJsonObject found = m_found[path];
    const QJsonArray tensors = expect[expect.contains(u"tensors") ? u"tensors" : u"tensors_if_accepted"].toArray();
    const QString differs =
        difference(found["tensors"].toArray(), tensors, expect["partial_listing"].toBool() || tensors.isEmpty());
    QVERIFY2(differs.isEmpty(), qPrintable(differs));
    if (outcome == u"accept")
        QCOMPARE(found["weights_under"].toString(), expect["weights_under"].toString());
    QVERIFY(!expect["must_warn"].toBool() || !found["warnings"].toArray().isEmpty());
    QVERIFY(found.contains(u"architecture") && found["extras"].isArray() && !found["format"].toString().isEmpty());
}

void InspectCasesTest::nothingWasExecuted()
{
    QVERIFY(!fs::exists(fs::temp_directory_path() / m_marker.toStdString()));
    QVERIFY(QDir(m_work.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty());
}

QTEST_GUILESS_MAIN(InspectCasesTest)
#include "tst_inspectcases.moc"
