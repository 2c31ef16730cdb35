// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

#include <memory>
#include <vector>

namespace tw {

/// All component types, in palette order (category, then declaration). Filled once at start by
/// registerAllComponents(); read-only and usable from any thread afterwards.
class ComponentRegistry
{
public:
    void add(ComponentType type);
    const ComponentType *find(const QString &id) const;
    QList<const ComponentType *> all() const;

private:
    std::vector<std::unique_ptr<ComponentType>> m_types;
};

/// Generated from the files of core/components (target trainwright_components).
void registerAllComponents(ComponentRegistry &registry);

} // namespace tw
