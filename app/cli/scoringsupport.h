// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/scoring.h"

#include <QElapsedTimer>

namespace tw::cli {

/// Pictures of one word of the command line, or of several files in a row.
struct PictureSource
{
    ManifestPtr manifest;
    fs::path shown;              ///< what the names of `manifest` stand below
    std::vector<fs::path> files; ///< as they were given; empty: `shown` / name
    fs::path shownPath(std::size_t sample) const;
    /// Bytes; empty: none.
    std::string_view category(std::size_t sample) const;
};

/// Files as they are given; a folder, an IDX pair or an archive gives the pictures in it.
/// The errors of scanDataset().
Result<std::vector<PictureSource>> picturesOf(const QList<QByteArray> &words, const StopToken &stop);

/// "scored 320 of 1000 · 120 images/s" on stderr, one line that is written over; nothing where stderr
/// is no terminal.
class ProgressLine
{
public:
    explicit ProgressLine(std::int64_t total, const char *verb = "scored");
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine &) = delete;
    ProgressLine &operator=(const ProgressLine &) = delete;
    void show(std::int64_t done, double imagesPerSecond);
    /// Before anything else is written.
    void clear();

private:
    std::int64_t m_total;
    const char *m_verb;
    bool m_isOn, m_isShown = false;
    QElapsedTimer m_last;
};

/// 130 for CanceledError, which needs no words; else prints the error and gives 1.
int failWith(const Error &error);

} // namespace tw::cli
