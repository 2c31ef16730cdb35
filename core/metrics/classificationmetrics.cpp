// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/classificationmetrics.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

std::optional<double> ratio(qint64 part, qint64 whole)
{
    if (whole == 0)
        return std::nullopt;
    return double(part) / double(whole);
}

/// Mean over the classes whose figure is defined.
std::optional<double> mean(const std::vector<ClassFigures> &classes, std::optional<double> ClassFigures::*figure)
{
    double sum = 0;
    qint64 defined = 0;
    for (const ClassFigures &one : classes) {
        if (const auto &value = one.*figure) {
            sum += *value;
            ++defined;
        }
    }
    if (defined == 0)
        return std::nullopt;
    return sum / double(defined);
}

bool before(const ConfusionCell &a, const ConfusionCell &b)
{
    return a.truth != b.truth ? a.truth < b.truth : a.predicted < b.predicted;
}

} // namespace

qint64 ClassificationFigures::confused(std::size_t truth, std::size_t predicted) const
{
    const ConfusionCell wanted{truth, predicted, 0};
    const auto found = std::lower_bound(confusion.begin(), confusion.end(), wanted, before);
    return found != confusion.end() && !before(wanted, *found) ? found->count : 0;
}

void ClassificationCounter::add(std::size_t trueClass, std::optional<std::size_t> predictedClass,
                                std::optional<std::size_t> rankOfTrue, std::optional<double> probabilityOfTrue)
{
    m_labels = std::max(m_labels, trueClass + 1);
    m_support.resize(m_labels);
    ++m_support[trueClass];
    if (predictedClass)
        ++m_cells[std::uint64_t(trueClass) << 32 | *predictedClass];
    ++m_total;
    const std::size_t counted = std::min<std::size_t>(5, m_classes);
    m_ranksKnown = m_ranksKnown && rankOfTrue.has_value();
    if (rankOfTrue && *rankOfTrue < counted)
        ++m_topFive;
    m_probabilitiesKnown = m_probabilitiesKnown && probabilityOfTrue.has_value();
    if (probabilityOfTrue)
        m_lossSum -= std::log(std::clamp(*probabilityOfTrue, smallestProbability, 1 - smallestProbability));
}

ClassificationFigures ClassificationCounter::figures() const
{
    ClassificationFigures result;
    result.total = m_total;
    result.classes.resize(m_labels);
    for (const auto &[key, count] : m_cells)
        result.confusion.push_back({std::size_t(key >> 32), std::size_t(key & 0xffffffffU), count});
    std::sort(result.confusion.begin(), result.confusion.end(), before);
    for (std::size_t i = 0; i < m_support.size(); ++i)
        result.classes[i].support = m_support[i];
    for (const ConfusionCell &cell : result.confusion) {
        result.classes[cell.predicted].predicted += cell.count;
        if (cell.truth == cell.predicted)
            result.classes[cell.truth].correct = cell.count;
    }
    for (ClassFigures &one : result.classes) {
        result.correct += one.correct;
        one.precision = ratio(one.correct, one.predicted);
        one.recall = ratio(one.correct, one.support);
        one.f1 = ratio(2 * one.correct, one.support + one.predicted);
    }
    result.accuracy = ratio(result.correct, m_total);
    result.microPrecision = result.microRecall = result.microF1 = result.accuracy;
    result.macroPrecision = mean(result.classes, &ClassFigures::precision);
    result.macroRecall = mean(result.classes, &ClassFigures::recall);
    result.macroF1 = mean(result.classes, &ClassFigures::f1);
    if (m_ranksKnown)
        result.top5Accuracy = ratio(m_topFive, m_total);
    if (m_probabilitiesKnown && m_total > 0)
        result.logLoss = m_lossSum / double(m_total);
    return result;
}

} // namespace tw
