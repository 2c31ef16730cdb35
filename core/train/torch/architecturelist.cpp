// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/architecturelist.h"

#include "core/base/json.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>

namespace tw {

NetworkArguments::NetworkArguments(const ModelConfig &config) : m_config(config) {}

QJsonValue NetworkArguments::take(const char *key)
{
    m_known.append(QString::fromLatin1(key));
    return m_config.arguments.value(QLatin1String(key));
}

void NetworkArguments::refuse(const QString &key, const QJsonValue &value, const QString &expected)
{
    if (m_error)
        return;
    m_error = makeError(errors::InvalidModelDirectory,
                        QT_TRANSLATE_NOOP("Error", "The argument %1 of %2 is %3; expected is %4."),
                        {key, m_config.architecture, QString::fromUtf8(jsonCompact(value)).left(80), expected},
                        QT_TRANSLATE_NOOP("Error", "Correct the argument in the model's file or in "
                                                   "the component that made it."));
}

int NetworkArguments::integer(const char *key, int fallback, int low, int high)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    const double number = value.toDouble(std::nan(""));
    if (!(number >= low && number <= high) || number != std::floor(number)) {
        refuse(QString::fromLatin1(key), value, QStringLiteral("a whole number from %1 to %2").arg(low).arg(high));
        return fallback;
    }
    return int(number);
}

double NetworkArguments::number(const char *key, double fallback, double low, double below)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    const double number = value.toDouble(std::nan(""));
    if (number >= low && number < below)
        return number;
    refuse(QString::fromLatin1(key), value, QStringLiteral("a number from %1, less than %2").arg(low).arg(below));
    return fallback;
}

bool NetworkArguments::flag(const char *key, bool fallback)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    if (!value.isBool())
        refuse(QString::fromLatin1(key), value, QStringLiteral("true or false"));
    return value.toBool(fallback);
}

QString NetworkArguments::choice(const char *key, const QString &fallback, const QStringList &choices)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    if (choices.contains(value.toString()))
        return value.toString();
    refuse(QString::fromLatin1(key), value, choices.join(QStringLiteral(" or ")));
    return fallback;
}

std::vector<int> NetworkArguments::integers(const char *key, const std::vector<int> &fallback)
{
    constexpr int maximumWidth = 1 << 20, maximumLayers = 1000;
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    std::vector<int> out;
    const QJsonArray entries = value.toArray();
    for (const QJsonValue &entry : entries) {
        const int number = entry.toInt(0);
        if (number >= 1 && number <= maximumWidth)
            out.push_back(number);
    }
    if (out.empty() || qsizetype(out.size()) != entries.size() || entries.size() > maximumLayers)
        refuse(QString::fromLatin1(key), value,
               QStringLiteral("a list of at most %1 whole numbers ≥ 1").arg(maximumLayers));
    return out;
}

Result<void> NetworkArguments::finish()
{
    for (auto it = m_config.arguments.begin(); it != m_config.arguments.end(); ++it) {
        if (!m_known.contains(it.key()))
            refuse(it.key(), it.value(), QStringLiteral("one of: ") + m_known.join(QStringLiteral(", ")));
    }
    if (m_error)
        return *m_error;
    return {};
}

const ArchitectureList &allArchitectures()
{
    static const ArchitectureList list = [] {
        ArchitectureList filled;
        registerAllArchitectures(filled);
        return filled;
    }();
    return list;
}

Result<const Architecture *> findArchitecture(const QString &name)
{
    QStringList names;
    for (const Architecture &architecture : allArchitectures().items()) {
        if (architecture.name == name)
            return &architecture;
        names.append(architecture.name);
    }
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "There is no architecture “%1”."),
                     {name, names.join(QStringLiteral(", "))}, QT_TRANSLATE_NOOP("Error", "This program knows: %2."));
}

Result<std::unique_ptr<Network>> makeNetwork(const ModelConfig &config, TensorPlace place)
{
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    const TensorPlaceScope scope(place);
    return architecture->make(config);
}

ModelConfig completedConfig(ModelConfig config, const Architecture &architecture, int classes, int channels, int height,
                            int width)
{
    config.arguments.insert(QStringLiteral("num_classes"), classes);
    if (architecture.fixedInput) {
        config.arguments.insert(QStringLiteral("in_channels"), channels);
        config.arguments.insert(QStringLiteral("height"), height);
        config.arguments.insert(QStringLiteral("width"), width);
    }
    return config;
}

} // namespace tw
