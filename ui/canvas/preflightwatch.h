// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/pipeline/pipelinedocument.h"
#include "core/pipeline/planner.h"

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>

#include <memory>

namespace tw {

/// Looks at the machine for the pipeline as it is (summaries, missing paths) on a worker thread,
/// shortly after the last edit. A newer edit stops the look in progress. Nodes with faults and what
/// depends on them are left out.
class PreflightWatch : public QObject
{
    Q_OBJECT
public:
    /// `cacheFolder`: the workspace's, whose disk the checks look at.
    PreflightWatch(PipelineDocument &document, QObject *parent = nullptr, fs::path cacheFolder = {});
    ~PreflightWatch() override;

    /// What the last finished look said of a node; null when it was left out.
    const PreflightReply *reply(const QString &nodeId) const;
    /// Notes for fields of parameters, of all nodes, with node id.
    QList<Error> notes() const;
    bool isBusy() const { return m_timer.isActive() || m_watcher.isRunning(); }

Q_SIGNALS:
    void finished(const QMap<QString, QString> &summaries, const QList<tw::Error> &errors);

private:
    void start();
    void take();

    PipelineDocument &m_document;
    fs::path m_cacheFolder;
    QTimer m_timer;
    QFutureWatcher<PreflightOutcome> m_watcher;
    std::shared_ptr<StopToken> m_stop;
    PreflightOutcome m_outcome;
    Pipeline m_looked;
    bool m_again = false;
};

/// `pipeline` without the nodes that `faults` name and those that need them.
Pipeline soundPart(const Pipeline &pipeline, const QList<Error> &faults);

} // namespace tw
