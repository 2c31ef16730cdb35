// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/datatype.h"

namespace tw {

QString dataTypeName(DataType type)
{
    switch (type) {
    case DataType::AnyDirectory:
        return QStringLiteral("AnyDirectory");
    case DataType::ImageDirectory:
        return QStringLiteral("ImageDirectory");
    case DataType::TransformationDirectory:
        return QStringLiteral("TransformationDirectory");
    case DataType::UntrainedModelDirectory:
        return QStringLiteral("UntrainedModelDirectory");
    case DataType::ModelDirectory:
        return QStringLiteral("ModelDirectory");
    case DataType::DataTable:
        return QStringLiteral("DataTable");
    case DataType::EvaluationResult:
        return QStringLiteral("EvaluationResult");
    }
    return {};
}

} // namespace tw
