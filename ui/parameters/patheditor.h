// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/parameters/parametereditor.h"

class QLineEdit;

namespace tw {

/// Path: a line and a browse button. Values are bytes: a name that is not UTF-8 is shown with
/// replacement characters and kept until it is edited.
class PathEditor : public ParameterEditor
{
    Q_OBJECT
public:
    PathEditor(const ParameterSpec &spec, QWidget *parent);
    void setValue(const QVariant &value) override;
    void setMixed() override;
    void setInvalidMark(bool invalid) override;
    QWidget *field() const override;

private:
    void browse(bool folder);
    QLineEdit *m_line;
};

} // namespace tw
