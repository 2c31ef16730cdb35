// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parameterschema.h"

#include "core/base/nearest.h"

#include <algorithm>

namespace tw {

static QVariant present(const QMap<QString, QVariant> &values, const char *id)
{
    const QVariant value = values.value(QString::fromLatin1(id));
    Q_ASSERT_X(value.isValid(), "ParameterValues", id);
    return value;
}

qlonglong ParameterValues::integer(const char *id) const
{
    return present(m_values, id).toLongLong();
}

double ParameterValues::real(const char *id) const
{
    return present(m_values, id).toDouble();
}

bool ParameterValues::boolean(const char *id) const
{
    return present(m_values, id).toBool();
}

QString ParameterValues::text(const char *id) const
{
    return present(m_values, id).toString();
}

fs::path ParameterValues::path(const char *id) const
{
    return pathFromBytes(m_values.value(QString::fromLatin1(id)).toByteArray());
}

QList<qlonglong> ParameterValues::integers(const char *id) const
{
    QList<qlonglong> numbers;
    for (const QVariant &item : present(m_values, id).toList())
        numbers.append(item.toLongLong());
    return numbers;
}

std::pair<double, double> ParameterValues::range(const char *id) const
{
    const QVariantList ends = present(m_values, id).toList();
    return {ends.value(0).toDouble(), ends.value(1).toDouble()};
}

bool ParameterValues::isSet(const char *id) const
{
    return m_values.value(QString::fromLatin1(id)).isValid();
}

const ParameterSpec *ParameterSchema::find(const QString &id) const
{
    const auto it =
        std::find_if(m_specs.begin(), m_specs.end(), [&](const ParameterSpec &spec) { return spec.id == id; });
    return it == m_specs.end() ? nullptr : &*it;
}

ParameterValues ParameterSchema::defaults() const
{
    ParameterValues values;
    for (const ParameterSpec &spec : m_specs)
        values.set(spec.id, spec.defaultValue);
    return values;
}

ParameterValues ParameterSchema::effective(const ParameterValues &stored) const
{
    ParameterValues values = defaults();
    for (const QString &id : stored.ids())
        values.set(id, stored.value(id));
    return values;
}

static Error unknownParameter(const QString &id, const QList<ParameterSpec> &specs)
{
    QStringList known;
    for (const ParameterSpec &spec : specs)
        known.append(spec.id);
    const QString closest = nearestText(id, known);
    const char *hint = known.isEmpty()     ? QT_TRANSLATE_NOOP("Error", "This component has no parameters.")
                       : closest.isEmpty() ? QT_TRANSLATE_NOOP("Error", "Parameters are: %3.")
                                           : QT_TRANSLATE_NOOP("Error", "Did you mean '%2'? Parameters are: %3.");
    return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "There is no parameter '%1'."),
                     {id, closest, known.join(QStringLiteral(", "))}, hint)
        .atParameter(id);
}

QList<Error> ParameterSchema::check(const ParameterValues &stored) const
{
    QList<Error> faults;
    for (const QString &id : stored.ids()) {
        if (find(id) == nullptr)
            faults.append(unknownParameter(id, m_specs));
    }
    const ParameterValues values = effective(stored);
    for (const ParameterSpec &spec : m_specs) {
        const auto checked = spec.check(values.value(spec.id));
        if (checked.ok())
            continue;
        // What is not shown cannot be asked for; a wrong value is reported all the same.
        const bool missing = checked.error().name == QLatin1String(errors::NullOrEmpty);
        if (!missing || isVisible(spec.id, values))
            faults.append(checked.error());
    }
    return faults;
}

bool ParameterSchema::isVisible(const QString &id, const ParameterValues &effectiveValues) const
{
    const ParameterSpec *spec = find(id);
    // The bound stops a declaration that refers to itself.
    for (qsizetype step = 0; spec != nullptr && step <= m_specs.size(); ++step) {
        if (spec->visibleWhenId.isEmpty())
            return true;
        const ParameterSpec *condition = find(spec->visibleWhenId);
        if (condition == nullptr)
            return false;
        const QString value = condition->toText(effectiveValues.value(condition->id));
        if (!spec->visibleWhenValues.contains(value))
            return false;
        spec = condition;
    }
    return false;
}

} // namespace tw
