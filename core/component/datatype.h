// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

/// What flows on a wire. Only equal types connect.
enum class DataType {
    AnyDirectory,
    ImageDirectory,
    TransformationDirectory,
    UntrainedModelDirectory,
    ModelDirectory,
    DataTable,
    EvaluationResult
};

/// "ImageDirectory": as components.json, messages and tooltips write it.
QString dataTypeName(DataType type);

} // namespace tw
