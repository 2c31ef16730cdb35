// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/preprocessingchecks.h"

#include "core/component/portobjects.h"
#include "core/train/cachechecks.h"

#include <algorithm>

namespace tw {

namespace preprocessingchecks {

using Kind = TransformOp::Kind;

/// A list of operations and the input that it hangs at.
struct Attached
{
    QString port;
    TransformList list;
};

std::optional<Attached> attachedAt(const PreflightRequest &request, const char *port)
{
    const PortFacts facts = request.inputs.value(QLatin1String(port));
    const auto list = attachedOperations(facts);
    if (!list || !facts.extra.contains(QStringLiteral("transforms")))
        return std::nullopt;
    return Attached{QLatin1String(port), *list};
}

const TransformOp *first(const TransformList &list, Kind kind)
{
    const auto found =
        std::find_if(list.begin(), list.end(), [kind](const TransformOp &op) { return op.kind == kind; });
    return found == list.end() ? nullptr : &*found;
}

/// What to set in Init Image Transformation, so that pictures are prepared as `wanted` says.
QStringList changesTo(const WeightsPreprocessing &wanted, const TransformList &list)
{
    QStringList changes;
    const TransformOp *resize = first(list, Kind::Resize), *crop = first(list, Kind::CenterCrop);
    const Interpolation interpolation = resize ? resize->interpolation : Interpolation::Bilinear; // the default
    if (!resize)
        changes.append(QStringLiteral("resize = true"));
    if (!resize || resize->size != wanted.resize)
        changes.append(QStringLiteral("size = %1").arg(wanted.resize));
    if (interpolation != wanted.interpolation)
        changes.append(
            QStringLiteral("resize_interpolation = %1").arg(QLatin1String(interpolationId(wanted.interpolation))));
    if (!crop)
        changes.append(QStringLiteral("center_crop = true"));
    if (!crop || crop->size != wanted.crop)
        changes.append(QStringLiteral("crop_size = %1").arg(wanted.crop));
    return changes;
}

void compareWithWeights(const WeightsPreprocessing &wanted, const Attached &attached, PreflightReply &reply)
{
    const TransformList list = forInference(attached.list); // what the trained model will run
    const QStringList changes = changesTo(wanted, list);
    if (changes.isEmpty())
        return;
    reply.warnings.append(
        QStringLiteral("The initial weights were trained on pictures prepared with %1; the list at '%2' is %3. To "
                       "prepare them alike, set %4 in Init Image Transformation.")
            .arg(operationsText(wanted.transforms()), attached.port, operationsText(list),
                 changes.join(QStringLiteral(", "))));
}

/// Networks that read one size have it among their arguments once they have weights.
void checkFixedSize(const PortFacts &model, const Attached &attached, QList<Error> &faults)
{
    const QVariantMap arguments = model.extra.value(QStringLiteral("arguments")).toMap();
    const auto made = fixedOutputSize(attached.list);
    const QVariant width = arguments.value(QStringLiteral("width")), height = arguments.value(QStringLiteral("height"));
    if (!made || !width.isValid() || !height.isValid())
        return;
    if (made->first == width.toInt() && made->second == height.toInt())
        return;
    faults.append(
        makeError(errors::InvalidDataset,
                  QT_TRANSLATE_NOOP("Error", "The model at 'untrained_model' (%1) reads pictures of %2×%3 "
                                             "pixels only, but those at '%4' come with %5×%6."),
                  {model.extra.value(QStringLiteral("architecture")).toString(), width.toString(), height.toString(),
                   attached.port, QString::number(made->first), QString::number(made->second)},
                  QT_TRANSLATE_NOOP("Error", "Set size and crop_size in Init Image Transformation to what "
                                             "the model reads, or use another model.")));
}

} // namespace preprocessingchecks

void checkPreprocessing(const PreflightRequest &request, PreflightReply &reply)
{
    using namespace preprocessingchecks;
    const PortFacts model = request.inputs.value(QStringLiteral("untrained_model"));
    const auto training = attachedAt(request, "training_dataset");
    const auto validation = attachedAt(request, "validation_dataset");
    const auto &stored = validation ? validation : training;
    QList<Error> faults;
    for (const auto &attached : {training, validation})
        if (attached)
            checkFixedSize(model, *attached, faults);
    if (const auto wanted = preprocessingFact(model); wanted && stored && faults.isEmpty())
        compareWithWeights(*wanted, *stored, reply);
    reply.errors += faults;
}

} // namespace tw
