// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/evaluation.h"

namespace tw {

namespace {

constexpr char evaluationFormat[] = "trainwright-evaluation";
constexpr int evaluationVersion = 1;
constexpr std::size_t largestDenseMatrix = 1000; ///< classes; larger ones are listed cell by cell
constexpr int curveDigits = 6;

using Figure = std::optional<double>;

QByteArray numberOrNull(const Figure &figure)
{
    return figure ? jsonNumber(*figure) : QByteArrayLiteral("null");
}

QByteArray integer(qint64 value)
{
    return QByteArray::number(value);
}

QByteArray nameJson(const std::string &name)
{
    return jsonCompact(pathToJson(fs::path(name)));
}

/// "[a,b]" of what `text` gives for every element.
template <typename Range, typename Text> QByteArray listOf(const Range &range, const Text &text)
{
    QByteArray list = "[";
    for (const auto &element : range)
        list += (list.size() > 1 ? "," : "") + text(element);
    return list + ']';
}

QByteArray classTable(const TableEvaluation &table)
{
    QByteArray list = "[";
    for (std::size_t i = 0; i < table.labels.size(); ++i) {
        const ClassFigures &one = table.figures.classes[i];
        const RankCurve *curve = table.curves && i < table.classes ? &table.curves->classes[i] : nullptr;
        list += (i ? ",\n" : "\n")
                + jsonObjectLine({{"name", nameJson(table.labels[i])},
                                  {"in_model", i < table.classes ? "true" : "false"},
                                  {"support", integer(one.support)},
                                  {"predicted", integer(one.predicted)},
                                  {"correct", integer(one.correct)},
                                  {"precision", numberOrNull(one.precision)},
                                  {"recall", numberOrNull(one.recall)},
                                  {"f1", numberOrNull(one.f1)},
                                  {"auc", numberOrNull(curve ? curve->auc : Figure())},
                                  {"average_precision", numberOrNull(curve ? curve->averagePrecision : Figure())}});
    }
    return list + "]";
}

/// Rows are the true class; `text` gives a cell.
template <typename Text> QByteArray matrix(const TableEvaluation &table, const Text &text)
{
    const std::size_t size = table.labels.size();
    if (size > largestDenseMatrix)
        return "null";
    QByteArray rows = "[";
    auto cell = table.figures.confusion.begin();
    for (std::size_t truth = 0; truth < size; ++truth) {
        rows += truth ? ",[" : "[";
        for (std::size_t predicted = 0; predicted < size; ++predicted) {
            const bool isThere =
                cell != table.figures.confusion.end() && cell->truth == truth && cell->predicted == predicted;
            rows += (predicted ? "," : "") + text(truth, isThere ? (cell++)->count : 0);
        }
        rows += ']';
    }
    return rows + ']';
}

QByteArray countMatrix(const TableEvaluation &table)
{
    return matrix(table, [](std::size_t, qint64 count) { return integer(count); });
}

QByteArray shareMatrix(const TableEvaluation &table)
{
    return matrix(table, [&](std::size_t truth, qint64 count) {
        const qint64 support = table.figures.classes[truth].support;
        return support > 0 ? jsonNumber(double(count) / double(support)) : QByteArray("null");
    });
}

QByteArray cellList(const TableEvaluation &table)
{
    if (table.labels.size() <= largestDenseMatrix)
        return "null";
    return listOf(table.figures.confusion, [](const ConfusionCell &cell) {
        return '[' + integer(qint64(cell.truth)) + ',' + integer(qint64(cell.predicted)) + ',' + integer(cell.count)
               + ']';
    });
}

QByteArray calibrationJson(const TableEvaluation &table)
{
    if (table.unavailable.contains(QStringLiteral("calibration")))
        return "null";
    return jsonObjectLine({{"bins", listOf(table.calibration.bins, [](const CalibrationBin &bin) {
                                return jsonObjectLine({{"lower", jsonNumber(bin.lower)},
                                                       {"upper", jsonNumber(bin.upper)},
                                                       {"count", integer(bin.count)},
                                                       {"mean_confidence", numberOrNull(bin.meanConfidence)},
                                                       {"accuracy", numberOrNull(bin.accuracy)}});
                            })}});
}

QByteArray curveJson(const RankCurve &curve)
{
    const auto column = [&](const auto &value) {
        return listOf(curve.points, [&](const CurvePoint &point) { return jsonNumber(value(point), curveDigits); });
    };
    const auto share = [](qint64 part, qint64 whole) { return whole > 0 ? double(part) / double(whole) : 0.0; };
    return jsonObjectLine(
        {{"threshold", column([](const CurvePoint &point) { return point.threshold; })},
         {"false_positive_rate",
          column([&](const CurvePoint &point) { return share(point.falsePositives, curve.negatives); })},
         {"recall", column([&](const CurvePoint &point) { return share(point.truePositives, curve.positives); })},
         {"precision", column([](const CurvePoint &point) {
              const qint64 chosen = point.truePositives + point.falsePositives;
              return chosen > 0 ? double(point.truePositives) / double(chosen) : 1.0;
          })}});
}

QByteArray curvesJson(const TableEvaluation &table)
{
    if (!table.curves)
        return "null";
    const RankCurves &curves = *table.curves;
    return jsonObjectLine({{"method", jsonString(curves.bins ? QStringLiteral("histogram") : QStringLiteral("exact"))},
                           {"bins", curves.bins ? integer(curves.bins) : QByteArray("null")},
                           {"micro", curveJson(curves.micro)},
                           {"classes", listOf(curves.classes, curveJson)}});
}

/// Every figure that is null has its reason.
QByteArray unavailableJson(const TableEvaluation &table)
{
    QMap<QString, QString> reasons = table.unavailable;
    if (table.labels.size() > largestDenseMatrix)
        for (const char *name : {"confusion_matrix", "confusion_matrix_normalized"})
            reasons.insert(QLatin1String(name),
                           QStringLiteral("more than %1 classes: see confusion_cells, [true class, "
                                          "predicted class, images] from 0")
                               .arg(largestDenseMatrix));
    for (const auto &[name, value] : headlineFigures(table))
        if (value.isNull() && !reasons.contains(name))
            reasons.insert(name, QStringLiteral("undefined: there is nothing to divide by"));
    QByteArray members = "{";
    for (auto it = reasons.begin(); it != reasons.end(); ++it)
        members += (members.size() > 1 ? "," : "") + jsonString(it.key()) + ':' + jsonString(it.value());
    return members + '}';
}

QByteArray tableJson(const TableEvaluation &table)
{
    QByteArray text = "{\"input\":" + jsonString(table.input);
    for (const auto &[name, value] : headlineFigures(table))
        text += ",\n" + jsonString(name) + ':' + jsonCompact(value);
    return text + ",\n\"unavailable\":" + unavailableJson(table) + ",\n\"classes\":" + classTable(table)
           + ",\n\"confusion_matrix\":" + countMatrix(table)
           + ",\n\"confusion_matrix_normalized\":" + shareMatrix(table) + ",\n\"confusion_cells\":" + cellList(table)
           + ",\n\"calibration\":" + calibrationJson(table) + ",\n\"curves\":" + curvesJson(table) + '}';
}

QByteArray namesJson(const QStringList &names)
{
    return listOf(names, jsonString);
}

QByteArray changedJson(const EvaluationComparison &pairs)
{
    return listOf(pairs.changed, [](const ChangedImage &image) {
        return jsonObjectLine({{"path", nameJson(image.path)},
                               {"category", nameJson(image.category)},
                               {"first_label", nameJson(image.firstLabel)},
                               {"second_label", nameJson(image.secondLabel)},
                               {"change", image.nowRight ? "\"wrong_to_right\"" : "\"right_to_wrong\""}});
    });
}

} // namespace

std::vector<std::pair<QString, QJsonValue>> headlineFigures(const TableEvaluation &table)
{
    const auto value = [](const Figure &figure) { return figure ? QJsonValue(*figure) : QJsonValue(); };
    const ClassificationFigures &figures = table.figures;
    const RankCurves curves = table.curves.value_or(RankCurves());
    return {{QStringLiteral("Overall_Accuracy"), value(figures.accuracy)},
            {QStringLiteral("Correct"), figures.correct},
            {QStringLiteral("Total"), figures.total},
            {QStringLiteral("Without_Prediction"), table.withoutPrediction},
            {QStringLiteral("Top_5_Accuracy"), value(figures.top5Accuracy)},
            {QStringLiteral("Micro_Precision"), value(figures.microPrecision)},
            {QStringLiteral("Macro_Precision"), value(figures.macroPrecision)},
            {QStringLiteral("Micro_Recall"), value(figures.microRecall)},
            {QStringLiteral("Macro_Recall"), value(figures.macroRecall)},
            {QStringLiteral("Micro_F1"), value(figures.microF1)},
            {QStringLiteral("Macro_F1"), value(figures.macroF1)},
            {QStringLiteral("Log_Loss"), value(table.withoutPrediction ? Figure() : figures.logLoss)},
            {QStringLiteral("Brier_Score"), value(table.calibration.brierScore)},
            {QStringLiteral("Expected_Calibration_Error"), value(table.calibration.expectedError)},
            {QStringLiteral("Maximum_Calibration_Error"), value(table.calibration.largestError)},
            {QStringLiteral("Micro_AUC"), value(curves.micro.auc)},
            {QStringLiteral("Macro_AUC"), value(curves.macroAuc)},
            {QStringLiteral("Micro_Average_Precision"), value(curves.micro.averagePrecision)},
            {QStringLiteral("Macro_Average_Precision"), value(curves.macroAveragePrecision)}};
}

QByteArray resultsJson(const EvaluationReport &report)
{
    return listOf(report.results, tableJson);
}

QByteArray comparisonJson(const EvaluationReport &report)
{
    if (!report.comparison)
        return "null";
    const EvaluationComparison &pairs = *report.comparison;
    const auto &interval = pairs.interval;
    const auto limit = [&](double PairedInterval::*member) {
        return interval ? jsonNumber((*interval).*member) : QByteArray("null");
    };
    return jsonObjectLine(
        {{"images", integer(pairs.counts.total())},
         {"accuracy_difference", limit(&PairedInterval::difference)},
         {"confidence", "0.95"},
         {"lower", limit(&PairedInterval::lower)},
         {"upper", limit(&PairedInterval::upper)},
         {"method", "\"second less first; Newcombe 1998, paired proportions, method 10\""},
         {"mcnemar_exact_p", interval ? jsonNumber(pairs.mcnemarP) : QByteArray("null")},
         {"both_right", integer(pairs.counts.bothRight)},
         {"only_first_right", integer(pairs.counts.onlyFirstRight)},
         {"only_second_right", integer(pairs.counts.onlySecondRight)},
         {"both_wrong", integer(pairs.counts.bothWrong)},
         {"only_in_first", integer(pairs.onlyInFirst)},
         {"only_in_first_names", namesJson(pairs.onlyInFirstNames)},
         {"only_in_second", integer(pairs.onlyInSecond)},
         {"only_in_second_names", namesJson(pairs.onlyInSecondNames)},
         {"other_category", integer(pairs.otherCategory)},
         {"repeated", integer(pairs.repeated)},
         {"changed_file", pairs.changedFile.isEmpty() ? QByteArray("null") : jsonString(pairs.changedFile)},
         {"changed", changedJson(pairs)}});
}

Result<void> writeEvaluation(const fs::path &folder, const EvaluationReport &report)
{
    const QByteArray warnings = listOf(report.warnings, jsonString);
    return writeFileAtomically(folder / "evaluation.json",
                               jsonObjectLine({{"format", jsonString(QLatin1String(evaluationFormat))},
                                               {"version", integer(evaluationVersion)}})
                                       .chopped(1)
                                   + ",\n\"warnings\":" + warnings + ",\n\"results\":" + resultsJson(report)
                                   + ",\n\"comparison\":" + comparisonJson(report) + "}\n");
}

} // namespace tw
