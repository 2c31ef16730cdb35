// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/calibration.h"
#include "core/metrics/classificationmetrics.h"
#include "core/metrics/pairedcomparison.h"
#include "core/metrics/rankcurves.h"
#include "core/metrics/scoretable.h"

#include <QJsonValue>
#include <QMap>
#include <QStringList>

#include <functional>

namespace tw {

/// What a scored table says of a model.
struct TableEvaluation
{
    QString input;                   ///< the port, or the model's folder
    std::vector<std::string> labels; ///< the model's classes, then the data's categories that it lacks
    std::size_t classes = 0;         ///< how many of them are the model's
    qint64 withoutPrediction = 0;    ///< images whose probabilities were no numbers: never right
    ClassificationFigures figures;   ///< over `labels`
    CalibrationFigures calibration;
    std::optional<RankCurves> curves;   ///< of the model's classes
    QMap<QString, QString> unavailable; ///< figure → why it is null
};

struct ChangedImage
{
    std::string path, category, firstLabel, secondLabel;
    bool nowRight = false;
};

/// Second table against the first, over the images that both have.
struct EvaluationComparison
{
    PairedCounts counts;
    std::optional<PairedInterval> interval; ///< nothing: no image in common
    double mcnemarP = 1;
    std::vector<ChangedImage> changed; ///< the first ones
    QString changedFile;               ///< the name of the file that lists all of them; empty: none
    qint64 onlyInFirst = 0, onlyInSecond = 0, otherCategory = 0, repeated = 0;
    QStringList onlyInFirstNames, onlyInSecondNames; ///< the first ones
};

struct EvaluationReport
{
    std::vector<TableEvaluation> results; ///< one or two, left first
    std::optional<EvaluationComparison> comparison;
    QStringList warnings; ///< English sentences that name what they are about
};

/// Evaluates one table, or two against each other, row by row: begin(), add() for every row, end();
/// the same for the second; finish(). Memory is bounded but for 40 bytes an image while two tables
/// are compared (and the scores of the curves, see CurveCollector).
class EvaluationBuilder
{
public:
    static constexpr std::size_t listedImages = 20; ///< names in warnings and in `changed`
    /// Paths of these rows (from 0, ascending) of the first table.
    using NamesOfRows = std::function<Result<QStringList>(const std::vector<std::uint32_t> &rows)>;

    /// `tables`: 1 or 2. `changedFile`: where images that change right ↔ wrong are listed as CSV (path,
    /// category, first_label, second_label, change: wrong_to_right | right_to_wrong); empty: nowhere.
    explicit EvaluationBuilder(int tables, fs::path changedFile = {});
    ~EvaluationBuilder();
    /// `rows`: how many will come at most.
    Result<void> begin(const QString &input, const ScoreLayout &layout, qint64 rows);
    /// NotLabeledDatasetError naming the image and the input. A category that is no class of the model
    /// is counted and the image is never right. FailedToWriteOutputsError.
    Result<void> add(const ScoredRow &row);
    /// NotScoredDatasetError: no rows. InvalidDatasetError: not one category is a class of the model.
    /// CanceledError.
    Result<void> end(const StopToken *stop = nullptr);
    Result<EvaluationReport> finish(const NamesOfRows &namesOfRows);

private:
    struct Private;
    std::unique_ptr<Private> d;
};

/// Name → value of every single number of a table, in the order of the file; null where undefined.
std::vector<std::pair<QString, QJsonValue>> headlineFigures(const TableEvaluation &table);
/// The members "results" and "comparison" (null for one table) as they stand in evaluation.json.
QByteArray resultsJson(const EvaluationReport &report);
QByteArray comparisonJson(const EvaluationReport &report);
/// evaluation.json {format, version, results, comparison}. FailedToWriteOutputsError.
Result<void> writeEvaluation(const fs::path &folder, const EvaluationReport &report);

/// NotLabeledDatasetError for a table (or data) without categories.
Error notLabelledForEvaluation(const QString &input);
/// The warning of categories that the model lacks: "The model has no class for: 'a', 'b'."
QString unknownCategoriesWarning(const QString &input, const QStringList &names);

} // namespace tw
