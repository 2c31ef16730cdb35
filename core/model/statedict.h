// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tw {

enum class ElementType { F32, F64, F16, BF16, I64, I32, I16, I8, U8, Bool };
std::size_t elementBytes(ElementType type);
const char *elementTypeName(ElementType type); ///< "F32", as safetensors and `inspect` write it

/// One contiguous, row-major, little-endian tensor; `owner` keeps `data` alive (a vector, a mapping). Data in
/// a mapped file stand as the file has them, perhaps not aligned to the element's size: copy them out.
struct TensorBlob
{
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<std::int64_t> shape; ///< empty: a scalar
    std::shared_ptr<const void> owner;
    const std::byte *data = nullptr;
    std::size_t bytes = 0;
    bool mapped = false; ///< `data` lies in a MappedFile
    std::int64_t elements() const;
};

/// Parameters and buffers in the order of PyTorch's state_dict.
using StateDict = std::vector<TensorBlob>;

} // namespace tw
