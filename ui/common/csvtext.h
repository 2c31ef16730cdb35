// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

namespace tw {

/// Cells that begin with = + - @ or a tab run as formulas in some spreadsheets: `Guard` puts an
/// apostrophe before them, numbers excepted.
enum class CsvFormulas { Keep, Guard };

/// One row (RFC 4180) with its CR LF; UTF-8. Cells holding a comma, quote or line end are quoted.
QByteArray csvRow(const QStringList &cells, CsvFormulas formulas = CsvFormulas::Keep);
/// Shortest decimal text that reads back, with a point whatever the locale; "NaN", "Infinity", "-Infinity".
QString csvNumber(double value);
/// Rows of a CSV text, `maxRows` at most. Quoted cells may hold line ends; stray quotes are taken
/// literally; rows need not be of equal length. A byte order mark is skipped.
QList<QStringList> parseCsv(const QByteArray &text, qsizetype maxRows);

} // namespace tw
