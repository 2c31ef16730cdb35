// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/statedict.h"

namespace tw {

std::size_t elementBytes(ElementType type)
{
    switch (type) {
    case ElementType::F64:
    case ElementType::I64:
        return 8;
    case ElementType::F32:
    case ElementType::I32:
        return 4;
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::I16:
        return 2;
    case ElementType::I8:
    case ElementType::U8:
    case ElementType::Bool:
        return 1;
    }
    return 0;
}

const char *elementTypeName(ElementType type)
{
    switch (type) {
    case ElementType::F32:
        return "F32";
    case ElementType::F64:
        return "F64";
    case ElementType::F16:
        return "F16";
    case ElementType::BF16:
        return "BF16";
    case ElementType::I64:
        return "I64";
    case ElementType::I32:
        return "I32";
    case ElementType::I16:
        return "I16";
    case ElementType::I8:
        return "I8";
    case ElementType::U8:
        return "U8";
    case ElementType::Bool:
        return "BOOL";
    }
    return "";
}

std::int64_t TensorBlob::elements() const
{
    std::int64_t count = 1;
    for (const std::int64_t edge : shape) {
        if (edge == 0)
            return 0;
    }
    for (const std::int64_t edge : shape)
        count *= edge;
    return count;
}

} // namespace tw
