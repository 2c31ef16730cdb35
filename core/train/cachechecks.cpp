// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/cachechecks.h"

#include "core/component/portobjects.h"
#include "core/train/trainingcache.h"

#include <QJsonArray>

namespace tw {

std::optional<TransformList> attachedOperations(const PortFacts &facts)
{
    const QVariant list = facts.extra.value(QStringLiteral("transforms"));
    const auto transforms = transformsFromJson(QJsonArray::fromVariantList(list.toList()));
    return transforms.ok() ? std::optional(*transforms) : std::nullopt;
}

/// What the cache of one input's pictures takes.
static std::optional<CacheEstimate> cacheOf(const PortFacts &facts, CacheDetail detail, const StopToken *stop)
{
    const ManifestPtr manifest = manifestFact(facts);
    const auto operations = attachedOperations(facts);
    if (!manifest || !operations || !facts.images || manifest->size() == 0)
        return std::nullopt;
    auto estimate = estimateCache(*manifest, planCache(*operations, detail), stop);
    if (!estimate || estimate->pictures == 0 || estimate->pictures == *facts.images)
        return estimate;
    const double part = double(*facts.images) / double(estimate->pictures);
    return CacheEstimate{*facts.images, std::int64_t(part * double(estimate->bytes)), true};
}

static Error compactNote(const TransformList &operations)
{
    const int side = planCache(operations, CacheDetail::Compact).shorterSide;
    const char *text = side > 0 ? QT_TRANSLATE_NOOP("Error", "Training pictures are kept with a shorter side of at "
                                                             "most %1 pixels: small crops of them are enlarged, and "
                                                             "results differ from exact.")
                                : QT_TRANSLATE_NOOP("Error", "The transformation begins with a resize: what is kept is "
                                                             "small anyway, and the same as exact.");
    return makeError("", text, {QString::number(side)}).atParameter(QStringLiteral("cache_detail"));
}

CacheMode cacheModeOf(const ParameterValues &values)
{
    const QString mode = values.text("cache");
    return mode == QLatin1String("memory") ? CacheMode::Memory
           : mode == QLatin1String("disk") ? CacheMode::Disk
                                           : CacheMode::None;
}

CacheDetail cacheDetailOf(const ParameterValues &values)
{
    return values.text("cache_detail") == QLatin1String("compact") ? CacheDetail::Compact : CacheDetail::Exact;
}

void describeCache(const PreflightRequest &request, PreflightReply &reply)
{
    const CacheMode mode = cacheModeOf(request.values);
    const CacheDetail detail = cacheDetailOf(request.values);
    if (mode == CacheMode::None)
        return;
    const PortFacts trainingFacts = request.inputs.value(QStringLiteral("training_dataset"));
    if (detail == CacheDetail::Compact)
        reply.notes.append(compactNote(attachedOperations(trainingFacts).value_or(TransformList{})));
    const auto training = cacheOf(trainingFacts, detail, request.stop);
    const auto validation =
        cacheOf(request.inputs.value(QStringLiteral("validation_dataset")), CacheDetail::Exact, request.stop);
    if (!training || !validation)
        return;
    const CacheEstimate both{training->pictures + validation->pictures, training->bytes + validation->bytes,
                             training->isSampled || validation->isSampled};
    const char *text = both.pictures == 0 ? QT_TRANSLATE_NOOP("Error", "These pictures lie in memory already.")
                       : mode == CacheMode::Memory
                           ? QT_TRANSLATE_NOOP("Error", "%1 pictures need %2 of memory.")
                           : QT_TRANSLATE_NOOP("Error", "%1 pictures need %2 on the workspace's disk.");
    reply.notes.append(
        makeError("", text, {groupedNumber(both.pictures), cacheSizeText(both)}).atParameter(QStringLiteral("cache")));
    if (const QString warning = cacheRoomWarning(both, mode, request.cacheFolder); !warning.isEmpty()) {
        reply.warnings.append(warning);
        reply.notes.append(makeError("", "%1", {warning}).atParameter(QStringLiteral("cache")));
    }
}

void addCacheParameters(ComponentType &type)
{
    type.parameter(ParameterSpec::choice("cache", QT_TRANSLATE_NOOP("Parameter", "Cache of decoded pictures"), "none",
                                         {{QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None")},
                                          {QStringLiteral("memory"), QT_TRANSLATE_NOOP("Parameter", "Memory")},
                                          {QStringLiteral("disk"), QT_TRANSLATE_NOOP("Parameter", "Disk")}})
                       .isAdvanced()
                       .keepsResult()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                                   "Pictures are decoded in the first epoch only; later ones take them "
                                                   "from memory or from a file of the workspace, which later jobs use "
                                                   "too. Random operations stay fresh in every epoch.")));
    type.parameter(
        ParameterSpec::choice("cache_detail", QT_TRANSLATE_NOOP("Parameter", "Cached pictures"), "exact",
                              {{QStringLiteral("exact"), QT_TRANSLATE_NOOP("Parameter", "Exact")},
                               {QStringLiteral("compact"), QT_TRANSLATE_NOOP("Parameter", "Compact")}})
            .isAdvanced()
            .visibleWhen("cache", {QStringLiteral("memory"), QStringLiteral("disk")})
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Exact gives the same bits as without a cache. Compact keeps "
                                                     "training pictures with a shorter side of 256 pixels: smaller and "
                                                     "faster, but small crops of them are enlarged.")));
}

} // namespace tw
