// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/component/runcontext.h"
#include "core/jobs/jobstate.h"
#include "core/metrics/metricpoint.h"

#include <QJsonValue>
#include <QList>
#include <QString>

#include <variant>

namespace tw {

struct JobStateEvent
{
    JobState state;
};
struct NodeStateEvent
{
    QString node;
    NodeState state;
    QString stopped;
};
struct ProgressEvent
{
    QString node;
    double fraction;
    QString text;
};
struct LogEvent
{
    QString node;
    int rank;
    LogLevel level;
    QString line;
    bool driver;
};
struct MetricEvent
{
    MetricPoint point;
};
struct ErrorEvent
{
    Error error;
};
struct ResultEvent
{
    QString node;
    QString key;
    QJsonValue value;
};
using JobEventBody =
    std::variant<JobStateEvent, NodeStateEvent, ProgressEvent, LogEvent, MetricEvent, ErrorEvent, ResultEvent>;

struct JobEvent
{
    QString job;
    JobEventBody body;
};

} // namespace tw
