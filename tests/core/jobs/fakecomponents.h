// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/jobs/jobqueue.h"
#include "core/jobs/workspace.h"

#include <QMap>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace tw::test {

/// Small components for the job tests:
/// - fake-source → dataset (AnyDirectory); `value` Int, `speed` Int (keeps the result), `seed` automatic.
/// - fake-step: dataset → result (AnyDirectory); `mode` ok | fail | throw | half | wait | full_disk | lines |
///   refuse | warn, `count` Int.
/// - fake-model → untrained_model; fake-train: untrained_model → trained_model (ModelDirectory),
///   `steps` Int, 10 ms each, stops and cancels within a step; fake-score: trained_model → table.
void registerFakeComponents(ComponentRegistry &registry);

/// How often a node of this id ran since the program began.
int runsOf(const QString &node);

PipelineNode makeNode(const char *id, const char *component, const QMap<QString, QVariant> &values = {});
PipelineConnection wire(const char *from, const char *to);

/// A workspace in a temporary folder with the fake components.
struct Studio
{
    Studio();
    bool open();
    fs::path folder() const;

    QTemporaryDir temporary;
    ComponentRegistry registry;
    std::unique_ptr<Workspace> workspace;
};

/// What a job's events said, in order.
struct Seen
{
    QStringList states; ///< of the job
    QMap<QString, QStringList> nodeStates;
    QList<Error> errors;
    QMap<QString, QJsonValue> results; ///< "node.key"
    qint64 points = 0;
    void add(const QList<JobEvent> &events, const QString &job);
};

JobRequest requestFor(const Pipeline &pipeline);
QByteArray contentOf(const fs::path &file);
bool isThere(const fs::path &path);
/// Names below outputs/, hidden ones too.
QStringList outputNames(const Workspace &workspace, const QString &job, const QString &node);

} // namespace tw::test
