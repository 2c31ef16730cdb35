// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/component/portobjects.h"
#include "core/metrics/classificationmetrics.h"
#include "core/metrics/scoretable.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tw::components {

namespace {

constexpr int evaluationVersion = 1;

Error unlabelled(const QString &port)
{
    return makeError(errors::NotLabeledDataset,
                     QT_TRANSLATE_NOOP("Error", "The scored pictures at '%1' have no categories to compare with."),
                     {port}, QT_TRANSLATE_NOOP("Error", "Score pictures that lie in one folder per class."));
}

Error unknownCategories(const QString &port, const QStringList &names)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The pictures scored for '%1' have categories that "
                                                "the model does not know: %2."),
                     {port, quotedList(names)},
                     QT_TRANSLATE_NOOP("Error", "Score pictures whose class names are those of the model."));
}

PreflightReply preflightEvaluate(const PreflightRequest &request)
{
    PreflightReply reply;
    for (auto it = request.inputs.begin(); it != request.inputs.end(); ++it) {
        if (it->labelled && !*it->labelled)
            reply.errors.append(unlabelled(it.key()));
        const QStringList unknown = it->extra.value(QStringLiteral("unknown_categories")).toStringList();
        if (!unknown.isEmpty())
            reply.errors.append(unknownCategories(it.key(), unknown));
    }
    return reply;
}

QJsonValue jsonOf(const std::optional<double> &figure)
{
    return figure ? QJsonValue(*figure) : QJsonValue();
}

std::size_t countedForTopFive(std::size_t classes)
{
    return std::min<std::size_t>(5, classes);
}

/// Place of the true class in the row's ranking; one that a short ranking lacks is known to be
/// outside the top five only where the ranking is that long.
std::optional<std::size_t> rankOf(int trueClass, const ScoredRow &row)
{
    const auto place = std::find(row.ranking.begin(), row.ranking.end(), trueClass);
    if (place != row.ranking.end())
        return std::size_t(place - row.ranking.begin());
    if (row.ranking.size() >= countedForTopFive(row.probabilities.size()))
        return row.ranking.size();
    return std::nullopt;
}

Result<ClassificationFigures> countRows(ScoreTableReader &table, const QString &port, RunContext &context)
{
    const std::vector<std::string> &classes = table.layout().classes;
    std::unordered_map<std::string, std::size_t> ids;
    for (std::size_t i = 0; i < classes.size(); ++i)
        ids.emplace(classes[i], i);
    ClassificationCounter counter(classes.size());
    ScoredRow row;
    for (qint64 done = 0;; ++done) {
        TW_ASSIGN(more, table.next(row));
        if (!more)
            return counter.figures();
        if (context.isCanceled())
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The evaluation was canceled."));
        const auto truth = ids.find(row.category), guess = ids.find(row.label);
        if (truth == ids.end() || guess == ids.end())
            return makeError(errors::InvalidDataset,
                             QT_TRANSLATE_NOOP("Error", "The picture '%1' at '%2' has the category '%3', which "
                                                        "the model does not know."),
                             {QString::fromStdString(row.path), port,
                              QString::fromStdString(truth == ids.end() ? row.category : row.label)},
                             QT_TRANSLATE_NOOP("Error", "Score pictures whose class names are those of the model."));
        const double probability = row.probabilities[truth->second];
        counter.add(truth->second, guess->second, rankOf(int(truth->second), row),
                    std::isnan(probability) ? std::nullopt : std::optional<double>(probability));
        context.progress(double(done) / double(std::max<qint64>(1, table.rows())), QStringLiteral("%1 rows").arg(done));
    }
}

QJsonArray classTable(const ClassificationFigures &figures, const std::vector<std::string> &names)
{
    QJsonArray table;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const ClassFigures &one = figures.classes[i];
        table.append(QJsonObject{{QStringLiteral("name"), pathToJson(fs::path(names[i]))},
                                 {QStringLiteral("support"), one.support},
                                 {QStringLiteral("predicted"), one.predicted},
                                 {QStringLiteral("correct"), one.correct},
                                 {QStringLiteral("precision"), jsonOf(one.precision)},
                                 {QStringLiteral("recall"), jsonOf(one.recall)},
                                 {QStringLiteral("f1"), jsonOf(one.f1)}});
    }
    return table;
}

QJsonArray confusionMatrix(const ClassificationFigures &figures)
{
    QJsonArray matrix;
    for (const std::vector<qint64> &row : figures.confusion) {
        QJsonArray cells;
        for (const qint64 cell : row)
            cells.append(cell);
        matrix.append(cells);
    }
    return matrix;
}

QJsonObject headline(const ClassificationFigures &figures)
{
    return {{QStringLiteral("Correct"), figures.correct},
            {QStringLiteral("Total"), figures.total},
            {QStringLiteral("Overall_Accuracy"), jsonOf(figures.accuracy)},
            {QStringLiteral("Micro_Precision"), jsonOf(figures.microPrecision)},
            {QStringLiteral("Macro_Precision"), jsonOf(figures.macroPrecision)},
            {QStringLiteral("Micro_Recall"), jsonOf(figures.microRecall)},
            {QStringLiteral("Macro_Recall"), jsonOf(figures.macroRecall)},
            {QStringLiteral("Micro_F1"), jsonOf(figures.microF1)},
            {QStringLiteral("Macro_F1"), jsonOf(figures.macroF1)},
            {QStringLiteral("Top_5_Accuracy"), jsonOf(figures.top5Accuracy)},
            {QStringLiteral("Log_Loss"), jsonOf(figures.logLoss)}};
}

Result<QJsonObject> evaluateInput(const RunRequest &request, const QString &port)
{
    TW_ASSIGN(table, ScoreTableReader::open(request.inputs.value(port).folder));
    if (!table->layout().labelled)
        return unlabelled(port);
    TW_ASSIGN(figures, countRows(*table, port, request.context));
    if (figures.total == 0)
        return makeError(errors::NotScoredDataset, QT_TRANSLATE_NOOP("Error", "The table at '%1' has no rows."), {port},
                         QT_TRANSLATE_NOOP("Error", "Score at least one picture."));
    QJsonObject row = headline(figures);
    row.insert(QStringLiteral("input"), port);
    row.insert(QStringLiteral("classes"), classTable(figures, table->layout().classes));
    row.insert(QStringLiteral("confusion_matrix"), confusionMatrix(figures));
    return row;
}

Result<void> writeEvaluation(const fs::path &folder, const QJsonArray &rows)
{
    return writeFileAtomically(folder / "evaluation.json",
                               jsonObjectLine({{"format", jsonString(QStringLiteral("trainwright-evaluation"))},
                                               {"version", QByteArray::number(evaluationVersion)},
                                               {"results", jsonCompact(rows)}})
                                   + '\n');
}

Result<RunReply> runEvaluate(const RunRequest &request)
{
    QJsonArray rows;
    for (const QString &port : {QStringLiteral("scored_dataset"), QStringLiteral("scored_dataset_to_compare")}) {
        if (!request.inputs.contains(port))
            continue;
        TW_ASSIGN(row, evaluateInput(request, port));
        const bool first = rows.isEmpty();
        for (auto it = row.constBegin(); it != row.constEnd(); ++it)
            if (it->isDouble() || it->isNull())
                request.context.result(first ? it.key() : QStringLiteral("compare_") + it.key(), it.value());
        request.context.log(LogLevel::Info,
                            QStringLiteral("%1: %2 of %3 right (%4 %)")
                                .arg(port)
                                .arg(row.value(QStringLiteral("Correct")).toInteger())
                                .arg(row.value(QStringLiteral("Total")).toInteger())
                                .arg(100 * row.value(QStringLiteral("Overall_Accuracy")).toDouble(), 0, 'f', 2));
        rows.append(row);
    }
    TW_TRY(writeEvaluation(request.outputFolders.value(QStringLiteral("evaluation_results")), rows));
    return RunReply{};
}

} // namespace

ComponentType evaluate_model()
{
    ComponentType type;
    type.id = QStringLiteral("evaluate-model");
    type.named(QT_TRANSLATE_NOOP("Component", "Evaluate Model"),
               QT_TRANSLATE_NOOP("Component", "Model Scoring & Evaluation"),
               QT_TRANSLATE_NOOP("Component", "Compares scored labels with the true ones: accuracy, "
                                              "precision, recall and the confusion matrix."));
    type.input("scored_dataset", QT_TRANSLATE_NOOP("Component", "Scored dataset"), DataType::DataTable);
    type.input("scored_dataset_to_compare", QT_TRANSLATE_NOOP("Component", "Scored dataset to compare"),
               DataType::DataTable, true);
    type.output("evaluation_results", QT_TRANSLATE_NOOP("Component", "Evaluation results"), DataType::EvaluationResult);
    type.preflight = preflightEvaluate;
    type.run = runEvaluate;
    return type;
}

} // namespace tw::components
