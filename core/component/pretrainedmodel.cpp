// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/pretrainedmodel.h"

#include "core/base/address.h"
#include "core/component/portobjects.h"

namespace tw {

namespace {

const QString weightsParameter = QStringLiteral("weights");

Error atWeights(const Error &error)
{
    return Error(error).atParameter(weightsParameter);
}

Error nonePublished(const QString &architecture)
{
    return atWeights(makeError(
        errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "There are no pretrained weights of %1."),
        {architecture}, QT_TRANSLATE_NOOP("Error", "Set Weights to none or to file, or choose another network.")));
}

/// What the node shows of weights that are not here: they come with the run, or never.
Result<QString> missingText(const PretrainedWeights &weights)
{
    TW_ASSIGN(address, pretrainedAddress(weights));
    if (address.isEmpty())
        return noPretrainedFile(weights);
    return QStringLiteral("weights will be downloaded (%1)").arg(sizeText(weights));
}

/// What the node shows of the weights; downloads nothing.
Result<QString> lookAtWeights(const PretrainedWeights &weights, const ModelConfig &config,
                              const NetworkFunctions &networks, const StopToken *stop)
{
    TW_ASSIGN(file, findPretrainedFile(weights, stop));
    if (!file)
        return missingText(weights);
    TW_TRY(networks.checkInitialWeights(config, file->path));
    return QStringLiteral("ImageNet weights");
}

Result<PretrainedFile> obtain(const PretrainedWeights &weights, RunContext &context)
{
    PretrainedRequest request;
    request.stop = &context.stopToken();
    request.begins = [&](const QUrl &address) {
        context.log(LogLevel::Info, QStringLiteral("Downloading %1 (%2) from %3")
                                        .arg(weights.fileName, sizeText(weights), displayAddress(address)));
    };
    request.progress = [&](const DownloadProgress &progress) {
        context.progress(progress.total > 0 ? double(progress.done) / double(progress.total) : -1,
                         downloadText(progress));
    };
    return obtainPretrainedFile(weights, request);
}

} // namespace

void preflightPretrained(const ModelConfig &config, const NetworkFunctions &networks, const StopToken *stop,
                         PreflightReply &reply, PortFacts &facts)
{
    const PretrainedWeights *weights = pretrainedWeightsOf(config.architecture);
    if (!weights) {
        reply.errors.append(nonePublished(config.architecture));
        return;
    }
    facts.extra.insert(QStringLiteral("fingerprint"), weights->fileName);
    setPreprocessingFact(facts, weights->preprocessing);
    const auto text = lookAtWeights(*weights, config, networks, stop);
    if (text.ok())
        reply.summary += QStringLiteral(" · ") + *text;
    else
        reply.errors.append(atWeights(text.error()));
}

Result<void> runPretrained(const ModelConfig &config, const fs::path &folder, RunContext &context)
{
    const PretrainedWeights *weights = pretrainedWeightsOf(config.architecture);
    if (!weights)
        return nonePublished(config.architecture);
    const auto file = obtain(*weights, context);
    if (!file.ok())
        return atWeights(file.error());
    context.log(LogLevel::Info, QStringLiteral("Initial weights: %1 (trained on ImageNet; licence: %2)")
                                    .arg(displayPath(file->path), weights->licence));
    context.result(QStringLiteral("weights"), weights->fileName);
    UntrainedModel model;
    model.config = config;
    model.normalization = weights->preprocessing.normalization();
    model.preprocessing = weights->preprocessing;
    TW_TRY(writeUntrainedModel(folder, std::move(model), file->path));
    TW_ASSIGN(written, UntrainedModel::read(folder));
    if (written.weightsSha256 == file->sha256)
        return {};
    return atWeights(makeError(errors::InvalidModelDirectory,
                               QT_TRANSLATE_NOOP("Error", "'%1' changed while it was copied."),
                               {displayPath(file->path)}, QT_TRANSLATE_NOOP("Error", "Run again.")));
}

} // namespace tw
