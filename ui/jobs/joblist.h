// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobstate.h"

#include <QWidget>

#include <memory>

namespace tw {

class Workspace;

/// The jobs of a workspace with search and sorting. The store is read off the GUI thread.
/// The workspace must outlive the list or be taken away with setWorkspace(nullptr).
class JobListView : public QWidget
{
    Q_OBJECT
public:
    explicit JobListView(QWidget *parent = nullptr);
    ~JobListView() override;

    void setWorkspace(Workspace *workspace);
    /// Reads the store again; the selection and the scroll position stay.
    void refresh();
    /// Shows a state at once, before the next refresh.
    void updateState(const QString &job, tw::JobState state);
    /// Empty: none selected.
    QString currentJob() const;

Q_SIGNALS:
    void jobActivated(const QString &job);
    /// A job that waits or runs.
    void cancelRequested(const QString &job);
    /// After the person has confirmed.
    void deleteRequested(const QString &job);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw
