// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/architectures.h"

#include <QMap>
#include <QRegularExpression>

namespace tw::test {

inline std::int64_t parameterCount(const QString &architecture)
{
    const auto layout = weightsLayout({architecture, {{QStringLiteral("num_classes"), 5}}});
    std::int64_t count = 0;
    for (const TensorBlob &blob : layout.ok() ? *layout : StateDict())
        count += blob.elements();
    return count;
}

/// "resnet" of resnet50, resnext101_32x8d and wide_resnet50_2, "efficientnet_lite" of efficientnet_lite0.
inline QString familyOf(const QString &architecture)
{
    static const QRegularExpression residual(QStringLiteral("^(wide_)?resne[tx]")),
        letters(QStringLiteral("^efficientnet_lite|^mobilenet_v\\d|^[a-z]+(_cnn)?"));
    return residual.match(architecture).hasMatch() ? QStringLiteral("resnet") : letters.match(architecture).captured();
}

/// The network with the fewest parameters of each family that this build knows.
inline QStringList smallestOfEachFamily()
{
    QMap<QString, QString> smallest;
    for (const QString &name : architectureNames()) {
        QString &known = smallest[familyOf(name)];
        if (known.isEmpty() || parameterCount(name) < parameterCount(known))
            known = name;
    }
    return smallest.values();
}

/// Values in [−1, 1) that look random; tests/core/train/torch/formula.h has the same.
inline float formulaValue(std::int64_t i, std::int64_t number)
{
    return float(double((i * i * 31 + i * 7919 + number * 104729) % 2003) / 1001.5 - 1);
}

/// Weights and statistics that no training has seen, but none with the value it starts with: formula
/// values, scaled so that a pass stays finite (`gain`: three times the ratio of the variances
/// behind and before a layer, were there no activation). The tensors own their memory.
inline StateDict formulaWeights(StateDict layout, double gain = 6)
{
    const auto endsWith = [](const std::string &name, const char *end) {
        const std::string text(end);
        return name.size() >= text.size() && name.compare(name.size() - text.size(), text.size(), text) == 0;
    };
    std::int64_t number = -1;
    for (TensorBlob &blob : layout) {
        ++number;
        const bool isFloat = blob.type == ElementType::F32;
        auto memory = std::make_shared<std::vector<float>>((blob.bytes + 3) / 4);
        const auto count = std::int64_t(blob.bytes / sizeof(float));
        const double fan = blob.shape.size() > 1 ? double(count) / double(blob.shape[0]) : 1;
        const bool isScale = endsWith(blob.name, "weight") || endsWith(blob.name, "running_var");
        for (std::int64_t i = 0; isFloat && i < count; ++i) {
            const float value = formulaValue(i, number);
            (*memory)[std::size_t(i)] = blob.shape.size() > 1 ? value * float(std::sqrt(gain / fan))
                                        : isScale             ? 1 + value / 4
                                                              : value / 8;
        }
        blob.data = reinterpret_cast<const std::byte *>(memory->data());
        blob.owner = std::move(memory);
    }
    return layout;
}

} // namespace tw::test
