// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/statedict.h"

#include <cmath>
#include <cstring>
#include <memory>

namespace tw::test {

template <typename T>
TensorBlob tensor(std::string name, ElementType type, std::vector<std::int64_t> shape, const std::vector<T> &values)
{
    auto memory = std::make_shared<std::vector<T>>(values);
    TensorBlob blob;
    blob.name = std::move(name);
    blob.type = type;
    blob.shape = std::move(shape);
    blob.data = reinterpret_cast<const std::byte *>(memory->data());
    blob.bytes = memory->size() * sizeof(T);
    blob.owner = std::move(memory);
    return blob;
}

inline double halfValue(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const double fraction = bits & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                             : exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
                                              : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

template <typename T> T loadAs(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Element `i` of any type as a double.
inline double element(const TensorBlob &blob, std::size_t i)
{
    const std::byte *at = blob.data + i * elementBytes(blob.type);
    switch (blob.type) {
    case ElementType::F32:
        return loadAs<float>(at);
    case ElementType::F64:
        return loadAs<double>(at);
    case ElementType::F16:
        return halfValue(loadAs<std::uint16_t>(at));
    case ElementType::BF16: {
        const std::uint32_t bits = static_cast<std::uint32_t>(loadAs<std::uint16_t>(at)) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    case ElementType::I64:
        return static_cast<double>(loadAs<std::int64_t>(at));
    case ElementType::I32:
        return loadAs<std::int32_t>(at);
    case ElementType::I16:
        return loadAs<std::int16_t>(at);
    case ElementType::I8:
        return loadAs<std::int8_t>(at);
    case ElementType::U8:
    case ElementType::Bool:
        return loadAs<std::uint8_t>(at);
    }
    return NAN;
}

} // namespace tw::test
