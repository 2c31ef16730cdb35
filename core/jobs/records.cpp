// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/records.h"

#include "core/base/json.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QVariant>

#include <cmath>
#include <limits>

namespace tw {

namespace {

constexpr int kindFinite = 0, kindNan = 1, kindInfinity = 2, kindMinusInfinity = 3;

/// The store's columns are NOT NULL, and a null QString would be bound as NULL.
QString notNull(const QString &text)
{
    return text.isNull() ? QStringLiteral("") : text;
}

QVariant errorValue(const std::optional<Error> &error)
{
    return error ? QVariant(errorToText(*error)) : QVariant(QMetaType(QMetaType::QString));
}

QString jsonText(const QJsonValue &value)
{
    return QString::fromUtf8(jsonCompact(value));
}

} // namespace

QString errorToText(const Error &error)
{
    return jsonText(QJsonObject{{"name", error.name},
                                {"text", error.text},
                                {"args", QJsonArray::fromStringList(error.args)},
                                {"hint", error.hint},
                                {"node", error.nodeId},
                                {"parameter", error.parameter}});
}

std::optional<Error> errorFromText(const QString &text)
{
    const QJsonObject json = QJsonDocument::fromJson(text.toUtf8()).object();
    if (json.isEmpty())
        return std::nullopt;
    Error error;
    error.name = json["name"].toString();
    error.text = json["text"].toString();
    const QJsonArray args = json["args"].toArray();
    for (const QJsonValue &argument : args)
        error.args.append(argument.toString());
    error.hint = json["hint"].toString();
    error.nodeId = json["node"].toString();
    error.parameter = json["parameter"].toString();
    return error;
}

QVariantList nodeValues(const NodeRecord &node)
{
    return {notNull(node.component), nodeStateId(node.state),
            node.startedMs,          node.finishedMs,
            notNull(node.stopped),   notNull(node.reusedFrom),
            notNull(node.key),       jsonText(QJsonArray::fromStringList(node.outputs)),
            jsonText(node.results),  errorValue(node.error)};
}

NodeRecord nodeFromRow(const QSqlQuery &row)
{
    NodeRecord node;
    int column = 1;
    node.id = row.value(column++).toString();
    node.component = row.value(column++).toString();
    node.state = nodeStateFromId(row.value(column++).toString());
    node.startedMs = row.value(column++).toLongLong();
    node.finishedMs = row.value(column++).toLongLong();
    node.stopped = row.value(column++).toString();
    node.reusedFrom = row.value(column++).toString();
    node.key = row.value(column++).toString();
    const QJsonArray outputs = QJsonDocument::fromJson(row.value(column++).toByteArray()).array();
    for (const QJsonValue &port : outputs)
        node.outputs.append(port.toString());
    node.results = QJsonDocument::fromJson(row.value(column++).toByteArray()).object();
    node.error = errorFromText(row.value(column).toString());
    return node;
}

QVariantList jobValues(const JobRecord &job)
{
    return {job.id,        notNull(job.experiment), notNull(job.name), notNull(job.description), jobStateId(job.state),
            job.createdMs, job.startedMs,           job.finishedMs,    errorValue(job.error)};
}

JobRecord jobFromRow(const QSqlQuery &row)
{
    JobRecord job;
    int column = 0;
    job.id = row.value(column++).toString();
    job.experiment = row.value(column++).toString();
    job.name = row.value(column++).toString();
    job.description = row.value(column++).toString();
    job.state = jobStateFromId(row.value(column++).toString());
    job.createdMs = row.value(column++).toLongLong();
    job.startedMs = row.value(column++).toLongLong();
    job.finishedMs = row.value(column++).toLongLong();
    job.error = errorFromText(row.value(column).toString());
    return job;
}

QVariant finiteOrNull(double value)
{
    return std::isfinite(value) ? QVariant(value) : QVariant(QMetaType(QMetaType::Double));
}

int numberKind(double value)
{
    if (std::isnan(value))
        return kindNan;
    if (std::isinf(value))
        return value > 0 ? kindInfinity : kindMinusInfinity;
    return kindFinite;
}

double numberFromRow(const QVariant &value, int kind)
{
    switch (kind) {
    case kindNan:
        return std::numeric_limits<double>::quiet_NaN();
    case kindInfinity:
        return std::numeric_limits<double>::infinity();
    case kindMinusInfinity:
        return -std::numeric_limits<double>::infinity();
    default:
        return value.toDouble();
    }
}

} // namespace tw
