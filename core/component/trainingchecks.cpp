// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/trainingchecks.h"

#include "core/component/portobjects.h"

#include <QSet>

namespace tw {

namespace {

void checkLabelled(const PortFacts &facts, const QString &port, QList<Error> &faults)
{
    if (facts.labelled && !*facts.labelled)
        faults.append(makeError(errors::NotLabeledDataset,
                                QT_TRANSLATE_NOOP("Error", "The pictures at '%1' have no labels."), {port},
                                QT_TRANSLATE_NOOP("Error", "Put the pictures into one folder per class.")));
}

using Names = QList<QByteArray>;

QString shownList(const Names &names)
{
    QStringList texts;
    for (const QByteArray &name : names)
        texts.append(QString::fromUtf8(name));
    return quotedList(texts);
}

/// Names without an image (none where counts are not known).
Names emptyCategories(const CategoryFacts &facts)
{
    Names empty;
    for (qsizetype i = 0; facts.counts && i < facts.names.size(); ++i)
        if (i < facts.counts->size() && facts.counts->at(i) == 0)
            empty.append(facts.names.at(i));
    return empty;
}

Names without(const Names &names, const Names &taken)
{
    Names left;
    const QSet<QByteArray> known(taken.begin(), taken.end());
    for (const QByteArray &name : names)
        if (!known.contains(name))
            left.append(name);
    return left;
}

Error tooFewCategories(const Names &names)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "Training needs at least two categories; the data have %1: %2."),
                     {QString::number(names.size()), shownList(names)},
                     QT_TRANSLATE_NOOP("Error", "Put the pictures into one folder per class."));
}

void compareCategories(const CategoryFacts &training, const CategoryFacts &validation, bool requireSame,
                       CategoryFindings &found)
{
    const Names unknown = without(validation.names, training.names);
    if (!unknown.isEmpty())
        found.errors.append(
            makeError(errors::InvalidDataset,
                      QT_TRANSLATE_NOOP("Error", "The validation pictures have categories that training lacks: %1."),
                      {shownList(unknown)}, QT_TRANSLATE_NOOP("Error", "Use the same class names in both sets.")));
    const Names missing = without(training.names, without(validation.names, emptyCategories(validation)));
    if (missing.isEmpty())
        return;
    if (requireSame)
        found.errors.append(
            makeError(errors::InvalidDataset,
                      QT_TRANSLATE_NOOP("Error", "The validation pictures lack categories of training: %1."),
                      {shownList(missing)},
                      QT_TRANSLATE_NOOP("Error", "Add pictures of them, or switch 'Require same categories' off."))
                .atParameter(QStringLiteral("require_same_categories")));
    else
        found.warnings.append(QStringLiteral("No validation pictures of: %1").arg(shownList(missing)));
}

CategoryFacts factsOf(const PortFacts &port)
{
    CategoryFacts facts;
    for (const QString &name : *port.categories)
        facts.names.append(name.toUtf8());
    facts.counts = port.counts;
    return facts;
}

} // namespace

CategoryFindings checkCategories(const CategoryFacts &training, const std::optional<CategoryFacts> &validation,
                                 bool requireSame)
{
    CategoryFindings found;
    if (training.names.size() < 2)
        found.errors.append(tooFewCategories(training.names));
    if (const Names empty = emptyCategories(training); !empty.isEmpty())
        found.warnings.append(QStringLiteral("No training pictures of: %1").arg(shownList(empty)));
    if (validation)
        compareCategories(training, *validation, requireSame, found);
    return found;
}

void checkTrainingData(const PreflightRequest &request, PreflightReply &reply)
{
    const PortFacts training = request.inputs.value(QStringLiteral("training_dataset"));
    const PortFacts validation = request.inputs.value(QStringLiteral("validation_dataset"));
    checkLabelled(training, QStringLiteral("training_dataset"), reply.errors);
    checkLabelled(validation, QStringLiteral("validation_dataset"), reply.errors);
    const bool labelled = training.labelled.value_or(true) && validation.labelled.value_or(true);
    if (training.categories && labelled) {
        const auto known = validation.categories ? std::optional(factsOf(validation)) : std::nullopt;
        const CategoryFindings found =
            checkCategories(factsOf(training), known, request.values.boolean("require_same_categories"));
        reply.errors += found.errors;
        reply.warnings += found.warnings;
    }
    const qlonglong batch = request.values.integer("batch_size");
    if (training.images && batch > *training.images)
        reply.errors.append(
            makeError(
                errors::LessThanOrEqualTo,
                QT_TRANSLATE_NOOP("Error", "The batch size %1 is larger than the number of training pictures, %2."),
                {QString::number(batch), QString::number(*training.images)},
                QT_TRANSLATE_NOOP("Error", "Choose a batch size of at most the number of training pictures."))
                .atParameter(QStringLiteral("batch_size")));
}

} // namespace tw
