// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/schema/parameterspec.h"

#include <QMap>

namespace tw {

/// Values by parameter id. Getters take the value as it is and never invent one: asking for an
/// id that is absent or automatic is a programming error (assert) except for the optional forms.
class ParameterValues
{
public:
    void set(const QString &id, const QVariant &value) { m_values[id] = value; }
    void remove(const QString &id) { m_values.remove(id); }
    bool contains(const QString &id) const { return m_values.contains(id); }
    QVariant value(const QString &id) const { return m_values.value(id); }
    QStringList ids() const { return m_values.keys(); }
    bool isEmpty() const { return m_values.isEmpty(); }

    qlonglong integer(const char *id) const;
    double real(const char *id) const;
    bool boolean(const char *id) const;
    QString text(const char *id) const;  ///< Choice and Text
    fs::path path(const char *id) const; ///< empty when not set
    QList<qlonglong> integers(const char *id) const;
    std::pair<double, double> range(const char *id) const;
    /// False when automatic (null) or absent.
    bool isSet(const char *id) const;
    bool operator==(const ParameterValues &) const = default;

private:
    QMap<QString, QVariant> m_values;
};

/// Ordered list of specs of a component (or of the application's settings).
class ParameterSchema
{
public:
    ParameterSchema() = default;
    ParameterSchema(std::initializer_list<ParameterSpec> specs) : m_specs(specs) {}
    void add(const ParameterSpec &spec) { m_specs.append(spec); }
    const QList<ParameterSpec> &specs() const { return m_specs; }
    const ParameterSpec *find(const QString &id) const;
    /// Every parameter with its default (automatic and required ones without a value are invalid QVariants).
    ParameterValues defaults() const;
    /// `stored` over the defaults.
    ParameterValues effective(const ParameterValues &stored) const;
    /// All faults at once: unknown ids, kinds, ranges, missing required ones.
    QList<Error> check(const ParameterValues &stored) const;
    bool isVisible(const QString &id, const ParameterValues &effectiveValues) const;

private:
    QList<ParameterSpec> m_specs;
};

} // namespace tw
