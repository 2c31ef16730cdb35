// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/csv.h"

#include <memory>
#include <optional>
#include <span>

namespace tw {

/// Which columns scored.csv has: path, category (labelled data), then either
/// "Scored Probabilities_<class>" in class-id order or "Top <i> Label", "Top <i> Probability" for
/// i = 1 … topK, then "Scored Logits_<class>" where wanted, then "Scored Labels".
struct ScoreLayout
{
    std::vector<std::string> classes;
    bool labelled = false;
    int topK = 0; ///< 0: every class; more than there are classes counts as all of them
    bool logits = false;
};

struct ScoredRow
{
    std::string path;
    std::string category;              ///< empty: none
    std::vector<double> probabilities; ///< class-id order; NaN where the table does not hold it
    std::vector<int> ranking;          ///< top-k tables: the classes that the row names, best first
    std::optional<int> label;          ///< "Scored Labels"; none: the probabilities were no numbers
};

/// Classes by falling probability; equal ones by class id. At most `count`. NaN comes last.
std::vector<int> rankedClasses(std::span<const double> probabilities, std::size_t count);
/// The class of a picture: the most probable one, the first among equals; none where one of the
/// probabilities is NaN, as a broken network gives them (no class is right then, not even the
/// first).
std::optional<int> bestClass(std::span<const double> probabilities);

/// Streams one CSV file in the columns of a layout (RFC 4180, UTF-8 where the names are, C-locale
/// numbers, 9 significant digits). Memory does not grow with rows. FailedToWriteOutputsError.
class ScoreCsvWriter
{
public:
    Result<void> open(const fs::path &file, const ScoreLayout &layout);
    /// `probabilities` and `logits` hold one number per class. A row with NaN among the
    /// probabilities gets empty labels.
    Result<void> add(std::string_view path, std::string_view category, std::span<const double> probabilities,
                     std::span<const float> logits);
    Result<void> close();
    const ScoreLayout &layout() const { return m_layout; }
    qint64 rows() const { return m_rows; }

private:
    ScoreLayout m_layout;
    CsvFile m_file;
    std::string m_line;
    std::vector<std::string> m_labels; ///< class names as fields
    qint64 m_rows = 0;
};

/// A scored table in a folder: scored.csv, and at the end table.json {format, version, columns:
/// [{name, type, role}], classes, top_k, rows}; a name that is not UTF-8 stands there as
/// pathToJson() writes it.
class ScoreTableWriter
{
public:
    /// FailedToWriteOutputsError.
    static Result<std::unique_ptr<ScoreTableWriter>> create(const fs::path &folder, const ScoreLayout &layout);
    Result<void> add(std::string_view path, std::string_view category, std::span<const double> probabilities,
                     std::span<const float> logits)
    {
        return m_csv.add(path, category, probabilities, logits);
    }
    Result<void> finish();
    qint64 rows() const { return m_csv.rows(); }

private:
    ScoreTableWriter() = default;
    fs::path m_folder;
    ScoreCsvWriter m_csv;
};

/// Reads a scored table row by row. NotScoredDatasetError: no table there, columns missing, a row
/// that does not fit, a label that is no class of the table.
class ScoreTableReader
{
public:
    static Result<std::unique_ptr<ScoreTableReader>> open(const fs::path &folder);
    ~ScoreTableReader();
    const ScoreLayout &layout() const;
    qint64 rows() const; ///< as table.json says
    /// False at the end.
    Result<bool> next(ScoredRow &row);

private:
    ScoreTableReader();
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace tw
