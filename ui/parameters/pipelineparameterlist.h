// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelineeditor.h"

#include <QListWidget>

namespace tw {

/// The pipeline parameters: what each sets and its value. Return goes to the first node parameter
/// that it sets, Delete no longer asks for it.
class PipelineParameterList : public QListWidget
{
    Q_OBJECT
public:
    explicit PipelineParameterList(PipelineEditor &editor, QWidget *parent = nullptr);
    void refresh();

Q_SIGNALS:
    void targetActivated(const tw::PortAddress &target);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    void removeCurrent();
    PipelineEditor &m_editor;
};

/// The declaration of what a pipeline parameter sets first; nullptr when there is none.
const ParameterSpec *specOf(const PipelineDocument &document, const PipelineParameter &parameter);
/// "--set train.epochs=12", quoted for a shell where needed.
QString settingText(const QString &name, const ParameterSpec &spec, const QVariant &value);

} // namespace tw
