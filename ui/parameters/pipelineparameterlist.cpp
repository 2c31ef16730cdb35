// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/pipelineparameterlist.h"

#include "ui/common/words.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QRegularExpression>

namespace tw {

const ParameterSpec *specOf(const PipelineDocument &document, const PipelineParameter &parameter)
{
    if (parameter.targets.isEmpty())
        return nullptr;
    const PortAddress &target = parameter.targets.first();
    const ComponentType *type = document.componentOf(target.node);
    return type ? type->schema.find(target.port) : nullptr;
}

QString settingText(const QString &name, const ParameterSpec &spec, const QVariant &value)
{
    static const QRegularExpression needsQuotes(QStringLiteral("[^A-Za-z0-9_./:=,@%+-]"));
    QString word = name + u'=' + (value.isValid() ? spec.toText(value) : QString());
    if (word.contains(needsQuotes))
        word = u'\'' + word.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
    return QStringLiteral("--set ") + word;
}

PipelineParameterList::PipelineParameterList(PipelineEditor &editor, QWidget *parent)
    : QListWidget(parent), m_editor(editor)
{
    setObjectName(QStringLiteral("pipelineParameters"));
    setAccessibleName(tr("Pipeline parameters"));
    setFrameShape(QFrame::NoFrame);
    setWordWrap(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(this, &QListWidget::itemActivated, this, [this](const QListWidgetItem *item) {
        const auto &parameters = m_editor.pipeline().parameters;
        const int index = row(item);
        if (index < parameters.size() && !parameters[index].targets.isEmpty())
            Q_EMIT targetActivated(parameters[index].targets.first());
    });
    refresh();
}

void PipelineParameterList::refresh()
{
    const int current = currentRow();
    clear();
    for (const PipelineParameter &parameter : m_editor.pipeline().parameters) {
        QStringList targets;
        for (const PortAddress &target : parameter.targets)
            targets.append(target.toText());
        const ParameterSpec *spec = specOf(m_editor.document(), parameter);
        const QVariant value =
            spec ? m_editor.document().effectiveValues(parameter.targets.first().node).value(spec->id) : QVariant();
        const QString shown = !spec             ? tr("sets nothing")
                              : value.isValid() ? spec->toText(value)
                              : spec->automatic ? tr("automatic")
                                                : tr("not set");
        auto *item = new QListWidgetItem(QStringLiteral("%1 = %2").arg(parameter.id, shown), this);
        item->setToolTip(
            plainTooltip(tr("Sets %1. Delete no longer asks for it.").arg(targets.join(QStringLiteral(", ")))));
    }
    setCurrentRow(std::min(current, count() - 1));
    setVisible(count() > 0);
    constexpr int shownRows = 8; // more scroll
    int height = 2 * frameWidth() + 4;
    for (int i = 0; i < std::min(shownRows, count()); ++i)
        height += sizeHintForRow(i);
    setFixedHeight(height);
}

void PipelineParameterList::removeCurrent()
{
    const auto &parameters = m_editor.pipeline().parameters;
    if (currentRow() >= 0 && currentRow() < parameters.size())
        m_editor.removePipelineParameter(parameters[currentRow()].id);
}

void PipelineParameterList::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Delete)
        return removeCurrent();
    QListWidget::keyPressEvent(event);
}

void PipelineParameterList::contextMenuEvent(QContextMenuEvent *event)
{
    if (currentRow() < 0)
        return;
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Go to the parameter")), &QAction::triggered, this,
            [this] { Q_EMIT itemActivated(currentItem()); });
    connect(menu->addAction(tr("No longer ask for it")), &QAction::triggered, this,
            &PipelineParameterList::removeCurrent);
    menu->popup(event->globalPos());
}

} // namespace tw
