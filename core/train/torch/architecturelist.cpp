// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/architecturelist.h"

#include "core/base/json.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>

namespace tw {

namespace architecturelist {

constexpr int usualSmallSize = 28; ///< MNIST's, the default of networks that are built for a size
constexpr int usualSquare = 224;

int argument(const ModelConfig &config, const char *key, int fallback)
{
    return config.arguments.value(QLatin1String(key)).toInt(fallback);
}

/// The values are not set: initialise() comes after it and draws for so many channels.
void setInputChannels(const Network &network, std::int64_t channels)
{
    c10::NoGradGuard noGrad;
    const NamedTensor weight = inputWeight(network);
    const auto sizes = weight.tensor.sizes();
    weight.tensor.set_data(at::empty({sizes[0], channels, sizes[2], sizes[3]}, weight.tensor.options()));
}

} // namespace architecturelist

NetworkArguments::NetworkArguments(const ModelConfig &config) : m_config(config) {}

QJsonValue NetworkArguments::take(const char *key)
{
    if (const QString name = QString::fromLatin1(key); !m_known.contains(name))
        m_known.append(name);
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

int NetworkArguments::integer(const char *key, int fallback, int low, int high, int multipleOf)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    const double number = value.toDouble(std::nan(""));
    if (!(number >= low && number <= high) || std::fmod(number, multipleOf) != 0) {
        const QString expected = multipleOf == 1 ? QStringLiteral("a whole number from %1 to %2")
                                                 : QStringLiteral("a multiple of %3 from %1 to %2");
        refuse(QString::fromLatin1(key), value,
               multipleOf == 1 ? expected.arg(low).arg(high) : expected.arg(low).arg(high).arg(multipleOf));
        return fallback;
    }
    return int(number);
}

int NetworkArguments::oneOf(const char *key, int fallback, const std::vector<int> &choices)
{
    const QJsonValue value = take(key);
    if (value.isUndefined() || value.isNull())
        return fallback;
    QStringList texts;
    for (const int choice : choices) {
        if (value.toDouble(std::nan("")) == choice)
            return choice;
        texts.append(QString::number(choice));
    }
    refuse(QString::fromLatin1(key), value, texts.join(QStringLiteral(" or ")));
    return fallback;
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

Result<int> inputChannels(const ModelConfig &config)
{
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    if (architecture->fixedInput)
        return architecturelist::argument(config, "in_channels", pictureChannels);
    NetworkArguments arguments(config);
    const int channels = arguments.oneOf("in_channels", pictureChannels, {pictureChannels, 1, 4});
    if (arguments.problem())
        return *arguments.problem();
    return channels;
}

Result<void> checkPictureChannels(const ModelConfig &config)
{
    TW_ASSIGN(channels, inputChannels(config));
    if (channels == pictureChannels || channels == 1)
        return {};
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "This %1 reads %2 channels, but pictures have 3 (colour) or are read "
                                                "as 1 (brightness)."),
                     {config.architecture, QString::number(channels)},
                     QT_TRANSLATE_NOOP("Error", "Use it in PyTorch with input of your own, or choose a network whose "
                                                "in_channels is 3 or 1."));
}

NamedTensor inputWeight(const Network &network)
{
    for (NamedTensor &entry : network.stateDict()) {
        if (entry.tensor.dim() == 4)
            return entry;
    }
    TORCH_CHECK(false, "a network without convolution has no input convolution");
}

std::optional<OnlySize> onlySize(const Architecture &architecture, const ModelConfig &config)
{
    using namespace architecturelist;
    if (architecture.fixedInput)
        return OnlySize{argument(config, "height", usualSmallSize), argument(config, "width", usualSmallSize)};
    if (!architecture.squareInput)
        return std::nullopt;
    const int edge = argument(config, "image_size", usualSquare);
    return OnlySize{edge, edge};
}

Result<std::unique_ptr<Network>> makeNetwork(const ModelConfig &config, TensorPlace place)
{
    TW_ASSIGN(architecture, findArchitecture(config.architecture));
    const TensorPlaceScope scope(place);
    if (architecture->fixedInput)
        return architecture->make(config);
    TW_ASSIGN(channels, inputChannels(config));
    ModelConfig others = config;
    others.arguments.remove(QStringLiteral("in_channels"));
    TW_ASSIGN(network, architecture->make(others));
    if (channels != pictureChannels)
        architecturelist::setInputChannels(*network, channels);
    return std::move(network);
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
    const QString edge = QStringLiteral("image_size");
    if (architecture.squareInput && !config.arguments.contains(edge))
        config.arguments.insert(edge, onlySize(architecture, config)->width);
    return config;
}

} // namespace tw
