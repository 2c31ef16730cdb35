// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/testsupport.h"
#include "ui/logs/logpanel.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

using namespace tw;

class TestLogPanel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void levels_data();
    void levels();
    void scanInPiecesEqualsScanAtOnce();
    void partialLastLine();
    void cutFileStartsAnew();
    void followsUntilScrolledUp();
    void followsAgainAtTheEnd();
    void filtersByLevel();
    void findsAndSteps();
    void findsInWhatIsAppended();
    void firstError();
    void copiesLines();
    void showsTextLiterally();
    void missingFile();
    void aMillionLines();
    void looks();

private:
    void write(const QByteArray &text, QIODevice::OpenMode mode = QIODevice::WriteOnly) const;
    fs::path path() const { return pathFromText(m_folder->filePath("std_log.txt")); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestLogPanel::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

void TestLogPanel::write(const QByteArray &text, QIODevice::OpenMode mode) const
{
    QFile file(m_folder->filePath("std_log.txt"));
    QVERIFY(file.open(mode));
    QCOMPARE(file.write(text), text.size());
}

static QByteArray lines(int first, int count, const QByteArray &level = "INFO")
{
    QByteArray text;
    for (int i = first; i < first + count; ++i)
        text += "2024-01-01T00:00:00.000Z " + level + " line " + QByteArray::number(i) + '\n';
    return text;
}

static void present(LogPanel &panel)
{
    panel.resize(700, 400);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
}

void TestLogPanel::levels_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("level");
    QTest::newRow("plain") << QByteArray("Epoch: 001/005 | Batch 010/938") << int(LogLevel::Info);
    QTest::newRow("info") << QByteArray("2024-01-01T00:00:00.000Z INFO ready") << int(LogLevel::Info);
    QTest::newRow("warning") << QByteArray("2024-01-01T00:00:00.000Z WARNING no image in a") << int(LogLevel::Warning);
    QTest::newRow("error") << QByteArray("2024-01-01T00:00:00.000Z ERROR broken") << int(LogLevel::Error);
    QTest::newRow("debug") << QByteArray("2024-01-01T00:00:00.000Z DEBUG x") << int(LogLevel::Debug);
    QTest::newRow("error name") << QByteArray("InvalidDatasetError: no image") << int(LogLevel::Error);
    QTest::newRow("part of a word") << QByteArray("TERRORS are no matter") << int(LogLevel::Info);
    QTest::newRow("late in the line") << QByteArray(60, 'a') + " ERROR" << int(LogLevel::Info);
    QTest::newRow("empty") << QByteArray() << int(LogLevel::Info);
}

void TestLogPanel::levels()
{
    QFETCH(QByteArray, line);
    QTEST(int(lineLevel(line.constData(), line.size())), "level");
}

void TestLogPanel::scanInPiecesEqualsScanAtOnce()
{
    QByteArray text = lines(1, 500) + "\n\n" + QByteArray(5000, 'x') + '\n' + lines(501, 30, "ERROR") + "unfinished";
    write(text);
    LogIndex whole;
    appendGrowth(whole, scanLog(path(), {}, 1 << 30));
    LogIndex pieces;
    for (int i = 0; i < 100000; ++i) {
        const LogGrowth growth = scanLog(path(), positionOf(pieces), 777);
        appendGrowth(pieces, growth);
        if (!growth.moreToRead)
            break;
    }
    QCOMPARE(whole.size(), size_t(534));
    QVERIFY(whole.starts == pieces.starts);
    QVERIFY(whole.levels == pieces.levels);
    QCOMPARE(pieces.end, qint64(text.size()));
    QVERIFY(pieces.lastIsPartial);
}

void TestLogPanel::partialLastLine()
{
    write("one\ntw");
    LogIndex index;
    appendGrowth(index, scanLog(path(), positionOf(index), 1 << 20));
    QCOMPARE(index.size(), size_t(2));
    write("o\nthree\n", QIODevice::Append);
    appendGrowth(index, scanLog(path(), positionOf(index), 1 << 20));
    QCOMPARE(index.size(), size_t(3));
    QVERIFY(!index.lastIsPartial);
    QCOMPARE(readLines(path(), index.starts[1], index.endOf(2)), (QStringList{"two", "three"}));
}

void TestLogPanel::cutFileStartsAnew()
{
    write(lines(1, 20));
    LogSource source(path());
    source.poll();
    QTRY_COMPARE(source.size(), size_t(20));
    write("fresh\n");
    source.poll();
    QTRY_COMPARE(source.size(), size_t(1));
    QTRY_COMPARE(source.line(0).value_or(QString()), QStringLiteral("fresh"));
}

void TestLogPanel::followsUntilScrolledUp()
{
    write(lines(1, 200));
    LogPanel panel(path());
    present(panel);
    QScrollBar *bar = panel.view()->verticalScrollBar();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(200));
    QCOMPARE(bar->value(), bar->maximum());
    write(lines(201, 100), QIODevice::Append);
    panel.wake();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(300));
    QCOMPARE(bar->value(), bar->maximum());

    QWheelEvent up(QPointF(50, 50), panel.view()->viewport()->mapToGlobal(QPointF(50, 50)), {}, QPoint(0, 120),
                   Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(panel.view()->viewport(), &up);
    QVERIFY(!panel.view()->isFollowing());
    const int place = bar->value();
    QVERIFY(place < bar->maximum());
    write(lines(301, 100), QIODevice::Append);
    panel.wake();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(400));
    QCOMPARE(bar->value(), place);
}

void TestLogPanel::followsAgainAtTheEnd()
{
    write(lines(1, 200));
    LogPanel panel(path());
    present(panel);
    QScrollBar *bar = panel.view()->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(3);
    QVERIFY(!panel.view()->isFollowing());
    QTest::keyClick(panel.view(), Qt::Key_End);
    QVERIFY(panel.view()->isFollowing());
    write(lines(201, 50), QIODevice::Append);
    panel.wake();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(250));
    QCOMPARE(bar->value(), bar->maximum());
}

void TestLogPanel::filtersByLevel()
{
    write(lines(1, 50) + lines(51, 3, "WARNING") + lines(54, 40) + lines(94, 2, "ERROR"));
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(95));
    panel.findChild<QComboBox *>()->setCurrentIndex(2);
    QCOMPARE(panel.view()->shownCount(), size_t(5));
    panel.findChild<QComboBox *>()->setCurrentIndex(3);
    QCOMPARE(panel.view()->shownCount(), size_t(2));
    write(lines(96, 4, "ERROR") + lines(100, 4), QIODevice::Append);
    panel.wake();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(6));
    panel.findChild<QComboBox *>()->setCurrentIndex(0);
    QCOMPARE(panel.view()->shownCount(), size_t(103));
}

void TestLogPanel::findsAndSteps()
{
    write(lines(1, 300) + "Needle one\n" + lines(301, 300) + "a NEEDLE two\n" + lines(601, 50));
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(652));
    panel.view()->verticalScrollBar()->setValue(0);
    panel.findChild<QLineEdit *>()->setText("needle");
    QTRY_COMPARE(panel.view()->currentLine(), size_t(300));
    panel.findNext(false);
    QCOMPARE(panel.view()->currentLine(), size_t(601));
    panel.findNext(false); // around
    QCOMPARE(panel.view()->currentLine(), size_t(300));
    panel.findNext(true);
    QCOMPARE(panel.view()->currentLine(), size_t(601));
    QVERIFY(!panel.view()->isFollowing());
}

void TestLogPanel::findsInWhatIsAppended()
{
    write(lines(1, 10));
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(10));
    panel.findChild<QLineEdit *>()->setText("late");
    QTest::qWait(250);
    write("late\n", QIODevice::Append);
    panel.wake();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(11));
    QTRY_VERIFY((panel.findNext(false), panel.view()->currentLine() == 10));
}

void TestLogPanel::firstError()
{
    write(lines(1, 120) + lines(121, 1, "ERROR") + lines(122, 100) + lines(222, 1, "ERROR"));
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(222));
    panel.showFirstError();
    QCOMPARE(panel.view()->currentLine(), size_t(120));
}

void TestLogPanel::copiesLines()
{
    write("one\ntwo\nthree\nfour\n");
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(4));
    QVERIFY(panel.view()->showLine(1));
    QTest::keyClick(panel.view(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(panel.view(), Qt::Key_C, Qt::ControlModifier);
    QTRY_COMPARE(QApplication::clipboard()->text(), QStringLiteral("two\nthree\n"));
}

void TestLogPanel::showsTextLiterally()
{
    write("<b>cat</b>\t\x1b[31mred\x1b[0m a\xe2\x80\xaegnp.exe \xff\r\n");
    LogSource source(path());
    source.poll();
    QTRY_COMPARE(source.size(), size_t(1));
    QTRY_COMPARE(source.line(0).value_or(QString()), QStringLiteral("<b>cat</b>    red a\\u202Egnp.exe \uFFFD"));
}

void TestLogPanel::missingFile()
{
    LogPanel panel(path());
    present(panel);
    QTRY_VERIFY(panel.source()->isMissing());
    QVERIFY(!panel.grab().isNull());
    panel.showFirstError();
    panel.findNext(false);
    write("now\n");
    panel.source()->poll();
    QTRY_COMPARE(panel.view()->shownCount(), size_t(1));
}

void TestLogPanel::aMillionLines()
{
    write(lines(1, 1000000));
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE_WITH_TIMEOUT(panel.view()->shownCount(), size_t(1000000), 60000);
    QVERIFY(panel.view()->showLine(765432));
    QTRY_COMPARE(panel.source()->line(765432).value_or(QString()),
                 QStringLiteral("2024-01-01T00:00:00.000Z INFO line 765433"));
}

void TestLogPanel::looks()
{
    QByteArray text = lines(1, 4) + "2024-01-01T00:00:01.000Z WARNING class “dog” has 0 validation images\n";
    for (int i = 0; i < 60; ++i)
        text += "Epoch: 001/005 | Batch " + QByteArray::number(i * 10).rightJustified(3, '0')
                + "/938 | Train Loss: 0.5243 | 1034 images/s\n";
    write(text + "InvalidDatasetError: the folder is empty\n");
    LogPanel panel(path());
    present(panel);
    QTRY_COMPARE(panel.view()->shownCount(), size_t(66));
    QTest::qWait(100);
    const QPixmap picture = panel.grab();
    QVERIFY(!picture.isNull());
    if (const QString folder = qEnvironmentVariable("TRAINWRIGHT_GRABS"); !folder.isEmpty())
        QVERIFY(picture.save(folder + "/log.png"));
}

QTEST_MAIN(TestLogPanel)
#include "tst_logpanel.moc"
