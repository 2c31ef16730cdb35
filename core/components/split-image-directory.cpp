// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/portobjects.h"
#include "core/data/datasetreport.h"

namespace tw::components {

namespace {

/// A manifest with these counts and no names: a stratified split of it has the counts of the real
/// one.
ImageManifest standIn(const PortFacts &facts)
{
    ImageManifest manifest;
    manifest.reserve(std::size_t(*facts.images), 0);
    for (const QString &name : *facts.categories)
        manifest.categories.push_back(name.toStdString());
    for (qsizetype category = 0; category < facts.counts->size(); ++category)
        for (qint64 i = 0; i < facts.counts->at(category); ++i)
            manifest.add({}, int(category), 0, 0);
    while (qint64(manifest.size()) < *facts.images)
        manifest.add({}, -1, 0, 0);
    return manifest;
}

/// Facts of one side; classes' counts are known in advance only for a stratified split.
PortFacts sideFacts(const ImageManifest &side, bool stratified, const PortFacts &input)
{
    PortFacts facts = factsOf(side);
    facts.labelled = input.labelled;
    if (!stratified)
        facts.counts.reset();
    if (ManifestPtr whole = manifestFact(input))
        setManifestFact(facts, std::move(whole));
    return facts;
}

PreflightReply preflightSplit(const PreflightRequest &request)
{
    PreflightReply reply;
    const PortFacts input = request.inputs.value(QStringLiteral("image_directory"));
    if (!input.images || !input.categories || !input.counts)
        return reply;
    const bool stratified = request.values.boolean("stratified");
    auto split = splitManifest(standIn(input), request.values.real("fraction"),
                               std::uint64_t(request.values.integer("seed")), stratified);
    if (!split.ok()) {
        reply.errors.append(split.error());
        return reply;
    }
    reply.warnings = split->warnings;
    reply.outputs.insert(QStringLiteral("image_directory1"), sideFacts(split->first, stratified, input));
    reply.outputs.insert(QStringLiteral("image_directory2"), sideFacts(split->second, stratified, input));
    reply.summary = QStringLiteral("%1 + %2 images")
                        .arg(groupedNumber(qint64(split->first.size())), groupedNumber(qint64(split->second.size())));
    return reply;
}

Result<RunReply> runSplit(const RunRequest &request)
{
    TW_ASSIGN(manifest, manifestInput(request, "image_directory"));
    TW_ASSIGN(split,
              splitManifest(*manifest, request.values.real("fraction"), std::uint64_t(request.values.integer("seed")),
                            request.values.boolean("stratified")));
    for (const QString &warning : split.warnings)
        request.context.log(LogLevel::Warning, warning);
    const QStringList ports{QStringLiteral("image_directory1"), QStringLiteral("image_directory2")};
    split.first.computeFingerprint();
    split.second.computeFingerprint();
    const ManifestPtr sides[] = {std::make_shared<const ImageManifest>(std::move(split.first)),
                                 std::make_shared<const ImageManifest>(std::move(split.second))};
    TW_ASSIGN(report, DatasetReport::of(sides[0], sides[1], ports, &request.context.stopToken()));
    for (const QString &leak : report.leakSentences(QStringLiteral("first part"), QStringLiteral("second part")))
        request.context.log(LogLevel::Warning, leak);
    RunReply reply;
    for (qsizetype i = 0; i < ports.size(); ++i) {
        const QString &port = ports[i];
        const ManifestPtr &side = sides[i];
        const fs::path folder = request.outputFolders.value(port);
        TW_TRY(side->write(folder));
        TW_TRY(writeFileAtomically(folder / "data_report.json", report.toJson({}, std::size_t(i))));
        request.context.result(port + QStringLiteral("_images"), qint64(side->size()));
        request.context.log(LogLevel::Info, QStringLiteral("%1: %2").arg(port, datasetSummary(factsOf(*side))));
        reply.objects.insert(port, side);
    }
    return reply;
}

} // namespace

ComponentType split_image_directory()
{
    ComponentType type;
    type.id = QStringLiteral("split-image-directory");
    type.named(QT_TRANSLATE_NOOP("Component", "Split Image Directory"),
               QT_TRANSLATE_NOOP("Component", "Computer Vision"),
               QT_TRANSLATE_NOOP("Component",
                                 "Divides the pictures into two sets, the same way every time for the same seed."));
    type.input("image_directory", QT_TRANSLATE_NOOP("Component", "Image directory"), DataType::ImageDirectory);
    type.output("image_directory1", QT_TRANSLATE_NOOP("Component", "First part"), DataType::ImageDirectory);
    type.output("image_directory2", QT_TRANSLATE_NOOP("Component", "Second part"), DataType::ImageDirectory);
    type.parameter(
        ParameterSpec::real("fraction", QT_TRANSLATE_NOOP("Parameter", "Fraction of images in the first part"), 0.9)
            .above(0)
            .below(1)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "The share of the pictures that goes to the first "
                                                     "output; the rest goes to the second.")));
    type.parameter(
        ParameterSpec::integer("seed", QT_TRANSLATE_NOOP("Parameter", "Seed"), 42)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "The same seed divides the same pictures in the same way.")));
    type.parameter(
        ParameterSpec::boolean("stratified", QT_TRANSLATE_NOOP("Parameter", "Stratified"), true)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Keeps the share of every class equal in both parts.")));
    type.preflight = preflightSplit;
    type.run = runSplit;
    return type;
}

} // namespace tw::components
