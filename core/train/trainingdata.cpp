// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingdata.h"

#include "core/component/trainingchecks.h"
#include "core/data/imagereader.h"

#include <algorithm>
#include <unordered_map>

namespace tw {

namespace trainingdata {

QString shown(const std::string &name)
{
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
}

Result<void> checkLabelled(const ImageManifest &manifest, const QString &role)
{
    if (manifest.size() == 0)
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The %1 dataset holds no images."), {role},
                         QT_TRANSLATE_NOOP("Error", "Connect a dataset with images."));
    for (std::size_t i = 0; i < manifest.size(); ++i) {
        if (manifest.category(i) >= 0)
            continue;
        return makeError(errors::NotLabeledDataset,
                         QT_TRANSLATE_NOOP("Error", "The %1 dataset is not labelled: %2 has no category."),
                         {role, shown(manifest.displayName(i))},
                         QT_TRANSLATE_NOOP("Error", "Put the images into one folder for each category."));
    }
    return {};
}

/// Validation category id → training category id; every name is known.
std::vector<int> categoryMap(const ImageManifest &training, const ImageManifest &validation)
{
    std::unordered_map<std::string, int> ids;
    for (std::size_t i = 0; i < training.categories.size(); ++i)
        ids.emplace(training.categories[i], int(i));
    std::vector<int> map;
    for (const std::string &category : validation.categories)
        map.push_back(ids.at(category));
    return map;
}

ManifestPtr relabelled(const ManifestPtr &manifest, const std::vector<int> &map,
                       const std::vector<std::string> &categories)
{
    if (manifest->categories == categories)
        return manifest;
    auto out = std::make_shared<ImageManifest>();
    out->storage = manifest->storage;
    out->root = manifest->root;
    out->categories = categories;
    out->transforms = manifest->transforms;
    out->transformsForTraining = manifest->transformsForTraining;
    out->skipUnreadable = manifest->skipUnreadable;
    out->fingerprint = manifest->fingerprint;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < manifest->size(); ++i)
        bytes += manifest->path(i).size();
    out->reserve(manifest->size(), bytes);
    for (std::size_t i = 0; i < manifest->size(); ++i)
        out->add(manifest->path(i), map[std::size_t(manifest->category(i))], manifest->bytes(i), manifest->mtimeNs(i));
    return out;
}

CategoryFacts categoryFacts(const ImageManifest &manifest)
{
    CategoryFacts facts;
    for (const std::string &name : manifest.categories)
        facts.names.append(QByteArray::fromStdString(name));
    const auto counts = manifest.counts();
    facts.counts = QList<qint64>(counts.begin(), counts.end());
    return facts;
}

void resolveTransforms(TrainingData &data)
{
    data.trainingTransforms = data.training->transforms.value_or(TransformList{});
    data.inferenceTransforms = forInference(data.validation->transforms.value_or(data.trainingTransforms));
    // What validation runs is what the model will run, but for a list somebody chose to be random.
    data.validationTransforms = data.validation->transforms.value_or(data.inferenceTransforms);
    if (!data.validation->transforms && !data.inferenceTransforms.empty())
        data.warnings.append(QStringLiteral("The validation dataset has no transformation; it uses the "
                                            "training one without its random operations."));
    if (data.validationTransforms != data.inferenceTransforms)
        data.warnings.append(QStringLiteral("The validation transformation is random: its figures are "
                                            "not those of the stored model. Use mode for_inference."));
}

Result<InputSize> probedSize(const ManifestPtr &manifest, const TransformList &transforms, std::uint64_t seed)
{
    TW_ASSIGN(reader, ImageReader::open(manifest));
    constexpr std::size_t attempts = 10;
    std::optional<Error> first;
    for (std::size_t i = 0; i < std::min(attempts, manifest->size()); ++i) {
        auto image = reader->read(i);
        if (!image.ok()) {
            if (!first)
                first = image.error();
            continue;
        }
        SampleRandom random(seed, RandomPurpose::Augment, 1, std::uint32_t(i));
        TW_ASSIGN(out, applyTransforms(std::move(*image), transforms, random, manifest->displayName(i)));
        return InputSize{out.height, out.width};
    }
    return *first;
}

} // namespace trainingdata

Result<TrainingData> checkTrainingData(const TrainingSpec &spec)
{
    using namespace trainingdata;
    TW_TRY(checkLabelled(*spec.training, QStringLiteral("training")));
    TW_TRY(checkLabelled(*spec.validation, QStringLiteral("validation")));
    const CategoryFindings found =
        checkCategories(categoryFacts(*spec.training), categoryFacts(*spec.validation), spec.requireSameCategories);
    if (!found.errors.isEmpty())
        return found.errors.first();
    TrainingData data;
    data.warnings = found.warnings;
    data.training = spec.training;
    data.validation =
        relabelled(spec.validation, categoryMap(*spec.training, *spec.validation), spec.training->categories);
    if (std::size_t(spec.batchSize) > data.training->size())
        return makeError(errors::LessThanOrEqualTo,
                         QT_TRANSLATE_NOOP("Error", "batch_size is %1, but there are only %2 training images."),
                         {QString::number(spec.batchSize), QString::number(data.training->size())},
                         QT_TRANSLATE_NOOP("Error", "Set batch_size to %2 or less."))
            .atParameter(QStringLiteral("batch_size"));
    resolveTransforms(data);
    return data;
}

QString freshHeadWarning()
{
    return QStringLiteral("Only the head is trained, but the layers below it have fresh weights: it learns from random "
                          "features. Give the model initial weights, or set trainable_layers to all.");
}

Result<InputSize> inputSize(const ManifestPtr &manifest, const TransformList &transforms, std::uint64_t seed)
{
    if (const auto fixed = fixedOutputSize(transforms))
        return InputSize{fixed->second, fixed->first};
    return trainingdata::probedSize(manifest, transforms, seed);
}

Result<Normalization> resolveNormalization(const TrainingSpec &spec, const TrainingData &data, const StopToken *stop)
{
    const QString &choice = spec.normalization;
    if (choice == QLatin1String("imagenet"))
        return Normalization{};
    if (choice == QLatin1String("half"))
        return Normalization{{0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F}};
    if (choice == QLatin1String("none"))
        return Normalization{{0, 0, 0}, {1, 1, 1}};
    if (choice == QLatin1String("dataset"))
        return datasetNormalization(data.training, data.inferenceTransforms, std::max(1, spec.numWorkers), stop);
    if (choice != QLatin1String("weights"))
        return makeError(errors::NotInRangeValue, QT_TRANSLATE_NOOP("Error", "normalization is “%1”."), {choice},
                         QT_TRANSLATE_NOOP("Error", "Use weights, imagenet, half, dataset or none."))
            .atParameter(QStringLiteral("normalization"));
    if (spec.model.normalization)
        return *spec.model.normalization;
    if (spec.model.preprocessing)
        return spec.model.preprocessing->normalization();
    if (spec.model.weightsFile.empty())
        return Normalization{};
    const fs::path folder = spec.model.weightsFile.parent_path();
    std::error_code ignored;
    if (!fs::exists(folder / "model.json", ignored))
        return Normalization{};
    TW_ASSIGN(info, readModelInfo(folder));
    return info.normalization;
}

} // namespace tw
