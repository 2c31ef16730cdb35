// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "core/component/componenttype.h"

#include <QJsonObject>

namespace tw::cli {

/// {id, version, name, category, description, inputs, outputs, parameters}
QJsonObject describeAsJson(const ComponentType &type);
QByteArray describeAsText(const ComponentType &type);
QByteArray describeAsMarkdown(const ComponentType &type);
/// `describe FILE`: the parameters of a pipeline with ranges, values and what they set, and its outputs.
int describePipeline(const Arguments &arguments);
/// `describe --models`: every network with its figures and its published weights.
int describeModels(const Arguments &arguments);

} // namespace tw::cli
