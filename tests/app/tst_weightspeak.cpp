// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace tw;
using namespace tw::test;

/// How much memory the program takes for weights of 100 MB, beyond what it takes for a tiny file.
class WeightsPeakTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void peak_data();
    void peak();

private:
    QString at(const char *name) const { return m_folder.filePath(QLatin1String(name)); }
    QTemporaryDir m_folder;
    qint64 m_idle = 0;
    bool m_hasOthers = false;
};

/// The same weights as files that do not hold the tensors as a network has them.
static const char *const otherFiles = R"(
import sys, torch, zipfile
source, last, legacy, packed = sys.argv[1:]
weights = torch.load(source)
torch.save({k: v.contiguous(memory_format=torch.channels_last) if v.dim() == 4 else v for k, v in weights.items()}, last)
torch.save(weights, legacy, _use_new_zipfile_serialization=False)
with zipfile.ZipFile(source) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
    for name in old.namelist():
        new.writestr(name, old.read(name))
)";

/// Largest resident memory of a run of the program, mapped files included; −1: it failed.
static qint64 peakKib(const QStringList &arguments)
{
    std::vector<QByteArray> words{cliProgram().toLocal8Bit()};
    for (const QString &argument : arguments)
        words.push_back(argument.toLocal8Bit());
    std::vector<char *> argv;
    for (QByteArray &word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int fault = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    rusage usage = {};
    if (fault != 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        return -1;
    return usage.ru_maxrss;
}

void WeightsPeakTest::initTestCase()
{
    QCOMPARE(cli({"new", "resnet50", "--classes", "1000", "--out", at("large")}).exitCode, 0);
    QCOMPARE(cli({"new", "mlp", "--classes", "2", "--out", at("tiny")}).exitCode, 0);
    QVERIFY(QFileInfo(at("large/weights.pth")).size() > 100'000'000);
    m_hasOthers = runProcess("/usr/bin/python3",
                             {"-", at("large/weights.pth"), at("last.pth"), at("legacy.pth"), at("packed.pth")},
                             100'000, otherFiles)
                      .exitCode
                  == 0;
    m_idle = std::max(peakKib({"inspect", at("tiny/weights.pth")}),
                      peakKib({"new", "mlp", "--classes", "2", "--weights", at("tiny/weights.pth"), "--out", at("t")}));
    QVERIFY(m_idle > 0);
}

void WeightsPeakTest::peak_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("inspect pth") << QStringList{"inspect", at("large/weights.pth"), "--json", "--values"};
    QTest::newRow("inspect safetensors") << QStringList{"inspect", at("large/weights.safetensors"), "--json",
                                                        "--values"};
    for (const char *file : {"large/weights.pth", "large/weights.safetensors", "last.pth", "legacy.pth", "packed.pth"})
        QTest::newRow(file) << QStringList{"new",       "resnet50", "--classes", "1000",
                                           "--weights", at(file),   "--out",     at(file) + QStringLiteral("-new")};
}

void WeightsPeakTest::peak()
{
    QFETCH(QStringList, arguments);
    if (!m_hasOthers && !QFileInfo::exists(arguments.value(5, arguments.value(1))))
        QSKIP("skipped: not found: python3 with torch");
    const qint64 taken = peakKib(arguments) - m_idle;
    qInfo("%lld KiB beyond %lld KiB", static_cast<long long>(taken), static_cast<long long>(m_idle));
    QVERIFY(taken > -m_idle);
    QVERIFY(taken * 1024 <= QFileInfo(at("large/weights.pth")).size() * 13 / 10);
}

QTEST_GUILESS_MAIN(WeightsPeakTest)
#include "tst_weightspeak.moc"
