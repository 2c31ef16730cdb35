// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/inspection.h"
#include "core/base/json.h"
#include "core/base/visibletext.h"

namespace tw::cli {

namespace {

/// A name of the file on one line: line ends and tabs are shown too.
QByteArray shown(const QString &name)
{
    QString text = visibleText(name);
    text.replace(u'\n', QStringLiteral("\\x0a")).replace(u'\t', QStringLiteral("\\x09"));
    return text.toUtf8();
}

QByteArray shown(const std::string &name)
{
    return shown(QString::fromStdString(name));
}

QByteArray count(std::int64_t value)
{
    return QByteArray::number(qint64(value)).rightJustified(12) + "  ";
}

QByteArray shapeText(const TensorBlob &tensor)
{
    QByteArray text;
    for (const std::int64_t size : tensor.shape)
        text += (text.isEmpty() ? "" : ",") + QByteArray::number(qint64(size));
    return '[' + text + ']';
}

QByteArray figuresText(const char *label, const QJsonObject &figures)
{
    QByteArray text;
    for (auto it = figures.begin(); it != figures.end(); ++it)
        text += (text.isEmpty() ? QByteArray() : QByteArray(", ")) + it.key().toUtf8() + ' ' + jsonCompact(it.value());
    return text.isEmpty() ? QByteArray() : QByteArray(label) + text + '\n';
}

QByteArray classesText(const std::vector<std::string> &classes)
{
    QByteArray text = "classes (" + QByteArray::number(qint64(classes.size())) + "): ";
    for (std::size_t i = 0; i < classes.size(); ++i)
        text += (i ? ", " : "") + shown(classes[i]);
    return text + '\n';
}

QByteArray modelText(const Inspection &found)
{
    const ModelInfo &info = *found.info;
    const QJsonObject input = found.description.value(QLatin1String("input")).toObject();
    return classesText(info.classes) + "input: " + QByteArray::number(info.channels) + " x "
           + QByteArray::number(info.height) + " x " + QByteArray::number(info.width) + ", mean "
           + jsonCompact(input.value(QLatin1String("mean"))) + ", std " + jsonCompact(input.value(QLatin1String("std")))
           + "\ntransforms: " + jsonCompact(input.value(QLatin1String("transforms"))) + '\n'
           + figuresText("arguments: ", info.config.arguments) + figuresText("training: ", info.training);
}

/// Which network a weights file belongs to, and how that was found out.
QByteArray guessText(const Inspection &found)
{
    QByteArray text;
    if (!found.report.weightsUnder.isEmpty())
        text += "weights under: " + shown(found.report.weightsUnder) + '\n';
    if (found.guess.model) {
        for (const QString &note : found.guess.model->initial.notes)
            text += shown(note) + '\n';
        text += figuresText("arguments: ", found.guess.model->config.arguments);
    } else if (found.guess.nearest.isEmpty()) {
        text += "The tensors are those of no network that this program knows.\n";
    } else {
        text +=
            "Nearest is " + found.guess.nearest.toUtf8() + "; what differs: " + shown(found.guess.differences) + '\n';
    }
    return text + (found.report.classes.empty() ? QByteArray() : classesText(found.report.classes));
}

QByteArray tensorsText(const StateDict &weights)
{
    QByteArray text;
    std::int64_t total = 0;
    for (const TensorBlob &tensor : weights) {
        total += tensor.elements();
        text += count(tensor.elements()) + QByteArray(elementTypeName(tensor.type)).leftJustified(5)
                + shown(tensor.name) + ' ' + shapeText(tensor) + '\n';
    }
    return text + count(total) + "values in " + QByteArray::number(qint64(weights.size())) + " tensors\n";
}

QByteArray layersText(const std::vector<Layer> &layers)
{
    QByteArray text = "parameters by layer:\n";
    for (const Layer &layer : layers)
        text += count(layer.parameters) + (layer.name.empty() ? QByteArray("(no layer)") : shown(layer.name)) + '\n';
    return text + count(parametersOf(layers)) + "parameters\n";
}

} // namespace

QByteArray inspectionText(const Inspection &found)
{
    const QString architecture = found.architecture();
    QByteArray text =
        found.report.format.toUtf8() + (architecture.isEmpty() ? QByteArray() : ", " + architecture.toUtf8()) + '\n';
    text += found.info ? modelText(found) : guessText(found);
    text += tensorsText(found.weights) + layersText(layersOf(found.weights));
    for (const QString &extra : found.report.extras)
        text += "beside the weights: " + shown(extra) + '\n';
    for (const QString &warning : found.report.warnings)
        text += "warning: " + shown(warning) + '\n';
    return text;
}

} // namespace tw::cli
