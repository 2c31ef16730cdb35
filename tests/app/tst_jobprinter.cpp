// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jobprinter.h"
#include "tests/support/testsupport.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <unistd.h>

using namespace tw;
using namespace tw::cli;

class TestJobPrinter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhatASlowReaderMissed();

private:
    /// What `work` writes to standard output.
    QByteArray outputOf(const std::function<void()> &work)
    {
        const QString name = m_folder.filePath(QStringLiteral("out"));
        std::fflush(stdout);
        const int kept = ::dup(STDOUT_FILENO);
        QFile file(name);
        if (!file.open(QIODevice::WriteOnly))
            return {};
        ::dup2(file.handle(), STDOUT_FILENO);
        work();
        std::fflush(stdout);
        ::dup2(kept, STDOUT_FILENO);
        ::close(kept);
        file.close();
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir m_folder;
};

void TestJobPrinter::saysWhatASlowReaderMissed()
{
    const fs::path folder("/w/jobs/20260101-000000-0000");
    JobPrinter json(JobPrinter::Mode::Json);
    QCOMPARE(outputOf([&] { json.tellDropped(0, folder); }), QByteArray());
    const QByteArray line = outputOf([&] { json.tellDropped(1234, folder); });
    QVERIFY(line.endsWith("\n") && line.count('\n') == 1);
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    QCOMPARE(object["kind"].toString(), QStringLiteral("log"));
    QCOMPARE(object["level"].toString(), QStringLiteral("warning"));
    QCOMPARE(object["dropped"].toInt(), 1234);
    QVERIFY(object["line"].toString().contains("/w/jobs/20260101-000000-0000"));
    JobPrinter plain(JobPrinter::Mode::Plain);
    QCOMPARE(outputOf([&] { plain.tellDropped(1234, folder); }), QByteArray());
}

QTEST_GUILESS_MAIN(TestJobPrinter)
#include "tst_jobprinter.moc"
