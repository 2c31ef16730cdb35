// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/commandline.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;
using namespace tw::test;

/// `trainwright FILE --grab TAB --out PNG`, which nobody watches.
class TestGrab : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pictureOfAFile();
    void brokenFilesGiveNone_data();
    void brokenFilesGiveNone();

private:
    ProcessOutcome grab(const QString &file) const
    {
        return runProcess(
            displayPath(programFolder() / "trainwright"),
            {file, "--workspace", at("ws"), "--grab", "pipeline", "--size", "800x600", "--out", at("p.png")});
    }
    QString at(const char *name) const { return m_folder.filePath(QLatin1String(name)); }

    QTemporaryDir m_folder;
};

void TestGrab::pictureOfAFile()
{
    const ProcessOutcome done = grab(displayPath(writeTinyPipeline(m_folder.path().toStdString(), 3, 1)));
    QVERIFY2(done.exitCode == 0, done.err.constData());
    QFile picture(at("p.png"));
    QVERIFY(picture.open(QIODevice::ReadOnly) && picture.read(4) == "\x89PNG");
    QVERIFY(picture.remove());
}

void TestGrab::brokenFilesGiveNone_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("not JSON") << QByteArray("{");
    QTest::newRow("another format") << QByteArray("{\"format\": \"x\"}");
    QTest::newRow("no file") << QByteArray();
}

void TestGrab::brokenFilesGiveNone()
{
    QFETCH(QByteArray, text);
    QFile file(at("broken.pipeline.json"));
    QVERIFY(!file.exists() || file.remove());
    if (!text.isEmpty())
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    file.close();
    const ProcessOutcome refused = grab(file.fileName());
    QCOMPARE(refused.exitCode, 1);
    QVERIFY2(refused.err.contains("InvalidPipelineError: "), refused.err.constData());
    QVERIFY(!QFile::exists(at("p.png")));
}

QTEST_GUILESS_MAIN(TestGrab)
#include "tst_grab.moc"
