// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelineeditor.h"

#include <QHash>
#include <QMap>
#include <QWidget>

class QLabel;
class QLineEdit;
class QListWidget;
class QScrollArea;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace tw {

class DatasetReportView;
class ParameterRow;
class PipelineParameterList;

/// Parameters of the selected nodes (of one component), built from its schema. Without a selection:
/// the pipeline's name and its problems.
class ParameterPanel : public QWidget
{
    Q_OBJECT
public:
    explicit ParameterPanel(PipelineEditor &editor, QWidget *parent = nullptr);

    void setNodes(const QStringList &ids);
    QStringList nodes() const { return m_nodes; }
    ParameterRow *row(const QString &parameter) const { return m_rows.value(parameter); }
    /// A text in a field that is no value: running would ignore it.
    std::optional<Error> refusal() const;
    /// Puts the cursor into the parameter's field (opens Advanced where needed).
    void focusParameter(const QString &parameter);
    void focusFirst();
    /// Faults found on the machine, beside the document's.
    void setMachineFaults(const QList<Error> &faults);
    /// What is to be said under fields beside faults; node and parameter are set.
    void setNotes(const QList<Error> &notes);
    /// What the last look at the machine says of each node, by node id; the chosen node's is shown whole.
    void setSummaries(const QMap<QString, QString> &summaries);
    /// Where the report of the node's data may lie, the best place first; none: it is not shown.
    void setReportFiles(const QList<fs::path> &files);

Q_SIGNALS:
    void problemActivated(const tw::Error &fault);
    void parameterActivated(const tw::PortAddress &address);

private:
    QWidget *makePipelinePage();
    QWidget *makeNodePage();
    void rebuildRows();
    void addRows(QVBoxLayout *layout, bool advanced);
    void refresh();
    void refreshFaults();
    void refreshNotes();
    void refreshSummary();
    void connectRow(ParameterRow *row);
    void copyAsSettings(const ParameterSpec &spec) const;
    void refreshPipelinePage();
    void setAdvancedOpen(bool open);
    void submitId();

    PipelineEditor &m_editor;
    QStringList m_nodes;
    QString m_component;
    QHash<QString, ParameterRow *> m_rows;
    QList<Error> m_machineFaults, m_notes;
    QMap<QString, QString> m_summaries;
    int m_gesture = 0;

    QStackedWidget *m_pages = nullptr;
    QLineEdit *m_name = nullptr, *m_id = nullptr;
    QLabel *m_counts = nullptr, *m_problemsTitle = nullptr, *m_title = nullptr, *m_chip = nullptr,
           *m_description = nullptr, *m_summary = nullptr, *m_idFault = nullptr, *m_hint = nullptr;
    QListWidget *m_problems = nullptr;
    QLabel *m_parametersTitle = nullptr;
    PipelineParameterList *m_pipelineParameters = nullptr;
    QScrollArea *m_scroll = nullptr;
    DatasetReportView *m_report = nullptr;
    QToolButton *m_advancedButton = nullptr;
    QWidget *m_advanced = nullptr;
    bool m_advancedBuilt = false;
};

} // namespace tw
