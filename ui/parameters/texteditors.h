// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/parameters/parametereditor.h"

class QCheckBox;
class QLineEdit;

namespace tw {

/// Int, Float, Text and IntList: one line; Up and Down step an Int.
class LineEditor : public ParameterEditor
{
    Q_OBJECT
public:
    LineEditor(const ParameterSpec &spec, QWidget *parent);
    void setValue(const QVariant &value) override;
    void setMixed() override;
    void setInvalidMark(bool invalid) override;
    QWidget *field() const override;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QLineEdit *m_line;
};

class BoolEditor : public ParameterEditor
{
    Q_OBJECT
public:
    BoolEditor(const ParameterSpec &spec, QWidget *parent);
    void setValue(const QVariant &value) override;
    void setMixed() override;
    void setInvalidMark(bool) override {}
    QWidget *field() const override;

private:
    QCheckBox *m_box;
};

/// FloatRange: low and high side by side.
class RangeEditor : public ParameterEditor
{
    Q_OBJECT
public:
    RangeEditor(const ParameterSpec &spec, QWidget *parent);
    void setValue(const QVariant &value) override;
    void setMixed() override;
    void setInvalidMark(bool invalid) override;
    QWidget *field() const override;

private:
    void submit();
    QLineEdit *m_low, *m_high;
};

/// Sets the dynamic property the style sheet reads.
void markInvalid(QWidget *field, bool invalid);

} // namespace tw
