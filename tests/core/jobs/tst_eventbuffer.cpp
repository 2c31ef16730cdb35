// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/eventbuffer.h"

#include <QTest>

#include <map>
#include <thread>

using namespace tw;

class TestEventBuffer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsOrderAndTellsOnce();
    void progressIsCoalesced();
    void pointsAreThinnedEvenly();
    void rareSeriesSurvive();
    void moreSeriesThanRoom();
    void oldestLinesGo();
    void statesAreNeverDropped();
    void severalThreads();

private:
    static JobEvent metric(const QString &series, qint64 step)
    {
        return {"job", MetricEvent{{"train", series, step, double(step), 0, 0, double(step)}}};
    }
    static JobEvent line(int number)
    {
        return {"job", LogEvent{"train", 0, LogLevel::Info, QString::number(number), true}};
    }
    static std::map<QString, QList<qint64>> stepsOf(const QList<JobEvent> &events);
};

std::map<QString, QList<qint64>> TestEventBuffer::stepsOf(const QList<JobEvent> &events)
{
    std::map<QString, QList<qint64>> steps;
    for (const JobEvent &event : events)
        if (const auto *point = std::get_if<MetricEvent>(&event.body))
            steps[point->point.series].append(point->point.step);
    return steps;
}

void TestEventBuffer::keepsOrderAndTellsOnce()
{
    EventBuffer buffer;
    QVERIFY(buffer.push({"job", JobStateEvent{JobState::Running}}));
    QVERIFY(!buffer.push(line(1)));
    QVERIFY(!buffer.push(metric("train_loss", 1)));
    QVERIFY(!buffer.push({"job", ResultEvent{"train", "images", 5}}));
    QVERIFY(!buffer.push(line(2)));
    const QList<JobEvent> events = buffer.take();
    const std::vector<size_t> expected{0, 3, 4, 6, 3};
    QCOMPARE(events.size(), qsizetype(5));
    for (int i = 0; i < events.size(); ++i)
        QCOMPARE(events[i].body.index(), expected[size_t(i)]);
    QVERIFY(buffer.take().isEmpty());
    QVERIFY(buffer.push(line(3)));
    QCOMPARE(buffer.dropped(), qint64(0));
}

void TestEventBuffer::progressIsCoalesced()
{
    EventBuffer buffer;
    for (int i = 0; i <= 1000; ++i)
        for (const char *node : {"a", "b"})
            buffer.push({"job", ProgressEvent{QString::fromLatin1(node), i / 1000.0, QString::number(i)}});
    const QList<JobEvent> events = buffer.take();
    QCOMPARE(events.size(), qsizetype(2));
    for (const JobEvent &event : events)
        QCOMPARE(std::get<ProgressEvent>(event.body).fraction, 1.0);
    QCOMPARE(buffer.dropped(), qint64(0));
}

void TestEventBuffer::pointsAreThinnedEvenly()
{
    constexpr qint64 count = 200000;
    EventBuffer buffer(1000, 1000);
    for (qint64 step = 1; step <= count; ++step)
        buffer.push(metric("train_loss", step));
    const QList<qint64> steps = stepsOf(buffer.take())["train_loss"];
    QVERIFY(steps.size() <= 1000 && steps.size() >= 250);
    QCOMPARE(steps.last(), count);
    QVERIFY(std::is_sorted(steps.begin(), steps.end()));
    QVERIFY2(steps.first() < count / 10, "the beginning was lost");
    QCOMPARE(buffer.dropped(), count - steps.size());
}

void TestEventBuffer::rareSeriesSurvive()
{
    EventBuffer buffer(1000, 1000);
    for (qint64 step = 1; step <= 200000; ++step) {
        buffer.push(metric("train_loss", step));
        if (step % 2000 == 0)
            buffer.push(metric("val_loss", step));
    }
    QCOMPARE(stepsOf(buffer.take())["val_loss"].size(), qsizetype(100));
}

void TestEventBuffer::moreSeriesThanRoom()
{
    EventBuffer buffer(10, 50);
    for (qint64 step = 1; step <= 3; ++step)
        for (int series = 0; series < 400; ++series)
            buffer.push(metric(QString::number(series), step));
    const QList<JobEvent> events = buffer.take();
    QVERIFY(events.size() <= 50);
    QCOMPARE(std::get<MetricEvent>(events.last().body).point.series, QStringLiteral("399"));
}

void TestEventBuffer::oldestLinesGo()
{
    EventBuffer buffer(100, 100);
    for (int i = 0; i < 5000; ++i)
        buffer.push(line(i));
    const QList<JobEvent> events = buffer.take();
    QCOMPARE(events.size(), qsizetype(100));
    for (int i = 0; i < 100; ++i)
        QCOMPARE(std::get<LogEvent>(events[i].body).line, QString::number(4900 + i));
    QCOMPARE(buffer.dropped(), qint64(4900));
}

void TestEventBuffer::statesAreNeverDropped()
{
    EventBuffer buffer(10, 10);
    for (int i = 0; i < 1000; ++i) {
        buffer.push({"job", NodeStateEvent{QString::number(i), NodeState::Running, {}}});
        buffer.push({"job", ErrorEvent{makeError(errors::Library, "x")}});
        buffer.push({"job", ResultEvent{"train", QString::number(i), i}});
        buffer.push(line(i));
        buffer.push(metric("train_loss", i));
    }
    int states = 0, errors = 0, results = 0;
    const QList<JobEvent> events = buffer.take();
    for (const JobEvent &event : events) {
        if (const auto *state = std::get_if<NodeStateEvent>(&event.body))
            QCOMPARE(state->node, QString::number(states++));
        errors += std::holds_alternative<ErrorEvent>(event.body);
        results += std::holds_alternative<ResultEvent>(event.body);
    }
    QCOMPARE(states, 1000);
    QCOMPARE(errors, 1000);
    QCOMPARE(results, 1000);
    QVERIFY(events.size() <= 3020);
}

void TestEventBuffer::severalThreads()
{
    EventBuffer buffer(100, 100);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&buffer, t] {
            for (int i = 0; i < 5000; ++i) {
                buffer.push({QString::number(t), ResultEvent{"n", {}, i}});
                buffer.push(line(i));
            }
        });
    std::map<QString, int> next;
    const auto drain = [&] {
        const QList<JobEvent> events = buffer.take();
        for (const JobEvent &event : events)
            if (const auto *result = std::get_if<ResultEvent>(&event.body))
                QCOMPARE(result->value.toInt(), next[event.job]++);
    };
    for (int i = 0; i < 100; ++i)
        drain();
    for (std::thread &thread : threads)
        thread.join();
    drain();
    for (int t = 0; t < 4; ++t)
        QCOMPARE(next[QString::number(t)], 5000);
}

QTEST_GUILESS_MAIN(TestEventBuffer)
#include "tst_eventbuffer.moc"
