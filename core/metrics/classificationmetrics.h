// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <cstddef>
#include <optional>
#include <vector>

namespace tw {

/// Figures of one class; nothing where the figure is undefined (never 0 in its place).
struct ClassFigures
{
    qint64 support = 0;   ///< images of the class
    qint64 predicted = 0; ///< images given the class
    qint64 correct = 0;
    std::optional<double> precision; ///< correct / predicted
    std::optional<double> recall;    ///< correct / support
    std::optional<double> f1;        ///< 2·correct / (support + predicted)
};

/// Ratios are fractions of 1. Micro figures of single-label classification equal the accuracy.
/// Macro figures are means over the classes where the figure is defined.
struct ClassificationFigures
{
    qint64 total = 0, correct = 0;
    std::optional<double> accuracy, microPrecision, microRecall, microF1;
    std::optional<double> macroPrecision, macroRecall, macroF1;
    std::optional<double> top5Accuracy; ///< top min(5, classes); nothing when a rank is not known
    std::optional<double> logLoss;      ///< natural logarithm; nothing when a probability is not known
    std::vector<ClassFigures> classes;
    std::vector<std::vector<qint64>> confusion; ///< rows are the true class
};

/// Counts one image after another; memory is classes².
class ClassificationCounter
{
public:
    /// Probabilities below this count as this much in the log-loss (a written 0 is not −∞).
    static constexpr double smallestProbability = 1e-15;

    explicit ClassificationCounter(std::size_t classes);
    /// `rankOfTrue` from 0 (0: most probable). Class numbers lie in [0, classes).
    void add(std::size_t trueClass, std::size_t predictedClass, std::optional<std::size_t> rankOfTrue,
             std::optional<double> probabilityOfTrue);
    ClassificationFigures figures() const;

private:
    std::vector<std::vector<qint64>> m_confusion;
    qint64 m_total = 0, m_topFive = 0;
    double m_lossSum = 0;
    bool m_ranksKnown = true, m_probabilitiesKnown = true;
};

} // namespace tw
