// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/evaluation.h"

#include "core/component/portobjects.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

QString textOf(std::string_view bytes)
{
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size()));
}

QStringList textsOf(const std::vector<std::string> &names)
{
    QStringList texts;
    for (const std::string &name : names)
        texts.append(textOf(name));
    return texts;
}

QString imagesText(qint64 count)
{
    return count == 1 ? QStringLiteral("1 image") : QStringLiteral("%1 images").arg(count);
}

QStringList missingFrom(const std::vector<std::string> &there, const std::vector<std::string> &names)
{
    std::vector<std::string> missing;
    for (const std::string &name : names)
        if (std::find(there.begin(), there.end(), name) == there.end())
            missing.push_back(name);
    return textsOf(missing);
}

/// Place of a class among all probabilities; equal ones by class id.
std::size_t placeOf(std::size_t id, std::span<const double> probabilities)
{
    std::size_t before = 0;
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        before += probabilities[i] > probabilities[id] || (probabilities[i] == probabilities[id] && i < id) ? 1 : 0;
    return before;
}

/// One table, row by row.
class TableCounter
{
public:
    TableCounter(const QString &input, const ScoreLayout &layout, qint64 rows);
    /// Whether the row is right.
    Result<bool> add(const ScoredRow &row);
    Result<TableEvaluation> finish(const StopToken *stop);
    const std::vector<std::string> &labels() const { return m_result.labels; }

private:
    std::optional<int> predictionOf(const ScoredRow &row) const;
    std::optional<std::size_t> rankOf(std::size_t truth, const ScoredRow &row) const;
    void explain();

    TableEvaluation m_result;
    bool m_isComplete; ///< every class has its probability
    int m_topK;
    std::unordered_map<std::string, std::size_t> m_ids;
    ClassificationCounter m_counter;
    CalibrationCounter m_calibration;
    CurveCollector m_curves;
};

TableCounter::TableCounter(const QString &input, const ScoreLayout &layout, qint64 rows)
    : m_isComplete(layout.topK == 0 || layout.topK >= int(layout.classes.size())), m_topK(layout.topK),
      m_counter(layout.classes.size()), m_curves(m_isComplete ? layout.classes.size() : 0, rows)
{
    m_result.input = input;
    m_result.labels = layout.classes;
    m_result.classes = layout.classes.size();
    for (std::size_t i = 0; i < layout.classes.size(); ++i)
        m_ids.emplace(layout.classes[i], i);
}

/// Nothing where a probability that decides is no number.
std::optional<int> TableCounter::predictionOf(const ScoredRow &row) const
{
    if (m_isComplete && !bestClass(row.probabilities))
        return std::nullopt;
    if (!row.label || std::isnan(row.probabilities[std::size_t(*row.label)]))
        return std::nullopt;
    return row.label;
}

/// A class that a short ranking lacks is known to be outside the top five only where the ranking is
/// that long.
std::optional<std::size_t> TableCounter::rankOf(std::size_t truth, const ScoredRow &row) const
{
    if (truth >= m_result.classes)
        return m_result.classes;
    if (m_isComplete)
        return placeOf(truth, row.probabilities);
    const auto place = std::find(row.ranking.begin(), row.ranking.end(), int(truth));
    if (place != row.ranking.end() || row.ranking.size() >= std::min<std::size_t>(5, m_result.classes))
        return std::size_t(place - row.ranking.begin());
    return std::nullopt;
}

Result<bool> TableCounter::add(const ScoredRow &row)
{
    if (row.category.empty())
        return makeError(errors::NotLabeledDataset,
                         QT_TRANSLATE_NOOP("Error", "The picture '%1' scored at '%2' has no category."),
                         {textOf(row.path), m_result.input},
                         QT_TRANSLATE_NOOP("Error", "Score pictures that lie in one folder per class."));
    const auto [found, isNew] = m_ids.try_emplace(row.category, m_result.labels.size());
    const std::size_t truth = found->second;
    if (isNew)
        m_result.labels.push_back(row.category);
    const std::optional<int> prediction = predictionOf(row);
    if (!prediction) {
        ++m_result.withoutPrediction;
        m_counter.add(truth, std::nullopt, m_result.classes, std::nullopt);
        return false;
    }
    const auto predicted = std::size_t(*prediction);
    const bool isKnown = truth < m_result.classes;
    const double ofTruth = isKnown ? row.probabilities[truth] : std::nan("");
    m_counter.add(truth, predicted, rankOf(truth, row),
                  std::isnan(ofTruth) ? std::nullopt : std::optional<double>(ofTruth));
    m_calibration.add(row.probabilities[predicted], truth == predicted);
    if (m_isComplete) {
        const auto ofClass = isKnown ? std::optional<std::size_t>(truth) : std::nullopt;
        m_calibration.addBrier(row.probabilities, ofClass);
        m_curves.add(row.probabilities, ofClass);
    }
    return truth == predicted;
}

/// Why figures are null, and null they are where some rows have no numbers.
void TableCounter::explain()
{
    const QString short_ = QStringLiteral("the table holds the %1 most probable classes only").arg(m_topK);
    const auto without = [this](const QStringList &figures, const QString &reason) {
        for (const QString &figure : figures)
            if (!m_result.unavailable.contains(figure))
                m_result.unavailable.insert(figure, reason);
    };
    const QStringList ofAll{QStringLiteral("Brier_Score"),
                            QStringLiteral("Micro_AUC"),
                            QStringLiteral("Macro_AUC"),
                            QStringLiteral("Micro_Average_Precision"),
                            QStringLiteral("Macro_Average_Precision"),
                            QStringLiteral("curves")};
    const QString logLoss = QStringLiteral("Log_Loss");
    if (m_result.withoutPrediction > 0) {
        without(QStringList{logLoss, QStringLiteral("Expected_Calibration_Error"),
                            QStringLiteral("Maximum_Calibration_Error"), QStringLiteral("calibration")}
                    + ofAll,
                QStringLiteral("the probabilities of %1 are not numbers").arg(imagesText(m_result.withoutPrediction)));
        m_result.calibration = {};
        m_result.curves.reset();
    }
    if (!m_result.figures.logLoss && m_result.labels.size() > m_result.classes)
        without({logLoss}, QStringLiteral("the model has no class for some categories, their loss is infinite"));
    if (!m_result.figures.logLoss)
        without({logLoss}, short_);
    if (!m_isComplete)
        without(ofAll, short_);
    if (!m_result.figures.top5Accuracy)
        without({QStringLiteral("Top_5_Accuracy")}, short_);
}

Result<TableEvaluation> TableCounter::finish(const StopToken *stop)
{
    m_result.figures = m_counter.figures();
    m_result.figures.classes.resize(m_result.labels.size());
    if (m_result.figures.total == 0)
        return makeError(errors::NotScoredDataset, QT_TRANSLATE_NOOP("Error", "The table at '%1' has no rows."),
                         {m_result.input}, QT_TRANSLATE_NOOP("Error", "Score at least one picture."));
    const auto begin = m_result.figures.classes.begin();
    const auto isSeen = [](const ClassFigures &one) { return one.support > 0; };
    if (std::none_of(begin, begin + std::ptrdiff_t(m_result.classes), isSeen))
        return makeError(errors::InvalidDataset,
                         QT_TRANSLATE_NOOP("Error", "None of the pictures' categories is a class of the model ('%1'): "
                                                    "the pictures have %2, the model has %3."),
                         {m_result.input, quotedList(textsOf(m_result.labels).mid(qsizetype(m_result.classes))),
                          quotedList(textsOf(m_result.labels).first(qsizetype(m_result.classes)))},
                         QT_TRANSLATE_NOOP("Error", "Give the folders the names of the model's classes."));
    m_result.calibration = m_calibration.figures();
    if (m_isComplete) {
        m_result.curves = m_curves.finish(stop);
        if (!m_result.curves)
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The evaluation was canceled."));
    }
    explain();
    return std::move(m_result);
}

} // namespace

struct EvaluationBuilder::Private
{
    int tables = 1;
    fs::path changedFile;
    std::unique_ptr<TableCounter> counter;
    PairedMatcher matcher;
    CsvFile changedCsv;
    EvaluationReport report;
    EvaluationComparison comparison;

    bool isSecond() const { return !report.results.empty(); }
    Result<void> compare(const ScoredRow &row, bool isRight);
    Result<void> noteChange(const ScoredRow &row, const PairedMatcher::Match &first, bool isRight);
    void warnOfTable(const TableEvaluation &table);
    void warnOfPairs();
};

EvaluationBuilder::EvaluationBuilder(int tables, fs::path changedFile) : d(std::make_unique<Private>())
{
    d->tables = tables;
    d->changedFile = std::move(changedFile);
}

EvaluationBuilder::~EvaluationBuilder() = default;

Result<void> EvaluationBuilder::begin(const QString &input, const ScoreLayout &layout, qint64 rows)
{
    d->counter = std::make_unique<TableCounter>(input, layout, rows);
    if (!d->isSecond())
        return {};
    d->matcher.seal();
    if (d->changedFile.empty())
        return {};
    TW_TRY(d->changedCsv.open(d->changedFile));
    return d->changedCsv.write("path,category,first_label,second_label,change");
}

Result<void> EvaluationBuilder::add(const ScoredRow &row)
{
    TW_ASSIGN(isRight, d->counter->add(row));
    if (d->tables < 2)
        return {};
    return d->compare(row, isRight);
}

Result<void> EvaluationBuilder::Private::compare(const ScoredRow &row, bool isRight)
{
    const PairedAnswer answer{row.path, row.category, row.label, isRight};
    if (!isSecond()) {
        matcher.addFirst(answer);
        return {};
    }
    const qint64 strangers = matcher.onlyInSecond();
    const auto match = matcher.addSecond(answer);
    if (!match && matcher.onlyInSecond() > strangers && comparison.onlyInSecondNames.size() < qsizetype(listedImages))
        comparison.onlyInSecondNames.append(textOf(row.path));
    if (!match || match->firstRight == isRight)
        return {};
    return noteChange(row, *match, isRight);
}

Result<void> EvaluationBuilder::Private::noteChange(const ScoredRow &row, const PairedMatcher::Match &first,
                                                    bool isRight)
{
    const auto nameOf = [](const std::vector<std::string> &labels, std::optional<int> id) {
        return id ? labels[std::size_t(*id)] : std::string();
    };
    ChangedImage image{row.path, row.category, nameOf(report.results.front().labels, first.firstLabel),
                       nameOf(counter->labels(), row.label), isRight};
    if (!changedFile.empty())
        TW_TRY(changedCsv.write(csvField(image.path) + ',' + csvField(image.category) + ',' + csvField(image.firstLabel)
                                + ',' + csvField(image.secondLabel)
                                + (isRight ? ",wrong_to_right" : ",right_to_wrong")));
    if (comparison.changed.size() < listedImages)
        comparison.changed.push_back(std::move(image));
    return {};
}

void EvaluationBuilder::Private::warnOfTable(const TableEvaluation &table)
{
    if (table.labels.size() > table.classes) {
        qint64 images = 0;
        for (std::size_t i = table.classes; i < table.labels.size(); ++i)
            images += table.figures.classes[i].support;
        report.warnings.append(
            unknownCategoriesWarning(table.input, textsOf(table.labels).mid(qsizetype(table.classes)))
            + QStringLiteral(" They count as wrong: %1.").arg(imagesText(images)));
    }
    if (table.withoutPrediction > 0)
        report.warnings.append(QStringLiteral("%1: the probabilities of %2 are not numbers; they count as wrong.")
                                   .arg(table.input)
                                   .arg(imagesText(table.withoutPrediction)));
}

void EvaluationBuilder::Private::warnOfPairs()
{
    const auto warn = [this](const QString &sentence, const QStringList &names) {
        if (!names.isEmpty())
            report.warnings.append(sentence.arg(quotedList(names)));
    };
    const auto classesOf = [this](std::size_t i) {
        const TableEvaluation &table = report.results[i];
        return std::vector<std::string>(table.labels.begin(), table.labels.begin() + std::ptrdiff_t(table.classes));
    };
    warn(QStringLiteral("Only the first model has the classes: %1."), missingFrom(classesOf(1), classesOf(0)));
    warn(QStringLiteral("Only the second model has the classes: %1."), missingFrom(classesOf(0), classesOf(1)));
    warn(QStringLiteral("In the first table only, %1: ").arg(imagesText(comparison.onlyInFirst)) + "%1.",
         comparison.onlyInFirstNames);
    warn(QStringLiteral("In the second table only, %1: ").arg(imagesText(comparison.onlyInSecond)) + "%1.",
         comparison.onlyInSecondNames);
    if (comparison.otherCategory > 0)
        report.warnings.append(QStringLiteral("Another category in the second table, %1: "
                                              "left out of the comparison.")
                                   .arg(imagesText(comparison.otherCategory)));
    if (comparison.repeated > 0)
        report.warnings.append(QStringLiteral("In a table twice, %1: the comparison takes the first.")
                                   .arg(imagesText(comparison.repeated)));
    if (!comparison.interval)
        report.warnings.append(QStringLiteral("The two tables have no image in common: they are not compared."));
}

Result<void> EvaluationBuilder::end(const StopToken *stop)
{
    TW_ASSIGN(table, d->counter->finish(stop));
    d->warnOfTable(table);
    d->report.results.push_back(std::move(table));
    d->counter.reset();
    if (d->report.results.size() == 2 && !d->changedFile.empty())
        TW_TRY(d->changedCsv.close());
    return {};
}

Result<EvaluationReport> EvaluationBuilder::finish(const NamesOfRows &namesOfRows)
{
    if (d->report.results.size() < 2)
        return std::move(d->report);
    EvaluationComparison &pairs = d->comparison;
    std::vector<std::uint32_t> strangers = d->matcher.onlyInFirst();
    pairs.changedFile = displayPath(d->changedFile.filename());
    pairs.counts = d->matcher.counts();
    pairs.interval = pairedInterval(pairs.counts);
    pairs.mcnemarP = mcnemarExactP(pairs.counts);
    pairs.onlyInFirst = qint64(strangers.size());
    pairs.onlyInSecond = d->matcher.onlyInSecond();
    pairs.otherCategory = d->matcher.otherCategory();
    pairs.repeated = d->matcher.repeated();
    strangers.resize(std::min(strangers.size(), listedImages));
    if (!strangers.empty()) {
        TW_ASSIGN(names, namesOfRows(strangers));
        pairs.onlyInFirstNames = names;
    }
    d->warnOfPairs();
    d->report.comparison = std::move(pairs);
    return std::move(d->report);
}

Error notLabelledForEvaluation(const QString &input)
{
    return makeError(errors::NotLabeledDataset,
                     QT_TRANSLATE_NOOP("Error", "The scored pictures at '%1' have no categories to compare with."),
                     {input}, QT_TRANSLATE_NOOP("Error", "Score pictures that lie in one folder per class."));
}

QString unknownCategoriesWarning(const QString &input, const QStringList &names)
{
    return QStringLiteral("%1: the model has no class for the categories: %2.").arg(input, quotedList(names));
}

} // namespace tw
