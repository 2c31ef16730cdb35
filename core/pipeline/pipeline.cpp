// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipeline.h"

#include <algorithm>

namespace tw {

PortAddress PortAddress::fromText(const QString &text)
{
    const qsizetype dot = text.indexOf(u'.');
    if (dot <= 0 || dot + 1 == text.size() || text.indexOf(u'.', dot + 1) >= 0)
        return {};
    return {text.left(dot), text.mid(dot + 1)};
}

const PipelineNode *Pipeline::find(const QString &nodeId) const
{
    const auto it =
        std::find_if(nodes.begin(), nodes.end(), [&](const PipelineNode &node) { return node.id == nodeId; });
    return it == nodes.end() ? nullptr : &*it;
}

PipelineNode *Pipeline::find(const QString &nodeId)
{
    const auto it =
        std::find_if(nodes.begin(), nodes.end(), [&](const PipelineNode &node) { return node.id == nodeId; });
    return it == nodes.end() ? nullptr : &*it;
}

QSet<QString> Pipeline::nodeIds() const
{
    QSet<QString> ids;
    for (const PipelineNode &node : nodes)
        ids.insert(node.id);
    return ids;
}

const PipelineConnection *Pipeline::into(const PortAddress &input) const
{
    const auto it = std::find_if(connections.begin(), connections.end(),
                                 [&](const PipelineConnection &connection) { return connection.to == input; });
    return it == connections.end() ? nullptr : &*it;
}

} // namespace tw
