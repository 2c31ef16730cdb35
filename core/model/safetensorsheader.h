// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/statedict.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw {

struct SafetensorsEntry
{
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;
};

/// Strict parser of a safetensors header: an object of {"dtype", "shape", "data_offsets"} and the
/// optional "__metadata__" of texts. Names twice, other keys, fractions and bytes that are not UTF-8
/// are refused, and what no weights have: more than 200,000 tensors, 64 dimensions, a text of more than
/// 16 MiB. Nesting is fixed, so no recursion.
class SafetensorsHeader
{
public:
    /// Empty on success, else what is wrong (English).
    std::string parse(std::string_view json);
    const std::vector<SafetensorsEntry> &entries() const { return m_entries; }
    std::vector<SafetensorsEntry> takeEntries() { return std::move(m_entries); }
    /// Keys of "__metadata__" in order, and the text of the key "classes" (others' texts are not kept).
    const std::vector<std::pair<std::string, std::string>> &metadataTexts() const { return m_metadata; }

private:
    bool fail(const std::string &what);
    bool literal(char c);
    bool peek(char c);
    void skipSpace();
    bool text(std::string &out);
    bool escape(std::string &out);
    bool hex4(unsigned &out);
    bool number(std::uint64_t &out);
    bool numbers(std::vector<std::uint64_t> &out);
    bool metadata();
    bool namesDiffer();
    bool entry(const std::string &name);
    bool field(const std::string &key, SafetensorsEntry &entry);
    bool member(std::string &key, bool first);

    std::string_view m_json;
    std::size_t m_at = 0;
    std::string m_error;
    bool m_hasMetadata = false;
    std::vector<SafetensorsEntry> m_entries;
    std::vector<std::pair<std::string, std::string>> m_metadata;
};

} // namespace tw
