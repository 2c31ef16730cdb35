// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw {

/// Which columns scored.csv has: path, category (labelled data), then either
/// "Scored Probabilities_<class>" in class-id order or "Top <i> Label", "Top <i> Probability" for
/// i = 1 … topK, then "Scored Logits_<class>" where wanted, then "Scored Labels".
struct ScoreLayout
{
    std::vector<std::string> classes;
    bool labelled = false;
    int topK = 0; ///< 0: every class
    bool logits = false;
};

struct ScoredRow
{
    std::string path;
    std::string category;              ///< empty: none
    std::vector<double> probabilities; ///< class-id order; NaN where the table does not hold it
    std::vector<int> ranking;          ///< classes, most probable first; as many as the table holds
    std::string label;                 ///< "Scored Labels"
};

/// Streams scored.csv (RFC 4180, UTF-8, C-locale numbers, 9 significant digits) and writes
/// table.json {format, version, columns: [{name, type, role}], classes, top_k, rows} at the end; a
/// name that is not UTF-8 stands there as pathToJson() writes it.
class ScoreTableWriter
{
public:
    /// FailedToWriteOutputsError.
    static Result<std::unique_ptr<ScoreTableWriter>> create(const fs::path &folder, const ScoreLayout &layout);
    ~ScoreTableWriter();
    /// `probabilities` and `logits` hold one number per class.
    Result<void> add(std::string_view path, std::string_view category, std::span<const double> probabilities,
                     std::span<const float> logits);
    Result<void> finish();
    qint64 rows() const;

private:
    ScoreTableWriter();
    struct Private;
    std::unique_ptr<Private> d;
};

/// Reads a scored table row by row. NotScoredDatasetError: no table there, columns missing, a row
/// that does not fit.
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

/// Classes by falling probability; equal ones by class id. At most `count`.
std::vector<int> rankedClasses(std::span<const double> probabilities, std::size_t count);
/// One CSV field, quoted where RFC 4180 asks for it.
std::string csvField(std::string_view text);
/// Fields of the next record; false at the end. Quoted fields may hold line ends.
bool readCsvRecord(std::istream &in, std::vector<std::string> &fields);

} // namespace tw
