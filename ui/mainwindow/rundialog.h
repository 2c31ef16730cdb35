// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobqueue.h"

#include <QDialog>

class QCheckBox;
class QLineEdit;

namespace tw {

/// Experiment, name, description and tags of a run; remembered. Asked once, later on demand.
class RunDialog : public QDialog
{
    Q_OBJECT
public:
    RunDialog(const QString &pipelineName, QWidget *parent);
    /// Fills the basics of the request and remembers them.
    void store(JobRequest &request) const;

    static bool isWanted();
    /// The remembered basics, without asking.
    static void fillRemembered(JobRequest &request, const QString &pipelineName);
    /// "stage=test, owner" → {stage: test, owner: ""}.
    static QMap<QString, QString> tagsFromText(const QString &text);

private:
    QLineEdit *m_experiment, *m_name, *m_description, *m_tags;
    QCheckBox *m_askAgain;
};

} // namespace tw
