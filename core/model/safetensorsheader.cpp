// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/safetensorsheader.h"

#include <QByteArrayView>
#include <QStringDecoder>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

namespace tw {

namespace {

constexpr std::size_t maxTensors = 200'000;
constexpr std::size_t maxDimensions = 64;
constexpr std::size_t maxTextBytes = std::size_t(16) << 20;

std::optional<ElementType> elementType(const std::string &name)
{
    for (const ElementType type :
         {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::I64, ElementType::I32,
          ElementType::I16, ElementType::I8, ElementType::U8, ElementType::Bool}) {
        if (name == elementTypeName(type))
            return type;
    }
    return std::nullopt;
}

void appendUtf8(std::string &out, unsigned code)
{
    const auto byte = [&out](unsigned value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | (code >> 6));
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | (code >> 12));
        byte(0x80 | ((code >> 6) & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | (code >> 18));
        byte(0x80 | ((code >> 12) & 0x3F));
        byte(0x80 | ((code >> 6) & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

bool isUtf8(std::string_view text)
{
    // By pieces: the decoded text is thrown away, and a header may be large.
    QStringDecoder decoder(QStringDecoder::Utf8);
    constexpr std::size_t piece = 65536;
    for (std::size_t at = 0; at < text.size() && !decoder.hasError(); at += piece) {
        const std::string_view part = text.substr(at, piece);
        const QString decoded = decoder(QByteArrayView(part.data(), static_cast<qsizetype>(part.size())));
    }
    return !decoder.hasError();
}

} // namespace

std::string SafetensorsHeader::parse(std::string_view json)
{
    m_json = json;
    if (!isUtf8(json)) {
        fail("the header is not UTF-8");
        return m_error;
    }
    if (json.empty() || json.front() != '{') {
        fail("the header does not begin with '{'");
        return m_error;
    }
    std::string key;
    literal('{');
    for (bool first = true; m_error.empty() && !peek('}'); first = false) {
        if (!member(key, first) || (key == "__metadata__" ? !metadata() : !entry(key)))
            break;
    }
    if (m_error.empty() && literal('}') && namesDiffer()) {
        skipSpace();
        if (m_at != m_json.size())
            fail("the header goes on after its object");
    }
    return m_error;
}

bool SafetensorsHeader::namesDiffer()
{
    std::vector<std::string_view> names;
    names.reserve(m_entries.size());
    for (const SafetensorsEntry &entry : m_entries)
        names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() || fail("the name '" + std::string(*twice) + "' stands in it twice");
}

bool SafetensorsHeader::fail(const std::string &what)
{
    if (m_error.empty())
        m_error = what;
    return false;
}

void SafetensorsHeader::skipSpace()
{
    while (m_at < m_json.size()
           && (m_json[m_at] == ' ' || m_json[m_at] == '\n' || m_json[m_at] == '\t' || m_json[m_at] == '\r'))
        ++m_at;
}

bool SafetensorsHeader::peek(char c)
{
    skipSpace();
    return m_at < m_json.size() && m_json[m_at] == c;
}

bool SafetensorsHeader::literal(char c)
{
    if (!peek(c))
        return fail("the header is not valid JSON at byte " + std::to_string(m_at));
    ++m_at;
    return true;
}

bool SafetensorsHeader::member(std::string &key, bool first)
{
    return (first || literal(',')) && text(key) && literal(':');
}

bool SafetensorsHeader::text(std::string &out)
{
    out.clear();
    if (!literal('"'))
        return false;
    while (m_at < m_json.size()) {
        const char c = m_json[m_at++];
        if (c == '"')
            return true;
        if (static_cast<unsigned char>(c) < 0x20 || out.size() >= maxTextBytes)
            break;
        if (c != '\\')
            out += c;
        else if (!escape(out))
            break;
    }
    return fail("a text in the header is not valid JSON at byte " + std::to_string(m_at));
}

bool SafetensorsHeader::hex4(unsigned &out)
{
    out = 0;
    for (int i = 0; i < 4; ++i, ++m_at) {
        if (m_at >= m_json.size())
            return false;
        const char c = m_json[m_at];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        out = out * 16 + static_cast<unsigned>(digit);
    }
    return true;
}

bool SafetensorsHeader::escape(std::string &out)
{
    if (m_at >= m_json.size())
        return false;
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char c = m_json[m_at++];
    if (const std::size_t known = from.find(c); known != std::string_view::npos) {
        out += to[known];
        return true;
    }
    unsigned code = 0, low = 0;
    if (c != 'u' || !hex4(code))
        return false;
    if (code >= 0xD800 && code < 0xDC00) {
        if (m_json.substr(m_at, 2) != "\\u")
            return false;
        m_at += 2;
        if (!hex4(low) || low < 0xDC00 || low > 0xDFFF)
            return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
        return false;
    }
    appendUtf8(out, code);
    return true;
}

bool SafetensorsHeader::number(std::uint64_t &out)
{
    skipSpace();
    const std::size_t start = m_at;
    out = 0;
    for (; m_at < m_json.size() && m_json[m_at] >= '0' && m_json[m_at] <= '9'; ++m_at) {
        if (__builtin_mul_overflow(out, std::uint64_t(10), &out)
            || __builtin_add_overflow(out, static_cast<std::uint64_t>(m_json[m_at] - '0'), &out))
            return fail("a number in the header is too large");
    }
    const bool leadingZero = m_at - start > 1 && m_json[start] == '0';
    const bool goesOn = m_at < m_json.size() && (m_json[m_at] == '.' || m_json[m_at] == 'e' || m_json[m_at] == 'E');
    if (m_at == start || leadingZero || goesOn)
        return fail("a size or offset is not a whole number from 0 up");
    if (out > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return fail("a number in the header is too large");
    return true;
}

bool SafetensorsHeader::numbers(std::vector<std::uint64_t> &out)
{
    out.clear();
    if (!literal('['))
        return false;
    while (!peek(']')) {
        std::uint64_t value = 0;
        if ((!out.empty() && !literal(',')) || !number(value))
            return false;
        if (out.size() == maxDimensions)
            return fail("a tensor has more than 64 dimensions");
        out.push_back(value);
    }
    return literal(']');
}

bool SafetensorsHeader::metadata()
{
    if (std::exchange(m_hasMetadata, true))
        return fail("the name '__metadata__' stands in it twice");
    if (!literal('{'))
        return false;
    std::unordered_set<std::string> seen;
    std::size_t keyBytes = 0;
    std::string key, value;
    for (bool first = true; !peek('}'); first = false) {
        if (!member(key, first) || !text(value))
            return false;
        if (!seen.insert(key).second)
            return fail("the metadata key '" + key + "' stands in it twice");
        keyBytes += key.size();
        if (keyBytes > maxTextBytes || seen.size() > maxTensors)
            return fail("the metadata have too many keys");
        m_metadata.emplace_back(key, key == "classes" ? value : std::string());
    }
    return literal('}');
}

bool SafetensorsHeader::entry(const std::string &name)
{
    SafetensorsEntry entry;
    entry.name = name;
    if (name.empty())
        return fail("a tensor has an empty name");
    if (m_entries.size() == maxTensors)
        return fail("it holds more than 200,000 tensors");
    if (!literal('{'))
        return false;
    std::unordered_set<std::string> seen;
    std::string key;
    for (bool first = true; !peek('}'); first = false) {
        if (!member(key, first))
            return false;
        if (!seen.insert(key).second)
            return fail("tensor '" + name + "' states '" + key + "' twice");
        if (!field(key, entry))
            return false;
    }
    if (!literal('}'))
        return false;
    if (seen.size() != 3)
        return fail("tensor '" + name + "' lacks its dtype, shape or data_offsets");
    m_entries.push_back(std::move(entry));
    return true;
}

bool SafetensorsHeader::field(const std::string &key, SafetensorsEntry &entry)
{
    if (key == "dtype") {
        std::string type;
        if (!text(type))
            return false;
        const std::optional<ElementType> known = elementType(type);
        if (!known)
            return fail("tensor '" + entry.name + "' has the unknown dtype '" + type + "'");
        entry.type = *known;
        return true;
    }
    std::vector<std::uint64_t> values;
    if (key != "shape" && key != "data_offsets")
        return fail("tensor '" + entry.name + "' has the unknown key '" + key + "'");
    if (!numbers(values))
        return false;
    if (key == "shape") {
        entry.shape.assign(values.begin(), values.end());
        return true;
    }
    if (values.size() != 2)
        return fail("the data_offsets of tensor '" + entry.name + "' are not two numbers");
    entry.begin = values[0];
    entry.end = values[1];
    return true;
}

} // namespace tw
