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

} // namespace

ClassificationCounter::ClassificationCounter(std::size_t classes)
    : m_confusion(classes, std::vector<qint64>(classes, 0))
{
}

void ClassificationCounter::add(std::size_t trueClass, std::size_t predictedClass,
                                std::optional<std::size_t> rankOfTrue, std::optional<double> probabilityOfTrue)
{
    ++m_confusion[trueClass][predictedClass];
    ++m_total;
    const std::size_t counted = std::min<std::size_t>(5, m_confusion.size());
    m_ranksKnown = m_ranksKnown && rankOfTrue.has_value();
    if (rankOfTrue && *rankOfTrue < counted)
        ++m_topFive;
    m_probabilitiesKnown = m_probabilitiesKnown && probabilityOfTrue.has_value();
    if (probabilityOfTrue)
        m_lossSum -= std::log(std::max(*probabilityOfTrue, smallestProbability));
}

ClassificationFigures ClassificationCounter::figures() const
{
    ClassificationFigures result;
    result.total = m_total;
    result.confusion = m_confusion;
    result.classes.resize(m_confusion.size());
    for (std::size_t row = 0; row < m_confusion.size(); ++row) {
        for (std::size_t column = 0; column < m_confusion.size(); ++column) {
            result.classes[row].support += m_confusion[row][column];
            result.classes[column].predicted += m_confusion[row][column];
        }
        result.classes[row].correct = m_confusion[row][row];
        result.correct += m_confusion[row][row];
    }
    for (ClassFigures &one : result.classes) {
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
