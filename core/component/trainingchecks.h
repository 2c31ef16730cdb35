// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componenttype.h"

namespace tw {

/// What is known of the categories of a data set, in class-id order.
struct CategoryFacts
{
    QList<QByteArray> names;             ///< bytes, as folders are named
    std::optional<QList<qint64>> counts; ///< images of each
};
struct CategoryFindings
{
    QList<Error> errors;
    QStringList warnings;
};

/// The rule of labels, by name, before a training and at its start. InvalidDatasetError: fewer than
/// two training categories, a validation category that training lacks (with images or without), and
/// with `requireSame` one of training that validation lacks or has no image of; else that is a
/// warning, as is a category without training images. Without `validation` training is judged
/// alone.
CategoryFindings checkCategories(const CategoryFacts &training, const std::optional<CategoryFacts> &validation,
                                 bool requireSame);

/// What is known of the pictures at `training_dataset` and `validation_dataset` before a training,
/// against `batch_size` and `require_same_categories`: NotLabeledDatasetError, those of
/// checkCategories(), LessThanOrEqualToError (batch_size).
void checkTrainingData(const PreflightRequest &request, PreflightReply &reply);

} // namespace tw
