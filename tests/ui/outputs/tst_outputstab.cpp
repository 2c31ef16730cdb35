// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/workspace.h"
#include "tests/support/testsupport.h"
#include "ui/common/csvtext.h"
#include "ui/common/plaintext.h"
#include "ui/logs/logpanel.h"
#include "ui/outputs/foldermodel.h"
#include "ui/outputs/loglist.h"
#include "ui/outputs/outputstab.h"
#include "ui/outputs/previewpane.h"

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <QTreeWidget>

#include <sys/stat.h>

using namespace tw;

class TestOutputsTab : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    // QTemporaryDir cannot remove names that are not UTF-8.
    void cleanup() { std::filesystem::remove_all(pathFromText(m_folder->path())); }
    void csvCase();
    void csvOddities();
    void namesAreShownLiterally();
    void treeListsLazilyAndRefreshes();
    void treeKeepsRawNames();
    void previews_data();
    void previews();
    void previewOfPipesAndMissingFiles();
    void previewOfDeepJson();
    void modelCard();
    void brokenModelCard();
    void logOrder();
    void tabsFollowJobAndNode();
    void appendedLogMakesATab();
    void emptyStates();
    void looks();

private:
    QString write(const QString &name, const QByteArray &bytes);
    void writeModel(const QString &folder);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Workspace> m_workspace;
    const QString m_job = QStringLiteral("20240101-000000-00aa");
};

void TestOutputsTab::init()
{
    m_workspace.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    auto workspace = Workspace::open(pathFromText(m_folder->filePath("workspace")));
    TW_VERIFY(workspace);
    m_workspace = std::move(workspace).value();
}

QString TestOutputsTab::write(const QString &name, const QByteArray &bytes)
{
    const QString path = displayPath(m_workspace->jobFolder(m_job)) + QLatin1Char('/') + name;
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write");
    return path;
}

void TestOutputsTab::writeModel(const QString &folder)
{
    write(folder + "/model.json",
          R"({"format":"trainwright-model","version":1,"architecture":"resnet18","arguments":{"num_classes":3},
"classes":["<b>cat</b>","R&D","dog"],"input":{"channels":3,"height":224,"width":224},
"training":{"best_val_top1":0.9312,"best_epoch":11,"epochs":12,"val_loss":0.2051}})");
    write(folder + "/weights.pth", QByteArray(123456, 'w'));
    write(folder + "/labels.txt", "<b>cat</b>\nR&D\ndog\n");
}

static QJsonObject readCase(const char *name)
{
    const auto cases = tw::test::casesFolder();
    QFile file(cases ? displayPath(*cases / name) : QString());
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

void TestOutputsTab::csvCase()
{
    const QJsonObject root = readCase("ui/csv.json");
    if (root.isEmpty())
        QSKIP("not found");
    QByteArray text;
    for (const QJsonValue &row : root["rows"].toArray()) {
        QStringList cells;
        for (const QJsonValue &cell : row.toArray())
            cells << (cell.isDouble() ? csvNumber(cell.toDouble()) : cell.toString());
        text += csvRow(cells);
    }
    QCOMPARE(QString::fromUtf8(text), root["expect"]["one_right_text"].toString());
    QJsonArray back;
    for (const QStringList &row : parseCsv(text, 100))
        back.append(QJsonArray::fromStringList(row));
    QCOMPARE(back, root["expect"]["parses_back_to"].toArray());
}

void TestOutputsTab::csvOddities()
{
    QCOMPARE(csvRow({"=1+1", "-0.5", "-dash", "\tx"}, CsvFormulas::Guard), QByteArray("'=1+1,-0.5,'-dash,'\tx\r\n"));
    QCOMPARE(parseCsv("", 10), QList<QStringList>());
    QCOMPARE(parseCsv("a,b\n\"open", 10), (QList<QStringList>{{"a", "b"}, {"open"}}));
    QCOMPARE(parseCsv("a\"b,\"\"\r\n,\r\n", 10), (QList<QStringList>{{"a\"b", ""}, {"", ""}}));
    QCOMPARE(parseCsv("\xef\xbb\xbf"
                      "a\n1\n2\n3\n",
                      2)
                 .size(),
             2);
}

void TestOutputsTab::namesAreShownLiterally()
{
    const QJsonObject root = readCase("ui/names.json");
    if (root.isEmpty())
        QSKIP("not found");
    for (const QJsonValue &value : root["names"].toArray()) {
        const QString name = value.toString();
        const QString shown = literalText(name);
        QVERIFY(!shown.contains(QChar(0x202e)));
        if (!name.contains(QChar(0x202e)))
            QCOMPARE(shown, name);
        QCOMPARE(QString(literalToolTip(name)).remove("<span>").remove("</span>").contains('<'), false);
        QVERIFY(shortText(name, 40).size() <= 40);
        if (name.contains(QLatin1Char('/')) || name.size() > 200)
            continue; // no file name
        write(name, "x");
        FolderModel model;
        model.setRoot(m_workspace->jobFolder(m_job));
        QTRY_VERIFY(model.rowCount() > 0);
        const QModelIndex index = model.find(m_workspace->jobFolder(m_job) / pathFromText(name));
        QVERIFY(index.isValid());
        QCOMPARE(index.data().toString(), shown);
    }
}

void TestOutputsTab::treeListsLazilyAndRefreshes()
{
    write("b/10.txt", "x");
    write("b/9.txt", "xy");
    write("a.txt", "x");
    write(".model.part-1f/x", "half");
    FolderModel model;
    model.setRoot(m_workspace->jobFolder(m_job));
    QTRY_COMPARE(model.rowCount(), 2);
    const QModelIndex folder = model.index(0, 0);
    QCOMPARE(folder.data().toString(), QStringLiteral("b")); // folders first
    QCOMPARE(model.rowCount(folder), 0);
    QVERIFY(model.canFetchMore(folder));
    model.fetchMore(folder);
    QTRY_COMPARE(model.rowCount(folder), 2);
    QCOMPARE(model.index(0, 0, folder).data().toString(), QStringLiteral("9.txt"));
    const QPersistentModelIndex kept = model.index(1, 0, folder);
    write("b/1.txt", "x");
    QFile::remove(displayPath(m_workspace->jobFolder(m_job)) + "/b/9.txt");
    model.refresh();
    QTRY_COMPARE(model.index(0, 0, folder).data().toString(), QStringLiteral("1.txt"));
    QTRY_COMPARE(model.rowCount(folder), 2);
    QCOMPARE(kept.data().toString(), QStringLiteral("10.txt"));
}

void TestOutputsTab::treeKeepsRawNames()
{
    write("plain", "x");
    const fs::path raw = m_workspace->jobFolder(m_job) / std::string("caf\xe9.txt");
    FILE *file = fopen(raw.c_str(), "w");
    if (!file)
        QSKIP("this file system takes UTF-8 names only");
    fclose(file);
    FolderModel model;
    model.setRoot(m_workspace->jobFolder(m_job));
    QTRY_COMPARE(model.rowCount(), 2);
    QVERIFY(model.find(raw).isValid());
    QCOMPARE(model.path(model.find(raw)), raw);
    QCOMPARE(readPreview(raw).kind, Preview::Kind::Text);
}

void TestOutputsTab::previews_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("note"); // a part of it
    QByteArray png;
    {
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        QImage image(64, 32, QImage::Format_RGB32);
        image.fill(Qt::red);
        image.save(&buffer, "PNG");
    }
    using Kind = Preview::Kind;
    const auto row = [](const char *title, const char *name, const QByteArray &bytes, Kind kind, const char *note) {
        QTest::newRow(title) << QString(name) << bytes << int(kind) << QString(note);
    };
    row("text", "a.txt", "hello\n", Kind::Text, "");
    row("empty text", "a.txt", "", Kind::Text, "empty");
    row("binary", "a.bin", QByteArray("a\0b", 3), Kind::Facts, "");
    row("json", "a.json", R"({"a":[1,2,{"b":null}]})", Kind::Json, "");
    row("json array", "a.json", "[1,2]", Kind::Json, "");
    row("broken json", "a.json", "{\n\"a\": [1,\n", Kind::Text, "Line 3");
    row("empty json", "a.json", "", Kind::Text, "empty");
    row("json of zeros", "a.json", QByteArray(100, '\0'), Kind::Facts, "not valid JSON");
    row("picture", "a.png", png, Kind::Picture, "");
    row("cut picture", "a.png", png.left(40), Kind::Facts, "cannot be read");
    row("no picture", "a.jpg", "not a picture", Kind::Facts, "cannot be read");
    row("empty picture", "a.jpg", "", Kind::Facts, "cannot be read");
    row("table", "a.csv", "x,y\n1,2\n", Kind::Table, "");
    row("long table", "a.csv", "x\n" + QByteArray("1\n").repeated(5000), Kind::Table, "first 1000 rows");
    row("empty table", "a.csv", "", Kind::Table, "");
    row("long text", "a.log", QByteArray("0123456789\n").repeated(600000), Kind::Text, "first");
}

void TestOutputsTab::previews()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, bytes);
    QFETCH(QString, note);
    const fs::path path = pathFromText(write(name, bytes));
    PreviewPane pane;
    pane.resize(500, 400);
    pane.QWidget::show();
    QSignalSpy shown(&pane, &PreviewPane::shown);
    pane.show(path);
    QTRY_COMPARE(shown.size(), 1);
    QTEST(int(pane.preview().kind), "kind");
    if (note.isEmpty())
        QCOMPARE(pane.preview().note, note);
    else
        QVERIFY2(pane.preview().note.contains(note), qPrintable(pane.preview().note));
    QVERIFY(pane.preview().rows.size() <= 1001);
    QVERIFY(!pane.grab().isNull());
}

void TestOutputsTab::previewOfPipesAndMissingFiles()
{
    write("x", "");
    const fs::path pipe = m_workspace->jobFolder(m_job) / "pipe.txt";
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    QVERIFY(!readPreview(pipe).note.isEmpty());
    QVERIFY(!readPreview(m_workspace->jobFolder(m_job) / "missing.json").note.isEmpty());
}

void TestOutputsTab::previewOfDeepJson()
{
    const fs::path path = pathFromText(write("deep.json", QByteArray(200000, '[')));
    QCOMPARE(readPreview(path).kind, Preview::Kind::Text);
    QByteArray wide = "[0";
    for (int i = 1; i < 50000; ++i)
        wide += ",{\"a\":" + QByteArray::number(i) + "}";
    PreviewPane pane;
    pane.show(pathFromText(write("wide.json", wide + ']')));
    const QTreeWidget *tree = pane.findChild<QTreeWidget *>();
    QTRY_COMPARE(tree->topLevelItemCount(), 1001);
    QVERIFY(tree->topLevelItem(1000)->text(1).contains("49000"));
}

void TestOutputsTab::modelCard()
{
    writeModel("nodes/train1/outputs/trained_model");
    OutputsTab tab;
    tab.resize(900, 600);
    tab.show();
    tab.setJob(m_workspace.get(), m_job);
    QSignalSpy exports(&tab, &OutputsTab::exportRequested);
    auto *pane = tab.findChild<PreviewPane *>();
    const fs::path folder = m_workspace->outputFolder(m_job, "train1", "trained_model");
    pane->show(folder);
    QTRY_COMPARE(pane->preview().kind, Preview::Kind::Model);
    QCOMPARE(pane->preview().classes, (QStringList{"<b>cat</b>", "R&D", "dog"}));
    QStringList values;
    for (const auto &[name, value] : pane->preview().facts)
        values << value;
    QVERIFY(values.contains("resnet18") && values.contains("3 × 224 × 224") && values.contains("93.12 %"));
    QPushButton *button = pane->findChild<QPushButton *>();
    QVERIFY(!button->isHidden());
    button->click();
    QCOMPARE(exports.size(), 1);
    QCOMPARE(exports.front().front().toByteArray(), bytesFromPath(folder));
}

void TestOutputsTab::brokenModelCard()
{
    write("m/model.json", "{\"classes\": 3,");
    PreviewPane pane;
    pane.show(m_workspace->jobFolder(m_job) / "m");
    QTRY_COMPARE(pane.preview().kind, Preview::Kind::Model);
    QVERIFY(!pane.preview().note.isEmpty());
    QVERIFY(pane.findChild<QPushButton *>()->isHidden());
}

void TestOutputsTab::logOrder()
{
    write("pipeline.json", R"({"nodes":[{"id":"data1"},{"id":"split1"},{"id":"train1"}]})");
    write("nodes/split1/logs/std_log.txt", "x\n");
    write("nodes/data1/logs/std_log.txt", "x\n");
    for (const char *name : {"std_log", "70_mpi_log", "70_driver_log_10", "70_driver_log_0", "70_driver_log_2"})
        write(QStringLiteral("nodes/train1/logs/%1.txt").arg(QLatin1String(name)), "x\n");
    QStringList titles;
    for (const LogFile &log : listLogs(m_workspace->jobFolder(m_job), {}))
        titles << log.title;
    QCOMPARE(titles, (QStringList{"70_driver_log_0", "70_driver_log_2", "70_driver_log_10", "70_mpi_log",
                                  "data1 · std_log", "split1 · std_log", "train1 · std_log"}));
    QCOMPARE(listLogs(m_workspace->jobFolder(m_job), "split1").size(), 1);
    QCOMPARE(listLogs(m_workspace->jobFolder(m_job), "none").size(), 0);
}

void TestOutputsTab::tabsFollowJobAndNode()
{
    write("nodes/train1/logs/70_driver_log_0.txt", "a\nb\n");
    write("nodes/data1/logs/std_log.txt", "c\n");
    OutputsTab tab;
    tab.resize(900, 600);
    tab.show();
    tab.setJob(m_workspace.get(), m_job);
    auto *tabs = tab.findChild<QTabWidget *>();
    QTRY_COMPARE(tabs->count(), 3);
    QCOMPARE(tabs->tabText(1), QStringLiteral("70_driver_log_0"));
    QCOMPARE(tabs->currentIndex(), 1);
    auto *panel = qobject_cast<LogPanel *>(tabs->widget(1));
    QTRY_COMPARE(panel->view()->shownCount(), size_t(2));
    tab.setNode("data1");
    QTRY_COMPARE(tabs->count(), 2);
    QCOMPARE(tabs->tabText(1), QStringLiteral("std_log"));
    tab.setNode({});
    QTRY_COMPARE(tabs->count(), 3);
    tab.setJob(nullptr, {});
    QCOMPARE(tabs->count(), 1);
}

void TestOutputsTab::appendedLogMakesATab()
{
    write("pipeline.json", "{}");
    OutputsTab tab;
    tab.resize(900, 600);
    tab.show();
    tab.setJob(m_workspace.get(), m_job);
    const QString path = write("nodes/train1/logs/70_driver_log_0.txt", "first\n");
    tab.appendLog({"train1", 0, LogLevel::Info, "first", true});
    auto *tabs = tab.findChild<QTabWidget *>();
    QTRY_COMPARE(tabs->count(), 2);
    auto *panel = qobject_cast<LogPanel *>(tabs->widget(1));
    QTRY_COMPARE(panel->view()->shownCount(), size_t(1));
    QFile file(path);
    QVERIFY(file.open(QIODevice::Append));
    file.write("second\n");
    file.close();
    tab.appendLog({"train1", 0, LogLevel::Info, "second", true});
    QTRY_COMPARE(panel->view()->shownCount(), size_t(2));
}

void TestOutputsTab::emptyStates()
{
    OutputsTab tab;
    tab.resize(500, 300);
    tab.show();
    const auto words = [&tab] { return tab.findChild<QLabel *>()->text(); };
    QVERIFY(words().contains("Choose a job"));
    tab.setJob(m_workspace.get(), "20240101-000000-ffff");
    QTRY_VERIFY(words().contains("cannot be read"));
}

void TestOutputsTab::looks()
{
    writeModel("nodes/train1/outputs/trained_model");
    write("nodes/train1/logs/70_driver_log_0.txt", "Epoch: 001/005 | Batch 000/938 | Train Loss: 2.3021\n");
    write("nodes/train1/metrics.jsonl", "{}\n");
    write("nodes/data1/logs/std_log.txt", "c\n");
    write("pipeline.json", R"({"format":"trainwright-pipeline","nodes":[{"id":"data1"},{"id":"train1"}]})");
    OutputsTab tab;
    tab.resize(1000, 560);
    tab.show();
    tab.setJob(m_workspace.get(), m_job);
    auto *tabs = tab.findChild<QTabWidget *>();
    QTRY_COMPARE(tabs->count(), 3);
    auto *tree = tab.findChild<QTreeView *>();
    QTRY_VERIFY(tree->model()->rowCount() > 0);
    auto *pane = tab.findChild<PreviewPane *>();
    pane->show(m_workspace->outputFolder(m_job, "train1", "trained_model"));
    QTRY_COMPARE(pane->preview().kind, Preview::Kind::Model);
    tabs->setCurrentIndex(0);
    QTest::qWait(100);
    const QPixmap picture = tab.grab();
    QVERIFY(!picture.isNull());
    if (const QString folder = qEnvironmentVariable("TRAINWRIGHT_GRABS"); !folder.isEmpty())
        QVERIFY(picture.save(folder + "/outputs.png"));
}

QTEST_MAIN(TestOutputsTab)
#include "tst_outputstab.moc"
