// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/joblist.h"

namespace tw {

struct JobListView::Private
{
    Workspace *workspace = nullptr;
};

JobListView::JobListView(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>()) {}
JobListView::~JobListView() = default;

void JobListView::setWorkspace(Workspace *workspace)
{
    d->workspace = workspace;
}

void JobListView::refresh() {}
void JobListView::updateState(const QString &, JobState) {}

QString JobListView::currentJob() const
{
    return {};
}

} // namespace tw
