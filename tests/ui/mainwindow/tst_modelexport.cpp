// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "tests/support/testsupport.h"
#include "ui/mainwindow/modelexport.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;
using namespace tw::test;

class TestModelExport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_root = pathFromText(m_folder->path());
        TW_VERIFY(makeFolder(m_root / "model"));
        TW_VERIFY(writeFileAtomically(m_root / "model" / "model.json", "{}"));
        TW_VERIFY(writeFileAtomically(m_root / "model" / "weights.pth", QByteArray(300000, 'w')));
    }

    void copiesWhole()
    {
        TW_VERIFY(copyModelDirectory(m_root / "model", m_root / "copy", false));
        QCOMPARE(*readFile(m_root / "copy" / "weights.pth", "x"), QByteArray(300000, 'w'));
        QVERIFY(fs::exists(m_root / "copy" / "model.json"));
    }

    void keepsWhatIsThereUnlessAskedTo()
    {
        TW_VERIFY(makeFolder(m_root / "mine"));
        TW_VERIFY(writeFileAtomically(m_root / "mine" / "thesis.txt", "precious"));
        QVERIFY(!copyModelDirectory(m_root / "model", m_root / "mine", false).ok());
        QCOMPARE(*readFile(m_root / "mine" / "thesis.txt", "x"), QByteArray("precious"));
        QVERIFY(!fs::exists(m_root / "mine" / "model.json"));
        TW_VERIFY(copyModelDirectory(m_root / "model", m_root / "mine", true));
        QVERIFY(!fs::exists(m_root / "mine" / "thesis.txt"));
    }

    void onlyModelDirectories()
    {
        TW_VERIFY(makeFolder(m_root / "other"));
        const Result<void> refused = copyModelDirectory(m_root / "other", m_root / "copy", false);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().name, QLatin1String(errors::InvalidModelDirectory));
        QVERIFY(!fs::exists(m_root / "copy"));
    }

    void exporterTellsTheOutcome()
    {
        ModelExporter exporter;
        QSignalSpy finished(&exporter, &ModelExporter::finished), failed(&exporter, &ModelExporter::failed);
        exporter.start(m_root / "model", m_root / "copy", false);
        QTRY_COMPARE(finished.size(), 1);
        exporter.start(m_root / "model", m_root / "missing" / "deep" / "copy", false);
        QTRY_COMPARE(failed.size() + finished.size(), 2);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_root;
};

QTEST_GUILESS_MAIN(TestModelExport)
#include "tst_modelexport.moc"
