// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/logs/logindex.h"

#include "ui/common/plaintext.h"

#include <QByteArray>
#include <QRegularExpression>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace tw {

namespace {
constexpr qint64 blockBytes = 1 << 20;
constexpr qsizetype longestLine = 16 << 10;

bool isWordAt(std::string_view text, size_t at, std::string_view word)
{
    const auto letter = [&](size_t i) { return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])); };
    return !letter(at + word.size()) && (at == 0 || !letter(at - 1));
}

/// "InvalidDatasetError: …" at the start of a line.
bool beginsWithErrorName(std::string_view text)
{
    size_t at = 0;
    while (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])))
        ++at;
    return at >= 5 && at < text.size() && text[at] == ':' && text.substr(at - 5, 5) == "Error";
}

class Scanner
{
public:
    Scanner(qint64 begin, LogIndex &index) : m_lineStart(begin), m_index(index) {}

    void take(const QByteArray &block)
    {
        m_pending += block;
        qsizetype start = 0;
        for (qsizetype at = m_pending.indexOf('\n'); at >= 0; at = m_pending.indexOf('\n', start)) {
            addLine(m_pending.constData() + start, at - start);
            m_lineStart += at + 1 - start;
            start = at + 1;
        }
        m_pending.remove(0, start);
    }

    void finish()
    {
        m_index.lastIsPartial = !m_pending.isEmpty();
        m_index.end = m_lineStart + m_pending.size();
        if (m_index.lastIsPartial)
            addLine(m_pending.constData(), m_pending.size());
    }

private:
    void addLine(const char *text, qsizetype size)
    {
        m_index.starts.push_back(m_lineStart);
        m_index.levels.push_back(lineLevel(text, size));
    }

    qint64 m_lineStart;
    LogIndex &m_index;
    QByteArray m_pending;
};

QByteArray readPart(std::ifstream &file, qint64 bytes)
{
    QByteArray block(qsizetype(bytes), Qt::Uninitialized);
    file.read(block.data(), block.size());
    block.truncate(qsizetype(file.gcount()));
    return block;
}

QString shownLine(QByteArray bytes)
{
    static const QRegularExpression colors(QStringLiteral("\x1b\\[[0-9;]*[A-Za-z]"));
    const bool cut = bytes.size() > longestLine;
    bytes.truncate(longestLine);
    if (bytes.endsWith('\r'))
        bytes.chop(1);
    QString text = QString::fromUtf8(bytes);
    if (text.contains(QChar(0x1b)))
        text.remove(colors);
    text.replace(QLatin1Char('\t'), QStringLiteral("    "));
    return literalText(text) + (cut ? QStringLiteral(" …") : QString());
}
} // namespace

LogLevel lineLevel(const char *line, qsizetype size)
{
    static constexpr std::array<std::pair<std::string_view, LogLevel>, 4> words{{{"ERROR", LogLevel::Error},
                                                                                 {"WARNING", LogLevel::Warning},
                                                                                 {"WARN", LogLevel::Warning},
                                                                                 {"DEBUG", LogLevel::Debug}}};
    const std::string_view start(line, size_t(std::min<qsizetype>(size, 48)));
    if (beginsWithErrorName(start))
        return LogLevel::Error;
    for (const auto &[word, level] : words) {
        const size_t at = start.find(word);
        if (at != std::string_view::npos && isWordAt(start, at, word))
            return level;
    }
    return LogLevel::Info;
}

LogPosition positionOf(const LogIndex &index)
{
    return {index.lastIsPartial ? index.starts.back() : index.end, index.end, index.lastIsPartial};
}

LogGrowth scanLog(const fs::path &file, const LogPosition &known, qint64 maxBytes)
{
    LogGrowth growth;
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    if (!stream) {
        growth.missing = true;
        growth.added.end = known.end;
        growth.added.lastIsPartial = known.lastIsPartial;
        return growth;
    }
    const qint64 size = qint64(stream.tellg());
    growth.restarted = size < known.end;
    growth.replacesLast = !growth.restarted && known.lastIsPartial;
    const qint64 begin = growth.restarted ? 0 : known.resumeAt;
    const qint64 limit = std::min(size, begin + std::max(maxBytes, known.end - begin + 1));
    growth.moreToRead = limit < size;
    stream.seekg(begin);
    Scanner scanner(begin, growth.added);
    for (qint64 at = begin; at < limit;) {
        const QByteArray block = readPart(stream, std::min(blockBytes, limit - at));
        if (block.isEmpty())
            break;
        scanner.take(block);
        at += block.size();
    }
    scanner.finish();
    return growth;
}

void appendGrowth(LogIndex &index, const LogGrowth &growth)
{
    if (growth.missing)
        return;
    if (growth.restarted)
        index = {};
    if (growth.replacesLast && !index.starts.empty()) {
        index.starts.pop_back();
        index.levels.pop_back();
    }
    index.starts.insert(index.starts.end(), growth.added.starts.begin(), growth.added.starts.end());
    index.levels.insert(index.levels.end(), growth.added.levels.begin(), growth.added.levels.end());
    index.end = growth.added.end;
    index.lastIsPartial = growth.added.lastIsPartial;
}

QStringList readLines(const fs::path &file, qint64 begin, qint64 end)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream || !stream.seekg(begin) || end <= begin)
        return {};
    QByteArray bytes = readPart(stream, end - begin);
    if (bytes.endsWith('\n'))
        bytes.chop(1);
    QStringList lines;
    const QList<QByteArray> parts = bytes.split('\n');
    for (const QByteArray &part : parts)
        lines << shownLine(part);
    return lines;
}

std::vector<quint32> searchLines(const fs::path &file, qint64 begin, qint64 end, quint32 firstLine, const QString &text,
                                 const std::shared_ptr<std::atomic<bool>> &stop)
{
    std::vector<quint32> found;
    std::ifstream stream(file, std::ios::binary);
    if (!stream || !stream.seekg(begin) || text.isEmpty())
        return found;
    QByteArray pending;
    quint32 line = firstLine;
    for (qint64 at = begin; at < end && !*stop;) {
        const QByteArray block = readPart(stream, std::min(blockBytes, end - at));
        if (block.isEmpty())
            break;
        at += block.size();
        pending += block;
        const qsizetype whole = at >= end ? pending.size() : pending.lastIndexOf('\n') + 1;
        QByteArray lines = pending.left(whole);
        pending.remove(0, whole);
        if (lines.endsWith('\n'))
            lines.chop(1);
        else if (lines.isEmpty())
            continue;
        const QString decoded = QString::fromUtf8(lines);
        for (const QStringView part : QStringView(decoded).split(QLatin1Char('\n'))) {
            if (part.contains(text, Qt::CaseInsensitive))
                found.push_back(line);
            ++line;
        }
    }
    return found;
}

} // namespace tw
