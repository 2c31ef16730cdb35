// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/schema/parameterspec.h"

#include <QWidget>

namespace tw {

/// Edits one value of a kind. Only values that ParameterSpec accepts leave it; what cannot be a
/// value stays in the field and is reported.
class ParameterEditor : public QWidget
{
    Q_OBJECT
public:
    ParameterEditor(const ParameterSpec &spec, QWidget *parent = nullptr);
    const ParameterSpec &spec() const { return m_spec; }
    /// An invalid QVariant is automatic (or not given yet). Emits nothing.
    virtual void setValue(const QVariant &value) = 0;
    /// Several nodes with different values.
    virtual void setMixed() = 0;
    /// Red frame.
    virtual void setInvalidMark(bool invalid) = 0;
    /// The widget that takes the keys.
    virtual QWidget *field() const = 0;

Q_SIGNALS:
    void edited(const QVariant &value);
    void refused(const tw::Error &reason);

protected:
    /// Sends `text` through the spec: edited() or refused().
    void submitText(const QString &text);

private:
    ParameterSpec m_spec;
};

/// The editor of the spec's kind; it has an accessible name and an object name "editor.<id>".
ParameterEditor *makeParameterEditor(const ParameterSpec &spec, QWidget *parent);

/// "0,001" as typed where the decimal sign is a comma becomes "0.001"; all else stays.
QString withDecimalPoint(const QString &text, QChar decimalSign);

} // namespace tw
