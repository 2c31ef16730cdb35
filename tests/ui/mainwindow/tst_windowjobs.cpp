// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs of the window: whose states the canvas shows, what closing does, waiting jobs.
#include "core/pipeline/pipelinefile.h"
#include "tests/core/jobs/fakecomponents.h"
#include "tests/support/testsupport.h"
#include "ui/canvas/canvaspage.h"
#include "ui/common/actionregistry.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/jobs/joblist.h"
#include "ui/mainwindow/jobpipeline.h"
#include "ui/mainwindow/mainwindow.h"
#include "ui/mainwindow/rundialog.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTimer>

using namespace tw;
using namespace tw::test;

namespace {

Pipeline training(int steps)
{
    Pipeline pipeline;
    pipeline.name = QStringLiteral("training");
    pipeline.nodes = {makeNode("model", "fake-model"), makeNode("train", "fake-train", {{"steps", qlonglong(steps)}}),
                      makeNode("score", "fake-score")};
    pipeline.connections = {wire("model.untrained_model", "train.untrained_model"),
                            wire("train.trained_model", "score.trained_model")};
    return pipeline;
}

Pipeline waiting(const char *id = "step")
{
    Pipeline pipeline;
    pipeline.name = QStringLiteral("waiting");
    pipeline.nodes = {makeNode("source", "fake-source"), makeNode(id, "fake-step", {{"mode", QStringLiteral("wait")}})};
    pipeline.connections = {wire("source.dataset", qPrintable(QLatin1String(id) + QStringLiteral(".dataset")))};
    return pipeline;
}

/// Presses the button with this text in the next message box.
void answer(const QString &text, int *asked)
{
    QTimer::singleShot(0, qApp, [text, asked] {
        auto *box = qobject_cast<QMessageBox *>(QApplication::activeModalWidget());
        if (!box)
            return;
        ++*asked;
        for (QAbstractButton *button : box->buttons()) {
            if (button->text().remove(u'&') == text)
                return button->click();
        }
        box->reject();
    });
}

} // namespace

class TestWindowJobs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pipelineParametersAreAskedForAtEveryRun();
    void init()
    {
        m_studio = std::make_unique<Studio>();
        QVERIFY(m_studio->open());
        setUserSettingsFile(m_studio->temporary.filePath(QStringLiteral("settings.ini")));
        Theme::instance().setChoice(ThemeChoice::Light);
        JobRequest remembered;
        RunDialog(QStringLiteral("run"), nullptr).store(remembered); // the question has been answered before
        m_window = std::make_unique<MainWindow>(WindowServices{&m_studio->registry, m_studio->workspace.get(), {}});
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanup()
    {
        m_window.reset();
        m_studio.reset();
    }

    void statesStayOnTheirPipeline()
    {
        open(training(100000));
        const QString job = run();
        QTRY_COMPARE(stateOf("train"), NodeState::Running);
        QVERIFY(action("run.keep")->isEnabled());
        // Another file with nodes of the same names: the job goes on, but not on this canvas.
        Pipeline other = training(5);
        other.name = QStringLiteral("other");
        open(other);
        QCOMPARE(stateOf("train"), NodeState::NotStarted);
        action("run.keep")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->jobs().isIdle(), 20000);
        QTest::qWait(200);
        QCOMPARE(stateOf("train"), NodeState::NotStarted);
        m_window->showJob(job);
        QVERIFY(m_window->canvas().bar().message().contains(QStringLiteral("another pipeline")));
        QCOMPARE(stateOf("train"), NodeState::NotStarted);
        // Its own pipeline shows them again, edited nodes as such.
        for (QAbstractButton *button : m_window->canvas().bar().findChildren<QAbstractButton *>()) {
            if (button->text() == QStringLiteral("Open its pipeline"))
                button->click();
        }
        QCOMPARE(m_window->editor().pipeline().name, QStringLiteral("training"));
        QCOMPARE(stateOf("train"), NodeState::Completed);
        QVERIFY(!m_window->canvas().scene().status(QStringLiteral("train")).changedSinceRun);
        m_window->editor().setParameter({QStringLiteral("train")}, QStringLiteral("steps"), qlonglong(7), 1);
        m_window->showJob(job);
        QVERIFY(m_window->canvas().scene().status(QStringLiteral("train")).changedSinceRun);
        QVERIFY(!m_window->canvas().scene().status(QStringLiteral("score")).changedSinceRun);
        m_window->editor().undoStack().setClean();
    }

    void samePipelineOrAnother()
    {
        const Pipeline ran = training(5);
        Pipeline open = ran;
        QVERIFY(isSamePipeline(ran, open));
        QVERIFY(nodesChangedSince(ran, open, m_studio->registry).isEmpty());
        open.nodes[1].parameters.set(QStringLiteral("steps"), 9LL);
        open.connections.removeLast();
        QVERIFY(isSamePipeline(ran, open));
        QCOMPARE(nodesChangedSince(ran, open, m_studio->registry),
                 (QSet<QString>{QStringLiteral("train"), QStringLiteral("score")}));
        open.nodes[1].component = QStringLiteral("fake-step");
        QVERIFY(!isSamePipeline(ran, open));
        Pipeline unnamed = ran;
        unnamed.name.clear();
        QVERIFY(!isSamePipeline(ran, unnamed));
        Pipeline less = unnamed;
        less.nodes.removeLast();
        QVERIFY(isSamePipeline(unnamed, unnamed) && !isSamePipeline(unnamed, less));
    }

    void editsMadeWhileClosingAreAskedFor()
    {
        open(training(100000));
        run();
        QTRY_VERIFY(action("run.keep")->isEnabled());
        int asked = 0;
        answer(QStringLiteral("Stop and keep"), &asked);
        m_window->close();
        QCOMPARE(asked, 1);
        QVERIFY(m_window->isVisible());
        m_window->editor().addNode(QStringLiteral("fake-model"), {});
        // The job ends, the window wants to close: now the edit is in the way.
        QTimer poll;
        connect(&poll, &QTimer::timeout, this, [&asked] {
            if (QApplication::activeModalWidget())
                answer(QStringLiteral("Cancel"), &asked);
        });
        poll.start(50);
        QTRY_COMPARE_WITH_TIMEOUT(asked, 2, 20000);
        poll.stop();
        QTest::qWait(300);
        QVERIFY(m_window->isVisible());
        QCOMPARE(m_window->editor().pipeline().nodes.size(), 4);
        m_window->editor().undoStack().setClean();
        m_window->close();
        QVERIFY(!m_window->isVisible());
    }

    void closingWaitsForTheJobAndAsksOnce()
    {
        open(waiting());
        run();
        QTRY_COMPARE(stateOf("step"), NodeState::Running);
        m_window->editor().addNode(QStringLiteral("fake-model"), {});
        int asked = 0;
        answer(QStringLiteral("Discard"), &asked);
        QTimer::singleShot(100, this, [&asked] { answer(QStringLiteral("Cancel the job"), &asked); });
        m_window->close();
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->isVisible(), 10000);
        QCOMPARE(asked, 2);
    }

    void aRunAfterCloseStaysOpen()
    {
        open(waiting());
        run();
        QTRY_COMPARE(stateOf("step"), NodeState::Running);
        int asked = 0;
        answer(QStringLiteral("Close when it ends"), &asked);
        m_window->close();
        QCOMPARE(asked, 1);
        run();
        m_window->jobs().cancel(m_window->jobs().runningJob());
        QTRY_VERIFY(m_window->jobs().waitingJobs().isEmpty());
        m_window->jobs().cancel(m_window->jobs().runningJob());
        QTRY_VERIFY(m_window->jobs().isIdle());
        QTest::qWait(300);
        QVERIFY(m_window->isVisible());
    }

    void nothingToKeepOutsideTraining()
    {
        open(waiting());
        run();
        QTRY_COMPARE(stateOf("step"), NodeState::Running);
        QVERIFY(!action("run.keep")->isEnabled());
        QVERIFY(action("run.cancel")->isEnabled());
        action("run.cancel")->trigger();
        QTRY_VERIFY(m_window->jobs().isIdle());
        QTRY_VERIFY(!action("run.cancel")->isEnabled());
    }

    void aWaitingJobIsCanceledFromTheList()
    {
        open(waiting());
        const QString first = run();
        QTRY_COMPARE(stateOf("step"), NodeState::Running);
        const QString second = run();
        QCOMPARE(m_window->jobs().waitingJobs(), QStringList{second});
        // The status bar stays with the job that runs.
        QTRY_COMPARE(m_window->jobs().figures().job, first);
        QCOMPARE(m_window->jobs().figures().node, QStringLiteral("step"));
        auto *list = m_window->findChild<JobListView *>();
        Q_EMIT list->cancelRequested(second);
        QTRY_COMPARE(m_studio->workspace->job(second)->state, JobState::Canceled);
        QCOMPARE(m_window->jobs().runningJob(), first);
        QCOMPARE(m_window->jobs().figures().job, first);
        Q_EMIT list->cancelRequested(QStringLiteral("20200101-000000-0000"));
        QVERIFY(m_window->canvas().bar().message().contains(QStringLiteral("another program")));
    }

    void restoreAsksBeforeEditsAreLost()
    {
        PipelineDocument document(m_studio->registry);
        const fs::path folder = m_studio->workspace->folder() / "autosave";
        std::optional<Journal::Found> found;
        {
            Journal crashed(document, folder);
            document.reset(training(3));
            crashed.flush();
        }
        found = m_window->session().journal().findLeft();
        QVERIFY(found);
        open(waiting());
        m_window->editor().addNode(QStringLiteral("fake-model"), {});
        int asked = 0;
        answer(QStringLiteral("Cancel"), &asked);
        m_window->session().restore(*found);
        QCOMPARE(asked, 1);
        QCOMPARE(m_window->editor().pipeline().nodes.size(), 3);
        QVERIFY(m_window->session().journal().findLeft());
        m_window->editor().undoStack().setClean();
    }

private:
    void open(const Pipeline &pipeline)
    {
        const QString file = m_studio->temporary.filePath(pipeline.name + QStringLiteral(".pipeline.json"));
        TW_VERIFY(savePipelineFile(pathFromText(file), pipeline, m_studio->registry));
        QVERIFY(m_window->openFile(file));
    }
    QString run()
    {
        action("run.run")->trigger();
        return m_window->shownJob();
    }
    QAction *action(const char *id) { return m_window->actionRegistry().action(QLatin1String(id)); }
    NodeState stateOf(const char *node) { return m_window->canvas().scene().status(QLatin1String(node)).state; }

    std::unique_ptr<Studio> m_studio;
    std::unique_ptr<MainWindow> m_window;
};

void TestWindowJobs::pipelineParametersAreAskedForAtEveryRun()
{
    Pipeline pipeline = training(40);
    pipeline.parameters = {
        {QStringLiteral("steps"), QStringLiteral("Steps"), {{QStringLiteral("train"), QStringLiteral("steps")}}, {}}};
    m_window->editor().document().reset(pipeline);
    QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
    auto *dialog = m_window->findChild<RunDialog *>();
    QVERIFY(dialog && dialog->isVisible());
    auto *line = dialog->findChild<QLineEdit *>(QStringLiteral("editor.steps"));
    QVERIFY(line);
    QCOMPARE(line->text(), QStringLiteral("40"));
    auto *run = dialog->findChild<QDialogButtonBox *>()->button(QDialogButtonBox::Ok);
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("many"));
    QVERIFY(!run->isEnabled());
    QVERIFY(dialog->findChild<QLabel *>(QStringLiteral("parameterFault"))->text().contains(QStringLiteral("many")));
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("3"));
    QVERIFY(run->isEnabled());
    QTest::mouseClick(run, Qt::LeftButton);
    QTRY_VERIFY(!m_studio->workspace->jobs()->isEmpty());
    const QString job = m_studio->workspace->jobs()->first().id;
    QTRY_COMPARE(m_studio->workspace->job(job)->state, JobState::Completed);
    const auto ran = m_window->jobs().pipeline(job);
    QVERIFY(ran);
    QCOMPARE(ran->find(QStringLiteral("train"))->parameters.integer("steps"), 3);
    QVERIFY(m_window->editor().pipeline() == pipeline); // it holds for that run only
}

QTEST_MAIN(TestWindowJobs)
#include "tst_windowjobs.moc"
