// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/choiceeditor.h"

#include "ui/common/words.h"
#include "ui/parameters/texteditors.h"

#include <QComboBox>
#include <QFutureWatcher>
#include <QHBoxLayout>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

ChoiceEditor::ChoiceEditor(const ParameterSpec &spec, QWidget *parent)
    : ParameterEditor(spec, parent), m_box(new QComboBox(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_box);
    m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_box->setMinimumContentsLength(8);
    m_box->setPlaceholderText(tr("Choose…"));
    m_box->setFocusPolicy(Qt::StrongFocus);
    m_box->installEventFilter(this);
    if (spec.automatic)
        m_box->addItem(parameterWord(spec.automaticLabel), QVariant());
    addChoices(spec.choices);
    m_box->setCurrentIndex(-1);
    connect(m_box, &QComboBox::activated, this, [this](int row) {
        const QVariant id = m_box->itemData(row);
        submitText(id.isValid() ? id.toString() : QString());
    });
    if (spec.machineChoices)
        askMachine();
}

void ChoiceEditor::addChoices(const QList<ParameterChoice> &choices)
{
    for (const ParameterChoice &choice : choices) {
        if (m_box->findData(choice.id) < 0)
            m_box->addItem(choice.label.isEmpty() ? choice.id : parameterWord(choice.label), choice.id);
    }
}

void ChoiceEditor::askMachine()
{
    auto *watcher = new QFutureWatcher<QList<ParameterChoice>>(this);
    connect(watcher, &QFutureWatcher<QList<ParameterChoice>>::finished, this, [this, watcher] {
        const QVariant current = m_box->currentIndex() < 0 ? QVariant() : m_box->currentData();
        addChoices(watcher->result());
        if (current.isValid())
            m_box->setCurrentIndex(m_box->findData(current));
        watcher->deleteLater();
    });
    watcher->setFuture(QtConcurrent::run(spec().machineChoices));
}

QWidget *ChoiceEditor::field() const
{
    return m_box;
}

void ChoiceEditor::setValue(const QVariant &value)
{
    if (!value.isValid()) {
        m_box->setCurrentIndex(spec().automatic ? 0 : -1);
        return;
    }
    // A device of another machine stays visible.
    addChoices({{value.toString(), {}}});
    m_box->setCurrentIndex(m_box->findData(value.toString()));
}

void ChoiceEditor::setMixed()
{
    m_box->setPlaceholderText(tr("different values"));
    m_box->setCurrentIndex(-1);
}

void ChoiceEditor::setInvalidMark(bool invalid)
{
    markInvalid(m_box, invalid);
}

bool ChoiceEditor::eventFilter(QObject *watched, QEvent *event)
{
    // Scrolling the panel must not change what the mouse happens to pass.
    if (event->type() == QEvent::Wheel && !m_box->hasFocus()) {
        event->ignore();
        return true;
    }
    return ParameterEditor::eventFilter(watched, event);
}

} // namespace tw
