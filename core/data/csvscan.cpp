// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/data/csvreader.h"
#include "core/data/folderrules.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <unordered_set>

#include <sys/stat.h>

namespace tw {

namespace {

constexpr qint64 LargestCsv = qint64(1) << 32;
constexpr char TableHint[] =
    QT_TRANSLATE_NOOP("Error", "The file needs a header line, such as path,label, and one picture a line, in UTF-8.");

struct Row
{
    std::string path, label;
    std::size_t line = 0;
};

Error csvError(const fs::path &file, std::size_t line, const QString &reason)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "Line %2 of \"%1\" cannot be used: %3."),
                     {displayPath(file), QString::number(line), reason}, TableHint);
}

QString shown(const std::string &bytes)
{
    return displayPath(fs::path(bytes));
}

Error unknownColumn(const fs::path &file, const std::string &column, const std::vector<std::string> &header)
{
    QStringList names;
    for (const std::string &name : header)
        names.append(QStringLiteral("'%1'").arg(shown(name)));
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "\"%1\" has no column '%2'; its columns are %3."),
                     {displayPath(file), shown(column), names.join(QStringLiteral(", "))},
                     QT_TRANSLATE_NOOP("Error", "Name the column that holds the labels, or clear the name to read the "
                                                "pictures without labels. Columns are separated by commas, "
                                                "semicolons or tabs."))
        .atParameter(QStringLiteral("label_column"));
}

/// Of the letters A to Z; other bytes stay.
std::string lowered(std::string text)
{
    for (char &c : text)
        c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return text;
}

/// Path and label of every record.
class Table
{
public:
    Table(const fs::path &file, const std::string &labelColumn) : m_file(file), m_labelColumn(labelColumn) {}

    Result<std::vector<Row>> rows(std::string_view text, const StopToken *stop)
    {
        CsvReader reader(text);
        std::vector<std::string> fields;
        if (!reader.next(fields))
            return csvError(m_file, 1,
                            QString::fromStdString(reader.fault().empty() ? "the file is empty" : reader.fault()));
        TW_TRY(takeHeader(fields));
        const std::size_t columns = fields.size();
        std::vector<Row> rows;
        while (reader.next(fields)) {
            if (stop && stop->cancel.load(std::memory_order_relaxed))
                return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
            if (fields.size() != columns)
                return csvError(m_file, reader.line(),
                                QStringLiteral("it has %1 fields, the header %2").arg(fields.size()).arg(columns));
            if (fields[m_path].empty() || fields[m_path].find('\0') != std::string::npos)
                return csvError(m_file, reader.line(), QStringLiteral("it names no picture"));
            rows.push_back({fields[m_path], m_label ? fields[*m_label] : std::string(), reader.line()});
        }
        if (!reader.fault().empty())
            return csvError(m_file, reader.line(), QString::fromStdString(reader.fault()));
        return rows;
    }

private:
    Result<void> takeHeader(const std::vector<std::string> &header)
    {
        TW_ASSIGN(path, columnOf(header, "path"));
        m_path = path.value_or(0);
        if (m_labelColumn.empty())
            return {};
        TW_ASSIGN(label, columnOf(header, m_labelColumn));
        if (!label)
            return unknownColumn(m_file, m_labelColumn, header);
        m_label = label;
        if (*m_label == m_path)
            return csvError(m_file, 1, QStringLiteral("column '%1' is to be path and label").arg(shown(m_labelColumn)));
        return {};
    }

    /// By its name as it is written, else without regard to case. Two of that name are an error.
    Result<std::optional<std::size_t>> columnOf(const std::vector<std::string> &header, const std::string &name) const
    {
        for (const bool anyCase : {false, true}) {
            std::vector<std::size_t> found;
            for (std::size_t i = 0; i < header.size(); ++i)
                if (header[i] == name || (anyCase && lowered(header[i]) == lowered(name)))
                    found.push_back(i);
            if (found.size() > 1)
                return sameColumns(header, found);
            if (!found.empty())
                return std::optional(found.front());
        }
        return std::optional<std::size_t>();
    }

    Error sameColumns(const std::vector<std::string> &header, const std::vector<std::size_t> &found) const
    {
        return makeError(errors::InvalidDataset,
                         QT_TRANSLATE_NOOP("Error", "\"%1\" has two columns of that name: column %2 ('%3') and column "
                                                    "%4 ('%5')."),
                         {displayPath(m_file), QString::number(found[0] + 1), shown(header[found[0]]),
                          QString::number(found[1] + 1), shown(header[found[1]])},
                         QT_TRANSLATE_NOOP("Error", "Give one of them another name in the header line."))
            .atParameter(QStringLiteral("label_column"));
    }

    fs::path m_file;
    std::string m_labelColumn;
    std::size_t m_path = 0;
    std::optional<std::size_t> m_label;
};

/// Labels on all rows or on none.
Result<bool> isLabelled(const fs::path &file, const std::vector<Row> &rows)
{
    const auto bare = std::find_if(rows.begin(), rows.end(), [](const Row &row) { return row.label.empty(); });
    const bool some = std::any_of(rows.begin(), rows.end(), [](const Row &row) { return !row.label.empty(); });
    if (some && bare != rows.end())
        return csvError(file, bare->line,
                        QStringLiteral("picture '%1' has no label, others have one").arg(shown(bare->path)));
    return some;
}

bool isPlace(const fs::path &path)
{
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0;
}

/// Paths as Windows writes them, where no file has the backslash in its name.
void turnBackslashes(std::vector<Row> &rows, const fs::path &folder)
{
    for (Row &row : rows) {
        if (row.path.find('\\') == std::string::npos || isPlace(folder / row.path))
            continue;
        std::string turned = row.path;
        std::replace(turned.begin(), turned.end(), '\\', '/');
        if (isPlace(folder / turned))
            row.path = turned;
    }
}

/// The folder of the list, or the root of all where a picture lies outside that folder.
void setPlaces(std::vector<Row> &rows, const fs::path &folder, ImageManifest &manifest)
{
    const bool inside = std::all_of(rows.begin(), rows.end(), [](const Row &row) {
        const fs::path path = fs::path(row.path).lexically_normal();
        return path.is_relative() && *path.begin() != "..";
    });
    manifest.root = inside ? folder : fs::path("/");
    for (Row &row : rows) {
        const fs::path path = fs::path(row.path);
        row.path =
            inside ? path.lexically_normal().native() : (folder / path).lexically_normal().relative_path().native();
    }
}

/// Sorted by path, each once. The same picture under two labels is a mistake of the list.
Result<void> removeRepeats(const fs::path &file, std::vector<Row> &rows, DataReport &report)
{
    std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.path < b.path; });
    std::vector<Row> unique;
    unique.reserve(rows.size());
    std::size_t repeats = 0;
    std::string first;
    for (Row &row : rows) {
        if (unique.empty() || unique.back().path != row.path) {
            unique.push_back(std::move(row));
            continue;
        }
        if (unique.back().label != row.label)
            return csvError(file, row.line,
                            QStringLiteral("picture '%1' has the label '%2', in line %3 it has '%4'")
                                .arg(shown(row.path), shown(row.label))
                                .arg(unique.back().line)
                                .arg(shown(unique.back().label)));
        if (++repeats == 1)
            first = row.path;
    }
    if (repeats == 1)
        report.warnings.push_back("Picture \"" + first + "\" is listed more than once and is used once.");
    else if (repeats > 1)
        report.warnings.push_back(std::to_string(repeats)
                                  + " lines list a picture again, which is used once; the first of them is \"" + first
                                  + "\".");
    rows = std::move(unique);
    return {};
}

std::vector<std::string> labelsOf(const std::vector<Row> &rows)
{
    std::unordered_set<std::string_view> seen;
    for (const Row &row : rows)
        seen.insert(row.label);
    std::vector<std::string> labels(seen.begin(), seen.end());
    std::sort(labels.begin(), labels.end());
    return labels;
}

/// The number of pictures that are there.
std::size_t addPictures(const std::vector<Row> &rows, bool labelled, ScanResult &scan,
                        const std::function<void(std::int64_t)> &progress)
{
    std::size_t present = 0;
    std::string missing;
    for (const Row &row : rows) {
        struct stat status = {};
        const bool isThere = ::stat((scan.manifest.root / row.path).c_str(), &status) == 0;
        const auto &names = scan.manifest.categories;
        const auto place = std::lower_bound(names.begin(), names.end(), row.label) - names.begin();
        const std::int64_t mtimeNs = std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
        scan.manifest.add(row.path, labelled ? int(place) : -1, isThere ? std::int64_t(status.st_size) : 0,
                          isThere ? mtimeNs : 0);
        present += isThere ? 1 : 0;
        if (!isThere && missing.empty())
            missing = row.path;
        if (progress && scan.manifest.size() % 1024 == 0)
            progress(std::int64_t(scan.manifest.size()));
    }
    if (present < rows.size())
        scan.report.warnings.push_back(std::to_string(rows.size() - present) + " of " + std::to_string(rows.size())
                                       + " listed pictures are not there; the first is \"" + missing + "\".");
    return present;
}

Error noPictures(const fs::path &file, const std::vector<Row> &rows)
{
    if (rows.empty())
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "No image was found in \"%1\"."),
                         {displayPath(file)}, TableHint);
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error",
                                       "No image was found: none of the %2 pictures that \"%1\" lists is there; "
                                       "the first is '%3'."),
                     {displayPath(file), QString::number(rows.size()), shown(rows.front().path)},
                     QT_TRANSLATE_NOOP("Error", "Paths in the list are relative to the folder of the list."));
}

} // namespace

Result<ScanResult> scanCsv(const fs::path &file, const ScanOptions &options, const StopToken *stop,
                           const std::function<void(std::int64_t)> &progress)
{
    TW_ASSIGN(bytes, readFile(file, errors::InvalidDataset, LargestCsv));
    if (bytes.startsWith("\xff\xfe") || bytes.startsWith("\xfe\xff"))
        return csvError(file, 1, QStringLiteral("the file is UTF-16 text; save it as UTF-8"));
    Table table(file, options.labelColumn);
    TW_ASSIGN(rows, table.rows(std::string_view(bytes.constData(), std::size_t(bytes.size())), stop));
    TW_ASSIGN(labelled, isLabelled(file, rows));
    ScanResult scan;
    std::error_code unknown;
    const fs::path folder = fs::absolute(file, unknown).lexically_normal().parent_path();
    turnBackslashes(rows, folder);
    setPlaces(rows, folder, scan.manifest);
    TW_TRY(removeRepeats(file, rows, scan.report));
    if (labelled)
        scan.manifest.categories = labelsOf(rows);
    if (addPictures(rows, labelled, scan, progress) == 0)
        return noPictures(file, rows);
    if (!labelled)
        scan.report.warnings.emplace_back("The list gives no labels.");
    addNameWarnings(scan.manifest, 0, scan.report);
    scan.manifest.computeFingerprint();
    return scan;
}

} // namespace tw
