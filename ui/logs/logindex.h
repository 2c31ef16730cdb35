// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/component/runcontext.h"

#include <QStringList>

#include <atomic>
#include <memory>
#include <vector>

namespace tw {

/// Where the lines of a text file begin. A last line without its end counts as a line and is
/// looked at again by the next scan.
struct LogIndex
{
    std::vector<qint64> starts;
    std::vector<LogLevel> levels;
    qint64 end = 0; ///< bytes seen
    bool lastIsPartial = false;
    size_t size() const { return starts.size(); }
    qint64 endOf(size_t line) const { return line + 1 < starts.size() ? starts[line + 1] : end; }
};

/// Lines found by a scan, to be appended to the index that it continued.
struct LogGrowth
{
    LogIndex added;
    bool restarted = false;    ///< the file shrank: what was known is void
    bool replacesLast = false; ///< the known last line was partial and comes again
    bool moreToRead = false;   ///< the scan stopped at its limit
    bool missing = false;      ///< no such file, or it cannot be read
};

/// Level of a line as std_log.txt writes it ("<time> WARNING …"), and of lines that begin with a level or
/// an error name. Info where nothing says otherwise.
LogLevel lineLevel(const char *line, qsizetype size);
/// Any thread. Reads at most `maxBytes` beyond what `known` holds of its end and last line.
struct LogPosition
{
    qint64 resumeAt = 0; ///< start of a partial last line, else the end
    qint64 end = 0;
    bool lastIsPartial = false;
};
LogPosition positionOf(const LogIndex &index);
LogGrowth scanLog(const fs::path &file, const LogPosition &known, qint64 maxBytes);
void appendGrowth(LogIndex &index, const LogGrowth &growth);

/// Any thread. Text of the bytes [begin, end), cut into lines; control characters are written out,
/// terminal colour codes left out, lines longer than 16 KiB cut.
QStringList readLines(const fs::path &file, qint64 begin, qint64 end);

/// Any thread. Numbers of the lines from `firstLine` (which starts at `begin`) to the byte `end` that
/// contain `text`, letters of either case. Stops early when `stop` becomes true.
std::vector<quint32> searchLines(const fs::path &file, qint64 begin, qint64 end, quint32 firstLine, const QString &text,
                                 const std::shared_ptr<std::atomic<bool>> &stop);

} // namespace tw
