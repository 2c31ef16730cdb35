// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"

#include <QJsonObject>
#include <QList>
#include <QStringList>

#include <mutex>

namespace tw::test {

/// A RunContext that keeps what it is told, for tests of components and of the trainer.
class RecordingContext : public RunContext
{
public:
    /// `job` becomes jobs/<id>: the node's folder is job/nodes/node and is made.
    explicit RecordingContext(const fs::path &job) : m_job(job)
    {
        fs::create_directories(nodeFolder());
        fs::create_directories(cacheFolder());
    }
    QString nodeId() const override { return QStringLiteral("node"); }
    fs::path nodeFolder() const override { return m_job / "nodes" / "node"; }
    fs::path cacheFolder() const override { return m_job / "cache"; }
    void progress(double, const QString &) override {}
    void log(LogLevel level, const QString &line) override
    {
        const std::lock_guard guard(m_mutex);
        lines.append(line);
        if (level == LogLevel::Warning)
            warnings.append(line);
    }
    void driverLog(int, const QString &line) override { driverLines.append(line); }
    void metric(const MetricPoint &point) override { points.append(point); }
    void result(const QString &key, const QJsonValue &value) override { results.insert(key, value); }
    void stoppedEarly(const QString &reason) override { stopped = reason; }
    const StopToken &stopToken() const override { return stop; }

    QStringList lines, warnings, driverLines;
    QList<MetricPoint> points;
    QJsonObject results;
    QString stopped;
    StopToken stop;

private:
    fs::path m_job;
    std::mutex m_mutex;
};

} // namespace tw::test
