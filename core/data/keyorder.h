// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tw {

/// The pictures that have a content key, equal keys side by side, each group in the order of the
/// pictures. `keyOf(i)` is the key of picture `i` or empty.
template <typename KeyOf> std::vector<std::uint32_t> orderByKey(std::size_t count, const KeyOf &keyOf)
{
    struct Entry
    {
        std::uint64_t start; // of the key: sorting by it asks few pictures for the rest
        std::uint32_t picture;
    };
    std::vector<Entry> entries;
    entries.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string_view key = keyOf(i);
        Entry entry{0, i};
        if (key.size() >= sizeof entry.start) {
            std::memcpy(&entry.start, key.data(), sizeof entry.start);
            entries.push_back(entry);
        }
    }
    std::sort(entries.begin(), entries.end(), [&](const Entry &a, const Entry &b) {
        if (a.start != b.start)
            return a.start < b.start;
        const int rest = keyOf(a.picture).compare(keyOf(b.picture));
        return rest != 0 ? rest < 0 : a.picture < b.picture;
    });
    std::vector<std::uint32_t> order;
    order.reserve(entries.size());
    for (const Entry &entry : entries)
        order.push_back(entry.picture);
    return order;
}

} // namespace tw
