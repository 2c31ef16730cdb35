// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/workspace.h"
#include "tests/support/testsupport.h"
#include "ui/jobs/joblist.h"
#include "ui/jobs/jobmodel.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeView>

#include <cmath>

using namespace tw;

class TestJobList : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void rowTakesBestAndLast();
    void duration();
    void sortsWithUnknownLast_data();
    void sortsWithUnknownLast();
    void showsJobsOfTheStore();
    void jobsOfOtherProgramsAppear();
    void searchFindsWords();
    void refreshKeepsTheSelection();
    void updateStateShowsAtOnce();
    void keyboardActivatesAndCopies();
    void deleteAsksFirst();
    void markupInNames();
    void emptyStates();
    void looks();

private:
    void insert(const QString &id, const QString &name, JobState state, double top1,
                const QString &experiment = "default");

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Workspace> m_workspace;
};

void TestJobList::init()
{
    m_workspace.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    auto workspace = Workspace::open(pathFromText(m_folder->path() + "/w"));
    TW_VERIFY(workspace);
    m_workspace = std::move(workspace).value();
}

void TestJobList::insert(const QString &id, const QString &name, JobState state, double top1, const QString &experiment)
{
    JobRecord record;
    record.id = id;
    record.name = name;
    record.experiment = experiment;
    record.state = state;
    record.createdMs = record.startedMs = 1704067200000 + id.right(4).toInt(nullptr, 16) * 60000;
    record.finishedMs = isFinal(state) ? record.startedMs + 95000 : 0;
    NodeRecord node;
    node.id = "train1";
    node.component = "train-pytorch-model";
    node.state = NodeState::Completed;
    if (!std::isnan(top1))
        node.results = {{"epochs_done", 12}};
    record.nodes << node;
    TW_VERIFY(m_workspace->insertJob(record));
    if (!std::isnan(top1))
        TW_VERIFY(m_workspace->updateSeries(id, {{"train1", "val_top1", 0, top1 - 0.01, top1, 100, 90},
                                                 {"train1", "images_per_second", 0, 1034, 1034, 100, 100}}));
}

static QStringList shownNames(const JobListView &list)
{
    const QAbstractItemModel *model = list.findChild<QTreeView *>()->model();
    QStringList names;
    for (int row = 0; row < model->rowCount(); ++row)
        names << model->index(row, JobModel::Name).data().toString();
    return names;
}

static const QString idA = QStringLiteral("20240101-000000-0001"), idB = QStringLiteral("20240101-000000-0002"),
                     idC = QStringLiteral("20240101-000000-0003");

void TestJobList::rowTakesBestAndLast()
{
    JobRecord record;
    NodeRecord node;
    node.results = {{"epochs_done", 7}};
    node.state = NodeState::Reused;
    record.nodes << node;
    const JobRow row = makeJobRow(record, {{"a", "val_top1", 0, 0.5, 0.7, 1, 1},
                                           {"b", "val_top1", 0, 0.4, 0.9, 1, 1},
                                           {"a", "val_top1", 1, 0.5, 0.99, 1, 1},
                                           {"c", "val_top1", 0, 0, std::nan(""), 1, 1},
                                           {"a", "images_per_second", 0, 100, 300, 1, 1}});
    QCOMPARE(row.bestTop1, 0.9);
    QCOMPARE(row.imagesPerSecond, 100.0);
    QCOMPARE(row.epochs, 7.0);
    QCOMPARE(row.reusedNodes, 1);
    QVERIFY(std::isnan(makeJobRow({}, {}).bestTop1));
}

void TestJobList::duration()
{
    JobRecord record;
    QVERIFY(std::isnan(jobSeconds(record, 5000)));
    record.startedMs = 1000;
    record.state = JobState::Running;
    QCOMPARE(jobSeconds(record, 5000), 4.0);
    QCOMPARE(jobSeconds(record, 500), 0.0); // the clock was set back
    record.finishedMs = 3000;
    QCOMPARE(jobSeconds(record, 5000), 2.0);
}

void TestJobList::sortsWithUnknownLast_data()
{
    QTest::addColumn<int>("order");
    QTest::addColumn<QList<double>>("expected");
    QTest::newRow("ascending") << int(Qt::AscendingOrder) << QList<double>{0.1, 0.5, 0.9, -1, -1};
    QTest::newRow("descending") << int(Qt::DescendingOrder) << QList<double>{0.9, 0.5, 0.1, -1, -1};
}

void TestJobList::sortsWithUnknownLast()
{
    QFETCH(int, order);
    JobModel model;
    QList<JobRow> rows;
    const double values[]{0.5, std::nan(""), 0.9, std::nan(""), 0.1};
    for (int i = 0; i < 5; ++i) {
        JobRow row;
        row.record.id = QString::number(i);
        row.bestTop1 = values[i];
        rows << row;
    }
    model.setRows(rows);
    JobSorter sorter;
    sorter.setSourceModel(&model);
    sorter.sort(JobModel::BestTop1, Qt::SortOrder(order));
    QList<double> sorted;
    for (int row = 0; row < 5; ++row) {
        const double value = sorter.index(row, JobModel::BestTop1).data(JobModel::SortRole).toDouble();
        sorted << (std::isnan(value) ? -1 : value);
    }
    QTEST(sorted, "expected");
}

void TestJobList::showsJobsOfTheStore()
{
    insert(idA, "first", JobState::Completed, 0.7);
    insert(idB, "second", JobState::Failed, std::nan(""));
    JobListView list;
    list.resize(800, 300);
    list.show();
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list), (QStringList{"second", "first"})); // newest first
    const QAbstractItemModel *model = list.findChild<QTreeView *>()->model();
    QCOMPARE(model->index(1, JobModel::BestTop1).data().toString(), QStringLiteral("70.00 %"));
    QCOMPARE(model->index(0, JobModel::BestTop1).data().toString(), QString());
    QCOMPARE(model->index(1, JobModel::Epochs).data().toString(), QStringLiteral("12"));
    QCOMPARE(model->index(1, JobModel::Duration).data().toString(), QStringLiteral("1:35"));
    list.setWorkspace(nullptr);
    QCOMPARE(shownNames(list), QStringList());
}

/// The command line works in the same workspace; nobody tells the list.
void TestJobList::jobsOfOtherProgramsAppear()
{
    JobListView list;
    list.show();
    list.setWorkspace(m_workspace.get());
    auto other = Workspace::open(m_workspace->folder());
    TW_VERIFY(other);
    QTest::qWait(100);
    JobRecord record;
    record.id = idA;
    record.name = QStringLiteral("elsewhere");
    record.createdMs = 1;
    TW_VERIFY((*other)->insertJob(record));
    QTRY_COMPARE_WITH_TIMEOUT(shownNames(list), QStringList{"elsewhere"}, 10000);
}

void TestJobList::searchFindsWords()
{
    insert(idA, "flowers small", JobState::Completed, 0.7, "baseline");
    insert(idB, "flowers large", JobState::Failed, 0.7, "sweep");
    JobListView list;
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list).size(), 2);
    auto *search = list.findChild<QLineEdit *>();
    search->setText("FLOWERS base");
    QCOMPARE(shownNames(list), QStringList{"flowers small"});
    search->setText("failed");
    QCOMPARE(shownNames(list), QStringList{"flowers large"});
    search->setText(".*");
    QCOMPARE(shownNames(list), QStringList());
    search->clear();
    QCOMPARE(shownNames(list).size(), 2);
}

void TestJobList::refreshKeepsTheSelection()
{
    insert(idA, "first", JobState::Completed, 0.7);
    JobListView list;
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list).size(), 1);
    auto *view = list.findChild<QTreeView *>();
    view->setCurrentIndex(view->model()->index(0, 0));
    QCOMPARE(list.currentJob(), idA);
    insert(idB, "second", JobState::Completed, 0.9);
    list.refresh();
    QTRY_COMPARE(shownNames(list).size(), 2);
    QCOMPARE(list.currentJob(), idA);
    TW_VERIFY(m_workspace->deleteJob(idB));
    list.refresh();
    QTRY_COMPARE(shownNames(list).size(), 1);
    QCOMPARE(list.currentJob(), idA);
}

void TestJobList::updateStateShowsAtOnce()
{
    insert(idA, "first", JobState::NotStarted, std::nan(""));
    JobListView list;
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list).size(), 1);
    list.updateState(idA, JobState::Running);
    const QModelIndex index = list.findChild<QTreeView *>()->model()->index(0, 0);
    QCOMPARE(index.data(JobModel::StateRole).toInt(), int(JobState::Running));
    QVERIFY(index.data(Qt::AccessibleTextRole).toString().contains("Running"));
    list.updateState("unknown", JobState::Failed);
}

void TestJobList::keyboardActivatesAndCopies()
{
    insert(idA, "first", JobState::Completed, 0.7);
    JobListView list;
    list.show();
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list).size(), 1);
    QVERIFY(QTest::qWaitForWindowActive(&list));
    auto *view = list.findChild<QTreeView *>();
    view->setCurrentIndex(view->model()->index(0, 0));
    view->setFocus();
    QSignalSpy activated(&list, &JobListView::jobActivated);
    QTest::keyClick(view, Qt::Key_Return);
    QCOMPARE(activated.size(), 1);
    QCOMPARE(activated.front().front().toString(), idA);
    QTest::keyClick(view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), idA);
}

void TestJobList::deleteAsksFirst()
{
    insert(idA, "first", JobState::Completed, 0.7);
    JobListView list;
    list.show();
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list).size(), 1);
    QVERIFY(QTest::qWaitForWindowActive(&list));
    auto *view = list.findChild<QTreeView *>();
    view->setCurrentIndex(view->model()->index(0, 0));
    view->setFocus();
    QSignalSpy deleted(&list, &JobListView::deleteRequested);
    const auto answer = [](bool yes) {
        QTimer::singleShot(0, qApp, [yes] {
            auto *box = qobject_cast<QMessageBox *>(QApplication::activeModalWidget());
            QVERIFY(box);
            const QList<QAbstractButton *> buttons = box->buttons();
            for (QAbstractButton *button : buttons) {
                if ((box->buttonRole(button) == QMessageBox::DestructiveRole) == yes) {
                    button->click();
                    return;
                }
            }
        });
    };
    answer(false);
    QTest::keyClick(view, Qt::Key_Delete);
    QCOMPARE(deleted.size(), 0);
    list.activateWindow();
    view->setFocus();
    QTRY_VERIFY(view->hasFocus());
    answer(true);
    QTest::keyClick(view, Qt::Key_Delete);
    QCOMPARE(deleted.size(), 1);
    QCOMPARE(deleted.front().front().toString(), idA);
}

void TestJobList::markupInNames()
{
    insert(idA, "<b>cat</b>", JobState::Completed, 0.7, "%1 of %2");
    JobListView list;
    list.setWorkspace(m_workspace.get());
    QTRY_COMPARE(shownNames(list), QStringList{"<b>cat</b>"});
    const QModelIndex index = list.findChild<QTreeView *>()->model()->index(0, 0);
    QVERIFY(index.data(Qt::ToolTipRole).toString().contains("&lt;b&gt;cat"));
    QVERIFY(index.data(JobModel::DetailRole).toString().contains("%1 of %2"));
}

void TestJobList::emptyStates()
{
    JobListView list;
    const auto words = [&list] { return list.findChild<QLabel *>()->text(); };
    QVERIFY(words().contains("No workspace"));
    list.setWorkspace(m_workspace.get());
    QTRY_VERIFY(words().contains("No job yet"));
    insert(idA, "first", JobState::Completed, 0.7);
    list.refresh();
    QTRY_COMPARE(shownNames(list).size(), 1);
    list.findChild<QLineEdit *>()->setText("zzz");
    QVERIFY(words().contains("matches"));
    QCOMPARE(list.currentJob(), QString());
}

void TestJobList::looks()
{
    const JobState states[]{JobState::Completed, JobState::Failed, JobState::Canceled, JobState::Completed,
                            JobState::Interrupted};
    const char *names[]{"Flowers, resnet18", "Flowers, learning rate 0.1", "Fashion, small_cnn", "Fashion, mlp 128",
                        "Night run with a long name that is cut"};
    for (int i = 0; i < 5; ++i)
        insert(QStringLiteral("20240101-000000-000%1").arg(i + 1), names[i], states[i],
               i == 1 ? std::nan("") : 0.83 + 0.02 * i, i < 2 ? "flowers" : "fashion");
    for (const int width : {300, 760}) {
        JobListView list;
        list.resize(width, 320);
        list.show();
        list.setWorkspace(m_workspace.get());
        QTRY_COMPARE(shownNames(list).size(), 5);
        auto *view = list.findChild<QTreeView *>();
        view->setCurrentIndex(view->model()->index(1, 0));
        QTest::qWait(50);
        const QPixmap picture = list.grab();
        QVERIFY(!picture.isNull());
        if (const QString folder = qEnvironmentVariable("TRAINWRIGHT_GRABS"); !folder.isEmpty())
            QVERIFY(picture.save(QStringLiteral("%1/jobs-%2.png").arg(folder).arg(width)));
    }
}

QTEST_MAIN(TestJobList)
#include "tst_joblist.moc"
