// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"

#include "core/base/files.h"
#include "core/base/json.h"

#include <array>

namespace tw {

namespace {

constexpr char datasetFormat[] = "trainwright-dataset";
constexpr char transformsFormat[] = "trainwright-transforms";
constexpr int fileVersion = 1;

/// The object of type T behind a port, or nothing.
template <typename T> const T *objectOf(const RunRequest &request, const char *port)
{
    const auto found = request.inputs.constFind(QLatin1String(port));
    return found == request.inputs.constEnd() ? nullptr : std::any_cast<T>(&found->object);
}

fs::path folderOf(const RunRequest &request, const char *port)
{
    return request.inputs.value(QLatin1String(port)).folder;
}

Result<QJsonObject> readVersioned(const fs::path &file, const char *format, const char *errorName)
{
    TW_ASSIGN(json, readJsonObject(file, errorName));
    if (json.value(QLatin1String("format")).toString() != QLatin1String(format))
        return makeError(errorName, QT_TRANSLATE_NOOP("Error", "'%1' is not a file of format '%2'."),
                         {displayPath(file), QLatin1String(format)},
                         QT_TRANSLATE_NOOP("Error", "Run the node that writes it again."));
    const int version = json.value(QLatin1String("version")).toInt();
    if (version < 1 || version > fileVersion)
        return makeError(errorName, QT_TRANSLATE_NOOP("Error", "'%1' has version %2; this program reads version %3."),
                         {displayPath(file), QString::number(version), QString::number(fileVersion)},
                         QT_TRANSLATE_NOOP("Error", "Use a newer program, or run the node that writes it again."));
    return json;
}

} // namespace

Result<ManifestPtr> manifestInput(const RunRequest &request, const char *port)
{
    if (const auto *object = objectOf<ManifestPtr>(request, port); object && *object)
        return *object;
    TW_ASSIGN(manifest, ImageManifest::read(folderOf(request, port)));
    return ManifestPtr(std::make_shared<ImageManifest>(std::move(manifest)));
}

Result<TransformList> transformsInput(const RunRequest &request, const char *port)
{
    if (const auto *object = objectOf<TransformList>(request, port))
        return *object;
    return readTransforms(folderOf(request, port));
}

Result<UntrainedModel> untrainedModelInput(const RunRequest &request, const char *port)
{
    if (const auto *object = objectOf<UntrainedModel>(request, port))
        return *object;
    return UntrainedModel::read(folderOf(request, port));
}

Result<void> writeDatasetReference(const fs::path &folder, const DatasetReference &data)
{
    return writeFileAtomically(folder / "dataset.json",
                               jsonObjectLine({{"format", jsonString(QLatin1String(datasetFormat))},
                                               {"version", QByteArray::number(fileVersion)},
                                               {"path", jsonCompact(pathToJson(data.path))},
                                               {"subfolder", jsonCompact(pathToJson(fs::path(data.subfolder)))},
                                               {"label_column", jsonCompact(pathToJson(fs::path(data.labelColumn)))}})
                                   + '\n');
}

Result<DatasetReference> datasetInput(const RunRequest &request, const char *port)
{
    if (const auto *object = objectOf<DatasetReference>(request, port))
        return *object;
    const fs::path file = folderOf(request, port) / "dataset.json";
    TW_ASSIGN(json, readVersioned(file, datasetFormat, errors::InvalidDataset));
    DatasetReference data{pathFromJson(json.value(QLatin1String("path")))};
    data.subfolder = pathFromJson(json.value(QLatin1String("subfolder"))).native();
    if (json.contains(QLatin1String("label_column")))
        data.labelColumn = pathFromJson(json.value(QLatin1String("label_column"))).native();
    return data;
}

void setDatasetFacts(PortFacts &facts, const DatasetReference &data)
{
    facts.path = data.path;
    facts.extra.insert(QStringLiteral("subfolder"), QByteArray::fromStdString(data.subfolder));
    facts.extra.insert(QStringLiteral("label_column"), QByteArray::fromStdString(data.labelColumn));
}

std::optional<DatasetReference> datasetOf(const PortFacts &facts)
{
    if (!facts.path)
        return std::nullopt;
    return DatasetReference{*facts.path, facts.extra.value(QStringLiteral("subfolder")).toByteArray().toStdString(),
                            facts.extra.value(QStringLiteral("label_column")).toByteArray().toStdString()};
}

void setManifestFact(PortFacts &facts, ManifestPtr manifest)
{
    facts.extra.insert(QStringLiteral("manifest"), QVariant::fromValue(std::move(manifest)));
}

ManifestPtr manifestFact(const PortFacts &facts)
{
    return facts.extra.value(QStringLiteral("manifest")).value<ManifestPtr>();
}

void setPreprocessingFact(PortFacts &facts, const std::optional<WeightsPreprocessing> &preprocessing)
{
    if (preprocessing)
        facts.extra.insert(QStringLiteral("preprocessing"), QVariant::fromValue(*preprocessing));
    else
        facts.extra.remove(QStringLiteral("preprocessing"));
}

std::optional<WeightsPreprocessing> preprocessingFact(const PortFacts &facts)
{
    const QVariant known = facts.extra.value(QStringLiteral("preprocessing"));
    return known.isValid() ? std::optional(known.value<WeightsPreprocessing>()) : std::nullopt;
}

Result<void> writeTransforms(const fs::path &folder, const TransformList &transforms)
{
    return writeFileAtomically(folder / "transforms.json",
                               jsonObjectLine({{"format", jsonString(QLatin1String(transformsFormat))},
                                               {"version", QByteArray::number(fileVersion)},
                                               {"transforms", jsonCompact(transformsToJson(transforms))}})
                                   + '\n');
}

Result<TransformList> readTransforms(const fs::path &folder)
{
    const fs::path file = folder / "transforms.json";
    TW_ASSIGN(json, readVersioned(file, transformsFormat, errors::InvalidTransformationDirectory));
    const QJsonValue list = json.value(QLatin1String("transforms"));
    if (!list.isArray())
        return makeError(errors::InvalidTransformationDirectory,
                         QT_TRANSLATE_NOOP("Error", "'%1' has no list of operations."), {displayPath(file)},
                         QT_TRANSLATE_NOOP("Error", "Run the node that writes it again."));
    return transformsFromJson(list.toArray());
}

QString operationsText(const TransformList &transforms)
{
    QStringList parts;
    const QJsonArray operations = transformsToJson(transforms);
    for (std::size_t i = 0; i < transforms.size(); ++i) {
        const TransformOp &op = transforms[i];
        QString part = operations.at(qsizetype(i)).toObject().value(u"op").toString();
        if (op.kind == TransformOp::Kind::Resize)
            part += u' ' + QString::number(op.size) + u' ' + QLatin1String(interpolationId(op.interpolation));
        else if (op.kind == TransformOp::Kind::CenterCrop || op.kind == TransformOp::Kind::Pad)
            part += u' ' + QString::number(op.size);
        parts.append(part);
    }
    return parts.isEmpty() ? QStringLiteral("nothing") : parts.join(QStringLiteral(", "));
}

QList<Error> checkIntegersUpTo(const ParameterValues &values, qlonglong largest,
                               std::initializer_list<const char *> ids)
{
    QList<Error> faults;
    for (const char *id : ids) {
        if (!values.isSet(id) || values.integer(id) <= largest)
            continue;
        faults.append(makeError(errors::LessThanOrEqualTo,
                                QT_TRANSLATE_NOOP("Error", "Parameter '%1' is %2; it must be at most %3."),
                                {QLatin1String(id), QString::number(values.integer(id)), QString::number(largest)},
                                QT_TRANSLATE_NOOP("Error", "Give '%1' a value of at most %3."))
                          .atParameter(QLatin1String(id)));
    }
    return faults;
}

PortFacts factsOf(const ImageManifest &manifest)
{
    PortFacts facts;
    QStringList names;
    for (const std::string &name : manifest.categories)
        names.append(QString::fromUtf8(name.data(), qsizetype(name.size())));
    facts.categories = names;
    const auto counts = manifest.counts();
    facts.counts = QList<qint64>(counts.begin(), counts.end());
    facts.images = qint64(manifest.size());
    facts.labelled = manifest.isLabelled();
    return facts;
}

QString groupedNumber(qint64 number)
{
    QString digits = QString::number(number);
    const qsizetype first = number < 0 ? 1 : 0;
    for (qsizetype at = digits.size() - 3; at > first; at -= 3)
        digits.insert(at, u',');
    return digits;
}

QString datasetSummary(const PortFacts &facts)
{
    if (!facts.images)
        return {};
    const QString images =
        *facts.images == 1 ? QStringLiteral("1 image") : groupedNumber(*facts.images) + QStringLiteral(" images");
    if (!facts.labelled.value_or(true))
        return images + QStringLiteral(" · no labels");
    if (!facts.categories)
        return images;
    const qint64 classes = facts.categories->size();
    return images
           + (classes == 1 ? QStringLiteral(" · 1 class")
                           : QStringLiteral(" · %1 classes").arg(groupedNumber(classes)));
}

QString shortNumber(qint64 number)
{
    struct Step
    {
        double size;
        const char *suffix;
    };
    constexpr std::array<Step, 3> steps{Step{1e9, " G"}, Step{1e6, " M"}, Step{1e3, " k"}};
    for (const Step &step : steps)
        if (double(number) >= step.size)
            return QString::number(double(number) / step.size, 'f', 1) + QLatin1String(step.suffix);
    return QString::number(number);
}

QString modelFigures(qint64 parameters, qint64 multiplyAdds, int width, int height)
{
    QString operations = shortNumber(multiplyAdds);
    if (!operations.contains(u' '))
        operations += u' ';
    return QStringLiteral("%1 parameters · %2MAC · %3 × %4")
        .arg(shortNumber(parameters), operations)
        .arg(width)
        .arg(height);
}

QString quotedList(const QStringList &names)
{
    constexpr qsizetype shown = 8;
    QStringList quoted;
    for (const QString &name : names.first(std::min(shown, names.size())))
        quoted.append(u'\'' + name + u'\'');
    QString text = quoted.join(QStringLiteral(", "));
    if (names.size() > shown)
        text += QStringLiteral(" and %1 more").arg(names.size() - shown);
    return text;
}

} // namespace tw
