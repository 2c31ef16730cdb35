// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/jobs/fakecomponents.h"
#include "tests/support/testsupport.h"

#include "core/metrics/metricstore.h"

#include <QProcess>

using namespace tw;
using namespace tw::test;

/// What a SIGKILL in the middle of a training leaves behind.
class TestKilledJob : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void leavesAWorkspaceThatOpens();
};

void TestKilledJob::leavesAWorkspaceThatOpens()
{
    Studio studio;
    QProcess program;
    program.start(QString::fromStdString((programFolder() / "tst_slowjob").string()),
                  {QString::fromStdString(studio.folder().string())});
    QTRY_COMPARE_WITH_TIMEOUT(program.peek(1000).count('\n'), qsizetype(2), 20000);
    const QString job = QString::fromLatin1(program.readLine()).trimmed();
    const QString queued = QString::fromLatin1(program.readLine()).trimmed();
    // Another program shares the workspace meanwhile.
    QVERIFY(studio.open());
    const fs::path node = studio.workspace->nodeFolder(job, "train");
    const QByteArray metrics = bytesFromPath(node / "metrics.jsonl");
    MetricStore before;
    qint64 offset = 0;
    QTRY_VERIFY_WITH_TIMEOUT((offset = before.readFile(metrics, offset)) > 4000, 20000);
    QCOMPARE(studio.workspace->job(job)->state, JobState::Running);
    QCOMPARE(studio.workspace->job(queued)->state, JobState::Queued);
    QVERIFY(!studio.workspace->deleteJob(job).ok());
    program.kill();
    QVERIFY(program.waitForFinished());

    QVERIFY(studio.open());
    const auto record = studio.workspace->job(job);
    TW_VERIFY(record);
    QCOMPARE(record->state, JobState::Interrupted);
    QCOMPARE(record->nodes[0].state, NodeState::Completed);
    QCOMPARE(record->nodes[1].state, NodeState::Interrupted);
    QCOMPARE(studio.workspace->job(queued)->state, JobState::Interrupted);
    QCOMPARE(outputNames(*studio.workspace, job, "model"), QStringList{"untrained_model"});
    QVERIFY(outputNames(*studio.workspace, job, "train").isEmpty());

    MetricStore after;
    after.readFile(metrics, 0);
    QCOMPARE(after.skippedLines(), qint64(0));
    const MetricSeries *loss = after.find({"train", "train_loss", 0});
    QVERIFY(loss && loss->size() >= before.find({"train", "train_loss", 0})->size());
    for (size_t i = 0; i < loss->size(); ++i)
        QCOMPARE(loss->steps[i], qint64(i) + 1);
    const QByteArray log = contentOf(node / "logs/70_driver_log_0.txt");
    QVERIFY(log.startsWith("Epoch: 001\nEpoch: 002\n"));
    QVERIFY(isThere(studio.workspace->jobFolder(job) / "pipeline.json"));
    QVERIFY(isThere(studio.workspace->jobFolder(queued) / "pipeline.json"));
    TW_VERIFY(studio.workspace->deleteJob(job));

    // What was whole is a source for reuse; what was cut off runs again.
    JobQueue queue(*studio.workspace, studio.registry);
    Pipeline pipeline;
    pipeline.nodes = {makeNode("model", "fake-model")};
    const auto next = queue.submit(requestFor(pipeline));
    TW_VERIFY(next);
    QTRY_VERIFY(queue.isIdle());
    QCOMPARE(studio.workspace->job(*next)->state, JobState::Completed);
}

QTEST_GUILESS_MAIN(TestKilledJob)
#include "tst_killedjob.moc"
