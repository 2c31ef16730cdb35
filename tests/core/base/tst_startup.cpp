// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/startup.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>
#include <QThread>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

/// What one training step does to the allocator: large blocks taken, touched and given back.
void touchBlocks()
{
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 16; ++i) {
        blocks.emplace_back(new char[4 << 20]);
        memset(blocks.back().get(), i, 4 << 20);
    }
}

long threadFaults()
{
    rusage usage = {};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

int printEnvironment(int argc, char **argv)
{
    tw::prepareProcess(argv);
    const char *policy = std::getenv("OMP_WAIT_POLICY");
    bool marked = false;
    for (char **variable = environ; *variable != nullptr; ++variable)
        marked |= strncmp(*variable, "TRAINWRIGHT_", 12) == 0;
    std::printf("%s|%s|%d|%s|%d\n", policy ? policy : "-", marked ? "marked" : "clean", argc, argv[0], int(::getpid()));
    return 0;
}

int printFaults(bool configured)
{
    if (configured)
        tw::configureAllocator();
    long faults = 0;
    const std::unique_ptr<QThread> thread(QThread::create([&faults] {
        touchBlocks();
        const long before = threadFaults();
        for (int step = 0; step < 10; ++step)
            touchBlocks();
        faults = threadFaults() - before;
    }));
    thread->start();
    thread->wait();
    std::printf("%ld\n", faults);
    return 0;
}

} // namespace

class TestStartup : public QObject
{
    Q_OBJECT
    struct Child
    {
        QByteArray out;
        qint64 pid = 0;
    };
    static Child runSelf(const QStringList &arguments, const QString &policy = {})
    {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const QString &name : environment.keys()) {
            if (name.startsWith("OMP_") || name.startsWith("TRAINWRIGHT_"))
                environment.remove(name);
        }
        if (!policy.isEmpty())
            environment.insert("OMP_WAIT_POLICY", policy);
        process.setProcessEnvironment(environment);
        process.start(QCoreApplication::applicationFilePath(), arguments);
        process.waitForStarted();
        const qint64 pid = process.processId();
        process.waitForFinished();
        return {process.readAllStandardOutput().trimmed(), pid};
    }

private Q_SLOTS:
    void startsAgainOnceWithThePassivePolicy()
    {
        const Child child = runSelf({"--environment", "a b"});
        const QByteArrayList parts = child.out.split('|');
        QCOMPARE(parts.size(), 5);
        QCOMPARE(parts[0], QByteArray("passive"));
        QCOMPARE(parts[1], QByteArray("clean"));
        QCOMPARE(parts[2], QByteArray("3"));
        QCOMPARE(parts[3], QCoreApplication::applicationFilePath().toLocal8Bit());
        QCOMPARE(parts[4].toLongLong(), child.pid); // the same process: signals still reach it
    }

    void theUsersPolicyStays() { QVERIFY(runSelf({"--environment"}, "active").out.startsWith("active|clean|2|")); }

    void largeBlocksStayInTheProcess()
    {
#if defined(__SANITIZE_ADDRESS__)
        QSKIP("the sanitizer brings its own allocator");
#endif
        const long configured = runSelf({"--faults", "configured"}).out.toLong();
        const long plain = runSelf({"--faults", "plain"}).out.toLong();
        // 10 steps × 16 blocks × 1024 pages when every block comes fresh from the system.
        QVERIFY2(plain > 50000, qPrintable(QString::number(plain)));
        QVERIFY2(configured < 1000, qPrintable(QString::number(configured)));
    }

    void numbersAreWrittenWithAPoint()
    {
        for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"})
            std::setlocale(LC_ALL, name);
        tw::useCNumbers();
        QCOMPARE(QByteArray(std::setlocale(LC_NUMERIC, nullptr)), QByteArray("C"));
        QCOMPARE(std::strtod("0.5", nullptr), 0.5);
    }
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--environment") == 0)
        return printEnvironment(argc, argv);
    if (argc > 2 && strcmp(argv[1], "--faults") == 0)
        return printFaults(strcmp(argv[2], "configured") == 0);
    QCoreApplication application(argc, argv);
    TestStartup test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_startup.moc"
