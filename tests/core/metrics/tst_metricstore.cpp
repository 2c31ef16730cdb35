// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/metricstore.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tw;

class TestMetricStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsSeriesApart();
    void repeatedStepReplaces();
    void anyOrderComesOutSorted();
    void readsAFileInPieces();
    void leavesTheCutLine();
    void skipsWhatIsNoPoint();
    void readsAFileThatShrank();
    void missingFile();
    void manyBlocks();

private:
    void write(const QByteArray &bytes, QIODevice::OpenMode mode = QIODevice::Append);
    static MetricPoint point(qint64 step, double value)
    {
        return {"train", "train_loss", step, double(step), 0, 0, value};
    }
    QByteArray path() const { return QFile::encodeName(m_folder.filePath("metrics.jsonl")); }
    const SeriesKey m_key{"train", "train_loss", 0};
    QTemporaryDir m_folder;
};

void TestMetricStore::write(const QByteArray &bytes, QIODevice::OpenMode mode)
{
    QFile file(QFile::decodeName(path()));
    QVERIFY(file.open(QIODevice::WriteOnly | mode));
    file.write(bytes);
}

void TestMetricStore::keepsSeriesApart()
{
    MetricStore store;
    store.add(point(1, 1));
    store.add({"train", "train_loss", 1, 1, 0, 1, 2});
    store.add({"train2", "train_loss", 1, 1, 0, 0, 3});
    store.add({"train", "val_loss", 1, 1, 0, 0, 4});
    QCOMPARE(store.keys().size(), 4);
    QCOMPARE(store.keys().first(), m_key);
    QCOMPARE(store.find({"train", "train_loss", 1})->values, std::vector<double>{2});
    QCOMPARE(store.find({"train2", "train_loss", 0})->values, std::vector<double>{3});
    QVERIFY(!store.find({"train", "val_loss", 1}));
    store.clear();
    QVERIFY(store.keys().isEmpty());
    QVERIFY(!store.find(m_key));
}

void TestMetricStore::repeatedStepReplaces()
{
    MetricStore store;
    for (qint64 step = 1; step <= 10; ++step)
        store.add(point(step, double(step)));
    store.add({"train", "train_loss", 4, 0.5, 99, 0, -4});
    store.add(point(10, -10));
    const MetricSeries *series = store.find(m_key);
    QCOMPARE(series->size(), size_t(10));
    QCOMPARE(series->values[3], -4.0);
    QCOMPARE(series->epochs[3], 0.5);
    QCOMPARE(series->seconds[3], 99.0);
    QCOMPARE(series->values[9], -10.0);
}

void TestMetricStore::anyOrderComesOutSorted()
{
    MetricStore store;
    for (qint64 i = 0; i < 1009; ++i)
        store.add(point(i * 37 % 1009 + 1, double(i * 37 % 1009)));
    const MetricSeries *series = store.find(m_key);
    QCOMPARE(series->size(), size_t(1009));
    for (size_t i = 0; i < series->size(); ++i) {
        QCOMPARE(series->steps[i], qint64(i) + 1);
        QCOMPARE(series->values[i], double(i));
        QCOMPARE(series->epochs[i], double(i) + 1);
    }
}

void TestMetricStore::readsAFileInPieces()
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    write(point(1, nan).toJsonLine() + '\n' + point(2, infinity).toJsonLine() + '\n', QIODevice::Truncate);
    MetricStore store;
    const qint64 first = store.readFile(path(), 0);
    QCOMPARE(first, QFile(QFile::decodeName(path())).size());
    QCOMPARE(store.readFile(path(), first), first);
    write(point(3, -infinity).toJsonLine() + '\n');
    QVERIFY(store.readFile(path(), first) > first);
    const MetricSeries *series = store.find(m_key);
    QCOMPARE(series->size(), size_t(3));
    QVERIFY(std::isnan(series->values[0]));
    QVERIFY(series->values[1] == infinity && series->values[2] == -infinity);
    QCOMPARE(store.skippedLines(), qint64(0));
}

void TestMetricStore::leavesTheCutLine()
{
    const QByteArray second = point(2, 0.125).toJsonLine() + '\n';
    write(point(1, 1).toJsonLine() + '\n' + second.left(30), QIODevice::Truncate);
    MetricStore store;
    const qint64 offset = store.readFile(path(), 0);
    QCOMPARE(store.find(m_key)->size(), size_t(1));
    QCOMPARE(store.skippedLines(), qint64(0));
    write(second.mid(30));
    store.readFile(path(), offset);
    QCOMPARE(store.find(m_key)->size(), size_t(2));
    QCOMPARE(store.find(m_key)->values[1], 0.125);
}

void TestMetricStore::skipsWhatIsNoPoint()
{
    write("\nnonsense\n" + point(1, 1).toJsonLine() + "\n{\"node\":1}\n", QIODevice::Truncate);
    MetricStore store;
    store.readFile(path(), 0);
    QCOMPARE(store.skippedLines(), qint64(3));
    QCOMPARE(store.find(m_key)->size(), size_t(1));
}

void TestMetricStore::readsAFileThatShrank()
{
    write(point(1, 1).toJsonLine() + '\n' + point(2, 2).toJsonLine() + '\n', QIODevice::Truncate);
    MetricStore store;
    const qint64 offset = store.readFile(path(), 0);
    write(point(1, 7).toJsonLine() + '\n', QIODevice::Truncate);
    QVERIFY(store.readFile(path(), offset) < offset);
    QCOMPARE(store.find(m_key)->values[0], 7.0);
}

void TestMetricStore::missingFile()
{
    MetricStore store;
    QCOMPARE(store.readFile("/nowhere/metrics.jsonl", 12), qint64(12));
    QVERIFY(store.keys().isEmpty());
}

void TestMetricStore::manyBlocks()
{
    constexpr qint64 count = 30000; // more than one block of 1 MiB
    QByteArray all;
    for (qint64 step = 1; step <= count; ++step)
        all += point(step, 1.0 / double(step)).toJsonLine() + '\n';
    QVERIFY(all.size() > (2 << 20));
    write(all, QIODevice::Truncate);
    MetricStore store;
    QCOMPARE(store.readFile(path(), 0), all.size());
    const MetricSeries *series = store.find(m_key);
    QCOMPARE(series->size(), size_t(count));
    for (size_t i = 0; i < series->size(); ++i)
        QCOMPARE(series->values[i], 1.0 / double(i + 1));
}

QTEST_GUILESS_MAIN(TestMetricStore)
#include "tst_metricstore.moc"
