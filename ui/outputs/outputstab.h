// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobevent.h"

#include <QByteArray>
#include <QWidget>

#include <memory>

namespace tw {

class Workspace;

/// The job's folder as a tree with previews, and its logs. Everything is read off the GUI thread.
/// The workspace must outlive the tab or be taken away with setJob(nullptr, {}).
class OutputsTab : public QWidget
{
    Q_OBJECT
public:
    explicit OutputsTab(QWidget *parent = nullptr);
    ~OutputsTab() override;

    void setJob(Workspace *workspace, const QString &job);
    /// Logs of this node only, and its folder selected; empty: all nodes.
    void setNode(const QString &node);
    /// Wakes the log that the line belongs to; the file itself is read.
    void appendLog(const LogEvent &event);
    /// Lists folders and logs again.
    void refresh();

Q_SIGNALS:
    /// The person wants a copy of this model directory (bytes of its path).
    void exportRequested(const QByteArray &folder);

protected:
    void showEvent(QShowEvent *event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw
