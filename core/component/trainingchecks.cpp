// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/trainingchecks.h"

#include "core/component/portobjects.h"

#include <QSet>

namespace tw {

namespace {

void checkLabelled(const PortFacts &facts, const QString &port, QList<Error> &faults)
{
    if (facts.labelled && !*facts.labelled)
        faults.append(
            makeError(errors::NotLabeledDataset,
                      QT_TRANSLATE_NOOP("Error", "The pictures at '%1' have no labels."), {port},
                      QT_TRANSLATE_NOOP("Error", "Put the pictures into one folder per class.")));
}

/// Names in `facts` with at least one image (all names where counts are not known).
QStringList usedCategories(const PortFacts &facts)
{
    QStringList used;
    for (qsizetype i = 0; i < facts.categories->size(); ++i)
        if (!facts.counts || i >= facts.counts->size() || facts.counts->at(i) > 0)
            used.append(facts.categories->at(i));
    return used;
}

QStringList without(const QStringList &names, const QStringList &taken)
{
    QStringList left;
    const QSet<QString> known(taken.begin(), taken.end());
    for (const QString &name : names)
        if (!known.contains(name))
            left.append(name);
    return left;
}

void compareCategories(const PortFacts &training, const PortFacts &validation, bool same,
                       PreflightReply &reply)
{
    const QStringList unknown = without(usedCategories(validation), *training.categories);
    if (!unknown.isEmpty())
        reply.errors.append(makeError(
            errors::InvalidDataset,
            QT_TRANSLATE_NOOP("Error",
                              "The validation pictures have categories that training lacks: %1."),
            {quotedList(unknown)},
            QT_TRANSLATE_NOOP("Error", "Use the same class names in both sets.")));
    const QStringList missing = without(*training.categories, usedCategories(validation));
    if (missing.isEmpty())
        return;
    if (same)
        reply.errors.append(makeError(
            errors::InvalidDataset,
            QT_TRANSLATE_NOOP("Error", "The validation pictures lack categories of training: %1."),
            {quotedList(missing)},
            QT_TRANSLATE_NOOP("Error",
                              "Add pictures of them, or switch 'Require same categories' off.")));
    else
        reply.warnings.append(
            QStringLiteral("No validation pictures of: %1").arg(quotedList(missing)));
}

} // namespace

void checkTrainingData(const PreflightRequest &request, PreflightReply &reply)
{
    const PortFacts training = request.inputs.value(QStringLiteral("training_dataset"));
    const PortFacts validation = request.inputs.value(QStringLiteral("validation_dataset"));
    checkLabelled(training, QStringLiteral("training_dataset"), reply.errors);
    checkLabelled(validation, QStringLiteral("validation_dataset"), reply.errors);
    const bool labelled = training.labelled.value_or(true) && validation.labelled.value_or(true);
    if (training.categories && labelled && training.categories->size() < 2)
        reply.errors.append(makeError(
            errors::InvalidDataset,
            QT_TRANSLATE_NOOP("Error",
                              "Training needs at least two categories; the data have %1: %2."),
            {QString::number(training.categories->size()), quotedList(*training.categories)},
            QT_TRANSLATE_NOOP("Error", "Put the pictures into one folder per class.")));
    if (training.categories && validation.categories && labelled)
        compareCategories(training, validation, request.values.boolean("require_same_categories"),
                          reply);
    const qlonglong batch = request.values.integer("batch_size");
    if (training.images && batch > *training.images)
        reply.errors.append(
            makeError(
                errors::LessThanOrEqualTo,
                QT_TRANSLATE_NOOP(
                    "Error",
                    "The batch size %1 is larger than the number of training pictures, %2."),
                {QString::number(batch), QString::number(*training.images)},
                QT_TRANSLATE_NOOP(
                    "Error", "Choose a batch size of at most the number of training pictures."))
                .atParameter(QStringLiteral("batch_size")));
}

} // namespace tw
