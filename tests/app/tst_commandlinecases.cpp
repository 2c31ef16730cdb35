// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "tests/support/commandline.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

using namespace tw;
using namespace tw::test;

namespace {

QString path(const fs::path &file)
{
    return QString::fromStdString(file.native());
}

QStringList textsOf(const QJsonValue &list)
{
    QStringList out;
    for (const QJsonValue &value : list.toArray())
        out.append(value.toString());
    return out;
}

/// The case's folder with what version control does not keep.
fs::path copied(const QJsonObject &item, const fs::path &into)
{
    const fs::path copy = into / "case";
    fs::copy(*casesFolder() / item["path"].toString().toStdString(), copy,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (const QString &name : textsOf(item["empty_folders"]))
        fs::create_directories(copy / name.toStdString());
    for (const QJsonValue &link : item["links"].toArray()) {
        const fs::path at = copy / link[0].toString().toStdString();
        fs::remove_all(at);
        fs::create_symlink(link[1].toString().toStdString(), at);
    }
    return copy;
}

/// Whether the program says so of one of these.
bool isNotReadYet(const QString &folder, const QStringList &files)
{
    QStringList arguments{"decode"};
    for (const QString &file : files)
        arguments.append(folder + u'/' + file);
    return !files.isEmpty() && cli(arguments, 30000).err.contains("does not read");
}

} // namespace

/// The commands `decode` and `data` on the shared hard cases, one row each.
class CommandLineCasesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void decode_data() { rows({"decode"}); }
    void decode();
    void data_data() { rows({"data"}); }
    void data();
    void preparation();

private:
    void rows(const QStringList &kinds);
    void compareDecoded(const QJsonObject &found, const QJsonObject &expect, double tolMean, double tolProbe);
    void checkSplitFolders(const QJsonObject &item, const QString &folder);
    void checkFolder(const QJsonObject &item, const QString &folder);
    void decodeAll();
    std::optional<QJsonObject> m_cases;
    QStringList m_probes;
    QHash<QString, QJsonObject> m_decoded; ///< by path
    QList<QByteArray> m_decodeErrors;
};

void CommandLineCasesTest::rows(const QStringList &kinds)
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("skipped: not found: the shared cases");
    QTest::addColumn<QJsonObject>("item");
    if (!m_cases)
        m_cases = readJsonObject(*folder / "expected.json", errors::InvalidDataset).value();
    for (const QJsonValue &value : m_cases->value("cases").toArray())
        if (kinds.contains(value["kind"].toString()))
            QTest::newRow(qPrintable(value["id"].toString())) << value.toObject();
}

void CommandLineCasesTest::compareDecoded(const QJsonObject &found, const QJsonObject &expect, double tolMean,
                                          double tolProbe)
{
    QCOMPARE(found["width"].toInt(), expect["size"].toArray()[0].toInt());
    QCOMPARE(found["height"].toInt(), expect["size"].toArray()[1].toInt());
    for (int c = 0; c < 3; ++c)
        QVERIFY(std::abs(found["mean_rgb"][c].toDouble() - expect["mean_rgb"][c].toDouble()) <= tolMean + 1e-3);
    for (const QJsonValue &probe : expect["probe"].toArray()) {
        const auto place = m_probes.indexOf(QStringLiteral("%1,%2").arg(probe[0].toInt()).arg(probe[1].toInt()));
        const QJsonValue pixel = found["probes"].toArray()[place];
        QVERIFY(pixel.isArray());
        for (int c = 0; c < 3; ++c)
            QVERIFY(std::abs(pixel[c].toDouble() - probe[2][c].toDouble()) <= tolProbe);
    }
}

void CommandLineCasesTest::decode()
{
    QFETCH(QJsonObject, item);
    const fs::path file = *casesFolder() / item["path"].toString().toStdString();
    if (!fs::exists(file))
        QSKIP("skipped: not found: the case's file");
    const QJsonObject expect = item["expect"].toObject();
    const QString outcome = expect["outcome"].toString();
    const QJsonObject accepted = expect.contains("if_accepted") ? expect["if_accepted"].toObject() : expect;
    decodeAll();
    const auto found = m_decoded.constFind(path(file));
    if (found != m_decoded.constEnd()) {
        QVERIFY2(outcome != "reject", "it was decoded");
        if (accepted.contains("size"))
            compareDecoded(*found, accepted, expect["tol_mean"].toDouble(), expect["tol_probe"].toDouble());
        return;
    }
    QByteArray said;
    for (const QByteArray &line : m_decodeErrors)
        if (line.startsWith("InvalidImageError: ") && line.contains(file.c_str()))
            said = line;
    QVERIFY2(!said.isEmpty(), "neither decoded nor refused by name");
    if (outcome == "accept" && said.contains("does not read"))
        QSKIP("skipped: this build does not read the format");
    QVERIFY2(outcome != "accept", said.constData());
}

/// All of them in one call: a picture that cannot be read does not keep the next from being read.
void CommandLineCasesTest::decodeAll()
{
    if (!m_probes.isEmpty())
        return;
    QStringList arguments{"decode", "--json"}, files;
    for (const QJsonValue &item : m_cases->value("cases").toArray()) {
        const fs::path file = *casesFolder() / item["path"].toString().toStdString();
        if (item["kind"].toString() != "decode" || !fs::exists(file))
            continue;
        files.append(path(file));
        const QJsonObject expect = item["expect"].toObject();
        for (const QJsonValue &probe :
             (expect.contains("if_accepted") ? expect["if_accepted"].toObject() : expect)["probe"].toArray()) {
            const QString place = QStringLiteral("%1,%2").arg(probe[0].toInt()).arg(probe[1].toInt());
            if (!m_probes.contains(place))
                m_probes.append(place);
        }
    }
    for (const QString &place : m_probes)
        arguments << "--probe" << place;
    const ProcessOutcome result = cli(arguments << "--" << files, 60000);
    QCOMPARE(result.exitCode, 1); // some are to be refused
    for (const QJsonObject &line : jsonLines(result.out))
        m_decoded.insert(line["path"].toString(), line);
    m_decodeErrors = result.err.split('\n');
}

void CommandLineCasesTest::checkFolder(const QJsonObject &item, const QString &folder)
{
    const QJsonObject expect = item["expect"].toObject();
    const ProcessOutcome result = cli({"data", "--json", "--samples", "--", folder}, 30000);
    if (!expect["empty_classes"].toArray().isEmpty()) {
        QCOMPARE(result.exitCode, 1);
        QVERIFY2(result.err.startsWith("InvalidDatasetError: "), result.err.constData());
        for (const QString &name : textsOf(expect["must_name"]))
            QVERIFY2(result.err.contains(name.toUtf8()), result.err.constData());
        return;
    }
    QVERIFY2(result.exitCode == 0, result.err.constData());
    const QJsonObject found = jsonLines(result.out).value(0);
    QStringList classes, unreadable;
    for (const QJsonValue &one : found["classes"].toArray())
        classes.append(one["name"].toString());
    for (const QJsonValue &one : found["unreadable"].toArray())
        unreadable.append(one["path"].toString());
    QCOMPARE(classes, textsOf(expect["classes"]));
    if (unreadable != textsOf(expect["unreadable"]) && isNotReadYet(folder, unreadable))
        QSKIP("skipped: this build does not read one of the formats");
    QCOMPARE(unreadable, textsOf(expect["unreadable"]));
    if (expect["outcome"].toString() == "warn_or_ask" || expect["must_warn"].toBool())
        QVERIFY(!found["warnings"].toArray().isEmpty());
    if (classes.isEmpty()) { // pictures without classes: training refuses them, their count is right
        QCOMPARE(found["images"].toInt(), expect["stray_root_files"].toInt());
        return;
    }
    QJsonArray samples;
    for (const QJsonValue &one : expect["samples"].toArray())
        if (!unreadable.contains(one[0].toString()))
            samples.append(one);
    if (!expect.contains("tolerance"))
        QCOMPARE(found["samples"].toArray(), samples);
    QCOMPARE(found["images"].toInt(), found["samples"].toArray().size());
    QCOMPARE(found["measured"].toInt(), found["images"].toInt());
}

void CommandLineCasesTest::checkSplitFolders(const QJsonObject &item, const QString &folder)
{
    const QJsonObject expect = item["expect"].toObject();
    const ProcessOutcome result =
        cli({"data", folder + "/train", "--validation", folder + "/val", "--json", "--allow-empty-classes"}, 30000);
    QVERIFY2(result.exitCode == 0, result.err.constData());
    const QJsonObject found = jsonLines(result.out).value(0);
    if (expect.contains("train_classes")) {
        QStringList training, validation;
        for (const QJsonValue &one : found["classes"].toArray())
            training.append(one["name"].toString());
        for (const QJsonValue &one : found["validation"].toObject()["classes"].toArray())
            validation.append(one["name"].toString());
        QCOMPARE(training, textsOf(expect["train_classes"]));
        QCOMPARE(validation, expect["val_targets"].toObject().keys());
    }
    const QJsonArray groups = found["duplicates"]["listed"].toArray();
    for (const QJsonValue &group : expect["identical_bytes"].toArray()) {
        QSet<QString> names;
        for (const QString &name : textsOf(group))
            names.insert(name);
        const bool severalLabels = expect["same_picture_two_labels"].toArray().contains(group);
        const bool listed = std::any_of(groups.begin(), groups.end(), [&](const QJsonValue &one) {
            QSet<QString> other;
            for (const QJsonValue &picture : one["pictures"].toArray())
                other.insert((picture["part"].toString() == "training" ? "train/" : "val/")
                             + picture["path"].toString());
            return other == names && one["leak"].toBool() && one["several_labels"].toBool() == severalLabels;
        });
        QVERIFY2(listed, result.out.constData());
    }
    if (expect.contains("identical_bytes"))
        QVERIFY(found["leakage"].toObject()["exact"].toInt() > 0);
}

void CommandLineCasesTest::data()
{
    QFETCH(QJsonObject, item);
    if (!fs::exists(*casesFolder() / item["path"].toString().toStdString()))
        QSKIP("skipped: not found: the case's folder");
    QTemporaryDir temporary;
    const fs::path folder = copied(item, temporary.path().toStdString());
    if (fs::is_directory(folder / "train"))
        if (item["expect"].toObject()["classes"].toArray().isEmpty())
            return checkSplitFolders(item, path(folder));
    checkFolder(item, path(folder));
}

/// The mean of the set, which training may normalise with, is that of the decoded pictures.
void CommandLineCasesTest::preparation()
{
    const auto folder = casesFolder();
    if (!folder)
        QSKIP("skipped: not found: the shared cases");
    const QString set = path(*folder / "folders" / "plain");
    const ProcessOutcome whole = cli({"data", set, "--json", "--samples"}, 30000);
    QVERIFY2(whole.exitCode == 0, whole.err.constData());
    const QJsonObject found = jsonLines(whole.out).value(0);
    QStringList arguments{"decode", "--json"};
    for (const QJsonValue &sample : found["samples"].toArray())
        arguments.append(set + "/" + sample[0].toString());
    std::array<double, 3> sums{};
    double pixels = 0;
    for (const QJsonObject &picture : jsonLines(cli(arguments, 30000).out)) {
        const double count = picture["width"].toDouble() * picture["height"].toDouble();
        pixels += count;
        for (int c = 0; c < 3; ++c)
            sums[std::size_t(c)] += picture["mean_rgb"][c].toDouble() * count;
    }
    QVERIFY(pixels > 0);
    for (int c = 0; c < 3; ++c)
        QVERIFY(std::abs(found["mean_rgb"][c].toDouble() - sums[std::size_t(c)] / pixels / 255) < 1e-6);
}

QTEST_GUILESS_MAIN(CommandLineCasesTest)
#include "tst_commandlinecases.moc"
