// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

#include <QJsonObject>

namespace tw::cli {

/// {id, version, name, category, description, inputs, outputs, parameters}
QJsonObject describeAsJson(const ComponentType &type);
QByteArray describeAsText(const ComponentType &type);
QByteArray describeAsMarkdown(const ComponentType &type);

} // namespace tw::cli
