// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace tw;
using namespace tw::test;

/// Ctrl-C, SIGTERM and a killed program during training.
class TestCommandLineInterrupts : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void controlCKeepsTheModel();
    void lostTerminalKeepsTheModel();
    void secondControlCCancels();
    void terminateCancels();
    void killedIsInterrupted();
    void logsFollowToTheEnd();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    /// Starts a training of many epochs and waits for the first validation.
    void startTraining();
    void sendSignal(int number) { ::kill(pid_t(m_process->processId()), number); }
    QJsonObject job() const;
    QString nodeState(const char *node) const;

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QProcess> m_process;
    QByteArray m_out;
};

void TestCommandLineInterrupts::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_process = std::make_unique<QProcess>();
    m_out.clear();
}

void TestCommandLineInterrupts::cleanup()
{
    if (m_process->state() != QProcess::NotRunning) {
        m_process->kill();
        m_process->waitForFinished();
    }
}

void TestCommandLineInterrupts::startTraining()
{
    const fs::path file = writeTinyPipeline(m_folder->path().toStdString(), 300, 100000);
    m_process->start(cliProgram(), {"run", displayPath(file), "--workspace", at("ws"), "--json", "--export",
                                    "train.trained_model=" + at("model")});
    QVERIFY(m_process->waitForStarted());
    const auto validated = [this] {
        m_process->waitForReadyRead(50);
        m_out += m_process->readAllStandardOutput();
        return m_out.contains("\"series\":\"val_loss\"");
    };
    QTRY_VERIFY_WITH_TIMEOUT(validated(), 120000);
}

QJsonObject TestCommandLineInterrupts::job() const
{
    return jsonLines(cli({"jobs", "--json", "--workspace", at("ws")}).out).value(0);
}

QString TestCommandLineInterrupts::nodeState(const char *node) const
{
    for (const QJsonValue &one : job().value("nodes").toArray())
        if (one.toObject().value("id").toString() == QLatin1String(node))
            return one.toObject().value("state").toString();
    return {};
}

void TestCommandLineInterrupts::controlCKeepsTheModel()
{
    startTraining();
    sendSignal(SIGINT);
    QVERIFY(m_process->waitForFinished(120000));
    QCOMPARE(m_process->exitStatus(), QProcess::NormalExit);
    QCOMPARE(m_process->exitCode(), 130);
    QVERIFY2(fs::exists(m_folder->path().toStdString() + "/model/model.json"), "what training has reached is exported");
    const QByteArray said = m_process->readAllStandardError();
    QVERIFY2(said.contains("Stopping the training to keep what it has reached.")
                 && said.contains("Kept what training had reached: train\n"),
             said.constData());
    QCOMPARE(nodeState("train"), QStringLiteral("Completed"));
    QCOMPARE(nodeState("score"), QStringLiteral("Canceled"));
    QCOMPARE(job().value("state").toString(), QStringLiteral("Canceled"));
    for (const QJsonValue &node : job().value("nodes").toArray())
        if (node.toObject().value("id").toString() == "train")
            QCOMPARE(node.toObject().value("stopped").toString(), QStringLiteral("user"));
}

/// A terminal that closes tells once or twice: as the first Ctrl-C.
void TestCommandLineInterrupts::lostTerminalKeepsTheModel()
{
    startTraining();
    sendSignal(SIGHUP);
    sendSignal(SIGHUP);
    QVERIFY(m_process->waitForFinished(120000));
    QCOMPARE(m_process->exitStatus(), QProcess::NormalExit);
    QCOMPARE(m_process->exitCode(), 130);
    QVERIFY(fs::exists(m_folder->path().toStdString() + "/model/model.json"));
    QCOMPARE(nodeState("train"), QStringLiteral("Completed"));
    QCOMPARE(nodeState("score"), QStringLiteral("Canceled"));
}

void TestCommandLineInterrupts::secondControlCCancels()
{
    startTraining();
    sendSignal(SIGINT);
    sendSignal(SIGINT);
    QVERIFY(m_process->waitForFinished(120000));
    QCOMPARE(m_process->exitStatus(), QProcess::NormalExit);
    QCOMPARE(m_process->exitCode(), 130);
    QCOMPARE(job().value("state").toString(), QStringLiteral("Canceled"));
}

void TestCommandLineInterrupts::terminateCancels()
{
    startTraining();
    sendSignal(SIGTERM);
    QVERIFY(m_process->waitForFinished(120000));
    QCOMPARE(m_process->exitStatus(), QProcess::NormalExit);
    QCOMPARE(m_process->exitCode(), 130);
    QVERIFY(m_process->readAllStandardError().contains("No part of a training was kept."));
    QCOMPARE(nodeState("train"), QStringLiteral("Canceled"));
    QVERIFY(!fs::exists(m_folder->path().toStdString() + "/model"));
}

void TestCommandLineInterrupts::killedIsInterrupted()
{
    startTraining();
    QCOMPARE(job().value("state").toString(), QStringLiteral("Running"));
    sendSignal(SIGKILL);
    QVERIFY(m_process->waitForFinished(120000));
    QCOMPARE(job().value("state").toString(), QStringLiteral("Interrupted"));
    QCOMPARE(nodeState("train"), QStringLiteral("Interrupted"));
    QCOMPARE(nodeState("split"), QStringLiteral("Completed"));
}

void TestCommandLineInterrupts::logsFollowToTheEnd()
{
    startTraining();
    QProcess follower;
    follower.start(cliProgram(), {"logs", job().value("id").toString(), "--node", "train", "--rank", "0", "--follow",
                                  "--workspace", at("ws")});
    QVERIFY(follower.waitForStarted());
    QByteArray seen;
    const auto followed = [&] {
        follower.waitForReadyRead(50);
        seen += follower.readAllStandardOutput();
        return seen.contains("| Val Loss: ");
    };
    QTRY_VERIFY_WITH_TIMEOUT(followed(), 60000);
    sendSignal(SIGTERM);
    QVERIFY(m_process->waitForFinished(120000));
    QVERIFY(follower.waitForFinished(60000));
    QCOMPARE(follower.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestCommandLineInterrupts)
#include "tst_commandlineinterrupts.moc"
