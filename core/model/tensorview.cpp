// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tensorview.h"

#include <algorithm>
#include <cstring>

namespace tw {

namespace {

constexpr const char *tooLarge = "has sizes that no memory can hold";

bool hasNone(const TensorView &view)
{
    return std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end();
}

const char *storageFault(const StorageName &storage)
{
    std::int64_t bytes = 0;
    if (storage.elements < 0 || storage.begin < 0 || storage.end < storage.begin || storage.end > storage.elements)
        return "reaches outside its storage";
    if (__builtin_mul_overflow(storage.elements, static_cast<std::int64_t>(elementBytes(storage.type)), &bytes))
        return tooLarge;
    return nullptr;
}

} // namespace

const char *viewFault(const TensorView &view)
{
    if (view.shape.size() != view.strides.size())
        return "has more strides than sizes or fewer";
    if (const char *fault = storageFault(view.storage))
        return fault;
    if (view.offset < 0)
        return "begins before its storage";
    std::int64_t elements = 1, last = view.offset;
    const bool none = hasNone(view);
    for (std::size_t i = 0; i < view.shape.size(); ++i) {
        if (view.shape[i] < 0 || view.strides[i] < 0)
            return "has a size or stride that is not a number from 0 up";
        std::int64_t reach = 0;
        const std::int64_t edge = none ? 1 : view.shape[i];
        if (__builtin_mul_overflow(elements, edge, &elements)
            || __builtin_mul_overflow(edge - 1, view.strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
            return tooLarge;
    }
    if (!none && last >= view.storage.end - view.storage.begin)
        return "reaches outside its storage";
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(elementBytes(view.storage.type)), &bytes))
        return tooLarge;
    return nullptr;
}

std::uint64_t viewBytes(const TensorView &view)
{
    std::uint64_t bytes = hasNone(view) ? 0 : elementBytes(view.storage.type);
    for (const std::int64_t edge : view.shape)
        bytes *= bytes == 0 ? 1 : static_cast<std::uint64_t>(edge);
    return bytes;
}

bool isContiguous(const TensorView &view)
{
    std::int64_t expected = 1;
    for (std::size_t i = view.shape.size(); i-- > 0;) {
        if (view.shape[i] != 1 && view.strides[i] != expected)
            return false;
        expected *= view.shape[i];
    }
    return true;
}

/// Without recursion: an odometer over all but the last dimension.
void copyView(const TensorView &view, const std::byte *storage, std::byte *to)
{
    const std::size_t size = elementBytes(view.storage.type);
    const std::size_t dimensions = view.shape.size();
    const std::int64_t inner = dimensions == 0 ? 1 : view.shape.back();
    const std::int64_t step = dimensions == 0 ? 1 : view.strides.back();
    std::vector<std::int64_t> index(dimensions, 0), strides = view.strides;
    for (std::size_t d = 0; d < dimensions; ++d) // one place is never left, and its stride may be any number
        strides[d] = view.shape[d] == 1 ? 0 : strides[d];
    std::int64_t start = view.storage.begin + view.offset;
    for (;;) {
        for (std::int64_t i = 0; i < inner; ++i, to += size)
            std::memcpy(to, storage + static_cast<std::size_t>(start + i * step) * size, size);
        std::size_t d = dimensions < 2 ? 0 : dimensions - 1;
        while (d > 0) {
            --d;
            start += strides[d];
            if (++index[d] < view.shape[d])
                break;
            start -= strides[d] * view.shape[d];
            index[d] = 0;
            if (d == 0)
                return;
        }
        if (dimensions < 2)
            return;
    }
}

void swapElements(std::span<std::byte> bytes, std::size_t size)
{
    for (std::size_t at = 0; at + size <= bytes.size(); at += size)
        std::reverse(bytes.data() + at, bytes.data() + at + size);
}

} // namespace tw
