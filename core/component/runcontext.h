// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/metrics/metricpoint.h"

#include <QJsonValue>
#include <QString>

#include <atomic>

namespace tw {

enum class LogLevel { Debug, Info, Warning, Error };

/// What a person asked of a running node. Shared with loader threads; reading is lock-free.
struct StopToken
{
    std::atomic<bool> cancel{false};      ///< stop now, keep nothing
    std::atomic<bool> stopAndKeep{false}; ///< finish the batch, keep the best so far
};

/// The one thing running code talks to. Log lines and metric points are durable: appended in
/// order to the node's files, nothing is dropped. Called on the job's thread unless said otherwise.
class RunContext
{
public:
    virtual ~RunContext() = default;

    virtual QString nodeId() const = 0;
    /// Folder jobs/<id>/nodes/<node>; exists.
    virtual fs::path nodeFolder() const = 0;
    /// <workspace>/cache; exists, safe to delete between runs.
    virtual fs::path cacheFolder() const = 0;

    /// `fraction` in [0, 1], or negative when unknown; `text` is a short English sub-line
    /// ("verified 1200 of 60000"). Coalesced: call as often as convenient.
    virtual void progress(double fraction, const QString &text) = 0;
    /// One line of the node's std_log.txt. Any thread.
    virtual void log(LogLevel level, const QString &line) = 0;
    /// One line of logs/70_driver_log_<rank>.txt (training nodes).
    virtual void driverLog(int rank, const QString &line) = 0;
    /// Node id is filled in by the context.
    virtual void metric(const MetricPoint &point) = 0;
    /// A result to show on the node ("best_val_top1", "images", "classes", …); stored with the job.
    virtual void result(const QString &key, const QJsonValue &value) = 0;
    /// The node was stopped early and is no source for reuse (reason "user", "patience", …).
    virtual void stoppedEarly(const QString &reason) = 0;

    /// Any thread.
    virtual const StopToken &stopToken() const = 0;
    bool isCanceled() const { return stopToken().cancel.load(std::memory_order_relaxed); }
    bool isStopRequested() const { return stopToken().stopAndKeep.load(std::memory_order_relaxed); }
};

} // namespace tw
