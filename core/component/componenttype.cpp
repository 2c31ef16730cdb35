// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componenttype.h"

#include <algorithm>

namespace tw {

ComponentType &ComponentType::named(const char *name, const char *categoryName, const char *text)
{
    displayName = QString::fromUtf8(name);
    category = QString::fromUtf8(categoryName);
    description = QString::fromUtf8(text);
    return *this;
}

ComponentType &ComponentType::input(const char *portId, const char *label, DataType type, bool optional)
{
    inputs.append({QString::fromLatin1(portId), QString::fromUtf8(label), type, optional});
    return *this;
}

ComponentType &ComponentType::output(const char *portId, const char *label, DataType type)
{
    outputs.append({QString::fromLatin1(portId), QString::fromUtf8(label), type, false});
    return *this;
}

ComponentType &ComponentType::parameter(const ParameterSpec &spec)
{
    schema.add(spec);
    return *this;
}

static const PortSpec *findPort(const QList<PortSpec> &ports, const QString &portId)
{
    const auto it = std::find_if(ports.begin(), ports.end(), [&](const PortSpec &port) { return port.id == portId; });
    return it == ports.end() ? nullptr : &*it;
}

const PortSpec *ComponentType::findInput(const QString &portId) const
{
    return findPort(inputs, portId);
}

const PortSpec *ComponentType::findOutput(const QString &portId) const
{
    return findPort(outputs, portId);
}

} // namespace tw
