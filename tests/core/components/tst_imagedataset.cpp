// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/jobs/jobqueue.h"
#include "core/jobs/nodekey.h"
#include "core/jobs/workspace.h"
#include "tests/core/data/archivesamples.h"
#include "tests/core/data/datasamples.h"
#include "tests/core/data/httpserver.h"
#include "tests/support/testsupport.h"

#include <QCryptographicHash>
#include <QTemporaryDir>
#include <QtTest>

using namespace tw;
using namespace tw::test;

/// Image Dataset with an address as its path, and with the sha256 of a file.
class ImageDatasetTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void init();
    void refusedByValidation_data();
    void refusedByValidation();
    void hashOfALocalFile();
    void whatMakesTheKey();
    void trainsFromAnAddress();
    void failsAtTheNode_data();
    void failsAtTheNode();

private:
    fs::path root() const { return pathFromText(m_folder->path()); }
    static QByteArray hashOf(const QByteArray &bytes)
    {
        return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
    }
    PipelineNode source(const QByteArray &path, const QByteArray &sha256) const;
    Pipeline pipeline(const QByteArray &path, const QByteArray &sha256) const;
    JobRecord run(const Pipeline &pipeline);
    QByteArray keyOf(const QByteArray &path, const QByteArray &sha256) const;

    ComponentRegistry m_registry;
    HttpServer m_server;
    QByteArray m_archive;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Workspace> m_workspace;
};

void ImageDatasetTest::init()
{
    m_workspace.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    std::vector<Packed> members;
    for (unsigned i = 0; i < 16; ++i)
        members.push_back(
            {(i % 2 ? "set/ant/" : "set/bee/") + std::to_string(i) + ".ppm", ppmOf(patternImage(8, 8, i))});
    m_archive = gzipOf(tarOf(members));
    m_server.set("/data/set.tgz", {m_archive});
    m_server.forget();
    auto workspace = Workspace::open(root() / "ws");
    TW_VERIFY(workspace);
    m_workspace = std::move(*workspace);
}

PipelineNode ImageDatasetTest::source(const QByteArray &path, const QByteArray &sha256) const
{
    PipelineNode made;
    made.id = QStringLiteral("data");
    made.component = QStringLiteral("image-dataset");
    made.parameters.set(QStringLiteral("path"), path);
    made.parameters.set(QStringLiteral("sha256"), QString::fromLatin1(sha256));
    return made;
}

Pipeline ImageDatasetTest::pipeline(const QByteArray &path, const QByteArray &sha256) const
{
    const auto node = [](const char *id, const char *component, const QMap<QString, QVariant> &values = {}) {
        PipelineNode made;
        made.id = QString::fromLatin1(id);
        made.component = QString::fromLatin1(component);
        for (auto value = values.begin(); value != values.end(); ++value)
            made.parameters.set(value.key(), *value);
        return made;
    };
    const auto wire = [](const char *from, const char *to) {
        return PipelineConnection{PortAddress::fromText(QString::fromLatin1(from)),
                                  PortAddress::fromText(QString::fromLatin1(to))};
    };
    Pipeline made;
    made.nodes = {source(path, sha256), node("convert", "convert-to-image-directory"),
                  node("split", "split-image-directory", {{"fraction", 0.75}}),
                  node("model", "basic-network", {{"network", "mlp"}}),
                  node("train", "train-pytorch-model",
                       {{"epochs", 1LL}, {"batch_size", 2LL}, {"device", "cpu"}, {"threads", 1LL}})};
    made.connections = {wire("data.dataset", "convert.dataset"),
                        wire("convert.image_directory", "split.image_directory"),
                        wire("model.untrained_model", "train.untrained_model"),
                        wire("split.image_directory1", "train.training_dataset"),
                        wire("split.image_directory2", "train.validation_dataset")};
    return made;
}

JobRecord ImageDatasetTest::run(const Pipeline &pipeline)
{
    JobQueue queue(*m_workspace, m_registry);
    JobRequest request;
    request.pipeline = pipeline;
    const auto job = queue.submit(request);
    if (!job.ok() || !QTest::qWaitFor([&] { return queue.isIdle(); }, 60000))
        return {};
    return m_workspace->job(*job).value();
}

void ImageDatasetTest::refusedByValidation_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QByteArray>("sha256");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("part");
    const QByteArray good(64, 'a');
    const QString dataset = QLatin1String(errors::InvalidDataset);
    QTest::newRow("no hash") << QByteArray("https://host/set.zip") << QByteArray() << "sha256"
                             << QString::fromLatin1(errors::NullOrEmpty) << "https://host/set.zip";
    QTest::newRow("short hash") << QByteArray("https://host/set.zip") << QByteArray("abc") << "sha256" << dataset
                                << "'abc' is no sha256";
    QTest::newRow("no hex") << QByteArray("/data/set.zip") << QByteArray(64, 'g') << "sha256" << dataset << "ggg";
    QTest::newRow("list") << QByteArray("https://host/list.CSV") << good << "path" << dataset << "a csv list";
    QTest::newRow("IDX") << QByteArray("https://host/train-images-idx3-ubyte.gz") << good << "path" << dataset
                         << "an IDX file";
    QTest::newRow("scheme") << QByteArray("ftp://host/set.zip") << good << "path" << dataset << "http://";
    QTest::newRow("no file") << QByteArray("https://host/") << good << "path" << dataset << "names no file";
}

void ImageDatasetTest::refusedByValidation()
{
    QFETCH(const QByteArray, path);
    QFETCH(const QByteArray, sha256);
    QFETCH(const QString, parameter);
    QFETCH(const QString, name);
    QFETCH(const QString, part);
    const ComponentType *type = m_registry.find(QStringLiteral("image-dataset"));
    const QList<Error> faults = type->validate(type->schema.effective(source(path, sha256).parameters));
    QCOMPARE(faults.size(), 1);
    QCOMPARE(faults.first().name, name);
    QCOMPARE(faults.first().parameter, parameter);
    QVERIFY2(faults.first().sentence().contains(part), qPrintable(faults.first().sentence()));
    QVERIFY(!faults.first().hint.isEmpty());
}

void ImageDatasetTest::hashOfALocalFile()
{
    const fs::path file = root() / "set.tgz";
    writeBytes(file, m_archive);
    Pipeline good = pipeline(bytesFromPath(file), hashOf(m_archive).toUpper());
    good.nodes.resize(1);
    good.connections.clear();
    QCOMPARE(run(good).state, JobState::Completed);
    Pipeline bad = good;
    bad.nodes[0] = source(bytesFromPath(file), hashOf("other"));
    const JobRecord failed = run(bad);
    QCOMPARE(failed.state, JobState::Failed);
    QCOMPARE(failed.error->name, QLatin1String(errors::InvalidDataset));
    for (const QByteArray &hash : {hashOf("other"), hashOf(m_archive)})
        QVERIFY(failed.error->sentence().contains(QString::fromLatin1(hash)));
    bad.nodes[0] = source(bytesFromPath(root()), hashOf("other"));
    const JobRecord folder = run(bad);
    QCOMPARE(folder.error->parameter, QStringLiteral("sha256"));
    QVERIFY(folder.error->sentence().contains(QStringLiteral("is a folder")));
}

QByteArray ImageDatasetTest::keyOf(const QByteArray &path, const QByteArray &sha256) const
{
    Pipeline one;
    one.nodes = {source(path, sha256)};
    const auto made = plan(one, m_registry);
    return made.ok() ? nodeKey((*made)->nodes.first(), {}, {}) : QByteArray();
}

void ImageDatasetTest::whatMakesTheKey()
{
    const QByteArray one(64, 'a'), two(64, 'b');
    const QByteArray key = keyOf("https://host/x/set.zip", one);
    QVERIFY(!key.isEmpty());
    QCOMPARE(keyOf("http://mirror:81/set.zip?download=1", one), key);
    QVERIFY(keyOf("https://host/x/set.zip", two) != key);
    QVERIFY(keyOf("https://host/x/other.zip", one) != key);
    QVERIFY(keyOf("/x/set.zip", one).isEmpty()); // not there
}

void ImageDatasetTest::trainsFromAnAddress()
{
    const QByteArray address = m_server.address("/data/set.tgz"), sha256 = hashOf(m_archive);
    const JobRecord first = run(pipeline(address, sha256));
    QVERIFY2(first.state == JobState::Completed, first.error ? qPrintable(first.error->toString()) : "");
    QCOMPARE(m_server.requests().size(), 1);
    const fs::path file = root() / "ws" / "cache" / "downloads" / sha256.toStdString() / "set.tgz";
    QVERIFY(fs::is_regular_file(file));
    const auto manifest = ImageManifest::read(m_workspace->outputFolder(first.id, "convert", "image_directory"));
    TW_VERIFY(manifest);
    QCOMPARE(manifest->root, file); // the pipeline keeps the address
    QCOMPARE(manifest->categories, (std::vector<std::string>{"ant", "bee"}));
    // From the cache, and what follows is not done again.
    const JobRecord second = run(pipeline(address, sha256));
    QCOMPARE(m_server.requests().size(), 1);
    QCOMPARE(second.nodes.last().state, NodeState::Reused);
    // The cache may be emptied: what is reused still finds its file.
    fs::remove_all(root() / "ws" / "cache");
    const JobRecord third = run(pipeline(address, sha256));
    QVERIFY2(third.state == JobState::Completed, third.error ? qPrintable(third.error->toString()) : "");
    QCOMPARE(m_server.requests().size(), 2);
    QVERIFY(fs::is_regular_file(file));
    QCOMPARE(third.nodes.last().state, NodeState::Reused);
}

void ImageDatasetTest::failsAtTheNode_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QByteArray>("sha256");
    QTest::addColumn<QString>("part");
    QTest::newRow("not found") << QByteArray("/gone.zip") << QByteArray(64, 'a') << "404";
    QTest::newRow("wrong hash") << QByteArray("/data/set.tgz") << QByteArray(64, 'a') << "aaaaaaaa";
    QTest::newRow("no archive") << QByteArray("/page") << hashOf("<html>") << "neither a folder";
}

void ImageDatasetTest::failsAtTheNode()
{
    QFETCH(const QByteArray, path);
    QFETCH(const QByteArray, sha256);
    QFETCH(const QString, part);
    m_server.set("/page", {"<html>"});
    const JobRecord failed = run(pipeline(m_server.address(path), sha256));
    QCOMPARE(failed.state, JobState::Failed);
    QCOMPARE(failed.error->name, QLatin1String(errors::InvalidDataset));
    QCOMPARE(failed.error->nodeId, QStringLiteral("data"));
    QCOMPARE(failed.error->parameter, QStringLiteral("path"));
    QVERIFY2(failed.error->sentence().contains(part), qPrintable(failed.error->sentence()));
}

QTEST_GUILESS_MAIN(ImageDatasetTest)
#include "tst_imagedataset.moc"
