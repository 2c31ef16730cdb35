// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/archiveformats.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <charconv>

// POSIX.1-2017 pax and GNU tar, read by ourselves: a reader that goes through text would change names
// that are not in the locale's letters or not composed, and names are bytes here.

namespace tw {

namespace {

constexpr std::size_t Block = 512;
constexpr std::uint64_t LongestName = 1 << 16;
constexpr std::uint64_t LargestMember = std::uint64_t(1) << 40;

using Header = std::array<std::uint8_t, Block>;

struct Link
{
    std::string path, target;
    bool hard;
};

/// What extended headers say of the next member.
struct Extended
{
    std::optional<std::string> path, target;
    std::optional<std::uint64_t> bytes;
    bool sparse = false;
};

std::string_view textAt(const Header &header, std::size_t at, std::size_t length)
{
    const std::string_view text(reinterpret_cast<const char *>(header.data()) + at, length);
    return text.substr(0, text.find('\0'));
}

/// Octal digits, or GNU's binary form for what does not fit.
std::optional<std::uint64_t> numberAt(const Header &header, std::size_t at, std::size_t length)
{
    std::uint64_t value = 0;
    if (header[at] & 0x80) {
        for (std::size_t i = at; i < at + length; ++i) {
            if (value >> 55)
                return std::nullopt;
            value = value << 8 | (i == at ? header[i] & 0x7fU : header[i]);
        }
        return value;
    }
    std::string_view text = textAt(header, at, length);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (text.empty())
        return 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (code != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

bool sumFits(const Header &header)
{
    constexpr std::size_t at = 148, length = 8;
    std::int64_t plain = 0, withSign = 0;
    for (std::size_t i = 0; i < Block; ++i) {
        const std::uint8_t value = i >= at && i < at + length ? std::uint8_t(' ') : header[i];
        plain += value;
        withSign += static_cast<signed char>(value);
    }
    const auto stated = numberAt(header, at, length);
    return stated && (std::int64_t(*stated) == plain || std::int64_t(*stated) == withSign);
}

class TarIndexer
{
public:
    TarIndexer(const fs::path &file, TarStream &stream, const StopToken *stop)
        : m_file(file), m_stream(stream), m_stop(stop)
    {
    }
    Result<ArchiveIndex> run();

private:
    Result<bool> nextHeader(Header &header);
    Result<void> takeMember(const Header &header);
    Result<void> takeExtended(char kind, std::uint64_t bytes);
    void takeRecords(std::string_view text);
    Result<void> skipData(std::uint64_t bytes);
    std::string storedName(const Header &header) const;
    void resolveLinks();
    Error endsInside(const std::string &name) const
    {
        return archiveError(m_file, QStringLiteral("it is cut short inside \"%1\"").arg(QString::fromStdString(name)));
    }

    fs::path m_file;
    TarStream &m_stream;
    const StopToken *m_stop;
    ArchiveIndex m_index;
    std::vector<Link> m_links;
    Extended m_extended;
    std::uint64_t m_position = 0;
};

/// False at the end: a block of zeros, or no byte more.
Result<bool> TarIndexer::nextHeader(Header &header)
{
    if (m_stop && m_stop->cancel.load(std::memory_order_relaxed))
        return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
    std::size_t got = 0;
    QString problem;
    if (!m_stream.read(header.data(), Block, got, problem))
        return archiveError(m_file, problem);
    if (got == 0 && m_position > 0)
        return false;
    if (got < Block)
        return archiveError(m_file, m_position == 0 ? QStringLiteral("it does not begin as a tar archive does")
                                                    : QStringLiteral("it is cut short"));
    if (std::all_of(header.begin(), header.end(), [](std::uint8_t value) { return value == 0; }))
        return false;
    if (!sumFits(header))
        return archiveError(m_file, m_position == 0
                                        ? QStringLiteral("it does not begin as a tar archive does")
                                        : QStringLiteral("the header at byte %1 is damaged").arg(m_position));
    m_position += Block;
    return true;
}

Result<void> TarIndexer::skipData(std::uint64_t bytes)
{
    const std::uint64_t padded = (bytes + Block - 1) / Block * Block;
    QString problem;
    if (!m_stream.skip(padded, problem))
        return problem.isEmpty() ? archiveError(m_file, QStringLiteral("it is cut short"))
                                 : archiveError(m_file, problem);
    m_position += padded;
    return {};
}

/// "length key=value\n" again and again.
void TarIndexer::takeRecords(std::string_view text)
{
    while (!text.empty()) {
        std::size_t length = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), length);
        const auto space = std::size_t(end - text.data());
        if (code != std::errc() || length > text.size() || length < space + 2)
            return;
        const std::string_view record = text.substr(space + 1, length - space - 2);
        text.remove_prefix(length);
        const std::size_t equals = record.find('=');
        const std::string_view key = record.substr(0, equals);
        const std::string value(equals == std::string_view::npos ? std::string_view() : record.substr(equals + 1));
        if (key == "path")
            m_extended.path = value;
        else if (key == "linkpath")
            m_extended.target = value;
        else if (key == "size")
            m_extended.bytes = std::strtoull(value.c_str(), nullptr, 10);
        m_extended.sparse = m_extended.sparse || key.starts_with("GNU.sparse.");
    }
}

Result<void> TarIndexer::takeExtended(char kind, std::uint64_t bytes)
{
    constexpr std::uint64_t LongestRecords = 1 << 20;
    if (bytes > (kind == 'x' ? LongestRecords : LongestName))
        return archiveError(m_file, QStringLiteral("a name in it claims %1 bytes").arg(bytes));
    std::string text((bytes + Block - 1) / Block * Block, '\0');
    std::size_t got = 0;
    QString problem;
    if (!m_stream.read(reinterpret_cast<std::uint8_t *>(text.data()), text.size(), got, problem))
        return archiveError(m_file, problem);
    if (got < text.size())
        return archiveError(m_file, QStringLiteral("it is cut short"));
    m_position += text.size();
    text.resize(bytes);
    if (kind == 'x') {
        takeRecords(text);
        return {};
    }
    text.resize(std::min(text.find('\0'), text.size()));
    (kind == 'L' ? m_extended.path : m_extended.target) = text;
    return {};
}

std::string TarIndexer::storedName(const Header &header) const
{
    if (m_extended.path)
        return *m_extended.path;
    const std::string name(textAt(header, 0, 100));
    const bool posix = textAt(header, 257, 6) == "ustar"; // GNU's own form uses these bytes otherwise
    const std::string_view prefix = posix ? textAt(header, 345, 155) : std::string_view();
    return prefix.empty() ? name : std::string(prefix) + '/' + name;
}

Result<void> TarIndexer::takeMember(const Header &header)
{
    const std::string stored = storedName(header);
    const auto stated = m_extended.bytes ? m_extended.bytes : numberAt(header, 124, 12);
    const char kind = char(header[156]);
    const bool isFile = kind == '0' || kind == '\0' || kind == '7' || kind == 'S';
    const bool isFolder = kind == '5' || (isFile && stored.ends_with('/'));
    if (!stated || *stated > LargestMember)
        return memberError(m_file, stored, QStringLiteral("it claims an impossible size"));
    const std::uint64_t bytes = isFile || kind == '5' ? *stated : kind >= '1' && kind <= '6' ? 0 : *stated;
    const std::optional<std::string> path = memberPath(stored);
    if (!path)
        return memberError(m_file, stored, QStringLiteral("its name leads out of the archive"));
    if (isFolder && !path->empty())
        m_index.folders.push_back(*path);
    else if (isFile && !path->empty()) {
        ArchiveMember member;
        member.path = *path;
        member.bytes = std::int64_t(bytes);
        member.place = m_position;
        member.problem = m_extended.sparse || kind == 'S' ? MemberProblem::Sparse : MemberProblem::None;
        m_index.files.push_back(std::move(member));
    } else if ((kind == '1' || kind == '2') && !path->empty())
        m_links.push_back({*path, m_extended.target.value_or(std::string(textAt(header, 157, 100))), kind == '1'});
    else if (!path->empty())
        m_index.ignored.push_back(*path);
    if (const auto skipped = skipData(bytes); !skipped.ok())
        return skipped.error().name == QLatin1String(errors::Canceled) ? skipped : Result<void>(endsInside(stored));
    m_extended = {};
    return {};
}

/// A link to a member is that member under another name; others are left out.
void TarIndexer::resolveLinks()
{
    std::sort(m_index.files.begin(), m_index.files.end(),
              [](const ArchiveMember &a, const ArchiveMember &b) { return a.path < b.path; });
    std::vector<ArchiveMember> found;
    for (const Link &link : m_links) {
        const std::string folder = link.path.substr(0, link.path.rfind('/') + 1);
        fs::path target = link.hard ? fs::path(link.target) : fs::path(folder) / link.target;
        const std::optional<std::string> path = memberPath(target.lexically_normal().native());
        const std::optional<std::size_t> place = path ? m_index.find(*path) : std::nullopt;
        if (!place) {
            m_index.ignored.push_back(link.path);
            continue;
        }
        found.push_back(m_index.files[*place]);
        found.back().path = link.path;
    }
    std::move(found.begin(), found.end(), std::back_inserter(m_index.files));
    std::sort(m_index.files.begin(), m_index.files.end(),
              [](const ArchiveMember &a, const ArchiveMember &b) { return a.path < b.path; });
}

Result<ArchiveIndex> TarIndexer::run()
{
    Header header{};
    for (;;) {
        TW_ASSIGN(more, nextHeader(header));
        if (!more)
            break;
        const char kind = char(header[156]);
        const std::optional<std::uint64_t> bytes = numberAt(header, 124, 12);
        if (kind == 'x' || kind == 'L' || kind == 'K')
            TW_TRY(takeExtended(kind, bytes.value_or(LargestMember)));
        else if (kind == 'g')
            TW_TRY(skipData(std::min(bytes.value_or(0), LargestMember)));
        else
            TW_TRY(takeMember(header));
    }
    resolveLinks();
    return std::move(m_index);
}

} // namespace

Result<ArchiveIndex> indexTar(const fs::path &file, TarStream &stream, const StopToken *stop)
{
    return TarIndexer(file, stream, stop).run();
}

} // namespace tw
