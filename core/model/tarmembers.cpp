// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tarmembers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

// POSIX.1-2017, pax: headers of 512 bytes, contents padded to as many.

namespace tw {

namespace {

constexpr std::size_t block = 512;
constexpr std::size_t maxMembers = 10'000;

using Header = std::string_view;

std::string_view field(Header header, std::size_t at, std::size_t length)
{
    const std::string_view text = header.substr(at, length);
    return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    return fault == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool sumFits(Header header)
{
    constexpr std::size_t at = 148, length = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block; ++i)
        sum += i >= at && i < at + length ? std::uint8_t(' ') : static_cast<std::uint8_t>(header[i]);
    return octal(field(header, at, length)) == sum;
}

/// "LENGTH size=DIGITS\n" among the records of an extended header: what the next member's own cannot say.
std::optional<std::uint64_t> paxSize(std::string_view records)
{
    while (!records.empty()) {
        std::size_t length = 0;
        const auto [end, fault] = std::from_chars(records.data(), records.data() + records.size(), length);
        const auto digits = static_cast<std::size_t>(end - records.data());
        if (fault != std::errc() || length <= digits + 1 || length > records.size())
            return std::nullopt;
        const std::string_view record = records.substr(digits + 1, length - digits - 1);
        constexpr std::string_view key = "size=";
        std::uint64_t size = 0;
        if (record.starts_with(key)
            && std::from_chars(record.data() + key.size(), record.data() + record.size(), size).ec == std::errc())
            return size;
        records.remove_prefix(length);
    }
    return std::nullopt;
}

} // namespace

std::map<std::string, std::span<const std::byte>> tarMembers(std::span<const std::byte> tar)
{
    constexpr std::size_t nameBytes = 100, sizeAt = 124, sizeBytes = 12, typeAt = 156;
    std::map<std::string, std::span<const std::byte>> members;
    constexpr std::uint64_t notSaid = UINT64_MAX;
    std::uint64_t nextSize = notSaid;
    for (std::size_t count = 0; tar.size() >= block && count < maxMembers; ++count) {
        const Header header(reinterpret_cast<const char *>(tar.data()), block);
        const auto stated = octal(field(header, sizeAt, sizeBytes));
        if (!stated || !sumFits(header))
            break;
        const std::uint64_t size = nextSize == notSaid ? *stated : nextSize;
        nextSize = notSaid;
        tar = tar.subspan(block);
        if (size > tar.size())
            break;
        const auto content = tar.first(size);
        const char type = header[typeAt];
        if (type == 'x')
            nextSize = paxSize({reinterpret_cast<const char *>(content.data()), content.size()}).value_or(notSaid);
        else if (type == '0' || type == '\0')
            members.emplace(std::string(field(header, 0, nameBytes)), content);
        tar = tar.subspan(std::min<std::uint64_t>(tar.size(), (size + block - 1) / block * block));
    }
    return members;
}

} // namespace tw
