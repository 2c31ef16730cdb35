// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/jobs/database.h"
#include "core/jobs/runlock.h"
#include "core/jobs/workspace.h"
#include "tests/support/testsupport.h"

#include "core/base/ids.h"

#include <QJsonArray>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tw;

class TestWorkspace : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void statesHaveIds();
    void recordsRoundTrip();
    void newestFirst();
    void finalStatesStay();
    void seriesKeepWhatIsNotFinite();
    void unknownIds();
    void lockDecidesInterrupted();
    void reusableNodes();
    void deletesJobs();
    void tidiesAfterAKill();
    void manyThreadsWrite();
    void refusesAFile();
    void refusesANewerStore();
    void refusesADamagedStore();
    void refusesALockedStore();
    void refusesAReadOnlyFolder();
    void storeIsWalWithAVersion();
    void folderThatIsNotUtf8();
    void fullDiskLeavesNothingHalf();

private:
    JobRecord sample(const QString &id, JobState state = JobState::Queued) const;
    fs::path folder() const { return pathFromText(m_temporary->path()) / "ws"; }
    void onStore(const QStringList &statements, QVariant *answer = nullptr);
    RunLock take(const QString &job);

    std::unique_ptr<QTemporaryDir> m_temporary;
    std::unique_ptr<Workspace> m_workspace;
};

void TestWorkspace::init()
{
    m_workspace.reset();
    m_temporary = std::make_unique<QTemporaryDir>();
    auto opened = Workspace::open(folder());
    TW_VERIFY(opened);
    m_workspace = std::move(*opened);
}

JobRecord TestWorkspace::sample(const QString &id, JobState state) const
{
    JobRecord job;
    job.id = id;
    job.experiment = QString::fromUtf8("fl\xc3\xb6wers");
    job.name = "it's";
    job.tags = {{"a", "1"}, {"b", {}}};
    job.state = state;
    job.createdMs = 1000;
    NodeRecord node;
    node.id = "train";
    node.component = "train-pytorch-model";
    NodeRecord data;
    data.id = "data";
    data.component = "image-dataset";
    job.nodes = {node, data};
    return job;
}

/// Statements on a connection of its own, as another program would.
void TestWorkspace::onStore(const QStringList &statements, QVariant *answer)
{
    {
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "other");
        other.setDatabaseName(QString::fromStdString((folder() / "studio.db").string()));
        QVERIFY(other.open());
        for (const QString &statement : statements) {
            QSqlQuery query(other);
            QVERIFY2(query.exec(statement), qPrintable(query.lastError().text()));
            if (answer && query.next())
                *answer = query.value(0);
        }
    }
    QSqlDatabase::removeDatabase("other");
}

RunLock TestWorkspace::take(const QString &job)
{
    fs::create_directories(m_workspace->jobFolder(job));
    auto lock = RunLock::acquire(m_workspace->lockFile(job));
    return lock.ok() ? std::move(*lock) : RunLock();
}

void TestWorkspace::statesHaveIds()
{
    for (int i = 0; i <= int(JobState::Interrupted); ++i)
        QCOMPARE(jobStateFromId(jobStateId(JobState(i))), JobState(i));
    for (int i = 0; i <= int(NodeState::Skipped); ++i)
        QCOMPARE(nodeStateFromId(nodeStateId(NodeState(i))), NodeState(i));
    QCOMPARE(jobStateId(JobState::CancelRequested), QStringLiteral("CancelRequested"));
    QVERIFY(isFinal(JobState::Interrupted) && !isFinal(JobState::CancelRequested) && !isFinal(JobState::Finalizing));
    QVERIFY(isFinal(NodeState::Reused) && isFinal(NodeState::Skipped) && !isFinal(NodeState::Queued));
}

void TestWorkspace::recordsRoundTrip()
{
    const RunLock lock = take("j1");
    TW_VERIFY(m_workspace->insertJob(sample("j1")));
    TW_VERIFY(m_workspace->setJobState("j1", JobState::Preparing));
    NodeRecord node = sample("j1").nodes[0];
    node.state = NodeState::Failed;
    node.startedMs = 5;
    node.finishedMs = 9;
    node.stopped = "user";
    node.reusedFrom = "j0";
    node.key = "abc";
    node.outputs = QStringList{"trained_model"};
    node.results = {{"best_val_top1", 0.5}, {"classes", QJsonArray{"a", "b"}}};
    node.error = makeError(errors::NotInRangeValue, "%1 is bad", {"%1"}, "choose %1");
    node.error->nodeId = "train";
    node.error->parameter = "epochs";
    TW_VERIFY(m_workspace->updateNode("j1", node));
    TW_VERIFY(m_workspace->setJobError("j1", *node.error));
    const auto job = m_workspace->job("j1");
    TW_VERIFY(job);
    QCOMPARE(job->experiment, QString::fromUtf8("fl\xc3\xb6wers"));
    QCOMPARE(job->name, QStringLiteral("it's"));
    QCOMPARE(job->tags.keys(), (QStringList{"a", "b"}));
    QCOMPARE(job->state, JobState::Preparing);
    QVERIFY(job->startedMs > 0 && job->finishedMs == 0);
    QCOMPARE(*job->error, *node.error);
    QCOMPARE(job->nodes.size(), qsizetype(2));
    const NodeRecord &back = job->nodes[0];
    QCOMPARE(back.state, NodeState::Failed);
    QCOMPARE(back.startedMs, qint64(5));
    QCOMPARE(back.finishedMs, qint64(9));
    QCOMPARE(back.stopped, node.stopped);
    QCOMPARE(back.reusedFrom, node.reusedFrom);
    QCOMPARE(back.key, node.key);
    QCOMPARE(back.outputs, node.outputs);
    QCOMPARE(back.results, node.results);
    QCOMPARE(*back.error, *node.error);
    QCOMPARE(job->nodes[1].id, QStringLiteral("data"));
    QVERIFY(!job->nodes[1].error);
}

void TestWorkspace::newestFirst()
{
    for (int i = 0; i < 5; ++i) {
        JobRecord job = sample(QStringLiteral("j%1").arg(i), JobState::Completed);
        job.createdMs = i * 37 % 5;
        TW_VERIFY(m_workspace->insertJob(job));
    }
    const auto jobs = m_workspace->jobs();
    TW_VERIFY(jobs);
    QCOMPARE(jobs->size(), qsizetype(5));
    for (int i = 1; i < 5; ++i)
        QVERIFY(jobs->at(i - 1).createdMs > jobs->at(i).createdMs);
    for (const JobRecord &job : *jobs)
        QCOMPARE(job.nodes.size(), qsizetype(2));
    QVERIFY(!m_workspace->insertJob(sample("j1")).ok());
}

void TestWorkspace::finalStatesStay()
{
    TW_VERIFY(m_workspace->insertJob(sample("j1")));
    TW_VERIFY(m_workspace->setJobState("j1", JobState::Failed));
    TW_VERIFY(m_workspace->setJobState("j1", JobState::CancelRequested));
    const auto job = m_workspace->job("j1");
    QCOMPARE(job->state, JobState::Failed);
    QVERIFY(job->finishedMs > 0);
}

void TestWorkspace::seriesKeepWhatIsNotFinite()
{
    const double infinity = std::numeric_limits<double>::infinity();
    TW_VERIFY(m_workspace->insertJob(sample("j1")));
    TW_VERIFY(m_workspace->updateSeries(
        "j1", {{"train", "a", 0, std::nan(""), infinity, 7, 3}, {"train", "b", 1, -infinity, 0.25, 8, 4}}));
    TW_VERIFY(m_workspace->updateSeries("j1", {{"train", "b", 1, 0.5, 0.125, 9, 9}}));
    const auto series = m_workspace->series("j1");
    TW_VERIFY(series);
    QCOMPARE(series->size(), qsizetype(2));
    QVERIFY(std::isnan(series->at(0).last));
    QCOMPARE(series->at(0).best, infinity);
    QCOMPARE(series->at(0).lastStep, qint64(7));
    QCOMPARE(series->at(0).bestStep, qint64(3));
    QCOMPARE(series->at(1).last, 0.5);
    QCOMPARE(series->at(1).rank, 1);
    QVariant nulls;
    onStore({"SELECT count(*) FROM series WHERE last IS NULL AND last_kind = 1"}, &nulls);
    QCOMPARE(nulls.toInt(), 1);
}

void TestWorkspace::unknownIds()
{
    const auto job = m_workspace->job("nope");
    QVERIFY(!job.ok());
    QCOMPARE(job.error().name, QString(errors::InvalidWorkspace));
    QVERIFY(job.error().sentence().contains("nope"));
    QVERIFY(!m_workspace->deleteJob("nope").ok());
    TW_VERIFY(m_workspace->insertJob(sample("j1")));
    NodeRecord node;
    node.id = "ghost";
    QVERIFY(!m_workspace->updateNode("j1", node).ok());
}

void TestWorkspace::lockDecidesInterrupted()
{
    JobRecord running = sample("j1", JobState::Running);
    running.nodes[0].state = NodeState::Running;
    {
        const RunLock lock = take("j1");
        TW_VERIFY(m_workspace->insertJob(running));
        QCOMPARE(m_workspace->job("j1")->state, JobState::Running);
        QCOMPARE(m_workspace->jobs()->first().nodes[0].state, NodeState::Running);
        QVERIFY(!RunLock::acquire(m_workspace->lockFile("j1")).ok());
    }
    QCOMPARE(m_workspace->job("j1")->state, JobState::Interrupted);
    const auto jobs = m_workspace->jobs();
    QCOMPARE(jobs->first().state, JobState::Interrupted);
    QCOMPARE(jobs->first().nodes[0].state, NodeState::Interrupted);
    QCOMPARE(jobs->first().nodes[1].state, NodeState::NotStarted);
}

void TestWorkspace::reusableNodes()
{
    JobRecord job = sample("j1", JobState::Completed);
    job.nodes[0].key = "k";
    job.nodes[0].state = NodeState::Completed;
    job.nodes[0].outputs = QStringList{"out"};
    TW_VERIFY(m_workspace->insertJob(job));
    QVERIFY(m_workspace->reusableNodes("k").isEmpty()); // the folder is not there
    fs::create_directories(m_workspace->outputFolder("j1", "train", "out"));
    const std::pair<QString, QString> expected("j1", "train");
    QCOMPARE(m_workspace->reusableNodes("k").value(0), expected);
    QVERIFY(m_workspace->reusableNodes("k", "j1").isEmpty());
    QVERIFY(m_workspace->reusableNodes("other").isEmpty());
    QVERIFY(m_workspace->reusableNodes(QString()).isEmpty());
    for (const NodeState state : {NodeState::Failed, NodeState::Canceled, NodeState::Running, NodeState::Skipped}) {
        job.nodes[0].state = state;
        TW_VERIFY(m_workspace->updateNode("j1", job.nodes[0]));
        QVERIFY(m_workspace->reusableNodes("k").isEmpty());
    }
    job.nodes[0].state = NodeState::Completed;
    job.nodes[0].stopped = "user";
    TW_VERIFY(m_workspace->updateNode("j1", job.nodes[0]));
    QVERIFY(m_workspace->reusableNodes("k").isEmpty());
}

void TestWorkspace::deletesJobs()
{
    {
        const RunLock lock = take("j1");
        TW_VERIFY(m_workspace->insertJob(sample("j1", JobState::Running)));
        const auto refused = m_workspace->deleteJob("j1");
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().name, QString(errors::InvalidWorkspace));
    }
    TW_VERIFY(m_workspace->updateSeries("j1", {{"train", "a", 0, 1, 1, 1, 1}}));
    TW_VERIFY(m_workspace->deleteJob("j1"));
    QVERIFY(!fs::exists(m_workspace->jobFolder("j1")));
    QVERIFY(fs::is_empty(folder() / "jobs"));
    QVERIFY(m_workspace->jobs()->isEmpty());
    QVERIFY(m_workspace->series("j1")->isEmpty());
    QVariant rows;
    onStore({"SELECT (SELECT count(*) FROM nodes) + (SELECT count(*) FROM tags) + (SELECT count(*) FROM series)"},
            &rows);
    QCOMPARE(rows.toInt(), 0);
}

void TestWorkspace::tidiesAfterAKill()
{
    const RunLock lock = take("j2");
    for (const char *id : {"j1", "j2"}) {
        fs::create_directories(m_workspace->jobFolder(id) / "nodes/train/outputs/.model.part-1/deep");
        fs::create_directories(m_workspace->outputFolder(id, "data", "dataset"));
        TW_VERIFY(m_workspace->insertJob(sample(id, JobState::Running)));
    }
    m_workspace.reset();
    auto again = Workspace::open(folder());
    TW_VERIFY(again);
    QVERIFY(fs::is_empty((*again)->jobFolder("j1") / "nodes/train/outputs"));
    QVERIFY(fs::exists((*again)->outputFolder("j1", "data", "dataset")));
    QVERIFY(!fs::is_empty((*again)->jobFolder("j2") / "nodes/train/outputs")); // still running
}

void TestWorkspace::manyThreadsWrite()
{
    constexpr int threadCount = 4, writes = 300;
    for (int t = 0; t < threadCount; ++t)
        TW_VERIFY(m_workspace->insertJob(sample(QString::number(t), JobState::Completed)));
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < threadCount; ++t)
        threads.emplace_back([&, t] {
            NodeRecord node = sample({}).nodes[0];
            for (int i = 1; i <= writes; ++i) {
                node.startedMs = i;
                failures += !m_workspace->updateNode(QString::number(t), node).ok();
                failures += i % 10 == 0 && !m_workspace->jobs().ok();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(failures.load(), 0);
    const auto jobs = m_workspace->jobs();
    for (const JobRecord &job : *jobs)
        QCOMPARE(job.nodes[0].startedMs, qint64(writes));
}

static void verifyRefused(const fs::path &folder, const QString &word)
{
    const auto opened = Workspace::open(folder);
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().name, QString(errors::InvalidWorkspace));
    QVERIFY2(opened.error().sentence().contains(word), qPrintable(opened.error().sentence()));
    QVERIFY(!opened.error().hint.isEmpty());
}

void TestWorkspace::refusesAFile()
{
    const fs::path file = pathFromText(m_temporary->path()) / "file";
    std::ofstream(file) << "x";
    verifyRefused(file, "not a folder");
    verifyRefused(file / "below", "file/below");
}

void TestWorkspace::refusesANewerStore()
{
    m_workspace.reset();
    onStore({"PRAGMA user_version = 99"});
    verifyRefused(folder(), "99");
}

void TestWorkspace::refusesADamagedStore()
{
    m_workspace.reset();
    for (const char *suffix : {"", "-wal", "-shm"})
        fs::remove(folder() / (std::string("studio.db") + suffix));
    std::ofstream(folder() / "studio.db") << std::string(10000, 'x');
    verifyRefused(folder(), "studio.db");
}

void TestWorkspace::refusesALockedStore()
{
    {
        QSqlDatabase other = QSqlDatabase::addDatabase("QSQLITE", "holder");
        other.setDatabaseName(QString::fromStdString((folder() / "studio.db").string()));
        QVERIFY(other.open());
        QVERIFY(QSqlQuery(other).exec("BEGIN IMMEDIATE"));
        verifyRefused(folder(), "locked");
        QVERIFY(QSqlQuery(other).exec("ROLLBACK"));
    }
    QSqlDatabase::removeDatabase("holder");
    TW_VERIFY(Workspace::open(folder()));
}

/// The administrator may write everywhere, so a child process of another user tries.
void TestWorkspace::refusesAReadOnlyFolder()
{
    m_workspace.reset();
    fs::permissions(pathFromText(m_temporary->path()), fs::perms(0755));
    fs::permissions(folder(), fs::perms(0555));
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
            ::_exit(2);
        const auto opened = Workspace::open(folder());
        const bool refused = !opened.ok() && opened.error().name == QString(errors::InvalidWorkspace)
                             && opened.error().sentence().contains("read-only") && !opened.error().hint.isEmpty();
        ::_exit(refused ? 0 : 1);
    }
    int status = -1;
    QCOMPARE(::waitpid(child, &status, 0), child);
    fs::permissions(folder(), fs::perms(0755));
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        QSKIP("another user cannot be tried here");
    QCOMPARE(WEXITSTATUS(status), 0);
}

void TestWorkspace::folderThatIsNotUtf8()
{
    const fs::path odd = pathFromText(m_temporary->path()) / "gr\xf6\xdf";
    {
        auto opened = Workspace::open(odd);
        TW_VERIFY(opened);
        TW_VERIFY((*opened)->insertJob(sample("j1", JobState::Completed)));
        std::thread([&] {
            QVERIFY((*opened)->job("j1").ok());
            closeThreadConnections();
        }).join();
    }
    QVERIFY(fs::exists(odd / "studio.db"));
    const auto again = Workspace::open(odd);
    TW_VERIFY(again);
    TW_VERIFY((*again)->job("j1"));
    std::error_code ignored;
    fs::remove_all(odd, ignored); // QTemporaryDir would leave it
}

/// A disk of 256 KiB of its own, where that may be made.
void TestWorkspace::fullDiskLeavesNothingHalf()
{
    const fs::path disk = pathFromText(m_temporary->path()) / "disk";
    fs::create_directories(disk);
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
            || ::mount("none", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
            ::_exit(2);
        auto opened = Workspace::open(disk / "ws");
        int verdict = opened.ok() ? 0 : 3;
        std::ofstream(disk / "rest") << std::string(300000, 'x');
        const auto half = writeFileAtomically(disk / "ws/file", QByteArray(50000, 'x'));
        if (half.ok() || half.error().name != QString(errors::FailedToWriteOutputs)
            || !half.error().hint.contains("disk is full")
            || std::distance(fs::directory_iterator(disk / "ws"), {}) < 3)
            verdict = 4;
        for (const auto &entry : fs::directory_iterator(disk / "ws"))
            if (entry.path().filename().string().find(".part-") != std::string::npos)
                verdict = 5;
        Result<void> stored;
        for (int i = 0; verdict == 0 && stored.ok() && i < 5000; ++i)
            stored = (*opened)->insertJob(sample(qPrintable(QString::number(i)), JobState::Completed));
        if (verdict == 0 && (stored.ok() || stored.error().name != QString(errors::FailedToWriteOutputs)))
            verdict = 6;
        ::_exit(verdict);
    }
    int status = -1;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        QSKIP("a disk of its own cannot be made here");
    QCOMPARE(WEXITSTATUS(status), 0);
}

void TestWorkspace::storeIsWalWithAVersion()
{
    QVariant mode, version;
    onStore({"PRAGMA journal_mode"}, &mode);
    onStore({"PRAGMA user_version"}, &version);
    QCOMPARE(mode.toString(), QStringLiteral("wal"));
    QCOMPARE(version.toInt(), 1);
}

QTEST_GUILESS_MAIN(TestWorkspace)
#include "tst_workspace.moc"
