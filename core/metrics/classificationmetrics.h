// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
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

struct ConfusionCell
{
    std::size_t truth = 0, predicted = 0;
    qint64 count = 0;
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
    std::vector<ConfusionCell> confusion; ///< those that are not 0, by true class, then predicted class

    qint64 confused(std::size_t truth, std::size_t predicted) const;
};

/// Counts one image after another; memory grows with the kinds of confusion seen, not with images.
class ClassificationCounter
{
public:
    /// Probabilities count as at least this and at most one less this in the log-loss (a written 0 is
    /// not −∞): the epsilon of a double, as scikit-learn clips.
    static constexpr double smallestProbability = 0x1p-52;

    /// `classes`: those that can be predicted.
    explicit ClassificationCounter(std::size_t classes) : m_classes(classes), m_labels(classes) {}
    /// `trueClass` may be `classes` or more: a category that the model lacks; the image is then never
    /// right. `predictedClass` lies in [0, classes), or is none: the network gave no number, the image
    /// is not right and stands in no cell of the confusion matrix. `rankOfTrue` from 0 (0: most
    /// probable).
    void add(std::size_t trueClass, std::optional<std::size_t> predictedClass, std::optional<std::size_t> rankOfTrue,
             std::optional<double> probabilityOfTrue);
    ClassificationFigures figures() const;

private:
    std::size_t m_classes, m_labels;
    std::unordered_map<std::uint64_t, qint64> m_cells; ///< truth · 2³² + predicted
    std::vector<qint64> m_support;
    qint64 m_total = 0, m_topFive = 0;
    double m_lossSum = 0;
    bool m_ranksKnown = true, m_probabilitiesKnown = true;
};

} // namespace tw
