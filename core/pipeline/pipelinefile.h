// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw {

inline constexpr int pipelineFileVersion = 1;

/// Own writer: format, version, name, parameters, nodes, connections, unknown keys; one node or
/// connection a line; stored values only. Ends with a newline.
QByteArray writePipeline(const Pipeline &pipeline, const ComponentRegistry &registry);
/// The same with every effective value (jobs/<id>/pipeline.json).
QByteArray writeEffectivePipeline(const Pipeline &pipeline, const ComponentRegistry &registry);

struct LoadedPipeline
{
    Pipeline pipeline;
    QStringList notes; ///< migrations made, unknown components, English labels taken as ids
};
/// InvalidPipelineError: not JSON, not this format, newer version, wrong type of a key, a value of
/// the wrong kind; the sentence names the place and the value. Unknown keys and components are kept.
Result<LoadedPipeline> readPipeline(const QByteArray &bytes, const ComponentRegistry &registry);
Result<LoadedPipeline> loadPipelineFile(const fs::path &file, const ComponentRegistry &registry);
Result<void> savePipelineFile(const fs::path &file, const Pipeline &pipeline, const ComponentRegistry &registry);

/// "--set NODE.PARAM=VALUE" or "--set PIPELINE_PARAM=VALUE". InvalidPipelineError or the
/// parameter's own range error, with the offending text and, as a hint, the ids that exist.
/// The pipeline is unchanged on an error.
Result<void> applySetting(Pipeline &pipeline, const QString &assignment, const ComponentRegistry &registry);
/// The same for the bytes of a command-line argument: a path need not be UTF-8.
Result<void> applySettingBytes(Pipeline &pipeline, const QByteArray &assignment, const ComponentRegistry &registry);

} // namespace tw
