// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"
#include "core/data/imagemanifest.h"
#include "core/data/transforms.h"
#include "core/model/modeldirectory.h"

namespace tw {

/// What an input carries: the object of this run where there is one, else what its folder holds.
/// The input must be connected. Errors are those of the reading function of the type.
Result<ManifestPtr> manifestInput(const RunRequest &request, const char *port);
Result<TransformList> transformsInput(const RunRequest &request, const char *port);
Result<UntrainedModel> untrainedModelInput(const RunRequest &request, const char *port);

/// The chosen data of an AnyDirectory: dataset.json {format, version, path, subfolder, label_column}.
struct DatasetReference
{
    fs::path path;                     ///< absolute
    std::string subfolder{};           ///< inside an archive; that of a folder is part of the path
    std::string labelColumn = "label"; ///< csv only
    bool operator==(const DatasetReference &) const = default;
};
Result<void> writeDatasetReference(const fs::path &folder, const DatasetReference &data);
Result<DatasetReference> datasetInput(const RunRequest &request, const char *port);
/// As preflight hands it on: PortFacts::path, the rest in `extra`.
void setDatasetFacts(PortFacts &facts, const DatasetReference &data);
std::optional<DatasetReference> datasetOf(const PortFacts &facts);

/// The listed pictures behind a port, for those who look at their sizes; null where they are not known. Of a
/// split it is the whole set.
void setManifestFact(PortFacts &facts, ManifestPtr manifest);
ManifestPtr manifestFact(const PortFacts &facts);

/// What is known of how pictures were prepared for the initial weights behind a port of an untrained model.
void setPreprocessingFact(PortFacts &facts, const std::optional<WeightsPreprocessing> &preprocessing);
std::optional<WeightsPreprocessing> preprocessingFact(const PortFacts &facts);

/// transforms.json {format, version, transforms}. FailedToWriteOutputsError /
/// InvalidTransformationDirectoryError.
Result<void> writeTransforms(const fs::path &folder, const TransformList &transforms);
Result<TransformList> readTransforms(const fs::path &folder);

/// "resize 256 bilinear, center_crop 224" of operations that are not random; "nothing" of none.
QString operationsText(const TransformList &transforms);

/// Upper ends that machines set where a range has none: LessThanOrEqualToError for each of the Int
/// parameters `ids` that is above `largest`.
QList<Error> checkIntegersUpTo(const ParameterValues &values, qlonglong largest,
                               std::initializer_list<const char *> ids);

/// What preflight says of a manifest that is already known.
PortFacts factsOf(const ImageManifest &manifest);
/// "60,000": digits in groups of three, C locale.
QString groupedNumber(qint64 number);
/// "60,000 images · 10 classes"; "1 image · 1 class"; without classes "25 images · no labels".
QString datasetSummary(const PortFacts &facts);
/// "11.2 M", "52", "431.1 k"
QString shortNumber(qint64 number);
/// "11.7 M parameters · 1.8 GMAC · 224 × 224": multiply-adds of one picture of that size.
QString modelFigures(qint64 parameters, qint64 multiplyAdds, int width, int height);
/// Names in quotes, at most eight of them: "'a', 'b' and 3 more".
QString quotedList(const QStringList &names);

} // namespace tw
