// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"

#include <algorithm>

namespace tw {

/// The palette reads in the order in which a pipeline is built; other categories follow by name.
static std::pair<qsizetype, QString> categoryRank(const QString &category)
{
    static const QStringList order{QStringLiteral("Data Input"), QStringLiteral("Computer Vision"),
                                   QStringLiteral("Models"), QStringLiteral("Model Training"),
                                   QStringLiteral("Model Scoring & Evaluation")};
    const qsizetype index = order.indexOf(category);
    return index < 0 ? std::pair(order.size(), category) : std::pair(index, QString());
}

void ComponentRegistry::add(ComponentType type)
{
    Q_ASSERT_X(find(type.id) == nullptr, "ComponentRegistry::add", qPrintable(type.id));
    auto added = std::make_unique<ComponentType>(std::move(type));
    const auto rank = categoryRank(added->category);
    const auto place = std::find_if(m_types.begin(), m_types.end(),
                                    [&](const auto &other) { return categoryRank(other->category) > rank; });
    m_types.insert(place, std::move(added));
}

const ComponentType *ComponentRegistry::find(const QString &id) const
{
    const auto it = std::find_if(m_types.begin(), m_types.end(), [&](const auto &type) { return type->id == id; });
    return it == m_types.end() ? nullptr : it->get();
}

QList<const ComponentType *> ComponentRegistry::all() const
{
    QList<const ComponentType *> types;
    for (const auto &type : m_types)
        types.append(type.get());
    return types;
}

} // namespace tw
