// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parameterspec.h"

#include "core/base/json.h"

namespace tw {

static ParameterSpec declared(const char *id, const char *label, ParameterKind kind, const QVariant &value)
{
    ParameterSpec spec;
    spec.id = QString::fromLatin1(id);
    spec.label = QString::fromUtf8(label);
    spec.kind = kind;
    spec.defaultValue = value;
    return spec;
}

ParameterSpec ParameterSpec::integer(const char *id, const char *label, std::optional<qlonglong> value)
{
    return declared(id, label, ParameterKind::Int, value ? QVariant(*value) : QVariant());
}

ParameterSpec ParameterSpec::real(const char *id, const char *label, std::optional<double> value)
{
    return declared(id, label, ParameterKind::Float, value ? QVariant(*value) : QVariant());
}

ParameterSpec ParameterSpec::boolean(const char *id, const char *label, bool value)
{
    return declared(id, label, ParameterKind::Bool, value);
}

ParameterSpec ParameterSpec::choice(const char *id, const char *label, const char *value,
                                    const QList<ParameterChoice> &choices)
{
    const QString text = QString::fromUtf8(value);
    ParameterSpec spec = declared(id, label, ParameterKind::Choice, text.isEmpty() ? QVariant() : QVariant(text));
    spec.choices = choices;
    spec.required = text.isEmpty();
    return spec;
}

ParameterSpec ParameterSpec::text(const char *id, const char *label, const char *value)
{
    return declared(id, label, ParameterKind::Text, QString::fromUtf8(value));
}

ParameterSpec ParameterSpec::path(const char *id, const char *label)
{
    return declared(id, label, ParameterKind::Path, QByteArray(""));
}

ParameterSpec ParameterSpec::integers(const char *id, const char *label, const QList<qlonglong> &value)
{
    QVariantList list;
    for (const qlonglong number : value)
        list.append(number);
    return declared(id, label, ParameterKind::IntList, list);
}

ParameterSpec ParameterSpec::range(const char *id, const char *label, double low, double high)
{
    return declared(id, label, ParameterKind::FloatRange, QVariantList{low, high});
}

ParameterSpec &ParameterSpec::withHelp(const char *text)
{
    help = QString::fromUtf8(text);
    return *this;
}

ParameterSpec &ParameterSpec::withUnit(const char *text)
{
    unit = QString::fromUtf8(text);
    return *this;
}

ParameterSpec &ParameterSpec::atLeast(double value)
{
    minimum = ParameterBound{value, false};
    return *this;
}

ParameterSpec &ParameterSpec::above(double value)
{
    minimum = ParameterBound{value, true};
    return *this;
}

ParameterSpec &ParameterSpec::atMost(double value)
{
    maximum = ParameterBound{value, false};
    return *this;
}

ParameterSpec &ParameterSpec::below(double value)
{
    maximum = ParameterBound{value, true};
    return *this;
}

ParameterSpec &ParameterSpec::isRequired()
{
    required = true;
    defaultValue = QVariant();
    return *this;
}

ParameterSpec &ParameterSpec::isAutomatic(const char *labelText)
{
    automatic = true;
    automaticLabel = QString::fromUtf8(labelText);
    const bool emptyText = (kind == ParameterKind::Text && defaultValue.toString().isEmpty())
                           || (kind == ParameterKind::Path && defaultValue.toByteArray().isEmpty())
                           || (kind == ParameterKind::IntList && defaultValue.toList().isEmpty());
    if (emptyText)
        defaultValue = QVariant();
    if (kind == ParameterKind::Choice)
        required = false;
    return *this;
}

ParameterSpec &ParameterSpec::isAdvanced()
{
    advanced = true;
    return *this;
}

ParameterSpec &ParameterSpec::keepsResult()
{
    affectsResult = false;
    return *this;
}

ParameterSpec &ParameterSpec::isDirectory()
{
    directory = true;
    return *this;
}

ParameterSpec &ParameterSpec::visibleWhen(const char *parameter, const QStringList &values)
{
    visibleWhenId = QString::fromLatin1(parameter);
    visibleWhenValues = values;
    return *this;
}

ParameterSpec &ParameterSpec::withMachineChoices(std::function<QList<ParameterChoice>()> provider)
{
    machineChoices = std::move(provider);
    return *this;
}

} // namespace tw
