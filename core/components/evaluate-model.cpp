// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"
#include "core/metrics/evaluation.h"

#include <algorithm>

namespace tw::components {

namespace {

const QString firstPort = QStringLiteral("scored_dataset");
const QString secondPort = QStringLiteral("scored_dataset_to_compare");

void warnOfUnequalClasses(const PreflightRequest &request, PreflightReply &reply)
{
    const auto first = request.inputs.value(firstPort).categories, second = request.inputs.value(secondPort).categories;
    if (first && second && QSet<QString>(first->begin(), first->end()) != QSet<QString>(second->begin(), second->end()))
        reply.warnings.append(QStringLiteral("The models that are compared have different classes: %1; %2.")
                                  .arg(quotedList(*first), quotedList(*second)));
}

PreflightReply preflightEvaluate(const PreflightRequest &request)
{
    PreflightReply reply;
    for (auto it = request.inputs.begin(); it != request.inputs.end(); ++it) {
        if (it->labelled && !*it->labelled)
            reply.errors.append(notLabelledForEvaluation(it.key()));
        const QStringList unknown = it->extra.value(QStringLiteral("unknown_categories")).toStringList();
        if (!unknown.isEmpty())
            reply.warnings.append(unknownCategoriesWarning(it.key(), unknown));
    }
    warnOfUnequalClasses(request, reply);
    return reply;
}

Result<void> addTable(const RunRequest &request, const QString &port, EvaluationBuilder &builder)
{
    RunContext &context = request.context;
    TW_ASSIGN(table, ScoreTableReader::open(request.inputs.value(port).folder));
    if (!table->layout().labelled)
        return notLabelledForEvaluation(port);
    TW_TRY(builder.begin(port, table->layout(), table->rows()));
    ScoredRow row;
    for (qint64 done = 1;; ++done) {
        TW_ASSIGN(more, table->next(row));
        if (!more)
            return builder.end(&context.stopToken());
        if (context.isCanceled())
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The evaluation was canceled."));
        TW_TRY(builder.add(row));
        if (done % 256 == 0)
            context.progress(double(done) / double(std::max<qint64>(1, table->rows())),
                             QStringLiteral("%1 rows").arg(done));
    }
}

/// Paths of some rows of the first table, read once more.
Result<QStringList> pathsOf(const RunRequest &request, const std::vector<std::uint32_t> &rows)
{
    QStringList paths;
    TW_ASSIGN(table, ScoreTableReader::open(request.inputs.value(firstPort).folder));
    ScoredRow row;
    std::uint32_t at = 0;
    for (const std::uint32_t wanted : rows) {
        do {
            TW_ASSIGN(more, table->next(row));
            if (!more)
                return paths;
        } while (at++ < wanted);
        paths.append(QString::fromUtf8(row.path.data(), qsizetype(row.path.size())));
    }
    return paths;
}

void tellTable(const TableEvaluation &table, bool isFirst, RunContext &context)
{
    for (const auto &[name, value] : headlineFigures(table))
        context.result(isFirst ? name : QStringLiteral("compare_") + name, value);
    context.log(LogLevel::Info, QStringLiteral("%1: %2 of %3 right (%4 %)")
                                    .arg(table.input)
                                    .arg(table.figures.correct)
                                    .arg(table.figures.total)
                                    .arg(100 * table.figures.accuracy.value_or(0), 0, 'f', 2));
}

void tellComparison(const EvaluationComparison &pairs, RunContext &context)
{
    if (!pairs.interval)
        return;
    context.result(QStringLiteral("accuracy_difference"), pairs.interval->difference);
    context.result(QStringLiteral("wrong_to_right"), pairs.counts.onlySecondRight);
    context.result(QStringLiteral("right_to_wrong"), pairs.counts.onlyFirstRight);
    const auto percent = [](double share) { return QString::number(100 * share, 'f', 2); };
    context.log(LogLevel::Info,
                QStringLiteral("Second less first: %1 % (95 % confidence %2 to %3), McNemar's exact p %4; %5 images "
                               "changed from wrong to right, %6 from right to wrong.")
                    .arg(percent(pairs.interval->difference), percent(pairs.interval->lower),
                         percent(pairs.interval->upper), QString::number(pairs.mcnemarP, 'g', 3))
                    .arg(pairs.counts.onlySecondRight)
                    .arg(pairs.counts.onlyFirstRight));
}

Result<RunReply> runEvaluate(const RunRequest &request)
{
    const fs::path folder = request.outputFolders.value(QStringLiteral("evaluation_results"));
    const bool compares = request.inputs.contains(secondPort);
    EvaluationBuilder builder(compares ? 2 : 1, folder / "changed.csv");
    TW_TRY(addTable(request, firstPort, builder));
    if (compares)
        TW_TRY(addTable(request, secondPort, builder));
    TW_ASSIGN(report, builder.finish([&](const std::vector<std::uint32_t> &rows) { return pathsOf(request, rows); }));
    for (const QString &warning : report.warnings)
        request.context.log(LogLevel::Warning, warning);
    for (std::size_t i = 0; i < report.results.size(); ++i)
        tellTable(report.results[i], i == 0, request.context);
    if (report.comparison)
        tellComparison(*report.comparison, request.context);
    TW_TRY(writeEvaluation(folder, report));
    return RunReply{};
}

} // namespace

ComponentType evaluate_model()
{
    ComponentType type;
    type.id = QStringLiteral("evaluate-model");
    type.named(QT_TRANSLATE_NOOP("Component", "Evaluate Model"),
               QT_TRANSLATE_NOOP("Component", "Model Scoring & Evaluation"),
               QT_TRANSLATE_NOOP("Component", "Compares scored labels with the true ones: accuracy, precision, "
                                              "recall, calibration, curves and the confusion matrix; two tables "
                                              "against each other."));
    type.input("scored_dataset", QT_TRANSLATE_NOOP("Component", "Scored dataset"), DataType::DataTable);
    type.input("scored_dataset_to_compare", QT_TRANSLATE_NOOP("Component", "Scored dataset to compare"),
               DataType::DataTable, true);
    type.output("evaluation_results", QT_TRANSLATE_NOOP("Component", "Evaluation results"), DataType::EvaluationResult);
    type.preflight = preflightEvaluate;
    type.run = runEvaluate;
    return type;
}

} // namespace tw::components
