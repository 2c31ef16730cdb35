// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/nodekey.h"

#include "core/base/address.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/jobs/fileidentity.h"

#include <QJsonObject>

#include <algorithm>

namespace tw {

namespace {

QJsonObject portFingerprints(const PreflightReply &facts)
{
    QJsonObject found;
    for (auto port = facts.outputs.constBegin(); port != facts.outputs.constEnd(); ++port) {
        const QVariant value = port->extra.value(QStringLiteral("fingerprint"));
        if (value.isValid())
            found.insert(port.key(), QString::fromUtf8(value.toByteArray()));
    }
    return found;
}

/// The chosen part of the data, where preflight named it: another part may change as it likes.
fs::path placeOf(const fs::path &given, const PreflightReply &facts)
{
    for (const PortFacts &port : facts.outputs)
        if (port.path && port.path->native().rfind(given.native(), 0) == 0)
            return *port.path;
    return given;
}

} // namespace

QByteArray nodeKey(const PlanNode &node, const PreflightReply &facts, const QMap<QString, QByteArray> &inputKeys,
                   const StopToken *stop)
{
    QJsonObject fingerprints = portFingerprints(facts);
    QJsonObject parameters;
    for (const ParameterSpec &spec : node.component->schema.specs()) {
        if (!spec.affectsResult)
            continue;
        // A hidden parameter has no effect, whatever it was set to when it was shown.
        const bool counts = node.component->schema.isVisible(spec.id, node.values);
        const QVariant value = counts ? node.values.value(spec.id) : spec.defaultValue;
        parameters.insert(spec.id, spec.toJson(value));
        const QByteArray path = spec.kind == ParameterKind::Path ? value.toByteArray() : QByteArray();
        if (path.isEmpty())
            continue;
        if (isAddress(path)) { // the hash beside it says what comes; the server may change
            parameters.insert(spec.id, pathToJson(fs::path(addressFileName(path))));
            continue;
        }
        const QByteArray content = fileIdentity(placeOf(pathFromBytes(path), facts), stop);
        if (content.isEmpty())
            return {};
        fingerprints.insert(QStringLiteral("parameter:") + spec.id, QString::fromLatin1(content));
    }
    QJsonObject inputs;
    for (auto input = node.inputs.constBegin(); input != node.inputs.constEnd(); ++input) {
        const QByteArray key = inputKeys.value(input.key());
        if (key.isEmpty())
            return {};
        inputs.insert(input.key(), QString::fromLatin1(key) + u'.' + input->port);
    }
    return blake2b(jsonCompact(QJsonObject{{"component", node.component->id},
                                           {"version", node.component->version},
                                           {"parameters", parameters},
                                           {"fingerprints", fingerprints},
                                           {"inputs", inputs}}));
}

bool readsAddress(const PlanNode &node)
{
    const QList<ParameterSpec> &specs = node.component->schema.specs();
    return std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec &spec) {
        return spec.kind == ParameterKind::Path && isAddress(node.values.value(spec.id).toByteArray());
    });
}

} // namespace tw
