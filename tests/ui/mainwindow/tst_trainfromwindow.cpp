// SPDX-License-Identifier: GPL-3.0-or-later
// The sample pipeline, started with mouse and keys in the real window, trains; the plots receive
// points meanwhile, the window never stalls; stopped and kept, a model directory is exported.
#include "core/base/startup.h"
#include "core/jobs/workspace.h"
#include "core/train/devices.h"
#include "tests/ui/uitest.h"
#include "ui/canvas/canvaspage.h"
#include "ui/canvas/nodeitem.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/mainwindow/mainwindow.h"
#include "ui/mainwindow/rundialog.h"
#include "ui/metrics/metricstab.h"
#include "ui/parameters/parameterpanel.h"
#include "ui/parameters/parameterrow.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <numeric>

using namespace tw;
using namespace tw::test;

namespace {

/// How much later than asked a 5 ms timer of the GUI thread fires.
class Heartbeat : public QObject
{
public:
    Heartbeat()
    {
        m_timer.setTimerType(Qt::PreciseTimer);
        connect(&m_timer, &QTimer::timeout, this, [this] {
            const double gap = double(m_clock.nsecsElapsed()) / 1e6;
            m_clock.restart();
            m_gapsMs.append(gap);
        });
        m_clock.start();
        m_timer.start(periodMs);
    }
    double worstMs() const { return *std::max_element(m_gapsMs.begin(), m_gapsMs.end()); }
    double percentileMs(double share) const
    {
        QList<double> sorted = m_gapsMs;
        std::sort(sorted.begin(), sorted.end());
        return sorted[qsizetype(double(sorted.size() - 1) * share)];
    }
    double seconds() const { return std::accumulate(m_gapsMs.begin(), m_gapsMs.end(), 0.0) / 1000; }

private:
    static constexpr int periodMs = 5;
    QTimer m_timer;
    QElapsedTimer m_clock;
    QList<double> m_gapsMs;
};

} // namespace

class TestTrainFromWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (!fs::exists("/usr/share/datasets/fashion-mnist"))
            QSKIP("Fashion-MNIST not found (package dataset-fashion-mnist)");
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        setUserSettingsFile(m_folder.filePath(QStringLiteral("settings.ini")));
        Theme::instance().setChoice(ThemeChoice::Light);
        useCNumbers();
        openCudaLibrary();
        registerAllComponents(m_registry);
        auto opened = Workspace::open(pathFromText(m_folder.filePath(QStringLiteral("workspace"))));
        TW_VERIFY(opened);
        m_workspace = std::move(*opened);
    }

    void trainsWatchesAndExports()
    {
        MainWindow window({&m_registry, m_workspace.get(), {}});
        window.start({});
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.activateWindow();
        QApplication::processEvents();
        Heartbeat heartbeat;

        selectTrainingNodeWithTheMouse(window);
        typeInto(window, QStringLiteral("print_frequency"), QStringLiteral("20"));
        startWithKeys(window);

        window.showTab(MainWindow::Tab::Metrics);
        QTRY_VERIFY_WITH_TIMEOUT(window.metrics().pointCount() > 0, 120000);
        QVERIFY2(!window.jobs().isIdle(), "points must arrive while it runs");
        const qint64 early = window.metrics().pointCount();
        QTRY_VERIFY_WITH_TIMEOUT(window.metrics().pointCount() > early + 20 || window.jobs().isIdle(), 60000);
        QVERIFY(!window.jobs().isIdle());
        window.showTab(MainWindow::Tab::Pipeline);
        QCOMPARE(window.canvas().scene().status(m_trainingNode).state, NodeState::Running);
        window.showTab(MainWindow::Tab::Metrics);

        // Three epochs are more than a test needs: twenty seconds, over which stalls are judged.
        QTRY_VERIFY_WITH_TIMEOUT(heartbeat.seconds() >= 20, 40000);
        activate(window);
        QTest::keyClick(&window, Qt::Key_Period, Qt::ControlModifier);
        const QString job = window.shownJob();
        QTRY_VERIFY_WITH_TIMEOUT(window.jobs().isIdle(), 300000);
        QTRY_COMPARE_WITH_TIMEOUT(window.canvas().scene().status(m_trainingNode).state, NodeState::Completed, 5000);
        QCOMPARE(m_workspace->job(job)->state, JobState::Completed);
        QCOMPARE(window.canvas().scene().status(m_trainingNode).stopped, QStringLiteral("user"));
        QVERIFY2(window.canvas().scene().nodeItem(m_trainingNode)->resultLine().contains(u'%'),
                 qPrintable(window.canvas().scene().nodeItem(m_trainingNode)->resultLine()));

        exportWithKeys(window);
        for (const char *file : {"model.json", "weights.pth", "weights.safetensors", "labels.txt", "score.py"})
            QVERIFY2(QFile::exists(m_exported + u'/' + QLatin1String(file)), file);

        qInfo("GUI thread over %.1f s: worst gap %.1f ms, 99th percentile %.1f ms", heartbeat.seconds(),
              heartbeat.worstMs(), heartbeat.percentileMs(.99));
        QVERIFY(heartbeat.percentileMs(.99) <= 50);
        QVERIFY(heartbeat.worstMs() <= 100);
    }

private:
    void selectTrainingNodeWithTheMouse(MainWindow &window)
    {
        for (const PipelineNode &node : window.editor().pipeline().nodes) {
            if (node.component == u"train-pytorch-model")
                m_trainingNode = node.id;
        }
        PipelineView &view = window.canvas().view();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                          view.mapFromScene(window.canvas().scene().nodeItem(m_trainingNode)->pos() + QPointF(50, 20)));
        QCOMPARE(window.parameters().nodes(), QStringList{m_trainingNode});
    }

    static void typeInto(MainWindow &window, const QString &parameter, const QString &text)
    {
        auto *line = qobject_cast<QLineEdit *>(window.parameters().row(parameter)->editor()->field());
        QTest::mouseClick(line, Qt::LeftButton);
        QTest::keyClick(line, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(line, text);
    }

    static void startWithKeys(MainWindow &window)
    {
        QTest::keyClick(&window, Qt::Key_Return, Qt::ControlModifier);
        auto *dialog = window.findChild<RunDialog *>();
        QVERIFY(dialog);
        QTest::keyClick(dialog, Qt::Key_Return);
        QVERIFY2(!window.shownJob().isEmpty(), qPrintable(window.canvas().bar().message()));
    }

    /// No window manager gives the focus back after the run dialog here.
    static void activate(MainWindow &window)
    {
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
    }

    void exportWithKeys(MainWindow &window)
    {
        m_exported = m_folder.filePath(QStringLiteral("exported-model"));
        activate(window);
        QTest::keyClick(&window, Qt::Key_E, Qt::ControlModifier);
        QTRY_VERIFY(window.findChild<QFileDialog *>(QStringLiteral("exportDialog")));
        auto *line = window.findChild<QFileDialog *>(QStringLiteral("exportDialog"))->findChild<QLineEdit *>();
        line->setText(m_exported);
        QTest::keyClick(line, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(m_exported + QStringLiteral("/model.json")), 20000);
    }

    QTemporaryDir m_folder;
    ComponentRegistry m_registry;
    std::unique_ptr<Workspace> m_workspace;
    QString m_trainingNode, m_exported;
};

// The allocator and OpenMP settings of the real program (core/base/startup.h).
int main(int argc, char **argv)
{
    prepareProcess(argv);
    QApplication application(argc, argv);
    TestTrainFromWindow test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_trainfromwindow.moc"
