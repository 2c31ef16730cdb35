// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobqueue.h"
#include "core/pipeline/pipelinedocument.h"

#include <QDialog>

class QCheckBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace tw {

/// Experiment, name, description and tags of a run; remembered, asked once, later on demand. And the
/// pipeline's parameters, which are asked for at every run and hold for it only.
class RunDialog : public QDialog
{
    Q_OBJECT
public:
    RunDialog(const QString &pipelineName, QWidget *parent);
    /// Adds a field for each pipeline parameter of the document; before the dialog is shown.
    void askFor(const PipelineDocument &document);
    /// Fills the basics of the request, its pipeline's parameters, and remembers the basics.
    void store(JobRequest &request) const;

    /// Nothing was remembered yet, or it is wanted every time.
    static bool isWanted();
    /// The remembered basics, without asking.
    static void fillRemembered(JobRequest &request, const QString &pipelineName);
    /// "stage=test, owner" → {stage: test, owner: ""}.
    static QMap<QString, QString> tagsFromText(const QString &text);

private:
    void addParameter(const PipelineDocument &document, const PipelineParameter &parameter);
    void showRefusal(const QString &parameter, const QString &text);

    QFormLayout *m_form;
    QLabel *m_note, *m_fault;
    QPushButton *m_run;
    QMap<QString, QVariant> m_values;  ///< by pipeline parameter
    QMap<QString, QString> m_refusals; ///< what is wrong with a field, by pipeline parameter
    QLineEdit *m_experiment, *m_name, *m_description, *m_tags;
    QCheckBox *m_askAgain;
};

} // namespace tw
