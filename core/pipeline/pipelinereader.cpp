// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/pipeline/pipelinefile.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <cmath>

namespace tw {

namespace {

constexpr qint64 maxFileBytes = (qint64(64) << 20) - 1;
constexpr double maxCoordinate = 1e6;

/// Brings the whole file from one format version to the next; entry 0 leads from version 1 to 2.
using FileStep = QJsonObject (*)(const QJsonObject &);
const std::vector<FileStep> fileSteps;

QString shown(const QJsonValue &value)
{
    if (value.isUndefined())
        return QStringLiteral("missing");
    const QString text = QString::fromUtf8(jsonCompact(value));
    return text.size() <= 80 ? text : text.left(77) + QStringLiteral("…");
}

Error wrongPlace(const QString &place, const QJsonValue &value, const char *expected)
{
    return makeError(errors::InvalidPipeline,
                     QT_TRANSLATE_NOOP("Error", "In the pipeline file, %1 is %2; it must be %3."),
                     {place, shown(value), QString::fromUtf8(expected)},
                     QT_TRANSLATE_NOOP("Error", "Correct %1 in the file, or open another file."));
}

Error notJson(const QByteArray &bytes, const QJsonParseError &fault)
{
    return makeError(errors::InvalidPipeline,
                     QT_TRANSLATE_NOOP("Error", "The pipeline file is not valid JSON: line %1: %2."),
                     {QString::number(1 + bytes.left(fault.offset).count('\n')), fault.errorString()},
                     QT_TRANSLATE_NOOP("Error", "Correct the file at that line, or open another file."));
}

QJsonObject without(QJsonObject object, std::initializer_list<const char *> keys)
{
    for (const char *key : keys)
        object.remove(QLatin1String(key));
    return object;
}

/// `key` of `object` as text; absent is empty.
Result<QString> optionalText(const QJsonObject &object, const char *key, const QString &place)
{
    const QJsonValue value = object.value(QLatin1String(key));
    if (!value.isString() && !value.isUndefined())
        return wrongPlace(place + u'.' + QLatin1String(key), value, "a text");
    return value.toString();
}

Result<int> positiveInteger(const QJsonValue &value, const QString &place)
{
    const int number = value.toInt(-1);
    if (number < 1)
        return wrongPlace(place, value, "a whole number from 1");
    return number;
}

Result<QJsonArray> optionalArray(const QJsonObject &object, const char *key, const QString &place)
{
    const QJsonValue value = object.value(QLatin1String(key));
    if (!value.isArray() && !value.isUndefined())
        return wrongPlace(place, value, "a list");
    return value.toArray();
}

Result<QString> idOf(const QJsonObject &object, const QString &place, QSet<QString> &taken)
{
    const QJsonValue value = object.value(QLatin1String("id"));
    if (!value.isString() || !isNodeId(value.toString()))
        return wrongPlace(place + QStringLiteral(".id"), value, "an id: a letter a–z, then letters a–z, digits or '_'");
    if (taken.contains(value.toString()))
        return wrongPlace(place + QStringLiteral(".id"), value, "another id, this one is already taken");
    taken.insert(value.toString());
    return value.toString();
}

Result<PortAddress> addressOf(const QJsonValue &value, const QString &place)
{
    const PortAddress address = PortAddress::fromText(value.toString());
    if (address.node.isEmpty())
        return wrongPlace(place, value, "a text of the form \"node.name\"");
    return address;
}

Result<QPointF> positionOf(const QJsonValue &value, const QString &place)
{
    if (value.isUndefined())
        return QPointF();
    const QJsonArray array = value.toArray();
    const auto fits = [](const QJsonValue &item) {
        return item.isDouble() && std::abs(item.toDouble()) <= maxCoordinate;
    };
    if (array.size() != 2 || !fits(array[0]) || !fits(array[1]))
        return wrongPlace(place + QStringLiteral(".position"), value, "two numbers between -1000000 and 1000000");
    return QPointF(array[0].toDouble(), array[1].toDouble());
}

class Reader
{
public:
    explicit Reader(const ComponentRegistry &registry) : m_registry(registry) {}

    Result<LoadedPipeline> read(const QJsonObject &root)
    {
        const QString top = QStringLiteral("the pipeline");
        TW_ASSIGN(name, optionalText(root, "name", top));
        TW_ASSIGN(parameters, optionalArray(root, "parameters", QStringLiteral("parameters")));
        TW_ASSIGN(nodes, optionalArray(root, "nodes", QStringLiteral("nodes")));
        TW_ASSIGN(connections, optionalArray(root, "connections", QStringLiteral("connections")));
        Pipeline &pipeline = m_loaded.pipeline;
        pipeline.name = name;
        pipeline.unknown = without(root, {"format", "version", "name", "parameters", "nodes", "connections"});
        TW_TRY(readItems(parameters, "parameters", &Reader::readParameter));
        m_taken.clear();
        TW_TRY(readItems(nodes, "nodes", &Reader::readNode));
        TW_TRY(readItems(connections, "connections", &Reader::readConnection));
        return std::move(m_loaded);
    }

private:
    using ReadItem = Result<void> (Reader::*)(const QJsonObject &, const QString &);

    Result<void> readItems(const QJsonArray &items, const char *list, ReadItem readItem)
    {
        for (qsizetype i = 0; i < items.size(); ++i) {
            const QString place = QStringLiteral("%1[%2]").arg(QLatin1String(list)).arg(i);
            if (!items[i].isObject())
                return wrongPlace(place, items[i], "an object");
            TW_TRY((this->*readItem)(items[i].toObject(), place));
        }
        return {};
    }

    Result<void> readParameter(const QJsonObject &json, const QString &place)
    {
        TW_ASSIGN(id, idOf(json, place, m_taken));
        TW_ASSIGN(label, optionalText(json, "label", place));
        TW_ASSIGN(targets, optionalArray(json, "targets", place + QStringLiteral(".targets")));
        // "value" is what a job ran with: the values are those of the nodes.
        PipelineParameter parameter{id, label, {}, without(json, {"id", "label", "targets", "value"})};
        for (qsizetype i = 0; i < targets.size(); ++i) {
            TW_ASSIGN(target, addressOf(targets[i], QStringLiteral("%1.targets[%2]").arg(place).arg(i)));
            parameter.targets.append(target);
        }
        m_loaded.pipeline.parameters.append(parameter);
        return {};
    }

    Result<void> readConnection(const QJsonObject &json, const QString &place)
    {
        TW_ASSIGN(from, addressOf(json.value(QLatin1String("from")), place + QStringLiteral(".from")));
        TW_ASSIGN(to, addressOf(json.value(QLatin1String("to")), place + QStringLiteral(".to")));
        m_loaded.pipeline.connections.append({from, to, without(json, {"from", "to"})});
        return {};
    }

    Result<void> readNode(const QJsonObject &json, const QString &place)
    {
        PipelineNode node;
        TW_ASSIGN(id, idOf(json, place, m_taken));
        TW_ASSIGN(component, optionalText(json, "component", place));
        if (component.isEmpty())
            return wrongPlace(place + QStringLiteral(".component"), json.value(QLatin1String("component")),
                              "a component id");
        TW_ASSIGN(version, positiveInteger(json.value(QLatin1String("component_version")).isUndefined()
                                               ? QJsonValue(1)
                                               : json.value(QLatin1String("component_version")),
                                           place + QStringLiteral(".component_version")));
        TW_ASSIGN(position, positionOf(json.value(QLatin1String("position")), place));
        TW_ASSIGN(comment, optionalText(json, "comment", place));
        const QJsonValue parameters = json.value(QLatin1String("parameters"));
        if (!parameters.isObject() && !parameters.isUndefined())
            return wrongPlace(place + QStringLiteral(".parameters"), parameters, "an object").atNode(id);
        node.id = id;
        node.component = component;
        node.componentVersion = version;
        node.position = position;
        node.comment = comment;
        node.unknown = without(json, {"id", "component", "component_version", "parameters", "position", "comment"});
        TW_TRY(readParameters(node, parameters.toObject(), place));
        m_loaded.pipeline.nodes.append(node);
        return {};
    }

    Result<void> readParameters(PipelineNode &node, const QJsonObject &json, const QString &place)
    {
        const ComponentType *type = m_registry.find(node.component);
        if (type == nullptr) {
            node.placeholderParameters = json;
            m_loaded.notes.append(QStringLiteral("Node '%1' is kept as it is: this program has no component '%2'.")
                                      .arg(node.id, node.component));
            return {};
        }
        if (node.componentVersion > type->version)
            return newerComponent(node, *type);
        const ParameterValues stored = migrated(node, *type, json);
        for (const QString &id : stored.ids()) {
            const ParameterSpec *spec = type->schema.find(id);
            if (spec == nullptr)
                node.parameters.set(id, stored.value(id)); // validate() reports it
            else
                TW_TRY(readValue(node, *spec, stored.value(id), place));
        }
        return {};
    }

    static Error newerComponent(const PipelineNode &node, const ComponentType &type)
    {
        return makeError(errors::InvalidPipeline,
                         QT_TRANSLATE_NOOP("Error",
                                           "Node '%1' has version %2 of component '%3'; this program knows it up "
                                           "to version %4."),
                         {node.id, QString::number(node.componentVersion), type.id, QString::number(type.version)},
                         QT_TRANSLATE_NOOP("Error", "Open the file with a newer version of the program."))
            .atNode(node.id);
    }

    ParameterValues migrated(PipelineNode &node, const ComponentType &type, const QJsonObject &json)
    {
        ParameterValues values;
        for (auto it = json.begin(); it != json.end(); ++it)
            values.set(it.key(), fromNull(it.value()));
        if (node.componentVersion == type.version)
            return values;
        m_loaded.notes.append(
            QStringLiteral("Node '%1' was brought from version %2 of component '%3' to version %4.")
                .arg(node.id, QString::number(node.componentVersion), type.id, QString::number(type.version)));
        const int from = std::exchange(node.componentVersion, type.version);
        return type.migrate ? type.migrate(from, values) : values;
    }

    /// Null is *automatic*: an invalid QVariant, not one that holds nullptr.
    static QVariant fromNull(const QJsonValue &value) { return value.isNull() ? QVariant() : value.toVariant(); }

    Result<void> readValue(PipelineNode &node, const ParameterSpec &spec, QVariant value, const QString &place)
    {
        if (spec.kind == ParameterKind::Path && value.typeId() == QMetaType::QVariantMap) {
            const fs::path path = pathFromJson(QJsonValue::fromVariant(value)); // a name that is not UTF-8
            value = path.empty() ? value : QVariant(bytesFromPath(path));
        }
        const auto checked = spec.check(value);
        if (!checked.ok()) {
            if (checked.error().name == QLatin1String(errors::InvalidPipeline))
                return wrongValue(node, spec, value, place);
            node.parameters.set(spec.id, value); // out of range or empty: shown and reported by validate()
            return {};
        }
        if (spec.kind == ParameterKind::Choice && *checked != value)
            m_loaded.notes.append(QStringLiteral("Node '%1': '%2' was read as '%3' for parameter '%4'.")
                                      .arg(node.id, value.toString(), checked->toString(), spec.id));
        if (*checked != spec.defaultValue)
            node.parameters.set(spec.id, *checked);
        return {};
    }

    static Error wrongValue(const PipelineNode &node, const ParameterSpec &spec, const QVariant &value,
                            const QString &place)
    {
        const QByteArray expected = spec.rangeText().toUtf8();
        return wrongPlace(QStringLiteral("%1.parameters.%2 (node '%3')").arg(place, spec.id, node.id),
                          QJsonValue::fromVariant(value), expected.constData())
            .atNode(node.id)
            .atParameter(spec.id);
    }

    const ComponentRegistry &m_registry;
    LoadedPipeline m_loaded;
    QSet<QString> m_taken;
};

Result<QJsonObject> currentFile(const QJsonObject &root, QStringList &notes)
{
    const QJsonValue format = root.value(QLatin1String("format"));
    if (format != QJsonValue(QStringLiteral("trainwright-pipeline")))
        return wrongPlace(QStringLiteral("\"format\""), format, "\"trainwright-pipeline\"");
    TW_ASSIGN(version, positiveInteger(root.value(QLatin1String("version")), QStringLiteral("\"version\"")));
    if (version > pipelineFileVersion) {
        return makeError(errors::InvalidPipeline,
                         QT_TRANSLATE_NOOP("Error", "The pipeline file has format version %1; this program reads up to "
                                                    "version %2."),
                         {QString::number(version), QString::number(pipelineFileVersion)},
                         QT_TRANSLATE_NOOP("Error", "Open the file with a newer version of the program."));
    }
    QJsonObject current = root;
    for (int step = version; step < pipelineFileVersion; ++step)
        current = fileSteps.at(static_cast<size_t>(step - 1))(current);
    if (version < pipelineFileVersion)
        notes.append(
            QStringLiteral("The file was brought from format version %1 to %2.").arg(version).arg(pipelineFileVersion));
    return current;
}

} // namespace

Result<LoadedPipeline> readPipeline(const QByteArray &bytes, const ComponentRegistry &registry)
{
    if (bytes.size() > maxFileBytes) {
        return makeError(errors::InvalidPipeline,
                         QT_TRANSLATE_NOOP("Error", "The pipeline file has %1 bytes; at most %2 are read."),
                         {QString::number(bytes.size()), QString::number(maxFileBytes)},
                         QT_TRANSLATE_NOOP("Error", "This is probably not a pipeline file; open another one."));
    }
    QJsonParseError fault;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &fault);
    if (fault.error != QJsonParseError::NoError)
        return notJson(bytes, fault);
    if (!document.isObject())
        return wrongPlace(QStringLiteral("the top level"), document.array(), "an object");
    QStringList notes;
    TW_ASSIGN(root, currentFile(document.object(), notes));
    TW_ASSIGN(loaded, Reader(registry).read(root));
    loaded.notes = notes + loaded.notes;
    return loaded;
}

Result<LoadedPipeline> loadPipelineFile(const fs::path &file, const ComponentRegistry &registry)
{
    TW_ASSIGN(bytes, readFile(file, errors::InvalidPipeline, maxFileBytes));
    return readPipeline(bytes, registry);
}

} // namespace tw
