// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/parameters/parametereditor.h"

#include <optional>

class QLabel;
class QToolButton;

namespace tw {

/// Label, editor, unit, modified mark with reset, help below while it has the focus, fault below.
class ParameterRow : public QWidget
{
    Q_OBJECT
public:
    ParameterRow(const ParameterSpec &spec, QWidget *parent);
    const ParameterSpec &spec() const { return m_editor->spec(); }
    ParameterEditor *editor() const { return m_editor; }

    /// Values of the chosen nodes; differing ones are shown as such.
    void setValues(const QList<QVariant> &values);
    void setModified(bool modified);
    /// What the pipeline says of the stored value; shown unless the field holds a worse text.
    void setFault(const std::optional<Error> &fault);
    /// Id of the pipeline parameter that sets this one; empty: none.
    void setPipelineParameter(const QString &id);
    QString pipelineParameter() const { return m_pipelineParameter; }
    /// The text in the field is not a value.
    const std::optional<Error> &refusal() const { return m_refusal; }
    QString shownFault() const;
    /// What is known of the chosen value on this machine, always shown; empty: nothing.
    void setNote(const QString &text);
    QString shownNote() const;

Q_SIGNALS:
    void edited(const QVariant &value, bool startsGesture);
    void resetRequested();
    void askAtRunRequested(bool ask);
    void copyAsSettingRequested();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    void layOut(const ParameterSpec &spec);
    void connectAll();
    void resetValue();
    void showFault();
    void showMenu(const QPoint &globalPosition);
    void updateMore(bool wanted);

    ParameterEditor *m_editor;
    QLabel *m_label, *m_fault, *m_note, *m_help;
    QToolButton *m_reset, *m_more;
    std::optional<Error> m_refusal, m_storedFault;
    QList<QVariant> m_values;
    QString m_pipelineParameter;
    bool m_freshFocus = true;
    bool m_modified = false;
};

} // namespace tw
