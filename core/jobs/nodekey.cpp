// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/nodekey.h"

#include "core/base/hash.h"
#include "core/base/json.h"

#include <QJsonObject>

#include <algorithm>
#include <sys/stat.h>
#include <vector>

namespace tw {

namespace {

QByteArray statLine(const fs::path &root, const fs::path &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
        return {};
    const fs::path shown = file == root ? fs::path() : file.lexically_relative(root);
    return bytesFromPath(shown) + '\0' + QByteArray::number(qint64(status.st_size)) + ' '
           + QByteArray::number(qint64(status.st_mtim.tv_sec)) + '.'
           + QByteArray::number(qint64(status.st_mtim.tv_nsec)) + '\n';
}

/// Hash over the sorted names, sizes and times of all files at `path`; empty when it cannot be told.
QByteArray fingerprintOf(const fs::path &path, const StopToken *stop)
{
    std::error_code fault;
    std::vector<QByteArray> lines;
    if (fs::is_directory(path, fault)) {
        fs::recursive_directory_iterator entry(path, fault);
        for (; !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
            if (stop && stop->cancel)
                return {};
            if (!entry->is_directory(fault))
                lines.push_back(statLine(path, entry->path()));
        }
    } else {
        lines.push_back(statLine(path, path));
        if (lines.front().isEmpty())
            return {};
    }
    if (fault)
        return {};
    std::sort(lines.begin(), lines.end());
    QByteArray all;
    for (const QByteArray &line : lines)
        all += line;
    return blake2b(all);
}

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

} // namespace

QByteArray nodeKey(const PlanNode &node, const PreflightReply &facts, const QMap<QString, QByteArray> &inputKeys,
                   const StopToken *stop)
{
    QJsonObject fingerprints = portFingerprints(facts);
    const bool reported = !fingerprints.isEmpty();
    QJsonObject parameters;
    for (const ParameterSpec &spec : node.component->schema.specs()) {
        if (!spec.affectsResult)
            continue;
        const QVariant value = node.values.value(spec.id);
        parameters.insert(spec.id, spec.toJson(value));
        const QByteArray path = spec.kind == ParameterKind::Path ? value.toByteArray() : QByteArray();
        if (path.isEmpty() || reported)
            continue;
        const QByteArray content = fingerprintOf(pathFromBytes(path), stop);
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

} // namespace tw
