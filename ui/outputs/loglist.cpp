// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/loglist.h"

#include "core/base/json.h"
#include "ui/common/plaintext.h"

#include <QHash>
#include <QJsonArray>

#include <algorithm>

namespace tw {

namespace {
int kindOf(const QString &title)
{
    if (title.startsWith(QStringLiteral("70_driver_log_")))
        return 0;
    if (title.startsWith(QStringLiteral("70_")))
        return 1;
    return title == QStringLiteral("std_log") ? 3 : 2;
}

void addLogs(const fs::path &nodeFolder, QList<LogFile> &logs)
{
    const QString node = displayPath(nodeFolder.filename());
    std::error_code error;
    for (fs::directory_iterator item(nodeFolder / "logs", error), end; !error && item != end; item.increment(error)) {
        std::error_code unreadable;
        if (item->is_regular_file(unreadable))
            logs << LogFile{item->path(), node, displayPath(item->path().stem())};
    }
}
} // namespace

QStringList pipelineNodes(const fs::path &jobFolder)
{
    QStringList nodes;
    const auto pipeline = readJsonObject(jobFolder / "pipeline.json", errors::InvalidPipeline);
    if (!pipeline.ok())
        return nodes;
    const QJsonArray stored = pipeline->value(QStringLiteral("nodes")).toArray();
    for (const QJsonValue &node : stored)
        nodes << node[QStringLiteral("id")].toString();
    return nodes;
}

QList<LogFile> listLogs(const fs::path &jobFolder, const QString &node)
{
    QList<LogFile> logs;
    std::error_code error;
    if (!node.isEmpty()) {
        addLogs(jobFolder / "nodes" / pathFromText(node), logs);
    } else {
        for (fs::directory_iterator item(jobFolder / "nodes", error), end; !error && item != end; item.increment(error))
            addLogs(item->path(), logs);
    }
    const QStringList order = pipelineNodes(jobFolder);
    const auto place = [&order](const LogFile &log) {
        const qsizetype at = order.indexOf(log.node);
        return at < 0 ? order.size() : at;
    };
    std::sort(logs.begin(), logs.end(), [&](const LogFile &a, const LogFile &b) {
        if (kindOf(a.title) != kindOf(b.title))
            return kindOf(a.title) < kindOf(b.title);
        if (place(a) != place(b))
            return place(a) < place(b);
        const int title = compareNatural(a.title, b.title);
        return title != 0 ? title < 0 : a.node < b.node;
    });
    QHash<QString, int> seen;
    for (const LogFile &log : std::as_const(logs))
        ++seen[log.title];
    for (LogFile &log : logs) {
        if (seen.value(log.title) > 1 || (log.title == QStringLiteral("std_log") && node.isEmpty()))
            log.title = shortText(log.node, 24) + QStringLiteral(" · ") + log.title;
        log.title = literalText(log.title);
    }
    return logs;
}

} // namespace tw
