// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/workspace.h"
#include "tests/support/testsupport.h"
#include "tests/ui/metrics/samplerun.h"
#include "ui/metrics/metricscsv.h"
#include "ui/metrics/metricsheader.h"
#include "ui/metrics/metricstab.h"
#include "ui/metrics/plotexport.h"
#include "ui/metrics/plotwidget.h"

#include <QBuffer>
#include <QLabel>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

using namespace tw;

class TestMetricsTab : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void readsTheFilesOfAJob();
    void followsPointsWhileShown();
    void readsPointsThatNeverCameAsEvents();
    void resumedStepsReplace();
    void zoomIsLinkedAndKept();
    void notFiniteBreaksTheLine();
    void allNotFiniteShowsANote();
    void nodeFiltersSeries();
    void emptyStates();
    void earlyStopping_data();
    void earlyStopping();
    void csvOfMetrics();
    void pictures();
    void aMillionPoints();
    void looks();

private:
    void writeRun(const QList<MetricPoint> &points, const QString &node = QStringLiteral("train1"));
    QString metricsFile(const QString &node = QStringLiteral("train1")) const;

    QTemporaryDir m_folder;
    std::unique_ptr<Workspace> m_workspace;
    QString m_job;
    int m_jobs = 0;
};

void TestMetricsTab::initTestCase()
{
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.filePath("settings"));
    QCoreApplication::setOrganizationName("trainwright-test");
    auto workspace = Workspace::open(pathFromText(m_folder.filePath("workspace")));
    TW_VERIFY(workspace);
    m_workspace = std::move(workspace).value();
}

void TestMetricsTab::init()
{
    QSettings().clear();
    m_job = QStringLiteral("20240101-000000-%1").arg(++m_jobs, 4, 16, QLatin1Char('0'));
}

QString TestMetricsTab::metricsFile(const QString &node) const
{
    return displayPath(m_workspace->nodeFolder(m_job, node) / "metrics.jsonl");
}

void TestMetricsTab::writeRun(const QList<MetricPoint> &points, const QString &node)
{
    QVERIFY(tw::test::writeText(metricsFile(node), tw::test::metricsText(points)));
    QVERIFY(tw::test::writeText(
        displayPath(m_workspace->jobFolder(m_job) / "pipeline.json"),
        R"({"nodes":[{"id":"train1","component":"train-pytorch-model","parameters":{"epochs":12,"patience":3}}]})"));
}

static void present(MetricsTab &tab)
{
    tab.resize(1100, 760);
    tab.show();
    QVERIFY(QTest::qWaitForWindowExposed(&tab));
}

static PlotWidget *plot(MetricsTab &tab, const char *id)
{
    return tab.findChild<PlotWidget *>(QString::fromLatin1(id));
}

static size_t samplesDrawn(MetricsTab &tab, const char *id)
{
    size_t samples = 0;
    for (const DrawnCurve &curve : plot(tab, id)->drawnCurves())
        samples += curve.x.size();
    return samples;
}

void TestMetricsTab::readsTheFilesOfAJob()
{
    const auto points = tw::test::samplePoints(5, 40);
    writeRun(points);
    MetricsTab tab;
    present(tab);
    tab.setJob(m_workspace.get(), m_job);
    QTRY_COMPARE(tab.pointCount(), qint64(points.size()));
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    QCOMPARE(plot(tab, "loss")->drawnCurves().size(), 3); // raw, smoothed, validation
    QCOMPARE(plot(tab, "accuracy")->drawnCurves().size(), 3);
    const auto [low, high] = plot(tab, "accuracy")->yRange();
    QVERIFY(low >= 0 && high < 1.1);
}

void TestMetricsTab::followsPointsWhileShown()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    const auto points = tw::test::samplePoints(2, 50);
    tab.addPoints(points.mid(0, 100));
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    const auto before = plot(tab, "loss")->xRange();
    tab.addPoints(points.mid(100));
    QTRY_VERIFY(plot(tab, "loss")->xRange().second > before.second);
    QCOMPARE(tab.pointCount(), qint64(points.size()));
}

void TestMetricsTab::readsPointsThatNeverCameAsEvents()
{
    const auto points = tw::test::samplePoints(2, 20);
    writeRun(points.mid(0, 30));
    MetricsTab tab;
    present(tab);
    tab.setJob(m_workspace.get(), m_job);
    QTRY_COMPARE(tab.pointCount(), qint64(30));
    QVERIFY(tw::test::writeText(metricsFile(), tw::test::metricsText(points.mid(30)), QIODevice::Append));
    tab.addPoints(points.mid(28, 6)); // seen twice
    QTRY_COMPARE(tab.pointCount(), qint64(points.size()));
}

void TestMetricsTab::resumedStepsReplace()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    QList<MetricPoint> points;
    for (int i = 1; i <= 4; ++i)
        points << MetricPoint{"train1", "val_loss", i * 10, double(i), double(i), 0, 1.0 - 0.1 * i};
    tab.addPoints(points);
    QTRY_COMPARE(samplesDrawn(tab, "loss"), size_t(4));
    tab.addPoints(
        {MetricPoint{"train1", "val_loss", 30, 3, 3, 0, 0.65}, MetricPoint{"train1", "val_loss", 50, 5, 5, 0, 0.4}});
    QTRY_COMPARE(samplesDrawn(tab, "loss"), size_t(5));
    QCOMPARE(plot(tab, "loss")->drawnCurves().front().y, (std::vector<double>{0.9, 0.8, 0.65, 0.6, 0.4}));
}

void TestMetricsTab::zoomIsLinkedAndKept()
{
    const auto points = tw::test::samplePoints(4, 100);
    writeRun({});
    MetricsTab tab;
    present(tab);
    tab.setJob(m_workspace.get(), m_job);
    tab.addPoints(points.mid(0, 600));
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    QWidget *canvas = plot(tab, "loss")->findChild<QWidget *>();
    const QPointF at = QPointF(canvas->width() / 2.0, canvas->height() / 2.0);
    const auto before = plot(tab, "loss")->xRange();
    QWheelEvent wheel(at, canvas->mapToGlobal(at), {}, QPoint(0, 360), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(canvas, &wheel);
    QTRY_VERIFY(plot(tab, "loss")->xRange().first > before.first);
    const auto zoomed = plot(tab, "loss")->xRange();
    QVERIFY(zoomed.second < before.second);
    QTRY_COMPARE(plot(tab, "speed")->xRange(), zoomed);
    tab.addPoints(points.mid(600));
    QTest::qWait(150); // several refreshes
    QCOMPARE(plot(tab, "loss")->xRange(), zoomed);
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, at.toPoint());
    QTRY_VERIFY(plot(tab, "loss")->xRange().second > before.second);
    QCOMPARE(plot(tab, "learning_rate")->xRange(), plot(tab, "loss")->xRange());
}

void TestMetricsTab::notFiniteBreaksTheLine()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    const double values[]{0.9, 0.8, std::nan(""), 0.7, HUGE_VAL, 0.6};
    QList<MetricPoint> points;
    for (int i = 0; i < 6; ++i)
        points << MetricPoint{"train1", "val_loss", i + 1, i + 1.0, i + 1.0, 0, values[i]};
    tab.addPoints(points);
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    const DrawnCurve &curve = plot(tab, "loss")->drawnCurves().front();
    QCOMPARE(curve.notFinite, (std::vector<double>{3, 5}));
    QCOMPARE(curve.singles.size(), size_t(2));
    const auto [low, high] = plot(tab, "loss")->yRange();
    QVERIFY(low > 0.5 && low < 0.6 && high > 0.9 && high < 1);
}

void TestMetricsTab::allNotFiniteShowsANote()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    tab.addPoints({MetricPoint{"train1", "train_loss", 1, 1, 1, 0, std::nan("")},
                   MetricPoint{"train1", "train_loss", 2, 1, 2, 0, std::nan("")}});
    QTRY_VERIFY(!plot(tab, "loss")->drawnCurves().isEmpty());
    QCOMPARE(samplesDrawn(tab, "loss"), size_t(0));
    const auto [low, high] = plot(tab, "loss")->yRange();
    QVERIFY(std::isfinite(low) && high > low);
    plot(tab, "loss")->setLogY(true);
    plot(tab, "loss")->refresh();
    QVERIFY(!tab.grab().isNull());
}

void TestMetricsTab::nodeFiltersSeries()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    tab.addPoints({MetricPoint{"a", "val_loss", 1, 1, 1, 0, 0.5}, MetricPoint{"b", "val_loss", 1, 1, 1, 0, 0.7}});
    QTRY_COMPARE(plot(tab, "loss")->drawnCurves().size(), 2);
    tab.setNode("b");
    QTRY_COMPARE(plot(tab, "loss")->drawnCurves().size(), 1);
    QCOMPARE(plot(tab, "loss")->drawnCurves().front().y, std::vector<double>{0.7});
}

void TestMetricsTab::emptyStates()
{
    MetricsTab tab;
    present(tab);
    const auto words = [&tab] {
        const auto labels = tab.findChildren<QLabel *>();
        for (const QLabel *label : labels) {
            if (label->isVisible() && label->wordWrap())
                return label->text();
        }
        return QString();
    };
    QVERIFY(words().contains("Run"));
    tab.setJob(m_workspace.get(), m_job);
    QTRY_VERIFY(words().contains("no metrics yet"));
    tab.setJob(nullptr, {});
    QVERIFY(words().contains("Choose a job"));
    QCOMPARE(tab.pointCount(), qint64(0));
}

void TestMetricsTab::earlyStopping_data()
{
    QTest::addColumn<QList<double>>("losses");
    QTest::addColumn<bool>("previous");
    QTest::addColumn<int>("left");
    QTest::newRow("falling") << QList<double>{1, 0.9, 0.8} << false << 3;
    QTest::newRow("two without") << QList<double>{1, 0.8, 0.9, 0.85} << false << 1;
    QTest::newRow("against the previous") << QList<double>{1, 0.8, 0.9, 0.85} << true << 3;
    QTest::newRow("NaN is no improvement") << QList<double>{1, std::nan(""), std::nan("")} << false << 1;
    QTest::newRow("used up") << QList<double>{1, 2, 3, 4, 5} << false << 0;
    QTest::newRow("equal is not lower") << QList<double>{1, 1} << false << 2;
}

void TestMetricsTab::earlyStopping()
{
    QFETCH(QList<double>, losses);
    QFETCH(bool, previous);
    QTEST(epochsUntilStop(std::vector<double>(losses.begin(), losses.end()), 3, previous), "left");
}

void TestMetricsTab::csvOfMetrics()
{
    MetricStore store;
    store.add({"a,b", "=val\"loss\"", 1, 1.5, 0.25, 0, 1e-07});
    store.add({"a,b", "=val\"loss\"", 2, 2, 0.5, 0, std::nan("")});
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QVERIFY(writeMetricsCsv(buffer, store, store.keys(), CsvFormulas::Keep));
    QCOMPARE(buffer.data(), QByteArray("node,series,rank,step,epoch,seconds,value\r\n"
                                       "\"a,b\",\"=val\"\"loss\"\"\",0,1,1.5,0.25,1e-07\r\n"
                                       "\"a,b\",\"=val\"\"loss\"\"\",0,2,2,0.5,NaN\r\n"));
}

void TestMetricsTab::pictures()
{
    writeRun(tw::test::samplePoints(3, 30));
    MetricsTab tab;
    present(tab);
    tab.setJob(m_workspace.get(), m_job);
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    const QList<PlotWidget *> plots{plot(tab, "loss"), plot(tab, "accuracy")};
    for (const char *suffix : {"png", "svg", "pdf"}) {
        const QString path = m_folder.filePath(QStringLiteral("plots.") + suffix);
        QVERIFY(savePlotPicture(plots, 2, path));
        QVERIFY(QFileInfo(path).size() > 2000);
    }
    QCOMPARE(QImage(m_folder.filePath("plots.png")).size(), PlotWidget::gridSize(plots, 2) * 2);
    QVERIFY(!savePlotPicture(plots, 2, m_folder.filePath("missing/plots.png")));
}

void TestMetricsTab::aMillionPoints()
{
    MetricsTab tab;
    present(tab);
    writeRun({});
    tab.setJob(m_workspace.get(), m_job);
    QTRY_VERIFY(tab.findChild<PlotWidget *>());
    QList<MetricPoint> points;
    points.reserve(1000000);
    for (int i = 1; i <= 1000000; ++i)
        points << MetricPoint{
            "train1", "train_loss", i, i / 1000.0, i * 0.01, 0, i == 654321 ? 50 : std::sin(i / 1000.0)};
    tab.addPoints(points);
    QTRY_VERIFY_WITH_TIMEOUT(samplesDrawn(tab, "loss") > 0, 20000);
    QCOMPARE(plot(tab, "loss")->drawnCurves().front().highest, 50.0);
    QVERIFY(samplesDrawn(tab, "loss") < 20000);
}

/// Writes pictures of the tab where TRAINWRIGHT_GRABS names a folder.
void TestMetricsTab::looks()
{
    writeRun(tw::test::samplePoints(12, 300));
    MetricsTab tab;
    present(tab);
    tab.setJob(m_workspace.get(), m_job);
    QTRY_VERIFY(samplesDrawn(tab, "loss") > 0);
    QTRY_VERIFY(samplesDrawn(tab, "accuracy") > 0);
    const QString folder = qEnvironmentVariable("TRAINWRIGHT_GRABS");
    for (const bool dark : {false, true}) {
        QPalette palette;
        palette.setColor(QPalette::Window, dark ? QColor(0x16, 0x18, 0x1c) : QColor(0xf6, 0xf7, 0xf9));
        palette.setColor(QPalette::WindowText, dark ? Qt::white : Qt::black);
        palette.setColor(QPalette::Button, dark ? QColor(0x2a, 0x2e, 0x36) : QColor(0xee, 0xf0, 0xf2));
        palette.setColor(QPalette::ButtonText, dark ? Qt::white : Qt::black);
        tab.setPalette(palette);
        tab.setAutoFillBackground(true);
        tab.applyTheme(dark);
        plot(tab, "loss")->setCrosshair(1500);
        QTest::qWait(120);
        const QPixmap picture = tab.grab();
        QCOMPARE(picture.toImage().pixelColor(20, 200).lightness() < 128, dark);
        if (!folder.isEmpty())
            QVERIFY(picture.save(folder + (dark ? "/metrics-dark.png" : "/metrics-light.png")));
    }
}

QTEST_MAIN(TestMetricsTab)
#include "tst_metricstab.moc"
