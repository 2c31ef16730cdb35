// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/jobs/fakecomponents.h"
#include "tests/support/testsupport.h"

#include "core/jobs/fileidentity.h"
#include "core/jobs/nodekey.h"
#include "core/jobs/outputfolders.h"
#include "core/jobs/outputrecord.h"
#include "core/metrics/metricstore.h"

#include <fstream>
#include <sys/stat.h>

using namespace tw;
using namespace tw::test;

class TestReuse : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void equalNodesAreReused();
    void forceRunsAgain();
    void whatChangesTheKey_data();
    void whatChangesTheKey();
    void changedFilesChangeTheKey();
    void swappedFilesChangeTheKey();
    void brokenSourceIsNotUsed();
    void damagedOutputsAreMadeAnew_data();
    void damagedOutputsAreMadeAnew();
    void aWholeCopyOfADamagedSourceIsUsed();
    void partsOfATrainingFeedNoLaterJob();
    void recordsOfOutputs();
    void exportTargets_data();
    void exportTargets();
    void curvesComeAlong();
    void deletedSourceRunsAgain();

private:
    static Pipeline pipeline();
    JobRecord run(const Pipeline &what, bool force = false);
    QByteArray keyOf(const Pipeline &what, const char *node);

    std::unique_ptr<Studio> m_studio;
    std::unique_ptr<JobQueue> m_queue;
    Seen m_seen;
};

Pipeline TestReuse::pipeline()
{
    Pipeline made;
    made.nodes = {makeNode("source", "fake-source"), makeNode("step", "fake-step")};
    made.connections = {wire("source.dataset", "step.dataset")};
    return made;
}

void TestReuse::init()
{
    m_studio = std::make_unique<Studio>();
    QVERIFY(m_studio->open());
    m_queue = std::make_unique<JobQueue>(*m_studio->workspace, m_studio->registry);
}

void TestReuse::cleanup()
{
    m_queue.reset();
    m_studio.reset();
}

JobRecord TestReuse::run(const Pipeline &what, bool force)
{
    JobRequest request = requestFor(what);
    request.force = force;
    const auto job = m_queue->submit(request);
    if (!job.ok() || !QTest::qWaitFor([&] { return m_queue->isIdle(); }, 30000))
        return {};
    m_seen = {};
    m_seen.add(m_queue->takeEvents(), *job);
    const auto record = m_studio->workspace->job(*job);
    return record.ok() ? *record : JobRecord();
}

void TestReuse::equalNodesAreReused()
{
    const JobRecord first = run(pipeline());
    const int before = runsOf("source") + runsOf("step");
    const JobRecord second = run(pipeline());
    QCOMPARE(runsOf("source") + runsOf("step"), before);
    QCOMPARE(second.state, JobState::Completed);
    for (const NodeRecord &node : second.nodes) {
        QCOMPARE(node.state, NodeState::Reused);
        QCOMPARE(node.reusedFrom, first.id);
        QVERIFY(!node.key.isEmpty());
    }
    QCOMPARE(m_seen.results.value("source.images").toInt(), 1);
    QCOMPARE(second.nodes[0].results, first.nodes[0].results);
    const fs::path file = m_studio->workspace->outputFolder(second.id, "step", "result") / "deep/value.txt";
    struct stat status = {};
    QCOMPARE(::stat(file.c_str(), &status), 0);
    QCOMPARE(qint64(status.st_nlink), qint64(2));
    TW_VERIFY(m_studio->workspace->deleteJob(first.id));
    QCOMPARE(contentOf(file), QByteArray("1"));
    const JobRecord third = run(pipeline());
    QCOMPARE(third.nodes[1].state, NodeState::Reused);
    QCOMPARE(third.nodes[1].reusedFrom, second.id);
}

void TestReuse::forceRunsAgain()
{
    run(pipeline());
    const int before = runsOf("step");
    const JobRecord again = run(pipeline(), true);
    QCOMPARE(again.nodes[1].state, NodeState::Completed);
    QCOMPARE(runsOf("step"), before + 1);
}

QByteArray TestReuse::keyOf(const Pipeline &what, const char *node)
{
    const auto made = plan(what, m_studio->registry);
    if (!made.ok())
        return {};
    const PreflightOutcome facts = preflight(**made);
    QMap<QString, QByteArray> keys;
    for (const PlanNode &one : (*made)->nodes) {
        QMap<QString, QByteArray> inputs;
        for (auto input = one.inputs.begin(); input != one.inputs.end(); ++input)
            inputs.insert(input.key(), keys.value(input->node));
        keys.insert(one.id, nodeKey(one, facts.replies.value(one.id), inputs));
    }
    return keys.value(QString::fromLatin1(node));
}

void TestReuse::whatChangesTheKey_data()
{
    QTest::addColumn<QString>("node");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QVariant>("value");
    QTest::addColumn<bool>("changes");
    QTest::newRow("own value") << "step"
                               << "count" << QVariant(7) << true;
    QTest::newRow("value of an input") << "source"
                                       << "value" << QVariant(2) << true;
    QTest::newRow("value that keeps the result") << "source"
                                                 << "speed" << QVariant(9) << false;
    QTest::newRow("default written out") << "source"
                                         << "value" << QVariant(1) << false;
    QTest::newRow("fingerprint") << "source"
                                 << "print" << QVariant("abc") << true;
}

void TestReuse::whatChangesTheKey()
{
    QFETCH(QString, node);
    QFETCH(QString, parameter);
    QFETCH(QVariant, value);
    QFETCH(bool, changes);
    Pipeline changed = pipeline();
    changed.find(node)->parameters.set(parameter,
                                       value.typeId() == QMetaType::Int ? QVariant(value.toLongLong()) : value);
    const QByteArray before = keyOf(pipeline(), "step");
    const QByteArray after = keyOf(changed, "step");
    QCOMPARE(before.size(), qsizetype(64));
    QCOMPARE(after.size(), qsizetype(64));
    QCOMPARE(before != after, changes);
}

void TestReuse::changedFilesChangeTheKey()
{
    const fs::path data = pathFromText(m_studio->temporary.path()) / "data";
    fs::create_directories(data / "class");
    std::ofstream(data / "class/a.png") << "1";
    Pipeline what = pipeline();
    what.nodes[0].parameters.set("path", bytesFromPath(data));
    const QByteArray first = keyOf(what, "step");
    QCOMPARE(keyOf(what, "step"), first);
    std::ofstream(data / "class/a.png") << "22";
    const QByteArray second = keyOf(what, "step");
    QVERIFY(second != first);
    fs::rename(data / "class/a.png", data / "class/b.png");
    QVERIFY(keyOf(what, "step") != second);
    what.nodes[0].parameters.set("path", bytesFromPath(data / "missing"));
    QVERIFY(keyOf(what, "source").isEmpty());
    QVERIFY(keyOf(what, "step").isEmpty());
}

/// Pictures that change places: same names, sizes and modification times.
void TestReuse::swappedFilesChangeTheKey()
{
    const fs::path data = pathFromText(m_studio->temporary.path()) / "data";
    fs::create_directories(data / "class");
    const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const char *name : {"a", "b"}) {
        std::ofstream(data / "class" / name) << name;
        fs::last_write_time(data / "class" / name, time);
    }
    Pipeline what = pipeline();
    what.nodes[0].parameters.set("path", bytesFromPath(data));
    what.nodes[0].parameters.set("print", "what the manifest says");
    const QByteArray before = keyOf(what, "step");
    QCOMPARE(keyOf(what, "step"), before);
    fs::rename(data / "class/a", data / "class/c");
    fs::rename(data / "class/b", data / "class/a");
    fs::rename(data / "class/c", data / "class/b");
    const QByteArray swapped = keyOf(what, "step");
    QVERIFY(swapped != before);
    // Written over in place, the times set back.
    std::ofstream(data / "class/a") << "x";
    fs::last_write_time(data / "class/a", time);
    QVERIFY(keyOf(what, "step") != swapped);
    // Links are followed, loops end.
    const QByteArray plain = fileIdentity(data);
    fs::create_directory(data.parent_path() / "other");
    std::ofstream(data.parent_path() / "other/d") << "d";
    fs::create_directory_symlink(data.parent_path() / "other", data / "linked");
    fs::create_directory_symlink(data, data / "loop");
    const QByteArray linked = fileIdentity(data);
    QVERIFY(linked.size() == 64 && linked != plain);
    std::ofstream(data.parent_path() / "other/d") << "dd";
    QVERIFY(fileIdentity(data) != linked);
    StopToken stop;
    stop.cancel = true;
    QVERIFY(fileIdentity(data, &stop).isEmpty());
}

void TestReuse::brokenSourceIsNotUsed()
{
    const JobRecord first = run(pipeline());
    fs::remove_all(m_studio->workspace->outputFolder(first.id, "step", "result"));
    const JobRecord second = run(pipeline());
    QCOMPARE(second.nodes[0].state, NodeState::Reused);
    QCOMPARE(second.nodes[1].state, NodeState::Completed);
}

void TestReuse::damagedOutputsAreMadeAnew_data()
{
    QTest::addColumn<QString>("damage");
    QTest::addColumn<QString>("said");
    for (const auto &[damage, said] : {std::pair("remove", "is missing"), std::pair("truncate", "0 bytes instead of"),
                                       std::pair("change", "written since"), std::pair("add", "not written by the job"),
                                       std::pair("forget", "no readable record")})
        QTest::newRow(damage) << damage << said;
}

void TestReuse::damagedOutputsAreMadeAnew()
{
    QFETCH(QString, damage);
    QFETCH(QString, said);
    const JobRecord first = run(pipeline());
    const fs::path node = m_studio->workspace->nodeFolder(first.id, "source");
    const fs::path file = node / "outputs/dataset/deep/value.txt";
    if (damage == u"remove")
        fs::remove(file);
    else if (damage == u"truncate")
        std::ofstream(file, std::ios::trunc).flush();
    else if (damage == u"change")
        std::ofstream(file) << "7";
    else if (damage == u"add")
        std::ofstream(file.parent_path() / "new.txt") << "7";
    else
        fs::remove(node / "outputs.json");
    const JobRecord second = run(pipeline());
    QCOMPARE(second.state, JobState::Completed);
    QCOMPARE(second.nodes[0].state, NodeState::Completed);
    // Made from the damaged output or from another one: nobody knows.
    QCOMPARE(second.nodes[1].state, NodeState::Completed);
    const QByteArray log = contentOf(m_studio->workspace->nodeFolder(second.id, "source") / "logs/std_log.txt");
    QVERIFY2(log.contains(first.id.toUtf8()) && log.contains(said.toUtf8()), log.constData());
    QCOMPARE(contentOf(m_studio->workspace->outputFolder(second.id, "step", "result") / "deep/value.txt"),
             QByteArray("1"));
    const JobRecord third = run(pipeline());
    QCOMPARE(third.nodes[0].reusedFrom, second.id);
    QCOMPARE(third.nodes[1].reusedFrom, second.id);
}

void TestReuse::aWholeCopyOfADamagedSourceIsUsed()
{
    const JobRecord first = run(pipeline());
    const JobRecord second = run(pipeline(), true);
    fs::remove(m_studio->workspace->outputFolder(second.id, "source", "dataset") / "deep/value.txt");
    const JobRecord third = run(pipeline());
    QCOMPARE(third.nodes[0].state, NodeState::Reused);
    QCOMPARE(third.nodes[0].reusedFrom, first.id);
    const QByteArray log = contentOf(m_studio->workspace->nodeFolder(third.id, "source") / "logs/std_log.txt");
    QVERIFY2(log.contains("Not reused from job " + second.id.toUtf8())
                 && log.contains("Reused from job " + first.id.toUtf8()),
             log.constData());
}

void TestReuse::partsOfATrainingFeedNoLaterJob()
{
    Pipeline what;
    what.nodes = {makeNode("model", "fake-model"), makeNode("train", "fake-train"), makeNode("score", "fake-score")};
    what.nodes[1].parameters.set("patience", 2LL);
    what.connections = {wire("model.untrained_model", "train.untrained_model"),
                        wire("train.trained_model", "score.trained_model")};
    const JobRecord first = run(what);
    QCOMPARE(first.nodes[1].stopped, QStringLiteral("patience"));
    const JobRecord second = run(what);
    QCOMPARE(second.nodes[0].state, NodeState::Reused);
    QCOMPARE(second.nodes[1].state, NodeState::Completed);
    QCOMPARE(second.nodes[2].state, NodeState::Completed);
}

void TestReuse::recordsOfOutputs()
{
    const fs::path node = pathFromText(m_studio->temporary.path()) / "node";
    fs::create_directories(node / "outputs/many");
    for (int i = 0; i <= listedFiles; ++i)
        std::ofstream(node / "outputs/many" / std::to_string(i)) << i;
    std::ofstream(node / "outputs/many/gr\xf6\xdf.txt") << "not UTF-8";
    TW_VERIFY(recordOutputs(node, {"many"}));
    TW_VERIFY(checkOutputs(node, {"many"}));
    QVERIFY(contentOf(node / "outputs.json").size() < 1000);
    fs::remove(node / "outputs/many/7");
    const auto fewer = checkOutputs(node, {"many"});
    QVERIFY(!fewer.ok() && fewer.error().sentence().contains("1001 files instead of 1002"));
    QVERIFY(!fewer.error().hintSentence().isEmpty());
    QVERIFY(!checkOutputs(node, {"none"}).ok());
}

void TestReuse::exportTargets_data()
{
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::addColumn<QString>("said");
    QTest::newRow("apart") << "a"
                           << "b" << QString();
    QTest::newRow("names that begin alike") << "a"
                                            << "ab" << QString();
    QTest::newRow("the same") << "a"
                              << "a"
                              << "meet in";
    QTest::newRow("the same, written otherwise") << "a"
                                                 << "x/../a/"
                                                 << "meet in";
    QTest::newRow("through a link") << "real/a"
                                    << "link/a"
                                    << "meet in";
    QTest::newRow("nested") << "a/b"
                            << "a"
                            << "meet in";
    QTest::newRow("nested deeper") << "a"
                                   << "a/b/c"
                                   << "meet in";
    QTest::newRow("not empty") << "a"
                               << "real"
                               << "not an empty folder";
    QTest::newRow("below a file") << "a"
                                  << "real/file/b"
                                  << "Cannot write";
    QTest::newRow("no real disk") << "a"
                                  << "/proc/trainwright"
                                  << "Cannot write";
}

void TestReuse::exportTargets()
{
    QFETCH(QString, first);
    QFETCH(QString, second);
    QFETCH(QString, said);
    const fs::path base = pathFromText(m_studio->temporary.path()) / "exports";
    fs::create_directories(base / "real");
    std::ofstream(base / "real/file") << "1";
    fs::create_directory_symlink("real", base / "link");
    const auto checked =
        checkExportTargets({{"n.one", base / first.toStdString()}, {"n.two", base / second.toStdString()}});
    QCOMPARE(checked.ok(), said.isEmpty());
    if (checked.ok())
        return;
    QVERIFY2(checked.error().sentence().contains(said), qPrintable(checked.error().sentence()));
    QVERIFY(!checked.error().hintSentence().isEmpty());
    for (const auto &entry : fs::directory_iterator(base))
        QVERIFY(entry.path().filename().string().rfind(".trainwright", 0) != 0);
}

void TestReuse::curvesComeAlong()
{
    Pipeline what;
    what.nodes = {makeNode("model", "fake-model"), makeNode("train", "fake-train")};
    what.connections = {wire("model.untrained_model", "train.untrained_model")};
    const JobRecord first = run(what);
    QCOMPARE(first.nodes[1].state, NodeState::Completed);
    what.nodes[1].id = "again";
    what.connections = {wire("model.untrained_model", "again.untrained_model")};
    const JobRecord second = run(what);
    QCOMPARE(second.nodes[1].state, NodeState::Reused);
    MetricStore store;
    store.readFile(bytesFromPath(m_studio->workspace->nodeFolder(second.id, "again") / "metrics.jsonl"), 0);
    const MetricSeries *loss = store.find({"again", "train_loss", 0});
    QVERIFY(loss);
    QCOMPARE(loss->size(), size_t(5));
    const auto series = m_studio->workspace->series(second.id);
    TW_VERIFY(series);
    QCOMPARE(series->size(), qsizetype(2));
    const SeriesSummary &top1 = series->at(1);
    QCOMPARE(top1.node, QStringLiteral("again"));
    QCOMPARE(top1.best, 0.9);
    QCOMPARE(top1.bestStep, qint64(3));
    QCOMPARE(top1.last, 0.5);
}

void TestReuse::deletedSourceRunsAgain()
{
    const JobRecord first = run(pipeline());
    TW_VERIFY(m_studio->workspace->deleteJob(first.id));
    const JobRecord second = run(pipeline());
    QCOMPARE(second.nodes[0].state, NodeState::Completed);
    QCOMPARE(second.nodes[1].state, NodeState::Completed);
}

QTEST_GUILESS_MAIN(TestReuse)
#include "tst_reuse.moc"
