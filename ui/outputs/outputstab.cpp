// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/outputstab.h"

namespace tw {

struct OutputsTab::Private
{
    Workspace *workspace = nullptr;
    QString job, node;
};

OutputsTab::OutputsTab(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>()) {}
OutputsTab::~OutputsTab() = default;

void OutputsTab::setJob(Workspace *workspace, const QString &job)
{
    d->workspace = workspace;
    d->job = job;
}

void OutputsTab::setNode(const QString &node)
{
    d->node = node;
}

void OutputsTab::appendLog(const LogEvent &) {}
void OutputsTab::refresh() {}

} // namespace tw
