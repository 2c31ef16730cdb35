// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/schema/parameterschema.h"

#include <QJsonObject>
#include <QList>
#include <QMap>
#include <QPointF>
#include <QSet>
#include <QString>

namespace tw {

struct PipelineNode
{
    QString id;
    QString component;
    int componentVersion = 1;
    ParameterValues parameters; ///< stored values: those that differ from the default
    QPointF position;           ///< scene coordinates of the top left corner
    QString comment;
    QJsonObject unknown; ///< keys this version does not know; kept on saving
    /// Stored JSON of an unknown component's parameters; kept untouched on saving.
    QJsonObject placeholderParameters;
    bool operator==(const PipelineNode &) const = default;
};

struct PortAddress
{
    QString node;
    QString port;
    /// "node.port"; an empty address when the text is not of that form.
    static PortAddress fromText(const QString &text);
    QString toText() const { return node + u'.' + port; }
    bool operator==(const PortAddress &) const = default;
    auto operator<=>(const PortAddress &other) const
    {
        return std::pair(node, port) <=> std::pair(other.node, other.port);
    }
};

/// A wire; its two ends are its identity, so `unknown` is left out of comparisons.
struct PipelineConnection
{
    PortAddress from;
    PortAddress to;
    QJsonObject unknown = {}; ///< keys this version does not know; kept on saving
    bool operator==(const PipelineConnection &other) const { return from == other.from && to == other.to; }
};

/// A pipeline parameter sets one or more node parameters ("--set NAME=VALUE").
struct PipelineParameter
{
    QString id;
    QString label;
    QList<PortAddress> targets; ///< node and parameter id
    QJsonObject unknown = {};   ///< keys this version does not know; kept on saving
    bool operator==(const PipelineParameter &) const = default;
};

/// Value type: nodes in drawing order, connections, pipeline parameters.
struct Pipeline
{
    QString name;
    QList<PipelineNode> nodes;
    QList<PipelineConnection> connections;
    QList<PipelineParameter> parameters;
    QJsonObject unknown;

    const PipelineNode *find(const QString &nodeId) const;
    PipelineNode *find(const QString &nodeId);
    QSet<QString> nodeIds() const;
    /// The connection that ends at this input, if any.
    const PipelineConnection *into(const PortAddress &input) const;
    bool operator==(const Pipeline &) const = default;
};

} // namespace tw
