// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/jobs/fakecomponents.h"
#include "tests/support/testsupport.h"

#include "core/base/json.h"
#include "core/jobs/environment.h"
#include "core/metrics/metricstore.h"
#include "core/pipeline/pipelinefile.h"

#include <QRegularExpression>
#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlQuery>

#include <sys/stat.h>

using namespace tw;
using namespace tw::test;

class TestJobQueue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void completes();
    void writesItsFiles();
    void drawsSeeds();
    void refusesBadRequests();
    void failingBranchLeavesTheOther();
    void exceptionsBecomeErrors();
    void preflightErrorsComeTogether();
    void fullDiskFailsTheNode();
    void cancelRemovesHalfOutputs();
    void cancelsQueuedJobs();
    void stopAndKeepGoesOn();
    void interruptKeepsTrainingAndExports();
    void interruptCancelsOtherNodes();
    void runsInOrder();
    void destructorCancels();
    void exportsCopies();
    void refusesUsedExportTarget();
    void runsUpToANode();
    void viewDropsButFilesKeepAll();
    void aHeldStoreCostsNoTraining();

private:
    static Pipeline chain(const QString &mode, int count = 0);
    static Pipeline training(int steps);
    QString submit(const JobRequest &request);
    JobRecord finish(const QString &job);
    bool waitFor(const QString &node, const char *state);

    std::unique_ptr<Studio> m_studio;
    std::unique_ptr<JobQueue> m_queue;
    Seen m_seen;
};

Pipeline TestJobQueue::chain(const QString &mode, int count)
{
    Pipeline pipeline;
    pipeline.name = QStringLiteral("chain");
    pipeline.nodes = {makeNode("source", "fake-source"),
                      makeNode("step", "fake-step", {{"mode", mode}, {"count", qlonglong(count)}}),
                      makeNode("last", "fake-step"), makeNode("other", "fake-step")};
    pipeline.connections = {wire("source.dataset", "step.dataset"), wire("step.result", "last.dataset"),
                            wire("source.dataset", "other.dataset")};
    return pipeline;
}

Pipeline TestJobQueue::training(int steps)
{
    Pipeline pipeline;
    pipeline.nodes = {makeNode("model", "fake-model"), makeNode("train", "fake-train", {{"steps", qlonglong(steps)}}),
                      makeNode("score", "fake-score")};
    pipeline.connections = {wire("model.untrained_model", "train.untrained_model"),
                            wire("train.trained_model", "score.trained_model")};
    return pipeline;
}

void TestJobQueue::init()
{
    m_seen = {};
    m_studio = std::make_unique<Studio>();
    QVERIFY(m_studio->open());
    m_queue = std::make_unique<JobQueue>(*m_studio->workspace, m_studio->registry);
}

void TestJobQueue::cleanup()
{
    m_queue.reset();
    m_studio.reset();
}

QString TestJobQueue::submit(const JobRequest &request)
{
    const auto job = m_queue->submit(request);
    if (!job.ok())
        qWarning("%s", qPrintable(job.error().toString()));
    return job.ok() ? *job : QString();
}

JobRecord TestJobQueue::finish(const QString &job)
{
    [&] { QTRY_VERIFY_WITH_TIMEOUT(m_queue->runningJob() != job && !m_queue->queuedJobs().contains(job), 30000); }();
    m_seen.add(m_queue->takeEvents(), job);
    const auto record = m_studio->workspace->job(job);
    return record.ok() ? *record : JobRecord();
}

/// Reads events until the node was seen in that state and made progress.
bool TestJobQueue::waitFor(const QString &node, const char *state)
{
    return QTest::qWaitFor(
        [&] {
            m_seen.add(m_queue->takeEvents(), m_queue->runningJob());
            return m_seen.nodeStates[node].contains(QString::fromLatin1(state));
        },
        30000);
}

void TestJobQueue::completes()
{
    QSignalSpy finished(m_queue.get(), &JobQueue::jobFinished);
    QSignalSpy ready(m_queue.get(), &JobQueue::eventsReady);
    const QString job = submit(requestFor(chain("ok")));
    const JobRecord record = finish(job);
    QCOMPARE(m_seen.states, (QStringList{"Queued", "Preparing", "Running", "Finalizing", "Completed"}));
    for (const char *node : {"source", "step", "last", "other"})
        QCOMPARE(m_seen.nodeStates[node], (QStringList{"Queued", "Running", "Completed"}));
    QCOMPARE(record.state, JobState::Completed);
    QCOMPARE(record.experiment, QStringLiteral("tests"));
    QCOMPARE(record.name, QStringLiteral("chain"));
    QCOMPARE(record.tags.value("kind"), QStringLiteral("fake"));
    QCOMPARE(record.nodes.size(), 4);
    QVERIFY(record.startedMs >= record.createdMs && record.finishedMs >= record.startedMs);
    QCOMPARE(record.nodes.first().results.value("images").toInt(), 1);
    QCOMPARE(m_seen.results.value("source.images").toInt(), 1);
    QCOMPARE(contentOf(m_studio->workspace->outputFolder(job, "last", "result") / "deep/value.txt"), QByteArray("1"));
    QCOMPARE(outputNames(*m_studio->workspace, job, "step"), QStringList{"result"});
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(finished.first().at(0).toString(), job);
    QVERIFY(ready.size() >= 1);
    QVERIFY(m_queue->isIdle());
}

void TestJobQueue::writesItsFiles()
{
    setEnvironmentProvider([] { return QJsonObject{{"libtorch", "2.11.0"}}; });
    const QString job = submit(requestFor(chain("warn")));
    finish(job);
    setEnvironmentProvider({});
    const fs::path folder = m_studio->workspace->jobFolder(job);
    const auto environment = readJsonObject(folder / "environment.json", errors::Library);
    TW_VERIFY(environment);
    for (const char *key : {"program", "qt", "libtorch", "opencv", "system", "cpu", "cores", "memory_mb"})
        QVERIFY2(environment->contains(key), key);
    const auto loaded = readPipeline(contentOf(folder / "pipeline.json"), m_studio->registry);
    TW_VERIFY(loaded);
    QCOMPARE(loaded->pipeline.nodes.size(), 4);
    const QByteArray log = contentOf(m_studio->workspace->nodeFolder(job, "step") / "logs/std_log.txt");
    const QRegularExpression form("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z WARNING look out\n");
    QVERIFY2(form.match(QString::fromUtf8(log)).hasMatch(), log.constData());
}

void TestJobQueue::drawsSeeds()
{
    Pipeline pipeline = chain("ok");
    pipeline.nodes[0].parameters.set("seed", QVariant());
    const QString first = submit(requestFor(pipeline));
    const QString second = submit(requestFor(pipeline));
    finish(first);
    QCOMPARE(finish(second).nodes.first().state, NodeState::Completed);
    const fs::path file = m_studio->workspace->jobFolder(first) / "pipeline.json";
    const auto loaded = readPipeline(contentOf(file), m_studio->registry);
    TW_VERIFY(loaded);
    const QVariant seed = loaded->pipeline.nodes[0].parameters.value("seed");
    QVERIFY(seed.isValid());
    const QByteArray log = contentOf(m_studio->workspace->nodeFolder(first, "source") / "logs/std_log.txt");
    QVERIFY(log.contains("seed was left empty: " + seed.toByteArray() + " was drawn"));
}

void TestJobQueue::refusesBadRequests()
{
    JobRequest request = requestFor(chain("ok"));
    request.exports.insert("step.nothing", m_studio->folder() / "x");
    const auto wrongPort = m_queue->submit(request);
    QVERIFY(!wrongPort.ok());
    QCOMPARE(wrongPort.error().name, QString(errors::InvalidPipeline));
    QVERIFY(wrongPort.error().sentence().contains("step.nothing"));
    QVERIFY(!m_queue->submit(JobRequest()).ok());
    const auto jobs = m_studio->workspace->jobs();
    TW_VERIFY(jobs);
    QVERIFY(jobs->isEmpty());
}

void TestJobQueue::failingBranchLeavesTheOther()
{
    const QString job = submit(requestFor(chain("fail")));
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Failed);
    QCOMPARE(m_seen.nodeStates["step"].last(), QStringLiteral("Failed"));
    QCOMPARE(m_seen.nodeStates["last"].last(), QStringLiteral("Skipped"));
    QCOMPARE(m_seen.nodeStates["other"].last(), QStringLiteral("Completed"));
    QVERIFY(record.error.has_value());
    QCOMPARE(record.error->name, QString(errors::InvalidDataset));
    QCOMPARE(record.error->nodeId, QStringLiteral("step"));
    QCOMPARE(record.error->args, QStringList{"x"});
    QVERIFY(outputNames(*m_studio->workspace, job, "step").isEmpty());
    for (const fs::path &folder : {m_studio->workspace->jobFolder(job), m_studio->workspace->nodeFolder(job, "step")}) {
        const auto info = readJsonObject(folder / "error_info.json", errors::Library);
        TW_VERIFY(info);
        QCOMPARE(info->value("message").toString(), QStringLiteral("The folder x is bad."));
        QCOMPARE(info->value("hint").toString(), QStringLiteral("Fix it."));
        QCOMPARE(info->value("node").toString(), QStringLiteral("step"));
    }
    const QByteArray log = contentOf(m_studio->workspace->nodeFolder(job, "step") / "logs/std_log.txt");
    QVERIFY(log.contains("ERROR InvalidDatasetError: The folder x is bad."));
}

void TestJobQueue::exceptionsBecomeErrors()
{
    const JobRecord record = finish(submit(requestFor(chain("throw"))));
    QCOMPARE(record.state, JobState::Failed);
    QCOMPARE(record.error->name, QString(errors::Library));
    QVERIFY(record.error->sentence().contains("out of luck"));
    QVERIFY(!record.error->hintSentence().isEmpty());
    const JobRecord memory = finish(submit(requestFor(chain("memory"))));
    QCOMPARE(memory.error->name, QString(errors::ModuleOutOfMemory));
    QVERIFY(memory.error->hintSentence().contains("smaller batch"));
}

void TestJobQueue::preflightErrorsComeTogether()
{
    Pipeline pipeline = chain("refuse");
    pipeline.find("other")->parameters.set("mode", "refuse");
    const int before = runsOf("source");
    const JobRecord record = finish(submit(requestFor(pipeline)));
    QCOMPARE(m_seen.errors.size(), 2);
    QCOMPARE(m_seen.errors[0].nodeId, QStringLiteral("step"));
    QCOMPARE(m_seen.errors[1].nodeId, QStringLiteral("other"));
    QCOMPARE(record.state, JobState::Failed);
    QCOMPARE(record.error->nodeId, QStringLiteral("step"));
    QCOMPARE(runsOf("source"), before);
    QVERIFY(!m_seen.states.contains("Running"));
    QCOMPARE(m_seen.nodeStates["source"], QStringList{"Skipped"});
}

void TestJobQueue::fullDiskFailsTheNode()
{
    if (!isThere("/dev/full"))
        QSKIP("no /dev/full");
    const JobRecord record = finish(submit(requestFor(chain("full_disk"))));
    QCOMPARE(record.state, JobState::Failed);
    QCOMPARE(record.error->name, QString(errors::FailedToWriteOutputs));
    QVERIFY(record.error->sentence().contains("metrics.jsonl"));
    QCOMPARE(m_seen.nodeStates["step"].last(), QStringLiteral("Failed"));
    QCOMPARE(m_seen.nodeStates["other"].last(), QStringLiteral("Completed"));
}

void TestJobQueue::cancelRemovesHalfOutputs()
{
    const QString job = submit(requestFor(chain("wait")));
    QVERIFY(waitFor("step", "Running"));
    m_queue->cancel(job);
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Canceled);
    QVERIFY(m_seen.states.contains("CancelRequested"));
    QCOMPARE(m_seen.states.last(), QStringLiteral("Canceled"));
    QCOMPARE(record.nodes[0].state, NodeState::Completed);
    QCOMPARE(record.nodes[1].state, NodeState::Canceled);
    QCOMPARE(m_seen.nodeStates["last"].last(), QStringLiteral("Canceled"));
    QVERIFY(outputNames(*m_studio->workspace, job, "step").isEmpty());
    QVERIFY(!record.error.has_value());
}

void TestJobQueue::cancelsQueuedJobs()
{
    const QString running = submit(requestFor(chain("wait")));
    const QString queued = submit(requestFor(chain("ok")));
    QVERIFY(waitFor("step", "Running"));
    QCOMPARE(m_queue->queuedJobs(), QStringList{queued});
    QCOMPARE(m_studio->workspace->job(queued)->state, JobState::Queued);
    m_queue->cancel(queued);
    QCOMPARE(m_studio->workspace->job(queued)->state, JobState::Canceled);
    QVERIFY(m_queue->queuedJobs().isEmpty());
    QVERIFY(!m_studio->workspace->deleteJob(running).ok());
    m_queue->cancel(running);
    finish(running);
    TW_VERIFY(m_studio->workspace->deleteJob(running));
    QVERIFY(!isThere(m_studio->workspace->jobFolder(running)));
}

void TestJobQueue::stopAndKeepGoesOn()
{
    const QString job = submit(requestFor(training(100000)));
    QVERIFY(waitFor("train", "Running"));
    m_queue->stopAndKeep(job);
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Completed);
    QCOMPARE(record.nodes[1].state, NodeState::Completed);
    QCOMPARE(record.nodes[1].stopped, QStringLiteral("user"));
    QCOMPARE(record.nodes[2].state, NodeState::Completed);
    QCOMPARE(contentOf(m_studio->workspace->outputFolder(job, "score", "table") / "scored.csv"), QByteArray("whole"));
    QVERIFY(m_studio->workspace->reusableNodes(record.nodes[1].key).isEmpty());
    QCOMPARE(record.nodes[2].key, QString()); // nor what was made of it
    QVERIFY(!m_studio->workspace->reusableNodes(record.nodes[0].key).isEmpty());
}

void TestJobQueue::interruptKeepsTrainingAndExports()
{
    JobRequest request = requestFor(training(100000));
    const fs::path model = m_studio->folder() / "exported model";
    const fs::path table = m_studio->folder() / "exported table";
    request.exports = {{"train.trained_model", model}, {"score.table", table}};
    const QString job = submit(request);
    QVERIFY(waitFor("train", "Running"));
    m_queue->interrupt(job);
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Canceled);
    QCOMPARE(record.nodes[1].state, NodeState::Completed);
    QCOMPARE(record.nodes[1].stopped, QStringLiteral("user"));
    QCOMPARE(record.nodes[2].state, NodeState::Canceled);
    QCOMPARE(contentOf(model / "weights.txt"), QByteArray("whole"));
    QVERIFY(!isThere(table));
}

void TestJobQueue::interruptCancelsOtherNodes()
{
    const QString job = submit(requestFor(chain("wait")));
    QVERIFY(waitFor("step", "Running"));
    m_queue->interrupt(job);
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Canceled);
    QCOMPARE(record.nodes[1].state, NodeState::Canceled);
}

void TestJobQueue::runsInOrder()
{
    QSignalSpy finished(m_queue.get(), &JobQueue::jobFinished);
    QStringList jobs;
    for (int i = 0; i < 5; ++i)
        jobs.append(submit(requestFor(chain("ok"))));
    QCOMPARE(QSet<QString>(jobs.begin(), jobs.end()).size(), 5);
    QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 5, 30000);
    for (int i = 0; i < 5; ++i)
        QCOMPARE(finished[i].at(0).toString(), jobs[i]);
}

void TestJobQueue::destructorCancels()
{
    const QString running = submit(requestFor(chain("wait")));
    const QString queued = submit(requestFor(chain("ok")));
    QVERIFY(waitFor("step", "Running"));
    m_queue.reset();
    QCOMPARE(m_studio->workspace->job(running)->state, JobState::Canceled);
    QCOMPARE(m_studio->workspace->job(queued)->state, JobState::Canceled);
}

void TestJobQueue::exportsCopies()
{
    JobRequest request = requestFor(chain("ok"));
    const fs::path target = m_studio->folder() / "out";
    fs::create_directory(target);
    request.exports.insert("step.result", target);
    const QString job = submit(request);
    QCOMPARE(finish(job).state, JobState::Completed);
    QCOMPARE(contentOf(target / "deep/value.txt"), QByteArray("1"));
    struct stat status = {};
    QCOMPARE(::stat((target / "deep/value.txt").c_str(), &status), 0);
    QCOMPARE(qint64(status.st_nlink), qint64(1));
}

void TestJobQueue::refusesUsedExportTarget()
{
    JobRequest request = requestFor(chain("ok"));
    const fs::path target = m_studio->folder() / "jobs";
    request.exports.insert("step.result", m_studio->folder());
    const int before = runsOf("source");
    const JobRecord record = finish(submit(request));
    QCOMPARE(record.state, JobState::Failed);
    QCOMPARE(record.error->name, QString(errors::FailedToWriteOutputs));
    QVERIFY(!record.error->hint.isEmpty());
    QCOMPARE(runsOf("source"), before);
    QVERIFY(isThere(target));
}

void TestJobQueue::runsUpToANode()
{
    JobRequest request = requestFor(chain("ok"));
    request.upTo = QStringList{"step"};
    const JobRecord record = finish(submit(request));
    QCOMPARE(record.nodes.size(), 2);
    QCOMPARE(record.state, JobState::Completed);
}

void TestJobQueue::viewDropsButFilesKeepAll()
{
    constexpr int count = 100000;
    const QString job = submit(requestFor(chain("lines", count)));
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Completed);
    QVERIFY(m_seen.points > 0 && m_seen.points < count);
    QVERIFY(m_queue->droppedEvents() > 0);
    QCOMPARE(m_seen.nodeStates["step"].last(), QStringLiteral("Completed"));
    const fs::path folder = m_studio->workspace->nodeFolder(job, "step");
    const QList<QByteArray> lines = contentOf(folder / "metrics.jsonl").split('\n');
    QCOMPARE(lines.size(), count + 1);
    for (int i = 0; i < count; ++i) {
        const auto point = MetricPoint::fromJsonLine(lines[i]);
        QVERIFY(point.ok() && point->step == i + 1 && point->node == u"step");
    }
    const QList<QByteArray> log = contentOf(folder / "logs/70_driver_log_0.txt").split('\n');
    QCOMPARE(log.size(), count + 1);
    for (int i = 0; i < count; ++i)
        QCOMPARE(log[i], "line " + QByteArray::number(i + 1));
    const auto series = m_studio->workspace->series(job);
    TW_VERIFY(series);
    QCOMPARE(series->size(), 1);
    QCOMPARE(series->first().lastStep, qint64(count));
    QCOMPARE(series->first().best, 1.0 / count);
}

/// Another program keeps the store to itself beyond the end of the training.
void TestJobQueue::aHeldStoreCostsNoTraining()
{
    const QString job = submit(requestFor(training(20)));
    QVERIFY(waitFor("train", "Running"));
    {
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "holder");
        other.setDatabaseName(QString::fromStdString((m_studio->folder() / "studio.db").string()));
        QVERIFY(other.open());
        QVERIFY(QSqlQuery(other).exec("BEGIN IMMEDIATE"));
        QTest::qWait(6000); // longer than a write waits
        QVERIFY(QSqlQuery(other).exec("ROLLBACK"));
    }
    QSqlDatabase::removeDatabase("holder");
    const JobRecord record = finish(job);
    QCOMPARE(record.state, JobState::Completed);
    QVERIFY(!record.error.has_value());
    for (const NodeRecord &node : record.nodes) {
        QCOMPARE(node.state, NodeState::Completed);
        QCOMPARE(node.outputs.size(), 1);
    }
}

QTEST_GUILESS_MAIN(TestJobQueue)
#include "tst_jobqueue.moc"
