// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "tests/ui/uitest.h"
#include "ui/canvas/pipelineeditor.h"
#include "ui/mainwindow/journal.h"

#include <QTemporaryDir>

using namespace tw;
using namespace tw::test;

class TestJournal : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_document = std::make_unique<PipelineDocument>(m_registry);
    }

    void everyEditIsWritten()
    {
        Journal journal(*m_document, path());
        m_document->reset(uiPipeline());
        QTRY_COMPARE(works().size(), 1);
        PipelineEditor editor(*m_document);
        editor.setName(QStringLiteral("renamed"));
        QTRY_VERIFY(QString::fromUtf8(*readFile(works().first(), "x")).contains(QStringLiteral("renamed")));
        journal.clear();
        QCOMPARE(works().size(), 0);
    }

    void liveWorkIsNotOffered()
    {
        Journal running(*m_document, path());
        m_document->reset(uiPipeline());
        running.flush();
        PipelineDocument other(m_registry);
        Journal second(other, path());
        QVERIFY(!second.findLeft());
    }

    void workOfACrashIsFoundAndDiscarded()
    {
        {
            Journal crashed(*m_document, path());
            crashed.setFile(QStringLiteral("/somewhere/mine.pipeline.json"));
            m_document->reset(uiPipeline());
            crashed.flush();
        } // gone without clear(): the lock is free, the work is there
        PipelineDocument other(m_registry);
        Journal next(other, path());
        const auto found = next.findLeft();
        QVERIFY(found);
        QVERIFY(found->pipeline == uiPipeline());
        QCOMPARE(found->file, QStringLiteral("/somewhere/mine.pipeline.json"));
        QVERIFY(found->writtenMs > 0);
        Journal::discard(*found);
        QVERIFY(!next.findLeft());
        QCOMPARE(works().size(), 0);
    }

    void brokenJournalsAreSkipped()
    {
        TW_VERIFY(writeFileAtomically(path() / "20260101-000000-abcd.pipeline.json", "{\"format\":"));
        Journal journal(*m_document, path());
        QVERIFY(!journal.findLeft());
    }

private:
    fs::path path() const { return pathFromText(m_folder->path()); }
    std::vector<fs::path> worksVector() const
    {
        std::vector<fs::path> found;
        for (const auto &entry : fs::directory_iterator(path())) {
            if (QString::fromStdString(entry.path().filename().string()).endsWith(QStringLiteral(".pipeline.json")))
                found.push_back(entry.path());
        }
        return found;
    }
    QList<fs::path> works() const
    {
        const auto found = worksVector();
        return QList<fs::path>(found.begin(), found.end());
    }

    ComponentRegistry m_registry = uiRegistry();
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<PipelineDocument> m_document;
};

QTEST_GUILESS_MAIN(TestJournal)
#include "tst_journal.moc"
