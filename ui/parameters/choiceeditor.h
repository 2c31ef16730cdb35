// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/parameters/parametereditor.h"

class QComboBox;

namespace tw {

/// Choice: a list of translated labels; values are ids. Choices that only the machine knows are
/// asked for on another thread and added when they come.
class ChoiceEditor : public ParameterEditor
{
    Q_OBJECT
public:
    ChoiceEditor(const ParameterSpec &spec, QWidget *parent);
    void setValue(const QVariant &value) override;
    void setMixed() override;
    void setInvalidMark(bool invalid) override;
    QWidget *field() const override;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void addChoices(const QList<ParameterChoice> &choices);
    void askMachine();

    QComboBox *m_box;
};

} // namespace tw
