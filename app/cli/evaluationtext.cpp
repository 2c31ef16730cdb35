// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/evaluationtext.h"

#include <algorithm>
#include <numeric>

namespace tw::cli {

namespace {

constexpr std::size_t listedClasses = 40;
constexpr std::size_t listedConfusions = 10;
constexpr qsizetype figureWidth = 28;
constexpr qsizetype columnWidth = 11;

QByteArray percent(const std::optional<double> &share)
{
    return share ? QByteArray::number(100 * *share, 'f', 2) + " %" : QByteArray("n/a");
}

QByteArray plain(const std::optional<double> &value)
{
    return value ? QByteArray::number(*value, 'f', 4) : QByteArray("n/a");
}

QByteArray figure(const char *name, const QByteArray &value)
{
    return QByteArray(name).leftJustified(figureWidth) + value + '\n';
}

/// A name of any bytes on one line.
QByteArray nameOf(const std::string &name)
{
    return QByteArray::fromStdString(name).replace('\n', ' ').replace('\r', ' ').replace('\033', ' ');
}

QByteArray figuresText(const TableEvaluation &table)
{
    const ClassificationFigures &figures = table.figures;
    const auto curve = [&](const auto &get) { return table.curves ? get(*table.curves) : std::optional<double>(); };
    return figure("Accuracy", percent(figures.accuracy) + "  (" + QByteArray::number(figures.correct) + " of "
                                  + QByteArray::number(figures.total) + ")")
           + figure("Top-5 accuracy", percent(figures.top5Accuracy))
           + figure("Macro precision", percent(figures.macroPrecision))
           + figure("Macro recall", percent(figures.macroRecall)) + figure("Macro F1", percent(figures.macroF1))
           + figure("Log-loss", plain(table.withoutPrediction ? std::nullopt : figures.logLoss))
           + figure("Brier score", plain(table.calibration.brierScore))
           + figure("Expected calibration error", percent(table.calibration.expectedError))
           + figure("Macro AUC", plain(curve([](const RankCurves &curves) { return curves.macroAuc; })))
           + figure("Macro average precision",
                    plain(curve([](const RankCurves &curves) { return curves.macroAveragePrecision; })));
}

QByteArray classesText(const TableEvaluation &table)
{
    std::vector<std::size_t> order(table.labels.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto worse = [&](std::size_t a, std::size_t b) {
        return table.figures.classes[a].f1.value_or(2) < table.figures.classes[b].f1.value_or(2);
    };
    if (order.size() > listedClasses)
        std::stable_sort(order.begin(), order.end(), worse);
    QByteArray text = "\n";
    for (const char *head : {"precision", "recall", "F1", "images"})
        text += QByteArray(head).rightJustified(columnWidth);
    text += "  class\n";
    for (std::size_t i = 0; i < std::min(order.size(), listedClasses); ++i) {
        const ClassFigures &one = table.figures.classes[order[i]];
        text += percent(one.precision).rightJustified(columnWidth) + percent(one.recall).rightJustified(columnWidth)
                + percent(one.f1).rightJustified(columnWidth)
                + QByteArray::number(one.support).rightJustified(columnWidth) + "  " + nameOf(table.labels[order[i]])
                + (order[i] < table.classes ? "\n" : "  (not in the model)\n");
    }
    if (order.size() > listedClasses)
        text += "  … and " + QByteArray::number(qsizetype(order.size() - listedClasses))
                + " more classes with a better F1\n";
    return text;
}

QByteArray confusionsText(const TableEvaluation &table)
{
    std::vector<ConfusionCell> wrong;
    for (const ConfusionCell &cell : table.figures.confusion)
        if (cell.truth != cell.predicted)
            wrong.push_back(cell);
    std::stable_sort(wrong.begin(), wrong.end(),
                     [](const ConfusionCell &a, const ConfusionCell &b) { return a.count > b.count; });
    QByteArray text = wrong.empty() ? "" : "\nMost frequent confusions\n";
    for (std::size_t i = 0; i < std::min(wrong.size(), listedConfusions); ++i)
        text += QByteArray::number(wrong[i].count).rightJustified(columnWidth) + "  "
                + nameOf(table.labels[wrong[i].truth]) + " taken for " + nameOf(table.labels[wrong[i].predicted])
                + '\n';
    return text;
}

QByteArray comparisonText(const EvaluationComparison &pairs)
{
    if (!pairs.interval)
        return {};
    const auto points = [](double share) { return QByteArray::number(100 * share, 'f', 2); };
    QByteArray text = "\nSecond model less first: " + points(pairs.interval->difference)
                      + " percentage points (95 % confidence " + points(pairs.interval->lower) + " to "
                      + points(pairs.interval->upper) + "; McNemar's exact p "
                      + QByteArray::number(pairs.mcnemarP, 'g', 3) + ")\n"
                      + figure("Wrong before, right now", QByteArray::number(pairs.counts.onlySecondRight))
                      + figure("Right before, wrong now", QByteArray::number(pairs.counts.onlyFirstRight));
    for (const ChangedImage &image : pairs.changed)
        text += QByteArray(image.nowRight ? "  + " : "  - ") + nameOf(image.path) + ": " + nameOf(image.firstLabel)
                + " → " + nameOf(image.secondLabel) + '\n';
    const auto all = pairs.counts.onlySecondRight + pairs.counts.onlyFirstRight;
    if (all > qint64(pairs.changed.size()))
        text += "  … and " + QByteArray::number(all - qint64(pairs.changed.size()))
                + " more; --out DIR writes them all to changed.csv\n";
    return text;
}

} // namespace

QByteArray evaluationText(const EvaluationReport &report)
{
    QByteArray text;
    for (const TableEvaluation &table : report.results) {
        if (report.results.size() > 1)
            text += (text.isEmpty() ? "" : "\n") + table.input.toUtf8() + '\n';
        text += figuresText(table) + classesText(table) + confusionsText(table);
    }
    return report.comparison ? text + comparisonText(*report.comparison) : text;
}

} // namespace tw::cli
